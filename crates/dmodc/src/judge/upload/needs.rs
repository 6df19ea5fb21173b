//! What must be written before what, destination by destination: the three rules of the
//! [module](super).

use std::ops::ControlFlow;

use super::super::cycle::components;
use super::super::entries::{END, Hops, Tiles};
use super::UploadPairs;
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::tables::{Columns, End};

/// The packet has arrived.
const HOME: u32 = END - 1;

/// An entry that something has to be written before or after, or that is to be written late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) switch: u32,
    pub(super) column: u32,
    /// The old tables deliver from here and the new ones do not: as late as can be.
    pub(super) late: bool,
}

/// What was found for some destinations.
#[derive(Default)]
pub(super) struct Needs {
    pub(super) entries: Vec<Entry>,
    /// Of two entries, the first is to be written in an earlier round than the second.
    pub(super) edges: Vec<(u32, u32)>,
    pub(super) pairs: UploadPairs,
    /// Destinations with a loop in the old tables.
    pub(super) old_loops: u64,
    /// Destinations with a loop in the new tables, and the first such loop.
    pub(super) new_loops: u64,
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

/// What is known before any destination is looked at.
pub(super) struct Ground<'a> {
    pub(super) live: Live<'a>,
    pub(super) columns: &'a Columns,
    pub(super) hops: Hops,
    pub(super) tiles: Tiles<'a>,
    /// The live switches, ascending.
    pub(super) switches: Vec<usize>,
    /// Those of them with nodes, aggregation nodes aside, and how many.
    pub(super) sources: Vec<(usize, u64)>,
}

impl<'a> Ground<'a> {
    pub(super) fn new(live: Live<'a>, columns: &'a Columns, tiles: Tiles<'a>) -> Self {
        let fabric = live.fabric;
        let nodes = |s| live.nodes(s).filter(|&n| !fabric.is_aggregation(n)).count() as u64;
        let sources = live.switches().map(|s| (s.at(), nodes(s)));
        Ground {
            live,
            columns,
            hops: Hops::new(live),
            tiles,
            switches: live.switches().map(SwitchIndex::at).collect(),
            sources: sources.filter(|&(_, nodes)| nodes > 0).collect(),
        }
    }

    /// What these destinations need; each comes with its columns.
    pub(super) fn needs(&self, ends: &[(End, Vec<usize>)]) -> Needs {
        let mut needs = Needs::default();
        let mut pair = Pair::new(self.hops.len());
        let mut served = Vec::with_capacity(self.sources.len());
        for (end, columns) in ends {
            served.clear();
            served.resize(self.sources.len(), (true, true));
            let (mut old_loops, mut new_loops) = (false, false);
            for &column in columns {
                self.fill(column, &mut pair);
                old_loops |= pair.old.settle(&self.switches, &mut pair.way).is_some();
                if let Some(at) = pair.new.settle(&self.switches, &mut pair.way) {
                    new_loops = true;
                    needs.example.get_or_insert_with(|| (column, pair.new.loop_from(at)));
                    continue;
                }
                for (served, &(s, _)) in served.iter_mut().zip(&self.sources) {
                    served.0 &= pair.old.serves(s);
                    served.1 &= pair.new.serves(s);
                }
                pair.constrain(column, &mut needs);
            }
            needs.old_loops += u64::from(old_loops);
            needs.new_loops += u64::from(new_loops);
            self.count(*end, &served, &mut needs.pairs);
        }
        needs
    }

    /// Where old and new tables send the packets of a column.
    fn fill(&self, column: usize, pair: &mut Pair) {
        let d = &self.columns.destinations()[column];
        let entries = self.tiles.column(column);
        let (home, alive) = (d.switch.at(), d.end.is_alive(self.live));
        let next = |s: usize, entry: u8| match s == home && entry == d.port.0 && alive {
            true => HOME,
            false => self.hops.next(s, entry),
        };
        pair.moved.clear();
        for &s in &self.switches {
            let (old, new) = (entries.old[s * entries.width], entries.new[s * entries.width]);
            let (from, to) = (next(s, old), next(s, new));
            (pair.old.next[s], pair.new.next[s]) = (from, to);
            if from != to {
                pair.moved.push(s);
            }
        }
    }

    /// Counts the pairs of nodes towards a destination.
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Unseen,
    OnTheWay,
    Arrives,
    Lost,
    Loops,
}

/// Where one table sends the packets of a column, and what becomes of them.
struct Ways {
    next: Vec<u32>,
    fates: Vec<Fate>,
}

impl Ways {
    fn new(switches: usize) -> Self {
        Ways { next: vec![END; switches], fates: vec![Fate::Unseen; switches] }
    }

    /// Whether packets from a switch arrive.
    fn serves(&self, s: usize) -> bool {
        self.fates[s] == Fate::Arrives
    }

