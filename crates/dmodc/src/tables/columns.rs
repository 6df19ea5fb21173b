//! The columns of forwarding tables: every destination, in the order that suits computing.
//!
//! Columns stand by destination switch (leaves first, in destination order), because all columns of
//! one destination switch share their closer sets; 64 destination switches make a [`Tile`]. Within a
//! destination switch come its nodes by number, then its other nodes, then the switch's own LID.

use std::ops::Range;

use crate::fabric::{Fabric, Live};
use crate::id::{Guid, Lid, NodeIndex, PortNumber, SwitchIndex};
use crate::order::Orders;

/// How many destination switches a [`Tile`] has at most: one bit of a word for each.
pub const BLOCK: usize = 64;

/// What a destination is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// A node (which may have several LIDs, so several columns).
    Node(NodeIndex),
    /// A switch, by its own LID.
    Switch(SwitchIndex),
}

impl End {
    /// Returns its GUID. For a node, this is the GUID of its port.
    pub fn guid(self, fabric: &Fabric) -> Guid {
        match self {
            End::Node(n) => fabric.node(n).guid,
            End::Switch(s) => fabric.switch(s).guid,
        }
    }

    /// Returns its description.
    pub fn name(self, fabric: &Fabric) -> &str {
        match self {
            End::Node(n) => &fabric.adapter_of(n).name,
            End::Switch(s) => &fabric.switch(s).name,
        }
    }

    /// Returns λ: the switch that it is, or that it is plugged into.
    pub fn switch(self, fabric: &Fabric) -> SwitchIndex {
        match self {
            End::Node(n) => fabric.node(n).switch,
            End::Switch(s) => s,
        }
    }

    /// Returns whether anybody can have a route to it. Failed ends keep their columns.
    pub fn is_alive(self, live: Live<'_>) -> bool {
        match self {
            End::Node(n) => live.node(n),
            End::Switch(s) => live.switch(s),
        }
    }
}

/// A destination: one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Its LID.
    pub lid: Lid,
    /// What it is.
    pub end: End,
    /// λ: the switch to reach.
    pub switch: SwitchIndex,
    /// The port of that switch that delivers; 0 for the switch itself.
    pub port: PortNumber,
    /// d: its number in its numbering (nodes on leaves, other nodes, or switches).
    pub number: u32,
    /// The index of this LID among the LIDs of the node; 0 for a switch.
    pub k: u8,
}

/// A block of columns: those of at most 64 destination switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Its place among the tiles.
    pub index: usize,
    /// Which destination switches of [`Columns::switches`].
    pub switches: Range<usize>,
    /// Which columns.
    pub columns: Range<usize>,
}

impl Tile {
    /// Returns a bit for each of its destination switches.
    pub(crate) fn targets(&self) -> u64 {
        u64::MAX >> (BLOCK - self.switches.len())
    }
}

/// Columns of one destination switch with consecutive numbers: their routes follow from the first
/// one's by counting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// First column, counted from the tile's first.
    pub(crate) start: u32,
    pub(crate) length: u32,
    /// `d` of the first.
    pub(crate) number: u32,
    /// The destination switch, counted from the tile's first.
    pub(crate) target: u8,
    pub(crate) k: u8,
}

/// The place of a destination switch among all: switches with nodes that are numbered as on leaves by the first such node,
/// then all others in switch order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SwitchPlace {
    WithNodesOnLeaf(u32),
    Other(u32),
}

/// All columns: destination switch by destination switch, in tiles of 64 of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    destinations: Vec<Destination>,
    switches: Vec<SwitchIndex>,
    /// The destination switches that have nodes, ascending by index.
    node_switches: Vec<SwitchIndex>,
    /// Columns of the i-th destination switch start at `starts[i]`.
    starts: Vec<u32>,
    /// Segments of the i-th destination switch start at `segment_starts[i]`.
    segments: Vec<Segment>,
    segment_starts: Vec<u32>,
    /// Which tile a column is in.
    tiles: Vec<u32>,
}

impl Columns {
    /// Returns a column for every LID of every node, and for every switch if `switch_lids` is set.
    pub fn new(fabric: &Fabric, orders: &Orders, switch_lids: bool) -> Self {
        let mut destinations: Vec<Destination> = Vec::new();
        for n in fabric.node_indices() {
            let node = fabric.node(n);
            for k in 0..1u8 << node.lmc {
                destinations.push(Destination {
                    lid: Lid(node.lid.0 + u32::from(k)),
                    end: End::Node(n),
                    switch: node.switch,
                    port: node.switch_port,
                    number: orders.node_number(n).number,
                    k,
                });
            }
        }
        if switch_lids {
            destinations.extend(fabric.switch_indices().map(|s| Destination {
                lid: fabric.switch(s).lid,
                end: End::Switch(s),
                switch: s,
                port: PortNumber::SELF,
                number: orders.switch_number(s),
                k: 0,
            }));
        }
        let mut places: Vec<SwitchPlace> =
            fabric.switch_indices().map(|s| SwitchPlace::Other(orders.position(s))).collect();
        for n in fabric.node_indices().filter(|&n| orders.node_number(n).on_leaf) {
            let place = &mut places[fabric.node(n).switch.at()];
            *place = (*place).min(SwitchPlace::WithNodesOnLeaf(orders.node_number(n).number));
        }
        destinations.sort_by_key(|d| {
            let kind = match d.end {
                End::Node(n) => u8::from(!orders.node_number(n).on_leaf),
                End::Switch(_) => 2,
            };
            (places[d.switch.at()], d.switch, kind, d.k, d.number)
        });
        Self::of(destinations)
    }

