//! Delivery, loops, up\*down\* and deadlock, for all pairs.

use std::collections::HashMap;

use super::cycle::{Channel, find_cycle};
use super::dependencies::Dependencies;
use super::verdict::{Delivery, Islands};
use super::walk::{FateWalk, Fates, Heights, InForce, NextHop};
use crate::fabric::Live;
use crate::id::{PortNumber, SwitchIndex};
use crate::order::Orders;
use crate::parallel;
use crate::rank::Ranking;
use crate::tables::{Columns, End, ForwardingTables};

/// The greatest number of examples that are kept.
const NAMED: usize = 8;

/// The fates of the pairs of one kind of traffic, in the words of [`Delivery`]: `pairs = delivered + lost + cut_off`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Ordered pairs of a source and a destination.
    pub pairs: u64,
    /// Pairs whose packets arrive, over every LID of the destination.
    pub delivered: u64,
    /// Pairs that live cables connect and whose packets do not arrive.
    pub lost: u64,
    /// Pairs that no live cables connect.
    pub cut_off: u64,
    /// Pairs, lost or cut off, whose packets loop.
    pub loops: u64,
    /// Destinations that packets of some such pair loop to.
    pub loop_destinations: u64,
    /// One such loop.
    pub loop_example: Option<Loop>,
    /// Pairs whose route goes up after it went down.
    pub up_down_violations: u64,
    /// A cycle of the channel dependency graph, if there is one.
    pub cycle: Option<Vec<Channel>>,
    /// The first pairs that are not delivered.
    pub examples: Vec<Undelivered>,
}

impl Scope {
    /// Returns how many pairs are delivered, lost and cut off.
    pub fn delivery(&self) -> Delivery {
        let Scope { pairs, delivered, lost, cut_off, .. } = *self;
        Delivery { pairs, delivered, lost, cut_off }
    }

    /// Returns whether the channel dependency graph has no cycle.
    pub fn is_deadlock_free(&self) -> bool {
        self.cycle.is_none()
    }

    /// Returns whether no packet loops and nothing can deadlock. Packets may still be lost or cut off.
    pub fn is_sound(&self) -> bool {
        self.loops == 0 && self.is_deadlock_free()
    }

    /// Counts the pairs of the sources on one switch and a destination.
    fn count(&mut self, pairs: &PairsFromSwitch, sources: u64) {
        let PairsFromSwitch { from, to, fates, cut_off } = *pairs;
        self.pairs += sources;
        let arrives = !fates.lost && !fates.loops;
        let tally = match (arrives, cut_off) {
            (true, _) => &mut self.delivered,
            (_, true) => &mut self.cut_off,
            (_, false) => &mut self.lost,
        };
        *tally += sources;
        if fates.loops {
            self.loops += sources;
        }
        if fates.turns {
            self.up_down_violations += sources;
        }
        if !arrives && sources > 0 && self.examples.len() < NAMED {
            // A loop is worse than a loss: where an update may bring both, it counts as a loop.
            let why = match (fates.loops, cut_off) {
                (true, _) => UndeliveredReason::Loops,
                (_, true) => UndeliveredReason::CutOff,
                (_, false) => UndeliveredReason::Lost,
            };
            self.examples.push(Undelivered { from, to, why });
        }
    }

    fn add(&mut self, other: Scope) {
        self.pairs += other.pairs;
        self.delivered += other.delivered;
        self.lost += other.lost;
        self.cut_off += other.cut_off;
        self.loops += other.loops;
        self.loop_destinations += other.loop_destinations;
        self.loop_example = self.loop_example.take().or(other.loop_example);
        self.up_down_violations += other.up_down_violations;
        self.examples.extend(other.examples);
        self.examples.truncate(NAMED);
    }
}

/// The pairs of all sources on one switch and one destination: they share their fates.
struct PairsFromSwitch {
    from: SwitchIndex,
    to: End,
    fates: Fates,
    /// No live cables connect them.
    cut_off: bool,
}

/// A pair that is not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undelivered {
    /// The switch that the sources sit on.
    pub from: SwitchIndex,
    /// The destination.
    pub to: End,
    /// Why it is not delivered.
    pub why: UndeliveredReason,
}

/// Why a pair is not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndeliveredReason {
    /// Its packets end somewhere else, although live cables connect the two.
    Lost,
    /// Its packets loop.
    Loops,
    /// No live cables connect the two.
    CutOff,
}

/// A loop that packets may run into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Their destination.
    pub to: End,
    /// The switches that they pass with the ports that they leave by, and whether only the new tables have that port.
    pub hops: Vec<(Channel, bool)>,
}

