//! Measured dividers: against their naive twin, what they reach on fabrics with several ways down, and that they change
//! nothing on PGFTs.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::Arc;

use common::{
    Case, Directors, Drawing, Outcomes, for_seeds, four_levels, in_threads, pgft, random_faults,
    random_graph, random_guids, random_options, random_pgft, route, rows, saved_options,
};
use dmodc::fabric::{Part, Pods};
use dmodc::judge::risk::Traffic;
use dmodc::oracle::{measured, updown};
use dmodc::{
    Amount, CableIndex, Change, Degradation, Departures, Dmodc, Engine, Fabric, InferredWhole,
    Joined, Kernel, LeafRule, LevelDividers, Live, Paper, Random, RankRule, Router, Routing,
    RoutingOptions, SavedOrders, Stable, SwitchIndex,
};

/// The dividers that the naive twin measures in a state of the fabric: on its inferred whole, if no part of the fabric has failed.
fn naive(live: Live<'_>, routing: &Routing) -> LevelDividers {
    let (ranking, orders) = (routing.ranking(live), routing.orders());
    let found = measured::level_dividers(live, ranking.leaves(), orders);
    let mut is_leaf = vec![false; live.fabric.switches().len()];
    ranking.leaves().iter().for_each(|leaf| is_leaf[leaf.at()] = true);
    let leaves = match orders.rank_rule() {
        RankRule::GivenRoots(roots) => LeafRule::RootsAndLeaves(roots.to_vec(), is_leaf),
        RankRule::Leaves | RankRule::SingleRoot(_) => LeafRule::These(is_leaf),
    };
    let has_faults = live.degradation.removed().next().is_some();
    let whole = InferredWhole::new(live.fabric, &leaves);
    match whole {
        Ok(whole) if !has_faults && whole.added_cables() > 0 && !found.are_the_papers() => {
            let nothing = Degradation::none(&whole.fabric);
            measured::level_dividers(Live::new(&whole.fabric, &nothing), ranking.leaves(), orders)
        }
        _ => found,
    }
}

/// The greatest load of all-to-all, and the mean of the greatest loads of all shifts.
fn worst_ports(fabric: &Fabric, engine: &dyn Engine) -> (u64, f64) {
    let case = Case::healthy(fabric);
    let (live, routing) = (case.whole(), case.routing());
    let (tables, _) = routing.route(live, engine).unwrap();
    let ranking = routing.ranking(live);
    let traffic = Traffic::new(live, &ranking, routing.orders(), &tables);
    (traffic.all_to_all().max(), traffic.shifts(None).mean())
}

/// The figures that the rule is there for: every port carries its fair share, and no shift has two flows on a port.
#[test]
fn regular_fabrics_reach_their_bounds() {
    for (name, fabric, dividers, a2a, papers) in [
        ("two directors", Directors::SMALL.fabric(), "up down - - 1", 120, 312),
        ("the same, doubled", Directors::SMALL.doubled().fabric(), "up down - - 1/64", 240, 624),
        ("two directors, 512 nodes", Directors::LARGE.fabric(), "up down - - 1", 496, 2288),
        ("four levels", four_levels(4), "up - - 1 down - - 1 8", 248, 6144),
        ("four levels, 8 pods", four_levels(8), "up - - 1 down - - 1 8", 504, 14_336),
    ] {
        let routing = Case::healthy(&fabric).routing();
        assert!(routing.choices_down().is_some());
        assert_eq!(routing.orders().level_dividers().to_string(), dividers, "{name}");
        assert_eq!(worst_ports(&fabric, &Dmodc), (a2a, 1.0), "{name}");
        assert_eq!(worst_ports(&fabric, &Paper).0, papers, "{name}");
    }
}

