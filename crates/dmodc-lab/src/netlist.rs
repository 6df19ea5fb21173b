//! The fabric in a form that ibsim can simulate: with GUIDs that it can give, as text that it can read.
//!
//! ibsim gives port `p` of an adapter the GUID "node GUID + `p`", whatever its file says. Most real adapters have other
//! port GUIDs, so OpenSM's tables would come back for ports that the fabric does not have. Such a fabric gets a
//! *stand-in*: the same devices, cables, LIDs and indices, with made-up GUIDs. Tables are matched with the stand-in by
//! GUID, and with the fabric by index.
//!
//! OpenSM goes through switches and ports in the order of their GUIDs, so the stand-in's have the same order: its
//! engines choose what they would choose for the fabric itself.

use std::io::{self, Write};

use dmodc::fabric::{Peer, Product, Rate};
use dmodc::{Fabric, Guid, NodeIndex, PortNumber, SwitchIndex};

/// The first made-up GUID.
const FIRST: u64 = 0x02d0_dc51_0000_0000;

/// The longest name, in bytes: InfiniBand's node descriptions have 64, and ibsim ends them with a zero.
const LONGEST_NAME: usize = 63;

/// Returns the fabric with GUIDs that ibsim can give its ports; all indices stay. A fabric whose GUIDs fit is
/// returned unchanged. So a stand-in is its own stand-in, and so is a stand-in without some parts.
pub(crate) fn stand_in(fabric: &Fabric) -> Fabric {
    if fits(fabric) {
        return fabric.clone();
    }
    let mut devices: Vec<(Guid, GuidOwner)> = Vec::new();
    devices.extend(fabric.switches().iter().map(|s| s.guid).zip((0..).map(GuidOwner::Switch)));
    devices.extend(port_guids(fabric).into_iter().zip((0..).map(GuidOwner::Adapter)));
    devices.sort_unstable();
    let mut switches = vec![Guid(0); fabric.switches().len()];
    let mut adapters = vec![Guid(0); fabric.adapters().len()];
    let mut next = FIRST;
    for (_, device) in devices {
        match device {
            GuidOwner::Switch(at) => {
                switches[at] = Guid(next);
                next += 1;
            }
            GuidOwner::Adapter(at) => {
                adapters[at] = Guid(next);
                // The GUIDs of its ports follow.
                next += 1 + u64::from(fabric.adapters()[at].ports);
            }
        }
    }
    let port = |node: &dmodc::fabric::Node| {
        Guid(adapters[node.adapter.at()].0 + u64::from(node.adapter_port.0))
    };
    let nodes: Vec<Guid> = fabric.nodes().iter().map(port).collect();
    fabric.with_guids(&switches, &adapters, &nodes)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum GuidOwner {
    Switch(usize),
    Adapter(usize),
}

/// Returns the least port GUID of each adapter; its own GUID where it has no cabled port.
fn port_guids(fabric: &Fabric) -> Vec<Guid> {
    let mut least: Vec<Option<Guid>> = vec![None; fabric.adapters().len()];
    for node in fabric.nodes() {
        let known = &mut least[node.adapter.at()];
        *known = Some(known.map_or(node.guid, |guid| guid.min(node.guid)));
    }
    least.iter().zip(fabric.adapters()).map(|(least, a)| least.unwrap_or(a.guid)).collect()
}

/// Returns whether the GUIDs are those that ibsim would give: node GUID + port, and no two devices share one.
fn fits(fabric: &Fabric) -> bool {
    let derived = fabric.nodes().iter().all(|node| {
        let adapter = fabric.adapters()[node.adapter.at()].guid.0;
        adapter.checked_add(node.adapter_port.0.into()) == Some(node.guid.0)
    });
    // Ports without a cable have GUIDs, too.
    let adapters = fabric.adapters().iter().map(|a| (a.guid.0, u64::from(a.ports)));
    let switches = fabric.switches().iter().map(|s| (s.guid.0, 0));
    let mut ranges: Vec<(u64, u64)> = adapters.chain(switches).collect();
    ranges.sort_unstable();
    let apart = |pair: &[(u64, u64)]| pair[1].0 - pair[0].0 > pair[0].1;
    let in_range = |&(guid, ports): &(u64, u64)| guid > 0 && guid.checked_add(ports).is_some();
    derived && ranges.windows(2).all(apart) && ranges.iter().all(in_range)
}

/// Returns the name that ibsim and its console know an adapter by.
pub(crate) fn adapter_id(guid: Guid) -> String {
    format!("H-{:016x}", guid.0)
}

/// Returns the name that ibsim and its console know a switch by.
pub(crate) fn switch_id(guid: Guid) -> String {
    format!("S-{:016x}", guid.0)
}

/// A fabric as text for ibsim, and its size, for which ibsim has to reserve memory.
pub(crate) struct Netlist {
    pub(crate) text: Vec<u8>,
    pub(crate) switches: usize,
    pub(crate) adapters: usize,
    pub(crate) ports: usize,
}

impl Netlist {
    /// Returns the netlist of a fabric whose GUIDs fit.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn of(fabric: &Fabric) -> io::Result<Self> {
        let mut text = Vec::new();
        write(fabric, &mut text)?;
        let of_switches: usize = fabric.switches().iter().map(|s| usize::from(s.ports) + 1).sum();
        let of_adapters: usize = fabric.adapters().iter().map(|a| usize::from(a.ports)).sum();
        Ok(Netlist {
            text,
            switches: fabric.switches().len(),
            adapters: fabric.adapters().len(),
            ports: of_switches + of_adapters,
        })
    }
}

