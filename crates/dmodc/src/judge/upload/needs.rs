//! Which entry must be written before which: the three rules of the [module](super), destination by destination.
//!
//! [`ColumnUpdate::constrain`] applies the rules to one column. Rule 1 needs the strongly connected components of old
//! and new hops together ([`ColumnUpdate::find_components`]), rules 2 and 3 need to know which switches a table serves
//! ([`ColumnPaths::settle`]).

use std::ops::ControlFlow;

use super::super::cycle::components;
use super::super::entries::{END, EntryHops, TablePair};
use super::UploadPairs;
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::tables::{Columns, End};

/// The next hop of a switch that delivers the packet.
const HOME: u32 = END - 1;

/// An entry that has to be written before or after another one, or as late as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OrderedEntry {
    pub(super) switch: u32,
    pub(super) column: u32,
    /// The old tables deliver from here and the new ones do not, so it is written as late as possible.
    pub(super) late: bool,
}

/// The needs of some destinations.
#[derive(Default)]
pub(super) struct Needs {
    pub(super) entries: Vec<OrderedEntry>,
    /// Pairs of entries: the first is written in an earlier round than the second.
    pub(super) edges: Vec<(u32, u32)>,
    pub(super) pairs: UploadPairs,
    /// Destinations with a loop in the old tables.
    pub(super) old_loops: u64,
    /// Destinations with a loop in the new tables.
    pub(super) new_loops: u64,
    /// The first such loop, with its column.
    pub(super) example: Option<(usize, Vec<SwitchIndex>)>,
}

impl Needs {
    pub(super) fn and(mut self, later: Needs) -> Needs {
        let first = self.entries.len() as u32;
        self.entries.extend(later.entries);
        self.edges.extend(later.edges.into_iter().map(|(a, b)| (a + first, b + first)));
        self.pairs.add(&later.pairs);
        self.old_loops += later.old_loops;
        self.new_loops += later.new_loops;
        self.example = self.example.or(later.example);
        self
    }
}

/// The fabric and the tables, prepared for looking at any destination.
pub(super) struct Surroundings<'a> {
    pub(super) live: Live<'a>,
    pub(super) columns: &'a Columns,
    pub(super) hops: EntryHops,
    pub(super) tables: TablePair<'a>,
    /// The live switches, ascending.
    pub(super) switches: Vec<usize>,
    /// The live switches with nodes (aggregation nodes do not count), and how many nodes each has.
    pub(super) sources: Vec<(usize, u64)>,
}

impl<'a> Surroundings<'a> {
    pub(super) fn new(live: Live<'a>, columns: &'a Columns, tables: TablePair<'a>) -> Self {
        let fabric = live.fabric;
        let nodes = |s| live.nodes(s).filter(|&n| !fabric.is_aggregation(n)).count() as u64;
        let sources = live.switches().map(|s| (s.at(), nodes(s)));
        Surroundings {
            live,
            columns,
            hops: EntryHops::new(live),
            tables,
            switches: live.switches().map(SwitchIndex::at).collect(),
            sources: sources.filter(|&(_, nodes)| nodes > 0).collect(),
        }
    }

    /// Returns the needs of these destinations, each of which comes with its columns.
    pub(super) fn needs(&self, ends: &[(End, Vec<usize>)]) -> Needs {
        let mut needs = Needs::default();
        let mut update = ColumnUpdate::new(self.hops.len());
        let mut served = Vec::with_capacity(self.sources.len());
        for (end, columns) in ends {
            served.clear();
            served.resize(self.sources.len(), (true, true));
            let (mut old_loops, mut new_loops) = (false, false);
            for &column in columns {
                self.fill(column, &mut update);
                old_loops |= update.old.settle(&self.switches, &mut update.way).is_some();
                if let Some(at) = update.new.settle(&self.switches, &mut update.way) {
                    new_loops = true;
                    needs.example.get_or_insert_with(|| (column, update.new.loop_from(at)));
                    continue;
                }
                for (served, &(s, _)) in served.iter_mut().zip(&self.sources) {
                    served.0 &= update.old.serves(s);
                    served.1 &= update.new.serves(s);
                }
                update.constrain(column, &mut needs);
            }
            needs.old_loops += u64::from(old_loops);
            needs.new_loops += u64::from(new_loops);
            self.count(*end, &served, &mut needs.pairs);
        }
        needs
    }