/// Several dividers spread the way down from the cores, and only one of them leaves a digit of d to the switches below that spreads there.
#[test]
fn the_next_level_decides_among_equally_good_dividers() {
    for (cores, nodes, bound) in [(16, 4, 60), (64, 8, 248)] {
        let shape =
            Pods { pods: 4, leaves: nodes, nodes, lower: nodes, upper: nodes, cores, reach: 4 };
        let fabric = shape.fabric(Default::default()).unwrap();
        assert_eq!(worst_ports(&fabric, &Dmodc), (bound, 1.0), "{cores} cores");
    }
}

/// Returns the fabric that `dmodc generate directors` and `dmodc generate pods` make of numbers; `None` if they fit no fabric.
fn made(shape: &str, numbers: &str) -> Option<Fabric> {
    match shape {
        "directors" => {
            let shape: dmodc::fabric::Directors = numbers.parse().unwrap();
            shape.fabric(Default::default()).ok()
        }
        _ => numbers.parse::<Pods>().unwrap().fabric(Default::default()).ok(),
    }
}

/// Where several switches load a port together, the dividers of single levels do not show it: the flows over all ports are counted.
#[test]
fn counted_flows_decide_where_levels_mislead() {
    let strided = "leaves=36,nodes=8,directors=1,lines=18,spines=16,cables=8,spread=strided";
    let two = "leaves=32,nodes=12,directors=2,lines=16,spines=12,cables=12,spread=strided";
    for (shape, numbers, a2a, shifts) in [
        // The cables of a leaf meet 8 of 18 line chips, or 12 of 32, so leaves share line chips in many ways.
        ("directors", strided, 376, 1.95),
        ("directors", two, 444, 2.05),
        // Leaves with half as many cables as nodes; the bounds of all-to-all are reached.
        ("pods", "pods=8,leaves=5,nodes=12,lower=6,upper=5,cores=15,reach=1", 1680, 3.7),
        ("pods", "pods=4,leaves=12,nodes=12,lower=6,upper=6,cores=12,reach=3", 1728, 3.4),
        // Fewer nodes than cables.
        ("pods", "pods=8,leaves=8,nodes=3,lower=5,upper=12,cores=8,reach=3", 189, 1.9),
    ] {
        let fabric = made(shape, numbers).unwrap();
        let (found, mean) = worst_ports(&fabric, &Dmodc);
        assert_eq!(found, a2a, "{numbers}");
        assert!(mean < shifts, "{numbers}: {mean}");
    }
}

/// A director that lacked cables from the first day gets the dividers of a whole one.
#[test]
fn gaps_of_the_first_day_change_no_divider() {
    let whole = "leaves=36,nodes=18,directors=2,lines=36,spines=18,cables=18";
    let whole =
        whole.parse::<dmodc::fabric::Directors>().unwrap().fabric(Default::default()).unwrap();
    let dividers = Case::healthy(&whole).routing().orders().level_dividers().clone();
    for seed in 1..4 {
        let gaps = Departures { missing: Amount::Percent(5.0), ..Departures::NONE };
        let found = gaps.of(&whole, seed).unwrap();
        let routing = Case::healthy(&found).routing();
        assert_eq!(*routing.orders().level_dividers(), dividers, "seed {seed}");
    }
}

/// A director above pods has several ways down that begin one hop higher than those of a director above leaves.
#[test]
fn directors_above_pods_are_recognised() {
    let shape =
        |text: &str| text.parse::<dmodc::fabric::Directors>().unwrap().fabric(Default::default());
    let pods = "leaves=4,nodes=4,pods=4,middle=4,cables=4,lines=16,spines=8,spread=strided";
    let fabric = shape(pods).unwrap();
    let routing = Case::healthy(&fabric).routing();
    assert!(!routing.orders().level_dividers().are_the_papers());
    assert!(routing.choices_down().is_some_and(|why| !why.looks_like_damage));
    assert_eq!(worst_ports(&fabric, &Dmodc), (60, 1.0));
    assert_eq!(worst_ports(&fabric, &Paper).0, 272);
}

