//! The limit of an update: rewriting the entries that a change moves, at places that are known beforehand.
//!
//! An update has to find out which entries change. The yardstick is given a list of them, and only reads, changes and writes
//! each one, with the same threads. In large tables most of that time is waiting for memory, because the entries are
//! far apart. It is to an update what `memset` is to a whole re-route.

use std::time::Duration;

use dmodc::{ForwardingTables, TableDelta, parallel};

use super::times::timed;

/// The size of a cache line.
const LINE: usize = 64;

/// An entry that a change moved.
struct RewrittenEntry {
    /// The place in the tile of the entry.
    place: u32,
    /// The bits that differ between the old port and the new one.
    flipped: u8,
}

/// The entries that a change moved, by tile, in the order of places.
pub(super) struct RewrittenEntries {
    by_tile: Vec<Vec<RewrittenEntry>>,
}

impl RewrittenEntries {
    /// Compares the rows that a change touched.
    pub(super) fn new(
        before: &ForwardingTables,
        delta: &TableDelta,
        now: &ForwardingTables,
    ) -> Self {
        let columns = now.columns();
        let mut by_tile: Vec<Vec<RewrittenEntry>> = columns.tiles().map(|_| vec![]).collect();
        for row in delta.rows() {
            let tile = columns.tile(row.tile as usize);
            let first = row.switch.at() * tile.columns.len();
            let rows = before.row(row.switch, &tile).iter().zip(now.row(row.switch, &tile));
            let changed = rows.enumerate().filter(|(_, (old, new))| old != new);
            by_tile[tile.index].extend(changed.map(|(at, (old, new))| RewrittenEntry {
                place: u32::try_from(first + at).expect("a tile has fewer than 2³² entries"),
                flipped: old ^ new,
            }));
        }
        RewrittenEntries { by_tile }
    }

    /// Returns the number of entries.
    pub(super) fn entries(&self) -> usize {
        self.by_tile.iter().map(Vec::len).sum()
    }

    /// Returns the number of different cache lines that they are on. Every tile begins with a cache line.
    pub(super) fn lines(&self) -> usize {
        let line = |entry: &RewrittenEntry| entry.place as usize / LINE;
        let of_tile =
            |entries: &Vec<RewrittenEntry>| entries.chunk_by(|a, b| line(a) == line(b)).count();
        self.by_tile.iter().map(of_tile).sum()
    }

    /// Rewrites the entries: from the old ports to the new ones or back. Returns the time.
    pub(super) fn rewrite(&self, tables: &mut ForwardingTables) -> Duration {
        let tiles: Vec<_> = tables.tiles_mut().into_iter().zip(&self.by_tile).collect();
        timed(|| {
            parallel::for_each(tiles, |((_, bytes), entries)| {
                for entry in entries {
                    bytes[entry.place as usize] ^= entry.flipped;
                }
            });
        })
    }
}

#[cfg(test)]
mod tests {
    use dmodc::fabric::Part;
    use dmodc::{Change, Pgft, Router, SwitchIndex};

    use super::*;

    /// Rewriting the old tables gives the new ones, and a second time the old ones; the counts are those of a plain loop.
    #[test]
    fn rewriting_gives_the_tables_of_the_update() {
        let pgft: Pgft = "3; 4,6,14; 1,4,4; 1,1,1".parse().expect("a PGFT");
        let mut router = Router::of(pgft.fabric(Default::default())).expect("a router");
        let mut tables = router.tables().clone();
        let top = SwitchIndex::new(router.fabric().switches().len() - 1);
        let delta = router.apply(&[Change::Dies(Part::Switch(top))]).expect("an update");
        let rewritten = RewrittenEntries::new(&tables, &delta, router.tables());
        let mut lines = std::collections::BTreeSet::new();
        for ((tile, old), (_, new)) in tables.tiles().zip(router.tables().tiles()) {
            for at in (0..old.len()).filter(|&at| old[at] != new[at]) {
                lines.insert((tile.index, at / LINE));
            }
        }
        assert_eq!(rewritten.entries() as u64, delta.entry_count());
        assert_eq!(rewritten.entries(), tables.differing(router.tables()));
        assert_eq!(rewritten.lines(), lines.len());
        assert!(rewritten.lines() > 0);
        let before = tables.clone();
        rewritten.rewrite(&mut tables);
        assert_eq!(tables, *router.tables());
        rewritten.rewrite(&mut tables);
        assert_eq!(tables, before);
    }
}
