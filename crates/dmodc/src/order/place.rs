//! Places: the ports of leaves that nodes are plugged into.
//!
//! A number that is to last for years belongs to a place, not to an adapter: adapters are replaced and hosts boot late, but
//! the port that they use stays. So a place that is empty today should keep a number if a node will be there tomorrow.
//! Not every free port is such a place: where all leaves are half filled, numbers for the other halves would leave half
//! of the planes unused.
//!
//! Whether an empty port is a place depends on the nodes of other leaves in the same port:
//!
//! 1. A port is *common* if at least half as many leaves have a node there as have one in the port of the middle node,
//!    allowing for chance. (Where a third of all hosts is up, at random, all ports look alike, and all are common. Where
//!    all leaves are filled to port 9, the first nine are.)
//! 2. The places of a leaf are its common ports and those that have a node.
//! 3. A run of empty places at the lower or upper end of a leaf counts only if it can be chance, given the share of empty
//!    places between nodes and the number of other leaves with such a run. Otherwise the leaf simply has fewer nodes. The
//!    same is assumed of a leaf with many empty places between nodes where most leaves have none.
//! 4. A leaf without nodes has places if few leaves are empty, or if it can be chance.
//!
//! ```text
//! port      1 2 3 4 5 6        places
//! leaf A    x x x x x .        1 2 3 4 5      no leaf has a node in port 6: it is no place
//! leaf B    x . x x x .        1 2 3 4 5      port 2 waits for its host
//! leaf C    x x x x . .        1 2 3 4 5      one absent host at the end can be chance
//! leaf D    x x . . . .        1 2            three in a row are no chance: this leaf has two nodes
//! ```

use super::counts;
use crate::fabric::{Live, Peer};
use crate::id::{PortNumber, SwitchIndex};

/// A run of empty places counts as chance unless it is expected less often than this among all leaves.
const CHANCE: f64 = 1e-4;

/// Where most leaves have no empty place between nodes, this many on one leaf are no chance if they are also a third of
/// its places.
const FEWEST: usize = 3;

/// With fewer places between nodes than this, the share of empty ones is not reliable.
const RELIABLE: usize = 16;

/// The ports of one leaf.
pub(super) struct LeafPorts {
    pub(super) leaf: SwitchIndex,
    /// Ports that have a node, or had one, ascending.
    pub(super) used: Vec<PortNumber>,
    /// Ports that have no node, and keep a number free.
    pub(super) kept_free: Vec<PortNumber>,
}

/// The ports that leaves have in common, and how full leaves are.
pub(super) struct CommonPorts {
    /// Whether a port is common, by port number.
    is_common: Vec<bool>,
    /// Whether any leaf has a node there, by port number.
    is_used: Vec<bool>,
    /// The share of places between nodes that are empty.
    empty_share: f64,
    /// The share of places that are used on leaves with nodes.
    used_share: f64,
    leaves: usize,
    empty_leaves: usize,
    /// For the lower and the upper end: how many leaves have at least `i` empty places there, for each `i`.
    runs: [Vec<usize>; 2],
    /// Whether most leaves have no empty place between nodes.
    is_dense: bool,
    /// The number of consecutive numbers that take different ports of a leaf.
    round: usize,
}

impl CommonPorts {
    /// Finds the common ports of all leaves. `round` is the number of consecutive numbers that take different ports of a
    /// leaf. O(#ports of leaves).
    pub(super) fn new(live: Live<'_>, leaves: &[LeafPorts], round: usize) -> Self {
        let ports = usize::from(PortNumber::MAX.0) + 1;
        let (mut with_node, mut available) = (vec![0usize; ports], vec![0usize; ports]);
        let occupied: Vec<&LeafPorts> = leaves.iter().filter(|l| !l.used.is_empty()).collect();
        for leaf in &occupied {
            for port in ports_for_nodes(live, leaf.leaf) {
                available[usize::from(port.0)] += 1;
            }
            for port in leaf.used.iter().chain(&leaf.kept_free) {
                with_node[usize::from(port.0)] += 1;
            }
        }
        let share = |port: usize| {
            with_node[port] as f64 / available[port].max(with_node[port]).max(1) as f64
        };
        let usual = usual_share(&with_node, share);
        // If all ports were places, chance would leave a few of them unused on all leaves. If more are unused, they are
        // spare ports.
        let nodes: usize = with_node.iter().sum();
        let share_of_all = nodes as f64 / available.iter().sum::<usize>().max(nodes).max(1) as f64;
        let by_chance =
            |port: usize| (1.0 - share_of_all).powi(available[port].min(1 << 10) as i32);
        let unused = |port: &usize| with_node[*port] == 0 && 2 * available[*port] >= occupied.len();
        let expected: f64 = (0..ports).filter(|&port| available[port] > 0).map(by_chance).sum();
        let is_chance = (0..ports).filter(unused).count() as f64 <= 3.0 * expected + 1.0;
        let is_common: Vec<bool> = (0..ports)
            .map(|port| {
                let expected = available[port] as f64 * usual;
                let deviation = (expected * (1.0 - usual)).sqrt();
                match with_node[port] {
                    0 => unused(&port) && is_chance && by_chance(port) >= CHANCE,
                    count => count as f64 >= expected / 2.0 - 3.0 * deviation,
                }
            })
            .collect();
        let is_used = with_node.iter().map(|count| *count > 0).collect();
        let mut common = CommonPorts {
            is_common,
            is_used,
            empty_share: 0.0,
            used_share: 1.0,
            leaves: leaves.len(),
            empty_leaves: leaves.len() - occupied.len(),
            runs: [vec![0; ports + 1], vec![0; ports + 1]],
            is_dense: false,
            round: round.max(1),
        };
        common.count_empty(live, &occupied);
        common
    }

