//! The list that `ibnetdiscover -p` prints: one line for each port.
//!
//! ```text
//! SW    18  5 0x00066a00ec002dd9 4x QDR - CA   182  1 0x001175000077d284 ( 'leaf' - 'node179 HCA-1' )
//! ```
//!
//! The columns are: kind, LID, port and GUID; width and speed; the same of the peer; both names. A port without a cable
//! has blanks for its peer. The GUIDs are those of ports, so the ports of one adapter become adapters of their own.

use dmodc::fabric::{Product, Rate};
use dmodc::{Guid, Lid, PortNumber};

use crate::cable_list::{CableList, ListedCable, ListedDevice, ListedEnd};
use crate::fabric_reader::{FabricReader, LineRefusal};
use crate::scan::Cursor;
use crate::{Format, ReadError, Reading};

/// Returns whether a line is of this format.
pub(crate) fn detect(mut line: Cursor<'_>) -> bool {
    line.skip_blanks();
    port_columns(&mut line).is_ok()
}

pub(crate) fn read(text: &[u8]) -> Result<Reading, ReadError> {
    let mut list = CableList::default();
    let mut reader = FabricReader::default();
    reader.lines(text, |_, line| read_line(&mut list, line));
    list.deliver(&mut reader);
    reader.finish(text, Format::PortList)
}

/// The columns that describe a port.
struct PortColumns {
    is_switch: bool,
    is_router: bool,
    lid: Lid,
    port: PortNumber,
    guid: Guid,
}

fn read_line(list: &mut CableList, mut line: Cursor<'_>) -> Result<(), LineRefusal> {
    line.skip_blanks();
    if line.rest().is_empty()
        || line.rest().starts_with(b"#")
        || line.rest().starts_with(b"DR path ")
    {
        return Ok(());
    }
    let start = line;
    let near = match port_columns(&mut line) {
        Ok(near) => near,
        Err(_) => {
            let what = "a port such as 'SW 18 5 0x00066a00ec002dd9 4x QDR - …'";
            return Err(LineRefusal::Foreign(start.expected(what)));
        }
    };
    line.skip_blanks();
    let width = String::from_utf8_lossy(line.word()).into_owned();
    line.skip_blanks();
    let speed = String::from_utf8_lossy(line.word()).into_owned();
    let rate: Rate = format!("{width}{speed}").parse().unwrap_or_default();
    line.skip_blanks();
    if !line.take("- ") {
        // The port is down: only its switch is of interest.
        let name = between(line.rest(), b"'", b"'").unwrap_or_default();
        device(list, &near, name, start.number());
        return Ok(());
    }
    line.skip_blanks();
    let far = port_columns(&mut line)?;
    line.skip_blanks();
    let names =
        between(line.rest(), b"( '", b"' )").ok_or_else(|| line.expected("( 'name' - 'name' )"))?;
    // Names may hold anything, even this separator; the first one is taken.
    let (near_name, far_name) = names.split_once("' - '").unwrap_or((&names, ""));
    let (near_name, far_name) = (near_name.to_owned(), far_name.to_owned());
    let a = end_of(list, &near, near_name, start.number());
    let b = end_of(list, &far, far_name, start.number());
    list.cable(ListedCable { ends: [a, b], rate, line: start.number() });
    Ok(())
}

/// Reads kind, LID, port number and GUID of a port.
fn port_columns(line: &mut Cursor<'_>) -> Result<PortColumns, ReadError> {
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
    Ok(PortColumns { is_switch, is_router, lid, port, guid })
}

fn device(list: &mut CableList, port: &PortColumns, name: String, line: u32) -> usize {
    let at = list.device(ListedDevice {
        guid: port.guid,
        is_switch: Some(port.is_switch),
        is_router: port.is_router,
        ports: 0,
        name,
        product: Product::default(),
        device_number: None,
        lid: port.lid,
        line,
    });
    let device = list.get_mut(at);
    device.ports = device.ports.max(port.port.0);
    at
}

fn end_of(list: &mut CableList, port: &PortColumns, name: String, line: u32) -> ListedEnd {
    let device = device(list, port, name, line);
    ListedEnd { device, port: port.port, guid: port.guid, lid: port.lid, lmc: 0 }
}

/// Returns the text between the first `open` and the last `close`.
fn between(text: &[u8], open: &[u8], close: &[u8]) -> Option<String> {
    let start = memchr::memmem::find(text, open)? + open.len();
    let end = memchr::memmem::rfind(text, close)?;
    (start <= end).then(|| String::from_utf8_lossy(&text[start..end]).into_owned())
}
