//! Numbers for nodes that come later, without changing anybody else's.
//!
//! A newcomer in a place that was kept free has its number already. Otherwise:
//!
//! 1. *A leaf that nobody knows* gets a block of consecutive numbers for all its places: right after the leaf before it, if those numbers are
//!    free, or else beyond the last number in use, where the same residues come again.
//! 2. *A new place on a known leaf* gets the free number between its neighbours' if there is one. Otherwise it gets a residue that
//!    the fewest nodes of the leaf use, and of its pod, so that no port towards them carries more while another one is idle; of those the one
//!    that is used farthest away in topological order, because shifts send to runs of neighbours. The number with that residue is
//!    again one beyond the last.
//!
//! ```text
//! 18 uplinks, leaves of 9 nodes:   leaf 4: 36 … 44 (residues 0 … 8)      leaf 5: 45 … 53 (residues 9 … 17)
//! a tenth node on leaf 4           residues 9 … 17 are free on the leaf; leaf 5 uses 9 next door and 17 nine nodes away: 17
//! last number in use is 323        324 + 17 = 341 has residue 17
//! ```

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashMap, HashSet};

use super::{SavedOrders, SavedPlace};
use crate::fabric::Live;
use crate::id::{Guid, NodeIndex, PortNumber, SwitchIndex};
use crate::order::DestinationNumber;
use crate::order::absent::missing_before;
use crate::order::place::{CommonPorts, LeafPorts};
use crate::order::residues::Residues;
use crate::rank::Ranking;
use crate::union_find::UnionFind;

/// What is known of the numbers on leaves while newcomers are given theirs.
pub(super) struct Newcomers<'a> {
    live: Live<'a>,
    residues: Residues,
    /// The places of each leaf that has no numbers yet, by port.
    layouts: Vec<Vec<PortNumber>>,
    /// The leaves in topological order.
    leaves: Vec<SwitchIndex>,
    /// For each of them the known places, by port, with their numbers.
    books: Vec<Vec<(PortNumber, u32)>>,
    /// For each rank the subtree that each leaf lies in: itself, its pod, and so on.
    subtrees: Vec<Vec<SwitchIndex>>,
    /// Numbers that somebody has, or a place.
    used: HashSet<u32>,
    /// Those of places that nobody was ever in.
    never_used: HashSet<u32>,
    /// Numbers of absent nodes whose place is unknown: whoever comes between the neighbours may be who they were.
    lent: HashSet<u32>,
    /// Below this most numbers are in use; gaps there are for whoever belongs between.
    main_end: u32,
    /// If nothing is known yet: how many leaves are missing right before each, and how many places a leaf has.
    missing: Option<(Vec<u32>, u32)>,
    /// Places that newcomers' leaves keep free.
    pub(super) vacant: Vec<(u32, SavedPlace)>,
}