    /// Counts the places between the first and the last node of each leaf, and those of them that are empty. One more of
    /// both kinds is counted, so that a case that did not occur is not taken for impossible.
    fn count_empty(&mut self, live: Live<'_>, occupied: &[&LeafPorts]) {
        let (mut places, mut nodes, mut inner, mut holes) = (0, 0, 0, 0);
        let (mut dense, mut with_inner) = (0, 0);
        for leaf in occupied {
            let all = self.all_of(live, leaf);
            for (counts, run) in self.runs.iter_mut().zip(empty_ends(&all, leaf)) {
                counts[..=run].iter_mut().for_each(|count| *count += 1);
            }
            let (Some(first), Some(last)) = (leaf.used.first(), leaf.used.last()) else { continue };
            let between = all.iter().filter(|port| first < *port && *port < last).count();
            places += all.len();
            nodes += leaf.used.len();
            let empty = between - leaf.used.len().saturating_sub(2);
            inner += between;
            holes += empty;
            // A leaf with one or two nodes has no place between them.
            dense += usize::from(between > 0 && empty == 0);
            with_inner += usize::from(between > 0);
        }
        self.is_dense = 2 * dense > with_inner;
        self.empty_share = (holes + 1) as f64 / (inner + 2) as f64;
        self.used_share = nodes as f64 / places.max(1) as f64;
        if inner < RELIABLE {
            // With so few nodes, the share among all places is more reliable.
            self.empty_share = self.empty_share.max(1.0 - self.used_share);
        }
    }

    /// Returns the common ports of a leaf and those that have a node, ascending.
    fn all_of(&self, live: Live<'_>, leaf: &LeafPorts) -> Vec<PortNumber> {
        let common = ports_for_nodes(live, leaf.leaf).filter(|p| self.is_common[usize::from(p.0)]);
        let mut all: Vec<PortNumber> = common.chain(leaf.used.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        self.trim_unknown(&mut all);
        all
    }

    /// Removes ports at the end that no leaf uses yet, as long as they would begin another round: they may be spare ports.
    fn trim_unknown(&self, all: &mut Vec<PortNumber>) {
        let is_unknown = |port: &PortNumber| !self.is_used[usize::from(port.0)];
        while all.len() > self.round
            && !all.len().is_multiple_of(self.round)
            && all.last().is_some_and(is_unknown)
        {
            all.pop();
        }
    }

    /// Returns the places of a leaf, ascending.
    pub(super) fn places_of(&self, live: Live<'_>, leaf: &LeafPorts) -> Vec<PortNumber> {
        let all = self.all_of(live, leaf);
        let (Some(first), Some(last)) = (leaf.used.first(), leaf.used.last()) else {
            return if self.empty_leaves_have_places(all.len()) { all } else { vec![] };
        };
        let between = all.iter().filter(|port| first < *port && *port < last).count();
        let empty = between - leaf.used.len().saturating_sub(2);
        if self.is_dense && empty >= FEWEST.max(between / 3) {
            return leaf.used.clone();
        }
        let [below, above] = empty_ends(&all, leaf);
        let start = if self.is_chance(0, below) { 0 } else { below };
        let end = if self.is_chance(1, above) { all.len() } else { all.len() - above };
        all[start..end].to_vec()
    }

    /// Returns whether a run of `empty` places at one end can be chance, given how many leaves have such a run.
    fn is_chance(&self, end: usize, empty: usize) -> bool {
        let expected = self.leaves as f64 * self.empty_share.powi(empty.min(1 << 10) as i32);
        empty == 0 || expected >= CHANCE && self.runs[end][empty] as f64 <= 3.0 * expected + 2.0
    }

    /// Returns whether leaves without nodes have places.
    fn empty_leaves_have_places(&self, places: usize) -> bool {
        let by_chance = (1.0 - self.used_share).powi(places.min(1 << 10) as i32);
        16 * self.empty_leaves <= self.leaves || self.leaves as f64 * by_chance >= CHANCE
    }
}

/// Returns how many places of a leaf are empty before its first node, and after its last one.
fn empty_ends(all: &[PortNumber], leaf: &LeafPorts) -> [usize; 2] {
    let (Some(first), Some(last)) = (leaf.used.first(), leaf.used.last()) else { return [0; 2] };
    let below = all.iter().take_while(|port| *port < first).count();
    let above = all.iter().rev().take_while(|port| *port > last).count();
    [below, above]
}

/// Returns the share of leaves that have a node in the port of the middle node, if nodes are sorted by that share.
fn usual_share(with_node: &[usize], share: impl Fn(usize) -> f64) -> f64 {
    let mut shares: Vec<(f64, usize)> = (0..with_node.len())
        .filter(|&p| with_node[p] > 0)
        .map(|p| (share(p), with_node[p]))
        .collect();
    shares.sort_by(|a, b| a.0.total_cmp(&b.0));
    let nodes: usize = with_node.iter().sum();
    let mut seen = 0;
    for (share, count) in shares {
        seen += count;
        if 2 * seen >= nodes {
            return share;
        }
    }
    1.0
}

/// Returns the ports of a switch that a node on a leaf is in, or could be: neither a cable to another switch nor an
/// aggregation node is there.
fn ports_for_nodes(live: Live<'_>, s: SwitchIndex) -> impl Iterator<Item = PortNumber> + '_ {
    let ports = (1..=PortNumber::MAX.0).map(PortNumber).zip(live.fabric.ports_of(s));
    let is_for_nodes = move |peer: Peer| match peer {
        Peer::None => true,
        Peer::Switch(..) => false,
        Peer::Node(n) => counts(live, n),
    };
    ports.filter(move |(_, port)| is_for_nodes(port.peer)).map(|(p, _)| p)
}
