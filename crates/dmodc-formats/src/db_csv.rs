//! `ibdiagnet2.db_csv`: sections of comma separated values. Columns are found by their names.
//!
//! NODES describes devices, PORTS their ports (GUIDs and LIDs), LINKS the cables, each once. Other
//! sections are passed over.

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
    intake.lines(text, |_, line| reader.line(line));
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
    Other,
}

impl Reader {
    fn line(&mut self, mut line: Cursor<'_>) -> Result<(), Refusal> {
        if line.rest().is_empty() || line.rest().starts_with(b"#") {
            return Ok(());
        }
        if line.take("START_") {
            let name = match line.rest() {
                b"NODES" => Name::Nodes,
                b"PORTS" => Name::Ports,
                b"LINKS" => Name::Links,
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
            section.columns = Some(values.into_iter().zip(0..).collect());
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
            Name::Other => {}
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

/// Width and speed as the management interface counts them: one bit each, extended speeds above.
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
    let speed = match (actual >> 8, actual & 0xff) {
        (8, _) => Speed::Ndr,
        (16, _) => Speed::Xdr,
        (4, _) => Speed::Hdr,
        (2, _) => Speed::Edr,
        (1, _) => Speed::Fdr,
        (_, 1) => Speed::Sdr,
        (_, 2) => Speed::Ddr,
        (_, 4) => Speed::Qdr,
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
    fn text(&self, column: &str) -> Option<&str> {
        self.values.get(*self.columns.get(column)?).map(String::as_str)
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
