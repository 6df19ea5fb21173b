//! Writing tables as OpenSM dumps and loads them.

use std::io::{self, Write};

use dmodc::fabric::AdapterKind;
use dmodc::{Columns, End, Fabric, ForwardingTables, Live, PortNumber, SwitchIndex, parallel};

use crate::scan::printable;

/// The longest line that OpenSM's loader reads.
const LONGEST_LINE: usize = 1023;

/// Writes tables as OpenSM dumps and loads them: live switches by index, entries by LID. Entries without a route and dead
/// parts are left out.
///
/// # Errors
/// The error of the writer.
pub fn write(
    live: Live<'_>,
    tables: &ForwardingTables,
    comments: &[String],
    out: &mut impl Write,
) -> io::Result<()> {
    for comment in comments {
        writeln!(out, "# {}", printable(comment))?;
    }
    let writer = LftWriter::new(live, tables.columns());
    let switches: Vec<SwitchIndex> = live.switches().collect();
    // The texts of some tables are made on all threads and then written one after the other: a few for each thread, but
    // not more than the memory limit allows.
    let table = tables.columns().len().max(1) * LINE_LENGTH;
    let at_once = (MOST_TEXT / table).clamp(1, 4 * parallel::threads());
    for some in switches.chunks(at_once) {
        let texts = parallel::map(some, |&s| {
            let mut text = Vec::new();
            writer.append(s, |column| tables.port(s, column), &mut text).map(|()| text)
        });
        for text in texts {
            out.write_all(&text?)?;
        }
    }
    Ok(())
}

/// About the length of a line.
const LINE_LENGTH: usize = 64;

/// About the number of bytes of text in memory at once.
const MOST_TEXT: usize = 64 << 20;

/// The line of a destination: `head`, the port, `tail`. Only the port differs between switches.
struct LineForm {
    column: usize,
    /// Such as `0x0001 `.
    head: String,
    /// The comment, and the end of the line.
    tail: String,
}

/// Writes the tables of one switch after the other.
pub struct LftWriter<'a> {
    fabric: &'a Fabric,
    lines: Vec<LineForm>,
    greatest_lid: u32,
    /// The text of each port number.
    ports: Vec<String>,
    /// A buffer for the table of a switch.
    text: Vec<u8>,
}

impl<'a> LftWriter<'a> {
    /// Returns a writer for tables with these columns, as far as they are alive.
    pub fn new(live: Live<'a>, columns: &Columns) -> Self {
        let fabric = live.fabric;
        let mut by_lid = columns.by_lid();
        by_lid.retain(|&c| columns.destinations()[c].end.is_alive(live));
        let greatest_lid = by_lid.last().map_or(0, |&c| columns.destinations()[c].lid.0);
        let line = |column: usize| {
            let d = &columns.destinations()[column];
            LineForm { column, head: format!("0x{:04x} ", d.lid.0), tail: comment(fabric, d.end) }
        };
        LftWriter {
            fabric,
            lines: by_lid.into_iter().map(line).collect(),
            greatest_lid,
            ports: (0..=255).map(|port| format!("{port:03}")).collect(),
            text: vec![],
        }
    }

    /// Writes the table of one switch. `port` returns its port for a column.
    ///
    /// # Errors
    /// The error of the writer.
    pub fn write(
        &mut self,
        s: SwitchIndex,
        port: impl Fn(usize) -> Option<PortNumber>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        self.append(s, port, &mut text)?;
        out.write_all(&text)?;
        self.text = text;
        Ok(())
    }

    /// Appends the table of one switch to a text.
    fn append(
        &self,
        s: SwitchIndex,
        port: impl Fn(usize) -> Option<PortNumber>,
        text: &mut Vec<u8>,
    ) -> io::Result<()> {
        let switch = self.fabric.switch(s);
        let name = shortened(&switch.name);
        writeln!(
            text,
            "Unicast lids [0-{}] of switch Lid {} guid {} ('{name}'):",
            self.greatest_lid, switch.lid, switch.guid
        )?;
        let mut dumped = 0;
        for LineForm { column, head, tail } in &self.lines {
            if let Some(port) = port(*column) {
                text.extend_from_slice(head.as_bytes());
                text.extend_from_slice(self.ports[usize::from(port.0)].as_bytes());
                text.extend_from_slice(tail.as_bytes());
                dumped += 1;
            }
        }
        writeln!(text, "{dumped} lids dumped")
    }
}

/// Returns the comment ` # Channel Adapter portguid 0x0002c90000000011: 'nic0'` and the end of the line.
fn comment(fabric: &Fabric, end: End) -> String {
    let kind = match end {
        End::Node(n) if fabric.adapter_of(n).kind == AdapterKind::Router => "Router",
        End::Node(_) => "Channel Adapter",
        End::Switch(_) => "Switch",
    };
    let (guid, name) = (end.guid(fabric), end.name(fabric));
    format!(" # {kind} portguid {guid}: '{}'\n", shortened(name))
}

/// Returns a name that is short enough for a line that OpenSM reads.
fn shortened(name: &str) -> String {
    let mut name = printable(name);
    let mut end = name.len().min(LONGEST_LINE - 123);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    name
}
