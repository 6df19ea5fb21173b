//! The decision whether a fabric is ranked from one root, and from which one.
//!
//! # When
//! Ranks from the leaves are right for fat trees, and they stay in force wherever a fabric may be one.
//! A connected part of the fabric is ranked from one root only if both of these hold:
//!
//! 1. A cable joins two switches of equal rank; or the numbers of parallel cables at the leaves are too unequal
//!    for damage: if all leaves had been cabled like the pair of a leaf and an upswitch with the most parallel
//!    cables, more than three quarters of the cables between such pairs would be missing.
//! 2. Two switches of the part have nodes, and no up\*down\* route leads from one to the other.
//!
//! *No PGFT, whole or degraded, has a cable between equal ranks.* A cable of a PGFT joins neighbouring levels, so the parity of
//! the level colours the graph with two colours, and removing cables and switches keeps that so. All
//! leaves have one colour: they are of the lowest level, or at an even distance from such a switch (see
//! [`leaf`](crate::Leaves)). Rank is the distance from a leaf, so two switches of equal rank have the same
//! colour, and no cable joins them. The reverse holds as well: a fabric without such a cable, whose
//! nodes are all on switches of even rank, is the two-level PGFT of all switches of even rank (as leaves)
//! and all of odd rank (as spines) without some of its cables. So that separates exactly, and by itself it would
//! call every such fabric a damaged fat tree, however strange. Parallel cables tell more: a PGFT has the same
//! number of them between all its leaves and upswitches. Of those that damage left at least one cable, even with
//! 70 % of all cables dead and four parallel ones two fifths are still there. A machine whose compute leaves have
//! 2 cables to each of 10 upswitches, and whose service leaf has 14 to one, has about a seventh; nobody lost the
//! rest, they never were there.
//!
//! (2) keeps ranks from the leaves where a fat tree has one cable that does not belong there and nobody
//! suffers from it.
//!
//! # Which root
//! From any root every pair has a route; they differ in how long the routes are and in how the load is
//! spread. From a spine of a tree, say, all other spines lie below the leaves and carry nothing; from a
//! leaf, all of them carry as much as before. Each candidate is therefore tried: traffic from every node to
//! every other is divided evenly over the closer sets, and the candidate with the least sum of squares of
//! the loads of all ports comes first. The sum grows with long routes and with uneven ones. Of equal ones
//! the least GUID comes first. Everything is counted in whole numbers, so that neither the order of the
//! switches in a file nor the number of threads matters.
//!
//! In large fabrics only a number of candidates is tried that bounds the work: of each rank those with the
//! most cables, in turns. The others follow in that order. A candidate from which some route would have more
//! hops than a cost can count is none.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use crate::cost::CostBlock;
use crate::fabric::{AdapterKind, Live};
use crate::group::{Group, PortGroups, SortedLinks};
use crate::id::SwitchIndex;
use crate::order::{DestinationOrder, Orders, SwitchOrder};
use crate::rank::{RankRule, Ranking};
use crate::tables::BLOCK;

/// About this number of port groups is visited to compare candidates.
const WORK: usize = 1 << 27;

/// This number of candidates is tried in any case.
const FEWEST: usize = 4;

/// A fabric is no damaged fat tree if less than one in this number of its leaves' parallel cables is there.
const LEAST_SHARE: usize = 4;

/// The weight of one flow, so that it can be divided in whole numbers.
const FLOW: u64 = 1 << 16;

/// A property of a fabric that no damage explains, so that it is no fat tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// A cable joins two switches of equal rank.
    EqualRanks,
    /// Leaves have too unequal numbers of parallel cables.
    ParallelCables,
}

/// Why a fabric is ranked from one root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unconnected {
    /// Why it is no fat tree; in a fabric of several parts, why the first of them is none.
    pub oddity: Oddity,
    /// Ordered pairs of nodes that cables connect and that would have no up\*down\* route with ranks from
    /// the leaves.
    pub pairs: u64,
}

/// Returns the rule and the reason, if a fabric is to be ranked from one root. `groups` makes its port groups by the
/// ranks from the leaves.
pub(crate) fn decide(
    live: Live<'_>,
    from_leaves: &Ranking,
    groups: impl FnOnce() -> PortGroups,
) -> Option<(RankRule, Unconnected)> {
    if *from_leaves.rule() != RankRule::Leaves {
        return None;
    }
    // Fat trees have no oddity, and need no groups here.
    let is_odd = |part: ConnectedPart| Some((oddity(live, from_leaves, &part.switches)?, part));
    let odd: Vec<(Oddity, ConnectedPart)> = parts(live).into_iter().filter_map(is_odd).collect();
    if odd.is_empty() {
        return None;
    }
    let groups = groups();
    let mut roots = Vec::new();
    let mut why: Option<Unconnected> = None;
    for (oddity, part) in odd {
        let pairs = part.unconnected(&groups);
        let of_part = match pairs {
            0 => vec![],
            _ => part.roots(live, from_leaves),
        };
        if !of_part.is_empty() {
            why.get_or_insert(Unconnected { oddity, pairs: 0 }).pairs += pairs;
            roots.extend(of_part);
        }
    }
    why.map(|why| (RankRule::SingleRoot(roots.into()), why))
}

