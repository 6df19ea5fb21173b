//! Platforms of SimGrid: a host for each node, a link for each direction of a cable, and a route for each pair of nodes.
//!
//! ```text
//! <zone id="fabric" routing="Full">
//! <host id="0x0002c90300000001" speed="1f"><prop id="name" value="node-0"/></host>
//! <link id="0x0002c90300000001/1" bandwidth="400000000000bps" latency="0s"/>    from the node to its switch
//! <link id="0x0002c90100000001/3" bandwidth="400000000000bps" latency="0s"/>    out of port 3 of a switch
//! <route src="0x0002c90300000001" dst="0x0002c90300000002" symmetrical="NO"><link_ctn id="…"/>…</route>
//! ```
//!
//! The id of a host is the GUID of its port. The id of a link is the GUID and the port number of the end that sends. Every
//! link has the speed of its cable, as [fair rates](dmodc::judge::rates) have it, no latency, and is shared.
//!
//! Routes are found with [`trace`], hop by hop, and not with the code that computes loads and rates. So a simulation of the
//! platform judges that code, too.

use std::collections::BTreeSet;
use std::io::{self, Write};

use dmodc::fabric::{Peer, Rate};
use dmodc::judge::rates::commonest;
use dmodc::judge::{Fate, trace};
use dmodc::{End, NodeIndex, PortNumber, SwitchIndex};

use super::{RouteCounts, RoutedFabric};
use crate::graphml::text;

/// The bandwidth of all links if the fabric names no speeds, in gigabits per second.
const WITHOUT_SPEEDS: f64 = 1.0;

/// A link, by the end that sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Sender {
    Node(NodeIndex),
    Port(SwitchIndex, PortNumber),
}

struct Platform<'a> {
    routed: RoutedFabric<'a>,
    columns: Vec<Option<usize>>,
    /// The bandwidth of links without a known speed.
    usual: f64,
}

/// Writes the platform of all nodes with the routes of all ordered pairs. Returns how many pairs have a route; others are
/// left out.
///
/// The file has n² routes for n nodes, each of about 80 bytes and 36 more for each link.
///
/// # Errors
/// The error of the writer.
pub fn write(routed: RoutedFabric<'_>, out: &mut impl Write) -> io::Result<RouteCounts> {
    let platform = Platform::new(routed);
    let nodes = routed.nodes();
    let fabric = routed.live.fabric;
    let of_nodes = nodes.iter().map(|&n| Sender::Node(n));
    let of_switches = fabric.switch_indices().flat_map(|s| {
        let ports = (1..=fabric.switch(s).ports).map(PortNumber);
        ports
            .filter(move |&p| routed.live.peer(s, p) != Peer::None)
            .map(move |p| Sender::Port(s, p))
    });
    let links: Vec<Sender> = of_nodes.chain(of_switches).collect();
    let pairs = nodes.iter().flat_map(|&from| nodes.iter().map(move |&to| (from, to)));
    platform.write(&nodes, &links, pairs, out)
}

/// Writes the platform of some ordered pairs: their nodes, their routes and the links of these. Returns how many of the
/// pairs have a route; others are left out. A pair that is listed several times counts once.
///
/// # Errors
/// The error of the writer.
pub fn write_pairs(
    routed: RoutedFabric<'_>,
    pairs: &[(NodeIndex, NodeIndex)],
    out: &mut impl Write,
) -> io::Result<RouteCounts> {
    let platform = Platform::new(routed);
    let distinct: BTreeSet<(NodeIndex, NodeIndex)> = pairs.iter().copied().collect();
    let nodes: BTreeSet<NodeIndex> = distinct.iter().flat_map(|&(from, to)| [from, to]).collect();
    let links: BTreeSet<Sender> =
        distinct.iter().filter_map(|&(from, to)| platform.route(from, to)).flatten().collect();
    let (nodes, links) = (Vec::from_iter(nodes), Vec::from_iter(links));
    platform.write(&nodes, &links, distinct.into_iter(), out)
}

impl<'a> Platform<'a> {
    fn new(routed: RoutedFabric<'a>) -> Self {
        let fabric = routed.live.fabric;
        let of_nodes: Vec<Rate> = routed
            .nodes()
            .iter()
            .map(|&n| (fabric.node(n).switch, fabric.node(n).switch_port))
            .filter_map(|(s, p)| fabric.port(s, p))
            .map(|port| port.rate)
            .collect();
        let of_cables = || -> Vec<Rate> {
            let ends = fabric.inter_switch_cables().iter().map(|cable| cable.a);
            ends.filter_map(|(s, p)| fabric.port(s, p)).map(|port| port.rate).collect()
        };
        let usual = commonest(&of_nodes).or_else(|| commonest(&of_cables()));
        Platform {
            columns: routed.columns(),
            usual: usual.and_then(Rate::gigabits).unwrap_or(WITHOUT_SPEEDS),
            routed,
        }
    }

