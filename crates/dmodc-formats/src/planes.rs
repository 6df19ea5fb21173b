//! The planes of XDR ports, where a file has them.
//!
//! An XDR port of four lanes may be four plane ports of one lane each (`1xXDR`), which lead into four planes. To whoever
//! discovers the fabric, these are ports of their own with cables of their own. `ibnetdiscover` prints them like any
//! other port and does not say which plane each belongs to. ibdiagnet does: in the columns `Plane` and `NumOfPlanes` of
//! PORT_HIERARCHY_INFO, and at the end of a port's extended label (`sw12p1pl3` is plane 3).

use std::collections::BTreeMap;

/// The number of ports of each plane; empty if the file has no planes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planes(BTreeMap<u8, usize>);

impl Planes {
    /// Counts a port of a plane.
    pub(crate) fn note(&mut self, plane: u8) {
        *self.0.entry(plane).or_default() += 1;
    }

    /// Returns whether the file has no planes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of each plane, and the number of its ports.
    pub fn ports(&self) -> impl ExactSizeIterator<Item = (u8, usize)> {
        self.0.iter().map(|(&plane, &ports)| (plane, ports))
    }
}

/// Returns the plane at the end of a port label: 3 for `sw12p1pl3`, `None` for `1/1/1`.
pub(crate) fn of_label(label: &[u8]) -> Option<u8> {
    let at = memchr::memmem::rfind(label, b"pl")?;
    std::str::from_utf8(&label[at + 2..]).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_stand_at_the_end_of_labels() {
        for (label, plane) in [
            ("sw12p1pl3", Some(3)),
            ("sw1p2s1pl4", Some(4)),
            ("ibB65D0F0sw1p1pl1", Some(1)),
            ("sw12p1", None),
            ("1/1/1", None),
            ("1/12/2/1", None),
            ("plane", None),
            ("pl", None),
            ("pl999", None),
            ("", None),
        ] {
            assert_eq!(of_label(label.as_bytes()), plane, "{label}");
        }
    }
}
