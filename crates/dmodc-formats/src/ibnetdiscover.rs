//! The text that `ibnetdiscover` prints; it is an ibsim netlist, too.
//!
//! One record for each device: some `key=value` lines, a head line, and a line for each cabled port,
//! so each cable is told by both its ends.

use std::io::{self, Write};

use dmodc::fabric::{Adapter, AdapterKind, Peer, Product, Rate, Switch, Vertex};
use dmodc::{Fabric, FabricBuilder, Guid, Lid, PortNumber, SwitchIndex};

use crate::ReadError;
use crate::scan::{Cursor, lines, printable};

/// The device number of the aggregation nodes inside switches.
const AGGREGATION_DEVICE: u32 = 0xcf09;

/// A fabric, and what had to be added to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The fabric.
    pub fabric: Fabric,
    /// How many ports had no LID, or one that another port has, and were given one
    /// ([`Fabric::give_missing_lids`]).
    pub given_lids: usize,
}

/// Reads a fabric.
///
/// # Errors
/// The first line that is not of this format, or the first thing in which two lines disagree.
pub fn read(text: &[u8]) -> Result<Reading, ReadError> {
    let mut reader = Reader::default();
    for line in lines(text) {
        reader.line(line)?;
    }
    if reader.devices == 0 {
        let message = "no switch or channel adapter is described here: not ibnetdiscover text";
        return Err(ReadError { line: 1, column: 1, message: message.into() });
    }
    let mut fabric = reader.builder.finish().map_err(|e| ReadError {
        line: e.inconsistencies[0].line.max(1),
        column: 1,
        message: e.to_string(),
    })?;
    let given_lids = fabric.give_missing_lids();
    Ok(Reading { fabric, given_lids })
}

/// Whether this looks like the format, judged by its first record.
pub fn detect(text: &[u8]) -> bool {
    lines(text).take(2000).any(|mut line| {
        let keys = ["vendid=", "switchguid=", "caguid=", "Switch\t", "Ca\t", "Switch ", "Ca "];
        keys.iter().any(|key| line.take(key))
    })
}

#[derive(Default)]
struct Reader {
    builder: FabricBuilder,
    /// What the `key=value` lines before a head line said.
    product: Product,
    /// The device whose port lines follow.
    device: Option<Vertex>,
    devices: usize,
}

impl Reader {
    fn line(&mut self, mut line: Cursor<'_>) -> Result<(), ReadError> {
        self.builder.at_line(line.number());
        match line.rest() {
            [] => {
                self.device = None;
                Ok(())
            }
            [b'#', ..] => Ok(()),
            [b'[', ..] => self.port(line),
            _ if line.take("vendid=") => {
                self.device = None;
                self.product =
                    Product { vendor: line.hex("a vendor number")? as u32, ..Product::default() };
                Ok(())
            }
            _ if line.take("devid=") => {
                self.product.device = line.hex("a device number")? as u32;
                Ok(())
            }
            _ if line.take("sysimgguid=") => {
                self.product.system = line.guid()?;
                Ok(())
            }
            // The head line names the GUID again.
            _ if line.take("switchguid=") || line.take("caguid=") || line.take("rtguid=") => {
                line.guid().map(|_| ())
            }
            _ if line.take("Switch") => self.switch(line),
            _ if line.take("Ca") => self.adapter(line, AdapterKind::Host),
            _ if line.take("Rt") => self.adapter(line, AdapterKind::Router),
            _ => Err(line.expected("a line of ibnetdiscover (vendid=, Switch, Ca, [port] …)")),
        }
    }

    /// `Switch    36 "S-…"        # "description" enhanced port 0 lid 9 lmc 0`
    fn switch(&mut self, mut line: Cursor<'_>) -> Result<(), ReadError> {
        let (ports, guid) = head(&mut line, b'S')?;
        let name = head_description(&mut line)?;
        let lid = match line.find(" lid ") {
            true => lid(&mut line)?,
            false => Lid::UNKNOWN,
        };
        let product = std::mem::take(&mut self.product);
        self.device =
            Some(self.builder.switch(Switch { guid, lid, ports, name: name.into(), product }));
        self.devices += 1;
        Ok(())
    }

