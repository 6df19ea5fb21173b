//! Which pairs take another path under new tables.
//!
//! A pair's path is the ports its packets are sent out of, switch by switch, until they arrive or can go no
//! further. Two tables give a pair the same path exactly if their entries agree at every switch on the
//! way; so for each destination a switch's packets are moved if its own entry differs, or if those of
//! the switch it sends them to are. Every switch is settled once a column: O(#columns × #switches)
//! for all pairs.

use rayon::prelude::*;

use super::check::ends;
use crate::fabric::{Live, Peer};
use crate::id::{PortNumber, SwitchIndex};
use crate::tables::{Columns, End, ForwardingTables, Tile};

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
    let chunk = ends.len().div_ceil(rayon::current_num_threads() * 8).max(1);
    let moved = ends.par_chunks(chunk).map(|ends| {
        let mut walk = Walk::new(&hops);
        let to = |(end, columns): &(End, Vec<usize>)| {
            walk.moved_to(end.switch(fabric), columns, &sources, &tiles)
        };
        ends.iter().map(to).sum::<u64>()
    });
    (moved.sum(), of)
}

/// Nothing follows: the packet arrives, or is lost.
const END: u32 = u32::MAX;

/// The switch that every entry leads to; looking it up in the fabric anew for every step would take
/// most of the time.
struct Hops(Vec<[u32; 256]>);

impl Hops {
    fn new(live: Live<'_>) -> Self {
        let hops = |s: SwitchIndex| {
            let mut hops = [END; 256];
            for (port, hop) in (1..=254u8).zip(&mut hops[1..]) {
                if let Peer::Switch(to, _) = live.peer(s, PortNumber(port)) {
                    *hop = to.at() as u32;
                }
            }
            hops
        };
        Hops(live.fabric.switch_indices().map(hops).collect())
    }
}

/// The entries of both tables, by tile.
struct Tiles<'a> {
    columns: &'a Columns,
    tiles: Vec<(Tile, &'a [u8], &'a [u8])>,
}

impl<'a> Tiles<'a> {
    fn new(old: &'a ForwardingTables, new: &'a ForwardingTables) -> Self {
        let both = old.tiles().zip(new.tiles());
        let tiles = both.map(|((tile, old), (_, new))| (tile, old, new)).collect();
        Tiles { columns: old.columns(), tiles }
    }

    fn column(&self, column: usize) -> Entries<'a> {
        let (tile, old, new) = &self.tiles[self.columns.tile_of(column)];
        let at = column - tile.columns.start;
        Entries { old: &old[at..], new: &new[at..], width: tile.columns.len() }
    }
}

/// The entries of one column in both tables: those of a switch stand a tile's width after those of the one before.
struct Entries<'a> {
    old: &'a [u8],
    new: &'a [u8],
    width: usize,
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
        Walk { hops, states: vec![State::Unseen; hops.0.len()], way: vec![] }
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
            let next = self.hops.0[at][old as usize];
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
