//! Reading `ibnetdiscover` text and its relatives.

use std::collections::HashMap;

use dmodc::fabric::{Adapter, AdapterKind, Product, Rate, Switch, Vertex};
use dmodc::{Guid, Lid, PortNumber};

use crate::intake::{Intake, Refusal, adapter_kind};
use crate::scan::{Cursor, hex_number};
use crate::{DirtKind, Format, ReadError, Reading, planes};

/// GUIDs of devices that a netlist names freely start here: locally administered, so no real ones.
const FREE_NAMES: u64 = 0x02d0_dcff_0000_0000;

/// Lines that tools print around records, and that carry nothing for us.
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

/// Whether a line is of this format.
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
    let mut reader = Reader::default();
    let mut intake = Intake::default();
    intake.lines(text, |intake, line| reader.line(intake, line));
    intake.finish(text, Format::Ibnetdiscover)
}

/// What a head line describes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    Switch,
    Adapter,
    Router,
}

fn head_word(line: &mut Cursor<'_>) -> Option<Head> {
    let words = [
        ("Switch", Head::Switch),
        ("Ca", Head::Adapter),
        ("Hca", Head::Adapter),
        ("Rt", Head::Router),
    ];
    let mut ahead = *line;
    let (_, head) = words.into_iter().find(|(word, _)| ahead.take(word))?;
    // Lost tabs leave the number right behind the word.
    if !matches!(ahead.rest().first(), Some(b' ' | b'\t' | b'0'..=b'9')) {
        return None;
    }
    *line = ahead;
    Some(head)
}

/// The line without the mark of `--diff`; `None` for what was before.
fn undiffed(mut line: Cursor<'_>) -> Option<Cursor<'_>> {
    if line.rest().starts_with(b"< ") || line.rest() == b"<" {
        return None;
    }
    let _ = line.take("> ") || line.take(">");
    Some(line)
}

#[derive(Default)]
struct Reader {
    /// What the `key=value` lines before a head line said.
    product: Product,
    device_number: Option<u32>,
    /// The device whose port lines follow.
    device: Option<(Vertex, Guid)>,
    /// GUIDs of devices with free names.
    names: HashMap<Vec<u8>, Guid>,
}

impl Reader {
    fn line(&mut self, intake: &mut Intake, line: Cursor<'_>) -> Result<(), Refusal> {
        let Some(mut line) = undiffed(line) else { return Ok(()) };
        intake.builder.at_line(line.number());
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
            return Ok(self.port(intake, line)?);
        }
        if let Some(head) = head_word(&mut line) {
            self.device = None;
            return Ok(self.head(intake, line, head)?);
        }
        if self.key(&mut line)?
            || NOISE.iter().any(|noise| line.rest().starts_with(noise.as_bytes()))
        {
            return Ok(());
        }
        let place = line.expected("a line of ibnetdiscover (vendid=, Switch, Ca, [port] …)");
        Err(Refusal::Foreign(place))
    }

    /// `devid=0xc738` and its like; says whether it was one.
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

    /// `Switch  36 "S-…"    # "description" enhanced port 0 lid 9 lmc 0`, `Ca  2 "H-…"    # "description"`
    fn head(
        &mut self,
        intake: &mut Intake,
        mut line: Cursor<'_>,
        head: Head,
    ) -> Result<(), ReadError> {
        line.skip_blanks();
        let ports = line.decimal("a number of ports", 0, PortNumber::MAX.0.into())? as u8;
        line.skip_blanks();
        let id = line;
        let quoted = line.quoted("a device id such as \"S-0002c90100000001\"")?;
        let guid = self.guid_of(quoted);
        if let [letter @ (b'S' | b'H' | b'R'), b'-', digits @ ..] = quoted
            && hex_number(digits).is_some()
            && (*letter == b'S') != (head == Head::Switch)
        {
            return Err(id.expected("a device id of the same kind as the line"));
        }
        line.skip_blanks();
        let mut name = String::from_utf8_lossy(quoted).into_owned();
        // A netlist tells neither descriptions nor LIDs; that is no fault of it.
        let described = line.take("#");
        if described {
            line.skip_blanks();
            name = line.description()?;
        }
        let product = std::mem::take(&mut self.product);
        let device_number = self.device_number.take();
        let vertex = match head {
            Head::Switch => {
                let (lid, _) = lid_and_rate(&mut line);
                if described {
                    intake.note_lid(lid, || line.error(format!("switch {guid} has no LID")));
                }
                let name = name.into();
                intake.builder.switch(Switch { guid, lid, ports, name, product })
            }
            Head::Adapter | Head::Router => {
                let kind = match head {
                    Head::Router => AdapterKind::Router,
                    _ => adapter_kind(device_number, &name),
                };
                let name = name.into();
                intake.builder.adapter(Adapter { guid, ports, kind, name, product })
            }
        };
        intake.devices += 1;
        self.device = Some((vertex, guid));
        Ok(())
    }

    /// `[1]  "H-…"[1](2c90000000011)    # "description" lid 27 4xQDR` on a switch,
    /// `[1](2c90000000011)  "S-…"[1]    # lid 27 lmc 0 "description" lid 16 4xQDR` on an adapter. ibdiagnet
    /// puts a label first: `[1](1/1/1)`, `[1](1)(b0cf…)`.
    fn port(&mut self, intake: &mut Intake, mut line: Cursor<'_>) -> Result<(), ReadError> {
        let Some((device, guid)) = self.device else {
            return Err(line.expected("a Switch, Ca or Rt line before the lines of its ports"));
        };
        let port = port_number(&mut line)?;
        let (own_guid, plane) = port_guid(&mut line);
        let own_guid = own_guid.unwrap_or(Guid(guid.0.wrapping_add(port.0.into())));
        plane.into_iter().for_each(|plane| intake.planes.note(plane));
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
                intake.note_lid(own_lid.0, place);
            }
        }
        if rate.is_none_or(|rate| rate.is_unknown() && rate != Rate::default()) {
            intake
                .dirt
                .note(DirtKind::UnknownRate, line.expected("a width and speed such as 4xNDR"));
        }
        if let Vertex::Adapter(_) = device {
            intake.builder.end_port(device, port, own_guid, own_lid.0, own_lid.1);
        }
        intake.builder.mention(device, port, peer, peer_port, rate.unwrap_or_default());
        Ok(())
    }

    /// The GUID that an id means: `S-0002c90100000001`, or one given to a free name.
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

/// `[7]`, and `[ext 3]` that may follow it.
fn port_number(line: &mut Cursor<'_>) -> Result<PortNumber, ReadError> {
    line.expect("[")?;
    let port = line.decimal("a port number", 1, PortNumber::MAX.0.into())?;
    line.expect("]")?;
    if line.rest().starts_with(b"[ext") {
        line.find("]");
    }
    Ok(PortNumber(port as u8))
}

/// The GUID in the parentheses that follow, if there is one, and the plane that a label names. The GUID is the last
/// pair that is no label. Labels are short, or have slashes, or letters that no number has.
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

/// A LID, where a number stands here; else it is unknown.
fn lid(line: &mut Cursor<'_>) -> Lid {
    line.decimal("a LID", 0, u32::MAX / 2).map_or(Lid::UNKNOWN, Lid)
}

/// What follows a description: ` lid 16 4xQDR s=1 w=2`. Nothing of it need be there; `None` is a rate
/// that cannot be read.
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
