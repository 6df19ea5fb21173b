//! Port groups: all ports of a switch towards one other switch (`G_s` and `Ω_g` of the paper),
//! sorted by switch order and divided into up and down.
//!
//! Direction is by rank; between equals, which real fabrics have, the later in switch order counts
//! as the higher. So directions never form a cycle, whatever the graph.
//!
//! Layout: every switch has as many slots as it has cables to switches in the healthy fabric, filled
//! from the front with its groups above, then those below; so that the groups of one switch can be
//! made anew without moving those of others.

use std::sync::Arc;

use std::ops::Range;

use crate::fabric::{Fabric, Link, Live};
use crate::id::{PortNumber, SwitchIndex};
use crate::order::Orders;
use crate::parallel;
use crate::rank::Ranking;

/// A port group, seen from its switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    /// Ω: the switch at the other end.
    pub peer: SwitchIndex,
    /// The ports, ascending.
    pub ports: &'a [PortNumber],
}

/// The links of all switches, dead or alive, in switch order: what port groups are made from.
#[derive(Clone, Debug)]
pub(crate) struct SortedLinks {
    /// Those of switch `s` start at `start[s]`.
    start: Vec<u32>,
    links: Vec<Link>,
    by_position: Vec<SwitchIndex>,
    positions: Vec<u32>,
}

impl SortedLinks {
    pub(crate) fn new(fabric: &Fabric, orders: &Orders) -> Self {
        let mut links = Vec::new();
        for s in fabric.switch_indices() {
            let first = links.len();
            links.extend_from_slice(fabric.links_of(s));
            links[first..].sort_by_key(|link: &Link| (orders.position(link.peer), link.port));
        }
        let mut by_position: Vec<SwitchIndex> = fabric.switch_indices().collect();
        by_position.sort_by_key(|&s| orders.position(s));
        let positions = fabric.switch_indices().map(|s| orders.position(s)).collect();
        SortedLinks { start: fabric.link_starts().to_vec(), links, by_position, positions }
    }

    fn of(&self, s: SwitchIndex) -> &[Link] {
        &self.links[self.start[s.at()] as usize..self.start[s.at() + 1] as usize]
    }

    /// Groups the live links of one switch into its slots.
    fn group(&self, live: Live<'_>, ranking: &Ranking, s: SwitchIndex, slots: Slots<'_>) -> Use {
        let mut used = Use::default();
        if !live.switch(s) {
            return used;
        }
        let (rank, position) = (ranking.sort_rank(s), self.positions[s.at()]);
        // Those above are written where they belong; those below wait until their number is known.
        let mut below = [(SwitchIndex::new(0), PortNumber(0)); 255];
        let mut downs = 0;
        for link in self.of(s).iter().filter(|link| live.link(link)) {
            let its = ranking.sort_rank(link.peer);
            used.flat |= its == rank;
            let above = match its == rank {
                true => self.positions[link.peer.at()] > position,
                false => its > rank,
            };
            if !above {
                below[downs] = (link.peer, link.port);
                downs += 1;
                continue;
            }
            let group = used.groups();
            slots.ports[used.ports()] = link.port;
            if used.up == 0 || slots.peers[group - 1] != link.peer {
                slots.peers[group] = link.peer;
                slots.firsts[group] = used.up_ports;
                used.up += 1;
            }
            used.up_ports += 1;
        }
        for &(peer, port) in &below[..downs] {
            let (group, at) = (used.groups(), used.ports());
            slots.ports[at] = port;
            if used.down == 0 || slots.peers[group - 1] != peer {
                slots.peers[group] = peer;
                slots.firsts[group] = at as u8;
                used.down += 1;
            }
            used.down_ports += 1;
        }
        used
    }
}

/// How many switches are a piece of work for one thread.
const PIECE: usize = 256;

/// The slots of some switches.
struct Slots<'a> {
    peers: &'a mut [SwitchIndex],
    firsts: &'a mut [u8],
    ports: &'a mut [PortNumber],
}

impl<'a> Slots<'a> {
    fn split_at(self, at: usize) -> (Self, Self) {
        let (peers, later_peers) = self.peers.split_at_mut(at);
        let (firsts, later_firsts) = self.firsts.split_at_mut(at);
        let (ports, later_ports) = self.ports.split_at_mut(at);
        (
            Slots { peers, firsts, ports },
            Slots { peers: later_peers, firsts: later_firsts, ports: later_ports },
        )
    }
}

/// How the slots of one switch are used. (No switch has more than 254 ports.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Use {
    up: u8,
    down: u8,
    up_ports: u8,
    down_ports: u8,
    /// Whether some group leads to a switch of the same rank.
    flat: bool,
}

impl Use {
    fn groups(self) -> usize {
        usize::from(self.up) + usize::from(self.down)
    }

