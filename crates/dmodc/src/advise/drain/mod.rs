//! Which of some parts can be taken out of service together, and in which order.
//!
//! A state is *safe* if it keeps to the [limits](DrainLimits). A set of parts is safe if it can be taken out part by part
//! through safe states alone. Risk is not monotone: a set may be safe although a part of it is not. So the answer is found
//! by judging states:
//!
//! | parts | answer |
//! |---|---|
//! | few, or few safe sets | [exact](exact): a largest safe set, and the order that keeps risk lowest |
//! | many | [greedy](greedy): a safe set, with an upper bound on the size of any, from what is [certain](certain) |

mod certain;
mod exact;
mod greedy;
mod limits;
mod set;
mod states;

pub use limits::{Ceilings, DrainLimits, Exceeded, LimitKind, RiskLimit};

use super::attempts::Advice;
use super::risk::StateRisk;
use super::what_if::Present;
use crate::fabric::Part;
use crate::route::RouteError;
use crate::router::Router;
use exact::Layers;
use set::PartSet;
use states::States;

/// A part that is taken out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrainStep {
    /// The part.
    pub part: Part,
    /// The risk when it is out of service, with all parts before it.
    pub risk: StateRisk,
}

/// When a part exceeds a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnsafeWhen {
    /// If it alone is out of service.
    Alone,
    /// If it is out of service together with the safe parts.
    WithSafe,
}

/// A part that stays in service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnsafePart {
    /// The part.
    pub part: Part,
    /// When it exceeds a limit.
    pub when: UnsafeWhen,
    /// The limit that is exceeded first.
    pub exceeded: Exceeded,
    /// Whether this holds for every routing and every set of parts that contains this one.
    pub is_certain: bool,
}

/// Which parts can be taken out, and in which order.
#[derive(Clone, Debug, PartialEq)]
pub struct DrainPlan {
    /// The risk of the present state.
    pub now: StateRisk,
    /// The limits, as numbers.
    pub ceilings: Ceilings,
    /// The limit that the present state itself exceeds.
    pub exceeded_now: Option<Exceeded>,
    /// The safe parts, in the order in which they are taken out.
    pub steps: Vec<DrainStep>,
    /// The other parts, as they are listed.
    pub unsafe_parts: Vec<UnsafePart>,
    /// No safe set has more parts.
    pub bound: usize,
    /// Whether no order of a largest safe set keeps risk lower.
    pub is_best_order: bool,
    /// The number of states that were judged.
    pub states: usize,
}

impl DrainPlan {
    /// Returns whether no safe set is larger for certain.
    pub fn is_largest(&self) -> bool {
        self.steps.len() == self.bound
    }
}

/// Returns which of these parts can be taken out together, and in which order. The parts must differ and be in service.
///
/// ```
/// use dmodc::advise::{Advice, DrainLimits, drain};
/// use dmodc::{Pgft, Router};
///
/// let pgft: Pgft = "2; 4,4; 1,2; 1,2".parse()?;
/// let router = Router::of(pgft.fabric(Default::default()))?;
/// // Both spines: one of them can be taken out, but not both.
/// let parts = [router.fabric().find_part("L2-0")?, router.fabric().find_part("L2-1")?];
/// let plan = drain(&router, &parts, &DrainLimits::default(), &Advice::default())?;
/// assert_eq!((plan.steps.len(), plan.is_largest()), (1, true));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a state cannot be routed.
///
/// # Panics
/// If a part is of another fabric.
pub fn drain(
    router: &Router,
    parts: &[Part],
    limits: &DrainLimits,
    advice: &Advice<'_>,
) -> Result<DrainPlan, RouteError> {
    let present = Present::new(router, &advice.patterns.series());
    let mut states = States::new(&present, parts, limits, advice);
    let layers = Layers::find(&mut states)?;
    let is_best_order = layers.is_some();
    let order = match layers {
        Some(layers) => layers.best_order(),
        None => greedy::order(&mut states)?,
    };
    let steps = greedy::steps(&mut states, &order)?;
    let bound = match is_best_order {
        true => order.len(),
        false => states.certain.most_safe(),
    };
    let unsafe_parts = unsafe_parts(&mut states, &order)?;
    Ok(DrainPlan {
        now: states.now,
        ceilings: states.ceilings,
        exceeded_now: states.ceilings.exceeded(&states.now),
        steps,
        unsafe_parts,
        bound,
        is_best_order,
        states: states.count(),
    })
}

/// Returns the parts that are not in the order, each with the limit that it exceeds.
fn unsafe_parts(states: &mut States<'_>, order: &[usize]) -> Result<Vec<UnsafePart>, RouteError> {
    let all = states.parts.len();
    let safe = PartSet::of(all, order.iter().copied());
    let others: Vec<usize> = (0..all).filter(|&part| !safe.has(part)).collect();
    let alone: Vec<PartSet> = others.iter().map(|&part| PartSet::of(all, [part])).collect();
    let with_safe: Vec<PartSet> = others.iter().map(|&part| safe.with(part)).collect();
    let (risks, risks_with_safe) = (states.judge(&alone)?, states.judge(&with_safe)?);
    let mut found = vec![];
    for (at, &part) in others.iter().enumerate() {
        let is_certain = states.certain.is_unsafe(&alone[at]);
        let alone = states.ceilings.exceeded(&risks[at]);
        let (when, exceeded) = match alone {
            Some(exceeded) => (UnsafeWhen::Alone, exceeded),
            None => {
                let exceeded = states.ceilings.exceeded(&risks_with_safe[at]);
                (UnsafeWhen::WithSafe, exceeded.expect("a larger set would have been chosen"))
            }
        };
        found.push(UnsafePart { part: states.parts[part], when, exceeded, is_certain });
    }
    Ok(found)
}