    /// `Ca    2 "H-…"        # "description"`
    fn adapter(&mut self, mut line: Cursor<'_>, kind: AdapterKind) -> Result<(), ReadError> {
        let letter = if kind == AdapterKind::Router { b'R' } else { b'H' };
        let (ports, guid) = head(&mut line, letter)?;
        let name = head_description(&mut line)?;
        let product = std::mem::take(&mut self.product);
        let kind = match product.device {
            AGGREGATION_DEVICE => AdapterKind::Aggregation,
            _ => kind,
        };
        self.device =
            Some(self.builder.adapter(Adapter { guid, ports, kind, name: name.into(), product }));
        self.devices += 1;
        Ok(())
    }

    /// `[1]    "H-…"[1](2c90000000011)         # "description" lid 27 4xQDR` on a switch,
    /// `[1](2c90000000011)     "S-…"[1]        # lid 27 lmc 0 "description" lid 16 4xQDR` on an adapter.
    fn port(&mut self, mut line: Cursor<'_>) -> Result<(), ReadError> {
        let Some(device) = self.device else {
            return Err(line.expected("a Switch, Ca or Rt line before the lines of its ports"));
        };
        let port = port_number(&mut line)?;
        let own_guid = port_guid(&mut line)?;
        line.skip_blanks();
        let (_, peer) = line.device_id()?;
        let peer_port = port_number(&mut line)?;
        port_guid(&mut line)?;
        line.skip_blanks();
        let mut rate = Rate::default();
        let mut own_lid = (Lid::UNKNOWN, 0);
        if line.take("#") {
            line.skip_blanks();
            if line.take("lid ") {
                own_lid.0 = lid(&mut line)?;
                line.expect(" lmc ")?;
                own_lid.1 = line.decimal("an LMC", 0, 7)? as u8;
                line.skip_blanks();
            }
            line.description()?;
            line.skip_blanks();
            line.expect("lid ")?;
            lid(&mut line)?;
            line.skip_blanks();
            let word = String::from_utf8_lossy(line.rest()).into_owned();
            let word = word.split([' ', '\t']).next().unwrap_or_default();
            rate = word.parse().map_err(|()| line.expected("a width and speed such as 4xNDR"))?;
        }
        if let Some(guid) = own_guid {
            self.builder.end_port(device, port, guid, own_lid.0, own_lid.1);
        }
        self.builder.mention(device, port, peer, peer_port, rate);
        Ok(())
    }
}

/// Port count and GUID of a head line.
fn head(line: &mut Cursor<'_>, letter: u8) -> Result<(u8, Guid), ReadError> {
    line.skip_blanks();
    let ports = line.decimal("a number of ports", 0, PortNumber::MAX.0.into())? as u8;
    line.skip_blanks();
    let mut id = *line;
    let (found, guid) = line.device_id()?;
    if found != letter {
        id.skip_blanks();
        return Err(id.expected(&format!("a device id that starts with {}-", letter as char)));
    }
    Ok((ports, guid))
}

fn head_description(line: &mut Cursor<'_>) -> Result<String, ReadError> {
    line.skip_blanks();
    if !line.take("#") {
        return Ok(String::new());
    }
    line.skip_blanks();
    line.description()
}

/// `[7]`, and `[ext 3]` that may follow it.
fn port_number(line: &mut Cursor<'_>) -> Result<PortNumber, ReadError> {
    line.expect("[")?;
    let port = line.decimal("a port number", 1, PortNumber::MAX.0.into())?;
    line.expect("]")?;
    if line.take("[ext ") {
        line.find("]");
    }
    Ok(PortNumber(port as u8))
}

/// `(2c90000000011)`, where it stands.
fn port_guid(line: &mut Cursor<'_>) -> Result<Option<Guid>, ReadError> {
    if !line.take("(") {
        return Ok(None);
    }
    let guid = line.guid()?;
    line.expect(")")?;
    Ok(Some(guid))
}

fn lid(line: &mut Cursor<'_>) -> Result<Lid, ReadError> {
    line.decimal("a LID", 0, u32::MAX / 2).map(Lid)
}