impl<'a> Newcomers<'a> {
    pub(super) fn new(
        live: Live<'a>,
        ranking: &Ranking,
        saved: &SavedOrders,
        numbers: &[Option<DestinationNumber>],
        order: &[SwitchIndex],
    ) -> Self {
        let leaves: Vec<SwitchIndex> =
            order.iter().copied().filter(|&s| ranking.is_leaf(s)).collect();
        let mut by_switch: HashMap<Guid, Vec<(PortNumber, u32)>> = HashMap::new();
        let (mut used, mut lent, mut never_used) = (HashSet::new(), HashSet::new(), HashSet::new());
        for (number, guid) in (0..).zip(&saved.nodes) {
            match saved.node_places.get(number as usize).copied().flatten() {
                Some(place) => {
                    by_switch.entry(place.switch).or_default().push((place.port, number));
                }
                None if guid.0 == 0 => continue,
                None => drop(lent.insert(number)),
            }
            used.insert(number);
            if guid.0 == 0 {
                never_used.insert(number);
            }
        }
        // Some may be on switches that are no leaves any more.
        for number in numbers.iter().flatten().filter(|number| number.on_leaf) {
            lent.remove(&number.number);
            never_used.remove(&number.number);
            used.insert(number.number);
        }
        let is_counted = |n: &NodeIndex| {
            ranking.is_leaf(live.fabric.node(*n).switch) && crate::order::counts(live, *n)
        };
        let mut apart = HashSet::new();
        let mut books = Vec::with_capacity(leaves.len());
        let mut ports = Vec::with_capacity(leaves.len());
        for &leaf in &leaves {
            let mut book = by_switch.remove(&live.fabric.switch(leaf).guid).unwrap_or_default();
            let (kept_free, known): (Vec<_>, Vec<_>) =
                book.iter().partition(|entry| never_used.contains(&entry.1));
            let ports_of = |entries: Vec<(PortNumber, u32)>| -> Vec<PortNumber> {
                entries.into_iter().map(|entry| entry.0).collect()
            };
            let (kept_free, mut in_use) = (ports_of(kept_free), ports_of(known));
            for &n in live.fabric.nodes_of(leaf).iter().filter(|n| is_counted(n)) {
                let port = live.fabric.node(n).switch_port;
                match numbers[n.at()] {
                    // It was numbered apart before its switch became a leaf, and its place with it.
                    Some(DestinationNumber { on_leaf: false, .. }) => {
                        apart.insert((leaf, port));
                        continue;
                    }
                    Some(DestinationNumber { number, .. }) => book.push((port, number)),
                    None => {}
                }
                in_use.push(port);
            }
            in_use.sort_unstable();
            in_use.dedup();
            book.sort_unstable();
            book.dedup();
            books.push(book);
            ports.push(LeafPorts { leaf, used: in_use, kept_free });
        }
        let residues = Residues::new(live, ranking);
        let common = CommonPorts::new(live, &ports, residues.round as usize);
        let main_end = main_end(&used);
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
        let vacant = vec![];
        Newcomers {
            subtrees,
            live,
            residues,
            layouts,
            leaves,
            books,
            used,
            never_used,
            lent,
            main_end,
            missing,
            vacant,
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
                let number = self.books[at].iter().find(|entry| entry.0 == port);
                found.extend(number.map(|entry| (n, entry.1)));
            }
        }
        found
    }

    /// Gives a leaf that nobody knows a block of numbers; places without a node are kept free.
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

    fn note(&mut self, at: usize, port: PortNumber, number: u32) {
        self.used.insert(number);
        self.lent.remove(&number);
        let book = &mut self.books[at];
        let place = book.partition_point(|entry| entry.0 < port);
        book.insert(place, (port, number));
    }

    /// Finds free consecutive numbers for a leaf.
    fn free_block(&self, at: usize, length: u32) -> u32 {
        let is_free = |start: u32| (start..start + length).all(|n| !self.used.contains(&n));
        let before = self.books[..at].iter().rev().find(|book| !book.is_empty());
        let after = self.books[at + 1..].iter().find(|book| !book.is_empty());
        let missing = self.missing.as_ref().map_or(0, |(missing, places)| missing[at] * places);
        let end = before.map_or((missing > 0).then_some(0), |book| Some(self.block_end(book)));
        let end = end.map(|end| end + missing);
        let start = after.and_then(|book| {
            let first = book.iter().map(|entry| entry.1).min()?;
            first.checked_sub(length)
        });
        let ideal = [end, start].into_iter().flatten().find(|&start| is_free(start));
        ideal.unwrap_or_else(|| {
            let like = self.fitting_start(at, length, end.or(start).unwrap_or(0));
            self.beyond(like, is_free)
        })
    }

    /// A number, perhaps in use, from which on a block of a new leaf takes the ports that the fewest nodes of its pod use. Of equal ones the first
    /// from `ideal` on.
    fn fitting_start(&self, at: usize, length: u32, ideal: u32) -> u32 {
        let none = PortNumber(0);
        let levels: Vec<Level> = self
            .residues
            .by_rank
            .iter()
            .zip(&self.subtrees)
            .skip(1)
            .map(|(&modulus, subtrees)| self.level(at, none, modulus, subtrees))
            .collect();
        let key = |start: u32| {
            let sum = |level: &Level| {
                let residues =
                    (start..start + length).map(|number| (number % level.modulus) as usize);
                let uses =
                    residues.clone().map(|residue| level.uses[residue] + level.kept_free[residue]);
                let meetings = residues.map(|residue| level.meetings[residue]);
                (uses.sum::<usize>(), meetings.sum::<f64>())
            };
            levels.iter().map(sum).collect::<Vec<(usize, f64)>>()
        };
        let mut best = (ideal, key(ideal));
        for start in ideal + 1..ideal + self.residues.period {
            let key = key(start);
            if key.partial_cmp(&best.1) == Some(Ordering::Less) {
                best = (start, key);
            }
        }
        best.0
    }

    /// The number after the last of a leaf. Numbers beyond the others are only looked at if it has no other.
    fn block_end(&self, book: &[(PortNumber, u32)]) -> u32 {
        let numbers = || book.iter().map(|entry| entry.1);
        let inside = numbers().filter(|number| *number < self.main_end).max();
        inside.or_else(|| numbers().max()).map_or(0, |last| last + 1)
    }

    /// The least number beyond the main part that takes the same ports as this one and satisfies a condition.
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

    /// Whether no residue is used by fewer nodes of a leaf than that of this number.
    fn is_least_used(&self, at: usize, number: u32) -> bool {
        let round = self.residues.round;
        let mut uses = vec![0; round as usize];
        for (_, number) in self.books[at].iter().filter(|entry| !self.never_used.contains(&entry.1))
        {
            uses[(number % round) as usize] += 1;
        }
        uses.iter().min() == uses.get((number % round) as usize)
    }

    /// A free number between those of the neighbours on the leaf; next to the only neighbour at its end.
    fn between_neighbours(&self, at: usize, port: PortNumber) -> Option<u32> {
        let book = &self.books[at];
        let split = book.partition_point(|entry| entry.0 < port);
        let below = split.checked_sub(1).map(|at| book[at].1);
        let above = book.get(split).map(|entry| entry.1);
        let candidates = match (below, above) {
            (Some(below), Some(above)) => below + 1..above,
            (Some(below), None) => below + 1..below + 2,
            (None, Some(above)) => above.saturating_sub(1)..above,
            (None, None) => 0..0,
        };
        let is_open = |n: &u32| !self.used.contains(n) || self.lent.contains(n);
        candidates.take(self.residues.round as usize).find(is_open)
    }

    /// A number, perhaps in use, that takes the ports that fit a new place on a leaf best.
    fn fitting_residue(&self, at: usize, port: PortNumber) -> u32 {
        let first = self.books[at].first().map_or(0, |entry| entry.1);
        let levels: Vec<Level> = self
            .residues
            .by_rank
            .iter()
            .zip(&self.subtrees)
            .map(|(&modulus, subtrees)| self.level(at, port, modulus, subtrees))
            .collect();
        let key = |number: u32| {
            let at = |level: &Level| (number % level.modulus) as usize;
            let uses: Vec<usize> = levels.iter().map(|level| level.uses[at(level)]).collect();
            let kept_free = levels.first().map_or(0, |leaf| leaf.kept_free[at(leaf)]);
            let meetings: f64 = levels.iter().map(|level| level.meetings[at(level)]).sum();
            (uses, kept_free, meetings)
        };
        let mut best = (first, key(first));
        for number in first + 1..first + self.residues.period {
            let key = key(number);
            // Of equal ones the first.
            if key.partial_cmp(&best.1) == Some(Ordering::Less) {
                best = (number, key);
            }
        }
        best.0
    }

    /// What speaks against each residue that decides at some rank.
    fn level(&self, at: usize, port: PortNumber, modulus: u32, subtrees: &[SwitchIndex]) -> Level {
        let none = vec![0; modulus as usize];
        let mut level = Level {
            modulus,
            uses: none.clone(),
            kept_free: none,
            meetings: vec![0.0; modulus as usize],
        };
        let mut run = 0;
        let inside =
            self.books.iter().zip(subtrees).filter(|(_, subtree)| **subtree == subtrees[at]);
        for (_, number) in inside.flat_map(|(book, _)| book) {
            let list = if self.never_used.contains(number) {
                &mut level.kept_free
            } else {
                &mut level.uses
            };
            list[(number % modulus) as usize] += 1;
            run += 1;
        }
        let book = &self.books[at];
        let split = book.partition_point(|entry| entry.0 < port);
        let below = self.books[..at].iter().flatten().chain(&book[..split]).rev();
        let above = book[split..].iter().chain(self.books[at + 1..].iter().flatten());
        for (hops, (_, number)) in below.take(run).enumerate().chain(above.take(run).enumerate()) {
            level.meetings[(number % modulus) as usize] += (run - hops) as f64 / run as f64;
        }
        level
    }
}

