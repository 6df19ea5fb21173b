//! Numbers type by type: compute nodes, storage nodes and others are each balanced by themselves.
//!
//! Eqs. (3) and (4) spread consecutive numbers over different ports. If the storage nodes are every 18th node, their
//! numbers are congruent modulo 18, and all their routes may take the same upswitch. Numbered one after the other, they take
//! the upswitches in turn. (Gliksberg, Quintin, García: "Node-type-based load-balancing routing for Parallel Generalized
//! Fat-Trees", 2018.)
//!
//! ```text
//! leaf           A        B        C        A       B       C
//! node           s c c    s c c    s c c    s c c   s c c   s c c
//! topological    0 1 2    3 4 5    6 7 8                              modulo 3, all storage nodes are 0
//! by type                                   0 3 4   1 5 6   2 7 8     modulo 3, they are 0, 1 and 2
//! ```

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::{DestinationNumber, SavedPlace};
use crate::fabric::{Fabric, Live};
use crate::id::{Guid, NodeIndex, PortNumber, SwitchIndex};

/// Returns the type of a node, from 0.
type TypeOfNode = dyn Fn(&Fabric, NodeIndex) -> u32 + Send + Sync;

/// The types of nodes. Nodes of type 0 are numbered first, then those of type 1, and so on.
#[derive(Clone)]
pub struct NodeTypes {
    names: Arc<[String]>,
    rule: Arc<str>,
    of_node: Arc<TypeOfNode>,
}

impl NodeTypes {
    /// Returns types with these names. `rule` is a text that decides the type of each node together with the fabric; types
    /// with the same names and the same rule are equal. Types beyond the last name are counted as the last one.
    pub fn new(
        names: Vec<String>,
        rule: &str,
        of_node: impl Fn(&Fabric, NodeIndex) -> u32 + Send + Sync + 'static,
    ) -> Self {
        NodeTypes { names: names.into(), rule: rule.into(), of_node: Arc::new(of_node) }
    }

    /// Returns the names of all types.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the type of a node.
    pub fn type_of(&self, fabric: &Fabric, n: NodeIndex) -> u32 {
        (self.of_node)(fabric, n).min(self.last())
    }

    fn last(&self) -> u32 {
        (self.names.len() as u32).saturating_sub(1)
    }

    /// Returns how many nodes of a fabric have each type.
    pub fn counts(&self, fabric: &Fabric) -> Vec<usize> {
        let mut counts = vec![0; self.last() as usize + 1];
        for n in fabric.node_indices() {
            counts[self.type_of(fabric, n) as usize] += 1;
        }
        counts
    }

    /// Returns the first number of each type after the first, if this many numbers are of each type.
    fn starts(&self, counts: &[u32]) -> Vec<u32> {
        let mut start = 0;
        let ends = counts.iter().map(|count| {
            start += count;
            start
        });
        ends.take(self.last() as usize).collect()
    }

    /// Sorts nodes by type; those of one type stay in their order.
    pub(super) fn sort(&self, fabric: &Fabric, nodes: &mut [NodeIndex]) {
        nodes.sort_by_cached_key(|&n| self.type_of(fabric, n));
    }

    /// Returns where types start among the nodes on leaves that are so numbered.
    pub(super) fn starts_of(&self, live: Live<'_>, numbers: &[DestinationNumber]) -> Vec<u32> {
        let mut counts = vec![0; self.last() as usize + 1];
        let on_leaf = |n: &NodeIndex| numbers[n.at()].on_leaf && live.node(*n);
        for n in live.fabric.node_indices().filter(on_leaf) {
            counts[self.type_of(live.fabric, n) as usize] += 1;
        }
        self.starts(&counts)
    }

