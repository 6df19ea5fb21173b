//! Naive twins of the algorithms: oracles that the tests compare the fast code with.
//!
//! [`paper`] is Procedure 1 and eqs. (1)–(4) to the letter. [`updown`] states our rules (see
//! [`cost`](crate::CostBlock)) in the most naive way; [`stable`] does so for the engine
//! [`Stable`](crate::Stable), and [`measured`] for the dividers of levels. [`filling`] is progressive filling for
//! [`judge::rates`](crate::judge::rates). Those of tables share with the fast code the fabric, the
//! [orders](crate::Orders) and the leaves. Ranks, groups and directions are computed again here.
//!
//! On degraded PGFTs the first two have the same costs and dividers, and on healthy ones the same entries.
//! Where a fault leaves a switch without an up–down route, or changes ranks, the literal closer set
//! of eq. (1) may turn from down to up again; ours never does.

pub mod filling;
pub mod measured;
pub mod paper;
pub mod relief;
pub mod stable;
pub mod updown;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::fabric::{Live, Peer};
use crate::id::{PortNumber, SwitchIndex};
use crate::level_dividers::LevelDividers;
use crate::order::Orders;
use crate::parallel;
use crate::rank::{RankAmong, RankRule};
use crate::tables::{Columns, Digest, Tile};

/// A neighbour of a switch, and the ports towards it.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// The switch.
    pub switch: SwitchIndex,
    /// The ports, ascending.
    pub ports: Vec<PortNumber>,
    /// Whether it is above.
    pub up: bool,
}

/// A live fabric as plain lists, neighbours in switch order.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The live leaves.
    pub leaves: Vec<SwitchIndex>,
    /// Live switches by ascending rank, then switch order.
    pub ascending: Vec<SwitchIndex>,
    /// The rank of every switch; the greatest number if it has none.
    pub ranks: Vec<usize>,
    /// The neighbours of every switch; dead switches have none.
    pub neighbours: Vec<Vec<Neighbour>>,
    /// Whether ranks are counted from roots.
    from_roots: bool,
}

impl Graph {
    /// Lists a fabric with these leaves. Ranks follow the rank rule of the orders.
    pub fn new(live: Live<'_>, orders: &Orders, leaves: &[SwitchIndex]) -> Self {
        let count = live.fabric.switches().len();
        let leaves = leaves.to_vec();
        let mut ports: Vec<BTreeMap<u32, (SwitchIndex, Vec<PortNumber>)>> =
            vec![BTreeMap::new(); count];
        for s in live.switches() {
            for p in (1..=254).map(PortNumber) {
                if let Peer::Switch(peer, _) = live.peer(s, p) {
                    let group = ports[s.at()].entry(orders.position(peer));
                    group.or_insert((peer, vec![])).1.push(p);
                }
            }
        }
        let peers: Vec<Vec<SwitchIndex>> =
            ports.iter().map(|groups| groups.values().map(|group| group.0).collect()).collect();
        let mut ranks = vec![usize::MAX; count];
        // In the connected part of an earlier root, a root reaches no new switch.
        let mut down_from = |roots: Vec<SwitchIndex>| {
            let mut hops = ranks.clone();
            let far = waves(&peers, &mut hops, roots);
            for (rank, hops) in ranks.iter_mut().zip(hops) {
                if *rank == usize::MAX && hops != usize::MAX {
                    *rank = far - hops;
                }
            }
        };
        let alive = |root: &SwitchIndex| live.switch(*root);
        match orders.rank_rule() {
            RankRule::Leaves => {}
            RankRule::SingleRoot(roots) => {
                roots.iter().copied().filter(alive).for_each(|root| down_from(vec![root]));
            }
            RankRule::GivenRoots(roots) => down_from(roots.iter().copied().filter(alive).collect()),
        }
        if !matches!(orders.rank_rule(), RankRule::GivenRoots(_)) {
            let others: Vec<SwitchIndex> =
                leaves.iter().copied().filter(|leaf| ranks[leaf.at()] == usize::MAX).collect();
            waves(&peers, &mut ranks, others);
        }
        let height = |s: SwitchIndex| (ranks[s.at()], orders.position(s));
        let mut ascending: Vec<SwitchIndex> = live.switches().collect();
        ascending.sort_by_key(|&s| height(s));
        let neighbours = (0..count)
            .map(SwitchIndex::new)
            .map(|s| {
                ports[s.at()]
                    .values()
                    .map(|(peer, ports)| Neighbour {
                        switch: *peer,
                        ports: ports.clone(),
                        up: height(*peer) > height(s),
                    })
                    .collect()
            })
            .collect();
        let from_roots = *orders.rank_rule() != RankRule::Leaves;
        Graph { leaves, ascending, ranks, neighbours, from_roots }
    }