/// Writes a fabric whose GUIDs fit. Lines are shorter than ibsim's 255 characters; names stand only where ibsim reads
/// them, because in the line of a port it would take `w=`, `s=` or `e=` for an option. Routers become adapters: routes
/// treat both alike, and not every ibsim knows routers.
///
/// # Errors
/// If the writer fails.
pub(crate) fn write(fabric: &Fabric, out: &mut impl Write) -> io::Result<()> {
    let mut nodes: Vec<NodeIndex> = fabric.node_indices().collect();
    nodes.sort_by_key(|&n| (fabric.node(n).adapter, fabric.node(n).adapter_port));
    for own in nodes.chunk_by(|&a, &b| fabric.node(a).adapter == fabric.node(b).adapter) {
        let adapter = fabric.adapter_of(own[0]);
        write_head(&adapter.product, "caguid", adapter.guid, out)?;
        let (id, name) = (adapter_id(adapter.guid), quotable(&adapter.name));
        writeln!(out, "Ca\t{} \"{id}\"\t\t# \"{name}\"", adapter.ports)?;
        for &n in own {
            let node = fabric.node(n);
            let (switch, port) = (fabric.switch(node.switch), node.switch_port);
            let rate = fabric.port(node.switch, port).map_or(Rate::default(), |port| port.rate);
            writeln!(
                out,
                "[{}]\t\"{}\"[{port}]\t\t# lid {} lmc {} \"\" lid {} {rate}",
                node.adapter_port,
                switch_id(switch.guid),
                node.lid,
                node.lmc,
                switch.lid,
            )?;
        }
    }
    fabric.switch_indices().try_for_each(|s| write_switch(fabric, s, out))
}

fn write_switch(fabric: &Fabric, s: SwitchIndex, out: &mut impl Write) -> io::Result<()> {
    let switch = fabric.switch(s);
    write_head(&switch.product, "switchguid", switch.guid, out)?;
    let (id, name) = (switch_id(switch.guid), quotable(&switch.name));
    let (ports, lid) = (switch.ports, switch.lid);
    writeln!(out, "Switch\t{ports} \"{id}\"\t\t# \"{name}\" enhanced port 0 lid {lid} lmc 0")?;
    for (p, port) in (1..=PortNumber::MAX.0).map(PortNumber).zip(fabric.ports_of(s)) {
        let (id, q, lid, rate) = match port.peer {
            Peer::None => continue,
            // ibsim wants the same rate at both ends of a cable, so the rate of the lesser end counts.
            Peer::Switch(peer, q) => {
                let (end, at) = if (s, p) < (peer, q) { (s, p) } else { (peer, q) };
                let rate = fabric.port(end, at).map_or(port.rate, |port| port.rate);
                let peer = fabric.switch(peer);
                (switch_id(peer.guid), q, peer.lid, rate)
            }
            Peer::Node(n) => {
                let node = fabric.node(n);
                (adapter_id(fabric.adapter_of(n).guid), node.adapter_port, node.lid, port.rate)
            }
        };
        writeln!(out, "[{p}]\t\"{id}\"[{q}]\t\t# \"\" lid {lid} {rate}")?;
    }
    Ok(())
}

/// Writes the lines that come before a device.
pub(crate) fn write_head(
    product: &Product,
    word: &str,
    guid: Guid,
    out: &mut impl Write,
) -> io::Result<()> {
    let Product { vendor, device, system } = product;
    writeln!(out, "\nvendid=0x{vendor:x}\ndevid=0x{device:x}\nsysimgguid=0x{:x}", system.0)?;
    writeln!(out, "{word}=0x{:x}", guid.0)
}

