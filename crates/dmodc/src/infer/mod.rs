//! The inferred whole: a fabric with the cables that it lacks, compared with its regular shape.
//!
//! Real fabrics have cables missing from the first day. The engine [`Stable`](crate::Stable) knows what to do with missing
//! cables, if it knows that they are missing. In a regular fabric, switches share their neighbours: all leaves of a pod
//! have the same upswitches, and all cores of a plane the same downswitches. So three rules find the cables:
//!
//! 1. **From below.** Switches are *alike* if they share at least half of their upswitches. If as good as all likes have an
//!    upswitch, those without it lack it; the same for the number of cables to it.
//! 2. **From above.** The same with downswitches. It matters where few switches share many upswitches.
//! 3. **By parts.** In a part of a level that is too small for likes, what is missing is known if most other parts have
//!    its size and are whole.
//!
//! Example: leaves with the upswitches {1, 2, 3, 4} (five times) and {1, 2, 4} (once). The last one lacks the cable to 3.
//!
//! No rule may invent a cable, so a switch that differs too much is taken as it is: one that lacks more than a quarter,
//! one that has a cable where its likes have none, and two that lack the same several cables. Nothing but cables is
//! inferred: a fabric that lacks a switch looks like a smaller fabric.

mod block;
mod difference;
mod doubts;
mod evidence;
mod likes;
mod neighbours;
mod parts;
mod ports;
mod usual;

use std::collections::BTreeMap;
use std::fmt;

use crate::fabric::{CableEnds, Degradation, Fabric, Live};
use crate::id::{CableIndex, SwitchIndex};
use crate::leaf::LeafRule;
use crate::rank::Ranking;
use crate::words::counted;
use block::Block;
pub use difference::ShapeDifference;
pub use doubts::ShapeDoubt;
use evidence::{Seeming, have_fewer_cables};
use likes::sets_of_likes;
use neighbours::Neighbours;
use parts::Parts;
use ports::FreePorts;
use usual::CableCounts;

/// A fabric and the cables that it lacks, as one fabric with a degradation.
#[derive(Clone, Debug)]
pub struct InferredWhole {
    /// The fabric with all inferred cables. Switches, adapters and nodes have the indices that they had; cables have not.
    pub fabric: Fabric,
    /// The inferred cables: the present fabric is the whole without them.
    pub missing: Degradation,
    /// What was inferred, one level for each rank that has cables upwards, from the leaves up.
    pub levels: Vec<InferredLevel>,
}

/// What was inferred about the cables from one rank to the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InferredLevel {
    /// The cables that there are.
    pub present: usize,
    /// The cables that the whole adds, by pair of switches.
    pub added: Vec<AddedCables>,
    /// Cables that are missing, too, but for which a switch has no free port.
    pub without_port: Vec<AddedCables>,
}

/// Cables between two switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddedCables {
    /// The switch of the lower rank.
    pub lower: SwitchIndex,
    /// The switch of the higher rank.
    pub upper: SwitchIndex,
    /// The number of cables.
    pub cables: usize,
}

/// Why a fabric has no regular shape to compare it with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooIrregular {
    /// More than half of the cables between switches are in no shape that switches share: their number, and that of all.
    NothingShared {
        /// The cables that fit no shape.
        odd: usize,
        /// All cables between switches.
        cables: usize,
    },
    /// Fewer than half of the cables between switches can be compared with others: their number, and that of all.
    NothingAlike {
        /// The cables of switches that resemble others.
        compared: usize,
        /// All cables between switches.
        cables: usize,
    },
    /// More than a quarter of the cables from one rank to the next would be added.
    TooMany {
        /// The lower rank.
        rank: u32,
        /// The cables that would be added.
        added: usize,
        /// The cables that there are.
        present: usize,
    },
}

impl fmt::Display for TooIrregular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            TooIrregular::NothingShared { odd, cables } => write!(
                f,
                "{odd} of {} between switches fit no pattern that several switches share",
                counted(cables, "cable")
            ),
            TooIrregular::NothingAlike { cables: 0, .. } => {
                f.write_str("no cable joins two switches")
            }
            TooIrregular::NothingAlike { compared, cables } => write!(
                f,
                "{compared} of {} between switches belong to switches that resemble others, which is less than half",
                counted(cables, "cable")
            ),
            TooIrregular::TooMany { rank, added, present } => write!(
                f,
                "{} above rank {rank} would be added to {present}, which is more than a quarter of all",
                counted(added, "cable")
            ),
        }
    }
}

impl std::error::Error for TooIrregular {}

impl InferredLevel {
    /// Returns the number of cables that the whole adds.
    pub fn added_cables(&self) -> usize {
        self.added.iter().map(|pair| pair.cables).sum()
    }
}

