//! Measured dividers: one divider for each level and direction, chosen so that what arrives there is spread.
//!
//! [`oracle::measured`](crate::oracle::measured) states the rule naively and explains it; this module must find the same
//! dividers. The departures from the naive loops:
//!
//! 1. Before anything else, a test decides whether routes have a choice on the way down at all (`choices`). In a PGFT they
//!    have none, and the paper's dividers stand.
//! 2. Costs are computed once, 64 leaves at a time, and kept; closer sets follow from them when they are needed.
//! 3. The destinations that reach a switch are a bit set (`destinations`).
//! 4. The switches of a level are counted in parallel, and only sums are kept (`level`).
//! 5. Dividers that spread a level equally well are only compared by the levels after it if something is in excess (`attempts`).
//! 6. When dividers are changed one by one in the end (`refine`), all flows to one destination that meet in a switch are counted together
//!    (`flows`), and all candidates for one divider are tried in parallel.

pub(crate) mod attempts;
mod candidates;
mod choices;
mod destinations;
pub(crate) mod flows;
mod level;
pub(crate) mod refine;

use crate::cost::{TileCosts, TooFar};
use crate::fabric::Live;
use crate::group::PortGroups;
use crate::kernel::Kernel;
use crate::level_dividers::LevelDividers;
use crate::order::Orders;
use crate::parallel;
use crate::rank::{RankRule, Ranking};
use destinations::Destinations;
use flows::LevelRules;

/// The paper's dividers stand if fewer than one in this number of the pairs of leaves has a choice on the way down.
///
/// One chip that is cabled in an unusual way is no reason to give a whole level other dividers.
const LEAST_SHARE: u64 = 8;

/// Returns whether dividers are measured: enough pairs of leaves have a choice on the way down, and damage is not the reason.
///
/// A whole PGFT has no such pair. A damaged one can have many: a switch that lost all its cables downwards rises above
/// its former parents, and may then have several ways down. The graph alone cannot distinguish such switches from a level that
/// somebody built on top. A diamond can be distinguished (see `choices::has_diamond`): no PGFT has one, whatever is broken.
///
/// If ranks are counted from one root, one pair is enough: such a fabric is no damaged PGFT, and near the root its routes
/// have choices on the way down that few pairs make use of, but that all of those pairs share.
pub(crate) fn is_worth_measuring(
    choices: ChoicesDown,
    rule: &RankRule,
    has_diamond: impl FnOnce() -> bool,
) -> bool {
    let is_enough = match rule {
        RankRule::SingleRoot(_) => true,
        RankRule::GivenRoots(_) => choices.are_many(),
        RankRule::Leaves => choices.are_many() && has_diamond(),
    };
    choices.pairs_with_choice > 0 && is_enough
}

/// How many pairs of leaves have a choice on the way down: the reason why dividers were measured, or would have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChoicesDown {
    /// Ordered pairs of leaves with nodes, for which some switch on some route goes down and has several groups that are
    /// closer.
    pub pairs_with_choice: u64,
    /// Ordered pairs of leaves with nodes that have a route.
    pub pairs: u64,
    /// Whether the fabric may be a damaged PGFT. Then the paper's dividers stand.
    pub looks_like_damage: bool,
}

impl ChoicesDown {
    /// Returns the counts, without a verdict.
    pub(crate) fn new(pairs_with_choice: u64, pairs: u64) -> Self {
        ChoicesDown { pairs_with_choice, pairs, looks_like_damage: false }
    }

    /// Returns whether enough pairs have a choice to matter to levels as a whole.
    fn are_many(self) -> bool {
        self.pairs_with_choice > 0 && LEAST_SHARE * self.pairs_with_choice >= self.pairs
    }
}

/// A fabric that is measured.
struct MeasuredFabric<'a> {
    ranking: &'a Ranking,
    groups: &'a PortGroups,
    /// Π of every switch.
    dividers: Vec<u32>,
    destinations: Destinations,
    /// The costs of all switches to each tile of destination switches.
    costs: Vec<TileCosts>,
    kernel: Kernel,
}

/// A fabric in which routes have a choice on the way down.
pub(crate) struct Measuring<'a> {
    fabric: MeasuredFabric<'a>,
    rule: &'a RankRule,
    choices: ChoicesDown,
}

impl<'a> Measuring<'a> {
    /// Prepares a fabric. Returns `None` if routes have no choice on the way down, or so few that they do not matter. (If routes are
    /// longer than costs can count, engines refuse the fabric anyway, and `None` is returned, too.)
    pub(crate) fn new(
        live: Live<'_>,
        ranking: &'a Ranking,
        orders: &'a Orders,
        groups: &'a PortGroups,
    ) -> Option<Self> {
        let destinations = Destinations::new(live, orders);
        if !choices::may_exist(groups, &destinations) {
            return None;
        }
        let kernel = Kernel::best();
        let costs = parallel::map(destinations.tiles(), |targets| {
            let mut costs = TileCosts::new(ranking, groups);
            let computed = kernel.run(
                #[inline(always)]
                || costs.compute(groups, targets),
            );
            computed.map(|()| costs)
        });
        let costs = costs.into_iter().collect::<Result<Vec<TileCosts>, TooFar>>().ok()?;
        let dividers = crate::divider::dividers(groups, ranking);
        let fabric = MeasuredFabric { ranking, groups, dividers, destinations, costs, kernel };
        let (choices, rule) = (choices::count(&fabric), orders.rank_rule());
        let is_worth_it =
            is_worth_measuring(choices, rule, || choices::has_diamond(ranking, groups));
        let looks_like_damage = !is_worth_it;
        let is_undecided = choices.are_many() && *rule == RankRule::Leaves;
        let choices = ChoicesDown { looks_like_damage, ..choices };
        (is_worth_it || is_undecided).then_some(Measuring { fabric, rule, choices })
    }

    /// Returns the dividers of all levels, and how many routes have a choice on the way down. The dividers are those of the paper if damage
    /// may be the reason for the choices, or if Π spreads everywhere.
    pub(crate) fn measure(self) -> (LevelDividers, ChoicesDown) {
        let Measuring { fabric, rule, choices } = self;
        if choices.looks_like_damage {
            return (LevelDividers::default(), choices);
        }
        let candidates = candidates::of(&fabric);
        let found = attempts::measure(&fabric, &candidates);
        let LevelRules { up, down } = refine::refine(&fabric, &candidates, found);
        let levels = LevelDividers::new(up, down);
        let levels = match rule {
            RankRule::Leaves => levels,
            RankRule::SingleRoot(_) | RankRule::GivenRoots(_) => {
                levels.counted_from_root(fabric.ranking.levels())
            }
        };
        (levels, choices)
    }
}
