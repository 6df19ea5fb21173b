//! Update plans as text, which `dmodc plan` writes for programs that upload tables: one line for each write of a block.
//!
//! ```text
//! 2 0x0002c90100000001 3 0x00c1:5 0x00d0:255
//! ```
//!
//! In round 2, block 3 of this switch (the LIDs 192 to 255) is written, with new entries for two LIDs; 255 is no route.
//! The other entries of the block stay as they are at that moment. Lines are sorted by round, then by switch, then by
//! block.

use std::io::{self, Write};

use dmodc::judge::UploadPlan;
use dmodc::{Fabric, ForwardingTables, NO_ROUTE, PortNumber};

use crate::scan::printable;

/// Comments for readers of the file.
const HEADING: &str = "\
# round, switch, block of 64 LIDs, and LID:port of every entry that becomes new then (port 255: no route)
# Other entries of the block stay as they are. The writes of a round may be sent in any order; the next
# round starts when all of them are answered.
";

/// Writes a plan that ends in these new tables.
///
/// # Errors
/// The error of the writer.
pub fn write(
    fabric: &Fabric,
    plan: &UploadPlan,
    new: &ForwardingTables,
    comments: &[String],
    out: &mut impl Write,
) -> io::Result<()> {
    for comment in comments {
        writeln!(out, "# {}", printable(comment))?;
    }
    out.write_all(HEADING.as_bytes())?;
    let lids: Vec<String> =
        new.columns().destinations().iter().map(|d| format!(" 0x{:04x}:", d.lid.0)).collect();
    let ports: Vec<String> = (0..=NO_ROUTE).map(|port| port.to_string()).collect();
    let mut line = Vec::new();
    for write in plan.writes() {
        line.clear();
        let guid = fabric.switch(write.switch).guid;
        write!(line, "{} {guid} {}", write.round, write.block)?;
        for column in plan.columns(write) {
            let PortNumber(port) = new.port(write.switch, column).unwrap_or(PortNumber(NO_ROUTE));
            line.extend_from_slice(lids[column].as_bytes());
            line.extend_from_slice(ports[usize::from(port)].as_bytes());
        }
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}
