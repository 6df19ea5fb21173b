//! A fabric against its own regular shape: what is refused, what is doubtful, and what steps bring.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::cabling::{Cable, cables, named, recabled};
use common::{Drawing, pgft};
use dmodc::advise::compare::replug::Replug;
use dmodc::advise::compare::{
    Cabling, CablingDoubt, CablingEnd, Comparison, RepairPlan, Risk, SelfLoop,
};
use dmodc::fabric::{Directors, Pods};
use dmodc::{Departures, Fabric, LeafRule, PortNumber, TooIrregular};

const REGULAR: &str = "2; 8,12; 1,8; 1,1";

fn with_shape(fabric: &Fabric) -> Result<Comparison, TooIrregular> {
    Comparison::with_inferred(fabric, &[], &LeafRule::default())
}

fn place(cables: &[Cable], [one, other]: [&str; 2], fabric: &Fabric) -> usize {
    let devices = Cabling::of(fabric).devices;
    let name = |end: CablingEnd| &*devices[end.device].name;
    let joins = |ends: &Cable| {
        let ends = ends.map(name);
        ends == [one, other] || ends == [other, one]
    };
    cables.iter().position(joins).unwrap()
}

/// Exchanges ends of two cables such that the first ends of both are joined, and the second ones.
fn joined_otherwise(fabric: &Fabric, first: [&str; 2], second: [&str; 2]) -> Vec<Cable> {
    let mut all = cables(fabric);
    let (c, d) = (place(&all, first, fabric), place(&all, second, fabric));
    let devices = Cabling::of(fabric).devices;
    let end = |at: usize, name: &str| {
        let named = |end: &CablingEnd| &*devices[end.device].name == name;
        all[at].into_iter().find(named).unwrap()
    };
    let low = [end(c, first[0]), end(d, second[0])];
    let high = [end(c, first[1]), end(d, second[1])];
    (all[c], all[d]) = (low, high);
    all
}

#[test]
fn a_fabric_without_a_shape_is_refused() {
    // A ring: every switch has nodes, and no cable leads upwards.
    let mut ring = Drawing::new();
    let leaves: Vec<_> = (0..6).map(|at| ring.switch(&format!("s{at}"))).collect();
    for at in 0..6 {
        ring.nodes(leaves[at], 2);
        ring.cable(leaves[at], leaves[(at + 1) % 6], 1);
    }
    let ring = ring.finish();
    assert_eq!(with_shape(&ring).unwrap_err(), TooIrregular::NothingShared { odd: 6, cables: 6 });
    // A single switch has no cables to compare, and a single cable has none like it.
    let mut one = Drawing::new();
    let leaf = one.switch("leaf");
    one.nodes(leaf, 4);
    let error = with_shape(&one.finish()).unwrap_err();
    assert_eq!(error, TooIrregular::NothingAlike { compared: 0, cables: 0 });
    assert_eq!(error.to_string(), "no cable joins two switches");
    let mut pair = Drawing::new();
    let (leaf, above) = (pair.switch("leaf"), pair.switch("above"));
    pair.nodes(leaf, 4);
    pair.cable(leaf, above, 1);
    let error = with_shape(&pair.finish()).unwrap_err();
    assert_eq!(error, TooIrregular::NothingAlike { compared: 0, cables: 1 });
}

#[test]
fn a_leaf_to_leaf_and_a_spine_to_spine_cable_are_one_swap() {
    let whole = pgft(REGULAR);
    let now = joined_otherwise(&whole, ["L1-2", "L2-5"], ["L1-7", "L2-1"]);
    let present = recabled(&whole, &now);
    let comparison = with_shape(&present).unwrap();
    assert!(matches!(comparison.parts.concat()[..], [Replug::Swap(..)]), "{:?}", comparison.parts);
    assert!(comparison.is_exact() && comparison.doubts.is_empty());
    let mut cabling = comparison.present.clone();
    comparison.parts.concat().into_iter().for_each(|step| step.apply(&mut cabling).unwrap());
    assert_eq!(named(&comparison.fabric_with(&present, &cabling)), named(&whole));
}

