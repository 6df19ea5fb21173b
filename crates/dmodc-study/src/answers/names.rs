//! Finds nodes and switches by name, GUID or LID.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use dmodc::{End, Fabric, Guid, Lid, NodeIndex};
use dmodc_formats::hosts::{ListedName, read_pairs};

use super::source;
use super::text::counted;

/// Returns the node or switch with a name, GUID or LID. A name that several have is refused with their GUIDs.
///
/// # Errors
/// If there is none, or there are several.
pub fn resolve(fabric: &Fabric, text: &str) -> Result<End> {
    let mut named: Vec<End> = all(fabric).filter(|&e| e.name(fabric) == text).collect();
    if named.is_empty() {
        // The name of a host, without that of its adapter.
        let first_word = |e: End| e.name(fabric).split_whitespace().next();
        named =
            fabric.node_indices().map(End::Node).filter(|&e| first_word(e) == Some(text)).collect();
    }
    match named[..] {
        [one] => return Ok(one),
        [] => {}
        _ => {
            let guids: Vec<String> =
                named.iter().take(4).map(|&e| guids(fabric, e)[0].to_string()).collect();
            let more = if named.len() > guids.len() { " …" } else { "" };
            bail!(
                "{} nodes or switches have the name '{text}'; give one of their GUIDs: {}{more}",
                named.len(),
                guids.join(", ")
            );
        }
    }
    let text = text.strip_prefix("S-").or(text.strip_prefix("H-")).unwrap_or(text);
    let digits = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let hex = u64::from_str_radix(digits.unwrap_or(text), 16).ok().map(Guid);
    if let Some(found) = hex.and_then(|g| all(fabric).find(|&e| guids(fabric, e).contains(&g))) {
        return Ok(found);
    }
    let lid = match digits {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    lid.and_then(|lid| all(fabric).find(|&e| has_lid(fabric, e, Lid(lid))))
        .ok_or_else(|| {
            anyhow!(
                "the fabric has no node or switch with the name, GUID or LID '{text}'; names are those in quotes in the \
                 file of the fabric"
            )
        })
}

fn all(fabric: &Fabric) -> impl Iterator<Item = End> {
    let nodes = fabric.node_indices().map(End::Node);
    nodes.chain(fabric.switch_indices().map(End::Switch))
}

/// Returns the GUIDs of an end: for a node that of its port, then that of its adapter.
fn guids(fabric: &Fabric, e: End) -> Vec<Guid> {
    match e {
        End::Node(n) => vec![fabric.node(n).guid, fabric.adapter_of(n).guid],
        End::Switch(s) => vec![fabric.switch(s).guid],
    }
}

fn has_lid(fabric: &Fabric, e: End, lid: Lid) -> bool {
    match e {
        End::Node(n) => {
            let node = fabric.node(n);
            (node.lid.0..node.lid.0 + (1 << node.lmc)).contains(&lid.0)
        }
        End::Switch(s) => fabric.switch(s).lid == lid,
    }
}

/// Two nodes in a list of pairs, and the names that they have there.
pub struct NodePair {
    /// The sender.
    pub from: NodeIndex,
    /// The receiver.
    pub to: NodeIndex,
    /// Their names in the list.
    pub listed: (ListedName, ListedName),
}

/// Nodes by name, for lists of hosts. The name of a host stands for all of its nodes, in the order of its ports.
pub struct NodeNames<'a> {
    fabric: &'a Fabric,
    by_name: HashMap<&'a str, Vec<NodeIndex>>,
}

impl<'a> NodeNames<'a> {
    /// Takes the names of a fabric.
    pub fn new(fabric: &'a Fabric) -> Self {
        let mut by_name: HashMap<&str, Vec<NodeIndex>> = HashMap::new();
        for n in fabric.node_indices().filter(|&n| !fabric.is_aggregation(n)) {
            let name = &*fabric.adapter_of(n).name;
            by_name.entry(name).or_default().push(n);
            if let Some(host) = name.split_whitespace().next().filter(|host| *host != name) {
                by_name.entry(host).or_default().push(n);
            }
        }
        NodeNames { fabric, by_name }
    }

    /// Returns the number of nodes of the fabric.
    pub fn count(&self) -> usize {
        self.fabric.nodes().len()
    }

    /// Returns the nodes of a host, or the one with this GUID or LID.
    ///
    /// # Errors
    /// If a name stands for no node.
    pub fn find(&self, name: &str) -> Result<Vec<NodeIndex>> {
        if let Some(nodes) = self.by_name.get(name) {
            return Ok(nodes.clone());
        }
        match resolve(self.fabric, name)? {
            End::Node(n) if !self.fabric.is_aggregation(n) => Ok(vec![n]),
            _ => bail!("'{name}' is not a node, but a switch or an aggregation node; give a host"),
        }
    }

    /// Returns the nodes that a name in a list stands for. An error names the line.
    ///
    /// # Errors
    /// If a name stands for no node.
    pub fn meant(&self, path: &Path, named: &ListedName) -> Result<Vec<NodeIndex>> {
        let place = || format!("{}:{}", source::name(path), named.line);
        self.find(&named.name).with_context(place)
    }

    /// Reads a list of pairs of nodes. A host with several rails sends from each rail to the same rail of the other host.
    ///
    /// # Errors
    /// If a name stands for no node.
    pub fn pairs(&self, path: &Path) -> Result<Vec<NodePair>> {
        let mut pairs = Vec::new();
        for (from, to) in source::read_list(path, read_pairs)? {
            let ends = [self.meant(path, &from)?, self.meant(path, &to)?];
            if ends[0].len() != ends[1].len() {
                let [a, b] = ends.map(|nodes| counted(nodes.len(), "node"));
                let place = format!("{}:{}", source::name(path), from.line);
                bail!(
                    "{place}: '{}' has {a}, but '{}' has {b}; give the GUID of each node instead of the names",
                    from.name,
                    to.name
                );
            }
            let pair = |(&a, &b): (&NodeIndex, &NodeIndex)| NodePair {
                from: a,
                to: b,
                listed: (from.clone(), to.clone()),
            };
            pairs.extend(ends[0].iter().zip(&ends[1]).map(pair));
        }
        Ok(pairs)
    }
}
