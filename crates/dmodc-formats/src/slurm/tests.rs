//! Topologies of small fabrics, and folded lists.

use super::*;
use dmodc::fabric::{Adapter, Product, Rate, Switch};
use dmodc::{Degradation, FabricBuilder, Guid, LeafRule, Lid, Live, Pgft, PortNumber};

/// Returns both files, without their headers.
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

/// Returns a fabric of switches with these names and of adapters with these names, kinds and switches. With `star`, all
/// switches are cabled to the last one.
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
# leaves of MF0_leaf__1_U1 by rail: mlx5_0: MF0_leaf__1_U1
SwitchName=MF0_leaf__1_U1 Nodes=n1
# leaves of Quantum_0000000000000002 by rail: mlx5_0: Quantum, mlx5_10: MF0_leaf__1_U1
SwitchName=Quantum_0000000000000002 Nodes=n[2,10]
# leaves of Quantum_0000000000000003 by rail: mlx5_0: Quantum
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
fn blocks_share_their_leaves_on_all_rails() {
    use AdapterKind::Host;
    let adapters = [
        ("a mlx5_0", Host, 0),
        ("a mlx5_1", Host, 1),
        ("b mlx5_0", Host, 0),
        ("b mlx5_1", Host, 1),
        ("c mlx5_0", Host, 0),
        ("c mlx5_1", Host, 2),
        ("localhost mlx5_0", Host, 0),
    ];
    let fabric = fabric(&["l0", "l1", "l2", "spine"], true, &adapters);
    let healthy = Degradation::none(&fabric);
    let ranking = Ranking::new(Live::new(&fabric, &healthy), &LeafRule::Detect);
    let mut out = Vec::new();
    write_blocks(&fabric, &ranking, &mut out).unwrap();
    let expected = "\
# leaves of block0: mlx5_0: l0, mlx5_1: l1
BlockName=block0 Nodes=a,b
# leaves of block1: mlx5_0: l0, mlx5_1: l2
BlockName=block1 Nodes=c
BlockSizes=1
";
    assert_eq!(String::from_utf8(out).unwrap().strip_prefix(BLOCK_HEADER).unwrap(), expected);
    let [conf, yaml] = written(&fabric);
    let comment = "# leaves of l0 by rail: mlx5_0: l0, mlx5_1: l1 l2\nSwitchName=l0 Nodes=a,b,c\n";
    assert!(conf.contains(comment), "{conf}");
    assert!(
        yaml.contains("        # leaves by rail: mlx5_0: l0, mlx5_1: l1 l2\n        nodes:"),
        "{yaml}"
    );
}

#[test]
fn rails_are_joined_by_their_hosts_alone() {
    use AdapterKind::Host;
    let names = ["1", "subtree1-0"];
    let apart = [("a mlx5_0", Host, 0), ("b mlx5_1", Host, 1)];
    let [conf, yaml] = written(&fabric(&names, false, &apart));
    assert_eq!(
        conf, "SwitchName=1 Nodes=a\nSwitchName=subtree1-0 Nodes=b\n",
        "one rail needs no comment"
    );
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
