//! Recognises the fat trees that CODES can build, and numbers their parts as CODES does.
//!
//! With switches of *k* ports, *u* of them upwards on leaves:
//!
//! | | two levels | three levels |
//! |---|---|---|
//! | leaves | k/2, with k − u nodes each | pods of k/2, with k − u nodes each |
//! | above | u/2 switches with 2 cables to each leaf | u switches in each pod, with a cable to each of its leaves |
//! | top | | groups of k/2 switches; a switch of the middle has a cable to each one of its group |
//!
//! The *u* middle switches of a pod are divided among the groups in their order. With *P* pods, each group has *r* of them
//! from every pod, where *r* is the greatest divisor of *u* that is not greater than k/P.
//!
//! Within each of these sets all switches are cabled alike, so any order of them is right. Here it is that of the fabric.

use std::collections::{BTreeMap, BTreeSet};

use dmodc::fabric::Peer;
use dmodc::{Fabric, NodeIndex, PortNumber, SwitchIndex};

/// Why a fabric has no shape that CODES can build.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("CODES cannot build this fabric: {0}")]
pub struct NotCodes(String);

/// Where a switch is in CODES' fat tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// 0 for leaves.
    pub level: u32,
    /// Its number; those of a level follow those of the level below.
    pub id: u32,
}

/// A fabric of a shape that CODES can build, with CODES' numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodesFabric {
    /// 2 or 3.
    pub levels: u32,
    /// The number of ports of each switch.
    pub radix: u32,
    /// The number of leaves.
    pub leaves: u32,
    /// The number of nodes on each leaf.
    pub nodes_per_leaf: u32,
    places: Vec<Place>,
    terminals: Vec<NodeIndex>,
    /// CODES' number of each port, from 1, by [slot](Fabric::port_slot).
    ports: Vec<u8>,
}

/// The cables of a switch to other switches, by peer; those of a peer in the order of ports.
type Cables = BTreeMap<SwitchIndex, Vec<PortNumber>>;

/// Switches of one level, or of one pod of it, in the order of their numbers.
type Switches = Vec<SwitchIndex>;

/// The switches that CODES has, in the order of their numbers.
struct Tree {
    /// Leaves of each pod, and switches above them.
    pods: Vec<(Switches, Switches)>,
    top: Switches,
    /// How many switches of the middle of a pod belong to one group of the top.
    repetitions: usize,
}

fn wrong<T>(why: impl Into<String>) -> Result<T, NotCodes> {
    Err(NotCodes(why.into()))
}

fn expect(holds: bool, why: impl FnOnce() -> String) -> Result<(), NotCodes> {
    if holds { Ok(()) } else { wrong(why()) }
}

impl CodesFabric {
    /// Recognises a fabric.
    ///
    /// # Errors
    /// If CODES cannot build it, with the first reason.
    pub fn recognise(fabric: &Fabric) -> Result<Self, NotCodes> {
        let cables: Vec<Cables> = fabric.switch_indices().map(|s| cables_of(fabric, s)).collect();
        let hosts = |s: SwitchIndex| nodes(fabric, s).count();
        let (leaves, others): (Switches, Switches) =
            fabric.switch_indices().partition(|&s| hosts(s) > 0);
        let Some(&first) = leaves.first() else { return wrong("it has no nodes") };
        let up = |s: SwitchIndex| cables[s.at()].values().map(Vec::len).sum::<usize>();
        let (nodes_per_leaf, uplinks) = (hosts(first), up(first));
        let name = |s: SwitchIndex| fabric.switch(s).name.clone();
        for &leaf in &leaves {
            expect((hosts(leaf), up(leaf)) == (nodes_per_leaf, uplinks), || {
                format!("leaves '{}' and '{}' differ in nodes or cables", name(first), name(leaf))
            })?;
        }
        let radix = nodes_per_leaf + uplinks;
        expect(radix % 2 == 0 && uplinks > 0, || {
            format!("{radix} ports of a leaf cannot be halved")
        })?;
        expect(nodes_per_leaf * 16 % uplinks == 0 && radix <= usize::from(u8::MAX), || {
            format!(
                "the ratio of {nodes_per_leaf} nodes to {uplinks} cables of a leaf is no short number"
            )
        })?;
        let tree = Tree::new(&cables, &leaves, &others, radix)?;
        let switches = fabric.switches().len();
        expect(tree.is_within(leaves.len(), switches), || {
            "it has more than three levels, or a level with more switches than there are leaves"
                .into()
        })?;
        let mut found = CodesFabric {
            levels: if tree.top.is_empty() { 2 } else { 3 },
            radix: radix as u32,
            leaves: leaves.len() as u32,
            nodes_per_leaf: nodes_per_leaf as u32,
            places: vec![Place::default(); switches],
            terminals: Vec::new(),
            ports: vec![0; fabric.port_slots()],
        };
        found.number(fabric, &cables, &tree);
        Ok(found)
    }

