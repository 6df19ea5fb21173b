//! Order files, which `dmodc route --save-orders` and the plugin write: both orders of a fabric. A plain list of GUIDs, one
//! per line, is read as well; the rest of its lines and `#` comments are ignored, as in OpenSM's GUID files.
//!
//! ```text
//! # dmodc orders 3
//! 0x02d0dc0000000011 node 0 0x02d0dc0100000001/1 node-0
//! 0x02d0dc0100000001 switch L1-0
//! # end 2
//! ```
//!
//! A saved file begins with [`MAGIC`], and the word after each GUID says what the line is about:
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
//! A comment has the dividers of levels: `# dividers up - - 1 down - - 1 8`, rank 0 first. `-` stands for Π of each switch,
//! and `8/2` for the divider 8 of groups and the divider 2 of ports. The comment [`PAPER_DIVIDERS`] says that all levels
//! follow the paper. If ranks are counted from roots, `from root 5` after it says that there are 5. Files without either leave the dividers
//! open; they are then measured on the fabric at hand. If the roots were given, the comment `# given roots 0x… 0x…` lists them: the dividers
//! are used only if these are given again, or all that the fabric still has of them.
//!
//! If nodes are numbered type by type, the comment `# types from 36 38` has the first number of each type after the first.
//!
//! The last line has the number of these lines, so that a file that was cut off is not taken for a whole one. Files of
//! earlier versions are read, too: in those of versions 1 and 2, nodes are numbered by their position, and places and
//! cables are not listed; those of version 1 do not list leaves either.

mod read;

use std::collections::HashMap;
use std::io::{self, Write};

use dmodc::{Fabric, Guid, SavedCable, SavedOrders, SavedPlace};

use crate::scan::printable;
pub use read::read;

/// The comment before the first GUID that distinguishes a saved file from a plain list.
pub const MAGIC: &str = "# dmodc orders 3";

/// The same comment in earlier versions.
const EARLIER: [&str; 2] = ["# dmodc orders 1", "# dmodc orders 2"];

/// The comment that says that ranks are counted from the leaves.
pub const FROM_LEAVES: &str = "# ranks from leaves";

/// The comment that says that all levels have the paper's dividers.
pub const PAPER_DIVIDERS: &str = "# dividers as in the paper";

/// The beginning of the comment with the dividers of levels.
const DIVIDERS: &str = "# dividers ";

/// The beginning of the comment with the roots that were given when the dividers were decided.
const GIVEN_ROOTS: &str = "# given roots ";

/// The beginning of the comment with the first numbers of types.
const TYPES: &str = "# types from ";

/// The beginning of the first comment in any version.
const ANY_VERSION: &str = "# dmodc orders ";

/// The beginning of the last line. The number of lines with a GUID follows.
const END: &str = "# end ";

/// Writes both orders, with the names that the fabric has.
///
/// # Errors
/// The error of the writer.
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
    match &orders.dividers {
        Some(levels) if levels.are_the_papers() => writeln!(out, "{PAPER_DIVIDERS}")?,
        Some(levels) => writeln!(out, "{DIVIDERS}{levels}")?,
        None => {}
    }
    if !orders.given_roots.is_empty() {
        let roots: Vec<String> = orders.given_roots.iter().map(Guid::to_string).collect();
        writeln!(out, "{GIVEN_ROOTS}{}", roots.join(" "))?;
    }
    if !orders.type_starts.is_empty() {
        let starts: Vec<String> = orders.type_starts.iter().map(u32::to_string).collect();
        writeln!(out, "{TYPES}{}", starts.join(" "))?;
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
            // The last one is written even if it is empty, because its number is the length of the list.
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
mod tests;