    /// Returns the links of the route between two nodes, if it arrives.
    fn route(&self, from: NodeIndex, to: NodeIndex) -> Option<Vec<Sender>> {
        let RoutedFabric { live, tables } = self.routed;
        let column = self.columns[to.at()].filter(|_| from != to && live.node(from))?;
        let (hops, fate) = trace(live, tables, live.fabric.node(from).switch, column);
        let out = hops.iter().filter_map(|hop| Some(Sender::Port(hop.switch, hop.out?)));
        (fate == Fate::Delivered).then(|| [Sender::Node(from)].into_iter().chain(out).collect())
    }

    fn write(
        &self,
        nodes: &[NodeIndex],
        links: &[Sender],
        pairs: impl Iterator<Item = (NodeIndex, NodeIndex)>,
        out: &mut impl Write,
    ) -> io::Result<RouteCounts> {
        let fabric = self.routed.live.fabric;
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(out, "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">")?;
        writeln!(out, "<platform version=\"4.1\">\n<zone id=\"fabric\" routing=\"Full\">")?;
        for &n in nodes {
            let name = text(End::Node(n).name(fabric)).replace('"', "&quot;");
            writeln!(
                out,
                "<host id=\"{}\" speed=\"1f\"><prop id=\"name\" value=\"{name}\"/></host>",
                fabric.node(n).guid
            )?;
        }
        for &link in links {
            writeln!(
                out,
                "<link id=\"{}\" bandwidth=\"{}bps\" latency=\"0s\" sharing_policy=\"SHARED\"/>",
                self.id(link),
                self.gigabits(link) * 1e9
            )?;
        }
        let mut counts = RouteCounts::default();
        for (from, to) in pairs.filter(|(from, to)| from != to) {
            let Some(route) = self.route(from, to) else {
                counts.left_out += 1;
                continue;
            };
            counts.routes += 1;
            let [src, dst] = [from, to].map(|n| fabric.node(n).guid);
            write!(out, "<route src=\"{src}\" dst=\"{dst}\" symmetrical=\"NO\">")?;
            for link in route {
                write!(out, "<link_ctn id=\"{}\"/>", self.id(link))?;
            }
            writeln!(out, "</route>")?;
        }
        writeln!(out, "</zone>\n</platform>")?;
        Ok(counts)
    }

    fn id(&self, link: Sender) -> String {
        let fabric = self.routed.live.fabric;
        match link {
            Sender::Node(n) => format!("{}/{}", fabric.node(n).guid, fabric.node(n).adapter_port),
            Sender::Port(s, p) => format!("{}/{p}", fabric.switch(s).guid),
        }
    }

    fn gigabits(&self, link: Sender) -> f64 {
        let fabric = self.routed.live.fabric;
        let (switch, port) = match link {
            Sender::Node(n) => (fabric.node(n).switch, fabric.node(n).switch_port),
            Sender::Port(s, p) => (s, p),
        };
        fabric.port(switch, port).and_then(|port| port.rate.gigabits()).unwrap_or(self.usual)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;

    #[test]
    fn all_pairs_or_some() {
        check(
            "2; 2,3; 1,2; 1,1",
            |dump| dump,
            |routed| {
                let mut whole = Vec::new();
                let counts = write(*routed, &mut whole).unwrap();
                assert_eq!(counts, RouteCounts { routes: 30, left_out: 0 });
                let whole = String::from_utf8(whole).unwrap();
                let count = |text: &str, what: &str| text.matches(what).count();
                assert_eq!((count(&whole, "<host "), count(&whole, "<link ")), (6, 6 * 2 + 6 * 2));
                // Two nodes of a leaf are two links apart, others four.
                assert_eq!(count(&whole, "<link_ctn "), 6 * 2 + 24 * 4);
                let n = |at| NodeIndex::new(at);
                let mut some = Vec::new();
                let pairs = [(n(0), n(1)), (n(0), n(5)), (n(0), n(1)), (n(2), n(2))];
                let counts = write_pairs(*routed, &pairs, &mut some).unwrap();
                assert_eq!(counts, RouteCounts { routes: 2, left_out: 0 });
                let some = String::from_utf8(some).unwrap();
                assert_eq!((count(&some, "<host "), count(&some, "<link ")), (4, 5));
                let routes = some.lines().filter(|line| line.starts_with("<route "));
                assert!(routes.into_iter().all(|line| whole.contains(line)));
            },
        );
    }
}
