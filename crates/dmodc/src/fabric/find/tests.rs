use super::*;
use crate::fabric::{Product, Switch, Vertex};
use crate::id::Lid;
use crate::{FabricBuilder, Pgft};

fn find(fabric: &Fabric, text: &str) -> Result<Part, String> {
    fabric.find_part(text).map_err(|error| error.to_string())
}

#[test]
fn switches_and_cables_are_found_by_name_and_by_guid() {
    let fabric = "2; 2,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
    let leaf = Part::Switch(SwitchIndex::new(0));
    let guid = fabric.switches()[0].guid;
    for name in ["L1-0".into(), guid.to_string(), format!("S-{:016x}", guid.0)] {
        assert_eq!(find(&fabric, &name), Ok(leaf));
        let Ok(Part::Cable(c)) = find(&fabric, &format!("{name}/3")) else { panic!("{name}") };
        assert!(matches!(fabric.cable(c), CableEnds::Switches(_)));
        let Ok(Part::Cable(c)) = find(&fabric, &format!("{name}/1")) else { panic!("{name}") };
        assert_eq!(fabric.cable(c), CableEnds::Node(NodeIndex::new(0)));
        assert_eq!(find(&fabric, "node-0/1"), Ok(Part::Cable(c)), "an adapter's port");
    }
}

#[test]
fn errors_say_what_is_wrong_and_list_candidates() {
    let fabric = "2; 2,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
    let wrong = |text: &str| find(&fabric, text).unwrap_err();
    let unknown = "no switch has the name or GUID 'L2-7'; the most similar names are 'L2-0', \
                   'L2-1', 'L1-0', 'L1-1'";
    assert_eq!(wrong("L2-7"), unknown);
    assert_eq!(wrong("L2-7/3"), unknown);
    assert_eq!(wrong("L1-0/9"), "port 9 of 'L1-0' has no cable");
    assert_eq!(wrong("node-0/2"), "port 2 of 'node-0' has no cable");
    for text in ["L1-0/0", "L1-0/255", "L1-0/x", "L1-0/"] {
        assert_eq!(wrong(text), format!("'{text}' does not end in a port number from 1 to 254"));
    }
    for text in ["", "0x", "node-0", "0x1/1", "/", "/1"] {
        assert!(wrong(text).starts_with("no switch has the name or GUID '"), "{text}");
    }
}

/// Names that several have, that hold slashes, and that look like GUIDs.
#[test]
fn ambiguous_texts_are_errors() {
    let mut b = FabricBuilder::new();
    for (guid, name) in
        [(0x11, "spine"), (0x12, "spine"), (0x13, "rack/1"), (0x14, "rack"), (0x15, "11")]
    {
        let (guid, name, product) = (Guid(guid), name.into(), Product::default());
        b.switch(Switch { guid, lid: Lid(0), ports: 4, name, product });
    }
    let rack = b.switch(Switch {
        guid: Guid(0x16),
        lid: Lid(0),
        ports: 1,
        name: "r/k".into(),
        product: Product::default(),
    });
    b.cable(
        (Vertex::Switch(SwitchIndex::new(3)), PortNumber(1)),
        (rack, PortNumber(1)),
        Default::default(),
    );
    let fabric = b.finish().unwrap();
    let [spine, other] = ["0x0000000000000011", "0x0000000000000012"];
    let several = |text: &str, a: &str, b: &str| {
        Err(format!("'{text}' matches 2 parts; give one of their GUIDs: {a}, {b}"))
    };
    assert_eq!(find(&fabric, "spine"), several("spine", spine, other));
    let named = fabric.find_switch("spine").map_err(|error| error.to_string());
    assert_eq!(named.map(Part::Switch), several("spine", spine, other));
    assert_eq!(find(&fabric, "11"), several("11", spine, "0x0000000000000015"));
    assert_eq!(find(&fabric, "0x12"), Ok(Part::Switch(SwitchIndex::new(1))));
    let cable = "0x0000000000000014/1";
    assert_eq!(find(&fabric, "rack/1"), several("rack/1", "0x0000000000000013", cable));
    assert!(
        matches!(find(&fabric, "rack/1/1"), Err(why) if why.contains("port 1 of") && why.contains("has no cable"))
    );
    assert_eq!(find(&fabric, "r/k/1"), find(&fabric, "0x14/1"));
    assert_eq!(find(&fabric, "r/k"), Ok(Part::Switch(SwitchIndex::new(5))));
}

/// `find` knows nodes, too: by description, host, port GUID and adapter GUID.
#[test]
fn nodes_are_found_by_name_and_by_guid() {
    use crate::fabric::{Adapter, AdapterKind};

    let mut b = FabricBuilder::new();
    let switch = |guid: u64, name: &str| {
        let (guid, name, product) = (Guid(guid), name.into(), Product::default());
        Switch { guid, lid: Lid(0), ports: 8, name, product }
    };
    let leaf = b.switch(switch(0x1, "leaf"));
    for (guid, name, ports) in [(0x20, "host1 mlx5_0", 1), (0x30, "host2 mlx5_0", 2)] {
        let (name, product) = (name.into(), Product::default());
        let kind = AdapterKind::Host;
        let adapter = b.adapter(Adapter { guid: Guid(guid), ports, kind, name, product });
        for port in 1..=ports {
            let guid = Guid(guid + u64::from(port));
            b.end_port(adapter, PortNumber(port), guid, Lid(0), 0);
            let at = PortNumber((guid.0 >> 4) as u8 + port);
            b.cable((adapter, PortNumber(port)), (leaf, at), Default::default());
        }
    }
    let fabric = b.finish().unwrap();
    let find = |text: &str| fabric.find(text).map_err(|error| error.to_string());
    let node = |n: usize| Ok(Found::Node(NodeIndex::new(n)));
    for text in ["host1 mlx5_0", "host1", "0x21", "0x20", "H-0000000000000020"] {
        assert_eq!(find(text), node(0), "{text}");
    }
    assert_eq!([find("0x31"), find("0x32")], [node(1), node(2)]);
    let ports = "0x0000000000000031, 0x0000000000000032";
    for text in ["host2", "0x30"] {
        let several = format!("'{text}' matches 2 parts; give one of their GUIDs: {ports}");
        assert_eq!(find(text), Err(several));
    }
    assert_eq!(find("host2 mlx5_0/2"), find("leaf/5"));
    assert_eq!(find("leaf"), Ok(Found::Switch(SwitchIndex::new(0))));
    let unknown = "no switch or node has the name or GUID 'host3'; the most similar names are \
                   'leaf', 'host1 mlx5_0', 'host2 mlx5_0'";
    assert_eq!(find("host3"), Err(unknown.into()));
}
