//! What a change of the fabric would do.
//!
//! A [`WhatIf`] applies a change to a [`Router`], judges the tables against a [`Baseline`], and takes the change back.
//! Only what the change moves is routed and counted again, so that every cable and switch of a large fabric can be
//! tried in minutes.

use crate::fabric::{Live, Part};
use crate::id::{CableIndex, SwitchIndex};
use crate::judge::risk::{Baseline, Effect, Recount, Routed, SeriesPattern, Tally};
use crate::rank::Ranking;
use crate::route::RouteError;
use crate::router::{Change, Router};

/// Tries changes of a fabric, one after the other, each starting from the same state.
///
/// ```
/// use dmodc::advise::Present;
/// use dmodc::{Change, Pgft, Router};
///
/// let pgft: Pgft = "2; 4,4; 1,2; 1,2".parse()?;
/// let router = Router::of(pgft.fabric(Default::default()))?;
/// let present = Present::new(&router, &[]);
/// let mut what_if = present.what_if();
/// for part in present.single_faults(Default::default()) {
///     let effect = what_if.attempt(&[Change::Dies(part)])?;
///     assert_eq!(effect.after.delivery.lost, 0);
///     assert!(effect.after.all_to_all.max >= present.tally().all_to_all.max);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct WhatIf<'a> {
    present: &'a Present<'a>,
    router: Router,
    recount: Recount,
}

/// The state that changes start from, and its judgement. Many threads share it.
pub struct Present<'a> {
    router: &'a Router,
    baseline: Baseline<'a>,
}

impl<'a> Present<'a> {
    /// Judges the present state of a router, also for these series of permutations.
    pub fn new(router: &'a Router, patterns: &[SeriesPattern]) -> Self {
        Present { router, baseline: Baseline::new(routed(router), patterns) }
    }

    /// Returns the judgement of the present state.
    pub fn tally(&self) -> &Tally {
        self.baseline.now()
    }

    /// Returns the series that are judged.
    pub fn patterns(&self) -> impl Iterator<Item = SeriesPattern> + '_ {
        self.baseline.patterns()
    }

    /// Returns the router of the present state.
    pub fn router(&self) -> &Router {
        self.router
    }

    /// Returns the parts that work and may fail: cables, then switches.
    pub fn single_faults(&self, scope: FaultScope) -> Vec<Part> {
        single_faults(self.router.live(), &self.router.preprocessing().ranking, scope)
    }

    /// Returns what tries changes. Each has a copy of the router, so that every thread may have its own.
    pub fn what_if(&'a self) -> WhatIf<'a> {
        WhatIf { present: self, router: self.router.clone(), recount: self.baseline.recount() }
    }
}

impl WhatIf<'_> {
    /// Returns the effect of these changes, and takes them back.
    ///
    /// # Errors
    /// If a route is too long after the changes.
    ///
    /// # Panics
    /// If a part is of another fabric.
    pub fn attempt(&mut self, changes: &[Change]) -> Result<Effect, RouteError> {
        let now = self.present.router.degradation();
        let delta = self.router.apply(changes);
        let effect = delta.map(|delta| {
            self.present.baseline.judge(routed(&self.router), &delta, &mut self.recount)
        });
        let back: Vec<Change> = self
            .router
            .degradation()
            .difference(now)
            .map(|part| match now.is_dead(part) {
                true => Change::Dies(part),
                false => Change::Recovers(part),
            })
            .collect();
        self.router.apply(&back)?;
        effect
    }
}

fn routed(router: &Router) -> Routed<'_> {
    Routed {
        live: router.live(),
        ranking: &router.preprocessing().ranking,
        orders: router.routing().orders(),
        tables: router.tables(),
    }
}

/// Which parts may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultScope {
    /// Cables between switches.
    pub cables: bool,
    /// Switches that are not leaves.
    pub switches: bool,
    /// Leaves, too. Their nodes fail with them, whatever the routes.
    pub leaves: bool,
}

impl Default for FaultScope {
    /// Returns cables and switches without leaves.
    fn default() -> Self {
        FaultScope { cables: true, switches: true, leaves: false }
    }
}

/// Returns the parts of a fabric that work and may fail: cables, then switches.
fn single_faults(live: Live<'_>, ranking: &Ranking, scope: FaultScope) -> Vec<Part> {
    let cables = (0..live.fabric.inter_switch_cables().len()).map(CableIndex::new);
    let cables = cables.filter(|&c| scope.cables && live.cable(c)).map(Part::Cable);
    let may_fail = |s: &SwitchIndex| match ranking.is_leaf(*s) {
        true => scope.leaves,
        false => scope.switches,
    };
    let switches = live.switches().filter(may_fail).map(Part::Switch);
    cables.chain(switches).collect()
}