    /// Returns the nodes by number of their terminal.
    pub fn terminals(&self) -> &[NodeIndex] {
        &self.terminals
    }

    /// Returns the place of a switch.
    pub fn place(&self, s: SwitchIndex) -> Place {
        self.places[s.at()]
    }

    /// Returns CODES' number of a port, counted from 1; 0 if it has no cable that CODES knows.
    pub fn port(&self, fabric: &Fabric, s: SwitchIndex, p: PortNumber) -> u8 {
        self.ports[fabric.port_slot(s, p)]
    }

    /// Returns how many nodes a leaf has for each of its cables upwards.
    pub fn tapering(&self) -> f64 {
        f64::from(self.nodes_per_leaf) / f64::from(self.radix - self.nodes_per_leaf)
    }

    fn number(&mut self, fabric: &Fabric, cables: &[Cables], tree: &Tree) {
        let all_leaves = tree.pods.iter().flat_map(|(leaves, _)| leaves);
        let all_middle = tree.pods.iter().flat_map(|(_, middle)| middle);
        let levels: [Vec<&SwitchIndex>; 3] =
            [all_leaves.collect(), all_middle.collect(), tree.top.iter().collect()];
        let by_level =
            (0..).zip(levels).flat_map(|(level, s)| s.into_iter().map(move |s| (level, s)));
        for (id, (level, s)) in (0..).zip(by_level) {
            self.places[s.at()] = Place { level, id };
        }
        for (leaves, middle) in &tree.pods {
            for &leaf in leaves {
                let mut next = 1;
                for n in nodes(fabric, leaf) {
                    self.terminals.push(n);
                    self.take(fabric, leaf, &[fabric.node(n).switch_port], &mut next);
                }
                self.take_all(fabric, cables, leaf, middle, &mut next);
            }
            for (at, &s) in middle.iter().enumerate() {
                let mut next = 1;
                self.take_all(fabric, cables, s, leaves, &mut next);
                self.take_all(fabric, cables, s, tree.group(at, self.radix), &mut next);
            }
        }
        let lower: Switches = tree.pods.iter().flat_map(|(_, middle)| middle.clone()).collect();
        for &s in &tree.top {
            self.take_all(fabric, cables, s, &lower, &mut 1);
        }
    }

    /// Numbers the ports of a switch that lead to these peers, if any do.
    fn take_all(
        &mut self,
        fabric: &Fabric,
        cables: &[Cables],
        s: SwitchIndex,
        peers: &[SwitchIndex],
        next: &mut u8,
    ) {
        for peer in peers {
            if let Some(ports) = cables[s.at()].get(peer) {
                self.take(fabric, s, ports, next);
            }
        }
    }

    fn take(&mut self, fabric: &Fabric, s: SwitchIndex, ports: &[PortNumber], next: &mut u8) {
        for &port in ports {
            self.ports[fabric.port_slot(s, port)] = *next;
            *next += 1;
        }
    }
}

