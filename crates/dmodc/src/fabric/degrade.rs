//! Degradations: which cables and switches of a fabric are dead.

use super::{Fabric, FindError, Part};
use crate::bits::bits;
use crate::id::{CableIndex, SwitchIndex};

/// The faults of a fabric: a mask over its switches and cables, one bit for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Degradation {
    /// The cabling of the fabric that it belongs to.
    cabling: u64,
    switches: Bits,
    cables: Bits,
}

impl Degradation {
    /// Returns the degradation without faults.
    pub fn none(fabric: &Fabric) -> Self {
        Degradation {
            cabling: fabric.cabling,
            switches: Bits::new(fabric.switches().len()),
            cables: Bits::new(fabric.cable_count()),
        }
    }

    /// Returns whether the mask belongs to this fabric, or to one that is cabled in the same way.
    pub fn fits(&self, fabric: &Fabric) -> bool {
        self.cabling == fabric.cabling
    }

    /// Returns whether the switch itself is dead.
    #[inline]
    pub fn switch_is_dead(&self, s: SwitchIndex) -> bool {
        self.switches.get(s.at())
    }

    /// Returns whether the cable itself is dead. (A cable of a dead switch carries nothing either.)
    #[inline]
    pub fn cable_is_dead(&self, c: CableIndex) -> bool {
        self.cables.get(c.at())
    }

    /// Kills or repairs a switch.
    pub fn set_switch(&mut self, s: SwitchIndex, dead: bool) {
        self.switches.set(s.at(), dead);
    }

    /// Kills or repairs a cable.
    pub fn set_cable(&mut self, c: CableIndex, dead: bool) {
        self.cables.set(c.at(), dead);
    }

    /// Kills or repairs a part.
    pub fn set(&mut self, part: Part, dead: bool) {
        match part {
            Part::Switch(s) => self.set_switch(s, dead),
            Part::Cable(c) => self.set_cable(c, dead),
        }
    }

    /// Returns whether a part itself is dead.
    pub fn is_dead(&self, part: Part) -> bool {
        match part {
            Part::Switch(s) => self.switch_is_dead(s),
            Part::Cable(c) => self.cable_is_dead(c),
        }
    }

    /// Returns the parts that are dead in one of two degradations of a fabric, but not in both.
    ///
    /// # Panics
    /// If they are of different fabrics.
    pub fn difference<'a>(&'a self, other: &'a Degradation) -> impl Iterator<Item = Part> + 'a {
        let switches = self.switches.differing(&other.switches).map(SwitchIndex::new);
        let cables = self.cables.differing(&other.cables).map(CableIndex::new);
        switches.map(Part::Switch).chain(cables.map(Part::Cable))
    }

    /// Returns the dead switches, ascending.
    pub fn dead_switches(&self) -> impl Iterator<Item = SwitchIndex> + '_ {
        self.switches.ones().map(SwitchIndex::new)
    }

    /// Returns the dead cables, ascending: those between switches first, then those of nodes.
    pub fn dead_cables(&self) -> impl Iterator<Item = CableIndex> + '_ {
        self.cables.ones().map(CableIndex::new)
    }

    /// Returns the dead switches as a mask: a bit for each switch, 64 in a word, the first one in the lowest bit.
    pub fn switch_mask(&self) -> &[u64] {
        &self.switches.words
    }

    /// Returns the dead cables as a mask: a bit for each cable, 64 in a word, the first one in the lowest bit.
    pub fn cable_mask(&self) -> &[u64] {
        &self.cables.words
    }

    /// Returns whether a cable with this number or a greater one is dead.
    pub(crate) fn has_dead_cables_from(&self, first: CableIndex) -> bool {
        self.cables.any_from(first.at())
    }

    /// Kills the part that is called so, as [`Fabric::find_part`] finds it, and returns it.
    ///
    /// # Errors
    /// If the fabric has no such switch or cable, or several.
    pub fn remove(&mut self, fabric: &Fabric, name: &str) -> Result<Part, FindError> {
        let part = fabric.find_part(name)?;
        self.set(part, true);
        Ok(part)
    }

    /// Returns all dead parts: switches, then cables.
    pub fn removed(&self) -> impl Iterator<Item = Part> + '_ {
        self.dead_switches().map(Part::Switch).chain(self.dead_cables().map(Part::Cable))
    }
}

/// A fixed number of bits.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    fn new(len: usize) -> Self {
        Bits { words: vec![0; len.div_ceil(64)], len }
    }

    #[inline]
    fn get(&self, at: usize) -> bool {
        debug_assert!(at < self.len);
        self.words[at / 64] >> (at % 64) & 1 == 1
    }

    fn set(&mut self, at: usize, value: bool) {
        assert!(at < self.len, "the mask belongs to another fabric");
        let bit = 1 << (at % 64);
        match value {
            true => self.words[at / 64] |= bit,
            false => self.words[at / 64] &= !bit,
        }
    }

    fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.words.iter().enumerate();
        words.flat_map(|(at, &word)| bits(word).map(move |bit| at * 64 + bit))
    }

    fn differing<'a>(&'a self, other: &'a Bits) -> impl Iterator<Item = usize> + 'a {
        assert_eq!(self.len, other.len, "the masks belong to different fabrics");
        let words = self.words.iter().zip(&other.words).enumerate();
        words.flat_map(|(at, (a, b))| bits(a ^ b).map(move |bit| at * 64 + bit))
    }

    fn any_from(&self, first: usize) -> bool {
        let Some((word, later)) = self.words.get(first / 64..).and_then(<[u64]>::split_first)
        else {
            return false;
        };
        word >> (first % 64) != 0 || later.iter().any(|&word| word != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::CableEnds;
    use super::*;
    use crate::Pgft;

    #[test]
    fn parts_are_removed_by_name() {
        let fabric = "2; 2,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let mut d = Degradation::none(&fabric);
        for name in ["L1-0/3", "L1-0/1", "L2-1"] {
            d.remove(&fabric, name).unwrap();
        }
        let removed: Vec<Part> = d.removed().collect();
        let [Part::Switch(s), Part::Cable(a), Part::Cable(b)] = removed[..] else {
            panic!("{removed:?}")
        };
        assert_eq!(s, SwitchIndex::new(3));
        assert!(matches!(fabric.cable(a), CableEnds::Switches(_)));
        assert!(matches!(fabric.cable(b), CableEnds::Node(_)));
        let before = d.clone();
        assert!(d.remove(&fabric, "L3-0").is_err());
        assert_eq!(d, before, "a name that is not found changes nothing");
    }
}
