//! `ibdiagnet2.db_csv`, which ibdiagnet writes: sections of comma-separated values. Columns are found by their names.
//!
//! ```text
//! START_LINKS
//! NodeGuid1,PortNum1,NodeGuid2,PortNum2
//! 0x0002c90100000001,1,0x0002c90000000010,1
//! END_LINKS
//! ```
//!
//! NODES describes devices, PORTS their ports (GUIDs and LIDs), LINKS the cables, each once. In newer files,
//! PORT_HIERARCHY_INFO has the planes of XDR ports. Other sections and unknown columns are skipped.

use std::collections::HashMap;

use dmodc::fabric::{Product, Rate, Speed};
use dmodc::{Guid, Lid, PortNumber};

use crate::cable_list::{CableList, ListedCable, ListedDevice, ListedEnd};
use crate::fabric_reader::{FabricReader, LineRefusal};
use crate::scan::{Cursor, hex_number};
use crate::{Format, ReadError, Reading};

/// Returns whether a line is of this format.
pub(crate) fn detect(mut line: Cursor<'_>) -> bool {
    line.take("START_")
        && line.rest().iter().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || *c == b'_')
        && !line.rest().is_empty()
}

pub(crate) fn read(text: &[u8]) -> Result<Reading, ReadError> {
    let mut sections = SectionReader::default();
    let mut reader = FabricReader::default();
    reader.lines(text, |reader, line| sections.line(reader, line));
    sections.rows.into_list().deliver(&mut reader);
    reader.finish(text, Format::DbCsv)
}

/// A port of a device that NODES has described.
#[derive(Clone, Copy)]
struct DevicePort {
    /// The place of the device in the list.
    device: usize,
    port: PortNumber,
}

/// A row of LINKS.
struct LinksRow {
    ends: [DevicePort; 2],
    line: u32,
}

/// A row of PORTS.
#[derive(Clone, Copy)]
struct PortsRow {
    guid: Guid,
    lid: Lid,
    lmc: u8,
    rate: Rate,
}

/// Reads sections, line by line.
#[derive(Default)]
struct SectionReader {
    rows: SectionRows,
    section: Option<Section>,
}

/// The rows of all sections so far.
#[derive(Default)]
struct SectionRows {
    list: CableList,
    /// The GUIDs of the devices in the list.
    guids: Vec<Guid>,
    /// The rows of PORTS, by the GUID of the device and the number of the port.
    ports: HashMap<(Guid, u8), PortsRow>,
    cables: Vec<LinksRow>,
}

/// The section that is being read.
struct Section {
    name: SectionName,
    /// The place of each column, once the header was read.
    columns: Option<HashMap<String, usize>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SectionName {
    Nodes,
    Ports,
    Links,
    Hierarchy,
    Other,
}

impl SectionReader {
    fn line(&mut self, reader: &mut FabricReader, mut line: Cursor<'_>) -> Result<(), LineRefusal> {
        if line.rest().is_empty() || line.rest().starts_with(b"#") {
            return Ok(());
        }
        if line.take("START_") {
            let name = match line.rest() {
                b"NODES" => SectionName::Nodes,
                b"PORTS" => SectionName::Ports,
                b"LINKS" => SectionName::Links,
                b"PORT_HIERARCHY_INFO" => SectionName::Hierarchy,
                _ => SectionName::Other,
            };
            self.section = Some(Section { name, columns: None });
            return Ok(());
        }
        if line.rest().starts_with(b"END_") {
            self.section = None;
            return Ok(());
        }
        let Some(section) = &mut self.section else {
            return Err(LineRefusal::Foreign(line.expected("a section such as START_NODES")));
        };
        if section.name == SectionName::Other {
            return Ok(());
        }
        let values = values(line.rest());
        let Some(columns) = &section.columns else {
            let names = values.into_iter().map(|name| name.to_ascii_lowercase());
            section.columns = Some(names.zip(0..).collect());
            return Ok(());
        };
        self.rows.add(section.name, &CsvRow { line, columns, values: &values }, reader)?;
        Ok(())
    }
}

impl SectionRows {
    /// Adds a row of a section.
    fn add(
        &mut self,
        section: SectionName,
        row: &CsvRow<'_>,
        reader: &mut FabricReader,
    ) -> Result<(), ReadError> {
        match section {
            SectionName::Nodes => {
                let device = node(row)?;
                let guid = device.guid;
                if self.list.device(device) == self.guids.len() {
                    self.guids.push(guid);
                }
            }
            SectionName::Ports => {
                let (guid, port) = (Guid(row.number("NodeGuid")?), row.port("PortNum")?);
                let lid = Lid(row.number("LID").unwrap_or(0) as u32 & 0xffff);
                let lmc = row.number("LMC").unwrap_or(0).min(7) as u8;
                let port_guid = Guid(row.number("PortGuid")?);
                let ports_row = PortsRow { guid: port_guid, lid, lmc, rate: rate(row) };
                self.ports.insert((guid, port.0), ports_row);
                if port.0 == 0
                    && let Some(at) = self.list.place_of(guid)
                {
                    self.list.get_mut(at).lid = lid;
                }
            }
            SectionName::Links => {
                let a = device_port(&self.list, row, "NodeGuid1", "PortNum1")?;
                let b = device_port(&self.list, row, "NodeGuid2", "PortNum2")?;
                self.cables.push(LinksRow { ends: [a, b], line: row.line.number() });
            }
            // A port of one plane, or of none ("N/A"), is like any other port.
            SectionName::Hierarchy if row.number("NumOfPlanes").is_ok_and(|planes| planes > 1) => {
                let plane = row.number("Plane").ok().and_then(|plane| u8::try_from(plane).ok());
                plane.into_iter().for_each(|plane| reader.planes.note(plane));
            }
            SectionName::Hierarchy | SectionName::Other => {}
        }
        Ok(())
    }

