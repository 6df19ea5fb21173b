//! Order files: both orders of a fabric, or a plain list of GUIDs.
//!
//! A plain list has one GUID a line; the rest of a line and `#` comments are ignored, as in OpenSM's
//! GUID files. A file saved by us says [`MAGIC`] on top, and the word behind each GUID says what the line is about:
//!
//! | line | meaning |
//! |---|---|
//! | `GUID node NUMBER SWITCH/PORT NAME` | the node on a leaf with this number, and its place; GUID 0 for a place that is empty, `-` for a place that is not known |
//! | `GUID other NUMBER SWITCH/PORT NAME` | the same of other nodes, which are numbered apart |
//! | `GUID switch NAME` | a switch as a destination, numbered by its position among these lines |
//! | `GUID group NAME` | the switches in the order that sorts port groups |
//! | `GUID leaf NAME` | a switch that is a leaf; of the others listed, none is |
//! | `GUID root NAME` | the switches that stand in for each other as the single root that ranks are counted from, the first choice first; the comment [`FROM_LEAVES`] says that it is the leaves instead |
//! | `GUID cable PORT SWITCH/PORT` | a cable between switches, by which a replaced switch is known |
//!
//! The last line says how many of these lines there are, so that a file that was cut off is not taken for a whole one. Earlier versions are
//! read all the same: in files of the first two, nodes are numbered by their position, and nothing is known of places and cables; files of the
//! first do not list leaves.

use std::collections::HashMap;
use std::io::{self, Write};

use dmodc::{Fabric, Guid, PortNumber, SavedCable, SavedOrders, SavedPlace};

use crate::ReadError;
use crate::scan::{Cursor, lines, printable};

/// The comment that makes a file a saved one: it stands before the first GUID.
pub const MAGIC: &str = "# dmodc orders 3";

/// The same of earlier versions.
const EARLIER: [&str; 2] = ["# dmodc orders 1", "# dmodc orders 2"];

/// The comment that says that ranks are counted from the leaves.
pub const FROM_LEAVES: &str = "# ranks from leaves";

/// What it begins with in any version.
const ANY_VERSION: &str = "# dmodc orders ";

/// What the last line begins with; the number of lines with a GUID follows.
const END: &str = "# end ";

/// Numbers of nodes are positions of a list in memory, so they are bounded by how many there are: so many times that, and a few more.
const SPARSE: usize = 16;
const FEW: usize = 1 << 16;

/// How a file is to be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    Plain,
    /// Numbers are positions.
    Earlier,
    Present,
}

/// Reads an order file.
///
/// # Errors
/// The first line that is not as it should be, or that the file is not whole.
pub fn read(text: &[u8]) -> Result<SavedOrders, ReadError> {
    let mut version = Version::Plain;
    let mut orders = SavedOrders::default();
    let mut plain = Vec::new();
    let (mut listed, mut is_whole) = (0u32, false);
    let lines_with_numbers = memchr::memmem::find_iter(text, " node ").count()
        + memchr::memmem::find_iter(text, " other ").count();
    let most = u32::try_from(lines_with_numbers * SPARSE + FEW).unwrap_or(u32::MAX - 1);
    let mut last = None;
    for mut line in lines(text) {
        last = Some(line);
        line.skip_blanks();
        if line.rest().starts_with(ANY_VERSION.as_bytes()) {
            version = match line.rest().trim_ascii_end() {
                word if word == MAGIC.as_bytes() => Version::Present,
                word if EARLIER.iter().any(|earlier| word == earlier.as_bytes()) => {
                    Version::Earlier
                }
                _ => return Err(line.expected(&format!("'{MAGIC}', 2 or 1, the versions known"))),
            };
        }
        let is_saved = version != Version::Plain;
        if is_saved && line.rest().trim_ascii_end() == FROM_LEAVES.as_bytes() {
            orders.roots.get_or_insert_default();
        }
        if version == Version::Present && line.take(END) {
            let here = line;
            let lines = line.decimal("a number of lines", 0, u32::MAX)?;
            if lines != listed {
                let message =
                    format!("{lines} lines were written, but {listed} are here: some are lost");
                return Err(here.error(message));
            }
            is_whole = true;
            continue;
        }
        if line.rest().is_empty() || line.rest().starts_with(b"#") {
            continue;
        }
        if is_whole {
            return Err(line.error("the file ends before this line"));
        }
        let guid = line.guid()?;
        if !matches!(line.rest().first(), None | Some(b' ' | b'\t' | b'#')) {
            return Err(line.expected("a blank after the GUID"));
        }
        listed += 1;
        match version {
            Version::Plain => plain.push(guid),
            _ => saved_line(&mut orders, guid, line, version, most)?,
        }
    }
    let Some(last) = last.filter(|_| version != Version::Plain) else {
        return match plain.is_empty() {
            true => Err(ReadError { line: 1, column: 1, message: "no GUID is listed here".into() }),
            false => Ok(SavedOrders::plain(plain)),
        };
    };
    let is_cut = match version {
        Version::Present => !is_whole,
        // All that is known of them: each of their lines ended.
        _ => !last.rest().is_empty(),
    };
    if is_cut {
        return Err(last.error("the file is cut off here: its end is missing"));
    }
    forget_nothing(&mut orders.node_places);
    forget_nothing(&mut orders.other_places);
    orders.cables.sort_unstable();
    Ok(orders)
}

