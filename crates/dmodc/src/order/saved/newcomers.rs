//! Numbers for nodes that come later, without changing any other number.
//!
//! A newcomer in a place that was kept free has its number already. Otherwise:
//!
//! 1. *An unknown leaf* gets a block of consecutive numbers for all its places: right after the leaf before it, if those
//!    numbers are free, or else beyond the last number in use, where the same residues come again.
//! 2. *A new place on a known leaf* gets the free number between its neighbours' if there is one. Otherwise it gets a
//!    residue that the fewest nodes of the leaf use, and of its pod, so that no port towards them carries more while
//!    another one is idle. Of such residues it gets the one that is used farthest away in topological order, because
//!    shifts send to runs of neighbours. The number with that residue is again one beyond the last.
//!
//! ```text
//! 18 uplinks, leaves of 9 nodes:   leaf 4: 36 … 44 (residues 0 … 8)      leaf 5: 45 … 53 (residues 9 … 17)
//! a tenth node on leaf 4           residues 9 … 17 are free on the leaf; leaf 5 uses 9 next door and 17 nine nodes away: 17
//! last number in use is 323        324 + 17 = 341 has residue 17
//! ```

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::{SavedOrders, SavedPlace};
use crate::fabric::Live;
use crate::id::{Guid, NodeIndex, PortNumber, SwitchIndex};
use crate::order::absent::missing_before;
use crate::order::place::{CommonPorts, LeafPorts};
use crate::order::residues::Residues;
use crate::order::{DestinationNumber, counts};
use crate::rank::Ranking;
use crate::union_find::UnionFind;

/// A port of a leaf, and the number of its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NumberedPort {
    pub(super) port: PortNumber,
    pub(super) number: u32,
}

/// The numbers on leaves while newcomers are given theirs.
pub(super) struct Newcomers<'a> {
    live: Live<'a>,
    pub(super) residues: Residues,
    /// The places of each leaf that has no numbers yet, by port.
    layouts: Vec<Vec<PortNumber>>,
    /// The leaves in topological order.
    leaves: Vec<SwitchIndex>,
    /// For each leaf the known places with their numbers, ascending by port.
    pub(super) books: Vec<Vec<NumberedPort>>,
    /// For each rank the subtree that each leaf lies in: itself, its pod, and so on.
    pub(super) subtrees: Vec<Vec<SwitchIndex>>,
    /// Numbers of nodes and of places.
    used: HashSet<u32>,
    /// Numbers of places that no node was ever in.
    pub(super) never_used: HashSet<u32>,
    /// Numbers of absent nodes whose place is unknown: a newcomer between the neighbours may be such a node.
    lent: HashSet<u32>,
    /// Below this number most numbers are in use; gaps there are for nodes that belong between.
    main_end: u32,
    /// If no numbers are known yet: how many leaves are missing right before each leaf, and how many places a leaf has.
    missing: Option<(Vec<u32>, u32)>,
    /// Places that the leaves of newcomers keep free.
    pub(super) vacant: Vec<(u32, SavedPlace)>,
}

/// The numbers of nodes on leaves that saved orders and the nodes of the fabric have.
struct KnownNumbers {
    /// The numbers of known places, by switch.
    by_switch: HashMap<Guid, Vec<NumberedPort>>,
    used: HashSet<u32>,
    never_used: HashSet<u32>,
    lent: HashSet<u32>,
}

impl KnownNumbers {
    fn new(saved: &SavedOrders, numbers: &[Option<DestinationNumber>]) -> Self {
        let mut by_switch: HashMap<Guid, Vec<NumberedPort>> = HashMap::new();
        let (mut used, mut lent, mut never_used) = (HashSet::new(), HashSet::new(), HashSet::new());
        for (number, guid) in (0..).zip(&saved.nodes) {
            match saved.node_places.get(number as usize).copied().flatten() {
                Some(place) => {
                    let entry = NumberedPort { port: place.port, number };
                    by_switch.entry(place.switch).or_default().push(entry);
                }
                None if guid.0 == 0 => continue,
                None => drop(lent.insert(number)),
            }
            used.insert(number);
            if guid.0 == 0 {
                never_used.insert(number);
            }
        }
        // Some of these nodes may be on switches that are no leaves any more.
        for number in numbers.iter().flatten().filter(|number| number.on_leaf) {
            lent.remove(&number.number);
            never_used.remove(&number.number);
            used.insert(number.number);
        }
        KnownNumbers { by_switch, used, never_used, lent }
    }
}

