//! The parts of a fabric that can fail.

use crate::id::{CableIndex, SwitchIndex};

/// A part of a fabric that can fail and be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// A switch, with all its cables.
    Switch(SwitchIndex),
    /// A cable.
    Cable(CableIndex),
}
