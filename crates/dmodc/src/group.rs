//! Port groups: all ports of a switch towards one other switch (`G_s` and `Ω_g` of the paper),
//! sorted by switch order and told apart into up and down.
//!
//! Direction is by rank; between equals, which real fabrics have, the later in switch order counts
//! as the higher. So directions never form a cycle, whatever the graph.

use crate::fabric::Live;
use crate::id::{PortNumber, SwitchIndex};
use crate::order::Orders;
use crate::rank::Ranking;

/// A port group, seen from its switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    /// Ω: the switch at the other end.
    pub peer: SwitchIndex,
    /// The ports, ascending.
    pub ports: &'a [PortNumber],
}

/// The port groups of all switches, up and down.
#[derive(Clone, Debug)]
pub struct PortGroups {
    up: GroupLists,
    down: GroupLists,
    ascending: Vec<SwitchIndex>,
    height: u32,
}

impl PortGroups {
    /// Groups and sorts the live ports. O(#ports log #ports).
    pub fn new(live: Live<'_>, ranking: &Ranking, orders: &Orders) -> Self {
        let height = |s: SwitchIndex| (ranking.sort_rank(s), orders.position(s));
        let (mut up, mut down) = (GroupLists::default(), GroupLists::default());
        let mut links: Vec<(u32, PortNumber, SwitchIndex)> = Vec::new();
        for s in live.fabric.switch_indices() {
            links.clear();
            links.extend(live.links(s).map(|(port, peer)| (orders.position(peer), port, peer)));
            links.sort_unstable();
            for group in links.chunk_by(|a, b| a.2 == b.2) {
                let peer = group[0].2;
                let list = if height(peer) > height(s) { &mut up } else { &mut down };
                list.push(peer, group.iter().map(|&(_, port, _)| port));
            }
            up.end_switch();
            down.end_switch();
        }
        let mut ascending: Vec<SwitchIndex> = live.switches().collect();
        ascending.sort_by_key(|&s| height(s));
        let mut groups = PortGroups { up, down, ascending, height: 0 };
        groups.height = groups.longest_climb();
        groups
    }

    /// The groups towards the switches above `s`, in switch order.
    #[inline]
    pub fn up(&self, s: SwitchIndex) -> impl ExactSizeIterator<Item = Group<'_>> + Clone {
        self.up.of(s)
    }

    /// The groups towards the switches below `s`, in switch order.
    #[inline]
    pub fn down(&self, s: SwitchIndex) -> impl ExactSizeIterator<Item = Group<'_>> + Clone {
        self.down.of(s)
    }

    /// The `at`-th group above `s`.
    #[inline]
    pub(crate) fn up_at(&self, s: SwitchIndex, at: usize) -> Group<'_> {
        self.up.group(self.up.start[s.at()] as usize + at)
    }

    /// The `at`-th group below `s`.
    #[inline]
    pub(crate) fn down_at(&self, s: SwitchIndex, at: usize) -> Group<'_> {
        self.down.group(self.down.start[s.at()] as usize + at)
    }

    /// The live switches, every one after all that are below it.
    pub fn ascending(&self) -> &[SwitchIndex] {
        &self.ascending
    }

    /// How many switches the fabric has, dead ones included.
    pub fn switch_count(&self) -> usize {
        self.up.start.len() - 1
    }

    /// The greatest number of hops that go up without a turn.
    pub(crate) fn height(&self) -> u32 {
        self.height
    }

    fn longest_climb(&self) -> u32 {
        let mut climbs = vec![0u32; self.switch_count()];
        for &s in &self.ascending {
            let from_below = self.down(s).map(|g| climbs[g.peer.at()] + 1).max();
            climbs[s.at()] = from_below.unwrap_or(0);
        }
        climbs.into_iter().max().unwrap_or(0)
    }
}

/// Groups of one direction: those of switch `s` start at `start[s]`.
#[derive(Clone, Debug)]
struct GroupLists {
    start: Vec<u32>,
    peers: Vec<SwitchIndex>,
    /// The ports of group `g` are `ports[port_start[g]..port_start[g + 1]]`.
    port_start: Vec<u32>,
    ports: Vec<PortNumber>,
}

impl Default for GroupLists {
    fn default() -> Self {
        GroupLists { start: vec![0], peers: vec![], port_start: vec![0], ports: vec![] }
    }
}

impl GroupLists {
    fn push(&mut self, peer: SwitchIndex, ports: impl Iterator<Item = PortNumber>) {
        self.peers.push(peer);
        self.ports.extend(ports);
        self.port_start.push(self.ports.len() as u32);
    }

    fn end_switch(&mut self) {
        self.start.push(self.peers.len() as u32);
    }

    #[inline]
    fn group(&self, g: usize) -> Group<'_> {
        let ports = self.port_start[g] as usize..self.port_start[g + 1] as usize;
        Group { peer: self.peers[g], ports: &self.ports[ports] }
    }

    #[inline]
    fn of(&self, s: SwitchIndex) -> impl ExactSizeIterator<Item = Group<'_>> + Clone {
        (self.start[s.at()] as usize..self.start[s.at() + 1] as usize).map(|g| self.group(g))
    }
}