    /// Returns the list of all devices and cables.
    fn into_list(mut self) -> CableList {
        for LinksRow { ends, line } in std::mem::take(&mut self.cables) {
            let rates = ends.iter().filter_map(|end| self.ports_row(*end)).map(|row| row.rate);
            let rate = rates.into_iter().next().unwrap_or_default();
            let ends = ends.map(|end| self.end(end));
            self.list.cable(ListedCable { ends, rate, line });
        }
        self.list
    }

    fn ports_row(&self, end: DevicePort) -> Option<&PortsRow> {
        self.ports.get(&(self.guids[end.device], end.port.0))
    }

    /// Returns the end of a cable, with the GUID and the LID that PORTS has for it.
    fn end(&self, end: DevicePort) -> ListedEnd {
        let DevicePort { device, port } = end;
        match self.ports_row(end) {
            Some(&PortsRow { guid, lid, lmc, .. }) => ListedEnd { device, port, guid, lid, lmc },
            None => ListedEnd { device, port, guid: self.guids[device], lid: Lid::UNKNOWN, lmc: 0 },
        }
    }
}

/// Returns one end of a row of LINKS.
fn device_port(
    list: &CableList,
    row: &CsvRow<'_>,
    guid: &str,
    port: &str,
) -> Result<DevicePort, ReadError> {
    let found = Guid(row.number(guid)?);
    match list.place_of(found) {
        Some(device) => Ok(DevicePort { device, port: row.port(port)? }),
        None => Err(row.line.error(format!("{guid} {found} is not described in NODES"))),
    }
}

fn node(row: &CsvRow<'_>) -> Result<ListedDevice, ReadError> {
    let device = row.number("DeviceID").unwrap_or(0) as u32;
    let kind = row.number("NodeType")?;
    let ports = row.number("NumPorts")?;
    let ports = u8::try_from(ports).ok().filter(|&ports| ports <= PortNumber::MAX.0);
    Ok(ListedDevice {
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

/// Reads width and speed as ibdiagnet encodes them: a bit for each width, and a byte for each family of speeds, which are
/// those of PortInfo, the extended ones, the vendor's own (FDR10, EDR20), and the second extended ones (XDR).
fn rate(row: &CsvRow<'_>) -> Rate {
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
struct CsvRow<'a> {
    line: Cursor<'a>,
    columns: &'a HashMap<String, usize>,
    values: &'a [String],
}

impl CsvRow<'_> {
    /// Returns a value by the name of its column. Case is ignored, because releases of ibdiagnet write GUID or Guid.
    fn text(&self, column: &str) -> Option<&str> {
        self.values.get(*self.columns.get(&column.to_ascii_lowercase())?).map(String::as_str)
    }

    /// Returns a number, decimal or with `0x`.
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

/// Returns the values of a row. Those in quotes may hold commas.
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
            let row = CsvRow { line, columns: &columns, values: &values };
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
