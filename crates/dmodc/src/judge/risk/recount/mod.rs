//! Judging again after a change, by what the change moved.
//!
//! A [`Baseline`] keeps the judgement of some tables. Other tables of the same fabric, which differ in some entries, are
//! judged by recounting only the flows that pass such an entry. The result is the same as that of judging them from the
//! beginning, and it is exact: nothing is estimated.
//!
//! # How
//! All routes to one destination d form a tree. Let A be the switches whose entry for d changed. A flow from a source to
//! d follows its old route until it first meets a switch of A, or it never meets one and keeps its whole route. Up to the
//! first switch of A the old and the new route are the same. So, for each switch s of A:
//!
//! 1. g(s) is the number of flows that meet s before any other switch of A. They are *gathered* against the direction of
//!    travel, from s over the neighbours whose old entry leads to s, and on from these.
//! 2. g(s) flows are taken off every port of the old route from s to d, and put on every port of the new one.
//!
//! ```text
//!        T₁    T₂          Switch m changes its entry for d from T₁ to T₂. Leaves a and b send to d over m,
//!       ↗ ╲   ↗ ╲          with 2 nodes each, so g(m) = 4. The ports m → T₁ and T₁ → … lose 4 flows, and
//!      m   … m   …         m → T₂ and T₂ → … gain 4. The ports a → m and b → m keep their flows, and c,
//!     ↗ ↖   ↗ ↖            which sends over another switch, is never looked at.
//!    a   b a   b
//! ```
//!
//! A flow that does not arrive loads nothing. If only one of the two routes arrives, the ports before s gain or lose
//! flows, too; these few flows are followed one by one. [Series](SeriesRisk) of permutations are recounted in the same
//! pass: of each permutation, the flow to d moves if its source was gathered.
//!
//! # Cost
//! For each changed entry, the ports of the switches gathered, and two routes: a failed cable of 11,664 nodes takes some
//! milliseconds instead of most of a second. Where so much changed that counting everything is cheaper, or where
//! nodes appear or vanish, the tables are judged [from the beginning](Baseline::new).

mod changes;
mod column;
mod permutations;
mod tally;

use std::sync::Arc;

pub use permutations::SeriesPattern;
pub use tally::{AllToAllRisk, Effect, SeriesRisk, Tally};

use super::cuts::Cuts;
use super::loads::{Loads, LostPair};
use super::paths::{Channels, FlowTarget, Paths};
use super::{NAMED, Traffic};
use crate::fabric::{Degradation, Live, Part};
use crate::id::{NodeIndex, PortNumber, SwitchIndex};
use crate::judge::blocks::Blocks;
use crate::judge::diff::diff;
use crate::judge::verdict::Delivery;
use crate::judge::walk::Heights;
use crate::order::Orders;
use crate::rank::Ranking;
use crate::tables::{End, ForwardingTables, TableDelta};
use changes::ChangedEntries;
use permutations::{Permutations, SeriesLoads};

/// If more than one of this number of entries changed, everything is counted again: that is cheaper then.
const FEW: usize = 12;

/// Some tables and what belongs to them.
#[derive(Clone, Copy)]
pub struct Routed<'a> {
    /// The fabric under its faults.
    pub live: Live<'a>,
    /// Its ranks.
    pub ranking: &'a Ranking,
    /// Its orders.
    pub orders: &'a Orders,
    /// Its tables.
    pub tables: &'a ForwardingTables,
}

/// The switches and ports that lead to a switch.
struct Feeder {
    switch: u32,
    /// The entry of that switch that leads here.
    entry: u8,
}

/// A source switch and the position of a destination, between which nothing arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct UndeliveredBundle {
    to: u32,
    from: u32,
}

/// The judgement of some tables, from which others are judged by what they change.
pub struct Baseline<'a> {
    routed: Routed<'a>,
    /// The live nodes by position, and for each node its position.
    nodes: Vec<NodeIndex>,
    targets: Vec<FlowTarget>,
    /// The position of the node of each column that traffic goes to; [`NO_TRAFFIC`] for others.
    position_of: Vec<u32>,
    /// The number of nodes on each switch.
    weight: Vec<u32>,
    tiles: Vec<&'a [u8]>,
    /// All ports of the fabric, those that are dead now, too: a repair may bring them back.
    channels: Arc<Channels>,
    paths: Paths<'a>,
    /// The feeders of each switch: those below it come first.
    feeders: Vec<Vec<Feeder>>,
    /// How many of the feeders of each switch are below it.
    below: Vec<usize>,
    /// The flows of all-to-all on each port.
    loads: Vec<u64>,
    cuts: Cuts,
    /// Sorted.
    undelivered: Vec<UndeliveredBundle>,
    permutations: Vec<Permutations>,
    series: Vec<SeriesLoads>,
    blocks: Blocks,
    /// Whether no destination has several LIDs.
    has_single_lids: bool,
    tally: Tally,
}

