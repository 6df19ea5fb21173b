//! Port groups: all ports of a switch towards one other switch (`G_s` and `Ω_g` of the paper),
//! sorted by switch order and divided into up and down.
//!
//! A group leads up if its peer has the higher rank. Real fabrics also have cables between switches of the same rank;
//! there the switch that comes later in switch order counts as the higher one. So directions never form a cycle, whatever
//! the graph.
//!
//! Layout: every switch has room for as many groups as it has cables to switches in the healthy fabric, filled
//! from the front with its groups above, then those below. So the groups of one switch can be
//! made anew without moving those of others.

use std::ops::Range;
use std::sync::Arc;

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

    /// Groups the live links of one switch into its storage, and returns how many groups and ports there are.
    fn group(
        &self,
        live: Live<'_>,
        ranking: &Ranking,
        s: SwitchIndex,
        storage: GroupStorage<'_>,
        BelowLinks(below): &mut BelowLinks,
    ) -> GroupCounts {
        let mut counts = GroupCounts::default();
        if !live.switch(s) {
            return counts;
        }
        let (rank, position) = (ranking.sort_rank(s), self.positions[s.at()]);
        // Those above are written where they belong; those below wait until their number is known.
        let mut downs = 0;
        for link in self.of(s).iter().filter(|link| live.link(link)) {
            let its = ranking.sort_rank(link.peer);
            counts.has_flat_cables |= its == rank;
            let above = match its == rank {
                true => self.positions[link.peer.at()] > position,
                false => its > rank,
            };
            if !above {
                below[downs] = (link.peer, link.port);
                downs += 1;
                continue;
            }
            let group = counts.groups();
            storage.ports[counts.ports()] = link.port;
            if counts.up_groups == 0 || storage.peers[group - 1] != link.peer {
                storage.peers[group] = link.peer;
                storage.firsts[group] = counts.up_ports;
                counts.up_groups += 1;
            }
            counts.up_ports += 1;
        }
        for &(peer, port) in &below[..downs] {
            let (group, at) = (counts.groups(), counts.ports());
            storage.ports[at] = port;
            if counts.down_groups == 0 || storage.peers[group - 1] != peer {
                storage.peers[group] = peer;
                storage.firsts[group] = at as u8;
                counts.down_groups += 1;
            }
            counts.down_ports += 1;
        }
        counts
    }
}

/// Room for the links of one switch to those below. It is used for many switches, because clearing it for each switch would take as
/// long as grouping several links.
struct BelowLinks([(SwitchIndex, PortNumber); 255]);

impl BelowLinks {
    fn new() -> Self {
        BelowLinks([(SwitchIndex::new(0), PortNumber(0)); 255])
    }
}

/// How many switches are a piece of work for one thread.
const PIECE: usize = 256;

/// The storage of the groups of some switches.
struct GroupStorage<'a> {
    peers: &'a mut [SwitchIndex],
    firsts: &'a mut [u8],
    ports: &'a mut [PortNumber],
}

impl<'a> GroupStorage<'a> {
    fn split_at(self, at: usize) -> (Self, Self) {
        let (peers, later_peers) = self.peers.split_at_mut(at);
        let (firsts, later_firsts) = self.firsts.split_at_mut(at);
        let (ports, later_ports) = self.ports.split_at_mut(at);
        (
            GroupStorage { peers, firsts, ports },
            GroupStorage { peers: later_peers, firsts: later_firsts, ports: later_ports },
        )
    }
}

/// How many groups and ports one switch has. (No switch has more than 254 ports.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct GroupCounts {
    up_groups: u8,
    down_groups: u8,
    up_ports: u8,
    down_ports: u8,
    /// Whether some group leads to a switch of the same rank.
    has_flat_cables: bool,
}

impl GroupCounts {
    fn groups(self) -> usize {
        usize::from(self.up_groups) + usize::from(self.down_groups)
    }

    fn ports(self) -> usize {
        usize::from(self.up_ports) + usize::from(self.down_ports)
    }
}