    fn ports(self) -> usize {
        usize::from(self.up_ports) + usize::from(self.down_ports)
    }
}

/// The port groups of all switches, up and down.
#[derive(Clone, Debug)]
pub struct PortGroups {
    links: Arc<SortedLinks>,
    uses: Vec<Use>,
    /// Slots: Ω of each group, and where its ports start among the switch's.
    peers: Vec<SwitchIndex>,
    firsts: Vec<u8>,
    ports: Vec<PortNumber>,
    ascending: Vec<SwitchIndex>,
    /// Where each live switch stands in `ascending`.
    places: Vec<u32>,
}

impl PortGroups {
    /// Groups and sorts the live ports. O(#ports log #ports).
    pub fn new(live: Live<'_>, ranking: &Ranking, orders: &Orders) -> Self {
        Self::of(Arc::new(SortedLinks::new(live.fabric, orders)), live, ranking)
    }

    /// Groups the live ones of links that are sorted already. O(#ports).
    pub(crate) fn of(links: Arc<SortedLinks>, live: Live<'_>, ranking: &Ranking) -> Self {
        let (switches, slots) = (links.positions.len(), links.links.len());
        let mut groups = PortGroups {
            links,
            uses: vec![Use::default(); switches],
            peers: vec![SwitchIndex::new(0); slots],
            firsts: vec![0; slots],
            ports: vec![PortNumber(0); slots],
            ascending: Vec::with_capacity(switches),
            places: vec![u32::MAX; switches],
        };
        groups.rebuild(live, ranking);
        groups
    }

    /// Makes all groups anew.
    pub(crate) fn rebuild(&mut self, live: Live<'_>, ranking: &Ranking) {
        let links = &self.links;
        let mut rest =
            Slots { peers: &mut self.peers, firsts: &mut self.firsts, ports: &mut self.ports };
        let mut pieces = Vec::new();
        for (piece, uses) in self.uses.chunks_mut(PIECE).enumerate() {
            let first = piece * PIECE;
            let end = links.start[first + uses.len()] - links.start[first];
            let (slots, after) = rest.split_at(end as usize);
            pieces.push((first, uses, slots));
            rest = after;
        }
        parallel::for_each(pieces, |(first, uses, mut slots)| {
            for (at, used) in uses.iter_mut().enumerate() {
                let s = SwitchIndex::new(first + at);
                let (own, after) = slots.split_at(links.of(s).len());
                *used = links.group(live, ranking, s, own);
                slots = after;
            }
        });
        self.sort(live, ranking);
    }

    /// Makes the groups of one switch anew. (Switches that come, go or change rank need a
    /// [`sort`](Self::sort), too.)
    fn rebuild_switch(&mut self, live: Live<'_>, ranking: &Ranking, s: SwitchIndex) {
        let slots = self.links.start[s.at()] as usize..self.links.start[s.at() + 1] as usize;
        let own = Slots {
            peers: &mut self.peers[slots.clone()],
            firsts: &mut self.firsts[slots.clone()],
            ports: &mut self.ports[slots],
        };
        self.uses[s.at()] = self.links.group(live, ranking, s, own);
    }

    /// Makes the groups of one switch anew and says whether they changed.
    pub(crate) fn refresh(&mut self, live: Live<'_>, ranking: &Ranking, s: SwitchIndex) -> bool {
        let slots = self.links.start[s.at()] as usize..self.links.start[s.at() + 1] as usize;
        let before = self.uses[s.at()];
        let (peers, firsts, ports) = (
            self.peers[slots.clone()].to_vec(),
            self.firsts[slots.clone()].to_vec(),
            self.ports[slots].to_vec(),
        );
        self.rebuild_switch(live, ranking, s);
        let first = self.links.start[s.at()] as usize;
        let (groups, count) = (before.groups(), before.ports());
        before != self.uses[s.at()]
            || peers[..groups] != self.peers[first..first + groups]
            || firsts[..groups] != self.firsts[first..first + groups]
            || ports[..count] != self.ports[first..first + count]
    }

    /// Sorts the live switches by rank, then switch order. O(#switches).
    pub(crate) fn sort(&mut self, live: Live<'_>, ranking: &Ranking) {
        // One place more for those without a rank.
        let rank = |s| ranking.rank(s).map_or(ranking.levels() as usize, |rank| rank as usize);
        let mut starts = vec![0; ranking.levels() as usize + 2];
        for s in live.switches() {
            starts[rank(s) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        self.ascending.clear();
        self.ascending.resize(starts[starts.len() - 1], SwitchIndex::new(0));
        self.places.fill(u32::MAX);
        for &s in self.links.by_position.iter().filter(|s| live.switch(**s)) {
            let place = &mut starts[rank(s)];
            self.ascending[*place] = s;
            self.places[s.at()] = *place as u32;
            *place += 1;
        }
    }

    /// Returns the groups towards the switches above `s`, in switch order.
    #[inline]
    pub fn up(&self, s: SwitchIndex) -> impl ExactSizeIterator<Item = Group<'_>> + Clone {
        self.above(s).into_iter()
    }

    /// Returns the groups towards the switches below `s`, in switch order.
    #[inline]
    pub fn down(&self, s: SwitchIndex) -> impl ExactSizeIterator<Item = Group<'_>> + Clone {
        self.below(s).into_iter()
    }