/// The ports and numbers of one leaf.
struct LeafNumbers {
    /// The numbers of nodes that are there now.
    present: Vec<NumberedPort>,
    /// Ports that have a node, or had one, ascending.
    in_use: Vec<PortNumber>,
    /// Ports of nodes that were numbered apart before their switch became a leaf.
    apart: Vec<PortNumber>,
}

impl LeafNumbers {
    /// Reads a leaf. `known` are the saved places that have or had a node.
    fn new(
        live: Live<'_>,
        leaf: SwitchIndex,
        known: &[NumberedPort],
        numbers: &[Option<DestinationNumber>],
    ) -> Self {
        let mut in_use: Vec<PortNumber> = known.iter().map(|entry| entry.port).collect();
        let (mut present, mut apart) = (vec![], vec![]);
        for &n in live.fabric.nodes_of(leaf).iter().filter(|n| counts(live, **n)) {
            let port = live.fabric.node(n).switch_port;
            match numbers[n.at()] {
                Some(DestinationNumber { on_leaf: false, .. }) => {
                    apart.push(port);
                    continue;
                }
                Some(DestinationNumber { number, .. }) => {
                    present.push(NumberedPort { port, number });
                }
                None => {}
            }
            in_use.push(port);
        }
        in_use.sort_unstable();
        in_use.dedup();
        LeafNumbers { present, in_use, apart }
    }
}

impl<'a> Newcomers<'a> {
    /// Prepares the numbers of a fabric's leaves. `numbers` are those that nodes have so far; `order` are the switches in
    /// topological order.
    pub(super) fn new(
        live: Live<'a>,
        ranking: &Ranking,
        saved: &SavedOrders,
        numbers: &[Option<DestinationNumber>],
        order: &[SwitchIndex],
    ) -> Self {
        let leaves: Vec<SwitchIndex> =
            order.iter().copied().filter(|&s| ranking.is_leaf(s)).collect();
        let KnownNumbers { mut by_switch, used, never_used, lent } =
            KnownNumbers::new(saved, numbers);
        let mut apart = HashSet::new();
        let mut books = Vec::with_capacity(leaves.len());
        let mut ports = Vec::with_capacity(leaves.len());
        for &leaf in &leaves {
            let known = by_switch.remove(&live.fabric.switch(leaf).guid).unwrap_or_default();
            let (kept_free, known): (Vec<NumberedPort>, Vec<NumberedPort>) =
                known.into_iter().partition(|entry| never_used.contains(&entry.number));
            let read = LeafNumbers::new(live, leaf, &known, numbers);
            apart.extend(read.apart.into_iter().map(|port| (leaf, port)));
            let mut book: Vec<NumberedPort> = [&kept_free[..], &known, &read.present].concat();
            book.sort_unstable();
            book.dedup();
            books.push(book);
            let kept_free = kept_free.into_iter().map(|entry| entry.port).collect();
            ports.push(LeafPorts { leaf, used: read.in_use, kept_free });
        }
        let residues = Residues::new(live, ranking);
        let common = CommonPorts::new(live, &ports, residues.round as usize);
        let subtrees = subtrees(live, ranking, &leaves);
        let mut layouts: Vec<Vec<PortNumber>> =
            ports.iter().map(|leaf| common.places_of(live, leaf)).collect();
        for (layout, &leaf) in layouts.iter_mut().zip(&leaves) {
            layout.retain(|&port| !apart.contains(&(leaf, port)));
        }
        let missing = used.is_empty().then(|| {
            for subtrees in subtrees.iter().take(residues.by_rank.len()) {
                give_up_places(&mut layouts, &ports, subtrees);
            }
            let places = usual(layouts.iter().map(Vec::len)) as u32;
            (missing_before(live, ranking, &leaves), places)
        });
        Newcomers {
            live,
            residues,
            layouts,
            leaves,
            books,
            subtrees,
            main_end: main_end(&used),
            used,
            never_used,
            lent,
            missing,
            vacant: vec![],
        }
    }

