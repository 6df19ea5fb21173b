//! The judge against the naive walk of every pair, on good tables, spoilt ones and rubbish.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Case, Drawing, Outcomes, for_seeds, judge, random_fabric, route, spoil};
use dmodc::fabric::Peer;
use dmodc::judge::{Fate, Scope, check_union, trace};
use dmodc::{End, ForwardingTables, Live, PortNumber, Routing, SwitchIndex};

type PathHops = Vec<(SwitchIndex, PortNumber)>;

/// The naive judge: follows every mixture of tables, pair by pair.
struct NaiveJudge<'a> {
    live: Live<'a>,
    height: Vec<(u32, u32)>,
    tables: Vec<&'a ForwardingTables>,
}

#[derive(Default)]
struct NaiveVerdict {
    lost: bool,
    loops: bool,
    turns: bool,
    dependencies: BTreeSet<((SwitchIndex, PortNumber), (SwitchIndex, PortNumber))>,
}

impl<'a> NaiveJudge<'a> {
    fn new(live: Live<'a>, routing: &Routing, tables: Vec<&'a ForwardingTables>) -> Self {
        let ranking = routing.ranking(live);
        let height = live
            .fabric
            .switch_indices()
            .map(|s| (ranking.rank(s).unwrap_or(u32::MAX), routing.orders().position(s)))
            .collect();
        NaiveJudge { live, height, tables }
    }

    /// Tries every choice of table at every switch of the way.
    fn follow(
        &self,
        s: SwitchIndex,
        column: usize,
        hops: &mut PathHops,
        verdict: &mut NaiveVerdict,
    ) {
        if hops.iter().any(|hop| hop.0 == s) {
            verdict.loops = true;
            // The dependency that closes the loop.
            let first = hops.iter().position(|hop| hop.0 == s).unwrap();
            verdict.dependencies.insert((hops[hops.len() - 1], hops[first]));
            return;
        }
        let d = self.tables[0].columns().destinations()[column];
        for table in &self.tables {
            let Some(out) = table.port(s, column) else {
                verdict.lost = true;
                continue;
            };
            if out.0 == 0 {
                verdict.lost |= d.end != End::Switch(s);
                continue;
            }
            match self.live.peer(s, out) {
                Peer::Switch(to, _) => {
                    if let Some(&before) = hops.last() {
                        verdict.dependencies.insert((before, (s, out)));
                    }
                    hops.push((s, out));
                    self.follow(to, column, hops, verdict);
                    let mut way: Vec<SwitchIndex> = hops.iter().map(|hop| hop.0).collect();
                    way.push(to);
                    let up = |w: &[SwitchIndex]| self.height[w[1].at()] > self.height[w[0].at()];
                    verdict.turns |= way.windows(3).any(|w| !up(&w[..2]) && up(&w[1..]));
                    hops.pop();
                }
                Peer::Node(n) if d.end == End::Node(n) => {}
                _ => verdict.lost = true,
            }
        }
    }

    /// All pairs of a kind; a source is a switch and, if it is one, a node on it.
    fn scope(&self, all: bool) -> (Scope, bool) {
        let fabric = self.live.fabric;
        let is_node = |n| all || !fabric.is_aggregation(n);
        let mut sources: Vec<End> = fabric
            .node_indices()
            .filter(|&n| self.live.node(n) && is_node(n))
            .map(End::Node)
            .collect();
        if all {
            sources.extend(self.live.switches().map(End::Switch));
        }
        let mut columns: BTreeMap<End, Vec<usize>> = BTreeMap::new();
        for (column, d) in self.tables[0].columns().destinations().iter().enumerate() {
            columns.entry(d.end).or_default().push(column);
        }
        let mut scope = Scope::default();
        let mut dependencies = BTreeSet::new();
        let mut looping = BTreeSet::new();
        for &from in &sources {
            for to in sources.iter().filter(|&&to| to != from) {
                let Some(columns) = columns.get(to) else { continue };
                let home = match from {
                    End::Node(n) => fabric.node(n).switch,
                    End::Switch(s) => s,
                };
                let mut verdict = NaiveVerdict::default();
                for &column in columns {
                    self.follow(home, column, &mut vec![], &mut verdict);
                }
                scope.pairs += 1;
                if verdict.loops {
                    scope.loops += 1;
                    looping.insert(*to);
                }
                let connected = self.live.hops_to([to.switch(fabric)])[home.at()].is_some();
                match (verdict.loops || verdict.lost, connected) {
                    (false, _) => scope.delivered += 1,
                    (true, true) => scope.lost += 1,
                    (true, false) => scope.cut_off += 1,
                }
                scope.up_down_violations += u64::from(verdict.turns || verdict.loops);
                dependencies.extend(verdict.dependencies);
            }
        }
        scope.loop_destinations = looping.len() as u64;
        (scope, has_cycle(dependencies))
    }
}

fn has_cycle<T: Ord + Copy>(mut edges: BTreeSet<(T, T)>) -> bool {
    loop {
        let sources: BTreeSet<T> = edges.iter().map(|e| e.0).collect();
        let before = edges.len();
        edges.retain(|e| sources.contains(&e.1));
        if edges.len() == before {
            return before > 0;
        }
    }
}

fn assert_same(judged: &Scope, naive: (Scope, bool), tables: usize) {
    let (naive, cyclic) = naive;
    let numbers = |s: &Scope| (s.delivery(), s.loops, s.loop_destinations);
    assert_eq!(numbers(judged), numbers(&naive));
    assert_eq!(judged.pairs, judged.delivered + judged.lost + judged.cut_off);
    assert_eq!(judged.is_sound(), judged.loops == 0 && !cyclic);
    assert_eq!(judged.up_down_violations, naive.up_down_violations);
    assert_eq!(judged.cycle.is_some(), cyclic, "{tables} tables");
    assert_eq!(judged.loop_example.is_some(), judged.loops > 0);
    assert_eq!(judged.examples.is_empty(), judged.delivery().is_complete());
}