    /// Numbers nodes and empty places on leaves anew, type by type; those of one type stay in their order. Returns where
    /// types start. Numbers that nobody has are kept for leaves that are missing, which are taken to be like the leaf
    /// before.
    pub(super) fn renumber(
        &self,
        fabric: &Fabric,
        nodes: &mut [DestinationNumber],
        vacant: &mut [(u32, SavedPlace)],
    ) -> Vec<u32> {
        let places = TypedPlaces::new(self, fabric, nodes, vacant);
        let types = places.types_by_number();
        let mut counts = vec![0; self.last() as usize + 1];
        types.iter().for_each(|&kind| counts[kind as usize] += 1);
        let starts = self.starts(&counts);
        let mut next: Vec<u32> = [&[0], &starts[..]].concat();
        let number = |&kind: &u32| {
            next[kind as usize] += 1;
            next[kind as usize] - 1
        };
        let numbers: Vec<u32> = types.iter().map(number).collect();
        for node in nodes.iter_mut().filter(|node| node.on_leaf) {
            node.number = numbers[node.number as usize];
        }
        for (number, _) in vacant.iter_mut() {
            *number = numbers[*number as usize];
        }
        starts
    }
}

impl fmt::Debug for NodeTypes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NodeTypes").field("names", &self.names).field("rule", &self.rule).finish()
    }
}

impl PartialEq for NodeTypes {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names && self.rule == other.rule
    }
}

impl Eq for NodeTypes {}

/// A number on a leaf, and the type that it is for.
#[derive(Clone, Copy)]
struct TypedNumber {
    leaf: Guid,
    kind: u32,
}

/// The types of all numbers on leaves, as far as a node or a place has them.
struct TypedPlaces {
    by_number: BTreeMap<u32, TypedNumber>,
}

/// How many nodes of each type are on each leaf, and in each port.
#[derive(Default)]
struct TypeCensus {
    by_leaf: BTreeMap<Guid, BTreeMap<u32, usize>>,
    by_port: BTreeMap<PortNumber, BTreeMap<u32, usize>>,
}

impl TypeCensus {
    /// Returns the type that a node in an empty place probably has: that of all nodes of the leaf, or else the type that
    /// most leaves have in the same port, the first of equally frequent ones.
    fn expected(&self, place: SavedPlace) -> Option<u32> {
        let leaf = self.by_leaf.get(&place.switch).filter(|types| types.len() == 1);
        let types = leaf.or_else(|| self.by_port.get(&place.port))?;
        types.iter().max_by_key(|&(kind, count)| (*count, u32::MAX - kind)).map(|(kind, _)| *kind)
    }
}

impl TypedPlaces {
    fn new(
        types: &NodeTypes,
        fabric: &Fabric,
        nodes: &[DestinationNumber],
        vacant: &[(u32, SavedPlace)],
    ) -> Self {
        let mut by_number = BTreeMap::new();
        let mut census = TypeCensus::default();
        let guid = |s: SwitchIndex| fabric.switch(s).guid;
        for n in fabric.node_indices().filter(|n| nodes[n.at()].on_leaf) {
            let (kind, node) = (types.type_of(fabric, n), fabric.node(n));
            let leaf = guid(node.switch);
            by_number.insert(nodes[n.at()].number, TypedNumber { leaf, kind });
            *census.by_leaf.entry(leaf).or_default().entry(kind).or_default() += 1;
            *census.by_port.entry(node.switch_port).or_default().entry(kind).or_default() += 1;
        }
        for &(number, place) in vacant {
            let kind = census.expected(place).unwrap_or(types.last());
            by_number.insert(number, TypedNumber { leaf: place.switch, kind });
        }
        TypedPlaces { by_number }
    }

    /// Returns the type of each number from 0 to the last. Numbers that nobody has get the types of the leaf before them, or
    /// of the first leaf.
    fn types_by_number(&self) -> Vec<u32> {
        let end = self.by_number.last_key_value().map_or(0, |(number, _)| number + 1);
        let first = self.by_number.values().next();
        let of_first = |number: &&TypedNumber| first.is_some_and(|first| first.leaf == number.leaf);
        let mut layout: Vec<u32> =
            self.by_number.values().take_while(of_first).map(|number| number.kind).collect();
        let (mut leaf, mut since) = (None, 0);
        let mut types = Vec::with_capacity(end as usize);
        for number in 0..end {
            match self.by_number.get(&number) {
                Some(known) => {
                    if leaf != Some(known.leaf) {
                        leaf = Some(known.leaf);
                        layout.clear();
                    }
                    layout.push(known.kind);
                    types.push(known.kind);
                    since = number + 1;
                }
                None => types.push(layout[(number - since) as usize % layout.len()]),
            }
        }
        types
    }
}

#[cfg(test)]
mod tests;
