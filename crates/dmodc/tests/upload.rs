//! Upload plans against the walk of every pair at every moment, whatever the order of writes within a round.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::BTreeSet;

use common::{
    Case, Drawing, Outcomes, for_seeds, in_threads, random_fabric, random_faults, route, spoil,
};
use dmodc::judge::{BlockWrite, Fate, Hop, UploadPlan, diff, plan_upload, trace};
use dmodc::{
    Degradation, Fabric, ForwardingTables, Live, PortNumber, Random, RandomPorts, Routing,
    RoutingOptions, SwitchIndex,
};

/// One entry that is written: switch and column.
type EntryName = (SwitchIndex, usize);

/// Tables by a random tree for each destination: loop-free, and unlike any other such tables. Some
/// switches have no route.
fn trees(random: &mut Random, live: Live<'_>, tables: &mut ForwardingTables) {
    let holes = random.below(2) * 20;
    for column in 0..tables.columns().len() {
        let d = tables.columns().destinations()[column];
        for s in live.switches() {
            tables.set(s, column, None);
        }
        if !live.switch(d.switch) {
            continue;
        }
        tables.set(d.switch, column, Some(d.port));
        let mut reached = BTreeSet::from([d.switch]);
        let mut edges: Vec<(SwitchIndex, SwitchIndex)> =
            live.links(d.switch).map(|(_, peer)| (peer, d.switch)).collect();
        while !edges.is_empty() {
            let (s, towards) = edges.swap_remove(random.below(edges.len() as u64) as usize);
            if !reached.insert(s) {
                continue;
            }
            let port = live.links(s).find(|&(_, peer)| peer == towards).unwrap().0;
            let hole = holes > 0 && random.below(holes) == 0;
            tables.set(s, column, (!hole).then_some(port));
            edges.extend(live.links(s).map(|(_, peer)| (peer, s)));
        }
    }
}

/// A fabric as it is now, tables of another state of it, and tables for now.
struct Update {
    fabric: Fabric,
    faults: Degradation,
    old: ForwardingTables,
    new: ForwardingTables,
}

