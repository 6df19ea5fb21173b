//! [Relief](crate::relief), stated naively: every flow is followed again for each question. The fast form must move the same
//! entries.

use std::collections::BTreeMap;

use super::Graph;
use super::updown::Distances;
use crate::fabric::{Live, Peer};
use crate::id::{NodeIndex, PortNumber, SwitchIndex};
use crate::order::Orders;
use crate::tables::{End, ForwardingTables};

/// Of the moves that are equally good for all-to-all, this many are compared by their harm to shifts.
pub const COMPARED_MOVES: usize = 64;

/// Returns the greatest load that a port may keep, if no port can have less than `bound`.
pub const fn enough(bound: u64) -> u64 {
    bound + bound / 20
}

/// A directed port: the place of its switch in switch order, the switch, and the port.
type Port = (u32, SwitchIndex, PortNumber);

/// A possible move: what makes it better than others, then the position of its destination, the switch and the port.
type Move = ((u64, u64, u64), usize, Port);

/// Tables that are relieved.
struct NaiveRelief<'a> {
    live: Live<'a>,
    graph: &'a Graph,
    orders: &'a Orders,
    tables: &'a mut ForwardingTables,
    /// The nodes by position, and their columns.
    nodes: Vec<NodeIndex>,
    columns: Vec<usize>,
    /// The greatest load that any port had in each shift, at any time.
    greatest: Vec<u64>,
}

/// Relieves tables: `attempts` ports are relieved or set aside, at most. `nodes` are listed by position, and `bound` is the
/// bound of all-to-all.
pub fn relieve(
    (live, orders): (Live<'_>, &Orders),
    graph: &Graph,
    tables: &mut ForwardingTables,
    nodes: &[NodeIndex],
    bound: u64,
    attempts: usize,
) {
    let column = |n: &NodeIndex| {
        let is_of_node = |d: &crate::Destination| d.end == End::Node(*n) && d.k == 0;
        tables.columns().destinations().iter().position(is_of_node).expect("every node has one")
    };
    let columns = nodes.iter().map(column).collect();
    let greatest = vec![0; nodes.len()];
    let nodes = nodes.to_vec();
    let mut naive = NaiveRelief { live, graph, orders, tables, nodes, columns, greatest };
    naive.note_shifts();
    let mut set_aside = vec![];
    for _ in 0..attempts {
        let Some(worst) = naive.worst_port(&set_aside, enough(bound)) else { return };
        match naive.best_move(worst, enough(bound)) {
            Some((_, to, (_, s, port))) => {
                naive.tables.set(s, naive.columns[to], Some(port));
                naive.note_shifts();
            }
            None => set_aside.push(worst),
        }
    }
}

impl NaiveRelief<'_> {
    fn home(&self, position: usize) -> SwitchIndex {
        self.live.fabric.node(self.nodes[position]).switch
    }

    fn port(&self, s: SwitchIndex, port: PortNumber) -> Port {
        (self.orders.position(s), s, port)
    }

    /// Returns the directed ports of the route from a switch to a position; none if it does not arrive.
    fn route(&self, from: SwitchIndex, to: usize) -> Vec<Port> {
        let (mut s, mut ports) = (from, vec![]);
        while s != self.home(to) {
            let Some(port) = self.tables.port(s, self.columns[to]) else { return vec![] };
            let Peer::Switch(next, _) = self.live.peer(s, port) else { return vec![] };
            ports.push(self.port(s, port));
            s = next;
        }
        ports
    }

    /// Returns the positions whose flows to `to` pass a switch.
    fn sources(&self, s: SwitchIndex, to: usize) -> Vec<usize> {
        let passes = |from: &usize| self.route(self.home(*from), to).iter().any(|port| port.1 == s);
        (0..self.nodes.len()).filter(passes).collect()
    }

    /// Returns the flows over every port: of all-to-all, or of one shift.
    fn loads(&self, shift: Option<usize>) -> BTreeMap<Port, u64> {
        let mut loads = BTreeMap::new();
        for from in 0..self.nodes.len() {
            for to in 0..self.nodes.len() {
                if shift.is_none_or(|k| (from + k) % self.nodes.len() == to) {
                    for port in self.route(self.home(from), to) {
                        *loads.entry(port).or_default() += 1;
                    }
                }
            }
        }
        loads
    }

    /// Notes the greatest load of each shift.
    fn note_shifts(&mut self) {
        for k in 1..self.nodes.len() {
            let greatest = self.loads(Some(k)).into_values().max().unwrap_or(0);
            self.greatest[k] = self.greatest[k].max(greatest);
        }
    }

    /// Returns the port with the most flows, if these are more than enough.
    fn worst_port(&self, set_aside: &[Port], enough: u64) -> Option<Port> {
        let loads = self.loads(None);
        let others = loads.iter().filter(|(port, _)| !set_aside.contains(port));
        // Of equal ones, the first.
        let (&port, &load) = others.min_by_key(|(_, load)| std::cmp::Reverse(**load))?;
        (load > enough).then_some(port)
    }

    fn best_move(&self, worst: Port, enough: u64) -> Option<Move> {
        let loads = self.loads(None);
        let most = loads[&worst];
        let mut moves = vec![];
        for to in 0..self.nodes.len() {
            let distances = Distances::to(self.graph, self.home(to));
            for s in self.live.switches() {
                let old = self.route(s, to);
                let flows = self.sources(s, to).len() as u64;
                if flows == 0 || !old.contains(&worst) {
                    continue;
                }
                let closer = distances.closer(self.graph, s);
                for (group, &port) in
                    closer.iter().flat_map(|g| g.ports.iter().map(move |p| (g, p)))
                {
                    let mut new = vec![self.port(s, port)];
                    new.extend(self.route(group.switch, to));
                    let only_new = new.iter().filter(|port| !old.contains(port));
                    let load = |port| loads.get(port).copied().unwrap_or(0) + flows;
                    let load = only_new.map(load).max().unwrap_or(0);
                    if old[0] != self.port(s, port) && !new.contains(&worst) && load < most {
                        let overload = if load > enough { load } else { 0 };
                        moves.push(((overload, u64::MAX - flows, load), to, self.port(s, port)));
                    }
                }
            }
        }
        moves.sort_unstable();
        let ((overload, flows, _), ..) = *moves.first()?;
        moves.retain(|((o, f, _), ..)| (*o, *f) == (overload, flows));
        moves.truncate(COMPARED_MOVES);
        moves.into_iter().min_by_key(|one| self.harm(one))
    }

    /// Returns in how many shifts a port of the new route would get more flows than any port had.
    fn harm(&self, &(_, to, (_, s, port)): &Move) -> usize {
        let old = self.route(s, to);
        let Peer::Switch(next, _) = self.live.peer(s, port) else { return 0 };
        let mut new = vec![self.port(s, port)];
        new.extend(self.route(next, to));
        new.retain(|port| !old.contains(port));
        let is_harmed = |from: &usize| {
            let k = (to + self.nodes.len() - from) % self.nodes.len();
            let loads = self.loads(Some(k));
            let load = |port| loads.get(port).copied().unwrap_or(0);
            new.iter().any(|port| load(port) >= self.greatest[k])
        };
        self.sources(s, to).iter().filter(|from| is_harmed(from)).count()
    }
}
