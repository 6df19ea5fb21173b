//! `opensm-subnet.lst` and ibdiagnet's `.lst`: one line for each cable, with both its ends.
//!
//! `{ SW Ports:08 SystemGUID:… NodeGUID:… PortGUID:… VenID:… DevID:… Rev:… {name} LID:0002 PN:05 } { … } PHY=4x
//! LOG=ACT SPD=10`. Numbers are hexadecimal. OpenSM tells each cable twice, ibdiagnet once.

use dmodc::fabric::{Product, Rate, Speed};
use dmodc::{Guid, Lid, PortNumber};

use crate::intake::{Intake, Refusal};
use crate::links::{Device, EndPort, Links};
use crate::scan::Cursor;
use crate::{Format, ReadError, Reading};

/// Whether a line is of this format.
pub(crate) fn detect(mut line: Cursor<'_>) -> bool {
    line.skip_blanks();
    line.take("{ ") && line.find("NodeGUID:")
}

pub(crate) fn read(text: &[u8]) -> Result<Reading, ReadError> {
    let mut links = Links::default();
    let mut intake = Intake::default();
    intake.lines(text, |_, line| each(&mut links, line));
    links.deliver(&mut intake);
    intake.finish(text, Format::SubnetList)
}

fn each(links: &mut Links, mut line: Cursor<'_>) -> Result<(), Refusal> {
    line.skip_blanks();
    if line.rest().is_empty() || line.rest().starts_with(b"#") {
        return Ok(());
    }
    if !line.rest().starts_with(b"{") {
        return Err(Refusal::Foreign(line.expected("a cable such as '{ SW Ports:08 … } { … }'")));
    }
    let number = line.number();
    let a = end(links, &mut line)?;
    line.skip_blanks();
    let b = end(links, &mut line)?;
    let rate = rate(line);
    // A cable that is down carries nothing; one that is being set up will soon.
    if line.find("LOG=DWN") {
        return Ok(());
    }
    links.cable(a, b, rate, number);
    Ok(())
}

/// One end: `{ SW Ports:08 … {name} LID:0002 PN:05 }`.
fn end(links: &mut Links, line: &mut Cursor<'_>) -> Result<EndPort, ReadError> {
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
    let at = links.device(Device {
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
    Ok(EndPort { device: at, port, guid: port_guid, lid, lmc: 0 })
}

/// `Key:1a2b`.
fn field(line: &mut Cursor<'_>, key: &str) -> Result<u64, ReadError> {
    line.skip_blanks();
    line.expect(key)?;
    line.hex("a hexadecimal number")
}

/// `{name}`: it may hold braces itself, so it reaches to the brace before ` LID:`.
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

/// `PHY=4x … SPD=10`.
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