/// Whole and degraded, under any orders: the dividers are those of the naive twin.
fn assert_measured_alike(random: &mut Random, fabric: &Fabric) -> bool {
    let case = Case::degraded(random, fabric);
    let mut options = random_options(random);
    if random.below(3) == 0 {
        options.leaves = LeafRule::Roots(random_roots(random, &case));
    }
    let mut found = false;
    for live in [case.whole(), case.now()] {
        let routing = Routing::new(live, &options);
        assert_eq!(*routing.orders().level_dividers(), naive(live, &routing));
        found |= !routing.orders().level_dividers().are_the_papers();
    }
    found
}

/// Switches of the highest level, or some others.
fn random_roots(random: &mut Random, case: &Case<'_>) -> Vec<SwitchIndex> {
    let mut by_rank = case.routing().ranking(case.whole()).by_rank();
    if random.below(4) > 0 {
        return by_rank.pop().unwrap_or_default();
    }
    let all = case.whole().fabric.switches().len();
    let count = 1 + random.below(3.min(all as u64)) as usize;
    random.sample(all, count).into_iter().map(SwitchIndex::new).collect()
}

#[test]
fn measured_dividers_equal_the_naive_ones() {
    let (outcomes, refined) = (Outcomes::new(), Outcomes::new());
    for_seeds(300, |random| {
        let directors = Directors::random(random).fabric();
        let by_directors = assert_measured_alike(random, &directors);
        // Following every flow by itself takes the naive twin long.
        if random.below(3) == 0 {
            let unaligned = random_unaligned(random);
            assert_measured_alike(random, &unaligned);
            let case = Case::healthy(&unaligned);
            let routing = case.routing();
            let (live, orders) = (case.whole(), routing.orders());
            let leaves = routing.ranking(live).leaves().to_vec();
            let before = measured::unrefined_dividers(live, &leaves, orders);
            refined.count([before != measured::level_dividers(live, &leaves, orders)]);
        }
        let graph = random_graph(random);
        let by_graph = assert_measured_alike(random, &graph);
        let pgft = random_pgft(random, 100).fabric(random_guids(random));
        assert_measured_alike(random, &pgft);
        // A director that was never whole.
        let mut gaps = Degradation::none(&directors);
        let count = 1 + random.below(3) as usize;
        for at in random.sample(directors.inter_switch_cables().len(), count) {
            gaps.set_cable(CableIndex::new(at), true);
        }
        let found = directors.without(&gaps);
        assert_measured_alike(random, &found);
        let is_completed = InferredWhole::new(&found, &LeafRule::Detect)
            .is_ok_and(|whole| by_directors && whole.added_cables() > 0);
        outcomes.count([by_directors, by_graph, !by_directors, !by_graph, is_completed]);
    });
    outcomes.assert_each_more_than(10);
    refined.assert_each_more_than(5);
}

/// A director or pods in which numbers of cables need not divide numbers of switches, so that dividers are refined.
fn random_unaligned(random: &mut Random) -> Fabric {
    loop {
        let mut draw = |from: u64, to: u64| from + random.below(to - from + 1);
        let upper = draw(2, 5);
        let (shape, numbers) = match draw(0, 1) {
            0 => (
                "directors",
                format!(
                    "leaves={},nodes={},directors={},lines={},spines={},cables={}{}",
                    draw(6, 12),
                    draw(1, 6),
                    draw(1, 2),
                    draw(4, 9),
                    draw(2, 6),
                    2 * draw(1, 3),
                    ["", ",spread=strided"][draw(0, 1) as usize],
                ),
            ),
            _ => (
                "pods",
                format!(
                    "pods={},leaves={},nodes={},lower={},upper={upper},cores={},reach={}",
                    draw(2, 4),
                    draw(2, 5),
                    draw(1, 6),
                    draw(2, 4),
                    draw(2, 6),
                    draw(1, upper),
                ),
            ),
        };
        if let Some(fabric) = made(shape, &numbers) {
            // A switch between others may have nodes, too.
            let service = random.below(4).saturating_sub(1) as usize;
            let departures = Departures { service, ..Departures::NONE };
            return departures.of(&fabric, random.below(1 << 32)).unwrap_or(fabric);
        }
    }
}