    /// Returns a number for each of these nodes on leaves, which come in topological order.
    pub(super) fn number(&mut self, newcomers: &[NodeIndex]) -> Vec<(NodeIndex, u32)> {
        let mut by_leaf: HashMap<SwitchIndex, Vec<NodeIndex>> = HashMap::new();
        for &n in newcomers {
            by_leaf.entry(self.live.fabric.node(n).switch).or_default().push(n);
        }
        let mut found = Vec::with_capacity(newcomers.len());
        for at in 0..self.leaves.len() {
            let new = by_leaf.remove(&self.leaves[at]).unwrap_or_default();
            if self.books[at].is_empty() {
                self.number_leaf(at, &new);
            } else {
                for &n in &new {
                    self.number_node(at, self.live.fabric.node(n).switch_port);
                }
            }
            for n in new {
                let port = self.live.fabric.node(n).switch_port;
                let number = self.books[at].iter().find(|entry| entry.port == port);
                found.extend(number.map(|entry| (n, entry.number)));
            }
        }
        found
    }

    /// Gives an unknown leaf a block of numbers; places without a node are kept free.
    fn number_leaf(&mut self, at: usize, nodes: &[NodeIndex]) {
        let port = |n: &NodeIndex| self.live.fabric.node(*n).switch_port;
        let used: Vec<PortNumber> = nodes.iter().map(port).collect();
        let places = std::mem::take(&mut self.layouts[at]);
        let start = self.free_block(at, places.len() as u32);
        let switch = self.live.fabric.switch(self.leaves[at]).guid;
        for (&port, number) in places.iter().zip(start..) {
            self.note(at, port, number);
            if !used.contains(&port) {
                self.never_used.insert(number);
                self.vacant.push((number, SavedPlace { switch, port }));
            }
        }
    }

    /// Notes the number of a place.
    fn note(&mut self, at: usize, port: PortNumber, number: u32) {
        self.used.insert(number);
        self.lent.remove(&number);
        let book = &mut self.books[at];
        let place = book.partition_point(|entry| entry.port < port);
        book.insert(place, NumberedPort { port, number });
    }

    /// Returns the first of `length` free consecutive numbers for a leaf.
    fn free_block(&self, at: usize, length: u32) -> u32 {
        let is_free = |start: u32| (start..start + length).all(|n| !self.used.contains(&n));
        let before = self.books[..at].iter().rev().find(|book| !book.is_empty());
        let after = self.books[at + 1..].iter().find(|book| !book.is_empty());
        let missing = self.missing.as_ref().map_or(0, |(missing, places)| missing[at] * places);
        let end = before.map_or((missing > 0).then_some(0), |book| Some(self.block_end(book)));
        let end = end.map(|end| end + missing);
        let start = after.and_then(|book| {
            let first = book.iter().map(|entry| entry.number).min()?;
            first.checked_sub(length)
        });
        let ideal = [end, start].into_iter().flatten().find(|&start| is_free(start));
        ideal.unwrap_or_else(|| {
            let like = self.fitting_start(at, length, end.or(start).unwrap_or(0));
            self.beyond(like, is_free)
        })
    }

    /// Returns the number after the last of a leaf. Numbers beyond the main part only count if it has no others.
    fn block_end(&self, book: &[NumberedPort]) -> u32 {
        let numbers = || book.iter().map(|entry| entry.number);
        let inside = numbers().filter(|number| *number < self.main_end).max();
        inside.or_else(|| numbers().max()).map_or(0, |last| last + 1)
    }

    /// Returns the least number beyond the main part that takes the same ports as `like` and is free.
    fn beyond(&self, like: u32, is_free: impl Fn(u32) -> bool) -> u32 {
        let period = self.residues.period;
        let rounds = self.main_end.saturating_sub(like % period).div_ceil(period);
        let mut number = like % period + rounds * period;
        while !is_free(number) {
            number += period;
        }
        number
    }