impl Update {
    fn random(random: &mut Random) -> Update {
        let fabric = random_fabric(random, 24);
        let case = Case::degraded(random, &fabric);
        let routing = case.routing();
        let mut tables = |live: Live<'_>| {
            let mut tables = match random.below(3) {
                0 => route(&routing, live),
                _ => routing.route(live, &RandomPorts { seed: random.below(9) }).unwrap().0,
            };
            match random.below(5) {
                0 | 1 => trees(random, live, &mut tables),
                2 => spoil(random, live, &mut tables),
                _ => {}
            }
            tables
        };
        let (old, new) = (tables(case.whole()), tables(case.now()));
        // New tables may be made for a fabric that has lost more since.
        let faults = match random.below(4) {
            0 => random_faults(random, &fabric),
            _ => case.faults,
        };
        Update { fabric, faults, old, new }
    }

    fn live(&self) -> Live<'_> {
        Live::new(&self.fabric, &self.faults)
    }

    /// The fate of packets from every live switch.
    fn fates(&self, tables: &ForwardingTables, column: usize) -> Vec<(SwitchIndex, Fate)> {
        let live = self.live();
        live.switches().map(|s| (s, trace(live, tables, s, column).1)).collect()
    }

    fn loops(&self, tables: &ForwardingTables) -> bool {
        let looping = |column| self.fates(tables, column).iter().any(|(_, f)| *f == Fate::Loops);
        (0..tables.columns().len()).any(looping)
    }

    /// Whether a moment of the columns named is bad: a loop that is not the old one, or a pair lost that both
    /// tables deliver.
    fn is_bad(&self, moment: &ForwardingTables, columns: &[usize]) -> (bool, bool) {
        let live = self.live();
        let (mut loops, mut lost) = (false, false);
        for &column in columns {
            for s in live.switches() {
                let (hops, fate) = trace(live, moment, s, column);
                let fate_by = |tables| trace(live, tables, s, column).1;
                let served = || {
                    fate_by(&self.old) == Fate::Delivered && fate_by(&self.new) == Fate::Delivered
                };
                match fate {
                    Fate::Delivered => {}
                    Fate::Lost => lost |= served(),
                    Fate::Loops => {
                        let last = hops[hops.len() - 1];
                        let first = hops.iter().position(|hop| hop.switch == last.switch).unwrap();
                        // The old loop goes over the same switches, if not the same cables.
                        let old = |at| trace(live, &self.old, at, column).0[1..].first().copied();
                        let as_before = |hops: &[Hop]| {
                            old(hops[0].switch).is_some_and(|next| next.switch == hops[1].switch)
                        };
                        loops |= !hops[first..].windows(2).all(as_before);
                        lost |= served();
                    }
                }
            }
        }
        (loops, lost)
    }

    /// Carries a plan out, entry by entry or block by block, in any order within a round.
    fn carry_out(&self, plan: &UploadPlan, random: &mut Random) -> (bool, bool) {
        let mut moment = self.old.clone();
        let mut bad = (false, false);
        for writes in plan.writes().chunk_by(|a, b| a.round == b.round) {
            let blocks = writes.iter().map(|w| self.entries(plan, w));
            let mut steps: Vec<Vec<EntryName>> = match random.below(2) {
                0 => blocks.collect(),
                _ => blocks.flatten().map(|entry| vec![entry]).collect(),
            };
            self.carry_out_round(&mut steps, random, &mut moment, &mut bad);
        }
        for s in self.live().switches() {
            for column in 0..self.new.columns().len() {
                assert_eq!(moment.port(s, column), self.new.port(s, column));
            }
        }
        bad
    }

    fn entries(&self, plan: &UploadPlan, write: &BlockWrite) -> Vec<EntryName> {
        plan.columns(write).map(|column| (write.switch, column)).collect()
    }

    fn carry_out_round(
        &self,
        steps: &mut [Vec<EntryName>],
        random: &mut Random,
        moment: &mut ForwardingTables,
        bad: &mut (bool, bool),
    ) {
        random.shuffle(steps);
        // Large rounds are looked at now and then.
        let every = 1 + steps.len() as u64 / 40;
        for step in steps {
            for &(s, column) in step.iter() {
                moment.set(s, column, self.new.port(s, column));
            }
            if random.below(every) == 0 {
                let mut columns: Vec<usize> = step.iter().map(|entry| entry.1).collect();
                columns.push(random.below(moment.columns().len() as u64) as usize);
                let now = self.is_bad(moment, &columns);
                *bad = (bad.0 || now.0, bad.1 || now.1);
            }
        }
        let all: Vec<usize> = (0..moment.columns().len()).collect();
        let now = self.is_bad(moment, &all);
        *bad = (bad.0 || now.0, bad.1 || now.1);
    }
}

