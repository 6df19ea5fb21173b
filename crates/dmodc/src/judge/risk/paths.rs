//! The routes of tables, made to be followed fast.
//!
//! An entry leads to a *channel*: the directed port of a switch that it names. Channels of a switch
//! lie a power of two apart, so that switch and entry make a channel without looking anything up, and
//! whatever number an entry holds, there is one. Ports between live switches are numbered without gaps
//! besides: loads are counted by that number.

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

/// What is at the other end of a channel.
#[derive(Clone, Copy)]
struct End {
    switch: u32,
    /// The number of this directed port.
    port: u32,
}

/// A destination: where its entries lie, and where it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    tile: u32,
    width: u32,
    /// Its column, counted from the tile's first.
    at: u32,
    /// The switch it sits on, and its port there.
    pub(super) home: u32,
    pub(super) port: u8,
}

/// Tables, and where their entries lead to.
pub(super) struct Paths<'a> {
    tiles: Vec<&'a [u8]>,
    ends: Vec<End>,
    shift: u32,
    /// The channel of entries that no port has.
    last: u8,
    /// The directed ports by number.
    pub(super) ports: Vec<DirectedPort>,
    switches: usize,
}

impl<'a> Paths<'a> {
    pub(super) fn new(live: Live<'_>, tables: &'a ForwardingTables) -> Self {
        let fabric = live.fabric;
        let most = fabric.switches().iter().map(|s| u32::from(s.ports)).max().unwrap_or(0);
        // One channel more than ports and port 0 need: that of entries without a route.
        let shift = (most + 2).next_power_of_two().trailing_zeros().min(8);
        let nowhere = End { switch: NOWHERE, port: NOWHERE };
        let mut ends = vec![nowhere; fabric.switches().len() << shift];
        let mut ports = Vec::new();
        for s in live.switches() {
            for port in (1..=fabric.switch(s).ports).map(PortNumber) {
                if let Peer::Switch(peer, _) = live.peer(s, port) {
                    let channel = s.at() << shift | usize::from(port.0);
                    ends[channel] = End { switch: peer.at() as u32, port: ports.len() as u32 };
                    ports.push(DirectedPort { switch: s, port, peer });
                }
            }
        }
        Paths {
            tiles: tables.tiles().map(|(_, entries)| entries).collect(),
            ends,
            shift,
            last: ((1u32 << shift) - 1) as u8,
            ports,
            switches: fabric.switches().len(),
        }
    }

    pub(super) fn target(&self, tables: &ForwardingTables, column: usize) -> Target {
        let columns = tables.columns();
        let tile = columns.tile(columns.tile_of(column));
        let Destination { switch, port, .. } = columns.destinations()[column];
        Target {
            tile: tile.index as u32,
            width: tile.columns.len() as u32,
            at: (column - tile.columns.start) as u32,
            home: switch.at() as u32,
            port: port.0,
        }
    }

    /// What switch `s` has for a target.
    #[inline]
    pub(super) fn entry(&self, s: u32, target: &Target) -> u8 {
        let at = s as usize * target.width as usize + target.at as usize;
        self.tiles[target.tile as usize][at]
    }

    /// The switch that an entry of `s` leads to, and the directed port; `NOWHERE` for both if to none.
    #[inline]
    pub(super) fn next(&self, s: u32, entry: u8) -> (u32, u32) {
        let channel = (s as usize) << self.shift | usize::from(entry.min(self.last));
        let end = self.ends[channel];
        (end.switch, end.port)
    }

    /// Follows one route; `each` is told its directed ports. Whether it arrives.
    pub(super) fn follow(&self, from: u32, target: &Target, mut each: impl FnMut(u32)) -> bool {
        let mut s = from;
        // Who has seen more ports than there are switches goes in circles.
        for _ in 0..=self.switches {
            let entry = self.entry(s, target);
            let (next, port) = self.next(s, entry);
            if next == NOWHERE {
                return s == target.home && entry == target.port;
            }
            each(port);
            s = next;
        }
        false
    }

    /// Follows many routes hop by hop, side by side, so that memory is asked for many entries at once
    /// instead of one after the other.
    pub(super) fn follow_all(&self, flows: &[(u32, Target)], ways: &mut Ways) {
        ways.clear(flows.len());
        ways.on_the_way.extend(flows.iter().enumerate().map(|(at, flow)| (at as u32, flow.0)));
        for hop in 0.. {
            if ways.on_the_way.is_empty() || hop > self.switches {
                break;
            }
            if ways.ports.len() == hop {
                ways.ports.push(Vec::new());
            }
            ways.ports[hop].resize(flows.len(), NOWHERE);
            let Ways { on_the_way, entries, ports, hops, arrived } = ways;
            // Nothing in this loop waits for anything.
            entries.clear();
            entries
                .extend(on_the_way.iter().map(|&(flow, s)| self.entry(s, &flows[flow as usize].1)));
            let mut left = 0;
            for at in 0..on_the_way.len() {
                let (flow, s) = on_the_way[at];
                let (next, port) = self.next(s, entries[at]);
                if next == NOWHERE {
                    let target = &flows[flow as usize].1;
                    hops[flow as usize] = hop as u32;
                    arrived[flow as usize] = s == target.home && entries[at] == target.port;
                } else {
                    ports[hop][flow as usize] = port;
                    on_the_way[left] = (flow, next);
                    left += 1;
                }
            }
            on_the_way.truncate(left);
        }
        ways.on_the_way.clear();
    }
}

/// Where flows went.
#[derive(Default)]
pub(super) struct Ways {
    on_the_way: Vec<(u32, u32)>,
    entries: Vec<u8>,
    /// By hop, then by flow.
    ports: Vec<Vec<u32>>,
    hops: Vec<u32>,
    arrived: Vec<bool>,
}

impl Ways {
    fn clear(&mut self, flows: usize) {
        self.on_the_way.clear();
        self.hops.clear();
        self.hops.resize(flows, 0);
        self.arrived.clear();
        self.arrived.resize(flows, false);
    }

    /// Whether a flow arrived.
    #[inline]
    pub(super) fn arrived(&self, flow: usize) -> bool {
        self.arrived[flow]
    }

    /// The directed ports of a flow that arrived.
    #[inline]
    pub(super) fn of(&self, flow: usize) -> impl Iterator<Item = u32> + '_ {
        self.ports[..self.hops[flow] as usize].iter().map(move |row| row[flow])
    }
}
