//! Forced changes: entries of the old tables that the present fabric does not allow any more, so that any update has to
//! change them.
//!
//! An entry may stay if its port is among the alternative ports P(s, d) of the present fabric; every routing along the
//! closer sets changes all others. So the entries that an update changes, divided by the forced ones, show how far it
//! is from the least possible. In short, where e is the old entry and d is alive:
//!
//! | P(s, d) | e has a port | e has no route |
//! |---|---|---|
//! | not empty | forced unless the port is in P(s, d) | forced: it is newly set |
//! | empty | forced, unless the new tables have a route here, too, and the old one still arrives | may stay |
//!
//! The last case is about routes that are not up\*down\*, as between two roots: whoever makes such routes, with
//! `--connect-roots` or by an engine of OpenSM, may keep them; whoever makes none takes them away. Towards a
//! destination that is dead every entry with a port is forced.
//!
//! The closer sets of a switch for 64 destination switches become one mask for each of its ports, so an
//! entry is a look into 256 words: O(#columns × #switches), little more than comparing two tables.

use std::sync::atomic::{AtomicU64, Ordering};

use super::blocks::Blocks;
use super::{Fate, trace};
use crate::cost::{CloserSets, TileCosts, TooFar};
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::parallel;
use crate::preprocess::Preprocessing;
use crate::route::RouteJob;
use crate::tables::{ForwardingTables, NO_ROUTE, Tile};

/// Numbers of changes that any new tables would have to make on live switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forced {
    /// Entries that cannot stay.
    pub entries: u64,
    /// Blocks of 64 LIDs with at least one of them.
    pub blocks: u64,
    /// Those of these entries that the new tables change. Damaged tables may keep entries that cannot stay.
    pub changed_entries: u64,
    /// Blocks with at least one entry that cannot stay and that the new tables change.
    pub changed_blocks: u64,
}

/// Returns the number of entries of old tables that no routing along the closer sets of the present fabric can keep.
/// Where closer sets are empty, it depends on whether the new tables have a route there.
///
/// # Errors
/// If a route is longer than costs can count.
///
/// # Panics
/// If the tables differ in their columns, or belong to another fabric.
pub fn forced(
    live: Live<'_>,
    ready: &Preprocessing,
    old: &ForwardingTables,
    new: &ForwardingTables,
) -> Result<Forced, TooFar> {
    assert_eq!(old.columns(), new.columns(), "only tables with the same columns are compared");
    assert_eq!(old.switch_count(), live.fabric.switches().len(), "tables of another fabric");
    assert_eq!(new.switch_count(), live.fabric.switches().len(), "tables of another fabric");
    let job = RouteJob::new(live, ready, old.columns());
    let blocks = Blocks::new(job.columns);
    let [sent, changed] = [(); 2].map(|()| SentBlocks::new(old.switch_count(), blocks.count));
    let counts = parallel::map_with(
        job.columns.tiles(),
        || ready.new_costs(),
        |costs, tile| {
            job.compute(&tile, costs)?;
            let mut rows = TileRows::new(&job, [old, new], &tile);
            let mut of_tile = Forced::default();
            for s in job.live.switches() {
                rows.forced(costs, s, |column| {
                    of_tile.entries += 1;
                    sent.mark(s, blocks.of_column[column]);
                    if old.port(s, column) != new.port(s, column) {
                        of_tile.changed_entries += 1;
                        changed.mark(s, blocks.of_column[column]);
                    }
                });
            }
            Ok(of_tile)
        },
    );
    let mut forced = Forced::default();
    for of_tile in counts {
        let of_tile: Forced = of_tile?;
        forced.entries += of_tile.entries;
        forced.changed_entries += of_tile.changed_entries;
    }
    Ok(Forced { blocks: sent.count(), changed_blocks: changed.count(), ..forced })
}

/// The rows of one tile.
struct TileRows<'a> {
    work: &'a RouteJob<'a>,
    old: &'a ForwardingTables,
    new: &'a ForwardingTables,
    tile: &'a Tile,
    /// The destination switch of each column, counted from the tile's first.
    targets: Vec<u8>,
    /// Columns that nobody can have a route to.
    dead: Vec<bool>,
    closer: CloserSets,
    /// For each possible entry, the destination switches for which it may stay.
    allowed: [u64; 256],
}

impl<'a> TileRows<'a> {
    fn new(work: &'a RouteJob<'a>, [old, new]: [&'a ForwardingTables; 2], tile: &'a Tile) -> Self {
        let (columns, switches) = (work.columns, tile.switches.clone());
        let target = |bit: usize| {
            std::iter::repeat_n(bit as u8, columns.of_switch(switches.start + bit).len())
        };
        let destinations = &columns.destinations()[tile.columns.clone()];
        TileRows {
            work,
            old,
            new,
            tile,
            targets: (0..switches.len()).flat_map(target).collect(),
            dead: destinations.iter().map(|d| !d.end.is_alive(work.live)).collect(),
            closer: CloserSets::default(),
            allowed: [0; 256],
        }
    }

    /// Calls `each` with every column whose entry at a live switch cannot stay.
    fn forced(&mut self, costs: &TileCosts, s: SwitchIndex, mut each: impl FnMut(usize)) {
        let (ready, live) = (self.work.ready, self.work.live);
        let TileRows { closer, allowed, .. } = self;
        ready.kernel.run(|| costs.closer(&ready.groups, s, closer));
        let (own, reached) = (closer.own, closer.up | closer.down | closer.own);
        allowed.fill(0);
        allowed[usize::from(NO_ROUTE)] = !reached;
        let up = ready.groups.up(s).zip(&closer.through_up);
        let down = ready.groups.down(s).zip(&closer.through_down);
        for (group, &through) in up.chain(down) {
            for port in group.ports {
                allowed[usize::from(port.0)] = through;
            }
        }
        for (at, &entry) in self.old.row(s, self.tile).iter().enumerate() {
            let target = self.targets[at];
            let column = self.tile.columns.start + at;
            let may_stay = if self.dead[at] {
                entry == NO_ROUTE
            } else if own >> target & 1 == 1 {
                // At the destination switch itself there is one port.
                self.work.columns.destinations()[column].port.0 == entry
            } else {
                self.allowed[usize::from(entry)] >> target & 1 == 1
                    || reached >> target & 1 == 0
                        && self.new.port(s, column).is_some()
                        && trace(live, self.old, s, column).1 == Fate::Delivered
            };
            if !may_stay {
                each(column);
            }
        }
    }
}

/// Blocks of switches that are to be sent: bits that all threads set.
struct SentBlocks {
    words: Vec<AtomicU64>,
    words_of_a_switch: usize,
}

impl SentBlocks {
    fn new(switches: usize, blocks: usize) -> Self {
        let words_of_a_switch = blocks.div_ceil(64);
        let words = (0..switches * words_of_a_switch).map(|_| AtomicU64::new(0)).collect();
        SentBlocks { words, words_of_a_switch }
    }

    fn mark(&self, s: SwitchIndex, block: u32) {
        let word = &self.words[s.at() * self.words_of_a_switch + block as usize / 64];
        let bit = 1 << (block % 64);
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    fn count(self) -> u64 {
        self.words.into_iter().map(|word| u64::from(word.into_inner().count_ones())).sum()
    }
}
