//! Exchanged cable ends, on whole fabrics of several shapes: a naive search finds no shorter repair than the comparison.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::{BTreeSet, HashSet};

use common::cabling::{Cable, cables, named, recabled, swap};
use common::{for_seeds, four_levels, pgft, random_fabric};
use dmodc::advise::compare::replug::Replug;
use dmodc::advise::compare::{Cabling, CablingEnd, Comparison, SelfLoop};
use dmodc::fabric::{Directors, Pods, Spread};
use dmodc::{Fabric, Random};

/// A cabling as a set of pairs of ports. The search knows no devices, no cycles and no paths.
type PlainCabling = BTreeSet<[u16; 2]>;

/// The ports of two cablings of the same devices, numbered.
struct PlainPorts(Vec<CablingEnd>);

impl PlainPorts {
    fn of(cables: &[Cable]) -> Self {
        let mut ports: Vec<CablingEnd> = cables.iter().flatten().copied().collect();
        ports.sort_unstable();
        PlainPorts(ports)
    }

    fn cabling(&self, cables: &[Cable]) -> PlainCabling {
        let number = |end: CablingEnd| self.0.binary_search(&end).unwrap() as u16;
        cables.iter().map(|ends| sorted(ends.map(number))).collect()
    }
}

fn sorted(mut ends: [u16; 2]) -> [u16; 2] {
    ends.sort_unstable();
    ends
}

/// Returns every cabling that one exchange of two cable ends leads to.
fn after_one_swap(cabling: &PlainCabling) -> Vec<PlainCabling> {
    let cables: Vec<[u16; 2]> = cabling.iter().copied().collect();
    let mut all = vec![];
    for (at, &[a, b]) in cables.iter().enumerate() {
        for &[c, d] in &cables[at + 1..] {
            for [first, second] in [[[a, d], [c, b]], [[a, c], [b, d]]] {
                let mut after = cabling.clone();
                after.remove(&[a, b]);
                after.remove(&[c, d]);
                after.insert(sorted(first));
                after.insert(sorted(second));
                all.push(after);
            }
        }
    }
    all
}

/// Returns the least number of swaps from one cabling to another one, by a search by number of swaps; `None` if it is more than
/// `most`.
fn naive_swaps(from: &PlainCabling, to: &PlainCabling, most: usize) -> Option<usize> {
    let mut seen = HashSet::from([from.clone()]);
    let mut reached = vec![from.clone()];
    for swaps in 0..=most {
        if reached.contains(to) {
            return Some(swaps);
        }
        if swaps + 1 == most {
            let is_next = |cabling: &PlainCabling| after_one_swap(cabling).contains(to);
            return reached.iter().any(is_next).then_some(most);
        }
        let next = reached.iter().flat_map(after_one_swap);
        reached = next.filter(|cabling| seen.insert(cabling.clone())).collect();
    }
    None
}

/// Exchanges two cable ends at random. A cable may lead back to its own switch then, but no cable joins two adapters or two ports
/// of one adapter.
fn swap_freely(random: &mut Random, fabric: &Fabric, cables: &mut [Cable]) -> bool {
    let count = cables.len() as u64;
    let (c, d) = (random.below(count) as usize, random.below(count) as usize);
    let (i, j) = (random.below(2) as usize, random.below(2) as usize);
    let fits =
        |kept: CablingEnd, new: CablingEnd| kept.device.min(new.device) < fabric.switches().len();
    let is_possible =
        c != d && fits(cables[c][1 - i], cables[d][j]) && fits(cables[d][1 - j], cables[c][i]);
    if is_possible {
        (cables[c][i], cables[d][j]) = (cables[d][j], cables[c][i]);
    }
    is_possible
}

/// Returns the cables that lead back to their own switch, as a reader reports them.
fn self_loops(fabric: &Fabric, cables: &[Cable]) -> Vec<SelfLoop> {
    let loops = cables.iter().filter(|ends| ends[0].device == ends[1].device);
    loops
        .map(|ends| SelfLoop {
            switch: fabric.switches()[ends[0].device].guid,
            ports: ends.map(|end| end.port),
        })
        .collect()
}

