//! Which pairs take another path under new tables.
//!
//! The path of a pair is the list of ports that its packets are sent out of, switch by switch, until they arrive or can
//! go no further. Two tables give a pair the same path exactly if their entries agree at every switch on the path. So
//! for each destination the packets of a switch are *moved* if its own entry differs, or if the packets of the switch
//! that it sends them to are moved. Every switch is settled once for each column, which is O(#columns × #switches) for
//! all pairs.

use super::check::ends;
use super::entries::{ColumnEntries, END, EntryHops, TablePair};
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::parallel;
use crate::tables::{End, ForwardingTables};

/// Returns how many ordered pairs of live nodes are moved for any LID of the destination, and how many pairs there are.
/// Aggregation nodes do not count. `touched` holds for each column whether any entry differs.
pub(super) fn pairs(
    live: Live<'_>,
    old: &ForwardingTables,
    new: &ForwardingTables,
    touched: &[bool],
) -> (u64, u64) {
    let fabric = live.fabric;
    let is_node = |n| !fabric.is_aggregation(n);
    let sources: Vec<(SwitchIndex, u64)> = live
        .switches()
        .map(|s| (s, live.nodes(s).filter(|&n| is_node(n)).count() as u64))
        .filter(|&(_, nodes)| nodes > 0)
        .collect();
    let nodes: u64 = sources.iter().map(|(_, nodes)| nodes).sum();
    let mut ends = ends(live, old.columns());
    ends.retain(|(end, _)| matches!(end, End::Node(n) if is_node(*n)));
    let of = ends.len() as u64 * nodes.saturating_sub(1);
    for (_, columns) in &mut ends {
        columns.retain(|&column| touched[column]);
    }
    ends.retain(|(_, columns)| !columns.is_empty());
    let (hops, tables) = (EntryHops::new(live), TablePair::new(old, new));
    let chunk = parallel::piece_length(ends.len(), 8);
    let moved = parallel::map(ends.chunks(chunk), |ends| {
        let mut walk = MovedWalk::new(&hops);
        let to = |(end, columns): &(End, Vec<usize>)| {
            walk.moved_to(end.switch(fabric), columns, &sources, &tables)
        };
        ends.iter().map(to).sum::<u64>()
    });
    (moved.into_iter().sum(), of)
}

/// What is known of the packets from a switch.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathState {
    Unseen,
    Still,
    Moved,
}

/// The walk for one column after another. The arrays are kept between columns.
struct MovedWalk<'a> {
    hops: &'a EntryHops,
    states: Vec<PathState>,
    way: Vec<usize>,
}

impl<'a> MovedWalk<'a> {
    fn new(hops: &'a EntryHops) -> Self {
        MovedWalk { hops, states: vec![PathState::Unseen; hops.len()], way: vec![] }
    }

    /// Returns how many nodes are moved on their way to a node on `home` that has these columns.
    fn moved_to(
        &mut self,
        home: SwitchIndex,
        columns: &[usize],
        sources: &[(SwitchIndex, u64)],
        tables: &TablePair<'_>,
    ) -> u64 {
        let mut moved = vec![false; sources.len()];
        for &column in columns {
            self.states.fill(PathState::Unseen);
            let entries = tables.column(column);
            for (moved, (s, _)) in moved.iter_mut().zip(sources) {
                *moved = *moved || self.is_moved(*s, &entries);
            }
        }
        // A destination sends nothing to itself.
        let nodes = |&(s, nodes): &(SwitchIndex, u64)| nodes - u64::from(s == home);
        let moved = sources.iter().zip(moved).filter(|(_, moved)| *moved);
        moved.map(|(source, _)| nodes(source)).sum()
    }

    /// Returns whether packets from this switch take another path. A switch that the walk has passed counts as not moved
    /// until a difference is met, so that a loop that both tables have ends the walk.
    fn is_moved(&mut self, from: SwitchIndex, entries: &ColumnEntries<'_>) -> bool {
        self.way.clear();
        let mut at = from.at();
        while self.states[at] == PathState::Unseen {
            self.way.push(at);
            let (old, new) = (entries.old[at * entries.width], entries.new[at * entries.width]);
            self.states[at] = if old == new { PathState::Still } else { PathState::Moved };
            let next = self.hops.next(at, old);
            if old != new || next == END {
                break;
            }
            at = next as usize;
        }
        let state = self.states[at];
        for &passed in &self.way {
            self.states[passed] = state;
        }
        state == PathState::Moved
    }
}
