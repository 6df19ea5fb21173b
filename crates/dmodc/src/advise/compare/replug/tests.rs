//! The numbers of steps, compared with a search through all cablings.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{HashMap, VecDeque};

use super::*;
use crate::random::Random;

/// Returns all matchings of this number of ports.
fn all_matchings(ports: usize) -> Vec<Matching> {
    let mut all = vec![vec![None; ports]];
    for u in 0..ports {
        let mut more = vec![];
        for cabling in &all {
            let free = |v: &usize| cabling[u].is_none() && cabling[*v].is_none();
            for v in (u + 1..ports).filter(free) {
                let mut longer = cabling.clone();
                join(&mut longer, u as PortId, v as PortId);
                more.push(longer);
            }
        }
        all.extend(more);
    }
    all
}

fn all_steps(ports: usize) -> Vec<Replug> {
    let ports = ports as PortId;
    let pairs = (0..ports).flat_map(|u| (u + 1..ports).map(move |v| (u, v)));
    pairs
        .flat_map(|(u, v)| {
            [
                Replug::Swap(u, v),
                Replug::Plug(u, v),
                Replug::Unplug(u, v),
                Replug::Move { from: u, to: v },
                Replug::Move { from: v, to: u },
            ]
        })
        .collect()
}

/// Returns the number of steps to every matching, by breadth-first search.
fn distances(from: &Matching) -> HashMap<Matching, usize> {
    let steps = all_steps(from.len());
    let mut distances = HashMap::from([(from.clone(), 0)]);
    let mut next = VecDeque::from([from.clone()]);
    while let Some(cabling) = next.pop_front() {
        let distance = distances[&cabling];
        for step in &steps {
            let mut after = cabling.clone();
            if step.apply(&mut after).is_ok() && !distances.contains_key(&after) {
                distances.insert(after.clone(), distance + 1);
                next.push_back(after);
            }
        }
    }
    distances
}

fn random_places(random: &mut Random, ports: usize) -> Vec<PortPlace> {
    let devices = 1 + random.below(ports as u64);
    (0..ports)
        .map(|_| {
            let device = random.below(devices) as u32;
            PortPlace { device, on_switch: !device.is_multiple_of(3) }
        })
        .collect()
}

/// Does the steps, and returns their number.
fn assert_repairs(present: &Matching, intended: &Matching, places: &[PortPlace]) -> usize {
    let steps: Vec<Replug> = fewest_replugs(present, intended, places).concat();
    let mut cabling = present.clone();
    for step in &steps {
        step.apply(&mut cabling).unwrap();
    }
    assert_eq!(cabling, *intended, "from {present:?} by {steps:?}");
    assert_eq!(steps.len(), least_replugs(present, intended), "{present:?} to {intended:?}");
    steps.len()
}

#[test]
fn no_repair_of_seven_ports_is_shorter() {
    let all = all_matchings(7);
    assert_eq!(all.len(), 232);
    let mut random = Random::new(1, 0);
    for present in &all {
        let places = random_places(&mut random, 7);
        for (intended, distance) in distances(present) {
            assert_eq!(assert_repairs(present, &intended, &places), distance);
        }
    }
}

#[test]
fn no_repair_of_ten_ports_is_shorter() {
    let all = all_matchings(10);
    assert_eq!(all.len(), 9496);
    let mut random = Random::new(2, 0);
    for _ in 0..2 {
        let present = &all[random.below(all.len() as u64) as usize];
        let places = random_places(&mut random, 10);
        for (intended, distance) in distances(present) {
            assert_eq!(assert_repairs(present, &intended, &places), distance);
        }
    }
}

#[test]
fn random_swaps_need_no_more_steps_than_were_made() {
    for seed in 0..400 {
        let mut random = Random::new(seed, 3);
        let ports = 40 + random.below(200) as usize;
        let places = random_places(&mut random, ports);
        let mut order: Vec<PortId> = (0..ports as PortId).collect();
        random.shuffle(&mut order);
        let mut intended: Matching = vec![None; ports];
        for pair in order.chunks_exact(2).take(ports / 3) {
            join(&mut intended, pair[0], pair[1]);
        }
        let mut present = intended.clone();
        let mut made = 0;
        let steps = all_steps(ports);
        while made < 1 + seed as usize % 10 {
            let step = steps[random.below(steps.len() as u64) as usize];
            made += usize::from(step.apply(&mut present).is_ok());
        }
        assert!(assert_repairs(&present, &intended, &places) <= made, "seed {seed}");
    }
}

#[test]
fn ends_on_one_device_are_swapped_first() {
    // Two hosts (ports 4 and 5) are exchanged on the ports 0 and 1 of a switch.
    let present = vec![Some(5), Some(4), None, None, Some(1), Some(0)];
    let intended = vec![Some(4), Some(5), None, None, Some(0), Some(1)];
    let place = |device, on_switch| PortPlace { device, on_switch };
    let mut places = vec![place(0, true); 4];
    places.extend([place(1, false), place(2, false)]);
    assert_eq!(fewest_replugs(&present, &intended, &places), [[Replug::Swap(0, 1)]]);
}

#[test]
fn impossible_steps_change_nothing() {
    let cabling: Matching = vec![Some(1), Some(0), None, None];
    for step in [
        Replug::Swap(0, 1),
        Replug::Swap(0, 2),
        Replug::Swap(0, 0),
        Replug::Move { from: 2, to: 3 },
        Replug::Move { from: 0, to: 1 },
        Replug::Plug(1, 2),
        Replug::Plug(2, 2),
        Replug::Unplug(0, 2),
        Replug::Unplug(2, 3),
    ] {
        let mut after = cabling.clone();
        assert_eq!(step.apply(&mut after), Err(Impossible(step)));
        assert_eq!(after, cabling);
    }
}
