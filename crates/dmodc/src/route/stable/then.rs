//! One tile in the reference.

use super::{Reference, STRETCHES};
use crate::cost::{Closer, CostBlock, Costs, Hops, TooFar};
use crate::group::PortGroups;
use crate::id::SwitchIndex;
use crate::kernel::Kernel;
use crate::route::Preprocessing;
use crate::route::tile::Work;
use crate::tables::{Segment, Tile};

/// What a tile was like: its costs, and what follows from them alone.
#[derive(Clone, Debug, Default)]
pub(super) struct Then {
    costs: ReferenceCosts,
    kinds: Vec<Kind>,
    /// How many destinations a round has (#R · Π), or a stretch where others look at it, wherever that is;
    /// nothing if it is not the same for all targets of a switch.
    rounds: Option<Vec<u32>>,
}

/// What the reference's closer sets of one switch look like.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Kind {
    /// The targets above, if all groups above are closer to all of them.
    pub(super) uniform: Option<u64>,
    /// Whether all targets are below, each with one group.
    pub(super) is_single: bool,
    /// Whether all targets are above.
    pub(super) is_below: bool,
}

impl Then {
    pub(super) fn compute(
        &mut self,
        reference: &Reference,
        work: &Work<'_>,
        tile: &Tile,
    ) -> Result<(), TooFar> {
        self.costs.compute(work, tile, &reference.ready)?;
        self.find_kinds(reference, work.ready.kernel);
        Ok(())
    }

    pub(super) fn kind(&self, s: SwitchIndex) -> Kind {
        self.kinds[s.at()]
    }

    fn find_kinds(&mut self, reference: &Reference, kernel: Kernel) {
        let Preprocessing { groups, dividers, ranking, .. } = &reference.ready;
        let mut closer = Closer::default();
        let mut rounds = Some(vec![]);
        self.kinds.clear();
        for s in (0..groups.switch_count()).map(SwitchIndex::new) {
            kernel.run(|| self.costs.closer(groups, s, &mut closer));
            let is_uniform = closer.through_up.iter().all(|mask| *mask == closer.up);
            let choices: u32 = closer.through_down.iter().map(|mask| mask.count_ones()).sum();
            let is_single = choices == closer.down.count_ones();
            self.kinds.push(Kind {
                uniform: is_uniform.then_some(closer.up),
                is_single: closer.up == 0 && is_single,
                is_below: closer.down == 0,
            });
            if !is_uniform || !is_single {
                rounds = None;
            }
            let pi = dividers[s.at()];
            let above = (closer.up != 0).then(|| pi.saturating_mul(closer.through_up.len() as u32));
            let one = (closer.down != 0 || !ranking.is_leaf(s)).then_some(pi);
            if let Some(rounds) = &mut rounds {
                let new = |round: &u32| !rounds.contains(round);
                let found: Vec<u32> = above.into_iter().chain(one).filter(new).collect();
                rounds.extend(found);
            }
        }
        self.rounds = rounds;
    }

    /// How many stretches are told apart: as many as some destination is rounds behind the first one of its
    /// target.
    pub(super) fn stretches(&self, spans: &[(u32, u32)], segments: &[Segment]) -> usize {
        let Some(rounds) = &self.rounds else { return STRETCHES };
        let behind = |&round: &u32| {
            let of = move |segment: &Segment| {
                let first = spans[usize::from(segment.target)].0;
                let last = segment.number.saturating_add(segment.length - 1);
                (last / round).saturating_sub(first / round)
            };
            segments.iter().map(of).max()
        };
        let most = rounds.iter().filter_map(behind).max().unwrap_or(0);
        (most as usize).saturating_add(1).min(STRETCHES)
    }

    /// The reference's closer sets of a switch.
    #[inline(always)]
    pub(super) fn closer(&self, reference: &Reference, s: SwitchIndex, closer: &mut Closer) {
        let groups = &reference.ready.groups;
        match self.kinds[s.at()].uniform {
            Some(up) => {
                self.costs.closer_below(groups, s, closer);
                closer.up = up;
                closer.up_is_uniform = true;
                closer.through_up.clear();
                if up != 0 {
                    closer.through_up.resize(groups.above(s).peers.len(), up);
                }
            }
            None => self.costs.closer(groups, s, closer),
        }
    }
}

/// The costs of the reference, in the form that it allows.
#[derive(Clone, Debug)]
enum ReferenceCosts {
    Hops(Hops),
    Bytes(CostBlock),
}

impl Default for ReferenceCosts {
    fn default() -> Self {
        ReferenceCosts::Bytes(CostBlock::default())
    }
}

impl ReferenceCosts {
    #[inline(always)]
    fn closer(&self, groups: &PortGroups, s: SwitchIndex, closer: &mut Closer) {
        match self {
            ReferenceCosts::Hops(costs) => costs.closer(groups, s, closer),
            ReferenceCosts::Bytes(costs) => Costs::closer(costs, groups, s, closer),
        }
    }

    /// The same for targets below alone.
    #[inline(always)]
    fn closer_below(&self, groups: &PortGroups, s: SwitchIndex, closer: &mut Closer) {
        match self {
            ReferenceCosts::Hops(costs) => costs.closer_below(groups, s, closer),
            ReferenceCosts::Bytes(costs) => Costs::closer(costs, groups, s, closer),
        }
    }

    fn compute(
        &mut self,
        work: &Work<'_>,
        tile: &Tile,
        then: &Preprocessing,
    ) -> Result<(), TooFar> {
        let targets = work.targets(tile);
        match then.planes() {
            Some(planes) => {
                if !matches!(self, ReferenceCosts::Hops(costs) if costs.planes() == planes) {
                    *self = ReferenceCosts::Hops(Hops::new(planes));
                }
            }
            None => *self = ReferenceCosts::default(),
        }
        work.ready.kernel.run(|| match self {
            ReferenceCosts::Hops(costs) => costs.compute(&then.groups, targets),
            ReferenceCosts::Bytes(costs) => costs.compute(&then.groups, targets),
        })
    }
}