    /// Returns all groups above `s`.
    #[inline]
    pub(crate) fn above(&self, s: SwitchIndex) -> Side<'_> {
        let used = &self.uses[s.at()];
        self.side(s, 0..used.up, 0..used.up_ports)
    }

    /// Returns all groups below `s`.
    #[inline]
    pub(crate) fn below(&self, s: SwitchIndex) -> Side<'_> {
        let Use { up, down, up_ports, down_ports, .. } = self.uses[s.at()];
        self.side(s, up..up + down, up_ports..up_ports + down_ports)
    }

    #[inline]
    fn side(
        &self,
        s: SwitchIndex,
        groups: std::ops::Range<u8>,
        ports: std::ops::Range<u8>,
    ) -> Side<'_> {
        let first = self.links.start[s.at()] as usize;
        let slots = first + usize::from(groups.start)..first + usize::from(groups.end);
        Side {
            peers: &self.peers[slots.clone()],
            firsts: &self.firsts[slots],
            ports: &self.ports[first + usize::from(ports.start)..first + usize::from(ports.end)],
            before: ports.start,
        }
    }

    /// Returns the live switches, every one after all that are below it.
    pub fn ascending(&self) -> &[SwitchIndex] {
        &self.ascending
    }

    /// Returns the index of a live switch among the [ascending](Self::ascending) ones.
    #[inline]
    pub(crate) fn place(&self, s: SwitchIndex) -> Option<usize> {
        let place = self.places[s.at()];
        (place != u32::MAX).then_some(place as usize)
    }

    /// Returns how many switches the fabric has, dead ones included.
    pub fn switch_count(&self) -> usize {
        self.uses.len()
    }

    /// Returns whether every cable joins neighbouring ranks.
    pub(crate) fn are_levelled(&self) -> bool {
        self.uses.iter().all(|used| !used.flat)
    }

    /// Returns the greatest number of hops that go up without a turn. O(#groups).
    pub(crate) fn longest_climb(&self) -> u32 {
        let mut climbs = vec![0u32; self.switch_count()];
        for &s in &self.ascending {
            let from_below = self.down(s).map(|g| climbs[g.peer.at()] + 1).max();
            climbs[s.at()] = from_below.unwrap_or(0);
        }
        climbs.into_iter().max().unwrap_or(0)
    }
}

/// The groups of one switch in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Side<'a> {
    /// Ω of each group.
    pub(crate) peers: &'a [SwitchIndex],
    firsts: &'a [u8],
    /// The ports of all groups, one group after the other.
    pub(crate) ports: &'a [PortNumber],
    /// How many ports of the switch come before these.
    before: u8,
}

impl<'a> Side<'a> {
    /// Returns how many ports each group has, if all have equally many.
    #[inline]
    pub(crate) fn width(&self) -> Option<usize> {
        let groups = self.peers.len();
        if self.ports.len() == groups {
            return Some(1);
        }
        let width = self.ports.len() / groups.max(1);
        let starts = (0..groups).map(|at| usize::from(self.before) + at * width);
        let alike = self.firsts.iter().map(|&first| usize::from(first)).eq(starts);
        (alike && groups * width == self.ports.len()).then_some(width)
    }

    /// Returns which of the ports of the side a group has.
    #[inline]
    pub(crate) fn extent(&self, at: usize) -> Range<u8> {
        let start = |at: usize| match self.firsts.get(at) {
            Some(first) => first - self.before,
            None => self.ports.len() as u8,
        };
        start(at)..start(at + 1)
    }

    /// Returns the ports of a group.
    #[inline]
    pub(crate) fn ports_of(&self, at: usize) -> &'a [PortNumber] {
        if self.ports.len() == self.peers.len() {
            return &self.ports[at..=at];
        }
        let Range { start, end } = self.extent(at);
        &self.ports[usize::from(start)..usize::from(end)]
    }

    #[inline]
    fn group(&self, at: usize) -> Group<'a> {
        Group { peer: self.peers[at], ports: self.ports_of(at) }
    }

    #[inline]
    fn into_iter(self) -> impl ExactSizeIterator<Item = Group<'a>> + Clone {
        (0..self.peers.len()).map(move |at| self.group(at))
    }
}