impl Tree {
    fn new(
        cables: &[Cables],
        leaves: &[SwitchIndex],
        others: &[SwitchIndex],
        radix: usize,
    ) -> Result<Self, NotCodes> {
        let mut by_middle: BTreeMap<Switches, Switches> = BTreeMap::new();
        for &leaf in leaves {
            by_middle.entry(cables[leaf.at()].keys().copied().collect()).or_default().push(leaf);
        }
        let mut pods: Vec<(Switches, Switches)> =
            by_middle.into_iter().map(|(middle, leaves)| (leaves, middle)).collect();
        pods.sort();
        let middle: BTreeSet<SwitchIndex> = pods.iter().flat_map(|(_, m)| m.clone()).collect();
        let is_leaf: BTreeSet<SwitchIndex> = leaves.iter().copied().collect();
        let above = |s: &SwitchIndex| -> Switches {
            cables[s.at()].keys().copied().filter(|peer| !is_leaf.contains(peer)).collect()
        };
        let levels = if middle.iter().all(|s| above(s).is_empty()) { 2 } else { 3 };
        let parallel = if levels == 2 { 2 } else { 1 };
        for s in leaves.iter().chain(others) {
            let count = cables[s.at()].values().find(|ports| ports.len() != parallel);
            expect(count.is_none(), || {
                format!("a tree of {levels} levels has {parallel} cables between two switches")
            })?;
        }
        for (leaves, _) in &pods {
            expect(leaves.len() == radix / 2, || {
                format!(
                    "{} leaves have the same switches above, instead of {}",
                    leaves.len(),
                    radix / 2
                )
            })?;
        }
        expect(middle.iter().all(|s| !is_leaf.contains(s)), || {
            "leaves are cabled to leaves".into()
        })?;
        let shared = pods.iter().map(|(_, middle)| middle.len()).sum::<usize>() != middle.len();
        expect(!shared, || "pods share switches of the second level".into())?;
        if levels == 2 {
            expect(pods.len() == 1, || "a tree of two levels has one pod".into())?;
            return Ok(Tree { pods, top: Vec::new(), repetitions: 1 });
        }
        Self::grouped(pods, above, radix)
    }

    /// Finds the groups of the top, and sorts the middle of all pods by them.
    fn grouped(
        mut pods: Vec<(Switches, Switches)>,
        above: impl Fn(&SwitchIndex) -> Switches,
        radix: usize,
    ) -> Result<Self, NotCodes> {
        let uplinks = pods[0].1.len();
        let most = radix / pods.len();
        let Some(repetitions) = (1..=most).rev().find(|r| uplinks.is_multiple_of(*r)) else {
            return wrong(format!("{} pods are more than a switch has ports", pods.len()));
        };
        let mut groups: Vec<Switches> = Vec::new();
        for s in &pods[0].1 {
            let group = above(s);
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        let top: Switches = groups.iter().flatten().copied().collect();
        let distinct: BTreeSet<&SwitchIndex> = top.iter().collect();
        expect(
            groups.len() * repetitions == uplinks
                && distinct.len() == top.len()
                && groups.iter().all(|group| group.len() == radix / 2),
            || format!("its top is not {} groups of {} switches", uplinks / repetitions, radix / 2),
        )?;
        for (_, middle) in &mut pods {
            let group = |s: &SwitchIndex| {
                let above = above(s);
                groups.iter().position(|group| *group == above)
            };
            middle.sort_by_key(|s| (group(s), *s));
            let is_right = |(at, s): (usize, &SwitchIndex)| group(s) == Some(at / repetitions);
            expect(middle.iter().enumerate().all(is_right), || {
                "the pods are cabled to the top in different ways".into()
            })?;
        }
        Ok(Tree { pods, top, repetitions })
    }

    /// Returns the group of the top above a switch of the middle, by its place in its pod.
    fn group(&self, at: usize, radix: u32) -> &[SwitchIndex] {
        let size = radix as usize / 2;
        let group = at / self.repetitions;
        if self.top.is_empty() { &[] } else { &self.top[group * size..(group + 1) * size] }
    }

    /// Returns whether CODES has room for all switches: it has one of each level for each leaf.
    fn is_within(&self, leaves: usize, switches: usize) -> bool {
        let middle: usize = self.pods.iter().map(|(_, middle)| middle.len()).sum();
        middle <= leaves && self.top.len() <= leaves && leaves + middle + self.top.len() == switches
    }
}

/// Returns the nodes of a switch by port, without aggregation nodes.
fn nodes(fabric: &Fabric, s: SwitchIndex) -> impl Iterator<Item = NodeIndex> + '_ {
    fabric.nodes_of(s).iter().copied().filter(|&n| !fabric.is_aggregation(n))
}

fn cables_of(fabric: &Fabric, s: SwitchIndex) -> Cables {
    let mut cables = Cables::new();
    for p in (1..=fabric.switch(s).ports).map(PortNumber) {
        if let Some(Peer::Switch(peer, _)) = fabric.port(s, p).map(|port| port.peer) {
            cables.entry(peer).or_default().push(p);
        }
    }
    cables
}

#[cfg(test)]
mod tests;