    /// Gives a new place on a known leaf a number.
    fn number_node(&mut self, at: usize, port: PortNumber) {
        let number = self.between_neighbours(at, port);
        let number = number.filter(|&number| self.is_least_used(at, number));
        let number = number.unwrap_or_else(|| {
            let like = self.fitting_residue(at, port);
            self.beyond(like, |number| !self.used.contains(&number))
        });
        self.note(at, port, number);
    }

    /// Returns a free number between those of the neighbours on the leaf, or next to the only neighbour.
    fn between_neighbours(&self, at: usize, port: PortNumber) -> Option<u32> {
        let book = &self.books[at];
        let split = book.partition_point(|entry| entry.port < port);
        let below = split.checked_sub(1).map(|at| book[at].number);
        let above = book.get(split).map(|entry| entry.number);
        let candidates = match (below, above) {
            (Some(below), Some(above)) => below + 1..above,
            (Some(below), None) => below + 1..below + 2,
            (None, Some(above)) => above.saturating_sub(1)..above,
            (None, None) => 0..0,
        };
        let is_open = |n: &u32| !self.used.contains(n) || self.lent.contains(n);
        candidates.take(self.residues.round as usize).find(is_open)
    }
}

/// Lets subtrees that have more places than usual give up as many empty ones. Otherwise numbers that no node has would
/// push others onto ports that are in use already.
fn give_up_places(layouts: &mut [Vec<PortNumber>], ports: &[LeafPorts], subtrees: &[SwitchIndex]) {
    let mut sizes: BTreeMap<SwitchIndex, usize> = BTreeMap::new();
    for (layout, subtree) in layouts.iter().zip(subtrees) {
        *sizes.entry(*subtree).or_default() += layout.len();
    }
    let usual = usual(sizes.values().copied());
    // The fullest leaves come first: they have nodes in unexpected ports.
    let mut fullest: Vec<usize> = (0..layouts.len()).collect();
    fullest.sort_by_key(|&at| Reverse(layouts[at].len()));
    for at in fullest {
        let size = sizes.entry(subtrees[at]).or_default();
        while *size > usual {
            let is_empty = |port: &PortNumber| !ports[at].used.contains(port);
            let Some(last) = layouts[at].iter().rposition(is_empty) else { break };
            layouts[at].remove(last);
            *size -= 1;
        }
    }
}

/// Returns the most frequent of these; of equally frequent ones the greatest.
fn usual(sizes: impl Iterator<Item = usize>) -> usize {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for size in sizes {
        *counts.entry(size).or_default() += 1;
    }
    counts.into_iter().max_by_key(|&(size, count)| (count, size)).map_or(0, |(size, _)| size)
}

/// Returns for each rank a switch that stands for the subtree of each leaf below the next rank.
fn subtrees(live: Live<'_>, ranking: &Ranking, leaves: &[SwitchIndex]) -> Vec<Vec<SwitchIndex>> {
    let mut sets = UnionFind::new(live.fabric.switches().len());
    let below = |rank: usize| {
        for s in live.switches().filter(|&s| ranking.rank(s) == Some(rank as u32)) {
            for (_, peer) in live.links(s).filter(|(_, peer)| ranking.rank(*peer) < ranking.rank(s))
            {
                sets.join(s, peer);
            }
        }
        leaves.iter().map(|&leaf| sets.root(leaf)).collect()
    };
    (0..ranking.levels() as usize).map(below).collect()
}

/// Returns the greatest number below which at least half of all numbers are in use.
fn main_end(used: &HashSet<u32>) -> u32 {
    let mut sorted: Vec<u32> = used.iter().copied().collect();
    sorted.sort_unstable();
    let below = |(at, number): (usize, &u32)| {
        (2 * (at as u64 + 1) > u64::from(*number)).then_some(*number + 1)
    };
    sorted.iter().enumerate().filter_map(below).next_back().unwrap_or(0)
}
