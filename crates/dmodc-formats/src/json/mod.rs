//! A fabric as JSON, which `dmodc convert --format json` and the plugin write: for programs that would rather not parse the
//! text of discovery tools.
//!
//! ```json
//! {
//! "schema": "dmodc/fabric/1",
//! "switches": [
//! {"guid":"0x02d0dc0100000001","lid":3,"ports":36,"name":"leaf 1","vendor":713,"device":54000,"system":"0x02d0dc0100000001"}
//! ],
//! "adapters": [
//! {"guid":"0x02d0dc0000000010","ports":2,"kind":"host","name":"node1 mlx5_0","vendor":713,"device":4123,"system":"0x02d0dc0000000010","end_ports":[{"port":1,"guid":"0x02d0dc0000000011","lid":1,"lmc":0}]}
//! ],
//! "cables": [
//! {"a":{"guid":"0x02d0dc0100000001","port":7},"b":{"guid":"0x02d0dc0000000010","port":1},"rate":"4xNDR"}
//! ]
//! }
//! ```
//!
//! | member | meaning |
//! |---|---|
//! | `schema` | [`SCHEMA`]; the number changes when readers of the old one would misread the new one |
//! | `guid`, `system` | a text, `0x` and hexadecimal digits: JSON's numbers are not exact to 64 bits. `system` is the GUID of the chassis, 0 if none is known |
//! | `lid` | 0 to 2³¹ − 1; 0 is unknown |
//! | `lmc` | 0 to 7: the end port has 2^`lmc` LIDs |
//! | `ports` | 0 to 254: how many ports the device has, cabled or not |
//! | `port` | 1 to 254 |
//! | `name` | the description, any text |
//! | `vendor`, `device` | numbers of 32 bits, 0 if unknown |
//! | `kind` | `host`, `aggregation`, `router` or `aside` (a host that is no sign of a leaf) |
//! | `end_ports` | the adapter's cabled ports; `guid` is the port's own |
//! | `cables` | all cables, each once, by the GUIDs of their devices; between switches or of an adapter |
//! | `rate` | width and speed; `??` for an unknown width, `???` for an unknown speed |
//!
//! All of these members are required; others are ignored. The order of the lists matters: switches and adapters are numbered
//! in their order, nodes in the order of their cables.

mod read;

use std::io::{self, Write};

use dmodc::fabric::{Adapter, AdapterKind, Product, Rate, Switch};
use dmodc::{Fabric, SwitchIndex};

pub use read::read;

/// The value of the top-level member `schema`.
pub const SCHEMA: &str = "dmodc/fabric/1";

/// The words for kinds of adapters.
const KINDS: [(AdapterKind, &str); 4] = [
    (AdapterKind::Host, "host"),
    (AdapterKind::Aggregation, "aggregation"),
    (AdapterKind::Router, "router"),
    (AdapterKind::Aside, "aside"),
];

/// Writes a fabric, one device or cable a line.
///
/// # Errors
/// The error of the writer.
pub fn write(fabric: &Fabric, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{{\n\"schema\": \"{SCHEMA}\",\n\"switches\": [")?;
    let mut between = "\n";
    for Switch { guid, lid, ports, name, product } in fabric.switches() {
        write!(out, "{between}{{\"guid\":\"{guid}\",\"lid\":{lid},\"ports\":{ports}")?;
        write_name_and_product(name, product, out)?;
        write!(out, "}}")?;
        between = ",\n";
    }
    write!(out, "\n],\n\"adapters\": [")?;
    let mut nodes: Vec<_> = fabric.nodes().iter().collect();
    nodes.sort_by_key(|node| (node.adapter, node.adapter_port));
    let mut own_nodes = nodes.chunk_by(|a, b| a.adapter == b.adapter).peekable();
    between = "\n";
    for (at, Adapter { guid, ports, kind, name, product }) in fabric.adapters().iter().enumerate() {
        let kind = KINDS.iter().find(|(k, _)| k == kind).map_or("host", |(_, word)| word);
        write!(out, "{between}{{\"guid\":\"{guid}\",\"ports\":{ports},\"kind\":\"{kind}\"")?;
        write_name_and_product(name, product, out)?;
        write!(out, ",\"end_ports\":[")?;
        let own = own_nodes.next_if(|own| own[0].adapter.at() == at).unwrap_or_default();
        for (i, node) in own.iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            let (port, guid, lid, lmc) = (node.adapter_port, node.guid, node.lid, node.lmc);
            write!(
                out,
                "{comma}{{\"port\":{port},\"guid\":\"{guid}\",\"lid\":{lid},\"lmc\":{lmc}}}"
            )?;
        }
        write!(out, "]}}")?;
        between = ",\n";
    }
    write!(out, "\n],\n\"cables\": [")?;
    let device = |s: SwitchIndex| fabric.switch(s).guid;
    let switches = fabric.inter_switch_cables().iter().map(|c| (c.a, (device(c.b.0), c.b.1)));
    let adapters = fabric.nodes().iter().map(|node| {
        let adapter = &fabric.adapters()[node.adapter.at()];
        ((node.switch, node.switch_port), (adapter.guid, node.adapter_port))
    });
    between = "\n";
    for ((switch, p), (b, q)) in switches.chain(adapters) {
        let a = device(switch);
        let rate = fabric.port(switch, p).map_or(Rate::default(), |port| port.rate);
        write!(out, "{between}{{\"a\":{{\"guid\":\"{a}\",\"port\":{p}}},")?;
        write!(out, "\"b\":{{\"guid\":\"{b}\",\"port\":{q}}},\"rate\":\"{rate}\"}}")?;
        between = ",\n";
    }
    writeln!(out, "\n]\n}}")
}

fn write_name_and_product(name: &str, product: &Product, out: &mut impl Write) -> io::Result<()> {
    let Product { vendor, device, system } = product;
    write!(out, ",\"name\":")?;
    serde_json::to_writer(&mut *out, name)?;
    write!(out, ",\"vendor\":{vendor},\"device\":{device},\"system\":\"{system}\"")
}

/// Returns whether a text looks like this format, in any version.
pub fn detect(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(b"{")
        && memchr::memmem::find(text, b"\"dmodc/fabric/").is_some()
}

#[cfg(test)]
mod tests;