    /// Sets the next hops of a column in old and new tables.
    fn fill(&self, column: usize, update: &mut ColumnUpdate) {
        let d = &self.columns.destinations()[column];
        let entries = self.tables.column(column);
        let (home, alive) = (d.switch.at(), d.end.is_alive(self.live));
        let next = |s: usize, entry: u8| match s == home && entry == d.port.0 && alive {
            true => HOME,
            false => self.hops.next(s, entry),
        };
        update.moved.clear();
        for &s in &self.switches {
            let (old, new) = (entries.old[s * entries.width], entries.new[s * entries.width]);
            let (from, to) = (next(s, old), next(s, new));
            (update.old.next[s], update.new.next[s]) = (from, to);
            if from != to {
                update.moved.push(s);
            }
        }
    }

    /// Counts the pairs of nodes towards a destination that each table serves.
    fn count(&self, end: End, served: &[(bool, bool)], pairs: &mut UploadPairs) {
        let End::Node(n) = end else { return };
        if !self.live.node(n) || self.live.fabric.is_aggregation(n) {
            return;
        }
        let home = self.live.fabric.node(n).switch.at();
        for (&(old, new), &(s, nodes)) in served.iter().zip(&self.sources) {
            // A destination sends nothing to itself.
            let nodes = nodes - u64::from(s == home);
            pairs.of += nodes;
            pairs.old += if old { nodes } else { 0 };
            pairs.new += if new { nodes } else { 0 };
            pairs.given_up += if old && !new { nodes } else { 0 };
        }
    }
}

/// What becomes of packets from a switch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PacketFate {
    /// Not known yet.
    Unseen,
    /// The walk at hand has passed the switch.
    OnTheWay,
    Arrives,
    Lost,
    Loops,
}

/// The next hop of every switch in one column of one table, and what becomes of packets from there.
struct ColumnPaths {
    next: Vec<u32>,
    fates: Vec<PacketFate>,
}

impl ColumnPaths {
    fn new(switches: usize) -> Self {
        ColumnPaths { next: vec![END; switches], fates: vec![PacketFate::Unseen; switches] }
    }

    /// Returns whether the table serves a switch: packets from there arrive.
    fn serves(&self, s: usize) -> bool {
        self.fates[s] == PacketFate::Arrives
    }

    /// Settles the fate of every switch. Returns a switch that lies on a loop, if there is one.
    fn settle(&mut self, switches: &[usize], way: &mut Vec<usize>) -> Option<usize> {
        let mut on_loop = None;
        self.fates.fill(PacketFate::Unseen);
        for &s in switches {
            way.clear();
            let mut at = s;
            let fate = loop {
                match self.fates[at] {
                    PacketFate::Unseen => {}
                    PacketFate::OnTheWay => {
                        on_loop = on_loop.or(Some(at));
                        break PacketFate::Loops;
                    }
                    settled => break settled,
                }
                self.fates[at] = PacketFate::OnTheWay;
                way.push(at);
                match self.next[at] {
                    HOME => break PacketFate::Arrives,
                    END => break PacketFate::Lost,
                    next => at = next as usize,
                }
            };
            for &passed in way.iter() {
                self.fates[passed] = fate;
            }
        }
        on_loop
    }

    /// Returns the loop that a switch lies on.
    fn loop_from(&self, s: usize) -> Vec<SwitchIndex> {
        let mut switches = vec![];
        let mut at = s;
        while switches.is_empty() || at != s {
            switches.push(SwitchIndex::new(at));
            at = self.next[at] as usize;
        }
        switches
    }

    /// Returns the switches on the path from a switch, without that switch itself.
    fn after(&self, s: usize) -> impl Iterator<Item = usize> {
        let switch = |next: u32| (next < HOME).then_some(next as usize);
        std::iter::successors(switch(self.next[s]), move |&at| switch(self.next[at]))
    }
}

/// Not (yet) numbered.
const NONE: u32 = u32::MAX;

/// Old and new paths of one column after another. The arrays are kept between columns.
struct ColumnUpdate {
    old: ColumnPaths,
    new: ColumnPaths,
    /// The moved switches, ascending: those that have different next hops in both tables.
    moved: Vec<usize>,
    way: Vec<usize>,
    /// The strongly connected component of old and new hops together that a switch lies in; [`NONE`] if it has no other
    /// switch.
    component: Vec<u32>,
    /// The number of a switch's entry in [`Needs::entries`].
    number: Vec<u32>,
}

