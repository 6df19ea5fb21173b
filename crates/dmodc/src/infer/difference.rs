//! Where a fabric differs from its regular shape: pairs of switches that lack cables, and cables where none should be.
//!
//! Two views judge a pair of switches: the likes of the lower one, and those of the upper one. Each may expect a number of cables
//! or have no opinion. The pair lacks cables if every opinion expects more than there are, and it has cables too many if every
//! opinion expects fewer.
//!
//! Unlike the [`InferredWhole`], this also describes switches that were cabled in another way than their likes. It is no
//! proof of a mistake, so nobody should route by it.

use std::collections::BTreeMap;

use super::block::Block;
use super::{AddedCables, InferredWhole, Shape, ShapeDoubt, TooIrregular};
use crate::fabric::{Cable, Degradation, Fabric, Live};
use crate::id::{CableIndex, PortNumber, SwitchIndex};
use crate::leaf::LeafRule;

/// The differences of a fabric from its regular shape.
#[derive(Clone, Debug)]
pub struct ShapeDifference {
    /// Cables where the shape has none, or fewer.
    pub surplus: Vec<Cable>,
    /// Cables that the shape has more.
    pub lacking: Vec<AddedCables>,
    /// What no shape has, and what is still no proof of a mistake. Cables of this kind are not in `surplus`.
    pub doubts: Vec<ShapeDoubt>,
    /// The number of cables that belong to switches that resemble others. The shape says nothing about the rest.
    pub compared: usize,
    whole: InferredWhole,
}

/// How many cables a pair should have, by its two views.
#[derive(Default)]
struct Opinions(Vec<usize>);

/// The opinions on pairs of switches, the lower switch first.
type PairOpinions = BTreeMap<(SwitchIndex, SwitchIndex), Opinions>;

impl ShapeDifference {
    /// Finds the differences.
    ///
    /// # Errors
    /// If the fabric is too irregular to have a shape.
    pub fn new(fabric: &Fabric, leaves: &LeafRule) -> Result<Self, TooIrregular> {
        let no_faults = Degradation::none(fabric);
        let live = Live::new(fabric, &no_faults);
        let shape = Shape::new(live, leaves);
        let whole = shape.whole()?;
        let opinions = shape.opinions();
        let compared = shape.compared_cables(&opinions)?;
        let (mut surplus, mut lacking) = (vec![], vec![]);
        for ((lower, upper), opinions) in opinions {
            let present = shape.above.cables(lower, upper);
            let (Some(&least), Some(&most)) = (opinions.0.iter().min(), opinions.0.iter().max())
            else {
                continue;
            };
            if least > present {
                lacking.push(AddedCables { lower, upper, cables: least - present });
            } else if most < present {
                surplus.extend(shape.most_unusual(lower, upper, present - most));
            }
        }
        Ok(ShapeDifference { surplus, lacking, doubts: shape.doubts(), compared, whole })
    }

    /// Returns the cables that do not belong where they are, doubtful ones last.
    pub fn misplaced(&self) -> impl Iterator<Item = Cable> {
        let doubtful = self.doubts.iter().filter_map(|doubt| doubt.cable());
        self.surplus.iter().copied().chain(doubtful)
    }

    /// Returns the cables that the inferred whole adds.
    pub fn missing(&self) -> impl Iterator<Item = Cable> {
        let cables = self.whole.fabric.inter_switch_cables().iter().enumerate();
        let is_missing = |at: usize| self.whole.missing.cable_is_dead(CableIndex::new(at));
        cables.filter(move |(at, _)| is_missing(*at)).map(|(_, cable)| *cable)
    }
}

impl Shape<'_> {
    /// Returns what both views expect of every pair that they have an opinion on, the lower switch first.
    fn opinions(&self) -> PairOpinions {
        let (from_below, from_above) = self.likes();
        let mut opinions = PairOpinions::new();
        for likes in &from_below {
            let block = Block::new(&self.above, likes, self.counts_above(likes[0]));
            for (s, neighbour, cables) in block.expected() {
                opinions.entry((s, neighbour)).or_default().0.push(cables);
            }
        }
        for likes in &from_above {
            let lower = self.below.of(likes[0])[0].switch;
            let block = Block::new(&self.below, likes, self.counts_above(lower));
            for (s, neighbour, cables) in block.expected() {
                opinions.entry((neighbour, s)).or_default().0.push(cables);
            }
        }
        opinions
    }

    /// Returns the number of cables that are compared with others. Refuses a fabric if these are fewer than half: no switch with
    /// likes expects any number of the others, and few parts of their level have the same size.
    fn compared_cables(&self, opinions: &PairOpinions) -> Result<usize, TooIrregular> {
        let alike = self.parts.with_witnesses(self.live.fabric.switches().len());
        let pairs =
            self.above.switches().flat_map(|s| self.above.of(s).iter().map(move |n| (s, n)));
        let compared = pairs
            .filter(|(s, n)| alike[s.at()] || opinions.contains_key(&(*s, n.switch)))
            .map(|(_, n)| n.cables)
            .sum();
        let cables = self.live.fabric.inter_switch_cables().len();
        match 2 * compared < cables || cables == 0 {
            true => Err(TooIrregular::NothingAlike { compared, cables }),
            false => Ok(compared),
        }
    }

    /// Returns those cables of a pair whose ports other switches use least for these neighbours.
    fn most_unusual(&self, lower: SwitchIndex, upper: SwitchIndex, count: usize) -> Vec<Cable> {
        let fabric = self.live.fabric;
        let uses = |others: &[super::neighbours::Neighbour], own, peer, port: PortNumber| {
            let others = others.iter().filter(|other| other.switch != own);
            let links = others.flat_map(|other| fabric.links_of(other.switch));
            links.filter(|link| link.peer == peer && link.port == port).count()
        };
        let links = fabric.links_of(lower).iter().filter(|link| link.peer == upper);
        let mut cables: Vec<(usize, PortNumber, Cable)> = links
            .filter_map(|link| {
                let cable = *fabric.inter_switch_cables().get(link.cable.at())?;
                let far = if cable.a == (lower, link.port) { cable.b } else { cable.a };
                let below = uses(self.below.of(upper), lower, upper, link.port);
                let above = uses(self.above.of(lower), upper, lower, far.1);
                Some((below + above, link.port, cable))
            })
            .collect();
        cables.sort_by_key(|(uses, port, _)| (*uses, *port));
        cables.into_iter().take(count).map(|(_, _, cable)| cable).collect()
    }
}
