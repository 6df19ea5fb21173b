//! `ibdiagnet2.db_csv`: sections of comma separated values. Columns are found by their names.
//!
//! NODES describes devices, PORTS their ports (GUIDs and LIDs), LINKS the cables, each once. PORT_HIERARCHY_INFO
//! tells the planes of XDR ports in newer files. Other sections are passed over, and so are unknown columns.

use std::collections::HashMap;

use dmodc::fabric::{Product, Rate, Speed};
use dmodc::{Guid, Lid, PortNumber};

use crate::intake::{Intake, Refusal};
use crate::links::{Device, EndPort, Links};
use crate::scan::{Cursor, hex_number};
use crate::{Format, ReadError, Reading};

/// Whether a line is of this format.
pub(crate) fn detect(mut line: Cursor<'_>) -> bool {
    line.take("START_")
        && line.rest().iter().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == b'_')
        && !line.rest().is_empty()
}

pub(crate) fn read(text: &[u8]) -> Result<Reading, ReadError> {
    let mut reader = Reader::default();
    let mut intake = Intake::default();
    intake.lines(text, |intake, line| reader.line(intake, line));
    for (a, b, line) in std::mem::take(&mut reader.cables) {
        let (a, b) = (reader.end(a), reader.end(b));
        let rate =
            [a, b].iter().filter_map(|e| reader.rates.get(&(reader.guid(e), e.port.0))).next();
        let rate = rate.copied().unwrap_or_default();
        reader.links.cable(a, b, rate, line);
    }
    reader.links.deliver(&mut intake);
    intake.finish(text, Format::DbCsv)
}

/// A port of a device that NODES described: the device, and the port's number.
type Told = (usize, PortNumber);

#[derive(Default)]
struct Reader {
    links: Links,
    guids: Vec<Guid>,
    ports: HashMap<(Guid, u8), (Guid, Lid, u8)>,
    rates: HashMap<(Guid, u8), Rate>,
    cables: Vec<(Told, Told, u32)>,
    section: Option<Section>,
}

/// The section being read, and the places of its columns once its header was read.
struct Section {
    name: Name,
    columns: Option<HashMap<String, usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    Nodes,
    Ports,
    Links,
    Hierarchy,
    Other,
}

impl Reader {
    fn line(&mut self, intake: &mut Intake, mut line: Cursor<'_>) -> Result<(), Refusal> {
        if line.rest().is_empty() || line.rest().starts_with(b"#") {
            return Ok(());
        }
        if line.take("START_") {
            let name = match line.rest() {
                b"NODES" => Name::Nodes,
                b"PORTS" => Name::Ports,
                b"LINKS" => Name::Links,
                b"PORT_HIERARCHY_INFO" => Name::Hierarchy,
                _ => Name::Other,
            };
            self.section = Some(Section { name, columns: None });
            return Ok(());
        }
        if line.rest().starts_with(b"END_") {
            self.section = None;
            return Ok(());
        }
        let Some(section) = &mut self.section else {
            return Err(Refusal::Foreign(line.expected("a section such as START_NODES")));
        };
        if section.name == Name::Other {
            return Ok(());
        }
        let values = values(line.rest());
        let Some(columns) = &section.columns else {
            let names = values.into_iter().map(|name| name.to_ascii_lowercase());
            section.columns = Some(names.zip(0..).collect());
            return Ok(());
        };
        let row = Row { line, columns, values: &values };
        match section.name {
            Name::Nodes => {
                let device = node(&row)?;
                let guid = device.guid;
                if self.links.device(device) == self.guids.len() {
                    self.guids.push(guid);
                }
            }
            Name::Ports => {
                let (guid, port) = (Guid(row.number("NodeGuid")?), row.port("PortNum")?);
                let lid = Lid(row.number("LID").unwrap_or(0) as u32 & 0xffff);
                let lmc = row.number("LMC").unwrap_or(0).min(7) as u8;
                self.ports.insert((guid, port.0), (Guid(row.number("PortGuid")?), lid, lmc));
                self.rates.insert((guid, port.0), rate(&row));
                if port.0 == 0
                    && let Some(at) = self.links.known(guid)
                {
                    self.links.get_mut(at).lid = lid;
                }
            }
            Name::Links => {
                let a = told(&self.links, &row, "NodeGuid1", "PortNum1")?;
                let b = told(&self.links, &row, "NodeGuid2", "PortNum2")?;
                self.cables.push((a, b, line.number()));
            }
            // Of one plane, or of none ("N/A"), a port is as any other.
            Name::Hierarchy if row.number("NumOfPlanes").is_ok_and(|planes| planes > 1) => {
                let plane = row.number("Plane").ok().and_then(|plane| u8::try_from(plane).ok());
                plane.into_iter().for_each(|plane| intake.planes.note(plane));
            }
            Name::Hierarchy | Name::Other => {}
        }
        Ok(())
    }