/// A column that no traffic goes to: that of a switch, of an aggregation node, or of a further LID.
const NO_TRAFFIC: u32 = u32::MAX;

/// The arrays of one thread that judges.
pub struct Recount {
    column: column::ColumnRecount,
    loads: Vec<u64>,
    series: Vec<SeriesLoads>,
}

impl<'a> Baseline<'a> {
    /// Judges tables from the beginning. Their entries must lead over live cables, and their routes must go up, then
    /// down, as those of all engines here do. O(#nodes × #switches), and O(permutations × #ports) memory for series.
    ///
    /// # Panics
    /// If the tables belong to another fabric.
    pub fn new(routed: Routed<'a>, patterns: &[SeriesPattern]) -> Self {
        let Routed { live, ranking, orders, tables } = routed;
        let traffic = Traffic::new(live, ranking, orders, tables);
        let heights = Heights::new(live, ranking, orders);
        let whole = Degradation::none(live.fabric);
        let channels = Arc::new(Channels::new(Live::new(live.fabric, &whole), &heights));
        let (feeders, below) = feeders(live, &heights);
        let mut position_of = vec![NO_TRAFFIC; tables.columns().len()];
        let mut place = vec![NO_TRAFFIC; live.fabric.nodes().len()];
        for (position, n) in traffic.nodes.iter().enumerate() {
            place[n.at()] = position as u32;
        }
        for (column, d) in tables.columns().destinations().iter().enumerate() {
            if let (End::Node(n), 0) = (d.end, d.k) {
                position_of[column] = place[n.at()];
            }
        }
        let counted = traffic.all_to_all();
        let permutations: Vec<Permutations> =
            patterns.iter().map(|pattern| Permutations::new(&traffic, pattern)).collect();
        let mut baseline = Baseline {
            routed,
            loads: port_loads(&channels, &traffic, &counted),
            cuts: traffic.cuts,
            undelivered: vec![],
            series: vec![],
            nodes: traffic.nodes,
            targets: traffic.targets,
            position_of,
            weight: traffic.weight,
            tiles: tables.tiles().map(|(_, entries)| entries).collect(),
            paths: Paths::over(channels.clone(), tables),
            channels,
            feeders,
            below,
            permutations,
            blocks: Blocks::new(tables.columns()),
            has_single_lids: tables.columns().destinations().iter().all(|d| d.k == 0),
            tally: Tally::default(),
        };
        if counted.undelivered > 0 {
            baseline.undelivered = baseline.find_undelivered();
        }
        baseline.series = baseline.permutations.iter().map(|p| p.count(&baseline)).collect();
        let after = StateCounts {
            loads: &baseline.loads,
            undelivered: &baseline.undelivered,
            series: &baseline.series,
        };
        baseline.tally = baseline.tally(live, ranking, &after);
        baseline
    }

    /// Returns the judgement of the tables of the baseline.
    pub fn now(&self) -> &Tally {
        &self.tally
    }