#[test]
fn cables_within_a_level_and_leaves_without_uplinks_are_doubtful() {
    let whole = pgft(REGULAR);
    // Two leaves lost a cable each, and are joined by one: nothing shows where its ends belong.
    let mut now = cables(&whole);
    let (c, d) = (place(&now, ["L1-3", "L2-0"], &whole), place(&now, ["L1-4", "L2-0"], &whole));
    now[c] = [now[c], now[d]].map(|ends| ends[0]);
    now.remove(d);
    let comparison = with_shape(&recabled(&whole, &now)).unwrap();
    // The cable is used for one of them: its other end moves.
    assert!(!comparison.is_equal());
    // A leaf that lost all of its cables upwards.
    let is_host = |end: &CablingEnd| end.device >= whole.switches().len();
    let leaf = (0..).zip(whole.switches()).find(|(_, s)| &*s.name == "L1-5").unwrap().0;
    let mut now = cables(&whole);
    now.retain(|ends| ends.iter().any(is_host) || ends.iter().all(|end| end.device != leaf));
    let comparison = with_shape(&recabled(&whole, &now)).unwrap();
    assert_eq!(comparison.doubts, [CablingDoubt::NoUplink(leaf)]);
    assert!(!comparison.is_equal() && comparison.parts.is_empty());
    // A cable between two leaves in ports that were free.
    let now = FreePorts(&whole).joined("L1-0", "L1-9").unwrap();
    let comparison = with_shape(&recabled(&whole, &now)).unwrap();
    assert!(matches!(comparison.doubts[..], [CablingDoubt::SameRank(_)]));
    assert!(comparison.parts.is_empty());
}

/// Joins switches by ports whose nodes are taken away.
struct FreePorts<'a>(&'a Fabric);

impl FreePorts<'_> {
    fn joined(&self, one: &str, other: &str) -> Option<Vec<Cable>> {
        let switches = self.0.switches();
        let at = |name: &str| switches.iter().position(|s| &*s.name == name);
        let (one, other) = (at(one)?, at(other)?);
        let mut all = cables(self.0);
        let mut take = |switch: usize| {
            let is_host = |end: &CablingEnd| end.device >= switches.len();
            let is_own = |ends: &Cable| {
                ends.iter().any(is_host) && ends.iter().any(|end| end.device == switch)
            };
            let ends = all.remove(all.iter().position(is_own)?);
            ends.into_iter().find(|end| end.device == switch)
        };
        let ends = [take(one)?, take(other)?];
        all.push(ends);
        Some(all)
    }
}

#[test]
fn a_cable_of_one_switch_occupies_its_ports() {
    // L1-2 – L2-5 and L2-1 – L1-2 become L1-2 – L1-2 and L2-5 – L2-1.
    let whole = pgft(REGULAR);
    let mut now = cables(&whole);
    let (c, d) = (place(&now, ["L1-2", "L2-5"], &whole), place(&now, ["L1-2", "L2-1"], &whole));
    let leaf = now[c][0];
    assert_eq!(leaf.device, now[d][0].device);
    let looped = [leaf, now[d][0]];
    now[c] = [now[c][1], now[d][1]];
    now.remove(d);
    let present = recabled(&whole, &now);
    let switch = whole.switches()[leaf.device].guid;
    let loops = [SelfLoop { switch, ports: looped.map(|end| end.port) }];
    let intended = Cabling::of(&whole);
    let comparison = Comparison::with_self_loops(&present, &loops, &intended).unwrap();
    assert!(matches!(comparison.parts.concat()[..], [Replug::Swap(..)]), "{:?}", comparison.parts);
    // Without the cable in the way, three steps would seem possible that are not.
    let without = Comparison::new(&present, &intended).unwrap();
    assert!(without.replugs() > 1);
    let shape = Comparison::with_inferred(&present, &loops, &LeafRule::default()).unwrap();
    assert_eq!((shape.replugs(), shape.doubts.len()), (1, 0));
    // A cable of one switch in free ports has to be unplugged, or is doubtful without a plan.
    let free = [1, 2].map(|port| CablingEnd { device: leaf.device, port: PortNumber(port) });
    let mut now = cables(&whole);
    now.retain(|ends| !ends.iter().any(|end| free.contains(end)));
    let intended = Cabling::of(&recabled(&whole, &now));
    let loops = [SelfLoop { switch, ports: free.map(|end| end.port) }];
    let present = recabled(&whole, &now);
    let comparison = Comparison::with_self_loops(&present, &loops, &intended).unwrap();
    assert!(matches!(comparison.parts.concat()[..], [Replug::Unplug(..)]));
    let shape = Comparison::with_inferred(&present, &loops, &LeafRule::default()).unwrap();
    assert!(matches!(shape.doubts[..], [CablingDoubt::SelfLoop(_)]), "{:?}", shape.doubts);
}

