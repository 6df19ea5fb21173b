//! `opensm-subnet.lst`, which OpenSM writes, and ibdiagnet's `.lst`: one line for each cable, with both its ends.
//!
//! ```text
//! { SW Ports:08 SystemGUID:… NodeGUID:… PortGUID:… VenID:… DevID:… Rev:… {name} LID:0002 PN:05 } { … } PHY=4x LOG=ACT SPD=10
//! ```
//!
//! Numbers are hexadecimal. OpenSM lists each cable twice, ibdiagnet once.

use dmodc::fabric::{Product, Rate, Speed};
use dmodc::{Guid, Lid, PortNumber};

use crate::cable_list::{CableList, ListedCable, ListedDevice, ListedEnd};
use crate::fabric_reader::{FabricReader, LineRefusal};
use crate::scan::Cursor;
use crate::{Format, ReadError, Reading};

/// Returns whether a line is of this format.
pub(crate) fn detect(mut line: Cursor<'_>) -> bool {
    line.skip_blanks();
    line.take("{ ") && line.find("NodeGUID:")
}

pub(crate) fn read(text: &[u8]) -> Result<Reading, ReadError> {
    let mut list = CableList::default();
    let mut reader = FabricReader::default();
    reader.lines(text, |_, line| read_line(&mut list, line));
    list.deliver(&mut reader);
    reader.finish(text, Format::SubnetList)
}

fn read_line(list: &mut CableList, mut line: Cursor<'_>) -> Result<(), LineRefusal> {
    line.skip_blanks();
    if line.rest().is_empty() || line.rest().starts_with(b"#") {
        return Ok(());
    }
    if !line.rest().starts_with(b"{") {
        return Err(LineRefusal::Foreign(
            line.expected("a cable such as '{ SW Ports:08 … } { … }'"),
        ));
    }
    let number = line.number();
    let a = end(list, &mut line)?;
    line.skip_blanks();
    let b = end(list, &mut line)?;
    let rate = rate(line);
    // A cable that is down is left out. One that is being set up will be up soon.
    if line.find("LOG=DWN") {
        return Ok(());
    }
    list.cable(ListedCable { ends: [a, b], rate, line: number });
    Ok(())
}

/// Reads one end: `{ SW Ports:08 … {name} LID:0002 PN:05 }`.
fn end(list: &mut CableList, line: &mut Cursor<'_>) -> Result<ListedEnd, ReadError> {
    let number = line.number();
    line.expect("{")?;
    line.skip_blanks();
    let kind = line.word();
    let (is_switch, is_router) =
        (kind.starts_with(b"SW"), kind.starts_with(b"Rt") || kind.starts_with(b"RT"));
    let ports = field(line, "Ports:")?;
    let system = Guid(field(line, "SystemGUID:")?);
    let guid = Guid(field(line, "NodeGUID:")?);
    let port_guid = Guid(field(line, "PortGUID:")?);
    let vendor = field(line, "VenID:")? as u32;
    let device = field(line, "DevID:")? as u32;
    // OpenSM prints some device numbers in the upper half.
    let device = if device > 0xffff { device >> 16 } else { device };
    field(line, "Rev:")?;
    line.skip_blanks();
    let name = name(line)?;
    let lid = field(line, "LID:")?;
    let port = field(line, "PN:")?;
    line.skip_blanks();
    line.expect("}")?;
    let (ports, port) = match (u8::try_from(ports), u8::try_from(port)) {
        (Ok(ports @ 0..=254), Ok(port @ 0..=254)) => (ports, PortNumber(port)),
        _ => {
            return Err(
                line.error(format!("port {port:x} of {ports:x}: at most 254 (fe) are possible"))
            );
        }
    };
    let lid = Lid(lid as u32 & 0xffff);
    let at = list.device(ListedDevice {
        guid,
        is_switch: is_switch.then_some(true),
        is_router,
        ports,
        name,
        product: Product { vendor, device, system },
        device_number: Some(device),
        lid,
        line: number,
    });
    Ok(ListedEnd { device: at, port, guid: port_guid, lid, lmc: 0 })
}

/// Reads a field such as `Key:1a2b`.
fn field(line: &mut Cursor<'_>, key: &str) -> Result<u64, ReadError> {
    line.skip_blanks();
    line.expect(key)?;
    line.hex("a hexadecimal number")
}

/// Reads `{name}`. The name may hold braces itself, so it reaches to the brace before ` LID:`.
fn name(line: &mut Cursor<'_>) -> Result<String, ReadError> {
    let mut ahead = *line;
    ahead.expect("{")?;
    let rest = ahead.rest();
    let end = memchr::memmem::find(rest, b"} LID:").ok_or_else(|| line.expected("{name} LID:"))?;
    let name = String::from_utf8_lossy(&rest[..end]).into_owned();
    ahead.find("} ");
    while !ahead.rest().starts_with(b"LID:") && ahead.find("} ") {}
    *line = ahead;
    Ok(name)
}

/// Reads the rate from `PHY=4x … SPD=10`.
fn rate(mut line: Cursor<'_>) -> Rate {
    let mut speeds = line;
    let width = match line.find("PHY=") {
        true => line.decimal("", 0, 255).unwrap_or(0) as u8,
        false => 0,
    };
    let speed = match speeds.find("SPD=") {
        true => match speeds.word() {
            b"2.5" => Speed::Sdr,
            b"5" => Speed::Ddr,
            b"10" => Speed::Qdr,
            b"FDR10" => Speed::Fdr10,
            b"14" => Speed::Fdr,
            b"25" => Speed::Edr,
            b"50" => Speed::Hdr,
            b"100" => Speed::Ndr,
            b"200" => Speed::Xdr,
            _ => Speed::Unknown,
        },
        false => Speed::Unknown,
    };
    Rate { width, speed }
}