    /// Returns columns for these destinations; those of one destination switch must follow each other.
    pub fn of(destinations: Vec<Destination>) -> Self {
        let mut columns = Columns {
            switches: Vec::new(),
            node_switches: Vec::new(),
            starts: vec![0],
            segments: Vec::new(),
            segment_starts: vec![0],
            tiles: Vec::with_capacity(destinations.len()),
            destinations: Vec::new(),
        };
        let mut at = 0;
        for group in destinations.chunk_by(|a, b| a.switch == b.switch) {
            let (tile, target) = (columns.switches.len() / BLOCK, columns.switches.len() % BLOCK);
            if target == 0 {
                at = 0;
            }
            columns.switches.push(group[0].switch);
            if group.iter().any(|d| matches!(d.end, End::Node(_))) {
                columns.node_switches.push(group[0].switch);
            }
            columns.tiles.extend(std::iter::repeat_n(tile as u32, group.len()));
            columns.starts.push(columns.tiles.len() as u32);
            let follows = |a: &Destination, b: &Destination| {
                a.k == b.k && b.number == a.number.wrapping_add(1)
            };
            for part in group.chunk_by(follows) {
                columns.segments.push(Segment {
                    start: at,
                    length: part.len() as u32,
                    number: part[0].number,
                    target: target as u8,
                    k: part[0].k,
                });
                at += part.len() as u32;
            }
            columns.segment_starts.push(columns.segments.len() as u32);
        }
        columns.node_switches.sort_unstable();
        columns.destinations = destinations;
        columns
    }

    /// Returns how many columns there are.
    pub fn len(&self) -> usize {
        self.destinations.len()
    }

    /// Returns whether there is no destination at all.
    pub fn is_empty(&self) -> bool {
        self.destinations.is_empty()
    }

    /// Returns the destination of each column.
    pub fn destinations(&self) -> &[Destination] {
        &self.destinations
    }

    /// Returns the destination switches, in column order.
    pub fn switches(&self) -> &[SwitchIndex] {
        &self.switches
    }

    /// Returns the destination switches that have nodes, failed or not, aggregation nodes included; ascending by
    /// index.
    pub(crate) fn node_switches(&self) -> &[SwitchIndex] {
        &self.node_switches
    }

    /// Returns the columns of the i-th destination switch.
    #[inline]
    pub fn of_switch(&self, i: usize) -> Range<usize> {
        self.starts[i] as usize..self.starts[i + 1] as usize
    }

    /// Returns the columns of some destination switches of one tile, as segments of consecutive numbers.
    #[inline]
    pub(crate) fn segments(&self, switches: Range<usize>) -> &[Segment] {
        let (first, end) = (switches.start, switches.end);
        &self.segments[self.segment_starts[first] as usize..self.segment_starts[end] as usize]
    }

    /// Returns all tiles, in order.
    pub fn tiles(&self) -> impl ExactSizeIterator<Item = Tile> + '_ {
        (0..self.tile_count()).map(|i| self.tile(i))
    }

    /// Returns how many tiles there are.
    pub(crate) fn tile_count(&self) -> usize {
        self.switches.len().div_ceil(BLOCK)
    }

    /// Returns the i-th tile.
    pub fn tile(&self, i: usize) -> Tile {
        let switches = i * BLOCK..((i + 1) * BLOCK).min(self.switches.len());
        let columns = self.starts[switches.start] as usize..self.starts[switches.end] as usize;
        Tile { index: i, switches, columns }
    }

    /// Returns which tile a column is in.
    #[inline]
    pub(crate) fn tile_of(&self, column: usize) -> usize {
        self.tiles[column] as usize
    }

    /// Returns the columns, ascending by LID.
    pub fn by_lid(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by_key(|&c| self.destinations[c].lid);
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Degradation, Live, Pgft, Ranking};

    #[test]
    fn columns_stand_by_leaf_and_tiles_cover_them() {
        let pgft: Pgft = "2; 3,100; 1,2; 1,1".parse().unwrap();
        let fabric = pgft.fabric(Default::default());
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        let orders = Orders::new(
            live,
            &Ranking::new(live, &Default::default()),
            &Default::default(),
            &Default::default(),
        );
        let columns = Columns::new(&fabric, &orders, true);
        assert_eq!(columns.len(), 300 + 102);
        let tiles: Vec<Tile> = columns.tiles().collect();
        assert_eq!(tiles.len(), 2);
        assert_eq!(tiles[0].switches, 0..64);
        assert_eq!(tiles[1].columns, 256..402);
        for (i, leaf) in columns.switches()[..100].iter().enumerate() {
            let own = &columns.destinations()[columns.of_switch(i)];
            assert!(own.iter().all(|d| d.switch == *leaf));
            assert_eq!(own[3].end, End::Switch(*leaf));
            let expected = Segment {
                start: 4 * (i % 64) as u32,
                length: 3,
                number: 3 * i as u32,
                target: (i % 64) as u8,
                k: 0,
            };
            assert_eq!(columns.segments(i..i + 1)[0], expected);
        }
        let lids: Vec<u32> =
            columns.by_lid().into_iter().map(|c| columns.destinations()[c].lid.0).collect();
        assert!(lids.into_iter().eq(1..=402));
        assert!((0..402).all(|c| columns.tile(columns.tile_of(c)).columns.contains(&c)));
    }
}
