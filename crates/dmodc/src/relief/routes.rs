//! The routes to every node, as one tree for each destination, and the flows of all-to-all over them.

use crate::fabric::{Live, Peer};
use crate::id::{NodeIndex, PortNumber, SwitchIndex};
use crate::order::Orders;
use crate::parallel;
use crate::tables::{End, ForwardingTables, MovedEntry, NO_ROUTE};

/// No switch.
const NOWHERE: u32 = u32::MAX;

/// The number of a directed port, without regard to whether it has a cable.
pub(super) type PortIndex = u32;

/// The trees of all destinations. The tree of a destination leads from every switch to the switch of the destination.
pub(super) struct RouteTrees {
    switch_count: usize,
    /// The switches in switch order. Here a switch is its place in this list, so that nothing depends on the order of a file.
    switches: Vec<SwitchIndex>,
    /// The first port of each switch: port p of switch s is number `starts[s] + p`.
    starts: Vec<u32>,
    /// For each directed port, the switch at its other end.
    ends: Vec<u32>,
    /// The switches that each switch is cabled to.
    neighbours: Vec<Vec<u32>>,
    /// For each destination, in the order of positions.
    pub(super) columns: Vec<TreeColumn>,
    /// The positions of the nodes of each switch.
    pub(super) positions: Vec<Vec<u32>>,
    /// Entries by destination, then switch.
    entries: Vec<u8>,
    /// By destination, then switch: the flows that pass the switch on their way to the destination.
    flows: Vec<u16>,
    /// The flows over each directed port.
    loads: Vec<u64>,
}

/// A destination.
#[derive(Clone, Copy)]
pub(super) struct TreeColumn {
    /// Its column in the tables.
    pub(super) column: u32,
    /// Its switch.
    pub(super) home: u32,
}