/// Reads what follows the GUID.
fn saved_line(
    orders: &mut SavedOrders,
    guid: Guid,
    mut line: Cursor<'_>,
    version: Version,
    most: u32,
) -> Result<(), ReadError> {
    line.skip_blanks();
    let here = line;
    let present = version == Version::Present;
    match line.word() {
        b"node" if present => {
            numbered(&mut orders.nodes, &mut orders.node_places, guid, line, most)?;
        }
        b"other" if present => {
            numbered(&mut orders.others, &mut orders.other_places, guid, line, most)?;
        }
        b"cable" if present => {
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

/// Reads a number and a place, and puts them into a list.
fn numbered(
    guids: &mut Vec<Guid>,
    places: &mut Vec<Option<SavedPlace>>,
    guid: Guid,
    mut line: Cursor<'_>,
    most: u32,
) -> Result<(), ReadError> {
    line.skip_blanks();
    let here = line;
    let number = line.decimal("a number", 0, most)? as usize;
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

/// A port of a switch, as `GUID/PORT`.
fn place(line: &mut Cursor<'_>) -> Result<SavedPlace, ReadError> {
    let switch = line.hex("a place: GUID/PORT, or '-'").map(Guid)?;
    line.expect("/")?;
    let port = line.decimal("a port", 1, PortNumber::MAX.0.into())? as u8;
    Ok(SavedPlace { switch, port: PortNumber(port) })
}

/// Where nothing is known of places, there is no list of them.
fn forget_nothing(places: &mut Vec<Option<SavedPlace>>) {
    if places.iter().all(Option::is_none) {
        places.clear();
    }
}

/// Writes both orders; the fabric lends the names.
///
/// # Errors
/// What the writer says.
pub fn write(orders: &SavedOrders, fabric: &Fabric, out: &mut impl Write) -> io::Result<()> {
    let mut names: HashMap<Guid, &str> =
        fabric.switches().iter().map(|s| (s.guid, &*s.name)).collect();
    for n in fabric.node_indices() {
        names.insert(fabric.node(n).guid, &fabric.adapter_of(n).name);
    }
    let name = |guid: &Guid| printable(names.get(guid).unwrap_or(&""));
    writeln!(out, "{MAGIC}")?;
    writeln!(out, "# Give this back with --orders, so that a degraded fabric is numbered alike.")?;
    if orders.roots.as_ref().is_some_and(Vec::is_empty) {
        writeln!(out, "{FROM_LEAVES}")?;
    }
    let mut lines = 0;
    let no_roots = vec![];
    for guid in orders.roots.as_ref().unwrap_or(&no_roots) {
        lines += 1;
        writeln!(out, "{guid} root {}", name(guid))?;
    }
    let kinds = [
        ("node", &orders.nodes, &orders.node_places),
        ("other", &orders.others, &orders.other_places),
    ];
    for (word, guids, places) in kinds {
        for (number, guid) in guids.iter().enumerate() {
            let place = places.get(number).copied().flatten();
            // The last line says how long the list is.
            if guid.0 == 0 && place.is_none() && number + 1 < guids.len() {
                continue;
            }
            lines += 1;
            match place {
                Some(SavedPlace { switch, port }) => {
                    writeln!(out, "{guid} {word} {number} {switch}/{port} {}", name(guid))?;
                }
                None => writeln!(out, "{guid} {word} {number} - {}", name(guid))?,
            }
        }
    }
    let lists = [("switch", &orders.switches), ("group", &orders.groups), ("leaf", &orders.leaves)];
    for (word, list) in lists {
        for guid in list {
            lines += 1;
            writeln!(out, "{guid} {word} {}", name(guid))?;
        }
    }
    for SavedCable(a, b) in &orders.cables {
        lines += 1;
        writeln!(out, "{} cable {} {}/{}", a.switch, a.port, b.switch, b.port)?;
    }
    writeln!(out, "{END}{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::{Degradation, Live, Pgft, Routing};

    #[test]
    fn saved_orders_read_back_the_same() {
        let fabric = "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        let saved = Routing::new(live, &Default::default()).orders().save(live);
        let mut text = Vec::new();
        write(&saved, &fabric, &mut text).unwrap();
        assert_eq!(read(&text).unwrap(), saved);
        let remark = [b"# the healthy fabric\n", &text[..]].concat();
        assert_eq!(read(&remark).unwrap(), saved);
    }

    /// A file that lost its end, however much of it, is not taken for a whole one.
    #[test]
    fn files_that_were_cut_off_are_refused() {
        let fabric = "2; 2,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let saved = Routing::orders_of(&fabric, &Default::default());
        let mut text = Vec::new();
        write(&saved, &fabric, &mut text).unwrap();
        for length in MAGIC.len() + 1..text.len() - 1 {
            assert!(read(&text[..length]).is_err(), "{length} of {} bytes", text.len());
        }
        assert_eq!(read(&text[..text.len() - 1]), Ok(saved), "only the last line end is missing");
        let earlier = b"# dmodc orders 2\n0x1 node a\n0x2 node b\n";
        assert_eq!(read(earlier).unwrap().nodes, [Guid(1), Guid(2)]);
        let cut = read(&earlier[..earlier.len() - 1]).unwrap_err();
        assert_eq!(cut.to_string(), "3:1: the file is cut off here: its end is missing");
    }

    #[test]
    fn empty_and_unknown_places_and_far_numbers_are_saved() {
        let fabric = "2; 1,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let place = |port| SavedPlace { switch: Guid(5), port: PortNumber(port) };
        let saved = SavedOrders {
            nodes: vec![Guid(1), Guid(0), Guid(0), Guid(4), Guid(0)],
            node_places: vec![Some(place(1)), Some(place(2)), None, None, None],
            others: vec![Guid(6)],
            cables: vec![SavedCable(place(3), place(4))],
            ..SavedOrders::default()
        };
        let mut text = Vec::new();
        write(&saved, &fabric, &mut text).unwrap();
        assert_eq!(read(&text).unwrap(), saved, "{}", String::from_utf8_lossy(&text));
    }

    #[test]
    fn what_ranks_are_counted_from_is_saved_or_left_open() {
        let fabric = "2; 1,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
        for roots in [None, Some(vec![]), Some(vec![Guid(7), Guid(3)])] {
            let saved = SavedOrders { roots, groups: vec![Guid(9)], ..SavedOrders::default() };
            let mut text = Vec::new();
            write(&saved, &fabric, &mut text).unwrap();
            assert_eq!(read(&text).unwrap(), saved);
        }
        // A file of an earlier version, and a plain list, leave it open.
        assert_eq!(read(b"# dmodc orders 1\n0x1 group a\n").unwrap().roots, None);
        assert_eq!(read(b"# ranks from leaves\n0x1\n").unwrap().roots, None);
    }

    #[test]
    fn plain_lists_are_read_and_nonsense_is_refused() {
        let list = read(b"# roots\n0x02 spine one\n\n  3 # a comment\n").unwrap();
        assert_eq!(list, SavedOrders::plain(vec![Guid(2), Guid(3)]));
        for (text, message) in [
            ("", "1:1: no GUID is listed here"),
            ("0x1\nspine\n", "2:1: expected a GUID, found 'spine'"),
            ("0x1g\n", "1:4: expected a blank after the GUID"),
            ("# dmodc orders 4\n0x1 node a\n", "1:1: expected '# dmodc orders 3', 2 or 1, the"),
            (
                "# dmodc orders 1\n0x1 host a\n",
                "2:5: expected 'node', 'other', 'switch', 'group', 'leaf', 'root' or 'cable'",
            ),
            ("# dmodc orders 3\n0x1 node a\n", "2:10: expected a number from 0 to"),
            ("# dmodc orders 3\n0x1 node 4294967295 -\n", "2:10: expected a number from 0 to"),
            ("# dmodc orders 3\n0x1 node 0 leaf\n", "2:12: expected a place: GUID/PORT, or '-'"),
            ("# dmodc orders 3\n0x1 node 0 0x2/0 a\n", "2:16: expected a port from 1 to 254"),
            (
                "# dmodc orders 3\n0x1 node 0 -\n0x2 node 0 -\n# end 2\n",
                "3:10: the number 0 is given twice",
            ),
            ("# dmodc orders 3\n# end 0\n0x1 node 0 -\n", "3:1: the file ends before this line"),
            ("# dmodc orders 3\n0x1 node 0 -\n# end 2\n", "3:7: 2 lines were written, but 1"),
        ] {
            let found = read(text.as_bytes()).unwrap_err().to_string();
            assert!(found.starts_with(message), "{text:?}: {found}");
        }
    }
}
