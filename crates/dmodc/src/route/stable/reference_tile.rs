//! One tile in the reference: what does not depend on the present.

use std::collections::HashMap;

use super::ways_down::WaysDown;
use super::{Reference, STRETCHES};
use crate::cost::{CloserSets, TileCosts, TooFar};
use crate::group::Side;
use crate::id::SwitchIndex;
use crate::kernel::Kernel;
use crate::preprocess::{Preprocessing, SwitchDividers};
use crate::route::job::RouteJob;
use crate::tables::{Segment, Tile};

/// The costs of a tile in the reference, and what follows from them alone.
#[derive(Clone, Debug, Default)]
pub(super) struct ReferenceTile {
    costs: Option<TileCosts>,
    shapes: Vec<SwitchShape>,
    rows: Vec<RowNumber>,
    /// See [`ways_down`](Self::ways_down).
    ways_down: Vec<WaysDown>,
    /// The lengths of a stretch at all switches, counted in destinations and without repetitions; `None` if some switch
    /// has closer sets of different sizes in one direction. A switch that chooses a group counts stretches in rounds of
    /// #R · Π destinations, where #R is the number of groups above, or of ways below. A switch that others look
    /// ahead to counts them in quotients, of Π destinations each. (Π is the divider of the direction.) There may be many quotients in
    /// a round of a switch with several ways; those after the last stretch of the switches that choose are left out.
    round_lengths: Option<Vec<u32>>,
}

/// The number of a row of the reference. Rows with equal numbers have the same entries; neighbouring switches with the same
/// closer sets, ports and dividers have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowNumber(u32);

/// What the reference's closer sets of one switch look like.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SwitchShape {
    /// The targets above, if all groups above are closer to all of them.
    pub(super) targets_above_if_uniform: Option<u64>,
    /// Whether all targets are below, and one group is closer to each of them.
    pub(super) has_one_way_down: bool,
    /// The targets below, if one group is closer to each of them.
    pub(super) targets_below_if_single: Option<u64>,
    /// The index of its [ways down](ReferenceTile::ways_down).
    ways_down: Option<u32>,
}

impl ReferenceTile {
    /// Computes everything anew for a tile.
    ///
    /// # Errors
    /// If a route of the reference is longer than costs can count.
    pub(super) fn compute(
        &mut self,
        reference: &Reference,
        job: &RouteJob<'_>,
        tile: &Tile,
    ) -> Result<(), TooFar> {
        let (ready, kernel) = (&reference.ready, job.ready.kernel);
        let new = ready.new_costs();
        if !self.costs.as_ref().is_some_and(|costs| costs.is_like(&new)) {
            self.costs = Some(new);
        }
        if let Some(costs) = &mut self.costs {
            kernel.run(
                #[inline(always)]
                || costs.compute(&ready.groups, job.targets(tile)),
            )?;
        }
        self.find_shapes(reference, kernel);
        Ok(())
    }

    pub(super) fn shape(&self, s: SwitchIndex) -> SwitchShape {
        self.shapes[s.at()]
    }

    /// Returns the number of the row of a switch.
    pub(super) fn row_number(&self, s: SwitchIndex) -> RowNumber {
        self.rows[s.at()]
    }

    /// Returns the ways down of a switch, if no target is above, some targets have several ways, and these have equally many.
    #[inline]
    pub(super) fn ways_down(&self, s: SwitchIndex) -> Option<&WaysDown> {
        Some(&self.ways_down[self.shapes[s.at()].ways_down? as usize])
    }