/// Every entry that differs is written once, blocks and entries are those of `diff`, and what the counts say
/// is what the writes are.
fn assert_complete(update: &Update, plan: &UploadPlan) {
    let ranking = dmodc::Ranking::new(update.live(), &Default::default());
    let differ = diff(update.live(), &ranking, &update.old, &update.new);
    let changes = differ.changes;
    assert_eq!(plan.entry_count(), changes.entries);
    assert_eq!((plan.blocks, plan.switches), (changes.blocks, changes.switches));
    assert_eq!(plan.pairs.of, differ.of.pairs);
    assert!(plan.writes().len() as u64 >= plan.blocks);
    assert_eq!(plan.is_empty(), plan.rounds.is_empty());
    let mut seen: BTreeSet<EntryName> = BTreeSet::new();
    let mut rounds = vec![(0, BTreeSet::new(), 0); plan.rounds.len()];
    let mut blocks = BTreeSet::new();
    for write in plan.writes() {
        let round = &mut rounds[write.round as usize - 1];
        round.0 += 1;
        round.1.insert(write.switch);
        assert!(blocks.insert((write.round, write.switch, write.block)), "once a round");
        assert!(plan.columns(write).len() > 0);
        let lids: Vec<u32> = plan
            .columns(write)
            .map(|column| update.new.columns().destinations()[column].lid.0)
            .collect();
        assert!(lids.is_sorted() && lids.iter().all(|lid| lid / 64 == write.block));
        for entry in update.entries(plan, write) {
            round.2 += 1;
            assert_ne!(update.old.port(entry.0, entry.1), update.new.port(entry.0, entry.1));
            assert!(seen.insert(entry), "an entry is written once");
        }
    }
    for (round, (blocks, switches, entries)) in plan.rounds.iter().zip(&rounds) {
        assert_eq!((round.blocks, round.entries), (*blocks, *entries));
        assert_eq!(round.switches, switches.len() as u64);
    }
}

#[test]
fn at_no_moment_of_a_plan_does_anything_loop_or_get_lost() {
    let outcomes = Outcomes::new();
    for_seeds(500, |random| {
        let update = Update::random(random);
        let found = plan_upload(update.live(), &update.old, &update.new, 1);
        match found {
            Err(why) => {
                assert!(update.loops(&update.new));
                let live = update.live();
                let (hops, fate) = trace(live, &update.new, why.switches[0], why.column);
                assert_eq!((fate, hops.len()), (Fate::Loops, why.switches.len() + 1));
                let mut refused = [false; 7];
                refused[0] = true;
                outcomes.count(refused);
            }
            Ok(plan) => {
                assert!(!update.loops(&update.new));
                assert_complete(&update, &plan);
                assert_eq!(update.carry_out(&plan, random), (false, false));
                assert_eq!(plan.old_loops > 0, update.loops(&update.old));
                let more = plan_upload(update.live(), &update.old, &update.new, 7).unwrap();
                assert_complete(&update, &more);
                assert_eq!(update.carry_out(&more, random), (false, false));
                assert!(more.writes().len() <= plan.writes().len());
                assert!(more.rounds.len() >= plan.rounds.len());
                outcomes.count([
                    false,
                    plan.rounds.len() > 1,
                    plan.rounds.len() > 3,
                    plan.old_loops > 0,
                    plan.pairs.given_up > 0,
                    plan.blocks == plan.writes().len() as u64 && !plan.is_empty(),
                    more.writes().len() < plan.writes().len(),
                ]);
            }
        }
    });
    outcomes.assert_each_more_than(10);
}

/// The walk above can fail: the same writes in one round loop and lose.
#[test]
fn without_an_order_packets_loop_and_get_lost() {
    let outcomes = Outcomes::new();
    for_seeds(120, |random| {
        let update = Update::random(random);
        let Ok(plan) = plan_upload(update.live(), &update.old, &update.new, 1) else { return };
        let mut steps: Vec<Vec<EntryName>> =
            plan.writes().iter().map(|write| update.entries(&plan, write)).collect();
        let (mut moment, mut bad) = (update.old.clone(), (false, false));
        update.carry_out_round(&mut steps, random, &mut moment, &mut bad);
        outcomes.count([bad.0, bad.1]);
    });
    outcomes.assert_each_more_than(10);
}

#[test]
fn a_plan_is_the_same_for_any_number_of_threads() {
    for_seeds(20, |random| {
        let update = Update::random(random);
        let with = |threads| {
            in_threads(threads, || plan_upload(update.live(), &update.old, &update.new, 1))
        };
        assert_eq!(with(1), with(5));
    });
}