/// Writes a fabric; `comments` come first, a line each. Adapters stand before switches, so that
/// clients of ibsim attach to a node.
///
/// # Errors
/// What the writer says.
pub fn write(fabric: &Fabric, comments: &[String], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "#\n# Topology file: generated by dmodc\n#")?;
    for comment in comments {
        writeln!(out, "# {}", printable(comment))?;
    }
    // Ports of adapters, in adapter order.
    let mut nodes: Vec<_> = fabric.node_indices().collect();
    nodes.sort_by_key(|&n| (fabric.node(n).adapter, fabric.node(n).adapter_port));
    let mut rest = &nodes[..];
    for (at, adapter) in fabric.adapters().iter().enumerate() {
        let (letter, word) = match adapter.kind {
            AdapterKind::Router => ("R", "Rt"),
            _ => ("H", "Ca"),
        };
        product(&adapter.product, out)?;
        let (guid, name) = (adapter.guid.0, printable(&adapter.name));
        writeln!(out, "{}guid=0x{guid:x}", if word == "Rt" { "rt" } else { "ca" })?;
        writeln!(out, "{word}\t{} \"{letter}-{guid:016x}\"\t\t# \"{name}\"", adapter.ports)?;
        let own = rest.iter().take_while(|&&n| fabric.node(n).adapter.at() == at).count();
        for &n in &rest[..own] {
            let node = fabric.node(n);
            let switch = fabric.switch(node.switch);
            let rate = rate(fabric, node.switch, node.switch_port);
            writeln!(
                out,
                "[{}]({:x}) \t\"S-{:016x}\"[{}]\t\t# lid {} lmc {} \"{}\" lid {} {rate}",
                node.adapter_port,
                node.guid.0,
                switch.guid.0,
                node.switch_port,
                node.lid,
                node.lmc,
                printable(&switch.name),
                switch.lid
            )?;
        }
        rest = &rest[own..];
    }
    for s in fabric.switch_indices() {
        write_switch(fabric, s, out)?;
    }
    Ok(())
}

fn write_switch(fabric: &Fabric, s: SwitchIndex, out: &mut impl Write) -> io::Result<()> {
    let switch = fabric.switch(s);
    let (guid, name) = (switch.guid.0, printable(&switch.name));
    product(&switch.product, out)?;
    writeln!(out, "switchguid=0x{guid:x}({guid:x})")?;
    writeln!(
        out,
        "Switch\t{} \"S-{guid:016x}\"\t\t# \"{name}\" enhanced port 0 lid {} lmc 0",
        switch.ports, switch.lid
    )?;
    for (p, port) in (1..=PortNumber::MAX.0).map(PortNumber).zip(fabric.ports_of(s)) {
        let rate = port.rate;
        match port.peer {
            Peer::None => {}
            Peer::Switch(peer, q) => {
                let peer = fabric.switch(peer);
                let name = printable(&peer.name);
                let (guid, lid) = (peer.guid.0, peer.lid);
                writeln!(out, "[{p}]\t\"S-{guid:016x}\"[{q}]\t\t# \"{name}\" lid {lid} {rate}")?;
            }
            Peer::Node(n) => {
                let (node, adapter) = (fabric.node(n), fabric.adapter_of(n));
                let letter = if adapter.kind == AdapterKind::Router { 'R' } else { 'H' };
                writeln!(
                    out,
                    "[{p}]\t\"{letter}-{:016x}\"[{}]({:x}) \t\t# \"{}\" lid {} {rate}",
                    adapter.guid.0,
                    node.adapter_port,
                    node.guid.0,
                    printable(&adapter.name),
                    node.lid
                )?;
            }
        }
    }
    Ok(())
}

fn product(product: &Product, out: &mut impl Write) -> io::Result<()> {
    let Product { vendor, device, system } = product;
    writeln!(out, "\nvendid=0x{vendor:x}\ndevid=0x{device:x}\nsysimgguid=0x{:x}", system.0)
}

