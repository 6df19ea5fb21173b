//! Tables, laid out so that routes can be followed fast.
//!
//! An entry of a switch names a *channel*: the directed port that it sends out of. Each switch has room for a power of
//! two of channels, so that `switch << shift | entry` is the number of a channel without any lookup, and every possible
//! entry has one. Ports between live switches also have a number without gaps, by which loads are counted.
//!
//! Example: with 36-port switches `shift` is 6 (38 channels are needed, 64 are there). Entry 7 of switch 3 is channel
//! `3 << 6 | 7` = 199. Entry 255, no route, becomes 63, a channel that leads nowhere.

use std::sync::Arc;

use super::super::walk::Heights;
use crate::fabric::{Live, Peer};
use crate::id::{PortNumber, SwitchIndex};
use crate::tables::{Destination, ForwardingTables};

/// No switch is at the other end.
pub(super) const NOWHERE: u32 = u32::MAX;

/// A directed port from one live switch to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectedPort {
    /// The switch that sends.
    pub switch: SwitchIndex,
    /// Out of this port.
    pub port: PortNumber,
    /// The switch that receives.
    pub peer: SwitchIndex,
}

/// The other end of a channel.
#[derive(Clone, Copy)]
pub(super) struct ChannelEnd {
    /// The switch there; [`NOWHERE`] if there is no live switch.
    pub(super) switch: u32,
    /// The number of this directed port, and in its lowest bit whether it leads up.
    port: u32,
}

impl ChannelEnd {
    /// Returns the number of the directed port.
    #[inline]
    pub(super) fn port(self) -> u32 {
        self.port >> 1
    }

    /// Returns whether the channel leads up.
    #[inline]
    pub(super) fn is_up(self) -> bool {
        self.port & 1 == 1
    }
}

/// Packets from the nodes of one switch to a destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    /// The switch that they start from.
    pub(super) from: u32,
    pub(super) target: FlowTarget,
}

/// A destination: where its entries are stored, and the switch that it is on.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlowTarget {
    pub(super) tile: u32,
    width: u32,
    /// Its column, counted from the tile's first.
    pub(super) at: u32,
    /// The switch it sits on, and its port there.
    pub(super) home: u32,
    pub(super) port: u8,
    /// Whether its switch delivers it, so that a flow that gets to the switch has arrived.
    pub(super) is_delivered: bool,
}

impl FlowTarget {
    /// Returns the destination of a column of these tables.
    pub(super) fn new(tables: &ForwardingTables, column: usize) -> Self {
        let columns = tables.columns();
        let tile = columns.tile(columns.tile_of(column));
        let Destination { switch, port, .. } = columns.destinations()[column];
        FlowTarget {
            tile: tile.index as u32,
            width: tile.columns.len() as u32,
            at: (column - tile.columns.start) as u32,
            home: switch.at() as u32,
            port: port.0,
            is_delivered: tables.port(switch, column) == Some(port),
        }
    }

    /// Returns the index of the entry of switch `s` in the tile of this destination.
    #[inline]
    pub(super) fn place(&self, s: u32) -> usize {
        s as usize * self.width as usize + self.at as usize
    }
}

/// The channels of a fabric, and where they lead to.
pub(super) struct Channels {
    links: Vec<ChannelEnd>,
    shift: u32,
    /// The channel of entries that name no port.
    last: u8,
    /// The directed ports by number.
    pub(super) ports: Vec<DirectedPort>,
}

impl Channels {
    pub(super) fn new(live: Live<'_>, heights: &Heights) -> Self {
        let fabric = live.fabric;
        let most = fabric.switches().iter().map(|s| u32::from(s.ports)).max().unwrap_or(0);
        // One channel more than ports and port 0 need: that of entries without a route.
        let shift = (most + 2).next_power_of_two().trailing_zeros().min(8);
        let nowhere = ChannelEnd { switch: NOWHERE, port: 0 };
        let mut links = vec![nowhere; fabric.switches().len() << shift];
        let mut ports = Vec::new();
        for s in live.switches() {
            for port in (1..=fabric.switch(s).ports).map(PortNumber) {
                if let Peer::Switch(peer, _) = live.peer(s, port) {
                    let channel = s.at() << shift | usize::from(port.0);
                    let port_and_way =
                        (ports.len() as u32) << 1 | u32::from(heights.is_up(s, peer));
                    links[channel] = ChannelEnd { switch: peer.at() as u32, port: port_and_way };
                    ports.push(DirectedPort { switch: s, port, peer });
                }
            }
        }
        Channels { links, shift, last: ((1u32 << shift) - 1) as u8, ports }
    }

    /// Returns where an entry of `s` leads to.
    #[inline]
    pub(super) fn next(&self, s: u32, entry: u8) -> ChannelEnd {
        self.links[(s as usize) << self.shift | usize::from(entry.min(self.last))]
    }
}

/// Tables, and where their entries lead to.
pub(super) struct Paths<'a> {
    tiles: Vec<&'a [u8]>,
    channels: Arc<Channels>,
    switches: usize,
}

impl<'a> Paths<'a> {
    /// Returns the paths of tables over channels that are known.
    pub(super) fn over(channels: Arc<Channels>, tables: &'a ForwardingTables) -> Self {
        let tiles = tables.tiles().map(|(_, entries)| entries).collect();
        Paths { tiles, channels, switches: tables.switch_count() }
    }