/// On a PGFT the paper's dividers stand, whatever fails later: the tables are those of the paper, entry by entry.
#[test]
fn dmodc_is_the_paper_on_pgfts() {
    for_seeds(200, |random| {
        let fabric = random_pgft(random, 300).fabric(random_guids(random));
        let case = Case::with_faults(&fabric, dead_cables(random, &fabric));
        let routing = Routing::new(case.whole(), &random_options(random));
        assert!(routing.orders().level_dividers().are_the_papers());
        for live in [case.whole(), case.now()] {
            assert_papers(&routing, live);
        }
    });
}

/// The same if the first fabric that is routed is a damaged one already, however much of it failed, as long as all live leaves
/// have nodes.
#[test]
fn dmodc_is_the_paper_on_pgfts_that_were_never_whole() {
    let fabrics = ["2; 6,40; 1,6; 1,1", "3; 4,6,8; 1,4,6; 1,1,1", "3; 3,6,9; 1,3,6; 1,2,1"];
    let outcomes = Outcomes::new();
    for_seeds(3000, |random| {
        let fabric = match random.below(40) {
            0 => pgft(fabrics[random.below(3) as usize]),
            1 | 2 => random_pgft(random, 300).fabric(random_guids(random)),
            _ => random_pgft(random, 40).fabric(random_guids(random)),
        };
        let mut faults = dead_cables(random, &fabric);
        let share = [0, 5, 30][random.below(3) as usize];
        for s in fabric.switch_indices() {
            faults.set_switch(s, random.below(100) < share);
        }
        let case = Case::with_faults(&fabric, faults);
        let routing = Routing::new(case.now(), &random_options(random));
        assert!(routing.orders().level_dividers().are_the_papers());
        assert_papers(&routing, case.now());
        // A switch that rose above its parents often has several ways down.
        let ranks = |s| routing.ranking(case.now()).rank(s);
        let has_risen = fabric.switch_indices().any(|s| ranks(s) > Some(2));
        outcomes.count([has_risen, !has_risen]);
    });
    outcomes.assert_each_more_than(50);
}

/// Removes up to 70 % of the cables between switches.
fn dead_cables(random: &mut Random, fabric: &Fabric) -> Degradation {
    let mut faults = Degradation::none(fabric);
    let share = random.below(71);
    for c in 0..fabric.inter_switch_cables().len() {
        faults.set_cable(CableIndex::new(c), random.below(100) < share);
    }
    faults
}

fn assert_papers(routing: &Routing, live: Live<'_>) {
    let paper = routing.route(live, &Paper).unwrap().0;
    assert!(route(routing, live) == paper);
}

/// A switch that lost all its cables downwards rises above its former parents, and has several ways down from there. That
/// is damage, and no level that somebody built.
#[test]
fn a_switch_that_rises_above_its_parents_changes_no_divider() {
    let fabric = pgft("3; 4,6,8; 1,4,6; 1,1,1");
    let whole = Case::healthy(&fabric);
    let ranking = whole.routing().ranking(whole.whole());
    let risen = ranking.by_rank()[1][0];
    let mut faults = Degradation::none(&fabric);
    for (c, cable) in fabric.inter_switch_cables().iter().enumerate() {
        let ends = [cable.a.0, cable.b.0];
        if ends.contains(&risen) && ends.iter().any(|s| ranking.rank(*s) == Some(0)) {
            faults.set_cable(CableIndex::new(c), true);
        }
    }
    let case = Case::with_faults(&fabric, faults);
    for first in [case.whole(), case.now()] {
        let routing = Routing::new(first, &Default::default());
        assert_eq!(routing.ranking(case.now()).rank(risen), Some(3));
        assert!(routing.orders().level_dividers().are_the_papers());
        assert_papers(&routing, case.now());
    }
}

