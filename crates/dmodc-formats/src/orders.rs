//! Order files: both orders of a fabric, or a plain list of GUIDs.
//!
//! A plain list has one GUID a line; the rest of a line and `#` comments are ignored, as in OpenSM's
//! GUID files. A file saved by us says [`MAGIC`] on top, and the word behind each GUID names its list:
//! `node`, `other` and `switch` are destinations, numbered by their place among their kind, `group`
//! are switches in the order that sorts port groups, and `leaf` are the switches that are leaves. Files of
//! the first version have no `leaf` lines; they are read all the same. What ranks are counted from is saved as
//! well: the comment [`FROM_LEAVES`] says that it is the leaves; `root` are the switches that stand in for each
//! other as the single root, the first choice first. A file with neither leaves that open.

use std::io::{self, Write};

use dmodc::{Fabric, Guid, SavedOrders};

use crate::ReadError;
use crate::scan::{lines, printable};

/// The comment that makes a file a saved one: it stands before the first GUID.
pub const MAGIC: &str = "# dmodc orders 2";

/// The same of the first version.
const FIRST: &str = "# dmodc orders 1";

/// The comment that says that ranks are counted from the leaves.
pub const FROM_LEAVES: &str = "# ranks from leaves";

/// What it begins with in any version.
const ANY_VERSION: &str = "# dmodc orders ";

/// Reads an order file.
///
/// # Errors
/// The first line that does not begin with a GUID, or whose word is none of the six.
pub fn read(text: &[u8]) -> Result<SavedOrders, ReadError> {
    let mut saved = false;
    let mut orders = SavedOrders::default();
    let mut plain = Vec::new();
    for mut line in lines(text) {
        line.skip_blanks();
        if line.rest().starts_with(ANY_VERSION.as_bytes()) {
            let known = [MAGIC, FIRST].map(str::as_bytes);
            if !known.contains(&line.rest().trim_ascii_end()) {
                return Err(line.expected(&format!("'{MAGIC}' or 1, the versions known")));
            }
            saved = true;
        }
        if saved && line.rest().trim_ascii_end() == FROM_LEAVES.as_bytes() {
            orders.roots.get_or_insert_default();
        }
        if line.rest().is_empty() || line.rest().starts_with(b"#") {
            continue;
        }
        let guid = line.guid()?;
        if !matches!(line.rest().first(), None | Some(b' ' | b'\t' | b'#')) {
            return Err(line.expected("a blank after the GUID"));
        }
        if !saved {
            plain.push(guid);
            continue;
        }
        line.skip_blanks();
        let here = line;
        match line.word() {
            b"node" => orders.nodes.push(guid),
            b"other" => orders.others.push(guid),
            b"switch" => orders.switches.push(guid),
            b"group" => orders.groups.push(guid),
            b"leaf" => orders.leaves.push(guid),
            b"root" => orders.roots.get_or_insert_default().push(guid),
            _ => {
                let words = "'node', 'other', 'switch', 'group', 'leaf' or 'root'";
                return Err(here.expected(words));
            }
        }
    }
    match saved {
        true => Ok(orders),
        false if plain.is_empty() => {
            let message = "no GUID is listed here".into();
            Err(ReadError { line: 1, column: 1, message })
        }
        false => Ok(SavedOrders::plain(plain)),
    }
}

/// Writes both orders; the fabric lends the names.
///
/// # Errors
/// What the writer says.
pub fn write(orders: &SavedOrders, fabric: &Fabric, out: &mut impl Write) -> io::Result<()> {
    let mut names: std::collections::HashMap<Guid, &str> =
        fabric.switches().iter().map(|s| (s.guid, &*s.name)).collect();
    for n in fabric.node_indices() {
        names.insert(fabric.node(n).guid, &fabric.adapter_of(n).name);
    }
    writeln!(out, "{MAGIC}")?;
    writeln!(out, "# Give this back with --orders, so that a degraded fabric is numbered alike.")?;
    if orders.roots.as_ref().is_some_and(Vec::is_empty) {
        writeln!(out, "{FROM_LEAVES}")?;
    }
    let no_roots = vec![];
    let lists = [
        ("root", orders.roots.as_ref().unwrap_or(&no_roots)),
        ("node", &orders.nodes),
        ("other", &orders.others),
        ("switch", &orders.switches),
        ("group", &orders.groups),
        ("leaf", &orders.leaves),
    ];
    for (word, list) in lists {
        for guid in list {
            let name = printable(names.get(guid).unwrap_or(&""));
            writeln!(out, "{guid} {word} {name}")?;
        }
    }
    Ok(())
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
            ("# dmodc orders 3\n0x1 node a\n", "1:1: expected '# dmodc orders 2' or 1, the"),
            (
                "# dmodc orders 1\n0x1 host a\n",
                "2:5: expected 'node', 'other', 'switch', 'group', 'leaf' or 'root'",
            ),
        ] {
            let found = read(text.as_bytes()).unwrap_err().to_string();
            assert!(found.starts_with(message), "{text:?}: {found}");
        }
    }
}
