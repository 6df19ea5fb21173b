//! Switches about which the detection of leaves is uncertain.

use std::fmt;

use crate::id::SwitchIndex;

/// A switch for which the fabric alone does not show clearly whether it is a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The switch.
    pub switch: SwitchIndex,
    /// Whether it was taken for a leaf.
    pub is_leaf: bool,
    /// Why it is uncertain.
    pub why: DoubtReason,
}

/// Why it is uncertain whether a switch is a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DoubtReason {
    /// It has about as many nodes as leaves have, but is cabled to leaves.
    NodesOfALeaf,
    /// Only a part of its neighbours are those of a leaf.
    PartlyCabledAsALeaf,
    /// It is far from all other leaves, as a leaf of a subtree without (many) nodes is.
    FarFromLeaves,
}

impl fmt::Display for DoubtReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DoubtReason::NodesOfALeaf => {
                "has about as many nodes as a leaf, and is cabled to leaves"
            }
            DoubtReason::PartlyCabledAsALeaf => "is cabled only partly like a leaf",
            DoubtReason::FarFromLeaves => "is far from all other leaves",
        })
    }
}
