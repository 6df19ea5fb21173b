//! One tile in the reference: what does not depend on the present.

use super::{Reference, STRETCHES};
use crate::cost::{CloserSets, TileCosts, TooFar};
use crate::id::SwitchIndex;
use crate::kernel::Kernel;
use crate::preprocess::{Preprocessing, SwitchDividers};
use crate::route::port_choice::JobTile;
use crate::tables::Segment;

/// The costs of a tile in the reference, and what follows from them alone.
#[derive(Clone, Debug, Default)]
pub(super) struct ReferenceTile {
    costs: Option<TileCosts>,
    shapes: Vec<SwitchShape>,
    /// The lengths of a stretch at all switches, counted in destinations and without repetitions; `None` if some switch
    /// has closer sets of different sizes in one direction. A switch that chooses a group counts stretches in rounds of
    /// #R · Π destinations, where #R is the number of groups above, or 1 for targets below. A switch that others look
    /// ahead to counts them in quotients, of Π destinations each. (Π is the divider of the direction.)
    round_lengths: Option<Vec<u32>>,
}

/// What the reference's closer sets of one switch look like.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SwitchShape {
    /// The targets above, if all groups above are closer to all of them.
    pub(super) targets_above_if_uniform: Option<u64>,
    /// Whether all targets are below, and one group is closer to each of them.
    pub(super) has_one_way_down: bool,
    /// The targets below, if one group is closer to each of them.
    pub(super) targets_below_if_single: Option<u64>,
}

impl ReferenceTile {
    /// Computes everything anew for a tile.
    ///
    /// # Errors
    /// If a route of the reference is longer than costs can count.
    pub(super) fn compute(
        &mut self,
        reference: &Reference,
        JobTile { job, tile }: JobTile<'_>,
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
        self.find_shapes(ready, kernel);
        Ok(())
    }

    pub(super) fn shape(&self, s: SwitchIndex) -> SwitchShape {
        self.shapes[s.at()]
    }

    fn find_shapes(&mut self, ready: &Preprocessing, kernel: Kernel) {
        let Preprocessing { groups, ranking, .. } = ready;
        let mut closer = CloserSets::default();
        let mut lengths = Some(vec![]);
        self.shapes.clear();
        for s in (0..groups.switch_count()).map(SwitchIndex::new) {
            if let Some(costs) = &self.costs {
                kernel.run(
                    #[inline(always)]
                    || costs.closer(groups, s, &mut closer),
                );
            }
            let is_uniform = closer.through_up.iter().all(|mask| *mask == closer.up);
            let choices: u32 = closer.through_down.iter().map(|mask| mask.count_ones()).sum();
            let is_single = choices == closer.down.count_ones();
            self.shapes.push(SwitchShape {
                targets_above_if_uniform: is_uniform.then_some(closer.up),
                has_one_way_down: closer.up == 0 && is_single,
                targets_below_if_single: is_single.then_some(closer.down),
            });
            if !is_uniform || !is_single {
                lengths = None;
            }
            let SwitchDividers { up, down } = ready.level_dividers(s);
            let round_above =
                (closer.up != 0).then(|| up.group.saturating_mul(closer.through_up.len() as u32));
            // One group is closer to each target below, and others look ahead to every switch that is no leaf.
            let is_looked_at = !ranking.is_leaf(s);
            let below = (closer.down != 0 || is_looked_at).then_some(down.group);
            let above = is_looked_at.then_some(up.group);
            if let Some(lengths) = &mut lengths {
                for length in [round_above, below, above].into_iter().flatten() {
                    if !lengths.contains(&length) {
                        lengths.push(length);
                    }
                }
            }
        }
        self.round_lengths = lengths;
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