    fn find_shapes(&mut self, reference: &Reference, kernel: Kernel) {
        let ready = &reference.ready;
        let Preprocessing { groups, ranking, .. } = ready;
        // By the list of switches below.
        let mut known_ways = HashMap::new();
        self.ways_down.clear();
        let (mut closer, mut last) = (CloserSets::default(), CloserSets::default());
        let mut lengths = Some(vec![]);
        self.shapes.clear();
        self.rows.clear();
        let mut number = 0;
        for s in (0..groups.switch_count()).map(SwitchIndex::new) {
            if let Some(costs) = &self.costs {
                kernel.run(
                    #[inline(always)]
                    || costs.closer(groups, s, &mut closer),
                );
            }
            if s.at() > 0 {
                let before = SwitchIndex::new(s.at() - 1);
                number += u32::from(!are_alike(ready, [(before, &last), (s, &closer)]));
            }
            self.rows.push(RowNumber(number));
            let is_uniform = closer.through_up.iter().all(|mask| *mask == closer.up);
            let choices: u32 = closer.through_down.iter().map(|mask| mask.count_ones()).sum();
            let is_single = choices == closer.down.count_ones();
            let has_ways = closer.up == 0 && !is_single;
            let ways_down = has_ways.then(|| {
                let known = known_ways.entry(reference.peers_below[s.at()]);
                *known.or_insert_with(|| self.add_ways(kernel, &closer))
            });
            self.shapes.push(SwitchShape {
                targets_above_if_uniform: is_uniform.then_some(closer.up),
                has_one_way_down: closer.up == 0 && is_single,
                targets_below_if_single: is_single.then_some(closer.down),
                ways_down: ways_down.flatten(),
            });
            let ways = ways_down.flatten().map(|at| &self.ways_down[at as usize]);
            if !is_uniform || !is_single && ways.is_none() {
                lengths = None;
            }
            let SwitchDividers { up, down } = ready.level_dividers(s);
            let round_above =
                (closer.up != 0).then(|| up.group.saturating_mul(closer.through_up.len() as u32));
            // Others look ahead to every switch that is no leaf. One group is closer to each target below, unless it has ways.
            let is_looked_at = !ranking.is_leaf(s);
            let has_single = ways.map_or(closer.down != 0 || is_looked_at, |ways| ways.single != 0);
            let below = has_single.then_some(down.group);
            let round_below = ways.map(|ways| down.group.saturating_mul(ways.count as u32));
            let above = is_looked_at.then_some(up.group);
            if let Some(lengths) = &mut lengths {
                for length in [round_above, round_below, below, above].into_iter().flatten() {
                    if !lengths.contains(&length) {
                        lengths.push(length);
                    }
                }
            }
            std::mem::swap(&mut closer, &mut last);
        }
        self.round_lengths = lengths;
    }

    /// Adds the ways down of a switch with these closer sets, and returns their index.
    fn add_ways(&mut self, kernel: Kernel, closer: &CloserSets) -> Option<u32> {
        // Only in a levelled fabric do they follow from the switches below alone.
        self.costs.as_ref()?.hops()?;
        self.ways_down.push(WaysDown::new(kernel, closer.down, &closer.through_down)?);
        Some(self.ways_down.len() as u32 - 1)
    }

    /// Returns how many stretches are kept apart: one more than the greatest stretch of any destination at any switch,
    /// but at most [`STRETCHES`].
    pub(super) fn stretches(&self, spans: &[NumberSpan], segments: &[Segment]) -> usize {
        let Some(lengths) = &self.round_lengths else { return STRETCHES };
        let behind = |&length: &u32| {
            let of = move |segment: &Segment| {
                let first = spans[usize::from(segment.target)].first;
                let last = segment.number.saturating_add(segment.length - 1);
                (last / length).saturating_sub(first / length)
            };
            segments.iter().map(of).max()
        };
        let most = lengths.iter().filter_map(behind).max().unwrap_or(0);
        (most as usize).saturating_add(1).min(STRETCHES)
    }

    /// Finds the reference's closer sets of a switch.
    #[inline(always)]
    pub(super) fn closer(&self, reference: &Reference, s: SwitchIndex, closer: &mut CloserSets) {
        let groups = &reference.ready.groups;
        let Some(costs) = &self.costs else { return };
        match self.shapes[s.at()].targets_above_if_uniform {
            Some(up) => {
                costs.closer_below(groups, s, closer);
                closer.up = up;
                closer.up_is_uniform = true;
                closer.through_up.clear();
                if up != 0 {
                    closer.through_up.resize(groups.above(s).peers.len(), up);
                }
            }
            None => costs.closer(groups, s, closer),
        }
    }
}

/// Returns whether the rows of two switches are the same, because they follow from the same closer sets, ports and dividers. Groups of
/// different sizes are not compared: then the answer is no.
fn are_alike(ready: &Preprocessing, [a, b]: [(SwitchIndex, &CloserSets); 2]) -> bool {
    let ((a, to), (b, other)) = (a, b);
    let are_sides_alike = |targets: u64, a: Side<'_>, b: Side<'_>| {
        let have_one_size = || a.width().is_some() && a.width() == b.width();
        targets == 0 || a.ports == b.ports && have_one_size()
    };
    (to.up, to.down, to.own) == (other.up, other.down, other.own)
        && to.through_up == other.through_up
        && to.through_down == other.through_down
        && ready.level_dividers(a) == ready.level_dividers(b)
        && are_sides_alike(to.up, ready.groups.above(a), ready.groups.above(b))
        && are_sides_alike(to.down, ready.groups.below(a), ready.groups.below(b))
}

/// The numbers of the first and the last destination of a target. Only those of its first segment
/// count: destinations in other numberings (nodes that are not on leaves, the switch itself) and further LIDs do not,
/// unless there are no others.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NumberSpan {
    pub(super) first: u32,
    pub(super) last: u32,
}

impl NumberSpan {
    /// Returns the span of a target from its segments.
    pub(super) fn of(segments: &[Segment]) -> Self {
        segments.first().map_or(NumberSpan::default(), |segment| NumberSpan {
            first: segment.number,
            last: segment.number.saturating_add(segment.length - 1),
        })
    }
}