fn rate(fabric: &Fabric, s: SwitchIndex, p: PortNumber) -> Rate {
    fabric.port(s, p).map_or(Rate::default(), |port| port.rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::{GuidOrder, Pgft};

    fn written(fabric: &Fabric) -> Vec<u8> {
        let mut text = Vec::new();
        write(fabric, &["a comment".into()], &mut text).unwrap();
        text
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        for tuple in ["1; 3; 1; 1", "3; 2,2,3; 1,2,2; 1,2,1", "2; 18,16; 1,9; 1,2"] {
            for guids in [GuidOrder::Topological, GuidOrder::Shuffled(2)] {
                let fabric = tuple.parse::<Pgft>().unwrap().fabric(guids);
                let expected = Reading { fabric: fabric.clone(), given_lids: 0 };
                assert_eq!(read(&written(&fabric)), Ok(expected));
            }
        }
    }

    const SMALL: &str = "\
#
# Topology file: generated on Sun Nov 15 06:20:42 2026
#
# Initiated from node 0002c90000000010 port 0002c90000000011

vendid=0x2c9
devid=0xc738
sysimgguid=0x2c90100000006
switchguid=0x2c90100000006(2c90100000006)
Switch\t6 \"S-0002c90100000006\"\t\t# \"a \"leaf\" # of; two: kinds\" base port 0 lid 16 lmc 0
[1]\t\"H-0002c900000000b0\"[2](2c900000000b2) \t\t# \"nic10 mlx5_0\" lid 28 4xQDR
[6]\t\"H-0002c900000000c0\"[1](2c900000000c1) \t\t# \"Mellanox Technologies Aggregation Node\" lid 30 ??EDR

vendid=0x2c9
devid=0x1003
sysimgguid=0x2c900000000b3
caguid=0x2c900000000b0
Ca\t2 \"H-0002c900000000b0\"\t\t# \"nic10 mlx5_0\"
[2](2c900000000b2) \t\"S-0002c90100000006\"[1]\t\t# lid 28 lmc 2 \"a \"leaf\" # of; two: kinds\" lid 16 4xQDR s=1 w=2

vendid=0x2c9
devid=0xcf09
sysimgguid=0x2c900000000c3
caguid=0x2c900000000c0
Ca\t1 \"H-0002c900000000c0\"\t\t# \"Mellanox Technologies Aggregation Node\"
[1](2c900000000c1) \t\"S-0002c90100000006\"[6]\t\t# lid 30 lmc 0 \"a \"leaf\" # of; two: kinds\" lid 16 ??EDR
";

    #[test]
    fn everything_a_record_says_is_kept() {
        let reading = read(SMALL.as_bytes()).unwrap();
        assert_eq!(reading, read(SMALL.replace('\n', "\r\n").as_bytes()).unwrap());
        assert_eq!(reading.given_lids, 1);
        let fabric = reading.fabric;
        let switch = &fabric.switches()[0];
        assert_eq!(&*switch.name, "a \"leaf\" # of; two: kinds");
        assert_eq!((switch.guid, switch.lid, switch.ports), (Guid(0x2c90100000006), Lid(16), 6));
        assert_eq!(switch.product.device, 0xc738);
        let nodes: Vec<_> = fabric
            .nodes()
            .iter()
            .map(|n| (n.guid.0, n.lid.0, n.lmc, n.adapter_port.0, n.switch_port.0))
            .collect();
        // Lids 28 to 31 are a range, so the aggregation node's 30 is taken twice; the lesser GUID stays.
        assert_eq!(nodes, [(0x2c900000000b2, 28, 2, 2, 1), (0x2c900000000c1, 1, 0, 1, 6)]);
        assert!(fabric.is_aggregation(dmodc::NodeIndex::new(1)));
        assert_eq!(fabric.host_counts(), (1, 1));
    }

    #[test]
    fn errors_name_line_column_and_thing() {
        let wrong = |from: &str, to: &str| {
            assert!(SMALL.contains(from), "{from}");
            read(SMALL.replacen(from, to, 1).as_bytes()).unwrap_err().to_string()
        };
        for (from, to, message) in [
            ("devid=0xc738", "devid=", "7:7: expected a device number, found the end of the line"),
            (
                "Switch\t6",
                "Switch\t300",
                "10:8: expected a number of ports from 0 to 254, found '300 ",
            ),
            ("\"S-0002c90100000006\"\t", "\"X\"\t", "10:10: expected a device id such as"),
            ("Switch\t6 \"S", "Switch\t6 \"H", "10:10: expected a device id that starts with S-"),
            ("[1]\t", "[0]\t", "11:2: expected a port number from 1 to 254, found '0]"),
            ("[1]\t", "[9]\t", "11:1: 0x0002c90100000006 has 6 ports, but port 9 is cabled"),
            ("lid 28 4xQDR", "lid 28 4xQ", "11:70: expected a width and speed such as 4xNDR"),
            ("lmc 2", "lmc 8", "19:59: expected an LMC from 0 to 7"),
            ("caguid=0x2c900000000b0", "nonsense", "17:1: expected a line of ibnetdiscover"),
            ("[1]\t\"H-", "[2]\t\"H-", "11:1: port 2 of 0x0002c90100000006 is cabled to port 2 of"),
        ] {
            let found = wrong(from, to);
            assert!(found.starts_with(message), "{from} → {to}: {found}");
        }
        let empty = read(b"").unwrap_err().to_string();
        assert!(empty.starts_with("1:1: no switch or channel adapter"), "{empty}");
        assert!(read(b"[1]\t\"S-0\"[1]").unwrap_err().to_string().contains("before the lines"));
    }
}