/// Fabrics whose levels have dividers of their own, regular ones and any others.
fn random_measured(random: &mut Random) -> Fabric {
    match random.below(4) {
        0 => Directors { parallel: 1 + random.below(2) as usize, ..Directors::SMALL }.fabric(),
        1 => random_graph(random),
        _ => Directors::random(random).fabric(),
    }
}

/// Every entry is the naive one, for every form of the inner loops.
#[test]
fn tables_equal_the_naive_ones() {
    let outcomes = Outcomes::new();
    for_seeds(300, |random| {
        let fabric = random_measured(random);
        let case = Case::degraded(random, &fabric);
        let first = [case.whole(), case.now()][random.below(2) as usize];
        let routing = Routing::new(first, &random_options(random));
        let (orders, columns) = (routing.orders(), routing.columns());
        for live in [case.whole(), case.now()] {
            let ranking = routing.ranking(live);
            let naive = updown::tables(live, ranking.leaves(), orders, columns);
            let mut ready = routing.preprocess(live);
            let mut tables = routing.empty_tables(live).unwrap();
            for kernel in Kernel::all() {
                ready.kernel = kernel;
                Dmodc.route(live, &ready, &mut tables).unwrap();
                assert_eq!(rows(&tables), naive, "{}", kernel.name());
            }
            Paper.route(live, &ready, &mut tables).unwrap();
            let paper = updown::paper_tables(live, ranking.leaves(), orders, columns);
            assert_eq!(rows(&tables), paper);
            assert_eq!(
                tables.digest(),
                updown::paper_digest(live, ranking.leaves(), orders, columns)
            );
            outcomes.count([naive != paper, naive == paper]);
        }
    });
    outcomes.assert_each_more_than(20);
}

/// Where nothing is broken, `stable` is `dmodc`.
#[test]
fn stable_is_dmodc_where_nothing_is_broken() {
    for_seeds(100, |random| {
        let fabric = random_measured(random);
        let case = Case::degraded(random, &fabric);
        let routing = Routing::new(case.whole(), &random_options(random));
        for live in [case.whole(), case.now()] {
            let stable = Stable::new(&routing, live);
            assert!(routing.route(live, &stable).unwrap().0 == route(&routing, live));
        }
    });
}

/// Dividers and tables do not depend on the number of threads.
#[test]
fn any_number_of_threads_measures_the_same() {
    for_seeds(10, |random| {
        let fabric = random_measured(random);
        let options = random_options(random);
        let case = Case::healthy(&fabric);
        let live = case.whole();
        let [one, three, many] = [1, 3, 64].map(|threads| {
            in_threads(threads, || {
                let routing = Routing::new(live, &options);
                (routing.orders().clone(), routing.choices_down(), route(&routing, live))
            })
        });
        assert!(one == three && one == many);
    });
}

