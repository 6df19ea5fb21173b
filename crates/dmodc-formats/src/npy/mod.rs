//! Forwarding tables as an array: NumPy's `.npy`, and a JSON file next to it that labels rows and columns.
//!
//! `x.npy` is an array of bytes (format version 1.0, `|u1`, C order) with a row for each switch and a column
//! for each LID; an entry is a port, 0 is the switch itself, 255 is "no route". `x.npy.json` has the labels:
//!
//! ```json
//! {
//! "schema": "dmodc/tables/1",
//! "fabric": "5be1c2a4f00d1234",
//! "digest": "0123456789abcdef",
//! "no_route": 255,
//! "switches": ["0x02d0dc0100000001"],
//! "lids": [1, 2],
//! "guids": ["0x02d0dc0000000011", "0x02d0dc0100000001"]
//! }
//! ```
//!
//! | member | what it is |
//! |---|---|
//! | `schema` | [`SCHEMA`]; the number changes when a reader of the old one would err |
//! | `fabric` | the digest of the switches' GUIDs and the destinations' LIDs and GUIDs, in any order: the same for every format of a fabric and whatever cables between switches are dead |
//! | `digest` | the digest of the entries and of the three lists: an array and labels of two different runs do not fit |
//! | `switches` | the GUID of each row, a text, as JSON's numbers are not exact to 64 bits |
//! | `lids` | the LID of each column, ascending |
//! | `guids` | the GUID of each column: of a node's port, or of a switch |
//!
//! Tables are matched with a fabric as those of dumps are: switches by GUID, destinations by GUID. Tables of
//! another state of the fabric are fine where dumps of one are. Tables of another fabric are refused: those
//! that have another `fabric` digest, and share less than half of the switches, by GUID and LID.

mod header;
mod labels;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use labels::Labels;
pub use read::{NpyError, detect, read};
pub use write::write;

use dmodc::{Digest, SwitchIndex, Tile};

/// What the member `schema` says.
pub const SCHEMA: &str = "dmodc/tables/1";

/// What is appended to the name of the array to get that of its labels.
pub const LABELS: &str = ".json";

/// The digest of some bytes in one place of many.
fn digest(place: usize, bytes: &[u8]) -> Digest {
    let tile = Tile { index: 0, switches: 0..1, columns: 0..bytes.len() };
    Digest::row(SwitchIndex::new(place), &tile, bytes)
}
