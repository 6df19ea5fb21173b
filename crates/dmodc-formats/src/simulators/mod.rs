//! Inputs of network simulators: a fabric together with the routes of its tables.
//!
//! | simulator | | what is written |
//! |---|---|---|
//! | SimGrid | [`simgrid`] | a platform: hosts, directed links, and the route of every pair |
//! | CODES | [`codes`] | a table for each switch, numbered as the fat-tree model numbers its parts |
//! | LogGOPSim | [`loggopsim`] | a directed graph whose edges list the destinations that use them |
//!
//! Simulators trust what they read: some of them never end if tables send a packet in circles. So only entries on routes
//! that arrive are written, and pairs without such a route are counted.

pub mod codes;
pub mod loggopsim;
pub mod simgrid;

use dmodc::fabric::Peer;
use dmodc::{End, ForwardingTables, Live, NodeIndex, PortNumber, SwitchIndex};

/// A fabric and the tables whose routes are written.
#[derive(Clone, Copy, Debug)]
pub struct RoutedFabric<'a> {
    /// The fabric.
    pub live: Live<'a>,
    /// Its tables.
    pub tables: &'a ForwardingTables,
}

/// How many ordered pairs of nodes have a route that arrives, and how many have none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RouteCounts {
    /// Pairs with a route.
    pub routes: u64,
    /// Pairs without one.
    pub left_out: u64,
}

/// What is known of the route from a switch to a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    Unknown,
    /// The switch is on the route that is followed at present.
    Followed,
    Yes,
    No,
}

impl<'a> RoutedFabric<'a> {
    /// Returns the nodes that send and receive: all that are alive, without aggregation nodes.
    pub fn nodes(&self) -> Vec<NodeIndex> {
        let fabric = self.live.fabric;
        let counts = |n: &NodeIndex| self.live.node(*n) && !fabric.is_aggregation(*n);
        fabric.node_indices().filter(counts).collect()
    }

    /// Returns the column of the base LID of each node of the fabric.
    fn columns(&self) -> Vec<Option<usize>> {
        let mut columns = vec![None; self.live.fabric.nodes().len()];
        for (at, d) in self.tables.columns().destinations().iter().enumerate() {
            if let (End::Node(n), 0) = (d.end, d.k) {
                columns[n.at()] = Some(at);
            }
        }
        columns
    }

    /// Returns for each switch the port of its table, if the route from there arrives at the destination of a column.
    ///
    /// Each switch is followed once: O(switches).
    fn ports_that_arrive(&self, column: usize) -> Vec<Option<PortNumber>> {
        let mut arrivals = vec![Arrival::Unknown; self.live.fabric.switches().len()];
        let mut route = Vec::new();
        for start in self.live.switches() {
            let mut switch = start;
            let end = loop {
                match arrivals[switch.at()] {
                    Arrival::Unknown => {}
                    // The route came back to a switch, so it never arrives.
                    Arrival::Followed => break Arrival::No,
                    known => break known,
                }
                arrivals[switch.at()] = Arrival::Followed;
                route.push(switch);
                match self.next(switch, column) {
                    NextHop::Switch(next) => switch = next,
                    NextHop::Arrived => break Arrival::Yes,
                    NextHop::Lost => break Arrival::No,
                }
            };
            route.drain(..).for_each(|switch: SwitchIndex| arrivals[switch.at()] = end);
        }
        let port = |s: SwitchIndex| match arrivals[s.at()] {
            Arrival::Yes => self.tables.port(s, column),
            _ => None,
        };
        self.live.fabric.switch_indices().map(port).collect()
    }

    fn next(&self, switch: SwitchIndex, column: usize) -> NextHop {
        let end = self.tables.columns().destinations()[column].end;
        let Some(port) = self.tables.port(switch, column) else { return NextHop::Lost };
        match self.live.peer(switch, port) {
            Peer::Node(n) if end == End::Node(n) => NextHop::Arrived,
            Peer::Switch(next, _) => NextHop::Switch(next),
            _ => NextHop::Lost,
        }
    }
}

/// Where an entry sends a packet.
enum NextHop {
    Switch(SwitchIndex),
    Arrived,
    Lost,
}

