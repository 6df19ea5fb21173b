//! Degradations: which cables and switches are dead, and how to draw them.

use std::fmt;
use std::str::FromStr;

use super::{Fabric, FabricBuilder, Live, NameError, Target, Vertex};
use crate::bits::bits;
use crate::id::{CableIndex, SwitchIndex};
use crate::leaf::{LeafRule, Leaves};
use crate::random::Random;

/// The faults upon a fabric: a mask over its switches and cables. Applying one costs a bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Degradation {
    switches: Bits,
    cables: Bits,
}

impl Degradation {
    /// No faults.
    pub fn none(fabric: &Fabric) -> Self {
        Degradation {
            switches: Bits::new(fabric.switches().len()),
            cables: Bits::new(fabric.cable_count()),
        }
    }

    /// Whether the mask has the size of this fabric.
    pub fn fits(&self, fabric: &Fabric) -> bool {
        self.switches.len == fabric.switches().len() && self.cables.len == fabric.cable_count()
    }

    /// Whether the switch itself is dead.
    #[inline]
    pub fn switch_is_dead(&self, s: SwitchIndex) -> bool {
        self.switches.get(s.at())
    }

    /// Whether the cable itself is dead. (A live cable of a dead switch carries nothing either.)
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

    /// The parts that are dead in one of two degradations of a fabric, but not in both.
    ///
    /// # Panics
    /// If they are of different fabrics.
    pub fn difference<'a>(&'a self, other: &'a Degradation) -> impl Iterator<Item = Part> + 'a {
        let switches = self.switches.differing(&other.switches).map(SwitchIndex::new);
        let cables = self.cables.differing(&other.cables).map(CableIndex::new);
        switches.map(Part::Switch).chain(cables.map(Part::Cable))
    }

    /// The dead switches, ascending.
    pub fn dead_switches(&self) -> impl Iterator<Item = SwitchIndex> + '_ {
        self.switches.ones().map(SwitchIndex::new)
    }

    /// The dead cables, ascending: between switches first, then those of nodes.
    pub fn dead_cables(&self) -> impl Iterator<Item = CableIndex> + '_ {
        self.cables.ones().map(CableIndex::new)
    }

    /// Whether a cable with this number or a greater one is dead.
    pub(crate) fn has_dead_cables_from(&self, first: CableIndex) -> bool {
        self.cables.any_from(first.at())
    }

    /// Kills what the target names, and returns it.
    ///
    /// # Errors
    /// If the fabric has no such switch or cable, or several.
    pub fn remove(&mut self, fabric: &Fabric, target: Target) -> Result<Part, NameError> {
        let part = target.find(fabric)?;
        self.set(part, true);
        Ok(part)
    }

    /// Everything dead, for lists.
    pub fn removed(&self) -> impl Iterator<Item = Part> + '_ {
        self.dead_switches().map(Part::Switch).chain(self.dead_cables().map(Part::Cable))
    }
}

/// A part of a fabric that can die and be repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// A switch, with all its cables.
    Switch(SwitchIndex),
    /// A cable.
    Cable(CableIndex),
}

/// How many of something: a count, or a percentage rounded to the nearest count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// So many.
    Count(usize),
    /// So many of a hundred.
    Percent(f64),
}

impl Amount {
    /// Nothing.
    pub const ZERO: Amount = Amount::Count(0);

    /// How many of `total` that is.
    ///
    /// # Errors
    /// If there are not so many.
    pub fn of(self, total: usize, what: &'static str) -> Result<usize, AmountError> {
        match self {
            Amount::Percent(percent) => {
                Amount::Count((total as f64 * percent / 100.0).round() as usize).of(total, what)
            }
            Amount::Count(wanted) if wanted > total => Err(AmountError { wanted, total, what }),
            Amount::Count(wanted) => Ok(wanted),
        }
    }
}

impl FromStr for Amount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is neither a count nor a percentage from 0% to 100%");
        match text.strip_suffix('%') {
            Some(number) => match number.trim().parse::<f64>() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Amount::Percent(percent)),
                _ => Err(wrong()),
            },
            None => text.parse().map(Amount::Count).map_err(|_| wrong()),
        }
    }
}

/// More was to be removed than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmountError {
    wanted: usize,
    total: usize,
    what: &'static str,
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AmountError { wanted, total, what } = self;
        write!(f, "{wanted} {what} cannot be removed: there are {total}")
    }
}

impl std::error::Error for AmountError {}

/// A uniform random draw of faults. Cables and switches are drawn from the whole fabric
/// independently, each from a stream of its own: asking for more switches moves no cable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    /// Cables to kill, among those between switches.
    pub cables: Amount,
    /// Switches to kill, among those that are not leaves.
    pub switches: Amount,
    /// Draw among nodes' own cables, too.
    pub any_cable: bool,
    /// Draw among leaves, too.
    pub any_switch: bool,
    /// The seed.
    pub seed: u64,
}