/// Returns a name without quotation marks and control characters, and not too long.
pub(crate) fn quotable(name: &str) -> String {
    let plain = |c: char| if c.is_control() || c == '"' { ' ' } else { c };
    let mut safe = String::new();
    for c in name.chars().map(plain) {
        if safe.len() + c.len_utf8() > LONGEST_NAME {
            break;
        }
        safe.push(c);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::fabric::{Adapter, AdapterKind, Switch};
    use dmodc::{Degradation, FabricBuilder, Lid, Pgft};

    /// Three adapters of two cabled ports, whose GUIDs have nothing to do with each other, on two switches.
    fn odd() -> Fabric {
        let mut builder = FabricBuilder::new();
        let product = Product::default();
        let switch = |guid: u64, lid: u32| Switch {
            guid: Guid(guid),
            lid: Lid(lid),
            ports: 4,
            name: "speeds=99 \"x\"".repeat(9).into(),
            product,
        };
        let switches = [builder.switch(switch(900, 1)), builder.switch(switch(30, 2))];
        for (at, ports) in [[801, 700], [20, 950], [31, 32]].into_iter().enumerate() {
            let (guid, name) = (Guid(100 + at as u64), format!("nic {at}").into());
            let kind = if at == 2 { AdapterKind::Router } else { AdapterKind::Host };
            let vertex = builder.adapter(Adapter { guid, ports: 2, kind, name, product });
            for (port, guid) in (1..).zip(ports) {
                let lid = Lid(10 * at as u32 + u32::from(port) + 2);
                builder.end_port(vertex, PortNumber(port), Guid(guid), lid, 0);
                let place = (switches[usize::from(port) - 1], PortNumber(at as u8 + 1));
                builder.cable((vertex, PortNumber(port)), place, Rate::default());
            }
        }
        let ends = [0, 1].map(|at| (switches[at], PortNumber(4)));
        builder.cable(ends[0], ends[1], Rate::default());
        builder.finish().expect("it is consistent")
    }

    #[test]
    fn a_stand_in_has_the_same_places_and_order_and_guids_that_ibsim_gives() {
        let fabric = odd();
        let held = stand_in(&fabric);
        assert!(!fits(&fabric) && fits(&held));
        for (node, of) in held.nodes().iter().zip(fabric.nodes()) {
            let adapter = held.adapters()[node.adapter.at()].guid;
            assert_eq!(node.guid.0, adapter.0 + u64::from(node.adapter_port.0));
            assert_eq!(dmodc::fabric::Node { guid: of.guid, ..*node }, *of);
        }
        // OpenSM's engines go through devices by least port GUID: 20, 30, 31, 700, 900.
        let guids =
            |at: &[usize]| at.iter().map(|&at| held.adapters()[at].guid).collect::<Vec<_>>();
        let [first, second, third] = guids(&[1, 2, 0])[..] else { panic!() };
        let switches = [held.switches()[1].guid, held.switches()[0].guid];
        assert!(
            first < switches[0] && switches[0] < second && second < third && third < switches[1]
        );
        // Once is enough, whatever dies.
        assert_eq!(stand_in(&held), held);
        let mut faults = Degradation::none(&held);
        faults.set_switch(SwitchIndex::new(0), true);
        let rest = held.without(&faults);
        assert_eq!(stand_in(&rest), rest);
    }

    #[test]
    fn guids_that_fit_stay() {
        let fabric =
            "2; 3,3; 1,2; 1,1".parse::<Pgft>().expect("a tuple").fabric(Default::default());
        assert_eq!(stand_in(&fabric), fabric);
        // Not if a port without a cable would get the GUID of another device.
        let adapters: Vec<Guid> = fabric.adapters().iter().map(|a| a.guid).collect();
        let nodes: Vec<Guid> = fabric.nodes().iter().map(|n| n.guid).collect();
        let mut switches: Vec<Guid> = fabric.switches().iter().map(|s| s.guid).collect();
        let shared = Guid(adapters[0].0 + u64::from(fabric.adapters()[0].ports) + 1);
        switches[0] = shared;
        assert!(fits(&fabric.with_guids(&switches, &adapters, &nodes)));
        switches[0] = Guid(shared.0 - 1);
        assert!(!fits(&fabric.with_guids(&switches, &adapters, &nodes)));
        for guid in [0, u64::MAX] {
            switches[0] = Guid(guid);
            assert_eq!(fits(&fabric.with_guids(&switches, &adapters, &nodes)), guid > 0);
        }
    }

    #[test]
    fn what_is_written_is_the_fabric_whatever_its_names() {
        let held = stand_in(&odd());
        let mut text = Vec::new();
        write(&held, &mut text).expect("memory takes it");
        let text = String::from_utf8(text).expect("it is text");
        assert!(text.lines().all(|line| line.len() < 255), "{text}");
        let ports = text.lines().filter(|line| line.starts_with('['));
        assert!(ports.clone().all(|line| !line.contains('=')), "{text}");
        assert_eq!(ports.count(), 2 * (6 + 1));
        let read = dmodc_formats::read(text.as_bytes()).expect("it is a netlist").fabric;
        assert_eq!(read.switches().len(), 2);
        assert_eq!(read.inter_switch_cables(), held.inter_switch_cables());
    }
}
