//! Slurm's tree topology, `topology.conf` or `topology.yaml`, from a fabric.
//!
//! In Slurm a switch has one parent and a node one leaf; in a fat-tree both have many. What Slurm wants
//! to know is how far apart nodes are, so its tree is made of subtrees: a switch for each leaf, above
//! them one for each connected part of the ranks up to 1, up to 2, and so on, until one holds all. A
//! part that would have a single child is left out, and so is a switch without hosts.
//!
//! Hosts on switches that are no leaves are kept, too: Slurm schedules nothing on a node it cannot
//! place, and passes over names that it does not know. A node whose description names no host
//! ([`host_name`]) cannot be listed; [`left_out`] says which those are.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use dmodc::fabric::AdapterKind;
use dmodc::{Fabric, NodeIndex, Ranking, SwitchIndex, host_name, natural_cmp};

/// Slurm refuses longer names of switches.
const LONGEST_NAME: usize = 64;

const HEADER: &str = "\
# Slurm's tree topology of this fabric, by dmodc.
# Switches with hosts stand for themselves; the others are one switch for each subtree, since a switch
# has one parent here. A host of several adapters is listed once, under the switch of its first one in
# the natural order of their descriptions. Switches without a host of their own are left out.
";

/// Writes `topology.conf`. The ranking is one of this fabric's; of a degraded fabric, give
/// [`Fabric::without`] and its ranking.
///
/// # Errors
/// What the writer says.
pub fn write_conf(fabric: &Fabric, ranking: &Ranking, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{HEADER}")?;
    for (name, children) in Tree::new(fabric, ranking).named(fabric) {
        match children {
            Children::Nodes(nodes) => writeln!(out, "SwitchName={name} Nodes={}", fold(&nodes))?,
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
/// What the writer says.
pub fn write_yaml(fabric: &Fabric, ranking: &Ranking, out: &mut impl Write) -> io::Result<()> {
    let switches = Tree::new(fabric, ranking).named(fabric);
    let none = if switches.is_empty() { " []" } else { "" };
    write!(out, "{HEADER}- topology: default\n  cluster_default: true\n")?;
    writeln!(out, "  tree:\n    switches:{none}")?;
    for (name, children) in switches {
        writeln!(out, "      - switch: {}", scalar(name))?;
        match children {
            Children::Nodes(nodes) => writeln!(out, "        nodes: {}", scalar(fold(&nodes)))?,
            Children::Switches(names) => {
                writeln!(out, "        children: {}", scalar(fold(&names)))?;
            }
        }
    }
    Ok(())
}

/// Nodes of hosts that stand in neither file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Nodes whose description names no host: the model of an adapter, `localhost`, or nothing.
    pub unnamed: Vec<NodeIndex>,
    /// Nodes on switches that no leaf is connected to.
    pub unconnected: Vec<NodeIndex>,
}

/// Returns the nodes of hosts that [`write_conf`] and [`write_yaml`] leave out.
pub fn left_out(fabric: &Fabric, ranking: &Ranking) -> LeftOut {
    let mut left = LeftOut::default();
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

/// A text that YAML might take for something else is quoted.
fn scalar(text: String) -> String {
    const WORDS: [&str; 9] = ["true", "false", "yes", "no", "on", "off", "y", "n", "null"];
    let letter = text.starts_with(|c: char| c.is_ascii_alphabetic());
    match letter && !WORDS.contains(&text.to_ascii_lowercase().as_str()) {
        true => text,
        false => format!("\"{text}\""),
    }
}

/// What is below a switch of Slurm's; both at once is not allowed.
enum Children<S> {
    Nodes(Vec<String>),
    Switches(Vec<S>),
}

/// A switch of Slurm's.
struct Vertex {
    children: Children<usize>,
    /// The switch that has the hosts; of a subtree, its first one.
    switch: SwitchIndex,
    /// 0 with hosts; above its children otherwise.
    level: u32,
}

/// Slurm's switches, children first.
struct Tree {
    vertices: Vec<Vertex>,
}

impl Tree {
    fn new(fabric: &Fabric, ranking: &Ranking) -> Self {
        let mut rails = Rails::new(fabric, ranking);
        let mut tree = Tree { vertices: Vec::new() };
        let mut parts = Parts((0..fabric.switches().len()).collect());
        let mut cables = vec![Vec::new(); ranking.levels() as usize];
        for cable in fabric.inter_switch_cables() {
            let (a, b) = (cable.a.0, cable.b.0);
            if let (Some(x), Some(y)) = (ranking.rank(a), ranking.rank(b)) {
                cables[x.max(y) as usize].push((a, b));
            }
        }
        // Switches that are in no subtree yet, and the roots of the subtrees made so far.
        let mut tops = Vec::new();
        for (switches, cables) in ranking.by_rank().into_iter().zip(cables) {
            for switch in switches {
                if let Some(hosts) = rails.hosts.remove(&switch) {
                    tops.push(tree.vertices.len());
                    let children = Children::Nodes(hosts);
                    tree.vertices.push(Vertex { children, switch, level: 0 });
                }
            }
            cables.into_iter().for_each(|(a, b)| parts.join(a, b));
            tops = tree.join(fabric, tops, &mut parts);
        }
        // Rails may be fabrics of their own, which only their hosts hold together.
        rails.joined.iter().for_each(|&(a, b)| parts.join(a, b));
        tree.join(fabric, tops, &mut parts);
        tree
    }

    /// Puts a subtree above those tops that are connected; gives the tops that there are then.
    fn join(&mut self, fabric: &Fabric, mut tops: Vec<usize>, parts: &mut Parts) -> Vec<usize> {
        tops.sort_by(|&a, &b| by_name(fabric, self.vertices[a].switch, self.vertices[b].switch));
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut group_of = HashMap::new();
        for top in tops {
            let part = parts.of(self.vertices[top].switch.at());
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
            let switch = self.vertices[group[0]].switch;
            let level = 1 + group.iter().map(|&v| self.vertices[v].level).max().unwrap_or(0);
            self.vertices.push(Vertex { children: Children::Switches(group), switch, level });
            self.vertices.len() - 1
        };
        groups.into_iter().map(join).collect()
    }

    /// The switches with their names: first those with hosts, then subtrees by level.
    fn named(&self, fabric: &Fabric) -> Vec<(String, Children<String>)> {
        let name_of = |v: &Vertex| safe(&fabric.switch(v.switch).name, LONGEST_NAME);
        let mut uses: HashMap<String, usize> = HashMap::new();
        for vertex in self.vertices.iter().filter(|v| v.level == 0) {
            *uses.entry(name_of(vertex)).or_default() += 1;
        }
        let mut order: Vec<usize> = (0..self.vertices.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&self.vertices[a], &self.vertices[b]);
            a.level.cmp(&b.level).then_with(|| by_name(fabric, a.switch, b.switch))
        });
        let mut names = vec![String::new(); self.vertices.len()];
        let mut taken = HashSet::new();
        let mut numbers: HashMap<u32, usize> = HashMap::new();
        for &at in &order {
            let vertex = &self.vertices[at];
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
        let children = |at: usize| match &self.vertices[at].children {
            Children::Nodes(nodes) => Children::Nodes(nodes.clone()),
            Children::Switches(below) => {
                Children::Switches(below.iter().map(|&b| names[b].clone()).collect())
            }
        };
        order.into_iter().map(|at| (names[at].clone(), children(at))).collect()
    }
}

fn by_name(fabric: &Fabric, a: SwitchIndex, b: SwitchIndex) -> std::cmp::Ordering {
    let (a, b) = (fabric.switch(a), fabric.switch(b));
    natural_cmp(&a.name, &b.name).then(a.guid.cmp(&b.guid))
}

/// Where hosts are: each under one switch, though it may be cabled to several.
struct Rails {
    hosts: HashMap<SwitchIndex, Vec<String>>,
    /// Switches that share a host.
    joined: Vec<(SwitchIndex, SwitchIndex)>,
}

impl Rails {
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
        let mut rails = Rails { hosts: HashMap::new(), joined: Vec::new() };
        for n in nodes {
            // What names no host is nobody's that Slurm could know.
            let Some(host) = host_name(&fabric.adapter_of(n).name) else { continue };
            let (host, switch) = (safe(host, usize::MAX), fabric.node(n).switch);
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

/// Which switches are connected, by the cables told so far.
struct Parts(Vec<usize>);

impl Parts {
    fn of(&mut self, mut s: usize) -> usize {
        while self.0[s] != s {
            self.0[s] = self.0[self.0[s]];
            s = self.0[s];
        }
        s
    }

    fn join(&mut self, a: SwitchIndex, b: SwitchIndex) {
        let (a, b) = (self.of(a.at()), self.of(b.at()));
        self.0[a.max(b)] = a.min(b);
    }
}

/// A name without what means something to Slurm: letters, digits, `-`, `_` and `.` stay.
fn safe(name: &str, longest: usize) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    name.trim().chars().map(|c| if keep(c) { c } else { '_' }).take(longest).collect()
}

/// A name in parts: all before the number at its end, the number's digits, its value.
type Split<'a> = (&'a str, &'a str, u32);

/// A list of names as Slurm writes it: `node[1-3,007-009],login`. Leading zeros are kept.
fn fold(names: &[String]) -> String {
    let mut split: Vec<Split> = names.iter().map(|name| split(name)).collect();
    split.sort_by(|a, b| natural_cmp(a.0, b.0).then((a.2, a.1.len()).cmp(&(b.2, b.1.len()))));
    // A name without a number cannot stand in brackets, so it is a group of its own.
    let together = |a: &Split, b: &Split| a.0 == b.0 && !a.1.is_empty();
    let follows = |a: &Split, b: &Split| format!("{:01$}", a.2 + 1, a.1.len()) == b.1;
    let run = |run: &[Split]| match (run[0].1, run[run.len() - 1].1) {
        (only, _) if run.len() == 1 => only.to_owned(),
        (from, to) => format!("{from}-{to}"),
    };
    let groups = split.chunk_by(together).map(|group| match group {
        &[(stem, digits, _)] => format!("{stem}{digits}"),
        _ => {
            let runs: Vec<String> = group.chunk_by(follows).map(run).collect();
            format!("{}[{}]", group[0].0, runs.join(","))
        }
    });
    groups.collect::<Vec<_>>().join(",")
}

/// Takes the number at the end of a name apart. Numbers too long to count with stay, and so do those that are
/// the whole name.
fn split(name: &str) -> Split<'_> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[stem.len()..];
    match digits.parse() {
        Ok(number) if !stem.is_empty() && digits.len() <= 9 => (stem, digits, number),
        _ => (name, "", 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::fabric::{Adapter, Product, Rate, Switch};
    use dmodc::{Degradation, FabricBuilder, Guid, LeafRule, Lid, Live, Pgft, PortNumber};

    /// Both files, without their headers.
    fn written(fabric: &Fabric) -> [String; 2] {
        let healthy = Degradation::none(fabric);
        let ranking = Ranking::new(Live::new(fabric, &healthy), &LeafRule::Detect);
        let (mut conf, mut yaml) = (Vec::new(), Vec::new());
        write_conf(fabric, &ranking, &mut conf).unwrap();
        write_yaml(fabric, &ranking, &mut yaml).unwrap();
        [conf, yaml].map(|t| String::from_utf8(t).unwrap().strip_prefix(HEADER).unwrap().into())
    }

    #[test]
    fn figure_1_is_three_subtrees_and_a_top() {
        let fabric = "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let [conf, yaml] = written(&fabric);
        let expected = "\
SwitchName=L1-0 Nodes=node-[0-1]
SwitchName=L1-1 Nodes=node-[2-3]
SwitchName=L1-2 Nodes=node-[4-5]
SwitchName=L1-3 Nodes=node-[6-7]
SwitchName=L1-4 Nodes=node-[8-9]
SwitchName=L1-5 Nodes=node-[10-11]
SwitchName=subtree1-0 Switches=L1-[0-1]
SwitchName=subtree1-1 Switches=L1-[2-3]
SwitchName=subtree1-2 Switches=L1-[4-5]
SwitchName=subtree2-0 Switches=subtree1-[0-2]
";
        assert_eq!(conf, expected);
        let expected = "\
- topology: default
  cluster_default: true
  tree:
    switches:
      - switch: L1-0
        nodes: node-[0-1]
      - switch: L1-1
        nodes: node-[2-3]
      - switch: L1-2
        nodes: node-[4-5]
      - switch: L1-3
        nodes: node-[6-7]
      - switch: L1-4
        nodes: node-[8-9]
      - switch: L1-5
        nodes: node-[10-11]
      - switch: subtree1-0
        children: L1-[0-1]
      - switch: subtree1-1
        children: L1-[2-3]
      - switch: subtree1-2
        children: L1-[4-5]
      - switch: subtree2-0
        children: subtree1-[0-2]
";
        assert_eq!(yaml, expected);
    }

    /// Switches by name, cabled to the last one if `star`; adapters by name, kind and switch.
    fn fabric(switches: &[&str], star: bool, adapters: &[(&str, AdapterKind, usize)]) -> Fabric {
        let mut b = FabricBuilder::new();
        let product = Product::default();
        let mut ports = vec![0; switches.len()];
        let mut port = |s: usize| {
            ports[s] += 1;
            PortNumber(ports[s])
        };
        let all: Vec<_> = (1..)
            .zip(switches)
            .map(|(guid, &name)| {
                let (guid, name) = (Guid(guid), name.into());
                b.switch(Switch { guid, lid: Lid(0), ports: 20, name, product })
            })
            .collect();
        let last = all.len() - 1;
        for s in (0..last).filter(|_| star) {
            b.cable((all[s], port(s)), (all[last], port(last)), Rate::NDR);
        }
        for (guid, &(name, kind, s)) in (100..).zip(adapters) {
            let (guid, name) = (Guid(guid), name.into());
            let adapter = b.adapter(Adapter { guid, ports: 1, kind, name, product });
            b.end_port(adapter, PortNumber(1), guid, Lid(0), 0);
            b.cable((all[s], port(s)), (adapter, PortNumber(1)), Rate::NDR);
        }
        b.finish().unwrap()
    }

    #[test]
    fn hosts_stand_once_and_names_are_safe_and_unique() {
        use AdapterKind::{Aggregation, Host, Router};
        let adapters = [
            ("n2 mlx5_1", Host, 0),
            ("n2 mlx5_0", Host, 1),
            ("n10 mlx5_0", Host, 1),
            ("n10 mlx5_10", Host, 0),
            ("n1 mlx5_2", Host, 0),
            ("Aggregation Node", Aggregation, 0),
            ("gate", Router, 1),
            ("", Host, 1),
            ("a,b=[1] x", Host, 2),
            ("MT4129 ConnectX7   Mellanox Technologies", Host, 0),
            ("MT4129 ConnectX7   Mellanox Technologies", Host, 1),
            ("localhost HCA-6", Host, 2),
        ];
        let names = ["MF0;leaf #1:U1", "Quantum", "Quantum", "spine"];
        let fabric = fabric(&names, true, &adapters);
        let [conf, _] = written(&fabric);
        let expected = "\
SwitchName=MF0_leaf__1_U1 Nodes=n1
SwitchName=Quantum_0000000000000002 Nodes=n[2,10]
SwitchName=Quantum_0000000000000003 Nodes=a_b__1_
SwitchName=subtree1-0 Switches=MF0_leaf__1_U1,Quantum_0000000000000002,Quantum_0000000000000003
";
        assert_eq!(conf, expected);
        let healthy = Degradation::none(&fabric);
        let ranking = Ranking::new(Live::new(&fabric, &healthy), &LeafRule::Detect);
        let left = left_out(&fabric, &ranking);
        let named: Vec<&str> = left.unnamed.iter().map(|&n| &*fabric.adapter_of(n).name).collect();
        let mut expected = [adapters[7].0, adapters[9].0, adapters[10].0, adapters[11].0];
        expected.sort_unstable();
        let mut found = named.clone();
        found.sort_unstable();
        assert_eq!((found, left.unconnected.len()), (expected.to_vec(), 0));
    }

    #[test]
    fn rails_are_joined_by_their_hosts_alone() {
        use AdapterKind::Host;
        let names = ["1", "subtree1-0"];
        let apart = [("a mlx5_0", Host, 0), ("b mlx5_1", Host, 1)];
        let [conf, yaml] = written(&fabric(&names, false, &apart));
        assert_eq!(conf, "SwitchName=1 Nodes=a\nSwitchName=subtree1-0 Nodes=b\n");
        assert!(yaml.contains("- switch: \"1\"\n        nodes: a\n"), "{yaml}");
        let shared = [apart[0], apart[1], ("a mlx5_1", Host, 1)];
        let [conf, _] = written(&fabric(&names, false, &shared));
        assert!(conf.ends_with("\nSwitchName=subtree1-0_ Switches=1,subtree1-0\n"), "{conf}");
        let [conf, yaml] = written(&fabric(&["empty"], false, &[]));
        assert_eq!(conf, "");
        assert!(yaml.ends_with("    switches: []\n"));
    }

    #[test]
    fn folding() {
        for (names, expected) in [
            ("", ""),
            ("node7", "node7"),
            ("node3 node1 node2 node009 node007 node008", "node[1-3,007-009]"),
            ("n9 n10 n11", "n[9-11]"),
            ("n09 n10 n099 n100", "n[09-10,099-100]"),
            ("n9 n010", "n[9,010]"),
            ("n1 n01 n2 n02", "n[1,01,2,02]"),
            ("b2 a1 b1 login", "a1,b[1-2],login"),
            ("n n0 n1", "n,n[0-1]"),
            ("n n5", "n,n5"),
            ("r1n1 r1n2 r2n1", "r1n[1-2],r2n1"),
            ("1 2 3", "1,2,3"),
            ("n1-ib n2-ib", "n1-ib,n2-ib"),
            ("x_0000000000000001 x_0000000000000002", "x_0000000000000001,x_0000000000000002"),
            ("n999999998 n999999999", "n[999999998-999999999]"),
        ] {
            let names: Vec<String> = names.split_whitespace().map(String::from).collect();
            assert_eq!(fold(&names), expected);
        }
    }
}
