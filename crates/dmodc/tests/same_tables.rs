//! Things that must not matter: the number of threads, the kernel, what a buffer held before, whether tables are kept
//! or streamed, and whether faults are a mask or a file of what is left.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::{Arc, Mutex};

use common::{
    Case, entries_by_guid, for_seeds, in_threads, judge, random_fabric, random_faults,
    random_guids, random_options, random_pgft, route, rows, saved_options,
};
use dmodc::oracle::updown;
use dmodc::{
    Digest, Dmodc, Engine, Fabric, Kernel, Pgft, Random, RandomPorts, Reference, RouteError,
    Routing, RoutingOptions, Stable, stream_switches,
};

/// Enough leaves for several tiles.
fn several_tiles(random: &mut Random) -> Fabric {
    let pgft: Pgft = "3; 2,12,13; 1,3,2; 1,2,1".parse().unwrap();
    pgft.fabric(random_guids(random))
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    for_seeds(60, |random| {
        let fabric = several_tiles(random);
        let case = Case::degraded(random, &fabric);
        let live = case.now();
        let routing = Routing::new(live, &random_options(random));
        let [one, two, seven] = [1, 2, 7].map(|threads| {
            in_threads(threads, || {
                let (tables, coverage) = routing.route(live, &Dmodc).unwrap();
                let judged = judge(&routing, live, &tables);
                (tables, coverage, judged)
            })
        });
        assert_eq!(one, two);
        assert_eq!(one, seven);
    });
}

/// Every form of the inner loops gives the same tables.
#[test]
fn every_kernel_gives_the_same_tables() {
    for_seeds(60, |random| {
        let fabric = random_pgft(random, 300).fabric(random_guids(random));
        let case = Case::degraded(random, &fabric);
        let routing = Routing::new(case.whole(), &random_options(random));
        let live = case.now();
        let mut ready = routing.preprocess(live);
        let digests = Kernel::all().into_iter().map(|kernel| {
            ready.kernel = kernel;
            let mut tables = routing.empty_tables(live).unwrap();
            Dmodc.route(live, &ready, &mut tables).unwrap();
            tables.digest()
        });
        let digests: Vec<Digest> = digests.collect();
        assert!(digests.iter().all(|digest| *digest == digests[0]));
    });
}

/// A buffer that held other tables gives the same bytes as a fresh one: no old entry shines through.
#[test]
fn a_reused_buffer_gives_the_same_bytes() {
    for_seeds(60, |random| {
        let fabric = several_tiles(random);
        let case = Case::healthy(&fabric);
        let routing = Routing::new(case.whole(), &random_options(random));
        let mut buffer = routing.empty_tables(case.whole()).unwrap();
        for _ in 0..4 {
            let case = Case::degraded(random, &fabric);
            let live = case.now();
            Dmodc.route(live, &routing.preprocess(live), &mut buffer).unwrap();
            assert_eq!(buffer, route(&routing, live));
        }
    });
}

/// A mask over a fabric and the file that a discovery would write of what is left give the same tables, if the orders
/// are kept.
#[test]
fn a_mask_equals_the_fabric_without_what_is_dead() {
    for_seeds(150, |random| {
        let fabric = random_fabric(random, 200);
        let case = Case::degraded(random, &fabric);
        let options = random_options(random);
        let routing = Routing::new(case.whole(), &options);
        let saved = routing.orders().save(case.whole());
        let (masked, coverage) = routing.route(case.now(), &Dmodc).unwrap();

        let rest = fabric.without(&case.faults);
        let options = RoutingOptions { switch_lids: options.switch_lids, ..saved_options(&saved) };
        let rest_case = Case::healthy(&rest);
        let live = rest_case.whole();
        let (cut, coverage_cut) = Routing::new(live, &options).route(live, &Dmodc).unwrap();
        assert_eq!(entries_by_guid(&fabric, &masked), entries_by_guid(&rest, &cut));
        assert_eq!(coverage.leaf_pairs, coverage_cut.leaf_pairs);
        assert_eq!(coverage.unreachable_leaf_pairs, coverage_cut.unreachable_leaf_pairs);
    });
}

/// Orders taken from a mask and from the file of what is left number alike.
#[test]
fn orders_of_a_mask_equal_those_of_the_rest() {
    for_seeds(150, |random| {
        let fabric = random_fabric(random, 100);
        let options = random_options(random);
        let faults = random_faults(random, &fabric);
        let rest = fabric.without(&faults);
        let fresh = |fabric: &Fabric, case: &Case<'_>| {
            let routing = Routing::new(case.now(), &options);
            entries_by_guid(fabric, &route(&routing, case.now()))
        };
        let masked = fresh(&fabric, &Case::with_faults(&fabric, faults));
        assert_eq!(masked, fresh(&rest, &Case::healthy(&rest)));
    });
}

/// Tables that are handed out piece by piece, or switch by switch, are the tables; and so is the digest.
#[test]
fn streams_equal_the_tables() {
    for_seeds(80, |random| {
        let fabric = match random.below(3) {
            0 => "2; 3,150; 1,9; 1,1".parse::<Pgft>().unwrap().fabric(random_guids(random)),
            _ => random_fabric(random, 200),
        };
        let case = Case::degraded(random, &fabric);
        let routing = Routing::new(case.whole(), &random_options(random));
        let live = case.now();
        let ready = routing.preprocess(live);
        let columns = routing.columns();
        let reference = Reference::new(&routing, case.whole());
        let stable = Stable { reference: Arc::new(reference) };
        let engine: &dyn Engine = match random.below(5) {
            0 | 1 => &Dmodc,
            2 => &RandomPorts { seed: 5 },
            _ => &stable,
        };
        let (tables, coverage) = routing.route(live, engine).unwrap();

        let digest = Mutex::new(Digest::default());
        let pieces = Mutex::new(0);
        let streamed = engine.stream_tiles(live, &ready, columns, &|piece| {
            let mut digest = digest.lock().unwrap();
            *digest = *digest + Digest::rows(piece.first, piece.tile, piece.entries);
            *pieces.lock().unwrap() += piece.entries.len();
        });
        assert_eq!(streamed.unwrap(), coverage);
        assert_eq!(pieces.into_inner().unwrap(), tables.entry_count());
        assert_eq!(digest.into_inner().unwrap(), tables.digest());
        if engine.name() == "dmodc" {
            let leaves = ready.ranking.leaves();
            assert_eq!(tables.digest(), updown::digest(live, leaves, routing.orders(), columns));
        }

        let mut streamed = Vec::new();
        let covered = stream_switches(engine, live, &ready, columns, |s, row| {
            assert_eq!(s.at(), streamed.len());
            streamed.push(row.to_vec());
            Ok::<(), RouteError>(())
        });
        assert_eq!(covered.unwrap(), coverage);
        // Without any column there are no rows to hand out.
        assert!(streamed == rows(&tables) || columns.is_empty());
    });
}
