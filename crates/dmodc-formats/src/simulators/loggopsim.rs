//! Networks of LogGOPSim: a directed graph in Graphviz's language, annotated with routes.
//!
//! ```text
//! digraph fabric {
//! H0 [label="node-0"];
//! S0 [label="L1-0"];
//! H0 -> S0 [comment="*"];              everything that H0 sends
//! S0 -> H0 [comment="H0"];
//! S0 -> S3 [comment="H2,H3"];          what S0 sends to H2 and H3
//! }
//! ```
//!
//! LogGOPSim takes vertices whose names begin with H for hosts, and numbers its ranks in the order in which the file has
//! them. An edge is one direction of a cable, and parallel cables are parallel edges. The comment of an edge lists the
//! destinations that use it, or is `*` if it is the only way out.

use std::io::{self, Write};

use dmodc::fabric::Peer;
use dmodc::{End, NodeIndex, PortNumber, SwitchIndex};

use super::{RouteCounts, RoutedFabric};
use crate::scan::printable;

/// Writes the graph. Rank i is the i-th of these nodes. Returns how many ordered pairs of them have a route; entries of
/// routes that do not arrive are left out, so that LogGOPSim stops where it would need one.
///
/// # Errors
/// The error of the writer.
///
/// # Panics
/// If a node has no live cable.
pub fn write(
    routed: RoutedFabric<'_>,
    ranks: &[NodeIndex],
    out: &mut impl Write,
) -> io::Result<RouteCounts> {
    let fabric = routed.live.fabric;
    let label = |end: End| printable(end.name(fabric)).replace('\\', "\\\\").replace('"', "\\\"");
    writeln!(out, "digraph fabric {{")?;
    for (rank, &n) in ranks.iter().enumerate() {
        writeln!(out, "H{rank} [label=\"{}\"];", label(End::Node(n)))?;
    }
    for s in fabric.switch_indices() {
        writeln!(out, "S{} [label=\"{}\"];", s.at(), label(End::Switch(s)))?;
    }
    let (destinations, counts) = by_port(&routed, ranks);
    let mut rank_of = vec![None; fabric.nodes().len()];
    for (rank, &n) in ranks.iter().enumerate() {
        assert!(routed.live.node(n), "a rank needs a cable");
        rank_of[n.at()] = Some(rank);
        writeln!(out, "H{rank} -> S{} [comment=\"*\"];", fabric.node(n).switch.at())?;
    }
    for s in fabric.switch_indices() {
        for p in (1..=fabric.switch(s).ports).map(PortNumber) {
            let peer = match routed.live.peer(s, p) {
                Peer::Switch(peer, _) => format!("S{}", peer.at()),
                Peer::Node(n) => match rank_of[n.at()] {
                    Some(rank) => format!("H{rank}"),
                    None => continue,
                },
                Peer::None => continue,
            };
            let list: Vec<String> = destinations[fabric.port_slot(s, p)]
                .iter()
                .map(|rank| format!("H{rank}"))
                .collect();
            writeln!(out, "S{} -> {peer} [comment=\"{}\"];", s.at(), list.join(","))?;
        }
    }
    writeln!(out, "}}")?;
    Ok(counts)
}

/// Returns the ranks that each port of a switch is used for, by [slot](dmodc::Fabric::port_slot).
fn by_port(routed: &RoutedFabric<'_>, ranks: &[NodeIndex]) -> (Vec<Vec<u32>>, RouteCounts) {
    let fabric = routed.live.fabric;
    let columns = routed.columns();
    let mut destinations = vec![Vec::new(); fabric.port_slots()];
    let mut counts = RouteCounts::default();
    for (rank, &to) in ranks.iter().enumerate() {
        let ports = match columns[to.at()] {
            Some(column) => routed.ports_that_arrive(column),
            None => vec![None; fabric.switches().len()],
        };
        counts.add(routed, ranks, to, &ports);
        for (s, port) in ports.iter().enumerate() {
            if let Some(port) = *port {
                destinations[fabric.port_slot(SwitchIndex::new(s), port)].push(rank as u32);
            }
        }
    }
    (destinations, counts)
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::*;
    use std::collections::HashMap;

    /// Follows comments as LogGOPSim does.
    fn hops(graph: &str, from: &str, to: &str) -> Option<usize> {
        let mut edges: HashMap<&str, Vec<(&str, &str)>> = HashMap::new();
        for line in graph.lines().filter(|line| line.contains(" -> ")) {
            let (tail, rest) = line.split_once(" -> ").unwrap();
            let (head, comment) = rest.split_once(" [comment=\"").unwrap();
            edges.entry(tail).or_default().push((head, comment.strip_suffix("\"];").unwrap()));
        }
        let (mut at, mut hops) = (from, 0);
        while at != to {
            let leads = |comment: &str| comment == "*" || comment.split(',').any(|name| name == to);
            at = edges[at].iter().find(|(_, comment)| leads(comment))?.0;
            hops += 1;
        }
        Some(hops)
    }

    #[test]
    fn comments_lead_to_every_host() {
        check(
            "3; 2,2,2; 1,2,2; 1,1,2",
            |dump| dump,
            |routed| {
                let mut graph = Vec::new();
                let ranks = routed.nodes();
                let counts = write(*routed, &ranks, &mut graph).unwrap();
                assert_eq!(counts, RouteCounts { routes: 56, left_out: 0 });
                let graph = String::from_utf8(graph).unwrap();
                assert_eq!(hops(&graph, "H0", "H1"), Some(2));
                assert_eq!(hops(&graph, "H0", "H3"), Some(4));
                assert_eq!(hops(&graph, "H7", "H0"), Some(6));
                // Both directions of each of the cables.
                assert_eq!(graph.matches(" -> ").count(), 2 * routed.live.fabric.cable_count());
            },
        );
    }

    #[test]
    fn lost_pairs_are_counted() {
        let spoil = |dump: String| dump[..dump.rfind("Unicast lids").unwrap()].to_owned();
        check("2; 2,3; 1,2; 1,1", spoil, |routed| {
            let counts = write(*routed, &routed.nodes(), &mut Vec::new()).unwrap();
            assert!(counts.left_out > 0);
            assert_eq!(counts.routes + counts.left_out, 30);
        });
    }
}