/// Returns what shows that these switches are no fat tree, if anything does. O(#ports).
fn oddity(live: Live<'_>, ranking: &Ranking, switches: &[SwitchIndex]) -> Option<Oddity> {
    if switches.iter().any(|&s| ranking.is_cabled_to_its_rank(live, s)) {
        return Some(Oddity::EqualRanks);
    }
    let (mut cables, mut pairs, mut most) = (0, 0, 0);
    for &leaf in switches.iter().filter(|s| ranking.is_leaf(**s)) {
        // Parallel cables follow each other.
        let peers: Vec<SwitchIndex> = live.links(leaf).map(|(_, peer)| peer).collect();
        for parallel in peers.chunk_by(|a, b| a == b) {
            cables += parallel.len();
            pairs += 1;
            most = most.max(parallel.len());
        }
    }
    (LEAST_SHARE * cables < most * pairs).then_some(Oddity::ParallelCables)
}

/// Returns a root for each part of the fabric that has several switches with nodes: given to
/// [`LeafRule::Roots`](crate::LeafRule), they connect every pair that cables connect. This is for people who
/// prefer that to ranks from the leaves although the fabric may be a fat tree.
pub(crate) fn suggest(live: Live<'_>, ranking: &Ranking) -> Vec<SwitchIndex> {
    parts(live).iter().filter_map(|part| part.roots(live, ranking).first().copied()).collect()
}

/// A connected part of a fabric.
struct ConnectedPart {
    switches: Vec<SwitchIndex>,
    /// The switches with nodes, and how many each has.
    loaded: Vec<(SwitchIndex, u64)>,
}

/// Returns the parts in which several switches have nodes.
fn parts(live: Live<'_>) -> Vec<ConnectedPart> {
    let mut parts = Vec::new();
    for switches in live.parts() {
        let with_nodes = switches.iter().map(|&s| (s, nodes(live, s)));
        let loaded: Vec<_> = with_nodes.filter(|&(_, nodes)| nodes > 0).collect();
        if loaded.len() > 1 {
            parts.push(ConnectedPart { switches, loaded });
        }
    }
    parts
}

/// Returns how many nodes on a switch send and receive.
fn nodes(live: Live<'_>, s: SwitchIndex) -> u64 {
    let sends = |kind| kind != AdapterKind::Aggregation;
    live.nodes(s).filter(|&n| sends(live.fabric.adapter_of(n).kind)).count() as u64
}

impl ConnectedPart {
    /// Returns how many ordered pairs of nodes have no route; 0 if routes are too long to be counted, which the engines
    /// refuse with an error.
    fn unconnected(&self, groups: &PortGroups) -> u64 {
        let mut costs = CostBlock::default();
        let mut pairs = 0;
        for targets in self.loaded.chunks(BLOCK) {
            if costs.compute(groups, &targets.iter().map(|&(t, _)| t).collect::<Vec<_>>()).is_err()
            {
                return 0;
            }
            for &(s, sources) in &self.loaded {
                let reached = costs.reached(s);
                let unreached = (0..targets.len()).filter(|bit| reached >> bit & 1 == 0);
                pairs += unreached.map(|bit| sources * targets[bit].1).sum::<u64>();
            }
        }
        pairs
    }

    /// Returns the switches of the part, the best root first; an empty list if routes would be too long from any of
    /// those tried.
    fn roots(&self, live: Live<'_>, from_leaves: &Ranking) -> Vec<SwitchIndex> {
        // Directions between equals follow GUIDs here, whatever the switch order will be.
        let by_guid = Orders::new(live, from_leaves, &DestinationOrder::Guid, &SwitchOrder::Guid);
        let links = Arc::new(SortedLinks::new(live.fabric, &by_guid));
        let mut groups = PortGroups::of(links, live, from_leaves);
        let candidates = self.candidates(live, from_leaves);
        let cables: usize = self.switches.iter().map(|&s| live.links(s).count()).sum();
        let tried = (WORK / (self.loaded.len() * cables).max(1)).max(FEWEST);
        let (tried, others) = candidates.split_at(tried.min(candidates.len()));
        let mut flows = DividedFlows::new(live.fabric.switches().len());
        let mut rated = Vec::with_capacity(tried.len());
        for &root in tried {
            groups.rebuild(live, &from_leaves.again(live, [root].into()));
            if let Some(square) = flows.square(self, &groups) {
                rated.push((square, live.fabric.switch(root).guid, root));
            }
        }
        rated.sort_unstable();
        if rated.is_empty() {
            return vec![];
        }
        rated.into_iter().map(|(_, _, s)| s).chain(others.iter().copied()).collect()
    }

