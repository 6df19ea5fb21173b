//! Shared by all readers of fabrics: goes through a text line by line, and notes the lines that are damaged.

use dmodc::advise::compare::SelfLoop;
use dmodc::fabric::{AdapterKind, Inconsistency, Problem};
use dmodc::{FabricBuilder, Guid, Lid};

use crate::scan::{Cursor, lines};
use crate::{Dirt, DirtKind, Format, Planes, ReadError, Reading};

/// The device number of the aggregation nodes inside switches.
const AGGREGATION_DEVICE: u32 = 0xcf09;

/// Returns the kind of an adapter by its device number, or by its name where the number is not known.
pub fn adapter_kind(device: Option<u32>, name: &str) -> AdapterKind {
    match device {
        Some(AGGREGATION_DEVICE) => AdapterKind::Aggregation,
        // Files that were written without knowing the number have a 0.
        None | Some(0) if name.contains("Aggregation Node") => AdapterKind::Aggregation,
        _ => AdapterKind::Host,
    }
}

/// A fabric that is being read.
#[derive(Default)]
pub(crate) struct FabricReader {
    pub(crate) builder: FabricBuilder,
    pub(crate) dirt: Dirt,
    /// The number of devices that were described so far.
    pub(crate) devices: usize,
    pub(crate) planes: Planes,
}

/// Why a line is not used.
pub(crate) enum LineRefusal {
    /// The line is of another format.
    Foreign(ReadError),
    /// The line is of this format, but damaged.
    Damaged(ReadError),
}

impl From<ReadError> for LineRefusal {
    fn from(place: ReadError) -> Self {
        LineRefusal::Damaged(place)
    }
}

impl FabricReader {
    /// Hands every line to `each`, without byte order mark and line ends. A line that it refuses is noted and skipped.
    pub(crate) fn lines<'a>(
        &mut self,
        text: &'a [u8],
        mut each: impl FnMut(&mut Self, Cursor<'a>) -> Result<(), LineRefusal>,
    ) {
        for mut line in lines(text) {
            if line.number() == 1 && line.take("\u{feff}") {
                let place = line.error("a byte order mark");
                self.dirt.note(DirtKind::ByteOrderMark, place);
            }
            if line.had_carriage_return() {
                self.dirt.note(DirtKind::CarriageReturns, line.error("the line ends in CR LF"));
            }
            match each(self, line) {
                Ok(()) => self.note_encoding(line),
                Err(LineRefusal::Foreign(place)) => self.dirt.note(DirtKind::ForeignLine, place),
                // A text that was cut off ends in the middle of a line.
                Err(LineRefusal::Damaged(place)) if line.is_last() => {
                    self.dirt.note(DirtKind::Truncated, place);
                }
                Err(LineRefusal::Damaged(place)) => self.dirt.note(DirtKind::DamagedLine, place),
            }
        }
    }

    /// Notes a line that is not UTF-8: such bytes are replaced in names, which must not happen in silence.
    fn note_encoding(&mut self, mut line: Cursor<'_>) {
        let Err(error) = std::str::from_utf8(line.rest()) else { return };
        line.skip(error.valid_up_to());
        if let Some(byte) = line.rest().first() {
            self.dirt
                .note(DirtKind::NotUtf8, line.error(format!("byte 0x{byte:02x} is not UTF-8")));
        }
    }

    /// Notes a LID that is missing or invalid. Formats without LIDs do not call this.
    pub(crate) fn note_lid(&mut self, lid: Lid, place: impl FnOnce() -> ReadError) {
        if lid == Lid::UNKNOWN || lid == Lid(0xffff) {
            self.dirt.note(DirtKind::MissingLid, place());
        }
    }

    /// Returns the fabric of the text.
    pub(crate) fn finish(mut self, text: &[u8], format: Format) -> Result<Reading, ReadError> {
        let (fabric, inconsistencies) = self.builder.finish_sound();
        let self_loops = self_loops(&inconsistencies);
        self.dirt.note_all(inconsistencies);
        if self.devices == 0 || fabric.switches().is_empty() {
            // The error of the first refused line is more helpful than "no switch".
            return Err(self.dirt.first().cloned().unwrap_or(ReadError {
                line: 1,
                column: 1,
                message: format!("the file looks like {}, but describes no switch", format.name()),
            }));
        }
        let (fabric, given) = fabric.with_missing_lids();
        for (guid, lid) in
            given.iter().filter(|(_, lid)| *lid != Lid::UNKNOWN && *lid != Lid(0xffff))
        {
            let message = format!("LID {lid} of {guid} belongs to another port");
            self.dirt.note(
                DirtKind::DoubledLid,
                ReadError { line: line_of(text, *guid), column: 1, message },
            );
        }
        let (dirt, planes) = (self.dirt, self.planes);
        Ok(Reading { fabric, format, dirt, given_lids: given.len(), planes, self_loops })
    }
}

/// Returns the cables that join two ports of one switch, each once.
fn self_loops(inconsistencies: &[Inconsistency]) -> Vec<SelfLoop> {
    let loops = inconsistencies.iter().filter_map(|found| match found.problem {
        Problem::SelfLoop(switch, port, far) if port < far => {
            Some(SelfLoop { switch, ports: [port, far] })
        }
        _ => None,
    });
    loops.collect()
}

/// Returns the first line that names a GUID. It is searched for only if something is wrong.
fn line_of(text: &[u8], guid: Guid) -> u32 {
    let digits = format!("{:x}", guid.0);
    let at = memchr::memmem::find(text, digits.as_bytes()).unwrap_or(0);
    1 + memchr::memchr_iter(b'\n', &text[..at]).count() as u32
}
