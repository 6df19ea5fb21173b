//! The tree of a fabric as Slurm sees it: subtrees above leaves above hosts.

use std::collections::{HashMap, HashSet};

use dmodc::{Fabric, NodeIndex, Ranking, SwitchIndex, host_name, natural_cmp};

use super::is_host;
use super::names::safe_name;

/// The longest name of a switch that Slurm accepts.
const LONGEST_NAME: usize = 64;

/// The children of a switch of Slurm. It has nodes or switches, never both.
pub(super) enum Children<S> {
    Nodes(Vec<String>),
    Switches(Vec<S>),
}

/// A switch of Slurm's tree.
struct SlurmSwitch {
    children: Children<usize>,
    /// The switch of the fabric that has the hosts; of a subtree, the first of these.
    switch: SwitchIndex,
    /// 0 for a switch with hosts; for a subtree, one more than the greatest level of its children.
    level: u32,
}

/// All switches of Slurm's tree, children first.
pub(super) struct SlurmTree {
    switches: Vec<SlurmSwitch>,
}

impl SlurmTree {
    pub(super) fn new(fabric: &Fabric, ranking: &Ranking) -> Self {
        let mut rails = HostRails::new(fabric, ranking);
        let mut tree = SlurmTree { switches: Vec::new() };
        let mut connected = ConnectedSwitches((0..fabric.switches().len()).collect());
        let mut cables = vec![Vec::new(); ranking.levels() as usize];
        for cable in fabric.inter_switch_cables() {
            let (a, b) = (cable.a.0, cable.b.0);
            if let (Some(x), Some(y)) = (ranking.rank(a), ranking.rank(b)) {
                cables[x.max(y) as usize].push((a, b));
            }
        }
        // The switches and subtrees without a parent so far.
        let mut tops = Vec::new();
        for (switches, cables) in ranking.by_rank().into_iter().zip(cables) {
            for switch in switches {
                if let Some(hosts) = rails.hosts.remove(&switch) {
                    tops.push(tree.switches.len());
                    let children = Children::Nodes(hosts);
                    tree.switches.push(SlurmSwitch { children, switch, level: 0 });
                }
            }
            cables.into_iter().for_each(|(a, b)| connected.join(a, b));
            tops = tree.join(fabric, tops, &mut connected);
        }
        // Rails may be separate fabrics that only their hosts connect.
        rails.joined.iter().for_each(|&(a, b)| connected.join(a, b));
        tree.join(fabric, tops, &mut connected);
        tree
    }

    /// Puts a subtree above those tops that are connected. Returns the new tops.
    fn join(
        &mut self,
        fabric: &Fabric,
        mut tops: Vec<usize>,
        connected: &mut ConnectedSwitches,
    ) -> Vec<usize> {
        tops.sort_by(|&a, &b| by_name(fabric, self.switches[a].switch, self.switches[b].switch));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut group_of = HashMap::new();
        for top in tops {
            let part = connected.root_of(self.switches[top].switch.at());
            let group = *group_of.entry(part).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(top);
        }
        let join = |group: Vec<usize>| {
            if group.len() == 1 {
                return group[0];
            }
            let switch = self.switches[group[0]].switch;
            let level = 1 + group.iter().map(|&v| self.switches[v].level).max().unwrap_or(0);
            self.switches.push(SlurmSwitch { children: Children::Switches(group), switch, level });
            self.switches.len() - 1
        };
        groups.into_iter().map(join).collect()
    }