impl RouteTrees {
    /// Counts the flows of these nodes, which are listed by position.
    pub(super) fn new(
        live: Live<'_>,
        orders: &Orders,
        tables: &ForwardingTables,
        nodes: &[NodeIndex],
    ) -> Self {
        let fabric = live.fabric;
        let switch_count = fabric.switches().len();
        let mut switches: Vec<SwitchIndex> = fabric.switch_indices().collect();
        switches.sort_by_key(|s| orders.position(*s));
        let mut place = vec![0; switch_count];
        for (at, s) in (0u32..).zip(&switches) {
            place[s.at()] = at;
        }
        let mut starts = vec![0];
        for &s in &switches {
            starts.push(starts[starts.len() - 1] + u32::from(fabric.switch(s).ports) + 1);
        }
        let mut ends = vec![NOWHERE; starts[switch_count] as usize];
        let mut neighbours = vec![vec![]; switch_count];
        for s in live.switches() {
            let at = place[s.at()] as usize;
            for port in (1..=fabric.switch(s).ports).map(PortNumber) {
                if let Peer::Switch(peer, _) = live.peer(s, port) {
                    ends[starts[at] as usize + usize::from(port.0)] = place[peer.at()];
                    neighbours[at].push(place[peer.at()]);
                }
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let mut column_of = vec![0; fabric.nodes().len()];
        for (column, d) in (0..).zip(tables.columns().destinations()) {
            if let (End::Node(n), 0) = (d.end, d.k) {
                column_of[n.at()] = column;
            }
        }
        let of_node = |&n: &NodeIndex| TreeColumn {
            column: column_of[n.at()],
            home: place[fabric.node(n).switch.at()],
        };
        let columns: Vec<TreeColumn> = nodes.iter().map(of_node).collect();
        let mut positions = vec![vec![]; switch_count];
        for (position, column) in (0..).zip(&columns) {
            positions[column.home as usize].push(position);
        }
        let mut trees = RouteTrees {
            switch_count,
            switches,
            entries: vec![NO_ROUTE; columns.len() * switch_count],
            flows: vec![0; columns.len() * switch_count],
            loads: vec![0; ends.len()],
            starts,
            ends,
            neighbours,
            columns,
            positions,
        };
        trees.count(tables);
        trees
    }

    fn count(&mut self, tables: &ForwardingTables) {
        let mut entries = std::mem::take(&mut self.entries);
        let mut flows = std::mem::take(&mut self.flows);
        let width = self.switch_count.max(1);
        let each = entries.chunks_mut(width).zip(flows.chunks_mut(width)).zip(&self.columns);
        parallel::for_each(each, |((entries, flows), column)| {
            for (at, entry) in entries.iter_mut().enumerate() {
                let port = tables.port(self.switches[at], column.column as usize);
                *entry = port.map_or(NO_ROUTE, |port| port.0);
            }
            for (from, positions) in self.positions.iter().enumerate() {
                self.follow(entries, from as u32, column.home, |s, _| {
                    flows[s as usize] += positions.len() as u16;
                });
            }
        });
        for (entries, flows) in entries.chunks(width).zip(flows.chunks(width)) {
            for (s, (&entry, &flows)) in entries.iter().zip(flows).enumerate() {
                if flows > 0 {
                    self.loads[self.starts[s] as usize + usize::from(entry)] += u64::from(flows);
                }
            }
        }
        (self.entries, self.flows) = (entries, flows);
    }

    /// Calls `each` with every switch of a route and the port by which the route leaves it. A route that does not arrive has
    /// no switches.
    fn follow(&self, entries: &[u8], from: u32, home: u32, mut each: impl FnMut(u32, PortIndex)) {
        // Routes are up*down*, so they visit no switch twice: a first walk finds out whether they arrive.
        let next = |s: u32| {
            let port = entries[s as usize];
            (port != NO_ROUTE).then(|| self.starts[s as usize] + u32::from(port))
        };
        let mut s = from;
        while s != home {
            match next(s).map(|port| self.ends[port as usize]) {
                Some(end) if end != NOWHERE => s = end,
                _ => return,
            }
        }
        let mut s = from;
        while let Some(port) = (s != home).then(|| next(s)).flatten() {
            each(s, port);
            s = self.ends[port as usize];
        }
    }

    /// Returns the index of a switch in the fabric.
    pub(super) fn switch(&self, s: u32) -> SwitchIndex {
        self.switches[s as usize]
    }

    fn entries(&self, tree: usize) -> &[u8] {
        &self.entries[tree * self.switch_count..][..self.switch_count]
    }

    /// Returns the flows that pass a switch on their way to a destination.
    pub(super) fn flows(&self, tree: usize, s: u32) -> u64 {
        self.flows[tree * self.switch_count + s as usize].into()
    }

    pub(super) fn load(&self, port: PortIndex) -> u64 {
        self.loads[port as usize]
    }

    pub(super) fn greatest_load(&self) -> u64 {
        self.loads.iter().copied().max().unwrap_or(0)
    }

    pub(super) fn port_count(&self) -> usize {
        self.ends.len()
    }

    /// Returns the port with the greatest load among those that are not set aside, the first of equal ones, and its switch.
    pub(super) fn worst_port(&self, set_aside: &[bool]) -> Option<(PortIndex, u32)> {
        let ports = self.loads.iter().zip(set_aside).enumerate();
        let others = ports.filter(|(_, (_, is_aside))| !**is_aside);
        let (port, _) = others.min_by_key(|(_, (load, _))| std::cmp::Reverse(**load))?;
        let switch = self.starts.partition_point(|&start| start as usize <= port) as u32 - 1;
        Some((port as u32, switch))
    }

    pub(super) fn port_of(&self, s: u32, port: PortNumber) -> PortIndex {
        self.starts[s as usize] + u32::from(port.0)
    }

    /// Returns whether the route to a destination leaves a switch by this port, with some flows on it.
    pub(super) fn uses(&self, tree: usize, s: u32, port: PortIndex) -> bool {
        self.flows(tree, s) > 0
            && self.starts[s as usize] + u32::from(self.entries(tree)[s as usize]) == port
    }

    /// Appends the ports of the route from a switch to a destination.
    pub(super) fn route(&self, tree: usize, from: u32, ports: &mut Vec<PortIndex>) {
        let home = self.columns[tree].home;
        self.follow(self.entries(tree), from, home, |_, port| ports.push(port));
    }

    /// Appends the ports of the route that leaves a switch by `first` and then follows the tree.
    pub(super) fn route_by(&self, tree: usize, first: PortIndex, ports: &mut Vec<PortIndex>) {
        ports.push(first);
        self.route(tree, self.ends[first as usize], ports);
    }

    /// Appends the switches whose flows to a destination pass switch `s`, itself among them.
    pub(super) fn upstream(&self, tree: usize, s: u32, switches: &mut Vec<u32>) {
        let entries = self.entries(tree);
        let mut at = switches.len();
        switches.push(s);
        while at < switches.len() {
            let to = switches[at];
            for &from in &self.neighbours[to as usize] {
                let entry = entries[from as usize];
                let leads_here = entry != NO_ROUTE
                    && self.ends[(self.starts[from as usize] + u32::from(entry)) as usize] == to;
                if leads_here && from != self.columns[tree].home && self.flows(tree, from) > 0 {
                    switches.push(from);
                }
            }
            at += 1;
        }
    }

    /// Gives an entry another port, and moves its flows from the old route to the new one.
    pub(super) fn set(&mut self, tree: usize, s: u32, port: PortIndex) {
        let flows = self.flows(tree, s);
        let mut ports = vec![];
        for is_new in [false, true] {
            ports.clear();
            self.route(tree, s, &mut ports);
            let mut at = s;
            for &port in &ports {
                let passing = &mut self.flows[tree * self.switch_count + at as usize];
                if is_new {
                    self.loads[port as usize] += flows;
                    *passing += if at == s { 0 } else { flows as u16 };
                } else {
                    self.loads[port as usize] -= flows;
                    *passing -= if at == s { 0 } else { flows as u16 };
                }
                at = self.ends[port as usize];
            }
            if !is_new {
                let entry = (port - self.starts[s as usize]) as u8;
                self.entries[tree * self.switch_count + s as usize] = entry;
            }
        }
    }

    /// Returns the entries that differ from those of some tables.
    pub(super) fn moved_entries(&self, tables: &ForwardingTables) -> Vec<MovedEntry> {
        let mut moved = vec![];
        for (tree, column) in self.columns.iter().enumerate() {
            for (s, &entry) in self.entries(tree).iter().enumerate() {
                let (switch, port) = (self.switches[s], PortNumber(entry));
                let before = tables.port(switch, column.column as usize);
                if before.map_or(NO_ROUTE, |port| port.0) != entry {
                    moved.push(MovedEntry { column: column.column, switch, port });
                }
            }
        }
        moved.sort_unstable();
        moved
    }
}
