//! Forwarding tables as an array, which `dmodc route -o x.npy` writes: NumPy's `.npy`, and a JSON file next to it that labels
//! rows and columns.
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
//! | member | meaning |
//! |---|---|
//! | `schema` | [`SCHEMA`]; the number changes when readers of the old one would misread the new one |
//! | `fabric` | the digest of the switches' GUIDs and the destinations' LIDs and GUIDs, in any order: the same for every format of a fabric and whatever cables between switches are dead |
//! | `digest` | the digest of the entries and of the three lists: an array and labels of two different runs do not fit |
//! | `switches` | the GUID of each row, a text, as JSON's numbers are not exact to 64 bits |
//! | `lids` | the LID of each column, ascending |
//! | `guids` | the GUID of each column: of a node's port, or of a switch |
//!
//! Tables are matched with a fabric as those of dumps are: switches by GUID, destinations by GUID. Wherever dumps of
//! another state of the same fabric are accepted, such arrays are, too. Tables of another fabric are refused: those that
//! have another `fabric` digest and share less than half of the switches, by GUID and LID.

mod error;
mod header;
mod labels;
mod read;
mod write;

pub use error::NpyError;
pub use labels::ArrayLabels;
pub use read::{detect, read};
pub use write::write;

use dmodc::{Digest, SwitchIndex, Tile};

/// The value of the member `schema`.
pub const SCHEMA: &str = "dmodc/tables/1";

/// The suffix that the name of an array gets to name its labels.
pub const LABELS: &str = ".json";

/// Returns the digest of the bytes in one of many places.
fn digest(place: usize, bytes: &[u8]) -> Digest {
    let tile = Tile { index: 0, switches: 0..1, columns: 0..bytes.len() };
    Digest::row(SwitchIndex::new(place), &tile, bytes)
}

#[cfg(test)]
mod tests;