    /// Returns the directed ports by number.
    pub(super) fn ports(&self) -> &[DirectedPort] {
        &self.channels.ports
    }

    /// Returns the entry of switch `s` for a target.
    #[inline]
    pub(super) fn entry(&self, s: u32, target: &FlowTarget) -> u8 {
        self.tiles[target.tile as usize][target.place(s)]
    }

    /// Returns the entries of switch `s` in the tile of a target; that of the target is at [`FlowTarget::at`].
    #[inline]
    pub(super) fn row(&self, s: u32, target: &FlowTarget) -> &[u8] {
        let width = target.width as usize;
        &self.tiles[target.tile as usize][s as usize * width..][..width]
    }

    /// Returns where an entry of `s` leads to.
    #[inline]
    pub(super) fn next(&self, s: u32, entry: u8) -> ChannelEnd {
        self.channels.next(s, entry)
    }

    /// Follows one route, and calls `each` with its directed ports. Returns whether it arrives.
    pub(super) fn follow(&self, from: u32, target: &FlowTarget, mut each: impl FnMut(u32)) -> bool {
        let mut s = from;
        // A route with more hops than there are switches loops.
        for _ in 0..=self.switches {
            let entry = self.entry(s, target);
            let next = self.next(s, entry);
            if next.switch == NOWHERE {
                return s == target.home && entry == target.port;
            }
            each(next.port());
            s = next.switch;
        }
        false
    }

    /// Follows many routes at once, one hop of all of them at a time, so that memory is asked for many entries at once
    /// instead of one after the other.
    pub(super) fn follow_all(&self, flows: &[Flow], ways: &mut FlowPaths) {
        ways.clear(flows.len());
        ways.on_the_way.extend(flows.iter().enumerate().map(|(at, flow)| (at as u32, flow.from)));
        let none = self.ports().len() as u32;
        for hop in 0.. {
            if ways.on_the_way.is_empty() || hop > self.switches {
                break;
            }
            ways.start_hop(hop, flows.len(), none);
            let FlowPaths { on_the_way, places, entries, rows, switches, arrived, .. } = ways;
            places.clear();
            places.extend(on_the_way.iter().map(|&(flow, s)| {
                let target = &flows[flow as usize].target;
                (target.tile, target.place(s))
            }));
            // No step of this short loop waits for another one, so many entries are loaded at once.
            entries.clear();
            entries.extend(places.iter().map(|&(tile, at)| self.tiles[tile as usize][at]));
            let row = &mut rows[hop];
            let mut left = 0;
            for at in 0..on_the_way.len() {
                let (flow, s) = on_the_way[at];
                let next = self.next(s, entries[at]);
                let target = &flows[flow as usize].target;
                if next.switch == NOWHERE {
                    switches[flow as usize] = hop as u32 + 1;
                    arrived[flow as usize] = s == target.home && target.is_delivered;
                    continue;
                }
                row[flow as usize] = next.port();
                if next.switch == target.home && target.is_delivered {
                    switches[flow as usize] = hop as u32 + 2;
                    arrived[flow as usize] = true;
                } else {
                    on_the_way[left] = (flow, next.switch);
                    left += 1;
                }
            }
            on_the_way.truncate(left);
        }
        ways.forget_lost(none);
    }
}

/// The paths of flows: for each hop a row, with a directed port for each flow. Flows that have arrived before, or never
/// do, have the number after the last port there. So an array of counts has one place more than there are ports, and
/// counting needs no condition.
#[derive(Default)]
pub(super) struct FlowPaths {
    on_the_way: Vec<(u32, u32)>,
    places: Vec<(u32, usize)>,
    entries: Vec<u8>,
    rows: Vec<Vec<u32>>,
    used: usize,
    switches: Vec<u32>,
    arrived: Vec<bool>,
}

impl FlowPaths {
    fn clear(&mut self, flows: usize) {
        self.on_the_way.clear();
        self.used = 0;
        self.switches.clear();
        self.switches.resize(flows, 0);
        self.arrived.clear();
        self.arrived.resize(flows, false);
    }

    fn start_hop(&mut self, hop: usize, flows: usize, none: u32) {
        if self.rows.len() == hop {
            self.rows.push(Vec::new());
        }
        self.rows[hop].clear();
        self.rows[hop].resize(flows, none);
        self.used = hop + 1;
    }

    fn forget_lost(&mut self, none: u32) {
        if self.arrived.iter().all(|&arrived| arrived) {
            return;
        }
        let FlowPaths { rows, used, arrived, .. } = self;
        for row in &mut rows[..*used] {
            let lost = row.iter_mut().zip(&*arrived).filter(|(_, arrived)| !**arrived);
            lost.for_each(|(port, _)| *port = none);
        }
    }

    /// Copies the ports of a flow; none if it did not arrive.
    pub(super) fn copy_ports(&self, flow: usize, none: u32, ports: &mut Vec<u32>) {
        ports.clear();
        ports.extend(self.rows().iter().map(|row| row[flow]).take_while(|&port| port != none));
    }

    /// Returns for each flow whether it arrived.
    pub(super) fn arrived(&self) -> &[bool] {
        &self.arrived
    }

    /// Returns for each flow how many switches it passed.
    pub(super) fn switches(&self) -> &[u32] {
        &self.switches
    }

    /// Returns the ports of all flows, hop by hop.
    pub(super) fn rows(&self) -> &[Vec<u32>] {
        &self.rows[..self.used]
    }
}
