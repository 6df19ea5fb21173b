//! Reading order files.

use dmodc::{Guid, LevelDividers, LevelRule, PortNumber, SavedCable, SavedOrders, SavedPlace};

use super::{
    ANY_VERSION, DIVIDERS, EARLIER, END, FROM_LEAVES, GIVEN_ROOTS, MAGIC, PAPER_DIVIDERS, TYPES,
};
use crate::ReadError;
use crate::scan::{Cursor, lines};

/// Numbers of nodes are positions of a list in memory, so a bound keeps a damaged number from filling the memory: this
/// many times the number of lines with numbers, plus [`NUMBERS_MORE`].
const NUMBERS_PER_LINE: usize = 16;
const NUMBERS_MORE: usize = 1 << 16;

/// How a file is to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    /// A list of GUIDs.
    Plain,
    /// Saved by an earlier version: numbers are positions.
    Earlier,
    Present,
}

/// Reads an order file.
///
/// # Errors
/// The first line that is wrong, or that the file is not whole.
pub fn read(text: &[u8]) -> Result<SavedOrders, ReadError> {
    let mut reader = OrdersReader::new(text);
    let mut last = None;
    for line in lines(text) {
        last = Some(line);
        reader.line(line)?;
    }
    reader.finish(last)
}

/// An order file as far as it is read.
struct OrdersReader {
    version: Version,
    orders: SavedOrders,
    /// The GUIDs of a plain list.
    plain: Vec<Guid>,
    /// The number of lines with a GUID.
    listed: u32,
    /// Whether the last line was read, and the number in it is right.
    is_whole: bool,
    greatest_number: u32,
}

impl OrdersReader {
    fn new(text: &[u8]) -> Self {
        let lines_with_numbers = memchr::memmem::find_iter(text, " node ").count()
            + memchr::memmem::find_iter(text, " other ").count();
        let greatest = lines_with_numbers * NUMBERS_PER_LINE + NUMBERS_MORE;
        OrdersReader {
            version: Version::Plain,
            orders: SavedOrders::default(),
            plain: Vec::new(),
            listed: 0,
            is_whole: false,
            greatest_number: u32::try_from(greatest).unwrap_or(u32::MAX - 1),
        }
    }

    fn line(&mut self, mut line: Cursor<'_>) -> Result<(), ReadError> {
        line.skip_blanks();
        if line.rest().starts_with(ANY_VERSION.as_bytes()) {
            self.version = match line.rest().trim_ascii_end() {
                word if word == MAGIC.as_bytes() => Version::Present,
                word if EARLIER.iter().any(|earlier| word == earlier.as_bytes()) => {
                    Version::Earlier
                }
                _ => return Err(line.expected(&format!("'{MAGIC}', 2 or 1, the versions known"))),
            };
        }
        let is_saved = self.version != Version::Plain;
        if is_saved && line.rest().trim_ascii_end() == FROM_LEAVES.as_bytes() {
            self.orders.roots.get_or_insert_default();
        }
        if is_saved && line.rest().trim_ascii_end() == PAPER_DIVIDERS.as_bytes() {
            self.orders.dividers = Some(LevelDividers::default());
        } else if is_saved && line.take(DIVIDERS) {
            self.orders.dividers = Some(level_dividers(line)?);
            return Ok(());
        }
        if is_saved && line.take(GIVEN_ROOTS) {
            self.orders.given_roots = given_roots(line)?;
            return Ok(());
        }
        if is_saved && line.take(TYPES) {
            self.orders.type_starts = type_starts(line)?;
            return Ok(());
        }
        if self.version == Version::Present && line.take(END) {
            return self.end(line);
        }
        if line.rest().is_empty() || line.rest().starts_with(b"#") {
            return Ok(());
        }
        if self.is_whole {
            return Err(line.error("the file has lines after its end; it may be two files in one"));
        }
        let guid = line.guid()?;
        if !matches!(line.rest().first(), None | Some(b' ' | b'\t' | b'#')) {
            return Err(line.expected("a blank after the GUID"));
        }
        self.listed += 1;
        match self.version {
            Version::Plain => {
                self.plain.push(guid);
                Ok(())
            }
            _ => self.saved_line(guid, line),
        }
    }

    /// Reads the number of lines at the end.
    fn end(&mut self, mut line: Cursor<'_>) -> Result<(), ReadError> {
        let here = line;
        let lines = line.decimal("a number of lines", 0, u32::MAX)?;
        let listed = self.listed;
        if lines != listed {
            let message = format!(
                "{lines} lines were written, but the file has {listed}; some are missing, so copy the file again"
            );
            return Err(here.error(message));
        }
        self.is_whole = true;
        Ok(())
    }

    /// Reads a line of a saved file, after its GUID.
    fn saved_line(&mut self, guid: Guid, mut line: Cursor<'_>) -> Result<(), ReadError> {
        line.skip_blanks();
        let here = line;
        let greatest = self.greatest_number;
        let is_present = self.version == Version::Present;
        let orders = &mut self.orders;
        match line.word() {
            b"node" if is_present => {
                let (guids, places) = (&mut orders.nodes, &mut orders.node_places);
                NumberedList { guids, places, greatest }.read(guid, line)?;
            }
            b"other" if is_present => {
                let (guids, places) = (&mut orders.others, &mut orders.other_places);
                NumberedList { guids, places, greatest }.read(guid, line)?;
            }
            b"cable" if is_present => {
                line.skip_blanks();
                let port = PortNumber(line.decimal("a port", 1, PortNumber::MAX.0.into())? as u8);
                line.skip_blanks();
                let (a, b) = (SavedPlace { switch: guid, port }, place(&mut line)?);
                orders.cables.push(SavedCable(a.min(b), a.max(b)));
            }
            b"node" => orders.nodes.push(guid),
            b"other" => orders.others.push(guid),
            b"switch" => orders.switches.push(guid),
            b"group" => orders.groups.push(guid),
            b"leaf" => orders.leaves.push(guid),
            b"root" => orders.roots.get_or_insert_default().push(guid),
            _ => {
                let words = "'node', 'other', 'switch', 'group', 'leaf', 'root' or 'cable'";
                return Err(here.expected(words));
            }
        }
        Ok(())
    }