impl RouteCounts {
    /// Counts the pairs of a destination, whose `ports` are those that [arrive](RoutedFabric::ports_that_arrive).
    fn add(
        &mut self,
        routed: &RoutedFabric<'_>,
        nodes: &[NodeIndex],
        to: NodeIndex,
        ports: &[Option<PortNumber>],
    ) {
        for &from in nodes.iter().filter(|&&from| from != to) {
            match ports[routed.live.fabric.node(from).switch.at()] {
                Some(_) => self.routes += 1,
                None => self.left_out += 1,
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use dmodc::{Degradation, Fabric, Pgft, Routing, RoutingOptions};

    /// Returns a fabric, and its tables with `spoil` applied to a dump of them.
    pub(crate) fn check(
        tuple: &str,
        spoil: impl Fn(String) -> String,
        with: impl FnOnce(&RoutedFabric<'_>),
    ) {
        let fabric: Fabric = tuple.parse::<Pgft>().unwrap().fabric(Default::default());
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        let routing = Routing::new(live, &RoutingOptions::default());
        let (tables, _) = routing.route(live, &dmodc::Dmodc).unwrap();
        let mut dump = Vec::new();
        crate::lft::write(live, &tables, &[], &mut dump).unwrap();
        let dump = spoil(String::from_utf8(dump).unwrap());
        let lft = crate::lft::read(dump.as_bytes(), &fabric).unwrap();
        let tables = &crate::lft::Lft::tables(&[&lft], &fabric).unwrap()[0];
        with(&RoutedFabric { live, tables });
    }

    /// Following every route alone finds the same.
    #[test]
    fn only_entries_on_routes_that_arrive_are_kept() {
        // The second spine has no table, the first one sends everything to the first leaf, and that leaf sends node 3 to node 0.
        let spoil = |dump: String| {
            let tables: Vec<&str> = dump.split_inclusive("Unicast lids").collect();
            let spine = tables.len() - 2;
            let all_first = |line: &str| match line.get(..7) {
                Some(lid) if line.starts_with("0x") => format!("{lid}001{}", &line[10..]),
                _ => line.to_owned(),
            };
            let part = |(at, part): (usize, &&str)| match at {
                1 => part
                    .replace("0x0004 002", "0x0004 001")
                    .replace("0x0004 003", "0x0004 001")
                    .replace("0x0004 004", "0x0004 001"),
                at if at == spine => part.split_inclusive('\n').map(all_first).collect(),
                _ => (*part).to_owned(),
            };
            let spoilt: String = tables[..tables.len() - 1].iter().enumerate().map(part).collect();
            spoilt.strip_suffix("Unicast lids").unwrap().to_owned()
        };
        check("2; 2,3; 1,2; 1,1", spoil, |routed| {
            let columns = routed.columns();
            let (mut counts, mut traced) = (RouteCounts::default(), RouteCounts::default());
            let nodes = routed.nodes();
            let mut loops = 0;
            for &to in &nodes {
                let column = columns[to.at()].unwrap();
                let ports = routed.ports_that_arrive(column);
                counts.add(routed, &nodes, to, &ports);
                for s in routed.live.fabric.switch_indices() {
                    let (hops, fate) = dmodc::judge::trace(routed.live, routed.tables, s, column);
                    let expected = (fate == dmodc::judge::Fate::Delivered).then(|| hops[0].out);
                    assert_eq!(ports[s.at()], expected.flatten());
                    loops += usize::from(fate == dmodc::judge::Fate::Loops);
                }
                for &from in nodes.iter().filter(|&&from| from != to) {
                    let start = routed.live.fabric.node(from).switch;
                    match dmodc::judge::trace(routed.live, routed.tables, start, column).1 {
                        dmodc::judge::Fate::Delivered => traced.routes += 1,
                        _ => traced.left_out += 1,
                    }
                }
            }
            assert_eq!(counts, traced);
            assert!(counts.routes > 0 && counts.left_out > 0, "{counts:?}");
            assert!(loops > 0, "the first spine sends packets back");
        });
    }
}
