//! The hosts of a fabric, and their adapters by rail.
//!
//! A host with several adapters has a node on each of several *rails*. Nothing in a fabric numbers rails; the descriptions
//! of adapters do: in `n7 mlx5_0` and `n7 mlx5_1`, the words after the name of the host are the same for one rail of all
//! hosts. The names of rails are those that most hosts with the usual number of nodes have; hosts with one node do not
//! count. A host with other words, or with one of them twice, has its nodes on the first rails, in the natural order of
//! their descriptions.
//!
//! | description | host | rail |
//! |---|---|---|
//! | `n7 mlx5_0` | `n7` | `mlx5_0` |
//! | `n7 mlx5_1`, port 2 | `n7` | `mlx5_1 port 2`, if the adapter has several ports |
//! | `login1 HCA-1` | `login1` | `mlx5_0`, the first one |

use std::collections::BTreeMap;

use crate::fabric::{AdapterKind, Live};
use crate::id::NodeIndex;
use crate::order::natural_cmp;
use crate::survey::{HostKey, usual};

/// A host and its nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailHost<'a> {
    /// The host.
    pub host: HostKey<'a>,
    /// Its node on each rail, dead or alive; `None` if it has none.
    pub nodes: Vec<Option<NodeIndex>>,
}

impl RailHost<'_> {
    /// Returns its live node on a rail.
    pub fn live_node(&self, live: Live<'_>, rail: usize) -> Option<NodeIndex> {
        self.nodes.get(rail).copied().flatten().filter(|&n| live.node(n))
    }
}

/// All hosts of a fabric with their nodes by rail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rails<'a> {
    /// The names of the rails, in natural order. If descriptions name none, they are numbers from 0.
    pub names: Vec<String>,
    /// The hosts, in the natural order of their names; hosts without a name come last.
    pub hosts: Vec<RailHost<'a>>,
}

/// A node of a host, and the words after the name of the host.
struct Adapter {
    label: String,
    node: NodeIndex,
}

impl<'a> Rails<'a> {
    /// Finds the hosts and rails of a fabric. Dead nodes count, too. O(#nodes log #nodes).
    pub fn new(live: Live<'a>) -> Self {
        let mut by_host: BTreeMap<HostKey<'a>, Vec<Adapter>> = BTreeMap::new();
        for n in live.fabric.node_indices() {
            if matches!(live.fabric.adapter_of(n).kind, AdapterKind::Host | AdapterKind::Aside) {
                let adapter = Adapter { label: label(live, n), node: n };
                by_host.entry(HostKey::of(live, n)).or_default().push(adapter);
            }
        }
        for adapters in by_host.values_mut() {
            let guid = |adapter: &Adapter| live.fabric.node(adapter.node).guid;
            adapters.sort_by(|a, b| {
                natural_cmp(&a.label, &b.label).then_with(|| guid(a).cmp(&guid(b)))
            });
        }
        let mut names = usual_labels(&by_host);
        let most = by_host.values().map(Vec::len).max().unwrap_or(0);
        names.extend((names.len()..most).map(|rail| rail.to_string()));
        let mut hosts: Vec<RailHost<'a>> = by_host
            .into_iter()
            .map(|(host, adapters)| RailHost { host, nodes: by_rail(&names, &adapters) })
            .collect();
        hosts.sort_by(|a, b| by_name(a.host, b.host));
        Rails { names, hosts }
    }

    /// Returns whether some host has nodes on several rails.
    pub fn has_several(&self) -> bool {
        self.names.len() > 1
    }
}

/// Returns the words after the name of the host.
fn label(live: Live<'_>, n: NodeIndex) -> String {
    let (adapter, node) = (live.fabric.adapter_of(n), live.fabric.node(n));
    let words: Vec<&str> = adapter.name.split_whitespace().skip(1).collect();
    let words = words.join(" ");
    match adapter.ports {
        0 | 1 => words,
        _ => format!("{words} port {}", node.adapter_port).trim_start().to_owned(),
    }
}

/// Returns whether no two adapters of a host have the same label. They are sorted.
fn are_distinct(adapters: &[Adapter]) -> bool {
    adapters.windows(2).all(|pair| pair[0].label != pair[1].label)
}