    fn guid(&self, end: &EndPort) -> Guid {
        self.guids[end.device]
    }

    fn end(&self, (device, port): Told) -> EndPort {
        let guid = self.guids[device];
        let (guid, lid, lmc) =
            self.ports.get(&(guid, port.0)).copied().unwrap_or((guid, Lid::UNKNOWN, 0));
        EndPort { device, port, guid, lid, lmc }
    }
}

/// One end of a row of LINKS.
fn told(links: &Links, row: &Row<'_>, guid: &str, port: &str) -> Result<Told, ReadError> {
    let found = Guid(row.number(guid)?);
    match links.known(found) {
        Some(at) => Ok((at, row.port(port)?)),
        None => Err(row.line.error(format!("{guid} {found} is not described in NODES"))),
    }
}

fn node(row: &Row<'_>) -> Result<Device, ReadError> {
    let device = row.number("DeviceID").unwrap_or(0) as u32;
    let kind = row.number("NodeType")?;
    let ports = row.number("NumPorts")?;
    let ports = u8::try_from(ports).ok().filter(|&ports| ports <= PortNumber::MAX.0);
    Ok(Device {
        guid: Guid(row.number("NodeGUID")?),
        is_switch: Some(kind == 2),
        is_router: kind == 3,
        ports: ports.ok_or_else(|| row.line.error("NumPorts is over 254"))?,
        name: row.text("NodeDesc").unwrap_or_default().to_owned(),
        product: Product {
            vendor: row.number("VendorID").unwrap_or(0) as u32,
            device,
            system: Guid(row.number("SystemImageGUID").unwrap_or(0)),
        },
        device_number: Some(device),
        lid: Lid::UNKNOWN,
        line: row.line.number(),
    })
}

/// Width and speed as ibdiagnet counts them: a bit for each width, and a byte for each family of speeds: those of
/// PortInfo, the extended ones, the vendor's own (FDR10, EDR20), and the second extended ones (XDR).
fn rate(row: &Row<'_>) -> Rate {
    let width = match row.number("LinkWidthActv") {
        Ok(1) => 1,
        Ok(2) => 4,
        Ok(4) => 8,
        Ok(8) => 12,
        Ok(16) => 2,
        _ => 0,
    };
    let actual = row.number("LinkSpeedActv").unwrap_or(0);
    let [plain, extended, vendor, extended_2, ..] = actual.to_le_bytes();
    let speed = match (extended_2, extended, vendor, plain) {
        (1, ..) => Speed::Xdr,
        (0, 8, ..) => Speed::Ndr,
        (0, 4, ..) => Speed::Hdr,
        (0, 2, ..) => Speed::Edr,
        (0, 1, ..) => Speed::Fdr,
        // ibdiagnet itself counts EDR20 as 25 Gb/s a lane.
        (0, 0, 2, _) => Speed::Edr,
        (0, 0, 1, _) => Speed::Fdr10,
        (0, 0, 0, 4) => Speed::Qdr,
        (0, 0, 0, 2) => Speed::Ddr,
        (0, 0, 0, 1) => Speed::Sdr,
        _ => Speed::Unknown,
    };
    Rate { width, speed }
}