/// Ranks that are counted from given roots change everywhere if the farthest switch fails. Levels keep their dividers, because they keep
/// their distance from the roots.
#[test]
fn given_roots_keep_their_dividers_when_ranks_change() {
    let mut drawing = Drawing::new();
    let leaves: Vec<usize> = (0..24).map(|l| drawing.switch(&format!("leaf-{l}"))).collect();
    let lines: Vec<usize> = (0..4).map(|l| drawing.switch(&format!("line-{l}"))).collect();
    let spines: Vec<usize> = (0..2).map(|l| drawing.switch(&format!("spine-{l}"))).collect();
    for (at, leaf) in leaves.iter().enumerate() {
        drawing.nodes(*leaf, 2);
        drawing.cable(*leaf, lines[2 * at % 4], 1);
        drawing.cable(*leaf, lines[2 * at % 4 + 1], 1);
    }
    for line in &lines {
        spines.iter().for_each(|spine| drawing.cable(*line, *spine, 1));
    }
    let tail = drawing.switch("tail");
    drawing.cable(leaves[0], tail, 1);
    let fabric = Arc::new(drawing.finish());
    let case = Case::healthy(&fabric);
    let index =
        |at: usize| fabric.switch_indices().find(|&s| fabric.switch(s).guid.0 == at as u64 + 1);
    let roots = spines.iter().filter_map(|spine| index(*spine)).collect();
    let options = RoutingOptions { leaves: LeafRule::Roots(roots), ..Default::default() };
    let routing = Routing::new(case.whole(), &options);
    let dividers = routing.orders().level_dividers().to_string();
    assert_eq!(dividers, "up down - - - 1 from root 4");
    let mut router = Router::new(fabric.clone(), routing, Degradation::none(&fabric)).unwrap();
    let change = Part::Switch(index(tail).unwrap());
    let before = router.tables().clone();
    router.apply(&[Change::Dies(change)]).unwrap();
    let spine = index(spines[0]).unwrap();
    assert_eq!(router.preprocessing().ranking.rank(spine), Some(2));
    assert!(*router.tables() == route(router.routing(), router.live()));
    let columns = router.routing().columns();
    let is_tail = |d: &dmodc::Destination| d.switch == index(tail).unwrap();
    for (c, _) in columns.destinations().iter().enumerate().filter(|(_, d)| !is_tail(d)) {
        assert_eq!(before.port(spine, c), router.tables().port(spine, c), "column {c}");
    }
    router.apply(&[Change::Recovers(change)]).unwrap();
    assert!(*router.tables() == before);
}

/// Dividers are kept with the orders: a damaged fabric has those of the whole one.
#[test]
fn saved_orders_keep_the_dividers() {
    let fabric = Directors::SMALL.fabric();
    let whole = Case::healthy(&fabric);
    let saved = whole.routing().orders().save(whole.whole());
    let dividers = saved.dividers.clone().unwrap();
    assert_eq!(dividers.to_string(), "up down - - 1");
    for_seeds(20, |random| {
        let rest = fabric.without(&random_faults(random, &fabric));
        let case = Case::healthy(&rest);
        let routing = Routing::new(case.whole(), &saved_options(&saved));
        assert_eq!(*routing.orders().level_dividers(), dividers);
        assert_eq!(routing.choices_down(), None, "they were not measured here");
        let mut later = routing.orders().save(case.whole());
        assert_eq!(later.dividers.as_ref(), Some(&dividers));
        later.dividers = None;
        later.keep_absent(&saved);
        assert_eq!(later.dividers.as_ref(), Some(&dividers));
    });
    // Orders of an earlier version know nothing of dividers: they are measured on the fabric at hand.
    let earlier = SavedOrders { dividers: None, ..saved };
    let routing = Routing::new(whole.whole(), &saved_options(&earlier));
    assert_eq!(*routing.orders().level_dividers(), dividers);
    assert!(routing.choices_down().is_some());
}