    /// Returns the series that are judged.
    pub fn patterns(&self) -> impl Iterator<Item = SeriesPattern> + '_ {
        self.permutations.iter().map(|permutations| permutations.pattern)
    }

    /// Returns the nodes that send to each other, by position.
    pub fn nodes(&self) -> &[NodeIndex] {
        &self.nodes
    }

    /// Returns the arrays that [`judge`](Self::judge) needs, for one thread.
    pub fn recount(&self) -> Recount {
        Recount {
            column: column::ColumnRecount::new(self.weight.len()),
            loads: self.loads.clone(),
            series: self.series.clone(),
        }
    }

    /// Judges other tables of the fabric. `delta` lists at least the entries in which they differ from those of the
    /// baseline.
    ///
    /// # Panics
    /// If the columns are not the same.
    pub fn judge(&self, after: Routed<'_>, delta: &TableDelta, recount: &mut Recount) -> Effect {
        assert_eq!(self.routed.tables.columns(), after.tables.columns(), "tables of one shape");
        let is_much = delta.entry_count() as usize > after.tables.entry_count() / FEW;
        if is_much || !self.has_single_lids || !self.has_the_nodes_of(after.live) {
            return self.judge_whole(after);
        }
        let changed = ChangedEntries::new(self, after, delta);
        recount.loads.clone_from(&self.loads);
        recount.loads.push(0);
        let mut moved = column::MovedFlows::default();
        let paths = Paths::over(self.channels.clone(), after.tables);
        for batch in changed.batches(&self.position_of) {
            recount.follow(self, &paths, &batch);
            let mut first = 0;
            for column in &batch {
                recount.find_flows(self, column, first, &mut moved);
                first += column.switches.len();
            }
            recount.move_flows();
        }
        recount.loads.pop();
        let moved_pairs = moved.pairs;
        let undelivered = moved.undelivered_after(&self.undelivered);
        let counts = StateCounts {
            loads: &recount.loads,
            undelivered: &undelivered,
            series: &recount.series,
        };
        let effect = Effect {
            after: self.tally(after.live, after.ranking, &counts),
            changes: changed.changes,
            moved_pairs,
            undelivered: self.named(&undelivered),
        };
        recount.series.iter_mut().for_each(SeriesLoads::undo);
        effect
    }

    /// Judges other tables from the beginning.
    fn judge_whole(&self, after: Routed<'_>) -> Effect {
        let patterns: Vec<SeriesPattern> = self.patterns().collect();
        let whole = Baseline::new(after, &patterns);
        let diff = diff(after.live, after.ranking, self.routed.tables, after.tables);
        let all = TableDelta::all(after.tables);
        Effect {
            undelivered: whole.named(&whole.undelivered),
            after: whole.tally,
            changes: ChangedEntries::new(self, after, &all).changes,
            moved_pairs: diff.pairs,
        }
    }

    /// Returns whether the same nodes are alive.
    fn has_the_nodes_of(&self, after: Live<'_>) -> bool {
        let before = self.routed.live;
        let has_nodes = |part: Part| match part {
            Part::Switch(s) => !after.fabric.nodes_of(s).is_empty(),
            Part::Cable(c) => c.at() >= after.fabric.inter_switch_cables().len(),
        };
        if !after.degradation.difference(before.degradation).any(has_nodes) {
            return true;
        }
        let mut nodes = after.fabric.node_indices();
        nodes.all(|n| before.node(n) == after.node(n))
    }

    /// Returns the first pairs that are not delivered.
    fn named(&self, undelivered: &[UndeliveredBundle]) -> Vec<LostPair> {
        let pair = |bundle: &UndeliveredBundle| LostPair {
            from: SwitchIndex::new(bundle.from as usize),
            to: self.nodes[bundle.to as usize],
        };
        undelivered.iter().take(NAMED).map(pair).collect()
    }

    /// Returns the number of nodes on a switch that send to a destination: nobody sends to itself.
    #[inline]
    fn senders(&self, s: u32, target: &FlowTarget) -> u32 {
        self.weight[s as usize] - u32::from(s == target.home)
    }

    /// Follows the route from a switch to a destination in these tiles. Returns whether it arrives.
    #[inline]
    fn follow(&self, tile: &[u8], from: u32, to: &FlowTarget, mut each: impl FnMut(u32)) -> bool {
        let mut s = from;
        // A route with more hops than there are switches loops.
        for _ in 0..=self.weight.len() {
            let entry = tile[to.place(s)];
            let next = self.channels.next(s, entry);
            if next.switch == super::paths::NOWHERE {
                return s == to.home && entry == to.port;
            }
            each(next.port());
            s = next.switch;
        }
        false
    }

    /// Returns the ports of the old route to a destination from one switch to another one that it passes.
    fn way_to(&self, from: u32, passed: u32, to: &FlowTarget) -> Vec<u32> {
        let tile = self.tiles[to.tile as usize];
        let (mut s, mut way) = (from, vec![]);
        while s != passed {
            let next = self.channels.next(s, tile[to.place(s)]);
            way.push(next.port());
            s = next.switch;
        }
        way
    }

    /// Returns the bundles of all-to-all that do not arrive, sorted.
    fn find_undelivered(&self) -> Vec<UndeliveredBundle> {
        let sources: Vec<u32> =
            (0..self.weight.len() as u32).filter(|&s| self.weight[s as usize] > 0).collect();
        let of_target = |(to, target): (usize, &FlowTarget)| -> Vec<UndeliveredBundle> {
            let tile = self.tiles[target.tile as usize];
            let fails = |&&from: &&u32| {
                self.senders(from, target) > 0 && !self.follow(tile, from, target, |_| ())
            };
            let bundle = |&from: &u32| UndeliveredBundle { to: to as u32, from };
            sources.iter().filter(fails).map(bundle).collect()
        };
        crate::parallel::map(self.targets.iter().enumerate(), of_target).concat()
    }

    /// Returns the judgement of a state with the nodes of the baseline.
    fn tally(&self, live: Live<'_>, ranking: &Ranking, counts: &StateCounts<'_>) -> Tally {
        let lost = |bundle: &UndeliveredBundle| {
            u64::from(self.senders(bundle.from, &self.targets[bundle.to as usize]))
        };
        let undelivered = counts.undelivered.iter().map(lost).sum();
        let cuts = self.cuts_of(live, ranking);
        let series = self.permutations.iter().zip(counts.series);
        Tally {
            delivery: Delivery::among(live, self.nodes.iter().copied(), undelivered),
            all_to_all: self.all_to_all(&cuts, counts),
            series: series
                .map(|(permutations, loads)| {
                    loads.risk(permutations.bound_sum(self, &cuts, counts.undelivered))
                })
                .collect(),
        }
    }

    /// Returns the cuts of a state. They are those of the baseline but for some cables, unless switches change their rank.
    fn cuts_of(&self, live: Live<'_>, ranking: &Ranking) -> Cuts {
        let before = self.routed;
        let has_same_ranks = before.ranking.levels() == ranking.levels()
            && live.switches().all(|s| before.ranking.rank(s) == ranking.rank(s));
        let states = [before.live, live];
        let after = match has_same_ranks {
            true => self.cuts.after_faults(states, before.ranking, &self.weight),
            false => None,
        };
        after.unwrap_or_else(|| Cuts::new(live, ranking, &self.weight))
    }

    fn all_to_all(&self, cuts: &Cuts, counts: &StateCounts<'_>) -> AllToAllRisk {
        let mut bundles = super::bundles::Bundles::all_to_all(cuts, &self.weight);
        for bundle in counts.undelivered {
            let target = &self.targets[bundle.to as usize];
            // A bundle from the switch of the destination crosses no cut.
            if bundle.from != target.home {
                let size = self.senders(bundle.from, target);
                bundles.count(cuts, (bundle.from, target.home), size, -1);
            }
        }
        let mut worst = 0;
        for (port, load) in counts.loads.iter().enumerate() {
            if *load > counts.loads[worst] {
                worst = port;
            }
        }
        let max = counts.loads.get(worst).copied().unwrap_or(0);
        AllToAllRisk {
            max,
            worst: (max > 0).then(|| self.channels.ports[worst]),
            bound: bundles.bound(cuts).value,
        }
    }
}

