//! The text that `ibnetdiscover` prints, in all its modes, the dialect of ibdiagnet, and ibsim netlists.
//!
//! One record for each device: some `key=value` lines, a head line, and a line for each cabled port,
//! so each cable is told by both its ends. Netlists name devices freely; such a name is given a GUID
//! in the order of first sight. `-g` adds headings and may describe a device again, `-s` adds lines
//! with paths, `--diff` marks lines with `<` (before) and `>` (after); what was before is passed over.

mod read;
mod write;

pub(crate) use read::{detect, read};
pub use write::write;
