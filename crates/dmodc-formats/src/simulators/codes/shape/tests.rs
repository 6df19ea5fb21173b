//! Trees that CODES builds, trees that it does not build, and their numbers.

use super::*;
use dmodc::fabric::{Adapter, AdapterKind, Product, Rate, Switch};
use dmodc::{FabricBuilder, Guid, Lid, Pgft};

#[track_caller]
fn check(tuple: &str, expected: Result<(u32, u32, u32), &str>) {
    let fabric = tuple.parse::<Pgft>().unwrap().fabric(Default::default());
    match (CodesFabric::recognise(&fabric), expected) {
        (Ok(found), Ok(expected)) => {
            assert_eq!((found.levels, found.radix, found.leaves), expected);
            let ids: BTreeSet<u32> = found.places.iter().map(|place| place.id).collect();
            assert_eq!(ids, (0..fabric.switches().len() as u32).collect());
            for s in fabric.switch_indices() {
                let cabled = (1..=fabric.switch(s).ports)
                    .filter(|&p| fabric.port(s, PortNumber(p)).unwrap().peer != Peer::None);
                let mut ports: Vec<u8> =
                    cabled.map(|p| found.port(&fabric, s, PortNumber(p))).collect();
                ports.sort_unstable();
                assert_eq!(ports, (1..=ports.len() as u8).collect::<Vec<u8>>());
            }
        }
        (Err(error), Err(expected)) => {
            assert!(error.to_string().contains(expected), "{error}");
        }
        (found, _) => panic!("{found:?}"),
    }
}

#[test]
fn shapes_of_codes_are_recognised() {
    check("2; 4,4; 1,2; 1,2", Ok((2, 8, 4)));
    check("3; 4,4,8; 1,4,4; 1,1,1", Ok((3, 8, 32)));
    // With three nodes for each cable upwards.
    check("3; 6,4,8; 1,2,4; 1,1,1", Ok((3, 8, 32)));
}

/// A tree of CODES: switches of `radix` ports, `up` of them upwards on leaves; one pod is a tree of two levels.
struct Wiring {
    radix: usize,
    up: usize,
    pods: usize,
}

impl Wiring {
    /// Returns how many switches of the middle of a pod have the same switches of the top above them.
    fn repetitions(&self) -> usize {
        (1..=self.radix / self.pods).rev().find(|r| self.up.is_multiple_of(*r)).unwrap()
    }

    /// Returns the fabric with the GUIDs and port numbers of CODES, ports counted from 1.
    fn fabric(&self) -> Fabric {
        let &Wiring { radix, up, pods } = self;
        let (half, down, rep) = (radix / 2, radix - up, self.repetitions());
        let (middle, parallel) = if pods == 1 { (up / 2, 2) } else { (up, 1) };
        let top = if pods == 1 { 0 } else { up / rep * half };
        let mut b = FabricBuilder::new();
        let product = Product::default();
        let mut switches = Vec::new();
        for (level, count) in (1..).zip([pods * half, pods * middle, top]) {
            for _ in 0..count {
                let (guid, lid) = (Guid(level << 32 | switches.len() as u64), Lid::UNKNOWN);
                let name = guid.to_string().into();
                switches.push(b.switch(Switch { guid, lid, ports: radix as u8, name, product }));
            }
        }
        let port = |at: usize| PortNumber(at as u8 + 1);
        for terminal in 0..pods * half * down {
            let guid = Guid(64 << 32 | terminal as u64);
            let name = guid.to_string().into();
            let host =
                b.adapter(Adapter { guid, ports: 1, kind: AdapterKind::Host, name, product });
            b.end_port(host, port(0), guid, Lid::UNKNOWN, 0);
            let leaf = switches[terminal / down];
            b.cable((host, port(0)), (leaf, port(terminal % down)), Rate::NDR);
        }
        let (first_middle, first_top) = (pods * half, pods * (half + middle));
        for pod in 0..pods {
            for at in 0..middle {
                let s = switches[first_middle + pod * middle + at];
                for leaf in 0..half {
                    for cable in 0..parallel {
                        let lower =
                            (switches[pod * half + leaf], port(down + at * parallel + cable));
                        b.cable(lower, (s, port(leaf * parallel + cable)), Rate::NDR);
                    }
                }
                for offset in 0..if top == 0 { 0 } else { half } {
                    let upper = switches[first_top + at / rep * half + offset];
                    let lower = (s, port(half + offset));
                    b.cable(lower, (upper, port(pod * rep + at % rep)), Rate::NDR);
                }
            }
        }
        b.finish().unwrap()
    }
}

/// A fabric that is numbered as CODES numbers it keeps its numbers.
#[test]
fn the_wiring_of_codes_is_recognised_as_it_is() {
    let cases =
        [(8, 4, 1), (8, 4, 8), (8, 4, 5), (8, 4, 4), (8, 2, 4), (8, 4, 3), (12, 6, 3), (12, 4, 2)];
    for (radix, up, pods) in cases {
        let wiring = Wiring { radix, up, pods };
        let fabric = wiring.fabric();
        let found = CodesFabric::recognise(&fabric).unwrap();
        let levels = if pods == 1 { 2 } else { 3 };
        assert_eq!((found.levels, found.radix as usize), (levels, radix), "{radix} {up} {pods}");
        for s in fabric.switch_indices() {
            let Place { level, id } = found.place(s);
            assert_eq!(fabric.switch(s).guid, Guid(u64::from(level + 1) << 32 | u64::from(id)));
            for p in (1..=radix as u8).map(PortNumber) {
                if fabric.port(s, p).unwrap().peer != Peer::None {
                    assert_eq!(found.port(&fabric, s, p), p.0, "{radix} {up} {pods}");
                }
            }
        }
        for (terminal, &n) in found.terminals().iter().enumerate() {
            assert_eq!(fabric.node(n).guid, Guid(64 << 32 | terminal as u64));
        }
    }
}

#[test]
fn others_are_refused_with_a_reason() {
    check("2; 4,8; 1,4; 1,1", Err("2 cables between two switches"));
    check("2; 4,8; 1,2; 1,2", Err("8 leaves have the same switches above, instead of 4"));
    // CODES would join middle switches of a pod at the top if there are few pods.
    check("3; 4,4,4; 1,4,4; 1,1,1", Err("its top is not 2 groups of 4 switches"));
    check("2; 3,4; 1,2; 1,2", Err("cannot be halved"));
    check("4; 2,2,2,2; 1,2,2,2; 1,1,1,1", Err("CODES"));
}
