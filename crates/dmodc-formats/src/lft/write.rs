//! Writing tables as OpenSM dumps and loads them.

use std::io::{self, Write};

use dmodc::fabric::AdapterKind;
use dmodc::{Columns, End, Fabric, ForwardingTables, Live, PortNumber, SwitchIndex, parallel};

use crate::scan::printable;

/// What OpenSM's loader reads of a line at the most.
const LONGEST_LINE: usize = 1023;

/// Writes tables as OpenSM dumps and loads them: live switches by index, entries by LID; what has no route
/// is left out, and so is what is dead.
///
/// # Errors
/// What the writer says.
pub fn write(
    live: Live<'_>,
    tables: &ForwardingTables,
    comments: &[String],
    out: &mut impl Write,
) -> io::Result<()> {
    for comment in comments {
        writeln!(out, "# {}", printable(comment))?;
    }
    let writer = Writer::new(live, tables.columns());
    let switches: Vec<SwitchIndex> = live.switches().collect();
    // Some tables are put into words on all threads, and written one after the other: a few for each thread, but
    // not more than fit into the room.
    let table = tables.columns().len().max(1) * LINE;
    let at_once = (ROOM / table).clamp(1, 4 * parallel::threads());
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
const LINE: usize = 64;

/// About as many bytes of text are held at once.
const ROOM: usize = 64 << 20;

/// Writes the tables of one switch after the other.
pub struct Writer<'a> {
    fabric: &'a Fabric,
    /// A row is `0x0001 ` + port + what follows; the two outer parts are the same at every switch.
    parts: Vec<(usize, String, String)>,
    /// The greatest LID.
    last: u32,
    ports: Vec<String>,
    text: Vec<u8>,
}

impl<'a> Writer<'a> {
    /// For tables with these columns, as far as they are alive.
    pub fn new(live: Live<'a>, columns: &Columns) -> Self {
        let fabric = live.fabric;
        let mut by_lid = columns.by_lid();
        by_lid.retain(|&c| columns.destinations()[c].end.is_alive(live));
        let last = by_lid.last().map_or(0, |&c| columns.destinations()[c].lid.0);
        let part = |column: usize| {
            let d = &columns.destinations()[column];
            (column, format!("0x{:04x} ", d.lid.0), comment(fabric, d.end))
        };
        Writer {
            fabric,
            parts: by_lid.into_iter().map(part).collect(),
            last,
            ports: (0..=255).map(|port| format!("{port:03}")).collect(),
            text: vec![],
        }
    }

    /// Writes the table of one switch, whose ports by column are told.
    ///
    /// # Errors
    /// What the writer says.
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
            self.last, switch.lid, switch.guid
        )?;
        let mut dumped = 0;
        for (column, head, tail) in &self.parts {
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

/// ` # Channel Adapter portguid 0x0002c90000000011: 'nic0'` and the end of the line.
fn comment(fabric: &Fabric, end: End) -> String {
    let kind = match end {
        End::Node(n) if fabric.adapter_of(n).kind == AdapterKind::Router => "Router",
        End::Node(_) => "Channel Adapter",
        End::Switch(_) => "Switch",
    };
    let (guid, name) = (end.guid(fabric), end.name(fabric));
    format!(" # {kind} portguid {guid}: '{}'\n", shortened(name))
}

/// A name that leaves room in a line that OpenSM reads.
fn shortened(name: &str) -> String {
    let mut name = printable(name);
    let mut end = name.len().min(LONGEST_LINE - 123);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    name
}
