//! Two fabrics as one: a reference and the present, matched by GUID.

mod matched;
mod union;

use std::collections::HashMap;
use std::fmt;

use super::{Degradation, Fabric, Part};
use crate::id::Guid;
use crate::words::counted;
use matched::Matched;

/// How many of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Switches.
    pub switches: usize,
    /// Nodes.
    pub nodes: usize,
    /// Cables between switches.
    pub cables: usize,
}

/// What became of a reference.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// What it has and is not there now.
    pub missing: Counts,
    /// What is there now and it has not.
    pub new: Counts,
    /// Cables in ports where it has others.
    pub recabled: usize,
    /// Nodes in other ports.
    pub moved: usize,
    /// Switches that took the place of others.
    pub replaced_switches: usize,
    /// Nodes that did.
    pub replaced_nodes: usize,
}

impl fmt::Display for Changes {
    /// In one line: what there is of each, or that there is nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let replaced =
            Counts { switches: self.replaced_switches, nodes: self.replaced_nodes, cables: 0 };
        let recabled = Counts { cables: self.recabled, ..Counts::default() };
        let moved = Counts { nodes: self.moved, ..Counts::default() };
        let all = [
            ("missing", self.missing),
            ("new", self.new),
            ("recabled", recabled),
            ("moved", moved),
            ("replaced", replaced),
        ];
        let mut between = "";
        for (word, counts) in all.into_iter().filter(|(_, counts)| *counts != Counts::default()) {
            write!(f, "{between}{word} {counts}")?;
            between = "; ";
        }
        f.write_str(if between.is_empty() { "nothing has changed" } else { "" })
    }
}

impl fmt::Display for Counts {
    /// Those of which there are any.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (self.switches, "switch", "switches"),
            (self.nodes, "node", "nodes"),
            (self.cables, "cable", "cables"),
        ];
        let mut between = "";
        for (count, one, several) in all.into_iter().filter(|(count, ..)| *count > 0) {
            write!(f, "{between}{count} {}", if count == 1 { one } else { several })?;
            between = ", ";
        }
        Ok(())
    }
}

/// A reference and the present fabric as one.
///
/// [`Stable`](crate::Stable) compares two states of one fabric; people have two files, one of the fabric as
/// it is when whole and one of today. This has everything of both, and two degradations: `then` lacks what
/// the reference lacks, `now` what the present lacks. What the present says wins:
///
/// - Names and LIDs are the present's. What is absent keeps its own, but where its LID is another's now it
///   gets a free one.
/// - A device has as many ports as the greater of both says. The lesser is no news: `ibnetdiscover -p` and
///   others have no line for a port that is down, so that readers count too few.
/// - A node is where it is plugged in now, in both states.
/// - A cable in a port that had another one is *recabled*: it takes that one's place in the reference, too,
///   for nobody will plug the old one in again. What is absent and finds its port in use is left out.
/// - A switch whose cables are in the ports of one that is absent, or a node in the port of one that is,
///   *replaces* it: it is that one by another GUID, with its place in all orders.
/// - Everything else that the reference does not know is new: dead then, alive now.
///
/// Switches, adapters and nodes have the present's indices; those that are absent follow.
#[derive(Clone, Debug)]
pub struct Joined {
    /// Everything of both.
    pub fabric: Fabric,
    /// What of it the reference lacks.
    pub then: Degradation,
    /// What of it the present lacks.
    pub now: Degradation,
    /// The differences, counted.
    pub changes: Changes,
    /// What the reference does not have as it is now: new, recabled, moved, a replacement, or described
    /// otherwise.
    pub news: Vec<Part>,
    /// From the GUID of who was replaced to that of the replacement.
    pub(crate) renamed: HashMap<Guid, Guid>,
}

impl Joined {
    /// Joins them. O(#ports).
    ///
    /// # Errors
    /// If they are different fabrics: they share fewer than half of the switches of the lesser one, or more
    /// cables of the present contradict the reference than agree with it.
    pub fn new(reference: &Fabric, present: &Fabric) -> Result<Self, OtherFabric> {
        let matched = Matched::new(reference, present);
        let about = OtherFabric {
            switches: (reference.switches().len(), present.switches().len()),
            known: matched.known,
            cables: matched.count_cables(),
        };
        match about.is_so() {
            true => Err(about),
            false => Ok(matched.join()),
        }
    }
}

/// Returns the switches of a fabric that took the place of others of a reference: from the GUID of the replaced to that of the
/// replacement. Who took it is cabled as the absent one was. O(#ports).
pub(crate) fn replaced_switches(reference: &Fabric, present: &Fabric) -> HashMap<Guid, Guid> {
    Matched::new(reference, present).renamed
}

/// A reference is of another fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OtherFabric {
    /// How many switches the reference and the present have.
    switches: (usize, usize),
    /// How many of them are the same.
    known: usize,
    /// Cables of the present that are where the reference has them, and where it has others.
    cables: (usize, usize),
}

impl OtherFabric {
    /// Returns whether the fabrics have different switches. Faults and growth both leave the lesser fabric inside the
    /// greater one.
    fn has_other_switches(&self) -> bool {
        let (reference, present) = self.switches;
        self.known == 0 || 2 * self.known < reference.min(present)
    }

    fn is_so(&self) -> bool {
        self.has_other_switches() || self.cables.1 > self.cables.0
    }
}

impl fmt::Display for OtherFabric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &OtherFabric { switches: (reference, present), known, cables: (same, other) } = self;
        f.write_str("the reference describes another fabric: ")?;
        match self.has_other_switches() {
            true => {
                write!(
                    f,
                    "only {known} of its {} are among the {present} of the present fabric",
                    counted(reference, "switch")
                )
            }
            false => {
                write!(
                    f,
                    "{} between switches are the same in both, but {} differ",
                    counted(same, "cable"),
                    counted(other, "cable")
                )
            }
        }
    }
}

impl std::error::Error for OtherFabric {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_one_line() {
        let mut changes = Changes::default();
        assert_eq!(changes.to_string(), "nothing has changed");
        changes.missing = Counts { switches: 1, nodes: 0, cables: 12 };
        (changes.moved, changes.replaced_nodes) = (1, 2);
        assert_eq!(
            changes.to_string(),
            "missing 1 switch, 12 cables; moved 1 node; replaced 2 nodes"
        );
    }
}