/// Fabrics with few cables, of every shape.
fn small_fabrics(random: &mut Random) -> Vec<Fabric> {
    let directors = Directors {
        leaves: 2,
        nodes: 1,
        directors: 1,
        lines: 2,
        spines: 2,
        cables: 2,
        parallel: 1,
        spread: Spread::default(),
        ..Directors::default()
    };
    let pods = Pods { pods: 2, leaves: 1, nodes: 1, lower: 1, upper: 2, cores: 2, reach: 2 };
    let mut all = vec![
        pgft("2; 2,2; 1,2; 1,1"),
        pgft("2; 2,3; 1,2; 1,1"),
        pgft("3; 1,2,2; 1,1,2; 1,1,1"),
        directors.fabric(Default::default()).unwrap(),
        pods.fabric(Default::default()).unwrap(),
    ];
    all.push(random_fabric(random, 6));
    all.retain(|fabric| (2..=14).contains(&cables(fabric).len()));
    all
}

#[test]
fn no_swaps_of_a_whole_small_fabric_are_fewer() {
    let found = std::cell::Cell::new([0; 4]);
    let with_loops = std::cell::Cell::new(0);
    for_seeds(12, |random| {
        for intended in small_fabrics(random) {
            let whole = cables(&intended);
            let mut now = whole.clone();
            let wanted = 1 + random.below(3) as usize;
            let mut made = 0;
            for _ in 0..50 {
                made += usize::from(made < wanted && swap_freely(random, &intended, &mut now));
            }
            let ports = PlainPorts::of(&whole);
            let least = naive_swaps(&ports.cabling(&now), &ports.cabling(&whole), 3).unwrap();
            let present = recabled(&intended, &now);
            let loops = self_loops(&intended, &now);
            let intended = Cabling::of(&intended);
            let comparison = Comparison::with_self_loops(&present, &loops, &intended).unwrap();
            assert_eq!(comparison.replugs(), least);
            assert!(comparison.is_exact() && least <= made);
            let mut counts = found.get();
            counts[least] += 1;
            found.set(counts);
            with_loops.set(with_loops.get() + usize::from(!loops.is_empty()));
        }
    });
    let [_, one, two, three] = found.get();
    assert!(one > 5 && two > 5 && three > 5 && with_loops.get() > 3, "{found:?} {with_loops:?}");
}

#[test]
fn the_naive_search_knows_easy_cases() {
    let cabling = |cables: &[[u16; 2]]| -> PlainCabling { cables.iter().copied().collect() };
    let whole = cabling(&[[0, 1], [2, 3], [4, 5], [6, 7]]);
    for (other, least) in [
        (cabling(&[[0, 1], [2, 3], [4, 5], [6, 7]]), Some(0)),
        (cabling(&[[0, 3], [1, 2], [4, 5], [6, 7]]), Some(1)),
        (cabling(&[[0, 3], [1, 2], [4, 7], [5, 6]]), Some(2)),
        (cabling(&[[0, 3], [2, 5], [4, 7], [1, 6]]), Some(3)),
    ] {
        assert_eq!(naive_swaps(&other, &whole, 3), least);
    }
    assert_eq!(naive_swaps(&cabling(&[[0, 3], [2, 5], [4, 7], [1, 6]]), &whole, 2), None);
}

#[test]
fn swaps_of_directors_and_pods_are_repaired_by_at_most_as_many() {
    let spread = Directors { spread: Spread::Strided, ..Directors::default() };
    let parallel = Directors { parallel: 2, ..Directors::default() };
    let shapes = [
        Directors::default().fabric(Default::default()).unwrap(),
        spread.fabric(Default::default()).unwrap(),
        parallel.fabric(Default::default()).unwrap(),
        Pods::default().fabric(Default::default()).unwrap(),
        common::Directors::SMALL.fabric(),
        four_levels(3),
    ];
    for_seeds(20, |random| {
        for intended in &shapes {
            let mut now = cables(intended);
            let wanted = 1 + random.below(10) as usize;
            let mut made = 0;
            while made < wanted {
                made += usize::from(swap(random, intended, &mut now));
            }
            let present = recabled(intended, &now);
            let comparison = Comparison::new(&present, &Cabling::of(intended)).unwrap();
            assert!(comparison.replugs() <= made && comparison.is_exact());
            let is_swap = |step: &Replug| matches!(step, Replug::Swap(..));
            assert!(comparison.parts.iter().flatten().all(is_swap), "{:?}", comparison.parts);
            let mut cabling = comparison.present.clone();
            for step in comparison.parts.concat() {
                step.apply(&mut cabling).unwrap();
            }
            let repaired = comparison.fabric_with(&present, &cabling);
            assert_eq!(named(&repaired), named(intended));
        }
    });
}