/// The cable from `spine0` to `leaf1` is dead. Until now `leaf0` went over `spine1`, and `spine0`, which
/// others used, over the dead cable; now both are to go the long way round.
///
/// ```text
///    spine0 -------- spine1
///      |  x          |  |
///      |    x        |  |
///    leaf0    leaf1--+  |
///      |                |
///      +----------------+
/// ```
#[test]
fn what_leads_over_a_hole_waits_until_it_is_filled() {
    let mut d = Drawing::new();
    let [leaf0, leaf1, spine0, spine1] = d.switches(["leaf0", "leaf1", "spine0", "spine1"]);
    for (a, b) in [(leaf0, spine0), (leaf0, spine1), (leaf1, spine0), (leaf1, spine1)] {
        d.cable(a, b, 1);
    }
    d.cable(spine0, spine1, 1);
    d.nodes(leaf0, 1);
    d.nodes(leaf1, 1);
    let fabric = d.finish();
    let mut dead = Degradation::none(&fabric);
    let cable = fabric
        .inter_switch_cables()
        .iter()
        .position(|cable| (cable.a.0.at(), cable.b.0.at()) == (leaf1, spine0));
    dead.set_cable(dmodc::CableIndex::new(cable.unwrap()), true);
    let live = Live::new(&fabric, &dead);
    let routing = Routing::new(live, &RoutingOptions::default());
    let mut old = routing.empty_tables(live).unwrap();
    let to_leaf1 = |d: &dmodc::Destination| d.switch.at() == leaf1 && d.port.0 > 0;
    let column = old.columns().destinations().iter().position(to_leaf1).unwrap();
    let port = |from: usize, to: usize| {
        let ports = fabric.ports_of(SwitchIndex::new(from)).iter().zip(1u8..);
        let leads = |peer| matches!(peer, dmodc::fabric::Peer::Switch(s, _) if s.at() == to);
        ports.filter(|(port, _)| leads(port.peer)).map(|(_, number)| PortNumber(number)).next()
    };
    let set = |tables: &mut ForwardingTables, from: usize, to: Option<usize>| {
        tables.set(SwitchIndex::new(from), column, to.and_then(|to| port(from, to)));
    };
    let last = old.columns().destinations()[column].port;
    old.set(SwitchIndex::new(leaf1), column, Some(last));
    set(&mut old, leaf0, Some(spine1));
    set(&mut old, spine0, Some(leaf1));
    set(&mut old, spine1, Some(leaf1));
    let mut new = old.clone();
    set(&mut new, leaf0, Some(spine0));
    set(&mut new, spine0, Some(spine1));
    let order = |old: &ForwardingTables, new: &ForwardingTables| {
        let plan = plan_upload(live, old, new, 1).unwrap();
        let writes = plan.writes().iter().map(|w| (w.round, w.switch.at())).collect::<Vec<_>>();
        (writes, plan.pairs.given_up)
    };
    assert_eq!(order(&old, &new), (vec![(1, spine0), (2, leaf0)], 0));
    assert_eq!(order(&new, &new), (vec![], 0));

    // The way back: `leaf0` leaves before `spine0` is broken.
    assert_eq!(order(&new, &old), (vec![(1, leaf0), (2, spine0)], 0));

    // Nobody may use `spine0` any more, nor does `leaf0` have another way: it is given up last of all.
    let mut none = new.clone();
    set(&mut none, spine0, None);
    assert_eq!(order(&new, &none), (vec![(1, spine0)], 1));

    // The spines swap their ways: whichever order is not this one loops.
    let mut swapped = new.clone();
    set(&mut swapped, spine0, Some(leaf0));
    set(&mut swapped, leaf0, Some(spine1));
    assert_eq!(order(&new, &swapped), (vec![(1, leaf0), (2, spine0)], 0));

    // New tables that loop have no plan.
    set(&mut swapped, spine1, Some(spine0));
    let why = plan_upload(live, &new, &swapped, 1).unwrap_err();
    assert_eq!((why.destinations, why.column, why.switches.len()), (1, column, 3));
}