    /// Returns all switches: of each rank the one with the most cables, then of each rank the next one, and
    /// so on. Of equals, the least GUID goes first.
    fn candidates(&self, live: Live<'_>, ranking: &Ranking) -> Vec<SwitchIndex> {
        let guid = |s: SwitchIndex| live.fabric.switch(s).guid;
        let mut all = self.switches.clone();
        all.sort_by_cached_key(|&s| (Reverse(live.links(s).count()), guid(s)));
        let mut turns: HashMap<u32, u32> = HashMap::new();
        let mut in_turns: Vec<(u32, u32, SwitchIndex)> = Vec::with_capacity(all.len());
        for s in all {
            let rank = ranking.sort_rank(s);
            let turn = turns.entry(rank).or_default();
            *turn += 1;
            in_turns.push((*turn, rank, s));
        }
        in_turns.sort_by_key(|&(turn, rank, _)| (turn, rank));
        in_turns.into_iter().map(|(_, _, s)| s).collect()
    }
}

/// All-to-all traffic, divided evenly over the closer sets.
struct DividedFlows {
    costs: CostBlock,
    /// The flow that has arrived at each switch on its way to one target.
    here: Vec<u64>,
    /// The flow that leaves each switch by each group: those above, then those below.
    loads: Vec<Vec<u64>>,
}

impl DividedFlows {
    fn new(switches: usize) -> Self {
        DividedFlows {
            costs: CostBlock::default(),
            here: vec![0; switches],
            loads: vec![vec![]; switches],
        }
    }

    /// Returns the sum of the squares of the loads of all ports; `None` if some route is too long.
    /// O(#targets × #groups).
    fn square(&mut self, part: &ConnectedPart, groups: &PortGroups) -> Option<u128> {
        for &s in &part.switches {
            let count = groups.up(s).len() + groups.down(s).len();
            self.loads[s.at()].clear();
            self.loads[s.at()].resize(count, 0);
        }
        for targets in part.loaded.chunks(BLOCK) {
            let switches: Vec<SwitchIndex> = targets.iter().map(|&(t, _)| t).collect();
            if self.costs.compute(groups, &switches).is_err() {
                return None;
            }
            for (bit, &(_, nodes)) in targets.iter().enumerate() {
                for &(s, sources) in &part.loaded {
                    self.here[s.at()] = FLOW * sources * nodes;
                }
                self.send(groups, bit);
            }
        }
        let of_switch = |&s: &SwitchIndex| -> u128 {
            let ports = groups.up(s).chain(groups.down(s)).map(|group| group.ports.len() as u128);
            let loads = self.loads[s.at()].iter().map(|&load| u128::from(load));
            loads.zip(ports).map(|(load, ports)| load * load / ports).sum()
        };
        Some(part.switches.iter().map(of_switch).sum())
    }

    /// Sends the flow at each switch to one target: up as far as needed, then down.
    fn send(&mut self, groups: &PortGroups, bit: usize) {
        for &s in groups.ascending() {
            let goes_down = self.costs.down(s) >> bit & 1 == 1;
            if self.here[s.at()] > 0 && !goes_down {
                self.divide(s, bit, 0, groups.up(s), |_| true);
            }
        }
        for &s in groups.ascending().iter().rev() {
            if self.here[s.at()] > 0 {
                let is_below = |costs: &CostBlock, peer| costs.down(peer) >> bit & 1 == 1;
                let first = groups.up(s).len();
                let reachable: Vec<bool> =
                    groups.down(s).map(|group| is_below(&self.costs, group.peer)).collect();
                self.divide(s, bit, first, groups.down(s), |at| reachable[at]);
            }
        }
    }

    /// Divides the flow at a switch over those of its groups that are a hop closer.
    fn divide<'a>(
        &mut self,
        s: SwitchIndex,
        bit: usize,
        first: usize,
        groups: impl Iterator<Item = Group<'a>> + Clone,
        counts: impl Fn(usize) -> bool,
    ) {
        let flow = std::mem::take(&mut self.here[s.at()]);
        let Some(cost) = self.costs.cost(s, bit).filter(|&cost| cost > 0) else { return };
        let costs = &self.costs;
        let is_closer = |&(at, group): &(usize, Group<'a>)| {
            counts(at) && costs.cost(group.peer, bit) == Some(cost - 1)
        };
        let closer = groups.enumerate().filter(is_closer);
        let share = flow / (closer.clone().count() as u64).max(1);
        for (at, group) in closer {
            self.here[group.peer.at()] += share;
            self.loads[s.at()][first + at] += share;
        }
    }
}