/// The judgement on tables: the result of [`check`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// Node to node: the verdict. Aggregation nodes do not count.
    pub nodes: Scope,
    /// From every node, aggregation node and switch to every other: reported next to the verdict.
    pub everything: Scope,
}

/// Judges the tables of a fabric. Ranks and switch order decide which hops go up. O(#columns × #switches + dependencies).
///
/// # Panics
/// If the tables have rows for another number of switches.
pub fn check(
    live: Live<'_>,
    ranking: &Ranking,
    orders: &Orders,
    tables: &ForwardingTables,
) -> Check {
    judge(live, Heights::new(live, ranking, orders), &[tables])
}

/// Judges the mixtures of old and new tables that are in force during an update: each switch may
/// follow either. A pair counts as delivered if it is in every mixture.
///
/// # Panics
/// If the tables differ in their columns, or belong to another fabric.
pub fn check_union(
    live: Live<'_>,
    ranking: &Ranking,
    orders: &Orders,
    old: &ForwardingTables,
    new: &ForwardingTables,
) -> Check {
    assert_eq!(old.columns(), new.columns(), "a mixture is of tables with the same columns");
    judge(live, Heights::new(live, ranking, orders), &[old, new])
}

/// The fabric and the tables, prepared for looking at any destination.
struct Judge<'a> {
    in_force: InForce<'a>,
    columns: &'a Columns,
    heights: Heights,
    islands: Islands,
    /// The number of live nodes on each switch; aggregation nodes do not count.
    nodes: Vec<u64>,
    /// The number of all live sources on each switch, the switch itself among them.
    sources: Vec<u64>,
}

/// The findings for some destinations, and the arrays of the walk.
struct Findings {
    check: Check,
    node_dependencies: Dependencies,
    all_dependencies: Dependencies,
    walk: FateWalk,
    merged: Vec<Fates>,
}

fn judge(live: Live<'_>, heights: Heights, tables: &[&ForwardingTables]) -> Check {
    let fabric = live.fabric;
    let columns = tables[0].columns().clone();
    for t in tables {
        assert_eq!(t.switch_count(), fabric.switches().len(), "tables of another fabric");
    }
    let count = |s: SwitchIndex, all: bool| match live.switch(s) {
        true => live.nodes(s).filter(|&n| all || !fabric.is_aggregation(n)).count() as u64,
        false => 0,
    };
    let judge = Judge {
        in_force: InForce { live, tables },
        columns: &columns,
        heights,
        islands: Islands::new(live),
        nodes: fabric.switch_indices().map(|s| count(s, false)).collect(),
        sources: fabric
            .switch_indices()
            .map(|s| count(s, true) + u64::from(live.switch(s)))
            .collect(),
    };
    let ends = ends(live, &columns);
    // A thread keeps its dependencies from piece to piece, as they are large. Checks are added up in the order of the
    // pieces, so that the first examples are always the same.
    let pieces = ends.chunks(parallel::piece_length(ends.len(), 4)).enumerate();
    let start = || (judge.no_findings(), Vec::<(usize, Check)>::new());
    let by_thread = parallel::fold(pieces, start, |(findings, checks), (piece, ends)| {
        for (end, columns) in ends {
            judge.destination(*end, columns, findings);
        }
        checks.push((piece, std::mem::take(&mut findings.check)));
    });
    let findings = by_thread.into_iter().reduce(|(mut a, mut checks), (b, others)| {
        checks.extend(others);
        a.node_dependencies = a.node_dependencies.join(&b.node_dependencies);
        a.all_dependencies = a.all_dependencies.join(&b.all_dependencies);
        (a, checks)
    });
    let Some((findings, mut checks)) = findings else { return Check::default() };
    checks.sort_unstable_by_key(|(piece, _)| *piece);
    let mut check = Check::default();
    for (_, part) in checks {
        check.nodes.add(part.nodes);
        check.everything.add(part.everything);
    }
    check.nodes.cycle = findings.node_dependencies.cycle(fabric);
    let all = findings.all_dependencies.join(&findings.node_dependencies);
    check.everything.cycle = all.cycle(fabric);
    check
}

/// Returns the live destinations, each with its columns.
pub(super) fn ends(live: Live<'_>, columns: &Columns) -> Vec<(End, Vec<usize>)> {
    let mut places: HashMap<End, usize> = HashMap::with_capacity(columns.len());
    let mut ends: Vec<(End, Vec<usize>)> = Vec::with_capacity(columns.len());
    for (column, d) in columns.destinations().iter().enumerate() {
        if d.end.is_alive(live) {
            let place = *places.entry(d.end).or_insert_with(|| {
                ends.push((d.end, Vec::with_capacity(1)));
                ends.len() - 1
            });
            ends[place].1.push(column);
        }
    }
    ends
}