    /// Returns the switches with their names: first those with hosts, then subtrees by level.
    pub(super) fn named(&self, fabric: &Fabric) -> Vec<(String, Children<String>)> {
        let name_of = |v: &SlurmSwitch| safe_name(&fabric.switch(v.switch).name, LONGEST_NAME);
        let mut uses: HashMap<String, usize> = HashMap::new();
        for vertex in self.switches.iter().filter(|v| v.level == 0) {
            *uses.entry(name_of(vertex)).or_default() += 1;
        }
        let mut order: Vec<usize> = (0..self.switches.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&self.switches[a], &self.switches[b]);
            a.level.cmp(&b.level).then_with(|| by_name(fabric, a.switch, b.switch))
        });
        let mut names = vec![String::new(); self.switches.len()];
        let mut taken = HashSet::new();
        let mut numbers: HashMap<u32, usize> = HashMap::new();
        for &at in &order {
            let vertex = &self.switches[at];
            let mut name = name_of(vertex);
            if vertex.level > 0 {
                let number = numbers.entry(vertex.level).or_default();
                name = format!("subtree{}-{number}", vertex.level);
                *number += 1;
            } else if name.is_empty() || uses[&name] > 1 {
                // Factory descriptions are the same everywhere; the GUID is not.
                let guid = format!("_{:016x}", fabric.switch(vertex.switch).guid.0);
                name.truncate(LONGEST_NAME - guid.len() - 6);
                name = format!("{}{guid}", if name.is_empty() { "switch" } else { &name });
            }
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            names[at] = name;
        }
        let children = |at: usize| match &self.switches[at].children {
            Children::Nodes(nodes) => Children::Nodes(nodes.clone()),
            Children::Switches(below) => {
                Children::Switches(below.iter().map(|&b| names[b].clone()).collect())
            }
        };
        order.into_iter().map(|at| (names[at].clone(), children(at))).collect()
    }
}

pub(super) fn by_name(fabric: &Fabric, a: SwitchIndex, b: SwitchIndex) -> std::cmp::Ordering {
    let (a, b) = (fabric.switch(a), fabric.switch(b));
    natural_cmp(&a.name, &b.name).then(a.guid.cmp(&b.guid))
}

/// The hosts of each switch. A host is listed once, though it may be cabled to several switches.
struct HostRails {
    hosts: HashMap<SwitchIndex, Vec<String>>,
    /// Pairs of switches that share a host.
    joined: Vec<(SwitchIndex, SwitchIndex)>,
}

impl HostRails {
    fn new(fabric: &Fabric, ranking: &Ranking) -> Self {
        let is_placed =
            |&n: &NodeIndex| is_host(fabric, n) && ranking.rank(fabric.node(n).switch).is_some();
        let mut nodes: Vec<NodeIndex> = fabric.node_indices().filter(is_placed).collect();
        nodes.sort_by(|&a, &b| {
            let (x, y) = (fabric.adapter_of(a), fabric.adapter_of(b));
            let port = |n| fabric.node(n).adapter_port;
            natural_cmp(&x.name, &y.name)
                .then(x.guid.cmp(&y.guid))
                .then_with(|| port(a).cmp(&port(b)))
        });
        let mut first: HashMap<String, SwitchIndex> = HashMap::new();
        let mut rails = HostRails { hosts: HashMap::new(), joined: Vec::new() };
        for n in nodes {
            // Slurm cannot know a node whose description names no host.
            let Some(host) = host_name(&fabric.adapter_of(n).name) else { continue };
            let (host, switch) = (safe_name(host, usize::MAX), fabric.node(n).switch);
            match first.get(&host) {
                Some(&other) => rails.joined.push((other, switch)),
                None => {
                    first.insert(host.clone(), switch);
                    rails.hosts.entry(switch).or_default().push(host);
                }
            }
        }
        rails
    }
}

/// Which switches are connected by the cables that were joined so far: a union-find forest with the least index as root.
struct ConnectedSwitches(Vec<usize>);

impl ConnectedSwitches {
    /// Returns the root of the part that a switch belongs to.
    fn root_of(&mut self, mut s: usize) -> usize {
        while self.0[s] != s {
            self.0[s] = self.0[self.0[s]];
            s = self.0[s];
        }
        s
    }

    fn join(&mut self, a: SwitchIndex, b: SwitchIndex) {
        let (a, b) = (self.root_of(a.at()), self.root_of(b.at()));
        self.0[a.max(b)] = a.min(b);
    }
}
