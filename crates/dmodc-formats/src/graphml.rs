//! GraphML, for NetworkX, Gephi and other programs that read graphs.
//!
//! A vertex is a switch or an adapter, an edge is a cable; parallel cables are parallel edges. The id of a vertex is its
//! GUID. Edges are undirected, so tools may forget which end is the source: it is always the end that comes first in the
//! file, which is also the order in which NetworkX returns the ends of an edge.

use std::io::{self, Write};

use dmodc::fabric::{AdapterKind, Rate};
use dmodc::{Degradation, Fabric, Guid, LeafRule, Lid, Live, PortNumber, Ranking, SwitchIndex};

use crate::scan::printable;

/// All attributes: what they belong to, their name (which is their id, too), and their type.
const ATTRIBUTES: [(&str, &str, &str); 8] = [
    ("node", "kind", "string"),
    ("node", "name", "string"),
    ("node", "guid", "string"),
    ("node", "lid", "long"),
    ("node", "rank", "int"),
    ("edge", "source_port", "int"),
    ("edge", "target_port", "int"),
    ("edge", "rate", "string"),
];

/// Writes the graph. Vertices have `kind` (`switch`, `host`, `aggregation`, `router`, `aside`), `name`,
/// `guid`, `lid` and, if they are switches from which a leaf can be reached, `rank`; edges have
/// `source_port`, `target_port` and `rate`. An adapter's `lid` is that of its first cabled port.
///
/// # Errors
/// The error of the writer.
pub fn write(fabric: &Fabric, out: &mut impl Write) -> io::Result<()> {
    let healthy = Degradation::none(fabric);
    let ranking = Ranking::new(Live::new(fabric, &healthy), &LeafRule::Detect);
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">")?;
    for (of, name, kind) in ATTRIBUTES {
        writeln!(
            out,
            "<key id=\"{name}\" for=\"{of}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>"
        )?;
    }
    writeln!(out, "<graph id=\"fabric\" edgedefault=\"undirected\">")?;
    for s in fabric.switch_indices() {
        let switch = fabric.switch(s);
        let vertex = GraphVertex {
            kind: "switch",
            guid: switch.guid,
            name: &switch.name,
            lid: Some(switch.lid),
            rank: ranking.rank(s),
        };
        vertex.write(out)?;
    }
    let mut first = vec![None; fabric.adapters().len()];
    for node in fabric.nodes() {
        let here = (node.adapter_port, node.lid);
        let least = first[node.adapter.at()].get_or_insert(here);
        *least = here.min(*least);
    }
    for (adapter, first) in fabric.adapters().iter().zip(first) {
        let kind = match adapter.kind {
            AdapterKind::Host => "host",
            AdapterKind::Aggregation => "aggregation",
            AdapterKind::Router => "router",
            AdapterKind::Aside => "aside",
        };
        let (guid, name, lid) = (adapter.guid, &*adapter.name, first.map(|(_, lid)| lid));
        GraphVertex { kind, guid, name, lid, rank: None }.write(out)?;
    }
    let between = fabric.inter_switch_cables().iter().map(|cable| GraphEdge {
        switch: cable.a.0,
        port: cable.a.1,
        target: fabric.switch(cable.b.0).guid,
        target_port: cable.b.1,
    });
    let to_nodes = fabric.nodes().iter().map(|node| GraphEdge {
        switch: node.switch,
        port: node.switch_port,
        target: fabric.adapters()[node.adapter.at()].guid,
        target_port: node.adapter_port,
    });
    for (number, edge) in between.chain(to_nodes).enumerate() {
        edge.write(fabric, number, out)?;
    }
    writeln!(out, "</graph>\n</graphml>")
}

/// A switch or an adapter.
struct GraphVertex<'a> {
    kind: &'a str,
    guid: Guid,
    name: &'a str,
    lid: Option<Lid>,
    rank: Option<u32>,
}

impl GraphVertex<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let GraphVertex { kind, guid, name, lid, rank } = self;
        write!(out, "<node id=\"{guid}\">{}{}", data("kind", kind), data("name", text(name)))?;
        write!(out, "{}", data("guid", guid))?;
        if let Some(lid) = lid {
            write!(out, "{}", data("lid", lid))?;
        }
        if let Some(rank) = rank {
            write!(out, "{}", data("rank", rank))?;
        }
        writeln!(out, "</node>")
    }
}

/// A cable, from a port of a switch.
struct GraphEdge {
    switch: SwitchIndex,
    port: PortNumber,
    target: Guid,
    target_port: PortNumber,
}

impl GraphEdge {
    fn write(&self, fabric: &Fabric, number: usize, out: &mut impl Write) -> io::Result<()> {
        let GraphEdge { switch, port, target, target_port } = *self;
        let source = fabric.switch(switch).guid;
        let rate = fabric.port(switch, port).map_or(Rate::default(), |port| port.rate);
        writeln!(
            out,
            "<edge id=\"e{number}\" source=\"{source}\" target=\"{target}\">{}{}{}</edge>",
            data("source_port", port),
            data("target_port", target_port),
            data("rate", rate)
        )
    }
}

fn data(key: &str, value: impl std::fmt::Display) -> String {
    format!("<data key=\"{key}\">{value}</data>")
}

/// Returns a description as XML may hold it.
pub(crate) fn text(name: &str) -> String {
    let mut safe = String::with_capacity(name.len());
    for c in printable(name).chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // XML has no way to write these two.
            '\u{fffe}' | '\u{ffff}' => {}
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::Pgft;

    #[test]
    fn figure_1_has_all_its_vertices_and_edges() {
        let fabric = "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let mut graph = Vec::new();
        write(&fabric, &mut graph).unwrap();
        let graph = String::from_utf8(graph).unwrap();
        assert_eq!(graph.matches("<node ").count(), 12 + 16);
        assert_eq!(graph.matches("<edge ").count(), 12 + 24 + 12);
        assert_eq!(graph.matches("</edge>").count(), fabric.cable_count());
        assert_eq!(graph.matches("<data key=\"rank\">0<").count(), 6);
        assert_eq!(graph.matches("<data key=\"rank\">").count(), 16);
        assert_eq!(graph.matches("<data key=\"kind\">host<").count(), 12);
        assert_eq!(graph.matches("<data key=\"lid\">").count(), 12 + 16);
        assert_eq!(graph.matches("<key ").count(), 8);
        assert!(graph.contains(
            "<node id=\"0x02d0dc0000000010\"><data key=\"kind\">host</data>\
             <data key=\"name\">node-0</data><data key=\"guid\">0x02d0dc0000000010</data>\
             <data key=\"lid\">1</data></node>"
        ));
        assert!(graph.contains(
            "source=\"0x02d0dc0100000001\" target=\"0x02d0dc0000000020\">\
             <data key=\"source_port\">2</data><data key=\"target_port\">1</data>\
             <data key=\"rate\">4xNDR</data>"
        ));
    }

    #[test]
    fn names_are_made_safe() {
        assert_eq!(text("a<b> & \"c\"\u{1}\n'd'\u{ffff}ü"), "a&lt;b&gt; &amp; \"c\"  'd'ü");
    }
}