impl ColumnUpdate {
    fn new(switches: usize) -> Self {
        ColumnUpdate {
            old: ColumnPaths::new(switches),
            new: ColumnPaths::new(switches),
            moved: vec![],
            way: vec![],
            component: vec![NONE; switches],
            number: vec![NONE; switches],
        }
    }

    fn is_moved(&self, s: usize) -> bool {
        self.old.next[s] != self.new.next[s]
    }

    /// Adds what the three rules ask for in this column.
    fn constrain(&mut self, column: usize, needs: &mut Needs) {
        if self.moved.is_empty() {
            return;
        }
        self.find_components();
        let first = needs.entries.len();
        // Pairs of switches: the entry of the first is written before that of the second.
        let mut edges: Vec<(usize, usize)> = vec![];
        let mut late: Vec<usize> = vec![];
        for &s in &self.moved {
            edges.extend(self.next_inside_the_cycle(s).map(|x| (x, s)));
            edges.extend(self.in_the_hole_ahead(s).map(|x| (x, s)));
            edges.extend(self.left_by(s).map(|x| (s, x)));
            if self.old.serves(s) && !self.new.serves(s) {
                late.push(s);
            }
        }
        for s in late {
            self.number_of(s, column, needs);
        }
        edges.sort_unstable();
        edges.dedup();
        for (before, after) in edges {
            let before = self.number_of(before, column, needs);
            let after = self.number_of(after, column, needs);
            needs.edges.push((before, after));
        }
        for entry in &needs.entries[first..] {
            self.number[entry.switch as usize] = NONE;
        }
    }

    /// Rule 1. Returns the next moved switch on the new path of a moved switch `s`, if both lie on a cycle of old and
    /// new hops together. It is written before `s`.
    fn next_inside_the_cycle(&self, s: usize) -> Option<usize> {
        if self.component[s] == NONE {
            return None;
        }
        let inside = |&x: &usize| self.component[x] == self.component[s];
        self.new.after(s).take_while(inside).find(|&x| self.is_moved(x))
    }

    /// Rule 2. Returns the moved switches on the new path of a moved switch `s` that the old table serves, up to the
    /// first one that the old table serves, too. They are written before `s`.
    fn in_the_hole_ahead(&self, s: usize) -> impl Iterator<Item = usize> {
        let ahead = self.old.serves(s).then(|| self.new.after(s)).into_iter().flatten();
        let hole = ahead.take_while(|&x| !self.old.serves(x));
        hole.filter(|&x| self.is_moved(x))
    }

    /// Rule 3. Returns the moved switches on the old path of a moved switch `s` that both tables serve, up to the first
    /// one that the new table serves, too. They are written after `s`.
    fn left_by(&self, s: usize) -> impl Iterator<Item = usize> {
        let is_served = self.old.serves(s) && self.new.serves(s);
        let behind = is_served.then(|| self.old.after(s)).into_iter().flatten();
        let moved = behind.filter(|&x| self.is_moved(x));
        moved.take_while(|&x| !self.new.serves(x))
    }

    /// Returns the number of the entry of a moved switch, which is added if it is not there yet.
    fn number_of(&mut self, s: usize, column: usize, needs: &mut Needs) -> u32 {
        if self.number[s] == NONE {
            self.number[s] = needs.entries.len() as u32;
            let late = self.old.serves(s) && !self.new.serves(s);
            needs.entries.push(OrderedEntry { switch: s as u32, column: column as u32, late });
        }
        self.number[s]
    }

    /// Finds the strongly connected components of old and new hops together.
    fn find_components(&mut self) {
        self.component.fill(NONE);
        let ColumnUpdate { old, new, moved, component, .. } = self;
        let next = |s: u32| {
            let both = [old.next[s as usize], new.next[s as usize]];
            both.into_iter().filter(|&to| to < HOME)
        };
        let starts = moved.iter().map(|&s| s as u32);
        let mut count = 0;
        let all: ControlFlow<()> = components(old.next.len(), starts, next, |switches| {
            if switches.len() > 1 {
                for &s in switches {
                    component[s as usize] = count;
                }
                count += 1;
            }
            ControlFlow::Continue(())
        });
        debug_assert!(all.is_continue());
    }
}
