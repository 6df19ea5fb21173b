//! Which leaf is on which rail, for hosts with several adapters.
//!
//! Slurm places a host on one switch. Where hosts have several rails, comments say which leaves the others are, and the
//! blocks of `topology/block` are hosts that share their leaves on all rails.

use std::collections::{BTreeSet, HashMap};

use dmodc::fabric::Degradation;
use dmodc::{Fabric, HostKey, Live, RailHost, Rails, Ranking, SwitchIndex};

use super::names::safe_name;
use super::tree::by_name;

/// The leaves of each host.
pub(super) struct RailLeaves {
    rails: Vec<String>,
    /// The hosts by name, in natural order, with their switch on each rail.
    hosts: Vec<(String, Vec<Option<SwitchIndex>>)>,
}

/// Hosts with the same leaves on all rails.
pub(super) struct Block {
    pub(super) hosts: Vec<String>,
    /// The switch on each rail.
    pub(super) leaves: Vec<Option<SwitchIndex>>,
}

impl RailLeaves {
    pub(super) fn new(fabric: &Fabric, ranking: &Ranking) -> Self {
        let healthy = Degradation::none(fabric);
        let Rails { names, hosts } = Rails::new(Live::new(fabric, &healthy));
        let placed = |s: &SwitchIndex| ranking.rank(*s).is_some();
        let of = |host: RailHost<'_>| {
            let HostKey::Named(name) = host.host else { return None };
            let switch = |n: &Option<_>| n.map(|n| fabric.node(n).switch).filter(placed);
            let leaves: Vec<Option<SwitchIndex>> = host.nodes.iter().map(switch).collect();
            let is_placed = leaves.iter().any(Option::is_some);
            is_placed.then(|| (safe_name(name, usize::MAX), leaves))
        };
        RailLeaves { rails: names, hosts: hosts.into_iter().filter_map(of).collect() }
    }

    /// Returns whether hosts have several rails.
    pub(super) fn has_several(&self) -> bool {
        self.rails.len() > 1
    }

    /// Returns the leaves of some hosts in words: `mlx5_0: leaf-1, mlx5_1: leaf-9`. If the hosts have several leaves on
    /// one rail, all are named.
    pub(super) fn words(&self, fabric: &Fabric, hosts: &[String]) -> String {
        let known: HashMap<&str, &Vec<Option<SwitchIndex>>> =
            self.hosts.iter().map(|(name, leaves)| (name.as_str(), leaves)).collect();
        let rail = |(rail, name): (usize, &String)| {
            let leaves = hosts.iter().filter_map(|host| known.get(host.as_str())?[rail]);
            let mut leaves: Vec<SwitchIndex> =
                leaves.collect::<BTreeSet<_>>().into_iter().collect();
            leaves.sort_by(|&a, &b| by_name(fabric, a, b));
            let leaves: Vec<String> = leaves.into_iter().map(|s| switch_name(fabric, s)).collect();
            (!leaves.is_empty()).then(|| format!("{name}: {}", leaves.join(" ")))
        };
        self.rails.iter().enumerate().filter_map(rail).collect::<Vec<_>>().join(", ")
    }

    /// Returns the hosts in blocks that share their leaves on all rails, in the natural order of their first hosts.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut known: HashMap<&[Option<SwitchIndex>], usize> = HashMap::new();
        for (host, leaves) in &self.hosts {
            let at = *known.entry(leaves).or_insert_with(|| {
                blocks.push(Block { hosts: Vec::new(), leaves: leaves.clone() });
                blocks.len() - 1
            });
            blocks[at].hosts.push(host.clone());
        }
        blocks
    }

    /// Returns the leaves of a block in words, as [`words`](RailLeaves::words) does.
    pub(super) fn words_of(&self, fabric: &Fabric, block: &Block) -> String {
        let rails = self.rails.iter().zip(&block.leaves);
        let named = rails.filter_map(|(rail, leaf)| {
            let leaf = switch_name(fabric, (*leaf)?);
            Some(if self.has_several() { format!("{rail}: {leaf}") } else { leaf })
        });
        named.collect::<Vec<_>>().join(", ")
    }
}

/// Returns a switch by name, or by GUID if it has no name. Names come from files, so only safe characters are kept.
fn switch_name(fabric: &Fabric, s: SwitchIndex) -> String {
    let name = safe_name(&fabric.switch(s).name, usize::MAX);
    if name.is_empty() { fabric.switch(s).guid.to_string() } else { name }
}