impl Judge<'_> {
    fn no_findings(&self) -> Findings {
        let fabric = self.in_force.live.fabric;
        Findings {
            check: Check::default(),
            node_dependencies: Dependencies::new(fabric),
            all_dependencies: Dependencies::new(fabric),
            walk: FateWalk::new(fabric.switches().len()),
            merged: vec![Fates::default(); fabric.switches().len()],
        }
    }

    /// Follows all routes to one destination.
    fn destination(&self, end: End, columns: &[usize], findings: &mut Findings) {
        let fabric = self.in_force.live.fabric;
        let (home, is_node) = match end {
            End::Node(n) => (fabric.node(n).switch, !fabric.is_aggregation(n)),
            End::Switch(s) => (s, false),
        };
        // A destination sends nothing to itself.
        let without_itself = |of: &[u64], s: SwitchIndex| of[s.at()] - u64::from(s == home);
        let nodes = |s: SwitchIndex| if is_node { without_itself(&self.nodes, s) } else { 0 };
        let sources = |s: SwitchIndex| without_itself(&self.sources, s);
        findings.merged.fill(Fates::default());
        let mut loops: [Option<(SwitchIndex, usize)>; 2] = [None; 2];
        for &column in columns {
            findings.walk.reset();
            // Nodes come first: each hop is reported once, and the hops of nodes make the verdict.
            for s in self.live_switches().filter(|&s| nodes(s) > 0) {
                if self.follow(s, column, findings, true).loops {
                    loops[0] = loops[0].or(Some((s, column)));
                }
            }
            for s in self.live_switches().filter(|&s| nodes(s) == 0 && sources(s) > 0) {
                if self.follow(s, column, findings, false).loops {
                    loops[1] = loops[1].or(Some((s, column)));
                }
            }
        }
        let scopes = [&mut findings.check.nodes, &mut findings.check.everything];
        for (scope, from) in scopes.into_iter().zip([loops[0], loops[0].or(loops[1])]) {
            let Some((s, column)) = from else { continue };
            scope.loop_destinations += 1;
            scope.loop_example.get_or_insert_with(|| self.loop_behind(s, column));
        }
        for s in self.live_switches() {
            let fates = findings.merged[s.at()];
            let cut_off = !self.islands.connect(s, home);
            let pairs = PairsFromSwitch { from: s, to: end, fates, cut_off };
            findings.check.nodes.count(&pairs, nodes(s));
            findings.check.everything.count(&pairs, sources(s));
        }
    }

    /// Returns a loop that packets from a switch run into.
    fn loop_behind(&self, s: SwitchIndex, column: usize) -> Loop {
        let d = &self.columns.destinations()[column];
        let tables = 0..self.in_force.tables.len();
        let hops = |s: usize| {
            let next = move |table| self.in_force.next(table, SwitchIndex::new(s), column, d);
            tables.clone().filter_map(move |table| match next(table) {
                NextHop::Switch { to, out } => Some((to, out, table > 0)),
                _ => None,
            })
        };
        let successors = |s: u32| hops(s as usize).map(|(to, ..)| to.at() as u32);
        let count = self.in_force.live.fabric.switches().len();
        let cycle = find_cycle(count, [s.at() as u32], successors).unwrap_or_default();
        let hop = |at: usize| {
            let (from, to) = (cycle[at] as usize, cycle[(at + 1) % cycle.len()] as usize);
            let (_, port, new) = hops(from).find(|hop| hop.0.at() == to)?;
            Some((Channel { switch: SwitchIndex::new(from), port }, new))
        };
        Loop { to: d.end, hops: (0..cycle.len()).filter_map(hop).collect() }
    }

    fn follow(
        &self,
        s: SwitchIndex,
        column: usize,
        findings: &mut Findings,
        by_node: bool,
    ) -> Fates {
        let fabric = self.in_force.live.fabric;
        let d = &self.columns.destinations()[column];
        let dependencies = match by_node {
            true => &mut findings.node_dependencies,
            false => &mut findings.all_dependencies,
        };
        let tables = self.in_force.tables.len();
        let next = |table: usize, s: SwitchIndex| self.in_force.next(table, s, column, d);
        let hop = |from: SwitchIndex, port: PortNumber, to: SwitchIndex| {
            for table in 0..tables {
                if let NextHop::Switch { out, .. } = next(table, to) {
                    dependencies.add(fabric, from, port, out);
                }
            }
        };
        let fates = findings.walk.from(s, &self.heights, tables, next, hop);
        findings.merged[s.at()].merge(fates);
        fates
    }

    fn live_switches(&self) -> impl Iterator<Item = SwitchIndex> {
        self.in_force.live.switches()
    }
}
