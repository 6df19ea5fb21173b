//! In which order failed equipment is repaired.
//!
//! Each step takes the repair after which the fewest node pairs are not delivered; among equals the least all-to-all risk,
//! then the least mean of shifts, then the first part: switches before cables. Each repair that is tried is routed and
//! judged exactly. This order is greedy: a pair of repairs of which neither helps alone is not looked for.
//!
//! # Cost
//! For n dead parts, n · (n + 1) / 2 states, as long as no more than [`ALL`] parts are left. Of more parts, a step tries only
//! [`PROMISING`] that gained most when they were last tried, and [`OLDEST`] that were not tried for the longest time. The
//! first step tries all.

use std::cmp::{Ordering, Reverse};

use super::attempts::Advice;
use super::risk::StateRisk;
use super::what_if::Present;
use crate::fabric::{CableEnds, Degradation, Fabric, Part};
use crate::route::RouteError;
use crate::router::{Change, Router};
use crate::tables::End;

/// If no more parts are dead, each step tries all of them.
const ALL: usize = 200;
/// The number of parts that a step tries because they promise most, if more are dead.
const PROMISING: usize = 48;
/// The number of parts that a step tries because they were not tried for the longest time.
const OLDEST: usize = 16;

/// A repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RepairStep {
    /// The part.
    pub part: Part,
    /// The risk after the repair.
    pub risk: StateRisk,
    /// How many parts are dead after it.
    pub left: usize,
    /// How many repairs were tried.
    pub tried: usize,
    /// How many repairs could have been tried.
    pub of: usize,
}

/// An order of repairs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairPlan {
    /// The risk of the present state.
    pub now: StateRisk,
    /// The number of parts that are dead now.
    pub dead: usize,
    /// The node pairs of the whole fabric, dead nodes included.
    pub pairs: u64,
    /// The repairs, in their order.
    pub steps: Vec<RepairStep>,
    /// The number of states that were judged.
    pub states: usize,
}

impl RepairPlan {
    /// Returns whether every step tried every repair.
    pub fn is_exact(&self) -> bool {
        self.steps.iter().all(|step| step.tried == step.of)
    }
}

/// A dead part, and its last try.
struct Candidate {
    part: Part,
    /// What the repair gained, and the step of the try.
    last: Option<(Gain, usize)>,
}

/// How much less a risk became.
#[derive(Clone, Copy)]
struct Gain {
    pairs: i64,
    all_to_all: i64,
    shifts: f64,
}

impl Gain {
    fn new(before: &StateRisk, after: &StateRisk) -> Self {
        Gain {
            pairs: before.undelivered as i64 - after.undelivered as i64,
            all_to_all: before.all_to_all.max as i64 - after.all_to_all.max as i64,
            shifts: before.shifts.mean() - after.shifts.mean(),
        }
    }

    fn compare(&self, other: &Gain) -> Ordering {
        let whole = (self.pairs, self.all_to_all).cmp(&(other.pairs, other.all_to_all));
        whole.then(self.shifts.total_cmp(&other.shifts))
    }
}

