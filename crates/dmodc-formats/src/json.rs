//! A fabric as JSON: for programs that would rather not parse discovery tools' text.
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
//! | member | what it is |
//! |---|---|
//! | `schema` | [`SCHEMA`]; the number changes when a reader of the old one would err |
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
//! All of these must be there; members that are not listed are ignored. The order of the lists counts:
//! switches and adapters are numbered as they stand, nodes as their cables do.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use dmodc::fabric::{Adapter, AdapterKind, Product, Rate, Switch, Vertex};
use dmodc::{Fabric, FabricBuilder, Guid, Lid, PortNumber, SwitchIndex};
use serde_json::value::RawValue;

use crate::ReadError;

/// What the top-level member `schema` says.
pub const SCHEMA: &str = "dmodc/fabric/1";

const KINDS: [(AdapterKind, &str); 4] = [
    (AdapterKind::Host, "host"),
    (AdapterKind::Aggregation, "aggregation"),
    (AdapterKind::Router, "router"),
    (AdapterKind::Aside, "aside"),
];

/// Writes a fabric, one device or cable a line.
///
/// # Errors
/// What the writer says.
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

/// Whether this looks like the format, in any version.
pub fn detect(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(b"{")
        && memchr::memmem::find(text, b"\"dmodc/fabric/").is_some()
}

/// Reads a fabric. LIDs are kept as they are: none is given where one is missing.
///
/// # Errors
/// The first place that is not of this format, named such as `switches[3].lid`, or the first thing in
/// which two places disagree.
pub fn read(text: &[u8]) -> Result<Fabric, ReadError> {
    let top = open(text, SCHEMA)?;
    let mut lines = Lines { text, line: 1, counted: 0 };
    let mut builder = FabricBuilder::new();
    let mut devices = HashMap::new();
    let mut end_ports = HashMap::new();
    top.member("switches")?.each(|switch| {
        builder.at_line(lines.of(&switch));
        let switch = switch.object()?;
        let guid = switch.new_guid(&devices)?;
        let vertex = builder.switch(Switch {
            guid,
            lid: switch.member("lid")?.lid()?,
            ports: switch.number("ports", 0, PortNumber::MAX.0.into())? as u8,
            name: switch.member("name")?.string()?.into(),
            product: switch.product()?,
        });
        devices.insert(guid, vertex);
        Ok(())
    })?;
    top.member("adapters")?.each(|adapter| {
        builder.at_line(lines.of(&adapter));
        let adapter = adapter.object()?;
        let guid = adapter.new_guid(&devices)?;
        let vertex = builder.adapter(Adapter {
            guid,
            ports: adapter.number("ports", 0, PortNumber::MAX.0.into())? as u8,
            kind: adapter.member("kind")?.kind()?,
            name: adapter.member("name")?.string()?.into(),
            product: adapter.product()?,
        });
        devices.insert(guid, vertex);
        adapter.member("end_ports")?.each(|end_port| {
            let end_port = end_port.object()?;
            let port = end_port.port()?;
            let guid = end_port.member("guid")?.guid()?;
            let lid = end_port.member("lid")?.lid()?;
            let lmc = end_port.number("lmc", 0, 7)? as u8;
            match end_ports.insert((vertex, port), (guid, lid, lmc)) {
                None => Ok(()),
                Some(_) => Err(end_port.place.error(format!("port {port} is described twice"))),
            }
        })
    })?;
    top.member("cables")?.each(|cable| {
        builder.at_line(lines.of(&cable));
        let cable = cable.object()?;
        let (a, b) = (cable.end("a", &devices)?, cable.end("b", &devices)?);
        let rate = cable.member("rate")?;
        let wrong = |_| rate.expected("a width and speed such as \"4xNDR\"");
        let rate = rate.string()?.parse::<Rate>().map_err(wrong)?;
        for (vertex, port) in [a, b] {
            if let Some(&(guid, lid, lmc)) = end_ports.get(&(vertex, port)) {
                builder.end_port(vertex, port, guid, lid, lmc);
            }
        }
        builder.cable(a, b, rate);
        Ok(())
    })?;
    builder.finish().map_err(|e| ReadError {
        line: e.inconsistencies[0].line.max(1),
        column: 1,
        message: e.to_string(),
    })
}

