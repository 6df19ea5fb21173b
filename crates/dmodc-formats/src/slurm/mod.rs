//! Slurm's tree topology of a fabric: `topology.conf` or `topology.yaml`, which Slurm's administrators write.
//!
//! ```text
//! SwitchName=L1-0 Nodes=node-[0-1]
//! SwitchName=subtree1-0 Switches=L1-[0-1]
//! ```
//!
//! In Slurm a switch has one parent and a node one leaf; in a fat-tree both have many. Slurm wants to know how far apart
//! nodes are, so its tree is made of subtrees: a switch for each leaf, above them one for each connected part of the
//! ranks up to 1, up to 2, and so on, until one holds everything. A part that would have a single child is left out, and
//! so is a switch without hosts.
//!
//! Hosts on switches that are no leaves are kept, too: Slurm schedules nothing on a node that it cannot place, and
//! ignores names that it does not know. A node whose description names no host ([`host_name`]) cannot be listed;
//! [`left_out`] returns these. Where hosts have several rails, comments say which leaf is on which rail.
//!
//! The plugin `topology/block` wants blocks of hosts instead of a tree: [`write_blocks`].

mod names;
mod rails;
mod tree;

use std::io::{self, Write};

use dmodc::fabric::AdapterKind;
use dmodc::{Fabric, NodeIndex, Ranking, host_name};

use names::fold;
use rails::RailLeaves;
use tree::{Children, SlurmTree};

const HEADER: &str = "\
# Slurm's tree topology of this fabric, by dmodc.
# Switches with hosts stand for themselves; the others are one switch for each subtree, since a switch
# has one parent here. A host of several adapters is listed once, under the switch of its first one in
# the natural order of their descriptions. Switches without a host of their own are left out.
";

/// Writes `topology.conf`. The ranking must be one of this fabric; for a degraded fabric, pass [`Fabric::without`] and its
/// ranking.
///
/// # Errors
/// The error of the writer.
pub fn write_conf(fabric: &Fabric, ranking: &Ranking, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{HEADER}")?;
    let rails = RailLeaves::new(fabric, ranking);
    for (name, children) in SlurmTree::new(fabric, ranking).named(fabric) {
        match children {
            Children::Nodes(nodes) => {
                if rails.has_several() {
                    writeln!(out, "# leaves of {name} by rail: {}", rails.words(fabric, &nodes))?;
                }
                writeln!(out, "SwitchName={name} Nodes={}", fold(&nodes))?;
            }
            Children::Switches(names) => {
                writeln!(out, "SwitchName={name} Switches={}", fold(&names))?;
            }
        }
    }
    Ok(())
}

/// Writes `topology.yaml`, which Slurm reads from release 25.05 on. The arguments are those of
/// [`write_conf`].
///
/// # Errors
/// The error of the writer.
pub fn write_yaml(fabric: &Fabric, ranking: &Ranking, out: &mut impl Write) -> io::Result<()> {
    let switches = SlurmTree::new(fabric, ranking).named(fabric);
    let rails = RailLeaves::new(fabric, ranking);
    let none = if switches.is_empty() { " []" } else { "" };
    write!(out, "{HEADER}- topology: default\n  cluster_default: true\n")?;
    writeln!(out, "  tree:\n    switches:{none}")?;
    for (name, children) in switches {
        writeln!(out, "      - switch: {}", scalar(name))?;
        match children {
            Children::Nodes(nodes) => {
                if rails.has_several() {
                    writeln!(out, "        # leaves by rail: {}", rails.words(fabric, &nodes))?;
                }
                writeln!(out, "        nodes: {}", scalar(fold(&nodes)))?;
            }
            Children::Switches(names) => {
                writeln!(out, "        children: {}", scalar(fold(&names)))?;
            }
        }
    }
    Ok(())
}

const BLOCK_HEADER: &str = "\
# Slurm's block topology of this fabric, by dmodc, for TopologyPlugin=topology/block.
# Hosts of one block have the same leaves on all rails. The block size is that of the smallest block;
# larger ones must be this size times a power of two, and they must suit your jobs.
";

/// Writes `topology.conf` for the plugin `topology/block`: a block for all hosts that share their leaves on all rails. The
/// arguments are those of [`write_conf`].
///
/// # Errors
/// The error of the writer.
pub fn write_blocks(fabric: &Fabric, ranking: &Ranking, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{BLOCK_HEADER}")?;
    let rails = RailLeaves::new(fabric, ranking);
    let blocks = rails.blocks();
    for (number, block) in blocks.iter().enumerate() {
        writeln!(out, "# leaves of block{number}: {}", rails.words_of(fabric, block))?;
        writeln!(out, "BlockName=block{number} Nodes={}", fold(&block.hosts))?;
    }
    match blocks.iter().map(|block| block.hosts.len()).min() {
        Some(least) => writeln!(out, "BlockSizes={least}"),
        None => Ok(()),
    }
}

/// Nodes of hosts that are in none of these files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOutNodes {
    /// Nodes whose description names no host: the model of an adapter, `localhost`, or nothing.
    pub unnamed: Vec<NodeIndex>,
    /// Nodes on switches that no leaf is connected to.
    pub unconnected: Vec<NodeIndex>,
}

/// Returns the nodes of hosts that [`write_conf`], [`write_yaml`] and [`write_blocks`] leave out.
pub fn left_out(fabric: &Fabric, ranking: &Ranking) -> LeftOutNodes {
    let mut left = LeftOutNodes::default();
    for n in fabric.node_indices().filter(|&n| is_host(fabric, n)) {
        if host_name(&fabric.adapter_of(n).name).is_none() {
            left.unnamed.push(n);
        } else if ranking.rank(fabric.node(n).switch).is_none() {
            left.unconnected.push(n);
        }
    }
    left
}

fn is_host(fabric: &Fabric, n: NodeIndex) -> bool {
    matches!(fabric.adapter_of(n).kind, AdapterKind::Host | AdapterKind::Aside)
}

/// Returns a text as YAML: with quotes if YAML might take it for something else.
fn scalar(text: String) -> String {
    const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"];
    let letter = text.starts_with(|c: char| c.is_ascii_alphabetic());
    match letter && !WORDS.contains(&text.to_ascii_lowercase().as_str()) {
        true => text,
        false => format!("\"{text}\""),
    }
}

#[cfg(test)]
mod tests;
