//! GraphML, for NetworkX, Gephi and whatever else reads graphs.
//!
//! A vertex is a switch or an adapter, an edge is a cable; parallel cables are parallel edges. A
//! vertex's id is its GUID. Edges are undirected, so tools may forget which end was the source: it is
//! always the one that stands first in the file, which is how NetworkX gives its edges back.

use std::io::{self, Write};

use dmodc::fabric::{AdapterKind, Rate};
use dmodc::{Degradation, Fabric, Guid, LeafRule, Lid, Live, PortNumber, Ranking, SwitchIndex};

use crate::scan::printable;

/// Every attribute: its name is its id, too.
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
/// What the writer says.
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
        let vertex = ("switch", switch.guid, &*switch.name);
        write_vertex(vertex, Some(switch.lid), ranking.rank(s), out)?;
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
        write_vertex((kind, adapter.guid, &adapter.name), first.map(|(_, lid)| lid), None, out)?;
    }
    let between = fabric
        .inter_switch_cables()
        .iter()
        .map(|cable| (cable.a, (fabric.switch(cable.b.0).guid, cable.b.1)));
    let to_nodes = fabric.nodes().iter().map(|node| {
        let adapter = &fabric.adapters()[node.adapter.at()];
        ((node.switch, node.switch_port), (adapter.guid, node.adapter_port))
    });
    for (at, (switch, peer)) in between.chain(to_nodes).enumerate() {
        write_edge(fabric, at, switch, peer, out)?;
    }
    writeln!(out, "</graph>\n</graphml>")
}

fn write_vertex(
    (kind, guid, name): (&str, Guid, &str),
    lid: Option<Lid>,
    rank: Option<u32>,
    out: &mut impl Write,
) -> io::Result<()> {
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

fn write_edge(
    fabric: &Fabric,
    at: usize,
    (switch, port): (SwitchIndex, PortNumber),
    (target, target_port): (Guid, PortNumber),
    out: &mut impl Write,
) -> io::Result<()> {
    let source = fabric.switch(switch).guid;
    let rate = fabric.port(switch, port).map_or(Rate::default(), |port| port.rate);
    writeln!(
        out,
        "<edge id=\"e{at}\" source=\"{source}\" target=\"{target}\">{}{}{}</edge>",
        data("source_port", port),
        data("target_port", target_port),
        data("rate", rate)
    )
}

fn data(key: &str, value: impl std::fmt::Display) -> String {
    format!("<data key=\"{key}\">{value}</data>")
}

/// A description as XML may hold it.
fn text(name: &str) -> String {
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