impl InferredWhole {
    /// Infers the whole of a fabric. The cost is the sum over all switches of the square of their degree.
    ///
    /// # Errors
    /// If the fabric is too irregular for that.
    pub fn new(fabric: &Fabric, leaves: &LeafRule) -> Result<Self, TooIrregular> {
        let no_faults = Degradation::none(fabric);
        let live = Live::new(fabric, &no_faults);
        Shape::new(live, leaves).whole()
    }

    /// Returns a fabric as its own whole, to which nothing is added.
    pub fn unchanged(fabric: &Fabric) -> Self {
        let missing = Degradation::none(fabric);
        InferredWhole { fabric: fabric.clone(), missing, levels: vec![] }
    }

    /// Returns the number of cables that the whole adds.
    pub fn added_cables(&self) -> usize {
        self.levels.iter().map(InferredLevel::added_cables).sum()
    }

    /// Returns a degradation of the fabric as one of the whole, in which the inferred cables are missing, too.
    ///
    /// # Panics
    /// If the degradation belongs to another fabric.
    pub fn degraded(&self, fabric: &Fabric, degradation: &Degradation) -> Degradation {
        assert!(degradation.fits(fabric), "a degradation belongs to one fabric");
        let mut all = self.missing.clone();
        for s in degradation.dead_switches() {
            all.set_switch(s, true);
        }
        for c in degradation.dead_cables() {
            let cable = match fabric.cable(c) {
                CableEnds::Node(n) => self.fabric.node_cable(n),
                CableEnds::Switches(cable) => self.cable_at(cable.a),
            };
            all.set_cable(cable, true);
        }
        all
    }

    fn cable_at(&self, (s, port): (SwitchIndex, crate::PortNumber)) -> CableIndex {
        let port = self.fabric.port(s, port);
        port.and_then(crate::fabric::Port::cable).expect("the whole has every cable of the fabric")
    }
}

/// Everything that is known about the cables of a fabric.
struct Shape<'a> {
    live: Live<'a>,
    ranking: Ranking,
    above: Neighbours,
    below: Neighbours,
    parts: Parts,
    /// How many cables pairs have, by the lower rank.
    counts: Vec<CableCounts>,
}

/// The missing cables by pair of switches, the lower one first.
type MissingPairs = BTreeMap<(SwitchIndex, SwitchIndex), usize>;

impl<'a> Shape<'a> {
    fn new(live: Live<'a>, leaves: &LeafRule) -> Self {
        let ranking = Ranking::new(live, leaves);
        let above = Neighbours::above(live, &ranking);
        let below = Neighbours::below(live, &ranking);
        let parts = Parts::new(&above, &below, &ranking);
        let mut counts = vec![CableCounts::default(); ranking.levels().max(1) as usize];
        for s in above.switches() {
            for neighbour in above.of(s) {
                counts[ranking.sort_rank(s) as usize].add(neighbour.cables);
            }
        }
        Shape { live, ranking, above, below, parts, counts }
    }

    fn whole(&self) -> Result<InferredWhole, TooIrregular> {
        let (from_below, from_above) = self.likes();
        self.check_shared(&from_below, &from_above)?;
        let missing = self.missing(&from_below, &from_above);
        self.plug(&missing)
    }

    /// Returns the sets of switches that are alike, seen from below and from above.
    fn likes(&self) -> (Vec<Vec<SwitchIndex>>, Vec<Vec<SwitchIndex>>) {
        let has_nodes = |s| self.ranking.is_leaf_with_nodes(s);
        let from_below = sets_of_likes(&self.above, &self.below, has_nodes);
        (from_below, sets_of_likes(&self.below, &self.above, has_nodes))
    }

    /// Refuses a fabric in which most cables fit no shape: neither is one of their switches like another one, nor do
    /// they join all switches of a part.
    fn check_shared(
        &self,
        from_below: &[Vec<SwitchIndex>],
        from_above: &[Vec<SwitchIndex>],
    ) -> Result<(), TooIrregular> {
        let marks = |sets: &[Vec<SwitchIndex>]| {
            let mut marks = vec![false; self.live.fabric.switches().len()];
            for s in sets.iter().flatten() {
                marks[s.at()] = true;
            }
            marks
        };
        let (lower, upper) = (marks(from_below), marks(from_above));
        let whole = self.parts.whole(lower.len());
        let is_shared =
            |s: SwitchIndex, peer: SwitchIndex| lower[s.at()] || upper[peer.at()] || whole[s.at()];
        let pairs =
            self.above.switches().flat_map(|s| self.above.of(s).iter().map(move |n| (s, n)));
        let shared: usize =
            pairs.filter(|(s, n)| is_shared(*s, n.switch)).map(|(_, n)| n.cables).sum();
        let cables = self.live.fabric.inter_switch_cables().len();
        match 2 * shared < cables {
            true => Err(TooIrregular::NothingShared { odd: cables - shared, cables }),
            false => Ok(()),
        }
    }

