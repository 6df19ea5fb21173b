//! Reading `ibnetdiscover` text and its relatives.

use std::collections::HashMap;

use dmodc::fabric::{Adapter, AdapterKind, Product, Rate, Switch, Vertex};
use dmodc::{Guid, Lid, PortNumber};

use crate::fabric_reader::{FabricReader, LineRefusal, adapter_kind};
use crate::scan::{Cursor, hex_number};
use crate::{DirtKind, Format, ReadError, Reading, planes};

/// The first GUID for devices that a netlist names freely. It is locally administered, so no real device has it.
const FREE_NAMES: u64 = 0x02d0_dcff_0000_0000;

/// Beginnings of lines that tools print around records and that mean nothing here.
const NOISE: [&str; 11] = [
    "DR path ",
    "Chassis ",
    "Non-Chassis Nodes",
    "module",
    "width",
    "speed",
    "do ",
    "@",
    "Topology ",
    "ChassisGuid",
    "-- ",
];

/// Returns whether a line is of this format.
pub(crate) fn detect(line: Cursor<'_>) -> bool {
    let mut line = undiffed(line).unwrap_or(line);
    let key = ["vendid=", "devid=", "switchguid", "caguid", "hcaguids", "rtguid"];
    if key.iter().any(|key| line.take(key)) {
        return true;
    }
    match head_word(&mut line) {
        Some(_) => {
            line.skip_blanks();
            line.decimal("", 0, 255).is_ok() && {
                line.skip_blanks();
                line.rest().starts_with(b"\"")
            }
        }
        None => false,
    }
}

pub(crate) fn read(text: &[u8]) -> Result<Reading, ReadError> {
    let mut records = RecordReader::default();
    let mut reader = FabricReader::default();
    reader.lines(text, |reader, line| records.line(reader, line));
    reader.finish(text, Format::Ibnetdiscover)
}

/// The kind of device that a head line describes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HeadKind {
    Switch,
    Adapter,
    Router,
}

/// Takes the first word of a head line, if it is one.
fn head_word(line: &mut Cursor<'_>) -> Option<HeadKind> {
    let words = [
        ("Switch", HeadKind::Switch),
        ("Ca", HeadKind::Adapter),
        ("Hca", HeadKind::Adapter),
        ("Rt", HeadKind::Router),
    ];
    let mut ahead = *line;
    let (_, head) = words.into_iter().find(|(word, _)| ahead.take(word))?;
    // If tabs got lost, the number follows the word directly.
    if !matches!(ahead.rest().first(), Some(b' ' | b'\t' | b'0'..=b'9')) {
        return None;
    }
    *line = ahead;
    Some(head)
}

