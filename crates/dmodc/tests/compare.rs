//! The fabric as cabled against the intended one: every repair ends at the intended cabling, and none is longer than the damage.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeSet;

use common::cabling::{Cable, cables, named, recabled, swap};
use common::{described_anew, for_seeds, pgft, random_fabric};
use dmodc::advise::compare::replug::Replug;
use dmodc::advise::compare::{Cabling, Comparison, RepairPlan, Risk, Side};
use dmodc::{Departures, Fabric, LeafRule, PortNumber};

/// Does all steps, and returns the fabric that they end at.
fn repaired(present: &Fabric, comparison: &Comparison) -> Fabric {
    let mut cabling = comparison.present.clone();
    for step in comparison.parts.concat() {
        step.apply(&mut cabling).unwrap();
    }
    assert_eq!(cabling, comparison.intended);
    comparison.fabric_with(present, &cabling)
}

#[test]
fn a_fabric_is_equal_to_itself() {
    for_seeds(50, |random| {
        let fabric = random_fabric(random, 60);
        let comparison = Comparison::new(&fabric, &Cabling::of(&fabric)).unwrap();
        assert!(comparison.is_equal() && comparison.is_exact());
        assert_eq!(named(&comparison.fabric_with(&fabric, &comparison.present)), named(&fabric));
    });
}

#[test]
fn swaps_are_repaired_by_at_most_as_many() {
    for_seeds(300, |random| {
        let intended = random_fabric(random, 60);
        let mut cables = cables(&intended);
        let mut made = 0;
        for _ in 0..1 + random.below(10) {
            made += usize::from(swap(random, &intended, &mut cables));
        }
        let present = recabled(&intended, &cables);
        let comparison = Comparison::new(&present, &Cabling::of(&intended)).unwrap();
        assert!(comparison.replugs() <= made && comparison.is_exact());
        let is_swap = |step: &Replug| matches!(step, Replug::Swap(..));
        assert!(comparison.parts.iter().flatten().all(is_swap), "{:?}", comparison.parts);
        assert!(comparison.unmatched.is_empty());
        assert_eq!(named(&repaired(&present, &comparison)), named(&intended));
    });
}

#[test]
fn missing_extra_and_swapped_cables_are_repaired_together() {
    let steps = std::cell::Cell::new([0; 4]);
    for_seeds(300, |random| {
        let whole = random_fabric(random, 60);
        let all = cables(&whole);
        let mut one_in = |cables: &[Cable], n: u64| -> Vec<Cable> {
            cables.iter().copied().filter(|_| random.below(n) > 0).collect()
        };
        let (intended, mut present) = (one_in(&all, 12), one_in(&all, 12));
        for _ in 0..random.below(8) {
            swap(random, &whole, &mut present);
        }
        let [intended, present] = [intended, present].map(|cables| recabled(&whole, &cables));
        let Ok(comparison) = Comparison::new(&present, &Cabling::of(&intended)) else { return };
        assert_eq!(named(&repaired(&present, &comparison)), named(&intended));
        for step in comparison.parts.iter().flatten() {
            let mut counts = steps.get();
            counts[match step {
                Replug::Swap(..) => 0,
                Replug::Move { .. } => 1,
                Replug::Plug(..) => 2,
                Replug::Unplug(..) => 3,
            }] += 1;
            steps.set(counts);
        }
    });
    assert!(steps.get().iter().all(|&count| count > 20), "{steps:?}");
}

#[test]
fn names_lids_and_the_order_of_devices_do_not_matter() {
    for_seeds(100, |random| {
        let intended = random_fabric(random, 60);
        let mut cables = cables(&intended);
        for _ in 0..random.below(4) {
            swap(random, &intended, &mut cables);
        }
        let present = recabled(&intended, &cables);
        let expected = Comparison::new(&present, &Cabling::of(&intended)).unwrap().replugs();
        // Another order of devices, other LIDs.
        let anew = described_anew(&present, random, |_| {});
        let comparison = Comparison::new(&anew, &Cabling::of(&intended)).unwrap();
        assert_eq!(comparison.replugs(), expected);
        assert_eq!(named(&repaired(&anew, &comparison)), named(&intended));
        // Renamed hosts are known by GUID.
        let mut renamed = Cabling::of(&intended);
        for device in &mut renamed.devices[intended.switches().len()..] {
            device.name = format!("renamed {}", random.below(1000)).into();
        }
        assert_eq!(Comparison::new(&anew, &renamed).unwrap().replugs(), expected);
    });
}