/// A value, and where it stands.
pub(crate) struct Place<'a> {
    text: &'a [u8],
    raw: &'a RawValue,
    /// Such as `switches[3].lid`; empty for the whole.
    name: String,
}

/// Returns the members of a JSON text whose member `schema` says what it should.
///
/// # Errors
/// If the text is not JSON, or of another schema.
pub(crate) fn open<'a>(text: &'a [u8], known: &str) -> Result<Object<'a>, ReadError> {
    // Raw values borrow from the text, so that each of them knows its place in it, and no tree of
    // the whole is ever built.
    let raw: &RawValue = serde_json::from_slice(text).map_err(|e| {
        let message = e.to_string();
        let message = message.rsplit_once(" at line ").map_or(&*message, |(what, _)| what);
        ReadError {
            line: (e.line() as u32).max(1),
            column: (e.column() as u32).max(1),
            message: format!("not JSON: {message}"),
        }
    })?;
    let top = Place { text, raw, name: String::new() }.object()?;
    let schema = top.member("schema")?;
    if schema.string()? != known {
        return Err(schema.expected(&format!("\"{known}\", the only schema known")));
    }
    Ok(top)
}

/// Tells the lines of places; those that come in the order of the text cost one walk through it.
struct Lines<'a> {
    text: &'a [u8],
    line: u32,
    counted: usize,
}

impl Lines<'_> {
    fn of(&mut self, place: &Place<'_>) -> u32 {
        let here = place.offset();
        if here < self.counted {
            (self.line, self.counted) = (1, 0);
        }
        self.line += memchr::memchr_iter(b'\n', &self.text[self.counted..here]).count() as u32;
        self.counted = here;
        self.line
    }
}

/// An object, opened.
pub(crate) struct Object<'a> {
    place: Place<'a>,
    members: BTreeMap<String, &'a RawValue>,
}

impl<'a> Place<'a> {
    fn offset(&self) -> usize {
        self.raw.get().as_ptr() as usize - self.text.as_ptr() as usize
    }

    pub(crate) fn error(&self, message: impl std::fmt::Display) -> ReadError {
        let before = &self.text[..self.offset()];
        let line = memchr::memchr_iter(b'\n', before).count();
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let name = &self.name;
        ReadError {
            line: line as u32 + 1,
            column: (before.len() - start) as u32 + 1,
            message: match name.is_empty() {
                true => message.to_string(),
                false => format!("{name}: {message}"),
            },
        }
    }

    pub(crate) fn expected(&self, what: &str) -> ReadError {
        let found: String = self.raw.get().chars().take(24).collect();
        self.error(format_args!("expected {what}, found {}", crate::scan::printable(&found)))
    }

    fn object(self) -> Result<Object<'a>, ReadError> {
        match serde_json::from_str(self.raw.get()) {
            Ok(members) => Ok(Object { place: self, members }),
            Err(_) => Err(self.expected("an object")),
        }
    }

    /// Does something with each element of a list.
    pub(crate) fn each(
        &self,
        mut what: impl FnMut(Place<'a>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let Ok(elements) = serde_json::from_str::<Vec<&'a RawValue>>(self.raw.get()) else {
            return Err(self.expected("a list"));
        };
        for (at, raw) in elements.into_iter().enumerate() {
            what(Place { text: self.text, raw, name: format!("{}[{at}]", self.name) })?;
        }
        Ok(())
    }

    pub(crate) fn string(&self) -> Result<String, ReadError> {
        serde_json::from_str(self.raw.get()).map_err(|_| self.expected("a text"))
    }

    pub(crate) fn number(&self, least: u32, most: u32) -> Result<u32, ReadError> {
        match serde_json::from_str(self.raw.get()) {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => Err(self.expected(&format!("a number from {least} to {most}"))),
        }
    }

    pub(crate) fn lid(&self) -> Result<Lid, ReadError> {
        self.number(0, u32::MAX / 2).map(Lid)
    }

    pub(crate) fn guid(&self) -> Result<Guid, ReadError> {
        let text = self.string()?;
        let digits = text.strip_prefix("0x").filter(|d| d.bytes().all(|c| c.is_ascii_hexdigit()));
        match digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
            Some(guid) => Ok(Guid(guid)),
            None => Err(self.expected("a GUID such as \"0x0002c90100000001\"")),
        }
    }

    fn kind(&self) -> Result<AdapterKind, ReadError> {
        let text = self.string()?;
        match KINDS.iter().find(|(_, word)| *word == text) {
            Some(&(kind, _)) => Ok(kind),
            None => Err(self.expected("\"host\", \"aggregation\", \"router\" or \"aside\"")),
        }
    }
}