#[test]
fn steps_at_absent_devices_are_judged_as_if_these_were_there() {
    let whole = pgft("2; 4,6; 1,4; 1,1");
    let spine = whole.switches().iter().position(|s| &*s.name == "L2-3").unwrap();
    let is_dead = |s: &dmodc::SwitchIndex| s.at() == spine;
    let mut degradation = dmodc::Degradation::none(&whole);
    whole.switch_indices().filter(is_dead).for_each(|s| degradation.set_switch(s, true));
    let present = whole.without(&degradation);
    let leaves = LeafRule::default();
    for rule in [leaves.clone(), LeafRule::These(vec![true; present.switches().len()])] {
        let comparison = Comparison::new(&present, &Cabling::of(&whole)).unwrap();
        let plan = RepairPlan::new(&comparison, &present, &rule, 100);
        assert_eq!(plan.steps.len(), 6);
        assert!(plan.after.is_some());
        if rule == leaves {
            assert_eq!(plan.after, Risk::of(&whole, &leaves));
            assert!(plan.after.unwrap().all_to_all < plan.present.unwrap().all_to_all);
            assert!(!plan.is_harmful());
        }
    }
    // A list knows no kinds and no GUIDs.
    let mut list = Cabling::of(&whole);
    list.is_list = true;
    list.devices.iter_mut().for_each(|device| (device.guid, device.kind) = (None, None));
    let comparison = Comparison::new(&present, &list).unwrap();
    let plan = RepairPlan::new(&comparison, &present, &leaves, 100);
    assert_eq!(plan.after.unwrap().all_to_all, Risk::of(&whole, &leaves).unwrap().all_to_all);
}

#[test]
fn steps_that_raise_the_risk_are_called_harmful() {
    let whole = pgft("2; 4,6; 1,4; 1,1");
    let mut fewer = cables(&whole);
    let at = place(&fewer, ["L1-0", "L2-0"], &whole);
    fewer.remove(at);
    let fewer = recabled(&whole, &fewer);
    let leaves = LeafRule::default();
    for (present, intended, is_harmful) in [(&whole, &fewer, true), (&fewer, &whole, false)] {
        let comparison = Comparison::new(present, &Cabling::of(intended)).unwrap();
        // The end is judged even if no step is.
        let plan = RepairPlan::new(&comparison, present, &leaves, 1);
        assert_eq!(plan.is_harmful(), is_harmful);
        assert!(!RepairPlan::new(&comparison, present, &leaves, 0).is_harmful());
    }
}

#[test]
fn exchanged_cables_of_directors_and_pods_are_seen() {
    let shapes = [
        ("directors", Directors::default().fabric(Default::default()).unwrap()),
        ("pods", Pods::default().fabric(Default::default()).unwrap()),
    ];
    for (name, whole) in shapes {
        assert!(with_shape(&whole).unwrap().is_equal(), "{name}");
        let mut seen = 0;
        for seed in 0..20 {
            let recabled = 1 + seed as usize % 3;
            let departures = Departures { recabled, ..Departures::NONE };
            let present = departures.of(&whole, seed).unwrap();
            let comparison = with_shape(&present).unwrap();
            assert!(comparison.bound <= comparison.replugs(), "{name}, seed {seed}");
            assert!(comparison.replugs() <= recabled, "{name}, seed {seed}");
            seen += usize::from(!comparison.is_equal());
        }
        assert_eq!(seen, 20, "{name}");
    }
}