/// A loop that is reported is one: each hop is an entry of the table it is said to be of, for some LID.
fn assert_loops(live: Live<'_>, scope: &Scope, tables: &[&ForwardingTables]) {
    let Some(found) = &scope.loop_example else { return };
    assert!(!found.hops.is_empty());
    let columns = tables[0].columns().destinations().iter().enumerate();
    let is_loop = |(column, _): (usize, &dmodc::Destination)| {
        found.hops.iter().zip(found.hops.iter().cycle().skip(1)).all(|((c, new), (next, _))| {
            tables[usize::from(*new)].port(c.switch, column) == Some(c.port)
                && matches!(live.peer(c.switch, c.port), Peer::Switch(s, _) if s == next.switch)
        })
    };
    assert!(columns.filter(|(_, d)| d.end == found.to).any(is_loop));
}

#[test]
fn the_judge_equals_the_walk_of_every_pair() {
    let outcomes = Outcomes::new();
    for_seeds(500, |random| {
        let fabric = random_fabric(random, 16);
        let case = Case::degraded(random, &fabric);
        let live = case.now();
        let routing = Routing::new(live, &Default::default());
        let mut tables = route(&routing, live);
        spoil(random, live, &mut tables);
        let judged = judge(&routing, live, &tables);
        let naive = NaiveJudge::new(live, &routing, vec![&tables]);
        assert_same(&judged.nodes, naive.scope(false), 1);
        assert_same(&judged.everything, naive.scope(true), 1);
        assert_loops(live, &judged.nodes, &[&tables]);
        let n = &judged.nodes;
        outcomes.count([
            n.lost > 0,
            n.cut_off > 0,
            n.loops > 0,
            n.up_down_violations > 0,
            !n.is_deadlock_free(),
        ]);
    });
    outcomes.assert_each_more_than(20);
}

#[test]
fn mixtures_of_old_and_new_equal_the_walk_of_every_choice() {
    let outcomes = Outcomes::new();
    for_seeds(250, |random| {
        let fabric = random_fabric(random, 12);
        if fabric.switches().len() > 14 {
            return;
        }
        let case = Case::degraded(random, &fabric);
        let (live, routing) = (case.now(), case.routing());
        let [mut old, mut new] = [case.whole(), live].map(|state| route(&routing, state));
        if random.below(2) == 0 {
            spoil(random, live, &mut old);
            spoil(random, live, &mut new);
        }
        let judged = check_union(live, &routing.ranking(live), routing.orders(), &old, &new);
        let naive = NaiveJudge::new(live, &routing, vec![&old, &new]);
        assert_same(&judged.nodes, naive.scope(false), 2);
        assert_same(&judged.everything, naive.scope(true), 2);
        assert_loops(live, &judged.nodes, &[&old, &new]);
        assert_loops(live, &judged.everything, &[&old, &new]);
        let n = &judged.nodes;
        outcomes.count([n.lost > 0, n.loops > 0, !n.is_deadlock_free()]);
    });
    outcomes.assert_each_more_than(10);
}

/// Four switches in a ring, each routing everything clockwise: delivered, but a textbook deadlock.
///
/// ```text
///   s0 → s1
///   ↑     ↓
///   s3 ← s2
/// ```
#[test]
fn a_ring_routed_one_way_is_called_cyclic_by_name() {
    let mut d = Drawing::new();
    let ring = d.switches(["s0", "s1", "s2", "s3"]);
    // The nodes come first, so that the ring lies on ports beyond 64: channels are bits, four words of them.
    for s in ring {
        d.nodes(s, 70);
    }
    for at in 0..4 {
        d.cable(ring[at], ring[(at + 1) % 4], 1);
    }
    let fabric = d.finish();
    let case = Case::healthy(&fabric);
    let (live, routing) = (case.whole(), case.routing());
    let mut tables = routing.empty_tables(live).unwrap();
    for column in 0..tables.columns().len() {
        let to = tables.columns().destinations()[column];
        for s in fabric.switch_indices() {
            let next = SwitchIndex::new((s.at() + 1) % 4);
            let clockwise = live.links(s).find(|(_, peer)| *peer == next).unwrap().0;
            tables.set(s, column, Some(if s == to.switch { to.port } else { clockwise }));
        }
    }
    let judged = judge(&routing, live, &tables);
    assert_eq!((judged.nodes.pairs, judged.nodes.delivered), (280 * 279, 280 * 279));
    assert_eq!(judged.nodes.cycle.as_ref().map(Vec::len), Some(4));
    assert!(!judged.nodes.is_sound());
    let column = tables.columns().destinations().iter().position(|d| d.switch.at() == 3).unwrap();
    let (hops, fate) = trace(live, &tables, SwitchIndex::new(0), column);
    assert_eq!((hops.len(), fate), (4, Fate::Delivered));

    tables.set(SwitchIndex::new(2), column, None);
    assert_eq!(trace(live, &tables, SwitchIndex::new(0), column).1, Fate::Lost);
    let back = live.links(SwitchIndex::new(2)).find(|(_, peer)| peer.at() == 1).unwrap().0;
    tables.set(SwitchIndex::new(2), column, Some(back));
    let (hops, fate) = trace(live, &tables, SwitchIndex::new(0), column);
    assert_eq!((hops.len(), fate), (4, Fate::Loops));
}