    /// Returns the missing cables by all three rules.
    fn missing(
        &self,
        from_below: &[Vec<SwitchIndex>],
        from_above: &[Vec<SwitchIndex>],
    ) -> MissingPairs {
        let mut missing = MissingPairs::new();
        let mut add = |lower, upper, cables: usize| {
            let known = missing.entry((lower, upper)).or_insert(0);
            *known = cables.max(*known);
        };
        let mut is_recabled = vec![false; self.live.fabric.switches().len()];
        for likes in from_below {
            let block = Block::new(&self.above, likes, self.counts_above(likes[0]));
            for (s, others) in block.recabled() {
                for s in others.into_iter().chain([s]) {
                    is_recabled[s.at()] = true;
                }
            }
            for (s, lacks) in block.lacking() {
                lacks.into_iter().for_each(|lack| add(s, lack.neighbour, lack.cables));
            }
        }
        for likes in from_above {
            let lower = self.below.of(likes[0])[0].switch;
            let block = Block::new(&self.below, likes, self.counts_above(lower));
            for (s, lacks) in block.lacking() {
                lacks.into_iter().for_each(|lack| add(lack.neighbour, s, lack.cables));
            }
        }
        for (lower, upper) in self.parts.absent(&self.above) {
            add(lower, upper, self.counts_above(lower).usual().unwrap_or(1));
        }
        missing.retain(|(lower, upper), _| !is_recabled[lower.at()] && !is_recabled[upper.at()]);
        self.retain_evident(&mut missing, from_below, from_above);
        missing
    }

    /// Keeps the missing cables for which there is evidence from both sides.
    fn retain_evident(
        &self,
        missing: &mut MissingPairs,
        from_below: &[Vec<SwitchIndex>],
        from_above: &[Vec<SwitchIndex>],
    ) {
        let have_fewer = have_fewer_cables(&self.above, from_below);
        missing.retain(|(lower, _), _| have_fewer[lower.at()]);
        let lacking = missing.iter().map(|(&(lower, _), &cables)| (lower, cables));
        let lower = Seeming::new(&self.above, from_below, lacking);
        let lacking = missing.iter().map(|(&(_, upper), &cables)| (upper, cables));
        let upper = Seeming::new(&self.below, from_above, lacking);
        let (lower, upper) = (lower.is_evident(), upper.is_evident());
        missing.retain(|pair, _| lower[pair.0.at()] && upper[pair.1.at()]);
    }

    /// Returns how many cables the pairs have that a switch is a lower one of.
    fn counts_above(&self, lower: SwitchIndex) -> &CableCounts {
        &self.counts[self.ranking.sort_rank(lower) as usize]
    }

    /// Puts the missing cables into free ports.
    fn plug(&self, missing: &MissingPairs) -> Result<InferredWhole, TooIrregular> {
        let mut levels = self.present_levels();
        let mut free = FreePorts::new(self.live.fabric);
        let mut plugged = vec![];
        // Where free ports are scarce, the first pairs get them. The order of a file must not decide which these are.
        let guid = |s| self.live.fabric.switch(s).guid;
        let mut missing: Vec<_> = missing.iter().collect();
        missing.sort_by_key(|((lower, upper), _)| (guid(*lower), guid(*upper)));
        for (&(lower, upper), &cables) in missing {
            let level = &mut levels[self.ranking.sort_rank(lower) as usize];
            let wanted = AddedCables { lower, upper, cables };
            let added = free.plug(wanted, &self.above, &self.below);
            for (list, cables) in
                [(&mut level.added, added.len()), (&mut level.without_port, cables - added.len())]
            {
                if cables > 0 {
                    list.push(AddedCables { lower, upper, cables });
                }
            }
            plugged.extend(added);
        }
        for (rank, level) in levels.iter_mut().enumerate() {
            for list in [&mut level.added, &mut level.without_port] {
                list.sort_by_key(|pair| (pair.lower, pair.upper));
            }
            let (added, present) = (level.added_cables(), level.present);
            if 4 * added > added + present {
                return Err(TooIrregular::TooMany { rank: rank as u32, added, present });
            }
        }
        let fabric = match plugged.is_empty() {
            true => self.live.fabric.clone(),
            false => self.live.fabric.with_cables(&plugged),
        };
        let none = Degradation::none(&fabric);
        let mut whole = InferredWhole { fabric, missing: none, levels };
        for (cable, _) in plugged {
            whole.missing.set_cable(whole.cable_at(cable.a), true);
        }
        Ok(whole)
    }

    /// Returns the levels with the cables that there are.
    fn present_levels(&self) -> Vec<InferredLevel> {
        let mut levels = vec![InferredLevel::default(); self.counts.len()];
        for s in self.above.switches() {
            let cables: usize = self.above.of(s).iter().map(|n| n.cables).sum();
            if cables > 0 {
                levels[self.ranking.sort_rank(s) as usize].present += cables;
            }
        }
        while levels.last().is_some_and(|level| level.present == 0) {
            levels.pop();
        }
        levels
    }
}