impl<'a> Object<'a> {
    pub(crate) fn member(&self, member: &str) -> Result<Place<'a>, ReadError> {
        let Some(&raw) = self.members.get(member) else {
            return Err(self.place.error(format_args!("'{member}' is missing")));
        };
        let name = match self.place.name.as_str() {
            "" => member.to_owned(),
            outer => format!("{outer}.{member}"),
        };
        Ok(Place { text: self.place.text, raw, name })
    }

    fn number(&self, member: &str, least: u32, most: u32) -> Result<u32, ReadError> {
        self.member(member)?.number(least, most)
    }

    fn port(&self) -> Result<PortNumber, ReadError> {
        self.number("port", 1, PortNumber::MAX.0.into()).map(|port| PortNumber(port as u8))
    }

    /// The GUID of a device that must not have been described before.
    fn new_guid(&self, devices: &HashMap<Guid, Vertex>) -> Result<Guid, ReadError> {
        let place = self.member("guid")?;
        let guid = place.guid()?;
        match devices.contains_key(&guid) {
            true => Err(place.error(format_args!("device {guid} is described twice"))),
            false => Ok(guid),
        }
    }

    fn product(&self) -> Result<Product, ReadError> {
        Ok(Product {
            vendor: self.number("vendor", 0, u32::MAX)?,
            device: self.number("device", 0, u32::MAX)?,
            system: self.member("system")?.guid()?,
        })
    }

    /// An end of a cable.
    fn end(
        &self,
        member: &str,
        devices: &HashMap<Guid, Vertex>,
    ) -> Result<(Vertex, PortNumber), ReadError> {
        let end = self.member(member)?.object()?;
        let place = end.member("guid")?;
        let guid = place.guid()?;
        match devices.get(&guid) {
            Some(&vertex) => Ok((vertex, end.port()?)),
            None => Err(place.error(format_args!("no switch or adapter has the GUID {guid}"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::{GuidOrder, Pgft};

    fn written(fabric: &Fabric) -> String {
        let mut text = Vec::new();
        write(fabric, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    /// One switch, two adapters of every awkwardness, and nodes in another order than adapters.
    fn awkward() -> Fabric {
        let product = Product { vendor: 0x2c9, device: u32::MAX, system: Guid(u64::MAX) };
        let mut b = FabricBuilder::new();
        let name = "a \"leaf\"\\ \u{1} ü\n".into();
        let s = b.switch(Switch { guid: Guid(1), lid: Lid::UNKNOWN, ports: 5, name, product });
        let [h, r, _] = [(2, "router"), (3, "aside"), (4, "host")].map(|(guid, name)| {
            let kind = KINDS.iter().find(|(_, word)| *word == name).unwrap().0;
            b.adapter(Adapter { guid: Guid(guid), ports: 2, kind, name: name.into(), product })
        });
        for (vertex, port, guid) in [(r, 2, 7), (h, 2, 2), (h, 1, 5)] {
            let port = PortNumber(port);
            b.end_port(vertex, port, Guid(guid), Lid(guid as u32 * 16), 3);
            let rate = if guid == 7 { Rate::default() } else { Rate::NDR };
            b.cable((vertex, port), (s, PortNumber(guid as u8 - 2).max(PortNumber(1))), rate);
        }
        b.finish().unwrap()
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        for tuple in ["1; 3; 1; 1", "3; 2,2,3; 1,2,2; 1,2,1", "2; 18,16; 1,9; 1,2"] {
            let fabric = tuple.parse::<Pgft>().unwrap().fabric(GuidOrder::Shuffled(2));
            let text = written(&fabric);
            assert!(detect(text.as_bytes()));
            assert_eq!(read(text.as_bytes()), Ok(fabric));
        }
        let fabric = awkward();
        assert_eq!(fabric.nodes()[0].adapter.at(), 1);
        assert_eq!(read(written(&fabric).as_bytes()), Ok(fabric));
        let nothing = FabricBuilder::new().finish().unwrap();
        assert_eq!(read(written(&nothing).as_bytes()), Ok(nothing));
    }

    #[test]
    fn the_text_is_as_documented() {
        let text = written(&"1; 1; 1; 1".parse::<Pgft>().unwrap().fabric(Default::default()));
        let expected = r#"{
"schema": "dmodc/fabric/1",
"switches": [
{"guid":"0x02d0dc0100000001","lid":2,"ports":1,"name":"L1-0","vendor":53468,"device":2,"system":"0x02d0dc0100000001"}
],
"adapters": [
{"guid":"0x02d0dc0000000010","ports":1,"kind":"host","name":"node-0","vendor":53468,"device":1,"system":"0x02d0dc0000000010","end_ports":[{"port":1,"guid":"0x02d0dc0000000011","lid":1,"lmc":0}]}
],
"cables": [
{"a":{"guid":"0x02d0dc0100000001","port":1},"b":{"guid":"0x02d0dc0000000010","port":1},"rate":"4xNDR"}
]
}
"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn errors_name_place_and_thing() {
        let text = written(&"1; 2; 1; 1".parse::<Pgft>().unwrap().fabric(Default::default()));
        for (from, to, message) in [
            ("{", "x", "1:1: not JSON: expected value"),
            ("\"lid\":3", "\"lid\":3,,", "4:38: not JSON: key must be a string"),
            ("fabric/1", "fabric/2", "2:11: schema: expected \"dmodc/fabric/1\", the only"),
            ("\"schema\"", "\"scheme\"", "1:1: 'schema' is missing"),
            ("\"cables\"", "\"cable\"", "1:1: 'cables' is missing"),
            ("\"lid\":3,", "", "4:1: switches[0]: 'lid' is missing"),
            ("\"lid\":3", "\"lid\":-3", "4:36: switches[0].lid: expected a number from 0 to 2147"),
            ("\"ports\":2", "\"ports\":255", "4:46: switches[0].ports: expected a number from 0"),
            ("\"ports\":2", "\"ports\":1.5", "4:46: switches[0].ports: expected a number from 0"),
            ("0x02", "02", "4:9: switches[0].guid: expected a GUID such as"),
            ("\"L1-0\"", "null", "4:55: switches[0].name: expected a text, found null"),
            ("\"host\"", "\"guest\"", "7:47: adapters[0].kind: expected \"host\", \"aggregation\""),
            ("\"lmc\":0", "\"lmc\":8", "7:191: adapters[0].end_ports[0].lmc: expected a number"),
            ("},\"rate\"", "},\"speed\"", "11:1: cables[0]: 'rate' is missing"),
            ("4xNDR", "4x", "11:95: cables[0].rate: expected a width and speed such as"),
            ("\"cables\": [", "\"cables\": [7,", "10:12: cables[0]: expected an object, found 7"),
            (
                "\"b\":{\"guid\":\"0x0",
                "\"b\":{\"guid\":\"0x1",
                "11:57: cables[0].b.guid: no switch",
            ),
            (
                "0000000020\",\"ports",
                "0000000010\",\"ports",
                "8:9: adapters[1].guid: device 0x02d0",
            ),
        ] {
            assert!(text.contains(from), "{from}");
            let found = read(text.replacen(from, to, 1).as_bytes()).unwrap_err().to_string();
            assert!(found.starts_with(message), "{from} → {to}: {found}");
        }
        let twice = text.replace("\"port\":2}", "\"port\":1}");
        let found = read(twice.as_bytes()).unwrap_err().to_string();
        assert!(found.starts_with("12:1: two cables are in port 1 of 0x02d0dc01"), "{found}");
        assert!(read(b"").is_err() && read(b"[]").is_err() && read(b"{\"a\":\"\xff\"}").is_err());
    }
}