/// What speaks against each residue at some rank, for a new place.
struct Level {
    /// So many residues are told apart.
    modulus: u32,
    /// How many nodes of the same subtree have it.
    uses: Vec<usize>,
    /// How many places there that nobody was ever in.
    kept_free: Vec<usize>,
    /// With how many others that have it the place is in the same run of neighbours, on average over all runs as long as the subtree has
    /// places: a shift sends the nodes of a subtree to such a run.
    meetings: Vec<f64>,
}

/// Lets subtrees that have more places than usual give up as many empty ones. Otherwise numbers that nobody has would push others onto ports
/// that are in use already.
fn give_up_places(layouts: &mut [Vec<PortNumber>], ports: &[LeafPorts], subtrees: &[SwitchIndex]) {
    let mut sizes: BTreeMap<SwitchIndex, usize> = BTreeMap::new();
    for (layout, subtree) in layouts.iter().zip(subtrees) {
        *sizes.entry(*subtree).or_default() += layout.len();
    }
    let usual = usual(sizes.values().copied());
    // The fullest leaves first, which have what nobody expected.
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

/// The most frequent of these; of equally frequent ones the greatest.
fn usual(sizes: impl Iterator<Item = usize>) -> usize {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for size in sizes {
        *counts.entry(size).or_default() += 1;
    }
    counts.into_iter().max_by_key(|&(size, count)| (count, size)).map_or(0, |(size, _)| size)
}

/// Returns for each rank a switch that stands for the subtree of each leaf, below the next rank.
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

/// The greatest number below which at least half of all are in use.
fn main_end(used: &HashSet<u32>) -> u32 {
    let mut sorted: Vec<u32> = used.iter().copied().collect();
    sorted.sort_unstable();
    let below = |(at, number): (usize, &u32)| {
        (2 * (at as u64 + 1) > u64::from(*number)).then_some(*number + 1)
    };
    sorted.iter().enumerate().filter_map(below).next_back().unwrap_or(0)
}