/// Dividers that were measured with given roots are kept as long as no other roots are given.
#[test]
fn saved_orders_keep_the_dividers_of_given_roots() {
    let fabric = Directors::SMALL.fabric();
    let whole = Case::healthy(&fabric);
    let by_roots = |case: &Case<'_>, roots: &[SwitchIndex], saved: Option<&SavedOrders>| {
        let options = saved.map_or_else(RoutingOptions::default, saved_options);
        let options = RoutingOptions { leaves: LeafRule::Roots(roots.to_vec()), ..options };
        Routing::new(case.whole(), &options)
    };
    let spines = whole.routing().ranking(whole.whole()).by_rank().pop().unwrap();
    let first = by_roots(&whole, &spines, None);
    let dividers = first.orders().level_dividers().clone();
    assert_eq!(dividers.to_string(), "up down - - 1 from root 3");
    let saved = first.orders().save(whole.whole());
    assert_eq!(saved.given_roots.len(), spines.len());

    let is_kept = |routing: &Routing| {
        routing.choices_down().is_none() && *routing.orders().level_dividers() == dividers
    };
    for_seeds(20, |random| {
        let rest = fabric.without(&random_faults(random, &fabric));
        let case = Case::healthy(&rest);
        let guids: Vec<_> = spines.iter().map(|&s| fabric.switch(s).guid).collect();
        let left = rest.switch_indices().filter(|&s| guids.contains(&rest.switch(s).guid));
        let left: Vec<SwitchIndex> = left.collect();
        let routing = by_roots(&case, &left, Some(&saved));
        assert_eq!(is_kept(&routing), !left.is_empty());
        // A root that is absent may return.
        let mut later = routing.orders().save(case.whole());
        later.keep_absent(&saved);
        assert_eq!(later.given_roots == saved.given_roots, !left.is_empty());
    });
    // Roots of another part of the fabric may have the same dividers; they do not join the earlier ones.
    let (some, others) = spines.split_at(spines.len() / 2);
    let [some, others] = [some, others].map(|roots| by_roots(&whole, roots, None));
    let earlier = some.orders().save(whole.whole());
    let mut later = others.orders().save(whole.whole());
    later.dividers.clone_from(&earlier.dividers);
    let own = later.given_roots.clone();
    later.keep_absent(&earlier);
    assert_eq!(later.given_roots, own);
    // A root that is there, but not given, makes other ranks. So do other roots, or none.
    assert!(!is_kept(&by_roots(&whole, &spines[1..], Some(&saved))));
    let leaf = whole.routing().ranking(whole.whole()).leaves()[0];
    let others = [&spines[..], &[leaf]].concat();
    assert!(!is_kept(&by_roots(&whole, &others, Some(&saved))));
    let by_none = Routing::new(whole.whole(), &saved_options(&saved));
    assert!(by_none.choices_down().is_some());
    assert_eq!(by_none.orders().level_dividers().to_string(), "up down - - 1");
}

/// A fabric that is routed by a reference has the dividers of the reference.
#[test]
fn joined_fabrics_measure_the_reference() {
    let reference = Directors::SMALL.fabric();
    let orders =
        SavedOrders { dividers: None, ..Routing::orders_of(&reference, &Default::default()) };
    for_seeds(10, |random| {
        let present = reference.without(&random_faults(random, &reference));
        let joined = Joined::new(&reference, &present).unwrap();
        let (routing, stable) = joined.stable(LeafRule::Detect, orders.clone());
        assert_eq!(routing.orders().level_dividers().to_string(), "up down - - 1");
        let live = Live::new(&joined.fabric, &joined.now);
        routing.route(live, &stable).unwrap();
        // The present may be the greater one: then what is new does not count.
        let joined = Joined::new(&present, &reference).unwrap();
        let of_present = Case::healthy(&present).routing();
        let orders = of_present.orders().save(Case::healthy(&present).whole());
        let orders = SavedOrders { dividers: None, ..orders };
        let routing = joined.routing(LeafRule::Detect, &orders);
        let then = Live::new(&joined.fabric, &joined.then);
        assert_eq!(*routing.orders().level_dividers(), naive(then, &routing));
    });
}

/// Who judges tables does not measure dividers, but takes those that are saved with the orders.
#[test]
fn dividers_are_left_out_only_if_none_are_saved() {
    let fabric = dmodc::fabric::Directors::default().fabric(Default::default()).unwrap();
    let nothing = Degradation::none(&fabric);
    let live = Live::new(&fabric, &nothing);
    let measured = Routing::new(live, &Default::default());
    assert!(!measured.orders().level_dividers().are_the_papers());
    let without = Routing::without_measuring(live, &Default::default());
    assert!(without.orders().level_dividers().are_the_papers());
    assert_eq!(without.orders().rank_rule(), measured.orders().rank_rule());
    let saved = saved_options(&measured.orders().save(live));
    let again = Routing::without_measuring(live, &saved);
    assert_eq!(again.orders().level_dividers(), measured.orders().level_dividers());
}
