//! What the host computes for states that the kernels cannot prepare: ranks that are not counted from the leaves, cables between
//! switches of one rank, or more ranks than costs as bits have. Groups and dividers are those of the engine; costs are bytes.

use dmodc::{Columns, Live, PortGroups, Preprocessing, Routing, SwitchIndex, validity};

use crate::buffer::{bytes_of_u16s, bytes_of_u32s};
use crate::error::GpuError;

/// The height of a dead switch.
const NO_HEIGHT: u16 = u16::MAX;

/// Costs are bytes, and 255 is infinite.
const INFINITE: u32 = 255;

/// What a state needs for its routes except costs, as the bytes that kernels read.
pub(crate) struct HostState {
    pub(crate) counts: Vec<u8>,
    pub(crate) peers: Vec<u8>,
    pub(crate) firsts: Vec<u8>,
    pub(crate) ports: Vec<u8>,
    pub(crate) dividers: Vec<u8>,
    pub(crate) heights: Vec<u8>,
    pub(crate) depths: Vec<u8>,
    /// The greatest height, and the greatest depth.
    pub(crate) highest: u16,
    pub(crate) deepest: u16,
}

impl HostState {
    /// Prepares a state. `starts` has where the links of each switch start.
    ///
    /// # Errors
    /// If a route is longer than costs can count.
    pub(crate) fn new(live: Live<'_>, routing: &Routing, starts: &[u32]) -> Result<Self, GpuError> {
        let ready = routing.preprocess(live);
        let (heights, depths) = (heights(&ready.groups), depths(&ready.groups));
        let greatest =
            |all: &[u16]| all.iter().copied().filter(|&h| h != NO_HEIGHT).max().unwrap_or(0);
        let (highest, deepest) = (greatest(&heights), greatest(&depths));
        check_range(live, &ready, routing.columns(), u32::from(highest))?;
        let mut state = HostState {
            counts: vec![],
            peers: vec![],
            firsts: vec![],
            ports: vec![],
            dividers: dividers(live, &ready),
            heights: bytes_of_u16s(heights),
            depths: bytes_of_u16s(depths),
            highest,
            deepest,
        };
        state.store_groups(&ready.groups, starts);
        Ok(state)
    }

    fn store_groups(&mut self, groups: &PortGroups, starts: &[u32]) {
        let links = starts.last().copied().unwrap_or(0) as usize;
        let mut peers = vec![0; links];
        (self.firsts, self.ports) = (vec![0; links], vec![0; links]);
        for (at, &start) in starts[..groups.switch_count()].iter().enumerate() {
            let (s, start) = (SwitchIndex::new(at), start as usize);
            let mut ports = 0;
            for (i, group) in groups.up(s).chain(groups.down(s)).enumerate() {
                peers[start + i] = group.peer.at() as u32;
                self.firsts[start + i] = ports as u8;
                for port in group.ports {
                    self.ports[start + ports] = port.0;
                    ports += 1;
                }
            }
            let up_ports: usize = groups.up(s).map(|group| group.ports.len()).sum();
            let counts = [groups.up(s).len(), groups.down(s).len(), up_ports, ports - up_ports];
            self.counts.extend(counts.map(|count| count as u8));
        }
        self.peers = bytes_of_u32s(peers);
    }
}

/// Returns the dividers of all switches: groups up, ports up, groups down, ports down; 0 is none.
fn dividers(live: Live<'_>, ready: &Preprocessing) -> Vec<u8> {
    let of_switch = |s| {
        let dividers = ready.level_dividers(s);
        [dividers.up, dividers.down].map(|side| [side.group, side.port.unwrap_or(0)])
    };
    bytes_of_u32s(live.fabric.switch_indices().flat_map(of_switch).flatten())
}

/// Returns the longest way down from each switch.
fn heights(groups: &PortGroups) -> Vec<u16> {
    let mut heights = vec![NO_HEIGHT; groups.switch_count()];
    for &s in groups.ascending() {
        let below = groups.down(s).map(|group| heights[group.peer.at()] + 1);
        heights[s.at()] = below.max().unwrap_or(0);
    }
    heights
}

/// Returns the longest way up from each switch.
fn depths(groups: &PortGroups) -> Vec<u16> {
    let mut depths = vec![NO_HEIGHT; groups.switch_count()];
    for &s in groups.ascending().iter().rev() {
        let above = groups.up(s).map(|group| depths[group.peer.at()] + 1);
        depths[s.at()] = above.max().unwrap_or(0);
    }
    depths
}

/// Returns an error if a route is longer than costs can count. Fabrics in which no route can be so long are not searched.
fn check_range(
    live: Live<'_>,
    ready: &Preprocessing,
    columns: &Columns,
    longest_climb: u32,
) -> Result<(), GpuError> {
    if 2 * longest_climb >= INFINITE {
        validity(live, ready, columns).map_err(dmodc::RouteError::from)?;
    }
    Ok(())
}
