//! The numbers that a fabric's destinations get from saved orders.
//!
//! A node in a known place takes the number of the place, whatever its adapter is. Orders without places (files of earlier
//! versions, plain lists) are followed by GUID. Every other node is a newcomer: [`newcomers`](super::newcomers) finds
//! numbers that fit.

use std::collections::{HashMap, HashSet};

use super::newcomers::Newcomers;
use super::{SavedOrders, SavedPlace};
use crate::fabric::Live;
use crate::id::{Guid, NodeIndex};
use crate::order::{DestinationNumber, Topological, on_leaf};
use crate::rank::Ranking;

/// The numbers of all destinations of a fabric.
pub(in crate::order) struct DestinationNumbers {
    /// The number of each node.
    pub(in crate::order) nodes: Vec<DestinationNumber>,
    /// The number of each switch.
    pub(in crate::order) switches: Vec<u32>,
    /// Numbers of places on leaves that no node is in.
    pub(in crate::order) vacant: Vec<(u32, SavedPlace)>,
}

/// One of both lists of nodes, prepared for lookups.
struct NumberList<'a> {
    guids: &'a [Guid],
    by_place: HashMap<SavedPlace, u32>,
    /// Entries whose place is not known.
    by_guid: HashMap<Guid, u32>,
}

impl<'a> NumberList<'a> {
    fn new(guids: &'a [Guid], places: &'a [Option<SavedPlace>]) -> Self {
        let (mut by_place, mut by_guid) = (HashMap::new(), HashMap::with_capacity(guids.len()));
        for (at, &guid) in guids.iter().enumerate() {
            match places.get(at).copied().flatten() {
                Some(place) => by_place.entry(place).or_insert(at as u32),
                None => by_guid.entry(guid).or_insert(at as u32),
            };
        }
        NumberList { guids, by_place, by_guid }
    }
}

impl SavedOrders {
    /// Returns the numbers of a fabric's destinations as saved. Newcomers on leaves get numbers that fit their place if
    /// places are kept; otherwise, and elsewhere, they follow in topological order.
    pub(in crate::order) fn numbers(
        &self,
        live: Live<'_>,
        ranking: &Ranking,
        topological: &Topological,
        keeps_places: bool,
    ) -> DestinationNumbers {
        let lists = [
            NumberList::new(&self.others, &self.other_places),
            NumberList::new(&self.nodes, &self.node_places),
        ];
        let mut numbers: Vec<Option<DestinationNumber>> = vec![None; live.fabric.nodes().len()];
        let mut taken = HashSet::new();
        let by_place = |n: NodeIndex, on_leaf: bool| {
            let list = &lists[usize::from(on_leaf)];
            list.by_place.get(&place_of(live, n)).copied()
        };
        let by_guid = |n: NodeIndex, on_leaf: bool| {
            let list = &lists[usize::from(on_leaf)];
            let adapter = live.fabric.adapter_of(n).guid;
            let known = list.by_guid.get(&live.fabric.node(n).guid);
            known.or_else(|| list.by_guid.get(&adapter)).copied()
        };
        // An adapter's GUID may stand for its node; of several nodes the first one takes the number. A node keeps
        // the kind it was saved as, even if its switch has become a leaf since.
        for lookup in [&by_place as &dyn Fn(NodeIndex, bool) -> Option<u32>, &by_guid] {
            for &n in
                topological.nodes.iter().filter(|n| numbers[n.at()].is_none()).collect::<Vec<_>>()
            {
                let here = on_leaf(live, ranking, n);
                let found = [here, !here].into_iter().find_map(|on_leaf| {
                    lookup(n, on_leaf).map(|number| DestinationNumber { on_leaf, number })
                });
                numbers[n.at()] =
                    found.filter(|number| taken.insert((number.on_leaf, number.number)));
            }
        }
        let mut next = [self.others.len() as u32, self.nodes.len() as u32];
        let mut newcomers = Vec::new();
        for &n in &topological.nodes {
            let on_leaf = on_leaf(live, ranking, n);
            if numbers[n.at()].is_none() && !(on_leaf && keeps_places) {
                let number = next[usize::from(on_leaf)];
                next[usize::from(on_leaf)] += 1;
                numbers[n.at()] = Some(DestinationNumber { on_leaf, number });
            } else if numbers[n.at()].is_none() {
                newcomers.push(n);
            }
        }
        let mut vacant = self.vacant(&lists[1], &taken);
        if keeps_places {
            let mut fitting = Newcomers::new(live, ranking, self, &numbers, &topological.switches);
            for (n, number) in fitting.number(&newcomers) {
                numbers[n.at()] = Some(DestinationNumber { on_leaf: true, number });
            }
            vacant.extend(fitting.vacant);
        }
        let nobody = DestinationNumber { on_leaf: false, number: 0 };
        let nodes = numbers.into_iter().map(|number| number.unwrap_or(nobody)).collect();
        DestinationNumbers { nodes, switches: self.switch_numbers(live, topological), vacant }
    }

    /// Returns the places that never had a node and that no node is in now.
    fn vacant(
        &self,
        list: &NumberList<'_>,
        taken: &HashSet<(bool, u32)>,
    ) -> Vec<(u32, SavedPlace)> {
        let is_vacant =
            |number: &u32| list.guids[*number as usize].0 == 0 && !taken.contains(&(true, *number));
        let places = list.by_place.iter().map(|(place, number)| (*number, *place));
        places.filter(|(number, _)| is_vacant(number)).collect()
    }

    fn switch_numbers(&self, live: Live<'_>, topological: &Topological) -> Vec<u32> {
        let saved = super::positions(&self.switches);
        let mut next = self.switches.len() as u32;
        let mut numbers = vec![0; live.fabric.switches().len()];
        for &s in &topological.switches {
            numbers[s.at()] = match saved.get(&live.fabric.switch(s).guid) {
                Some(&number) => number,
                None => {
                    next += 1;
                    next - 1
                }
            };
        }
        numbers
    }
}

/// Returns the port that a node is plugged into.
pub(super) fn place_of(live: Live<'_>, n: NodeIndex) -> SavedPlace {
    let node = live.fabric.node(n);
    SavedPlace { switch: live.fabric.switch(node.switch).guid, port: node.switch_port }
}
