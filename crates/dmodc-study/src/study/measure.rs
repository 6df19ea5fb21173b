//! What is measured of one table: its risks, and what an update to it moves.

use dmodc::judge::risk::{Series, Traffic};
use dmodc::{ForwardingTables, Live, Routing};

use super::plan::Pattern;
use super::rows::Row;

/// Writes the risk of a pattern into a row.
pub(super) fn risk(traffic: &Traffic<'_>, pattern: Pattern, seed: Option<u64>, row: &mut Row) {
    match pattern {
        Pattern::AllToAll => {
            let loads = traffic.all_to_all();
            row.set("max", loads.max());
            row.set("mean", loads.mean());
            row.set("bound", loads.bound);
        }
        Pattern::Permutations(count) => {
            series(&traffic.permutations(count, seed.unwrap_or(0)), row);
        }
        Pattern::Shifts(sample) => series(&traffic.shifts(sample.zip(seed)), row),
    }
}

fn series(series: &Series, row: &mut Row) {
    row.set("max", series.max());
    row.set("mean", series.mean());
    row.set("median", series.median());
    row.set("min", series.min());
    row.set("bound", series.max_bound());
    row.set("bound_mean", series.mean_bound());
    row.set("bound_median", series.median_bound());
}

/// Whoever sends over these tables.
pub(super) fn traffic<'a>(
    live: Live<'a>,
    routing: &Routing,
    tables: &'a ForwardingTables,
) -> Traffic<'a> {
    Traffic::new(live, &routing.ranking(live), routing.orders(), tables)
}

/// What an update moves: on live switches, as nobody sends the dead anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Update {
    pub(super) entries: u64,
    pub(super) blocks: u64,
    pub(super) entries_total: u64,
    pub(super) blocks_total: u64,
}

/// A subnet manager sends the entries of so many successive LIDs at once.
const BLOCK_OF_LIDS: u32 = 64;

impl Update {
    pub(super) fn new(live: Live<'_>, old: &ForwardingTables, new: &ForwardingTables) -> Self {
        let columns = new.columns();
        let block = |column: usize| columns.destinations()[column].lid.0 / BLOCK_OF_LIDS;
        let mut all: Vec<u32> = (0..columns.len()).map(block).collect();
        all.sort_unstable();
        all.dedup();
        let (mut update, mut blocks) = (Update::default(), Vec::new());
        for s in live.switches() {
            blocks.clear();
            for tile in columns.tiles() {
                let entries = old.row(s, &tile).iter().zip(new.row(s, &tile));
                let moved = tile.columns.clone().zip(entries).filter(|(_, (old, new))| old != new);
                blocks.extend(moved.map(|(column, _)| block(column)));
            }
            update.entries += blocks.len() as u64;
            blocks.sort_unstable();
            blocks.dedup();
            update.blocks += blocks.len() as u64;
            update.entries_total += columns.len() as u64;
            update.blocks_total += all.len() as u64;
        }
        update
    }
}

#[cfg(test)]
mod tests {
    use dmodc::{Degradation, Dmodc, Pgft, PortNumber, SwitchIndex};

    use super::*;

    #[test]
    fn updates_count_entries_and_blocks_of_live_switches() {
        // 12 nodes and 16 switches: the LIDs 1 to 28 are one block.
        let pgft: Pgft = "3; 2,2,3; 1,2,2; 1,2,1".parse().expect("a tuple");
        let fabric = pgft.fabric(Default::default());
        let mut dead = Degradation::none(&fabric);
        let routing = Routing::new(Live::new(&fabric, &dead), &Default::default());
        let (old, _) = routing.route(Live::new(&fabric, &dead), &Dmodc).expect("a healthy PGFT");
        let mut new = old.clone();
        let switch = SwitchIndex::new;
        for (s, column) in [(0, 0), (0, 5), (3, 27), (4, 1)] {
            new.set(switch(s), column, Some(PortNumber(99)));
        }
        let update = Update::new(Live::new(&fabric, &dead), &old, &new);
        let expected = Update { entries: 4, blocks: 3, entries_total: 16 * 28, blocks_total: 16 };
        assert_eq!(update, expected);
        dead.set_switch(switch(0), true);
        let update = Update::new(Live::new(&fabric, &dead), &old, &new);
        let expected = Update { entries: 2, blocks: 2, entries_total: 15 * 28, blocks_total: 15 };
        assert_eq!(update, expected);
    }
}
