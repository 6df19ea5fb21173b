//! The writes of a plan, block by block.

use std::collections::BTreeMap;

use super::super::blocks::block;
use super::needs::{Entry, Ground};
use super::{BlockWrite, UploadPlan, UploadRound};
use crate::id::SwitchIndex;
use crate::parallel;
use crate::tables::{ForwardingTables, Tile};

/// The writes at one switch, and the columns that they write.
type AtSwitch = (Vec<BlockWrite>, Vec<u32>);

/// All writes that make new tables of old ones. Entries that nothing is asked of are written with the
/// first write of their block; where there is none, in the first round.
pub(super) fn writes(
    ground: &Ground<'_>,
    old: &ForwardingTables,
    new: &ForwardingTables,
    entries: &[Entry],
    rounds: &[u32],
) -> UploadPlan {
    let tiles: Vec<Tile> = old.columns().tiles().collect();
    let lid = |column: usize| ground.columns.destinations()[column].lid;
    let mut told: Vec<(u32, u32, u32)> =
        entries.iter().zip(rounds).map(|(e, &round)| (e.switch, e.column, round)).collect();
    told.sort_unstable();
    let at_switch = |&s: &usize| -> AtSwitch {
        let first = told.partition_point(|t| (t.0 as usize) < s);
        let told = &told[first..told.partition_point(|t| (t.0 as usize) <= s)];
        let mut first_of_block: BTreeMap<u32, u32> = BTreeMap::new();
        for &(_, column, round) in told {
            let first = first_of_block.entry(block(lid(column as usize))).or_insert(round);
            *first = round.min(*first);
        }
        let s = SwitchIndex::new(s);
        // UploadRound, LID, column: in the order of the writes.
        let mut written: Vec<(u32, u32, u32)> = vec![];
        for tile in &tiles {
            let (old, new) = (old.row(s, tile), new.row(s, tile));
            for at in (0..old.len()).filter(|&at| old[at] != new[at]) {
                let column = tile.columns.start + at;
                let lid = lid(column);
                let round = match told.binary_search_by_key(&(column as u32), |t| t.1) {
                    Ok(at) => told[at].2,
                    Err(_) => first_of_block.get(&block(lid)).copied().unwrap_or(1),
                };
                written.push((round, lid.0, column as u32));
            }
        }
        written.sort_unstable();
        let key = |&(round, lid, _): &(u32, u32, u32)| (round, block(crate::Lid(lid)));
        let mut start = 0;
        let each = written.chunk_by(|a, b| key(a) == key(b)).map(|entries| {
            let (round, block) = key(&entries[0]);
            start += entries.len();
            BlockWrite { round, switch: s, block, entries: start - entries.len()..start }
        });
        (each.collect(), written.iter().map(|w| w.2).collect())
    };
    let pieces: Vec<AtSwitch> = parallel::map(&ground.switches, at_switch);
    let mut plan = UploadPlan::default();
    for (writes, columns) in pieces {
        let first = plan.columns.len();
        plan.blocks += first_writes(&writes);
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

/// How many different blocks are written at one switch.
fn first_writes(writes: &[BlockWrite]) -> u64 {
    let mut blocks: Vec<u32> = writes.iter().map(|w| w.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    blocks.len() as u64
}
