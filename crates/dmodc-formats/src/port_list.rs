//! `ibnetdiscover -p`: one line for each port.
//!
//! `SW    18  5 0x00066a00ec002dd9 4x QDR - CA   182  1 0x001175000077d284 ( 'leaf' - 'node179 HCA-1' )`; a
//! port without a cable has blanks for its peer. The GUIDs are those of ports, so the ports of one
//! adapter come as adapters of their own.

use dmodc::fabric::{Product, Rate};
use dmodc::{Guid, Lid, PortNumber};

use crate::intake::{Intake, Refusal};
use crate::links::{Device, EndPort, Links};
use crate::scan::Cursor;
use crate::{Format, ReadError, Reading};

/// Whether a line is of this format.
pub(crate) fn detect(mut line: Cursor<'_>) -> bool {
    line.skip_blanks();
    end(&mut line).is_ok()
}

pub(crate) fn read(text: &[u8]) -> Result<Reading, ReadError> {
    let mut links = Links::default();
    let mut intake = Intake::default();
    intake.lines(text, |_, line| each(&mut links, line));
    links.deliver(&mut intake);
    intake.finish(text, Format::PortList)
}

/// One end as the line tells it.
struct Told {
    is_switch: bool,
    is_router: bool,
    lid: Lid,
    port: PortNumber,
    guid: Guid,
}

fn each(links: &mut Links, mut line: Cursor<'_>) -> Result<(), Refusal> {
    line.skip_blanks();
    if line.rest().is_empty()
        || line.rest().starts_with(b"#")
        || line.rest().starts_with(b"DR path ")
    {
        return Ok(());
    }
    let start = line;
    let near = match end(&mut line) {
        Ok(near) => near,
        Err(_) => {
            let what = "a port such as 'SW 18 5 0x00066a00ec002dd9 4x QDR - …'";
            return Err(Refusal::Foreign(start.expected(what)));
        }
    };
    line.skip_blanks();
    let width = String::from_utf8_lossy(line.word()).into_owned();
    line.skip_blanks();
    let speed = String::from_utf8_lossy(line.word()).into_owned();
    let rate: Rate = format!("{width}{speed}").parse().unwrap_or_default();
    line.skip_blanks();
    if !line.take("- ") {
        // A port that is down: only its switch is of interest.
        let name = between(line.rest(), b"'", b"'").unwrap_or_default();
        device(links, &near, name, start.number());
        return Ok(());
    }
    line.skip_blanks();
    let far = end(&mut line)?;
    line.skip_blanks();
    let names =
        between(line.rest(), b"( '", b"' )").ok_or_else(|| line.expected("( 'name' - 'name' )"))?;
    // Names may hold anything; the separator that stands alone in the middle is taken.
    let (near_name, far_name) = names.split_once("' - '").unwrap_or((&names, ""));
    let (near_name, far_name) = (near_name.to_owned(), far_name.to_owned());
    let a = end_port(links, &near, near_name, start.number());
    let b = end_port(links, &far, far_name, start.number());
    links.cable(a, b, rate, start.number());
    Ok(())
}

fn end(line: &mut Cursor<'_>) -> Result<Told, ReadError> {
    let (is_switch, is_router) = match line.word() {
        b"SW" => (true, false),
        b"CA" => (false, false),
        b"RT" | b"Rt" => (false, true),
        _ => return Err(line.expected("SW, CA or RT")),
    };
    line.skip_blanks();
    let lid = Lid(line.decimal("a LID", 0, u32::MAX / 2)?);
    line.skip_blanks();
    let port = PortNumber(line.decimal("a port number", 0, PortNumber::MAX.0.into())? as u8);
    line.skip_blanks();
    line.expect("0x")?;
    let guid = line.guid()?;
    Ok(Told { is_switch, is_router, lid, port, guid })
}

fn device(links: &mut Links, told: &Told, name: String, line: u32) -> usize {
    let at = links.device(Device {
        guid: told.guid,
        is_switch: Some(told.is_switch),
        is_router: told.is_router,
        ports: 0,
        name,
        product: Product::default(),
        device_number: None,
        lid: told.lid,
        line,
    });
    let device = links.get_mut(at);
    device.ports = device.ports.max(told.port.0);
    at
}

fn end_port(links: &mut Links, told: &Told, name: String, line: u32) -> EndPort {
    let device = device(links, told, name, line);
    EndPort { device, port: told.port, guid: told.guid, lid: told.lid, lmc: 0 }
}

/// What stands between the first `open` and the last `close`.
fn between(text: &[u8], open: &[u8], close: &[u8]) -> Option<String> {
    let start = memchr::memmem::find(text, open)? + open.len();
    let end = memchr::memmem::rfind(text, close)?;
    (start <= end).then(|| String::from_utf8_lossy(&text[start..end]).into_owned())
}
