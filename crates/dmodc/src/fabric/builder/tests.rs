use super::*;
use crate::fabric::{AdapterKind, Product};

fn switch(guid: u64, ports: u8) -> Switch {
    Switch {
        guid: Guid(guid),
        lid: Lid(0),
        ports,
        name: format!("s{guid}").into(),
        product: Product::default(),
    }
}

fn host(guid: u64, ports: u8) -> Adapter {
    Adapter {
        guid: Guid(guid),
        ports,
        kind: AdapterKind::Host,
        name: format!("h{guid}").into(),
        product: Product::default(),
    }
}

/// Two switches, a cable and a node; then what `spoil` adds.
fn problems(spoil: impl FnOnce(&mut FabricBuilder, [Vertex; 3])) -> Vec<Problem> {
    let mut b = FabricBuilder::new();
    let (a, c, h) = (b.switch(switch(1, 4)), b.switch(switch(2, 4)), b.adapter(host(3, 2)));
    b.cable((a, PortNumber(1)), (c, PortNumber(1)), Rate::NDR);
    b.end_port(h, PortNumber(1), Guid(4), Lid(1), 0);
    b.cable((h, PortNumber(1)), (a, PortNumber(2)), Rate::NDR);
    spoil(&mut b, [a, c, h]);
    match b.finish() {
        Ok(_) => vec![],
        Err(e) => e.inconsistencies.into_iter().map(|i| i.problem).collect(),
    }
}

#[test]
fn a_consistent_fabric_has_no_problems() {
    assert_eq!(problems(|_, _| {}), []);
}

#[test]
fn each_problem_is_found_once_and_named() {
    let (g1, g2, g3) = (Guid(1), Guid(2), Guid(3));
    let (p1, p2, p3) = (PortNumber(1), PortNumber(2), PortNumber(3));
    let rate = Rate::NDR;
    assert!(
        problems(|b, _| {
            b.switch(switch(1, 4));
        })
        .contains(&Problem::DeviceTwice(g1))
    );
    assert_eq!(
        problems(|b, [a, c, _]| b.cable((a, PortNumber(9)), (c, p2), rate))[0],
        Problem::NoSuchPort(g1, PortNumber(9), 4)
    );
    assert_eq!(
        problems(|b, [a, c, _]| b.cable((a, p1), (c, p2), rate))[0],
        Problem::PortTwice(g1, p1)
    );
    assert_eq!(
        problems(|b, [a, ..]| b.mention(a, p3, Guid(77), p1, rate)),
        [Problem::UnknownPeer(g1, p3, Guid(77))]
    );
    assert_eq!(
        problems(|b, [a, ..]| b.mention(a, p3, g2, p3, rate)),
        [Problem::OneSided(g1, p3, g2, p3)]
    );
    let looped = problems(|b, [a, ..]| b.cable((a, p3), (a, PortNumber(4)), rate));
    let p4 = PortNumber(4);
    assert_eq!(looped, [Problem::SelfLoop(g1, p3, p4), Problem::SelfLoop(g1, p4, p3)]);
    assert_eq!(
        problems(|b, [_, _, h]| {
            let other = b.adapter(host(9, 1));
            b.cable((h, p2), (other, p1), rate);
        }),
        [Problem::NoSwitch(g3, p2, Guid(9))]
    );
    assert_eq!(
        problems(|b, [_, c, h]| b.cable((h, p2), (c, p2), rate)),
        [Problem::NoPortGuid(g3, p2)]
    );
    assert_eq!(
        problems(|b, [_, c, h]| {
            b.end_port(h, p2, Guid(4), Lid(2), 0);
            b.cable((h, p2), (c, p2), rate);
        }),
        [Problem::DuplicateGuid(Guid(4))]
    );
    assert_eq!(
        problems(|b, [_, c, h]| {
            b.end_port(h, p2, g2, Lid(2), 0);
            b.cable((h, p2), (c, p2), rate);
        }),
        [Problem::DuplicateGuid(g2)]
    );
    assert_eq!(
        problems(|b, _| {
            b.switch(switch(5, 255));
        }),
        [Problem::TooManyPorts(Guid(5), 255)]
    );
}