    fn finish(mut self, last: Option<Cursor<'_>>) -> Result<SavedOrders, ReadError> {
        let Some(last) = last.filter(|_| self.version != Version::Plain) else {
            return match self.plain.is_empty() {
                true => {
                    let message = "the file lists no GUID; expected one GUID in each line".into();
                    Err(ReadError { line: 1, column: 1, message })
                }
                false => Ok(SavedOrders::plain(self.plain)),
            };
        };
        let is_cut_off = match self.version {
            Version::Present => !self.is_whole,
            // Files of earlier versions do not count their lines, but each of the lines ended.
            _ => !last.rest().is_empty(),
        };
        if is_cut_off {
            return Err(last.error(
                "the end of the file is missing; copy the file again, or save the orders again",
            ));
        }
        clear_if_unknown(&mut self.orders.node_places);
        clear_if_unknown(&mut self.orders.other_places);
        self.orders.cables.sort_unstable();
        Ok(self.orders)
    }
}

/// A list of nodes by number, and their places.
struct NumberedList<'a> {
    guids: &'a mut Vec<Guid>,
    places: &'a mut Vec<Option<SavedPlace>>,
    greatest: u32,
}

impl NumberedList<'_> {
    /// Reads a number and a place, and puts the node there.
    fn read(self, guid: Guid, mut line: Cursor<'_>) -> Result<(), ReadError> {
        let NumberedList { guids, places, greatest } = self;
        line.skip_blanks();
        let here = line;
        let number = line.decimal("a number", 0, greatest)? as usize;
        line.skip_blanks();
        let place = match line.rest().first() {
            Some(b'-') => None,
            _ => Some(place(&mut line)?),
        };
        if guids.len() <= number {
            guids.resize(number + 1, Guid(0));
            places.resize(number + 1, None);
        }
        if guids[number].0 != 0 || places[number].is_some() {
            return Err(here.error(format!("the number {number} is given twice")));
        }
        (guids[number], places[number]) = (guid, place);
        Ok(())
    }
}

/// Reads GUIDs until the end of the line, and sorts them.
fn given_roots(mut line: Cursor<'_>) -> Result<Vec<Guid>, ReadError> {
    let mut roots = vec![];
    line.skip_blanks();
    while !line.rest().is_empty() {
        roots.push(line.guid()?);
        if !matches!(line.rest().first(), None | Some(b' ' | b'\t')) {
            return Err(line.expected("a blank after the GUID"));
        }
        line.skip_blanks();
    }
    roots.sort_unstable();
    Ok(roots)
}

/// Reads the first numbers of types, which ascend.
fn type_starts(mut line: Cursor<'_>) -> Result<Vec<u32>, ReadError> {
    let mut starts = vec![];
    loop {
        let least = starts.last().copied().unwrap_or(0);
        starts.push(line.decimal("the first number of a type", least, u32::MAX)?);
        line.skip_blanks();
        if line.rest().is_empty() {
            return Ok(starts);
        }
    }
}

/// Reads the dividers of levels: `up`, the rules of all ranks, `down`, and those again; then perhaps `from root` and how many
/// ranks there are.
fn level_dividers(mut line: Cursor<'_>) -> Result<LevelDividers, ReadError> {
    line.expect("up")?;
    let up = level_rules(&mut line)?;
    line.expect("down")?;
    let levels = LevelDividers::new(up, level_rules(&mut line)?);
    if line.rest().is_empty() {
        return Ok(levels);
    }
    if !line.take("from root ") {
        return Err(line.expected("a divider, '-', or 'from root'"));
    }
    let counted = line.decimal("a number of ranks", 1, u32::MAX)?;
    match line.rest().is_empty() {
        true => Ok(levels.counted_from_root(counted)),
        false => Err(line.expected("the end of the line")),
    }
}

/// Reads rules such as `-`, `8`, `8/2` and `-/2`, as long as there are any.
fn level_rules(line: &mut Cursor<'_>) -> Result<Vec<LevelRule>, ReadError> {
    let mut rules = vec![];
    line.skip_blanks();
    while let Some(b'-' | b'0'..=b'9') = line.rest().first() {
        let group = match line.take("-") {
            true => None,
            false => Some(line.decimal("a divider", 1, u32::MAX)?),
        };
        let port = match line.take("/") {
            true => Some(line.decimal("a divider", 1, u32::MAX)?),
            false => None,
        };
        if !matches!(line.rest().first(), None | Some(b' ' | b'\t')) {
            return Err(line.expected("a blank after the divider"));
        }
        rules.push(LevelRule { group, port });
        line.skip_blanks();
    }
    Ok(rules)
}

/// Reads a port of a switch, as `GUID/PORT`.
fn place(line: &mut Cursor<'_>) -> Result<SavedPlace, ReadError> {
    let switch = line.hex("a place: GUID/PORT, or '-'").map(Guid)?;
    line.expect("/")?;
    let port = line.decimal("a port", 1, PortNumber::MAX.0.into())? as u8;
    Ok(SavedPlace { switch, port: PortNumber(port) })
}

/// Clears a list of places in which none is known.
fn clear_if_unknown(places: &mut Vec<Option<SavedPlace>>) {
    if places.iter().all(Option::is_none) {
        places.clear();
    }
}