    /// Settles the fate of every switch; tells one that lies on a loop, if there is one.
    fn settle(&mut self, switches: &[usize], way: &mut Vec<usize>) -> Option<usize> {
        let mut on_loop = None;
        self.fates.fill(Fate::Unseen);
        for &s in switches {
            way.clear();
            let mut at = s;
            let fate = loop {
                match self.fates[at] {
                    Fate::Unseen => {}
                    Fate::OnTheWay => {
                        on_loop = on_loop.or(Some(at));
                        break Fate::Loops;
                    }
                    settled => break settled,
                }
                self.fates[at] = Fate::OnTheWay;
                way.push(at);
                match self.next[at] {
                    HOME => break Fate::Arrives,
                    END => break Fate::Lost,
                    next => at = next as usize,
                }
            };
            for &passed in way.iter() {
                self.fates[passed] = fate;
            }
        }
        on_loop
    }

    /// The loop that a switch lies on.
    fn loop_from(&self, s: usize) -> Vec<SwitchIndex> {
        let mut switches = vec![];
        let mut at = s;
        while switches.is_empty() || at != s {
            switches.push(SwitchIndex::new(at));
            at = self.next[at] as usize;
        }
        switches
    }

    /// The switches on the way from one, itself left out.
    fn after(&self, s: usize) -> impl Iterator<Item = usize> {
        let switch = |next: u32| (next < HOME).then_some(next as usize);
        std::iter::successors(switch(self.next[s]), move |&at| switch(self.next[at]))
    }
}

/// Not (yet) numbered.
const NONE: u32 = u32::MAX;

/// The ways of both tables for one column after another; keeps its arrays.
struct Pair {
    old: Ways,
    new: Ways,
    /// The switches that the tables send on differently, ascending.
    moved: Vec<usize>,
    way: Vec<usize>,
    /// The strongly connected component of both tables' ways, where it has more than one switch.
    component: Vec<u32>,
    /// The place of a switch's entry in the list of entries.
    place: Vec<u32>,
}

impl Pair {
    fn new(switches: usize) -> Self {
        Pair {
            old: Ways::new(switches),
            new: Ways::new(switches),
            moved: vec![],
            way: vec![],
            component: vec![NONE; switches],
            place: vec![NONE; switches],
        }
    }

    fn is_moved(&self, s: usize) -> bool {
        self.old.next[s] != self.new.next[s]
    }

    /// Adds what the three rules ask for.
    fn constrain(&mut self, column: usize, needs: &mut Needs) {
        if self.moved.is_empty() {
            return;
        }
        self.find_components();
        let first = needs.entries.len();
        let mut edges: Vec<(usize, usize)> = vec![];
        let mut late: Vec<usize> = vec![];
        for &s in &self.moved {
            if self.component[s] != NONE {
                let inside = |&x: &usize| self.component[x] == self.component[s];
                let mut ahead = self.new.after(s).take_while(inside);
                edges.extend(ahead.find(|&x| self.is_moved(x)).map(|x| (x, s)));
            }
            if !self.old.serves(s) {
                continue;
            }
            let hole = self.new.after(s).take_while(|&x| !self.old.serves(x));
            edges.extend(hole.filter(|&x| self.is_moved(x)).map(|x| (x, s)));
            if self.new.serves(s) {
                let left = self.old.after(s).filter(|&x| self.is_moved(x));
                edges.extend(left.take_while(|&x| !self.new.serves(x)).map(|x| (s, x)));
            } else {
                late.push(s);
            }
        }
        for s in late {
            self.place(s, column, needs);
        }
        edges.sort_unstable();
        edges.dedup();
        for (before, after) in edges {
            let edge = (self.place(before, column, needs), self.place(after, column, needs));
            needs.edges.push(edge);
        }
        for entry in &needs.entries[first..] {
            self.place[entry.switch as usize] = NONE;
        }
    }

    /// The place of the entry of a moved switch, which is added if need be.
    fn place(&mut self, s: usize, column: usize, needs: &mut Needs) -> u32 {
        if self.place[s] == NONE {
            self.place[s] = needs.entries.len() as u32;
            let late = self.old.serves(s) && !self.new.serves(s);
            needs.entries.push(Entry { switch: s as u32, column: column as u32, late });
        }
        self.place[s]
    }

    /// Finds the components of old and new ways together.
    fn find_components(&mut self) {
        self.component.fill(NONE);
        let Pair { old, new, moved, component, .. } = self;
        let next = |s: u32| {
            let both = [old.next[s as usize], new.next[s as usize]];
            both.into_iter().filter(|&to| to < HOME)
        };
        let starts = moved.iter().map(|&s| s as u32);
        let mut number = 0;
        let all: ControlFlow<()> = components(old.next.len(), starts, next, |switches| {
            if switches.len() > 1 {
                for &s in switches {
                    component[s as usize] = number;
                }
                number += 1;
            }
            ControlFlow::Continue(())
        });
        debug_assert!(all.is_continue());
    }
}