/// Returns the labels that most hosts with the usual number of nodes have. Hosts with one node do not count. Returns none if
/// there are no others, or if their labels are not distinct.
fn usual_labels(by_host: &BTreeMap<HostKey<'_>, Vec<Adapter>>) -> Vec<String> {
    let count = usual(by_host.values().map(Vec::len).filter(|&nodes| nodes > 1));
    let mut votes: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
    let alike = by_host.values().filter(|adapters| count > 1 && adapters.len() == count);
    for adapters in alike {
        if are_distinct(adapters) {
            let labels = adapters.iter().map(|adapter| adapter.label.as_str()).collect();
            *votes.entry(labels).or_default() += 1;
        }
    }
    // Of equally common ones the last.
    let most = votes.into_iter().max_by_key(|&(_, votes)| votes);
    most.map_or(Vec::new(), |(labels, _)| labels.into_iter().map(String::from).collect())
}

/// Returns the node of a host on each rail.
fn by_rail(names: &[String], adapters: &[Adapter]) -> Vec<Option<NodeIndex>> {
    let rail = |adapter: &Adapter| names.iter().position(|name| *name == adapter.label);
    let labelled: Option<Vec<usize>> = adapters.iter().map(rail).collect();
    let mut nodes = vec![None; names.len()];
    let rails = labelled.filter(|_| are_distinct(adapters));
    let rails = rails.unwrap_or_else(|| (0..adapters.len()).collect());
    for (rail, adapter) in rails.into_iter().zip(adapters) {
        nodes[rail] = Some(adapter.node);
    }
    nodes
}

fn by_name(a: HostKey<'_>, b: HostKey<'_>) -> std::cmp::Ordering {
    let is_unnamed = |host| matches!(host, HostKey::Unnamed(..));
    is_unnamed(a)
        .cmp(&is_unnamed(b))
        .then_with(|| natural_cmp(a.name(), b.name()))
        .then_with(|| a.cmp(&b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::{Adapter as FabricAdapter, Product, Rate, Switch};
    use crate::{Degradation, Fabric, FabricBuilder, Guid, Lid, PortNumber};

    fn fabric(adapters: &[&str]) -> Fabric {
        let mut b = FabricBuilder::new();
        let product = Product::default();
        let name = "leaf".into();
        let leaf = b.switch(Switch { guid: Guid(1), lid: Lid(0), ports: 30, name, product });
        for (at, &name) in (1u8..).zip(adapters) {
            let guid = Guid(100 + u64::from(at));
            let kind = AdapterKind::Host;
            let adapter =
                b.adapter(FabricAdapter { guid, ports: 1, kind, name: name.into(), product });
            b.end_port(adapter, PortNumber(1), guid, Lid(0), 0);
            b.cable((leaf, PortNumber(at)), (adapter, PortNumber(1)), Rate::NDR);
        }
        b.finish().unwrap()
    }

    /// Returns the names of rails, and of each host the descriptions by rail.
    fn seen(fabric: &Fabric) -> (Vec<String>, Vec<String>) {
        let healthy = Degradation::none(fabric);
        let live = Live::new(fabric, &healthy);
        let rails = Rails::new(live);
        let host = |host: &RailHost<'_>| {
            let name = |n: &Option<NodeIndex>| {
                n.map_or("-".into(), |n| fabric.adapter_of(n).name.replace(' ', "/"))
            };
            host.nodes.iter().map(name).collect::<Vec<_>>().join(" ")
        };
        (rails.names.clone(), rails.hosts.iter().map(host).collect())
    }

    #[test]
    fn rails_have_the_words_after_the_host() {
        let all = [
            "n10 mlx5_10",
            "n10 mlx5_2",
            "n2 mlx5_2",
            "n2 mlx5_10",
            "n3 mlx5_10",
            "login HCA-1",
            "MT4129 ConnectX7",
        ];
        let (names, hosts) = seen(&fabric(&all));
        assert_eq!(names, ["mlx5_2", "mlx5_10"]);
        let expected = [
            "login/HCA-1 -",
            "n2/mlx5_2 n2/mlx5_10",
            "- n3/mlx5_10",
            "n10/mlx5_2 n10/mlx5_10",
            "MT4129/ConnectX7 -",
        ];
        assert_eq!(hosts, expected);
    }

    #[test]
    fn rails_without_words_are_numbered() {
        let (names, hosts) = seen(&fabric(&["a", "a", "b", "b"]));
        assert_eq!(
            (names, hosts),
            (vec!["0".into(), "1".into()], vec!["a a".into(), "b b".into()])
        );
        let (names, hosts) = seen(&fabric(&["a", "b x"]));
        assert_eq!((names, hosts), (vec!["0".into()], vec!["a".into(), "b/x".into()]));
        assert_eq!(seen(&fabric(&[])), (vec![], vec![]));
    }
}