/// Returns the order in which the dead parts of a router's fabric are repaired, for at most `most_steps` repairs.
///
/// A dead switch is one repair: it brings its cables back, except those that are dead themselves. A dead cable of a dead
/// switch waits for the switch.
///
/// ```
/// use dmodc::advise::{Advice, repair};
/// use dmodc::{Change, Pgft, Router};
///
/// let pgft: Pgft = "2; 4,4; 1,2; 1,1".parse()?;
/// let mut router = Router::of(pgft.fabric(Default::default()))?;
/// for name in ["L1-0/5", "L1-1/5", "L1-1/6"] {
///     let cable = router.fabric().find_part(name)?;
///     router.apply(&[Change::Dies(cable)])?;
/// }
/// // L1-1 is cut off, so one of its cables comes first.
/// let plan = repair(&router, usize::MAX, &Advice::default())?;
/// assert_eq!(plan.steps.iter().map(|s| s.risk.undelivered).collect::<Vec<_>>(), [0, 0, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a state cannot be routed.
pub fn repair(
    router: &Router,
    most_steps: usize,
    advice: &Advice<'_>,
) -> Result<RepairPlan, RouteError> {
    let (mut router, pairs) = (router.clone(), all_pairs(router));
    let mut candidates: Vec<Candidate> =
        router.degradation().removed().map(|part| Candidate { part, last: None }).collect();
    let dead = candidates.len();
    let (mut now, mut states, mut steps) = (None, 0, vec![]);
    loop {
        let here = Present::new(&router, &advice.patterns.series());
        let risk = StateRisk::new(here.tally(), pairs);
        let now: &StateRisk = now.get_or_insert(risk);
        if candidates.is_empty() || steps.len() == most_steps {
            return Ok(RepairPlan { now: *now, dead, pairs, steps, states });
        }
        let (tried, of) = choose(&candidates, &router, steps.len());
        let changes: Vec<Vec<Change>> =
            tried.iter().map(|&at| vec![Change::Recovers(candidates[at].part)]).collect();
        let tallies = advice.attempts(&here, &changes)?;
        states += tallies.len();
        let risks: Vec<StateRisk> =
            tallies.iter().map(|tally| StateRisk::new(tally, pairs)).collect();
        for (&at, after) in tried.iter().zip(&risks) {
            candidates[at].last = Some((Gain::new(&risk, after), steps.len()));
        }
        let compare = |a: &(&usize, &StateRisk), b: &(&usize, &StateRisk)| {
            a.1.compare(b.1).then_with(|| candidates[*a.0].part.cmp(&candidates[*b.0].part))
        };
        let best = tried.iter().zip(&risks).min_by(compare);
        let (&at, &risk) = best.expect("a dead part that waits for none is there");
        let part = candidates.remove(at).part;
        router.apply(&[Change::Recovers(part)])?;
        steps.push(RepairStep { part, risk, left: candidates.len(), tried: tried.len(), of });
    }
}

/// Returns which candidates a step tries, and how many it could try.
fn choose(candidates: &[Candidate], router: &Router, step: usize) -> (Vec<usize>, usize) {
    let (fabric, faults) = (router.fabric(), router.degradation());
    let can_be = |at: &usize| can_be_repaired(fabric, faults, candidates[*at].part);
    let mut open: Vec<usize> = (0..candidates.len()).filter(can_be).collect();
    let of = open.len();
    if of <= ALL || step == 0 {
        return (open, of);
    }
    // What was never tried waited for a switch until now: it comes first.
    open.sort_by(|&a, &b| {
        let by_gain = match (&candidates[a].last, &candidates[b].last) {
            (Some((a, _)), Some((b, _))) => b.compare(a),
            (a, b) => a.is_some().cmp(&b.is_some()),
        };
        by_gain.then_with(|| candidates[a].part.cmp(&candidates[b].part))
    });
    let mut others = open.split_off(PROMISING);
    let age = |at: &usize| candidates[*at].last.map_or(0, |(_, tried_in)| tried_in);
    others.sort_by_key(|at| (age(at), Reverse(candidates[*at].part)));
    others.truncate(OLDEST);
    open.extend(others);
    (open, of)
}

/// Returns whether all switches of a part work.
fn can_be_repaired(fabric: &Fabric, faults: &Degradation, part: Part) -> bool {
    let works = |s| !faults.switch_is_dead(s);
    match part {
        Part::Switch(_) => true,
        Part::Cable(c) => match fabric.cable(c) {
            CableEnds::Switches(cable) => works(cable.a.0) && works(cable.b.0),
            CableEnds::Node(n) => works(fabric.node(n).switch),
        },
    }
}

/// Returns the number of node pairs of the whole fabric.
fn all_pairs(router: &Router) -> u64 {
    let fabric = router.fabric();
    let is_node = |end: End| matches!(end, End::Node(n) if !fabric.is_aggregation(n));
    let destinations = router.routing().columns().destinations().iter();
    let nodes = destinations.filter(|d| d.k == 0 && is_node(d.end)).count() as u64;
    nodes * nodes.saturating_sub(1)
}
