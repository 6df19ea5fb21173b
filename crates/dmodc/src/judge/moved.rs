//! Which pairs take another path under new tables.
//!
//! A pair's path is the ports its packets are sent out of, switch by switch, until they arrive or can go no
//! further. Two tables give a pair the same path exactly if their entries agree at every switch on the
//! way; so for each destination a switch's packets are moved if its own entry differs, or if those of
//! the switch it sends them to are. Every switch is settled once a column: O(#columns × #switches)
//! for all pairs.

use super::check::ends;
use super::entries::{END, Entries, Hops, Tiles};
use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::parallel;
use crate::tables::{End, ForwardingTables};

/// How many ordered pairs of live nodes, aggregation nodes aside, are moved for any LID of the destination, and
/// how many there are. `touched` says in which columns any entry differs.
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
    let (hops, tiles) = (Hops::new(live), Tiles::new(old, new));
    let chunk = parallel::piece_length(ends.len(), 8);
    let moved = parallel::map(ends.chunks(chunk), |ends| {
        let mut walk = Walk::new(&hops);
        let to = |(end, columns): &(End, Vec<usize>)| {
            walk.moved_to(end.switch(fabric), columns, &sources, &tiles)
        };
        ends.iter().map(to).sum::<u64>()
    });
    (moved.into_iter().sum(), of)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Unseen,
    Still,
    Moved,
}

/// The walk for one column after another; keeps its arrays.
struct Walk<'a> {
    hops: &'a Hops,
    states: Vec<State>,
    way: Vec<usize>,
}

impl<'a> Walk<'a> {
    fn new(hops: &'a Hops) -> Self {
        Walk { hops, states: vec![State::Unseen; hops.len()], way: vec![] }
    }

    /// How many nodes are moved on their way to a node on `home` that has these columns.
    fn moved_to(
        &mut self,
        home: SwitchIndex,
        columns: &[usize],
        sources: &[(SwitchIndex, u64)],
        tiles: &Tiles<'_>,
    ) -> u64 {
        let mut moved = vec![false; sources.len()];
        for &column in columns {
            self.states.fill(State::Unseen);
            let entries = tiles.column(column);
            for (moved, (s, _)) in moved.iter_mut().zip(sources) {
                *moved = *moved || self.is_moved(*s, &entries);
            }
        }
        // A destination sends nothing to itself.
        let nodes = |&(s, nodes): &(SwitchIndex, u64)| nodes - u64::from(s == home);
        let moved = sources.iter().zip(moved).filter(|(_, moved)| *moved);
        moved.map(|(source, _)| nodes(source)).sum()
    }

    /// Whether packets from this switch take another path. Whatever the walk passes is taken to be still until a
    /// difference is met, so that a loop that both tables have ends the walk, unmoved.
    fn is_moved(&mut self, from: SwitchIndex, entries: &Entries<'_>) -> bool {
        self.way.clear();
        let mut at = from.at();
        while self.states[at] == State::Unseen {
            self.way.push(at);
            let (old, new) = (entries.old[at * entries.width], entries.new[at * entries.width]);
            self.states[at] = if old == new { State::Still } else { State::Moved };
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
        state == State::Moved
    }
}