/// A row with its header.
struct Row<'a> {
    line: Cursor<'a>,
    columns: &'a HashMap<String, usize>,
    values: &'a [String],
}

impl Row<'_> {
    /// A value by the name of its column; releases of ibdiagnet write GUID and Guid.
    fn text(&self, column: &str) -> Option<&str> {
        self.values.get(*self.columns.get(&column.to_ascii_lowercase())?).map(String::as_str)
    }

    /// A number, decimal or with `0x`.
    fn number(&self, column: &str) -> Result<u64, ReadError> {
        let text = self.text(column).unwrap_or("");
        let number = match text.starts_with("0x") {
            true => hex_number(text.as_bytes()),
            false => text.parse().ok(),
        };
        number.ok_or_else(|| {
            self.line.error(format!("expected a number for {column}, found '{text}'"))
        })
    }

    fn port(&self, column: &str) -> Result<PortNumber, ReadError> {
        match self.number(column)? {
            port @ 0..=254 => Ok(PortNumber(port as u8)),
            port => Err(self.line.error(format!("{column} {port} is over 254"))),
        }
    }
}

/// The values of a row; those in quotes may hold commas.
fn values(row: &[u8]) -> Vec<String> {
    let mut values = vec![Vec::new()];
    let mut quoted = false;
    for &c in row {
        match c {
            b'"' => quoted = !quoted,
            b',' if !quoted => values.push(Vec::new()),
            c => values.last_mut().expect("it starts with one").push(c),
        }
    }
    values.into_iter().map(|value| String::from_utf8_lossy(&value).trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::lines;

    /// The codes of ibdiagnet: bytes for plain, extended, vendor's and second extended speeds.
    #[test]
    fn every_speed_has_its_code() {
        let columns = ["linkwidthactv", "linkspeedactv"].map(String::from);
        let columns: HashMap<String, usize> = columns.into_iter().zip(0..).collect();
        for (width, speed, expected) in [
            ("2", "1", "4xSDR"),
            ("2", "4", "4xQDR"),
            ("2", "256", "4xFDR"),
            ("2", "65536", "4xFDR10"),
            ("2", "65540", "4xFDR10"),
            ("2", "131072", "4xEDR"),
            ("16", "1024", "2xHDR"),
            ("2", "2052", "4xNDR"),
            ("1", "16777216", "1xXDR"),
            ("2", "0x1000004", "4xXDR"),
            ("2", "4096", "4x???"),
            ("N/A", "N/A", "?????"),
        ] {
            let line = lines(b"").next().unwrap();
            let values = [width, speed].map(String::from);
            let row = Row { line, columns: &columns, values: &values };
            assert_eq!(rate(&row).to_string(), expected, "{width} {speed}");
        }
    }

    /// An XDR adapter may have one GUID for all its plane ports; it is no switch for that.
    #[test]
    fn adapters_with_one_guid_for_several_ports_stay_adapters() {
        let text = b"START_NODES\nNodeDesc,NumPorts,NodeType,NodeGUID,SystemImageGUID\n\
            s,4,2,0x10,0x10\nn HCA-1,2,1,0x20,0x20\nEND_NODES\n\
            START_PORTS\nNodeGuid,PortGuid,PortNum,LID,LMC\n0x10,0x10,0,7,0\n\
            0x20,0x20,1,3,0\n0x20,0x20,2,3,0\nEND_PORTS\n\
            START_LINKS\nNodeGuid1,PortNum1,NodeGuid2,PortNum2\n0x20,1,0x10,1\n0x20,2,0x10,2\nEND_LINKS\n";
        let fabric = read(text).unwrap().fabric;
        assert_eq!((fabric.switches().len(), fabric.adapters().len()), (1, 1));
        assert_eq!(fabric.nodes()[0].guid, Guid(0x20));
    }
}
