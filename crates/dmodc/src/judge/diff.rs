//! Differences between two tables of one fabric, and the pairs whose packets take another path.
//!
//! Entries are compared switch by switch; [`super::moved`] follows the pairs, and [`super::forced()`] counts what
//! any new tables would have changed.

use super::blocks::Blocks;
use super::moved;
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::parallel;
use crate::rank::Ranking;
use crate::tables::{ForwardingTables, NO_ROUTE, Tile};

/// Numbers of differences in the tables of some switches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableChanges {
    /// Entries that differ.
    pub entries: u64,
    /// Those among them that only the new tables have.
    pub set: u64,
    /// Those among them that only the old tables have.
    pub unset: u64,
    /// Blocks of 64 LIDs with at least one such entry: what a subnet manager sends.
    pub blocks: u64,
    /// Switches with at least one such entry.
    pub switches: u64,
}

impl TableChanges {
    fn add(&mut self, other: &TableChanges) {
        self.entries += other.entries;
        self.set += other.set;
        self.unset += other.unset;
        self.blocks += other.blocks;
        self.switches += other.switches;
    }
}

/// The differences on one level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelChanges {
    /// The rank of its switches; `None` for those that no leaf can be reached from.
    pub rank: Option<u32>,
    /// How many live switches it has.
    pub switches: u64,
    /// The differences in their tables.
    pub changes: TableChanges,
}

/// The differences of two tables. The rows of dead switches do not count: nobody sends them anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// The differences in all tables.
    pub changes: TableChanges,
    /// The same for each rank; switches without a rank come last.
    pub levels: Vec<LevelChanges>,
    /// The switches whose tables differ, ascending by index.
    pub switches: Vec<(SwitchIndex, TableChanges)>,
    /// Ordered pairs of live nodes (aggregation nodes do not count) whose path differs for any LID of the destination.
    pub pairs: u64,
    /// How much was compared.
    pub of: Sizes,
}

impl Diff {
    /// Returns whether the tables are the same.
    pub fn is_empty(&self) -> bool {
        self.switches.is_empty()
    }
}

/// How much was compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// Live switches times columns.
    pub entries: u64,
    /// Blocks that hold the LID of a destination, of every live switch.
    pub blocks: u64,
    /// Live switches.
    pub switches: u64,
    /// Ordered pairs of live nodes; aggregation nodes do not count.
    pub pairs: u64,
}

/// Returns the differences of two tables of a fabric. O(#columns × #switches).
///
/// # Panics
/// If the tables differ in their columns, or belong to another fabric.
pub fn diff(
    live: Live<'_>,
    ranking: &Ranking,
    old: &ForwardingTables,
    new: &ForwardingTables,
) -> Diff {
    assert_eq!(old.columns(), new.columns(), "only tables with the same columns are compared");
    assert_eq!(old.switch_count(), live.fabric.switches().len(), "tables of another fabric");
    assert_eq!(new.switch_count(), live.fabric.switches().len(), "tables of another fabric");
    let blocks = Blocks::new(old.columns());
    let live_switches: Vec<SwitchIndex> = live.switches().collect();
    let rows = rows(&live_switches, old, new, &blocks);
    let count = live_switches.len() as u64;
    let mut diff = Diff {
        of: Sizes {
            entries: count * old.columns().len() as u64,
            blocks: count * blocks.count as u64,
            switches: count,
            pairs: 0,
        },
        levels: levels(&live_switches, ranking, &rows.switches),
        ..Diff::default()
    };
    for (_, changes) in &rows.switches {
        diff.changes.add(changes);
    }
    (diff.pairs, diff.of.pairs) = moved::pairs(live, old, new, &rows.touched);
    diff.switches = rows.switches;
    diff
}

/// The differences of some rows.
struct RowDifferences {
    /// The switches that differ, ascending.
    switches: Vec<(SwitchIndex, TableChanges)>,
    /// Whether any entry of a column differs.
    touched: Vec<bool>,
}

impl RowDifferences {
    fn and(mut self, later: RowDifferences) -> RowDifferences {
        self.switches.extend(later.switches);
        for (a, b) in self.touched.iter_mut().zip(later.touched) {
            *a |= b;
        }
        self
    }
}

/// Returns the differences of the rows of these switches.
fn rows(
    switches: &[SwitchIndex],
    old: &ForwardingTables,
    new: &ForwardingTables,
    blocks: &Blocks,
) -> RowDifferences {
    let tiles: Vec<Tile> = old.columns().tiles().collect();
    let none = || RowDifferences { switches: vec![], touched: vec![false; old.columns().len()] };
    let chunk = parallel::piece_length(switches.len(), 4);
    let compare = |switches: &[SwitchIndex]| {
        let mut rows = none();
        let mut sent = vec![false; blocks.count];
        for &s in switches {
            let mut changes = TableChanges::default();
            for tile in &tiles {
                let (old, new) = (old.row(s, tile), new.row(s, tile));
                let differing = (0..old.len()).filter(|&at| old[at] != new[at]);
                for at in differing {
                    let column = tile.columns.start + at;
                    changes.entries += 1;
                    changes.set += u64::from(old[at] == NO_ROUTE);
                    changes.unset += u64::from(new[at] == NO_ROUTE);
                    rows.touched[column] = true;
                    sent[blocks.of_column[column] as usize] = true;
                }
            }
            if changes.entries > 0 {
                changes.blocks = sent.iter().filter(|&&sent| sent).count() as u64;
                changes.switches = 1;
                rows.switches.push((s, changes));
                sent.fill(false);
            }
        }
        rows
    };
    parallel::map(switches.chunks(chunk), compare).into_iter().fold(none(), RowDifferences::and)
}

/// Returns the changes, added up by rank.
fn levels(
    live: &[SwitchIndex],
    ranking: &Ranking,
    changed: &[(SwitchIndex, TableChanges)],
) -> Vec<LevelChanges> {
    let unranked = ranking.levels() as usize;
    let place = |s: SwitchIndex| ranking.rank(s).map_or(unranked, |rank| rank as usize);
    let mut levels: Vec<LevelChanges> = (0..ranking.levels())
        .map(Some)
        .chain([None])
        .map(|rank| LevelChanges { rank, switches: 0, changes: TableChanges::default() })
        .collect();
    for &s in live {
        levels[place(s)].switches += 1;
    }
    for (s, changes) in changed {
        levels[place(*s)].changes.add(changes);
    }
    levels.retain(|level| level.switches > 0);
    levels
}
