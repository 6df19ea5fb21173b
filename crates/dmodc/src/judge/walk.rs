//! The routes of one destination: the fate of a packet at every switch.
//!
//! Every switch has one next hop, or two where old and new tables are in force at once. A
//! depth-first search from the switches where packets start settles each switch once. A switch on
//! the current path that is met again closes a loop; since whoever can reach that loop finishes after
//! a member of it, flagging the search's back edges flags exactly the switches whose packets may loop.

use crate::fabric::{Live, Peer};
use crate::id::{PortNumber, SwitchIndex};
use crate::order::Orders;
use crate::rank::Ranking;
use crate::tables::{Destination, End, ForwardingTables};

/// What may happen to a packet from a switch on. Several things may happen if two tables are in force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Fates {
    /// It may end at a switch without a route, in a dead port or at the wrong node.
    pub(super) lost: bool,
    /// It may loop.
    pub(super) loops: bool,
    /// Its route goes up somewhere.
    up: bool,
    /// Its route goes up after it went down.
    pub(super) turns: bool,
}

impl Fates {
    pub(super) fn merge(&mut self, other: Fates) {
        self.lost |= other.lost;
        self.loops |= other.loops;
        self.up |= other.up;
        self.turns |= other.turns;
    }
}

/// Where a switch sends a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextHop {
    /// To its destination.
    Delivered,
    /// Nowhere.
    Lost,
    /// To another switch, out of a port.
    Switch { to: SwitchIndex, out: PortNumber },
}

/// The height of each switch: its rank, then its place in the switch order. A hop to a higher switch goes up.
pub(super) struct Heights(Vec<(u32, u32)>);

impl Heights {
    pub(super) fn new(live: Live<'_>, ranking: &Ranking, orders: &Orders) -> Self {
        let height = |s| (ranking.sort_rank(s), orders.position(s));
        Heights(live.fabric.switch_indices().map(height).collect())
    }

    /// Returns the live switches, from the lowest to the highest.
    pub(super) fn ascending(&self, live: Live<'_>) -> Vec<SwitchIndex> {
        let mut switches: Vec<SwitchIndex> = live.switches().collect();
        switches.sort_by_key(|s| self.0[s.at()]);
        switches
    }

    /// Returns whether a hop goes up.
    pub(super) fn is_up(&self, from: SwitchIndex, to: SwitchIndex) -> bool {
        self.0[to.at()] > self.0[from.at()]
    }
}

/// The tables in force: one, or two during an update.
pub(super) struct InForce<'a> {
    pub(super) live: Live<'a>,
    pub(super) tables: &'a [&'a ForwardingTables],
}

impl InForce<'_> {
    /// Returns where table `i` sends packets for a column at switch `s`.
    pub(super) fn next(&self, i: usize, s: SwitchIndex, column: usize, d: &Destination) -> NextHop {
        let Some(out) = self.tables[i].port(s, column) else { return NextHop::Lost };
        if out == PortNumber::SELF {
            return match d.end == End::Switch(s) {
                true => NextHop::Delivered,
                false => NextHop::Lost,
            };
        }
        match self.live.peer(s, out) {
            Peer::Switch(to, _) => NextHop::Switch { to, out },
            Peer::Node(n) if d.end == End::Node(n) => NextHop::Delivered,
            _ => NextHop::Lost,
        }
    }
}

const UNSEEN: u8 = 0;
const ON_PATH: u8 = 1;
const SETTLED: u8 = 2;

/// The walk for one destination after another. The arrays are kept between destinations.
pub(super) struct FateWalk {
    state: Vec<u8>,
    fates: Vec<Fates>,
    /// The path being searched: switch, next table to follow, fates so far.
    path: Vec<(SwitchIndex, usize, Fates)>,
    /// Settled switches, for resetting.
    touched: Vec<SwitchIndex>,
}

impl FateWalk {
    pub(super) fn new(switches: usize) -> Self {
        FateWalk {
            state: vec![UNSEEN; switches],
            fates: vec![Fates::default(); switches],
            path: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Forgets the last destination.
    pub(super) fn reset(&mut self) {
        for s in self.touched.drain(..) {
            self.state[s.at()] = UNSEEN;
        }
    }

    /// Settles and returns the fates of packets that start at `source`. Calls `hop` for every hop that such packets take
    /// and no packets took before, with the switch, its port, and the switch that it leads to.
    pub(super) fn from(
        &mut self,
        source: SwitchIndex,
        heights: &Heights,
        tables: usize,
        next: impl Fn(usize, SwitchIndex) -> NextHop,
        mut hop: impl FnMut(SwitchIndex, PortNumber, SwitchIndex),
    ) -> Fates {
        self.enter(source);
        while let Some((s, table, so_far)) = self.path.last_mut() {
            let s = *s;
            if *table == tables {
                let fates = *so_far;
                self.path.pop();
                self.fates[s.at()] = fates;
                self.state[s.at()] = SETTLED;
                continue;
            }
            match next(*table, s) {
                NextHop::Delivered => {}
                NextHop::Lost => so_far.lost = true,
                NextHop::Switch { to, out } => match self.state[to.at()] {
                    UNSEEN => {
                        // The search comes back to this hop when `to` is settled.
                        self.enter(to);
                        continue;
                    }
                    ON_PATH => {
                        hop(s, out, to);
                        so_far.loops = true;
                        // Directions have no cycle, so whatever loops goes down and up again.
                        so_far.turns = true;
                    }
                    _ => {
                        hop(s, out, to);
                        let mut after = self.fates[to.at()];
                        let up = heights.is_up(s, to);
                        after.turns |= !up && after.up;
                        after.up |= up;
                        so_far.merge(after);
                    }
                },
            }
            if let Some((_, table, _)) = self.path.last_mut() {
                *table += 1;
            }
        }
        self.fates[source.at()]
    }

    fn enter(&mut self, s: SwitchIndex) {
        if self.state[s.at()] == UNSEEN {
            self.state[s.at()] = ON_PATH;
            self.touched.push(s);
            self.path.push((s, 0, Fates::default()));
        }
    }
}