/// The port groups of all switches, up and down.
#[derive(Clone, Debug)]
pub struct PortGroups {
    links: Arc<SortedLinks>,
    counts: Vec<GroupCounts>,
    /// Storage: Ω of each group, and where its ports start among the switch's.
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
        let (switches, room) = (links.positions.len(), links.links.len());
        let mut groups = PortGroups {
            links,
            counts: vec![GroupCounts::default(); switches],
            peers: vec![SwitchIndex::new(0); room],
            firsts: vec![0; room],
            ports: vec![PortNumber(0); room],
            ascending: Vec::with_capacity(switches),
            places: vec![u32::MAX; switches],
        };
        groups.rebuild(live, ranking);
        groups
    }

    /// Makes all groups anew.
    pub(crate) fn rebuild(&mut self, live: Live<'_>, ranking: &Ranking) {
        let links = &self.links;
        let mut rest = GroupStorage {
            peers: &mut self.peers,
            firsts: &mut self.firsts,
            ports: &mut self.ports,
        };
        let mut pieces = Vec::new();
        for (piece, all_counts) in self.counts.chunks_mut(PIECE).enumerate() {
            let first = piece * PIECE;
            let end = links.start[first + all_counts.len()] - links.start[first];
            let (storage, after) = rest.split_at(end as usize);
            pieces.push((first, all_counts, storage));
            rest = after;
        }
        parallel::for_each(pieces, |(first, all_counts, mut storage)| {
            let mut below = BelowLinks::new();
            for (at, counts) in all_counts.iter_mut().enumerate() {
                let s = SwitchIndex::new(first + at);
                let (own, after) = storage.split_at(links.of(s).len());
                *counts = links.group(live, ranking, s, own, &mut below);
                storage = after;
            }
        });
        self.sort(live, ranking);
    }

    /// Makes the groups of one switch anew. (Switches that come, go or change rank need a
    /// [`sort`](Self::sort), too.)
    fn rebuild_switch(&mut self, live: Live<'_>, ranking: &Ranking, s: SwitchIndex) {
        let range = self.links.start[s.at()] as usize..self.links.start[s.at() + 1] as usize;
        let own = GroupStorage {
            peers: &mut self.peers[range.clone()],
            firsts: &mut self.firsts[range.clone()],
            ports: &mut self.ports[range],
        };
        let mut below = BelowLinks::new();
        self.counts[s.at()] = self.links.group(live, ranking, s, own, &mut below);
    }

    /// Makes the groups of one switch anew. Returns whether they changed.
    pub(crate) fn refresh(&mut self, live: Live<'_>, ranking: &Ranking, s: SwitchIndex) -> bool {
        let range = self.links.start[s.at()] as usize..self.links.start[s.at() + 1] as usize;
        let before = self.counts[s.at()];
        let (peers, firsts, ports) = (
            self.peers[range.clone()].to_vec(),
            self.firsts[range.clone()].to_vec(),
            self.ports[range].to_vec(),
        );
        self.rebuild_switch(live, ranking, s);
        let first = self.links.start[s.at()] as usize;
        let (groups, count) = (before.groups(), before.ports());
        before != self.counts[s.at()]
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
        let counts = &self.counts[s.at()];
        self.side(s, 0..counts.up_groups, 0..counts.up_ports)
    }

    /// Returns all groups below `s`.
    #[inline]
    pub(crate) fn below(&self, s: SwitchIndex) -> Side<'_> {
        let GroupCounts { up_groups, down_groups, up_ports, down_ports, .. } = self.counts[s.at()];
        self.side(s, up_groups..up_groups + down_groups, up_ports..up_ports + down_ports)
    }

    #[inline]
    fn side(&self, s: SwitchIndex, groups: Range<u8>, ports: Range<u8>) -> Side<'_> {
        let first = self.links.start[s.at()] as usize;
        let range = first + usize::from(groups.start)..first + usize::from(groups.end);
        Side {
            peers: &self.peers[range.clone()],
            firsts: &self.firsts[range],
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
        self.counts.len()
    }

    /// Returns whether every cable joins neighbouring ranks.
    pub(crate) fn are_levelled(&self) -> bool {
        self.counts.iter().all(|counts| !counts.has_flat_cables)
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
    /// Returns the groups of a switch that has none in the other direction. `firsts` has the index of the first port of each
    /// group.
    #[cfg(test)]
    pub(crate) fn alone(
        peers: &'a [SwitchIndex],
        firsts: &'a [u8],
        ports: &'a [PortNumber],
    ) -> Self {
        Side { peers, firsts, ports, before: 0 }
    }

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