impl Draw {
    /// Draws the faults.
    ///
    /// # Errors
    /// If more is asked for than there is.
    pub fn degradation(&self, fabric: &Fabric) -> Result<Degradation, AmountError> {
        let mut degradation = Degradation::none(fabric);
        let inter_switch = fabric.inter_switch_cables().len();
        let (cables, what) = match self.any_cable {
            true => (fabric.cable_count(), "cables"),
            false => (inter_switch, "inter-switch cables"),
        };
        let wanted = self.cables.of(cables, what)?;
        for at in Random::new(self.seed, 0).sample(cables, wanted) {
            degradation.set_cable(CableIndex::new(at), true);
        }

        let healthy = Degradation::none(fabric);
        let live = Live::new(fabric, &healthy);
        let leaves = Leaves::new(live, &LeafRule::Detect).all;
        let candidates: Vec<SwitchIndex> = live
            .switches()
            .filter(|s| self.any_switch || leaves.binary_search(s).is_err())
            .collect();
        let what = if self.any_switch { "switches" } else { "switches that are not leaves" };
        let wanted = self.switches.of(candidates.len(), what)?;
        for at in Random::new(self.seed, 1).sample(candidates.len(), wanted) {
            degradation.set_switch(candidates[at], true);
        }
        Ok(degradation)
    }
}

impl Fabric {
    /// The fabric that a discovery would find under a degradation: what is dead is left out, and so
    /// is what hangs on nothing but the dead. Everything else keeps its GUID, LID and ports.
    pub fn without(&self, degradation: &Degradation) -> Fabric {
        let live = Live::new(self, degradation);
        let mut b = FabricBuilder::new();
        let switches: Vec<Option<Vertex>> = self
            .switch_indices()
            .map(|s| live.switch(s).then(|| b.switch(self.switch(s).clone())))
            .collect();
        let mut adapters: Vec<Option<Vertex>> = vec![None; self.adapters.len()];
        for n in self.node_indices().filter(|&n| live.node(n)) {
            let node = self.node(n);
            let vertex = *adapters[node.adapter.at()]
                .get_or_insert_with(|| b.adapter(self.adapters[node.adapter.at()].clone()));
            b.end_port(vertex, node.adapter_port, node.guid, node.lid, node.lmc);
            let switch = switches[node.switch.at()].expect("a live node's switch is alive");
            let rate = self.ports[self.port_slot(node.switch, node.switch_port)].rate;
            b.cable((switch, node.switch_port), (vertex, node.adapter_port), rate);
        }
        for (at, cable) in self.cables.iter().enumerate() {
            let (Some(a), Some(c)) = (switches[cable.a.0.at()], switches[cable.b.0.at()]) else {
                continue;
            };
            if !degradation.cable_is_dead(CableIndex::new(at)) {
                let rate = self.ports[self.port_slot(cable.a.0, cable.a.1)].rate;
                b.cable((a, cable.a.1), (c, cable.b.1), rate);
            }
        }
        b.finish().expect("a part of a consistent fabric is consistent")
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
    fn amounts_are_counts_or_percentages() {
        assert_eq!("12".parse(), Ok(Amount::Count(12)));
        assert_eq!("1.5%".parse(), Ok(Amount::Percent(1.5)));
        for wrong in ["", "-1", "101%", "x%", "NaN%", "1 %%"] {
            assert!(wrong.parse::<Amount>().is_err(), "{wrong}");
        }
        assert_eq!(Amount::Percent(1.0).of(250, "cables"), Ok(3), "2.5 rounds up");
        assert!(Amount::Count(6).of(5, "cables").is_err());
        assert!(Amount::Percent(150.0).of(5, "cables").is_err());
    }

    #[test]
    fn a_draw_is_seeded_and_spares_leaves_and_node_cables() {
        let fabric = "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let draw = |seed, cables, switches| Draw {
            cables: Amount::Count(cables),
            switches: Amount::Count(switches),
            any_cable: false,
            any_switch: false,
            seed,
        };
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        for seed in 0..50 {
            let d = draw(seed, 7, 3).degradation(&fabric).unwrap();
            assert_eq!(d.dead_cables().count(), 7);
            assert_eq!(d.dead_switches().count(), 3);
            assert!(d.dead_switches().all(|s| live.nodes(s).next().is_none()));
            assert!(d.dead_cables().all(|c| matches!(fabric.cable(c), CableEnds::Switches(_))));
            assert_eq!(d, draw(seed, 7, 3).degradation(&fabric).unwrap());
            let more = draw(seed, 7, 4).degradation(&fabric).unwrap();
            assert!(more.dead_cables().eq(d.dead_cables()), "streams are independent");
        }
        assert!(draw(1, 37, 0).degradation(&fabric).is_err());
        let every = Draw { any_cable: true, any_switch: true, ..draw(1, 48, 16) };
        let every = every.degradation(&fabric).unwrap();
        assert_eq!(every.removed().count(), 64);
        assert_eq!(fabric.without(&every).switches().len(), 0);
    }

    #[test]
    fn named_things_are_removed() {
        let fabric = "2; 2,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let mut d = Degradation::none(&fabric);
        for name in ["L1-0/3", "L1-0/1", "L2-1"] {
            d.remove(&fabric, name.parse().unwrap()).unwrap();
        }
        let removed: Vec<Part> = d.removed().collect();
        let [Part::Switch(s), Part::Cable(a), Part::Cable(b)] = removed[..] else {
            panic!("{removed:?}")
        };
        assert_eq!(s, SwitchIndex::new(3));
        assert!(matches!(fabric.cable(a), CableEnds::Switches(_)));
        assert!(matches!(fabric.cable(b), CableEnds::Node(_)));
        let before = d.clone();
        assert!(d.remove(&fabric, "L3-0".parse().unwrap()).is_err());
        assert_eq!(d, before, "what is not found changes nothing");
    }
}