#[test]
fn devices_without_guids_are_found_by_name() {
    let intended = pgft("2; 4,4; 1,4; 1,1");
    let mut list = Cabling::of(&intended);
    for device in &mut list.devices {
        (device.guid, device.kind) = (None, None);
    }
    list.is_list = true;
    let mut cables = cables(&intended);
    let first = cables[0][1];
    cables[0][1] = cables[1][1];
    cables[1][1] = first;
    let present = recabled(&intended, &cables);
    let comparison = Comparison::new(&present, &list).unwrap();
    assert_eq!((comparison.replugs(), comparison.unmatched.len()), (1, 0));
    assert_eq!(comparison.by_name, list.devices.len());
    // A list without hosts says nothing about their cables.
    list.cables.truncate(intended.inter_switch_cables().len());
    list.devices.truncate(intended.switches().len());
    let comparison = Comparison::new(&present, &list).unwrap();
    assert_eq!((comparison.replugs(), comparison.unmatched.len()), (1, 0));
    assert!(!comparison.compares_hosts);
}

#[test]
fn a_host_in_the_port_of_an_absent_one_is_set_aside() {
    let intended = pgft("2; 4,4; 1,4; 1,1");
    let mut other = Cabling::of(&intended);
    let host = intended.switches().len();
    other.devices[host].guid = Some(dmodc::Guid(0xabcdef));
    other.devices[host].name = "another".into();
    let comparison = Comparison::new(&intended, &other).unwrap();
    assert_eq!(comparison.replugs(), 0);
    let sides: Vec<Side> = comparison.unmatched.iter().map(|unmatched| unmatched.side).collect();
    assert_eq!(sides, [Side::Intended, Side::Present]);
    assert!(comparison.unmatched.iter().all(|unmatched| unmatched.set_aside == 1));
}

#[test]
fn the_most_harmful_fault_is_repaired_first() {
    // One leaf lost a cable to a spine, and another one all of its cables.
    let intended = pgft("2; 4,4; 1,4; 1,1");
    let cut: BTreeSet<usize> = [3, 4, 5, 6, 7].into();
    let of_leaf = |cable: &Cable| cable[0].device.min(cable[1].device);
    let mut left = cables(&intended);
    left.sort_by_key(|cable| (cable[1].device >= intended.switches().len(), of_leaf(cable)));
    let left: Vec<Cable> =
        left.into_iter().enumerate().filter(|(at, _)| !cut.contains(at)).map(|(_, c)| c).collect();
    let present = recabled(&intended, &left);
    let comparison = Comparison::new(&present, &Cabling::of(&intended)).unwrap();
    let leaves = LeafRule::default();
    let plan = RepairPlan::new(&comparison, &present, &leaves, 100);
    assert_eq!(plan.steps.len(), 5);
    let delivered: Vec<u64> =
        plan.steps.iter().map(|step| step.risk.unwrap().delivery.delivered).collect();
    assert!(delivered[0] > plan.present.unwrap().delivery.delivered, "{delivered:?}");
    assert_eq!(plan.steps[4].risk, Risk::of(&intended, &leaves));
    assert!(RepairPlan::new(&comparison, &present, &leaves, 0).present.is_none());
}

#[test]
fn a_regular_shape_shows_exchanged_and_missing_cables() {
    for tuple in ["2; 8,12; 1,8; 1,1", "3; 6,6,6; 1,6,6; 1,1,1", "2; 8,12; 1,4; 1,2"] {
        let whole = pgft(tuple);
        let leaves = LeafRule::default();
        assert!(Comparison::with_inferred(&whole, &[], &leaves).unwrap().is_equal(), "{tuple}");
        let shape = named_pairs(&whole);
        let (mut exact, mut restored) = (0, 0);
        for seed in 0..20 {
            let recabled = 1 + seed as usize % 3;
            let departures = Departures { recabled, ..Departures::NONE };
            let present = departures.of(&whole, seed).unwrap();
            let comparison = Comparison::with_inferred(&present, &[], &leaves).unwrap();
            assert!(comparison.bound <= comparison.replugs(), "{tuple}, seed {seed}");
            exact += usize::from(comparison.is_exact());
            let repaired = repaired(&present, &comparison);
            restored += usize::from(named_pairs(&repaired) == shape);
            assert!(comparison.replugs() <= recabled, "{tuple}, seed {seed}");
        }
        // With several exchanged cables in one pod, its switches are not alike any more.
        assert!(exact > 10 && restored >= 16, "{tuple}: {exact} exact, {restored} restored");
    }
}

/// Returns how many cables join each pair of switches.
fn named_pairs(fabric: &Fabric) -> Vec<[u64; 2]> {
    let guid = |(s, _): (dmodc::SwitchIndex, PortNumber)| fabric.switch(s).guid.0;
    let mut pairs: Vec<[u64; 2]> = fabric
        .inter_switch_cables()
        .iter()
        .map(|cable| {
            let mut pair = [guid(cable.a), guid(cable.b)];
            pair.sort_unstable();
            pair
        })
        .collect();
    pairs.sort_unstable();
    pairs
}
