//! Graphviz DOT, for drawings of small fabrics: switches by rank, and one edge for each pair of switches that cables
//! connect.

use std::collections::BTreeMap;
use std::io::{self, Write};

use dmodc::{Degradation, Fabric, LeafRule, Live, Ranking};

use crate::scan::printable;

/// Writes a drawing of the switches, with leaves at the bottom. Parallel cables are one edge with their number; nodes are
/// not drawn, but counted in the label of their switch.
///
/// # Errors
/// The error of the writer.
pub fn write(fabric: &Fabric, out: &mut impl Write) -> io::Result<()> {
    let healthy = Degradation::none(fabric);
    let live = Live::new(fabric, &healthy);
    let ranking = Ranking::new(live, &LeafRule::Detect);
    writeln!(out, "graph fabric {{\n  rankdir=BT;\n  node [shape=box];")?;
    for s in fabric.switch_indices() {
        let nodes = fabric.nodes_of(s).iter().filter(|&&n| !fabric.is_aggregation(n)).count();
        let name = printable(&fabric.switch(s).name).replace('\\', "\\\\").replace('"', "\\\"");
        let label = if nodes > 0 { format!("{name}\\n{nodes} nodes") } else { name };
        writeln!(out, "  \"{}\" [label=\"{label}\"];", fabric.switch(s).guid)?;
    }
    for level in ranking.by_rank() {
        let names: Vec<String> =
            level.iter().map(|&s| format!("\"{}\"", fabric.switch(s).guid)).collect();
        writeln!(out, "  {{ rank=same; {} }}", names.join("; "))?;
    }
    let mut edges: BTreeMap<_, usize> = BTreeMap::new();
    for cable in fabric.inter_switch_cables() {
        let (a, b) = (cable.a.0, cable.b.0);
        let up = ranking.rank(a) <= ranking.rank(b);
        *edges.entry(if up { (a, b) } else { (b, a) }).or_default() += 1;
    }
    for ((a, b), cables) in edges {
        let (a, b) = (fabric.switch(a).guid, fabric.switch(b).guid);
        match cables {
            1 => writeln!(out, "  \"{a}\" -- \"{b}\";")?,
            n => writeln!(out, "  \"{a}\" -- \"{b}\" [label=\"{n}\"];")?,
        }
    }
    writeln!(out, "}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::Pgft;

    #[test]
    fn figure_1_is_drawn() {
        let fabric = "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let mut text = Vec::new();
        write(&fabric, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.matches(" -- ").count(), 12 + 12);
        assert_eq!(text.matches("[label=\"2\"]").count(), 12);
        assert_eq!(text.matches("2 nodes").count(), 6);
        assert_eq!(text.matches("rank=same").count(), 3);
    }
}