/// What was counted of a state.
struct StateCounts<'a> {
    loads: &'a [u64],
    undelivered: &'a [UndeliveredBundle],
    series: &'a [SeriesLoads],
}

/// Returns the flows of all-to-all on each of these ports.
fn port_loads(channels: &Channels, traffic: &Traffic<'_>, counted: &Loads) -> Vec<u64> {
    let mut loads = vec![0; channels.ports.len()];
    for (port, &load) in traffic.ports().iter().zip(&counted.by_port) {
        let channel = channels.next(port.switch.at() as u32, port.port.0);
        loads[channel.port() as usize] = load;
    }
    loads
}

/// Returns the feeders of every switch over live cables, those below it first, and how many are below it.
fn feeders(live: Live<'_>, heights: &Heights) -> (Vec<Vec<Feeder>>, Vec<usize>) {
    let fabric = live.fabric;
    let mut feeders: Vec<Vec<Feeder>> = fabric.switch_indices().map(|_| vec![]).collect();
    let mut below = vec![0; feeders.len()];
    for is_from_below in [true, false] {
        for s in live.switches() {
            let ports = live.links(s).filter(|(_, to)| heights.is_up(s, *to) == is_from_below);
            for (PortNumber(entry), to) in ports {
                feeders[to.at()].push(Feeder { switch: s.at() as u32, entry });
                below[to.at()] += usize::from(is_from_below);
            }
        }
    }
    (feeders, below)
}