/// Returns the line without the mark of `--diff`, or `None` for a line of before.
fn undiffed(mut line: Cursor<'_>) -> Option<Cursor<'_>> {
    if line.rest().starts_with(b"< ") || line.rest() == b"<" {
        return None;
    }
    let _ = line.take("> ") || line.take(">");
    Some(line)
}

/// Reads records. It remembers the lines of a record that belong together.
#[derive(Default)]
struct RecordReader {
    /// The `key=value` lines before a head line.
    product: Product,
    device_number: Option<u32>,
    /// The device whose port lines follow.
    device: Option<(Vertex, Guid)>,
    /// GUIDs of devices with free names.
    names: HashMap<Vec<u8>, Guid>,
}

impl RecordReader {
    fn line(&mut self, reader: &mut FabricReader, line: Cursor<'_>) -> Result<(), LineRefusal> {
        let Some(mut line) = undiffed(line) else { return Ok(()) };
        reader.builder.at_line(line.number());
        if line.rest().iter().all(|c| matches!(c, b' ' | b'\t')) {
            self.device = None;
            return Ok(());
        }
        if line.rest().starts_with(b"#") {
            return Ok(());
        }
        // A prompt may begin with a bracket, too; only a record has port lines.
        let is_port = matches!(line.rest(), [b'[', b'0'..=b'9', ..])
            || (line.rest().starts_with(b"[") && self.device.is_some());
        if is_port {
            return Ok(self.port(reader, line)?);
        }
        if let Some(head) = head_word(&mut line) {
            self.device = None;
            return Ok(self.head(reader, line, head)?);
        }
        if self.key(&mut line)?
            || NOISE.iter().any(|noise| line.rest().starts_with(noise.as_bytes()))
        {
            return Ok(());
        }
        let place = line.expected("a line of ibnetdiscover (vendid=, Switch, Ca, [port] …)");
        Err(LineRefusal::Foreign(place))
    }

    /// Reads a line such as `devid=0xc738`. Returns whether it is one.
    fn key(&mut self, line: &mut Cursor<'_>) -> Result<bool, ReadError> {
        if line.take("vendid=") {
            self.device = None;
            self.product.vendor = line.hex("a vendor number")? as u32;
        } else if line.take("devid=") {
            self.product.device = line.hex("a device number")? as u32;
            self.device_number = Some(self.product.device);
        } else if line.take("sysimgguid=") {
            self.product.system = line.guid()?;
        } else {
            // The head line names the GUID again.
            let guids =
                ["switchguid", "caguid", "hcaguids", "rtguid", "sysimgguid", "vendid", "devid"];
            return Ok(guids.iter().any(|key| line.take(key)));
        }
        Ok(true)
    }

    /// Reads a head line: `Switch  36 "S-…"    # "description" enhanced port 0 lid 9 lmc 0`, `Ca  2 "H-…"    # "description"`
    fn head(
        &mut self,
        reader: &mut FabricReader,
        mut line: Cursor<'_>,
        head: HeadKind,
    ) -> Result<(), ReadError> {
        line.skip_blanks();
        let ports = line.decimal("a number of ports", 0, PortNumber::MAX.0.into())? as u8;
        line.skip_blanks();
        let id = line;
        let quoted = line.quoted("a device id such as \"S-0002c90100000001\"")?;
        let guid = self.guid_of(quoted);
        if let [letter @ (b'S' | b'H' | b'R'), b'-', digits @ ..] = quoted
            && hex_number(digits).is_some()
            && (*letter == b'S') != (head == HeadKind::Switch)
        {
            return Err(id.expected("a device id of the same kind as the line"));
        }
        line.skip_blanks();
        let mut name = String::from_utf8_lossy(quoted).into_owned();
        // A netlist has neither descriptions nor LIDs; that is no damage.
        let described = line.take("#");
        if described {
            line.skip_blanks();
            name = line.description()?;
        }
        let product = std::mem::take(&mut self.product);
        let device_number = self.device_number.take();
        let vertex = match head {
            HeadKind::Switch => {
                let (lid, _) = lid_and_rate(&mut line);
                if described {
                    reader.note_lid(lid, || line.error(format!("switch {guid} has no LID")));
                }
                let name = name.into();
                reader.builder.switch(Switch { guid, lid, ports, name, product })
            }
            HeadKind::Adapter | HeadKind::Router => {
                let kind = match head {
                    HeadKind::Router => AdapterKind::Router,
                    _ => adapter_kind(device_number, &name),
                };
                let name = name.into();
                reader.builder.adapter(Adapter { guid, ports, kind, name, product })
            }
        };
        reader.devices += 1;
        self.device = Some((vertex, guid));
        Ok(())
    }

    /// Reads a port line: `[1]  "H-…"[1](2c90000000011)    # "description" lid 27 4xQDR` of a switch,
    /// `[1](2c90000000011)  "S-…"[1]    # lid 27 lmc 0 "description" lid 16 4xQDR` of an adapter. ibdiagnet
    /// puts a label first: `[1](1/1/1)`, `[1](1)(b0cf…)`.
    fn port(&mut self, reader: &mut FabricReader, mut line: Cursor<'_>) -> Result<(), ReadError> {
        let Some((device, guid)) = self.device else {
            return Err(line.expected("a Switch, Ca or Rt line before the lines of its ports"));
        };
        let port = port_number(&mut line)?;
        let (own_guid, plane) = port_guid(&mut line);
        let own_guid = own_guid.unwrap_or(Guid(guid.0.wrapping_add(port.0.into())));
        plane.into_iter().for_each(|plane| reader.planes.note(plane));
        line.skip_blanks();
        let peer = self.guid_of(line.quoted("the device at the other end")?);
        line.skip_blanks();
        let peer_port = match line.rest().starts_with(b"[") {
            true => port_number(&mut line)?,
            false => PortNumber(1),
        };
        port_guid(&mut line);
        line.skip_blanks();
        let mut own_lid = (Lid::UNKNOWN, 0);
        let mut rate = Some(Rate::default());
        if line.take("#") {
            line.skip_blanks();
            if line.take("lid") {
                line.skip_blanks();
                own_lid.0 = lid(&mut line);
                line.skip_blanks();
                if line.take("lmc ") {
                    own_lid.1 = line.decimal("an LMC", 0, 7)? as u8;
                    line.skip_blanks();
                }
            }
            line.description()?;
            rate = lid_and_rate(&mut line).1;
            if let Vertex::Adapter(_) = device {
                let place = || line.error(format!("port {port} of {guid} has no LID"));
                reader.note_lid(own_lid.0, place);
            }
        }
        if rate.is_none_or(|rate| rate.is_unknown() && rate != Rate::default()) {
            reader
                .dirt
                .note(DirtKind::UnknownRate, line.expected("a width and speed such as 4xNDR"));
        }
        if let Vertex::Adapter(_) = device {
            reader.builder.end_port(device, port, own_guid, own_lid.0, own_lid.1);
        }
        reader.builder.mention(device, port, peer, peer_port, rate.unwrap_or_default());
        Ok(())
    }

    /// Returns the GUID of an id such as `S-0002c90100000001`, or the one that is given to a free name.
    fn guid_of(&mut self, id: &[u8]) -> Guid {
        if let [b'S' | b'H' | b'R' | b'?', b'-', digits @ ..] = id
            && let Some(guid) = hex_number(digits)
        {
            return Guid(guid);
        }
        let next = Guid(FREE_NAMES + 0x100 * (self.names.len() as u64 + 1));
        *self.names.entry(id.to_vec()).or_insert(next)
    }
}

/// Reads `[7]`, and `[ext 3]` that may follow it.
fn port_number(line: &mut Cursor<'_>) -> Result<PortNumber, ReadError> {
    line.expect("[")?;
    let port = line.decimal("a port number", 1, PortNumber::MAX.0.into())?;
    line.expect("]")?;
    if line.rest().starts_with(b"[ext") {
        line.find("]");
    }
    Ok(PortNumber(port as u8))
}

/// Reads the parentheses that follow. Returns the GUID, if there is one, and the plane that a label names. The GUID is in
/// the last parentheses that hold no label. Labels are short, or have slashes or letters that no number has.
fn port_guid(line: &mut Cursor<'_>) -> (Option<Guid>, Option<u8>) {
    let (mut guid, mut plane) = (None, None);
    while let Some(inside) = line.parenthesised() {
        plane = planes::of_label(inside).or(plane);
        if inside.len() > 3 {
            guid = hex_number(inside).map(Guid).or(guid);
        }
    }
    (guid, plane)
}

/// Reads a LID. It is unknown if no number stands here.
fn lid(line: &mut Cursor<'_>) -> Lid {
    line.decimal("a LID", 0, u32::MAX / 2).map_or(Lid::UNKNOWN, Lid)
}

/// Reads the end of a line: ` lid 16 4xQDR s=1 w=2`. All of it is optional; `None` means a rate that cannot be read.
fn lid_and_rate(line: &mut Cursor<'_>) -> (Lid, Option<Rate>) {
    let mut found = Lid::UNKNOWN;
    if line.find("lid ") {
        line.skip_blanks();
        found = lid(line);
    }
    line.skip_blanks();
    let rate = match line.word() {
        [] => Some(Rate::default()),
        word => std::str::from_utf8(word).ok().and_then(|word| word.parse().ok()),
    };
    (found, rate)
}
