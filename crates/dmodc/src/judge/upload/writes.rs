//! From the rounds of entries to the writes of blocks.

use std::collections::BTreeMap;

use super::super::blocks::block;
use super::needs::{OrderedEntry, Surroundings};
use super::{BlockWrite, UploadPlan, UploadRound};
use crate::id::{Lid, SwitchIndex};
use crate::parallel;
use crate::tables::{ForwardingTables, Tile};

/// The writes at one switch, and the columns that they change.
struct SwitchWrites {
    writes: Vec<BlockWrite>,
    columns: Vec<u32>,
}

/// An entry that becomes new. Entries sort in the order in which they are written.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct WrittenEntry {
    round: u32,
    lid: Lid,
    column: u32,
}

impl WrittenEntry {
    /// Returns the write that the entry belongs to.
    fn round_and_block(&self) -> (u32, u32) {
        (self.round, block(self.lid))
    }
}

/// Returns the plan of all writes that make new tables of old ones. `entries` are those that need an order, and
/// `rounds` their rounds. All other entries are written with the first write of their block; where there is none, in
/// the first round.
pub(super) fn writes(
    surroundings: &Surroundings<'_>,
    old: &ForwardingTables,
    new: &ForwardingTables,
    entries: &[OrderedEntry],
    rounds: &[u32],
) -> UploadPlan {
    let tiles: Vec<Tile> = old.columns().tiles().collect();
    let lid = |column: usize| surroundings.columns.destinations()[column].lid;
    // Switch, column, round.
    let mut ordered: Vec<(u32, u32, u32)> =
        entries.iter().zip(rounds).map(|(e, &round)| (e.switch, e.column, round)).collect();
    ordered.sort_unstable();
    let at_switch = |&s: &usize| -> SwitchWrites {
        let first = ordered.partition_point(|o| (o.0 as usize) < s);
        let ordered = &ordered[first..ordered.partition_point(|o| (o.0 as usize) <= s)];
        let mut first_of_block: BTreeMap<u32, u32> = BTreeMap::new();
        for &(_, column, round) in ordered {
            let first = first_of_block.entry(block(lid(column as usize))).or_insert(round);
            *first = round.min(*first);
        }
        let s = SwitchIndex::new(s);
        let mut written: Vec<WrittenEntry> = vec![];
        for tile in &tiles {
            let (old, new) = (old.row(s, tile), new.row(s, tile));
            for at in (0..old.len()).filter(|&at| old[at] != new[at]) {
                let column = tile.columns.start + at;
                let lid = lid(column);
                let round = match ordered.binary_search_by_key(&(column as u32), |o| o.1) {
                    Ok(at) => ordered[at].2,
                    Err(_) => first_of_block.get(&block(lid)).copied().unwrap_or(1),
                };
                written.push(WrittenEntry { round, lid, column: column as u32 });
            }
        }
        switch_writes(s, written)
    };
    assemble(parallel::map(&surroundings.switches, at_switch))
}

/// Returns the writes at one switch that change these entries.
fn switch_writes(switch: SwitchIndex, mut written: Vec<WrittenEntry>) -> SwitchWrites {
    written.sort_unstable();
    let same = |a: &WrittenEntry, b: &WrittenEntry| a.round_and_block() == b.round_and_block();
    let mut start = 0;
    let writes = written.chunk_by(same).map(|entries| {
        let (round, block) = entries[0].round_and_block();
        start += entries.len();
        BlockWrite { round, switch, block, entries: start - entries.len()..start }
    });
    SwitchWrites { writes: writes.collect(), columns: written.iter().map(|w| w.column).collect() }
}

/// Returns the plan of the writes at all switches.
fn assemble(switches: Vec<SwitchWrites>) -> UploadPlan {
    let mut plan = UploadPlan::default();
    for SwitchWrites { writes, columns } in switches {
        let first = plan.columns.len();
        plan.blocks += distinct_blocks(&writes);
        plan.switches += u64::from(!writes.is_empty());
        plan.writes.extend(writes.into_iter().map(|w| {
            let entries = w.entries.start + first..w.entries.end + first;
            BlockWrite { entries, ..w }
        }));
        plan.columns.extend(columns);
    }
    plan.writes.sort_unstable_by_key(|w| (w.round, w.switch, w.block));
    for writes in plan.writes.chunk_by(|a, b| a.round == b.round) {
        plan.rounds.push(UploadRound {
            switches: writes.chunk_by(|a, b| a.switch == b.switch).count() as u64,
            blocks: writes.len() as u64,
            entries: writes.iter().map(|w| w.entries.len() as u64).sum(),
        });
    }
    plan
}

/// Returns how many different blocks are written at one switch.
fn distinct_blocks(writes: &[BlockWrite]) -> u64 {
    let mut blocks: Vec<u32> = writes.iter().map(|w| w.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks.len() as u64
}