    /// Returns the neighbours above (`true`) or below a switch.
    pub fn side(&self, s: SwitchIndex, up: bool) -> impl Iterator<Item = &Neighbour> {
        self.neighbours[s.at()].iter().filter(move |n| n.up == up)
    }

    /// Returns whether a leaf is at or below a switch.
    fn has_leaf(&self, s: SwitchIndex) -> bool {
        self.leaves.contains(&s) || self.side(s, false).any(|below| self.has_leaf(below.switch))
    }

    /// Returns Π of every switch, as Procedure 1 computes it. If ranks are counted from roots, a switch without a leaf at or
    /// below it hands nothing on.
    pub fn dividers(&self) -> Vec<u64> {
        let mut dividers = vec![1u64; self.neighbours.len()];
        let counts = |s: &&SwitchIndex| !self.from_roots || self.has_leaf(**s);
        for &s in self.ascending.iter().filter(counts) {
            let product = dividers[s.at()].saturating_mul(self.side(s, true).count() as u64);
            for above in self.side(s, true) {
                let divider = &mut dividers[above.switch.at()];
                *divider = product.max(*divider);
            }
        }
        dividers
    }
}

/// What numbers are divided by at a switch in one direction.
#[derive(Clone, Copy, Debug)]
pub struct NaiveDividers {
    /// To choose a group.
    pub group: u64,
    /// To choose a port; `None` for eq. (4).
    pub port: Option<u64>,
}

impl NaiveDividers {
    /// Returns those of the paper: eqs. (3) and (4) with Π.
    pub const fn paper(divider: u64) -> Self {
        NaiveDividers { group: divider, port: None }
    }
}

/// The dividers of all switches of a graph.
#[derive(Clone, Debug)]
pub struct DividersByLevel {
    /// Π.
    paper: Vec<u64>,
    levels: LevelDividers,
    ranks: Vec<usize>,
}

impl DividersByLevel {
    /// Computes Π, which stands where the levels have nothing else.
    pub fn new(graph: &Graph, levels: &LevelDividers) -> Self {
        DividersByLevel {
            paper: graph.dividers(),
            levels: levels.clone(),
            ranks: graph.ranks.clone(),
        }
    }

    /// Returns the dividers of a switch for a closer set, whose groups have one direction.
    pub fn of(&self, s: SwitchIndex, closer: &[&Neighbour]) -> NaiveDividers {
        let up = closer.first().is_some_and(|group| group.up);
        let rank = |rank: usize| u32::try_from(rank).ok();
        let greatest = self.ranks.iter().copied().filter_map(rank).max();
        let levels = greatest.map_or(0, |greatest| greatest + 1);
        let rule = self.levels.rule(RankAmong { rank: rank(self.ranks[s.at()]), levels }, up);
        NaiveDividers {
            group: rule.group.map_or(self.paper[s.at()], u64::from),
            port: rule.port.map(u64::from),
        }
    }
}

/// Fills in the distances from some switches, wave by wave, for switches that have none yet. Returns the greatest.
fn waves(peers: &[Vec<SwitchIndex>], hops: &mut [usize], mut wave: Vec<SwitchIndex>) -> usize {
    for distance in 0.. {
        // A switch may be listed several times, once for each neighbour in the wave before.
        wave.retain(|s| {
            let is_new = hops[s.at()] == usize::MAX;
            if is_new {
                hops[s.at()] = distance;
            }
            is_new
        });
        if wave.is_empty() {
            return distance.saturating_sub(1);
        }
        wave = wave.iter().flat_map(|s| &peers[s.at()]).copied().collect();
    }
    unreachable!("a fabric is finite")
}

/// Returns the port for number `d` by eqs. (3) and (4), for the k-th LID of a node.
pub fn select(closer: &[&Neighbour], divider: u64, d: u64, k: u64) -> Option<PortNumber> {
    select_by(closer, NaiveDividers::paper(divider), d, k)
}

/// Returns the port for number `d` by these dividers, for the k-th LID of a node.
pub fn select_by(
    closer: &[&Neighbour],
    dividers: NaiveDividers,
    d: u64,
    k: u64,
) -> Option<PortNumber> {
    if closer.is_empty() {
        return None;
    }
    let count = closer.len() as u64;
    let group = &closer[((d / dividers.group + k) % count) as usize].ports;
    let by_port = dividers.port.unwrap_or(dividers.group.saturating_mul(count));
    let port = d / by_port + k / count;
    Some(group[(port % group.len() as u64) as usize])
}

/// Returns the digest of entries that are computed tile by tile, so that large tables need not be kept.
fn digest(columns: &Columns, entries: impl Fn(Range<usize>) -> Vec<u8> + Sync) -> Digest {
    let of_tile =
        |tile: Tile| Digest::rows(SwitchIndex::new(0), &tile, &entries(tile.switches.clone()));
    parallel::map(columns.tiles(), of_tile).into_iter().sum()
}
