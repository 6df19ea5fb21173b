//! The order of a repair: what harms most is repaired first.
//!
//! The harm of a part is what its repair alone would bring: more node pairs that are delivered, or, with equally many, a lower
//! load on the worst port of all-to-all traffic. Each state is routed anew by Dmodc, as a subnet manager would do it after the
//! step.

use std::cmp::Reverse;

use super::Comparison;
use super::replug::Replug;
use crate::fabric::{Degradation, Fabric, Live};
use crate::judge::Delivery;
use crate::judge::risk::Traffic;
use crate::leaf::LeafRule;
use crate::route::Dmodc;
use crate::routing::{Routing, RoutingOptions};

/// How well a fabric is connected, and how loaded its worst port is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Risk {
    /// The fates of all node pairs.
    pub delivery: Delivery,
    /// The flows through the worst port if all nodes send to all.
    pub all_to_all: u64,
    /// No routing of this fabric has fewer.
    pub bound: u64,
}

impl Risk {
    /// Routes a fabric and judges its tables. Returns `None` if it cannot be routed.
    pub fn of(fabric: &Fabric, leaves: &LeafRule) -> Option<Self> {
        let healthy = Degradation::none(fabric);
        let live = Live::new(fabric, &healthy);
        let options = RoutingOptions { leaves: leaves.clone(), ..RoutingOptions::default() };
        let routing = Routing::new(live, &options);
        let (tables, coverage) = routing.route(live, &Dmodc).ok()?;
        let traffic = Traffic::new(live, &routing.ranking(live), routing.orders(), &tables);
        let loads = traffic.all_to_all();
        let delivery = Delivery::of_route(live, &coverage);
        Some(Risk { delivery, all_to_all: loads.max(), bound: loads.bound })
    }

    /// Returns a key by which the better of two states comes first.
    fn key(&self) -> (Reverse<u64>, u64) {
        (Reverse(self.delivery.delivered), self.all_to_all)
    }
}

/// A step, and what it brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedStep {
    /// The step.
    pub step: Replug,
    /// The part of the cabling that it repairs: its place in [`Comparison::parts`].
    pub part: usize,
    /// The risk once this step and all steps before it are done; `None` if it was not judged.
    pub risk: Option<Risk>,
}

/// All steps in the order in which they should be done.
#[derive(Clone, Debug)]
pub struct RepairPlan {
    /// The risk of the fabric as it is; `None` if nothing was judged.
    pub present: Option<Risk>,
    /// The steps.
    pub steps: Vec<PlannedStep>,
}

impl RepairPlan {
    /// Sorts the steps of a comparison. At most `judged` of them are judged; each costs two routings of the fabric. If there are
    /// more parts than that, parts that repair more cables in a step come first.
    pub fn new(
        comparison: &Comparison,
        fabric: &Fabric,
        leaves: &LeafRule,
        judged: usize,
    ) -> Self {
        let judge = |cabling: &[Option<u32>]| {
            Risk::of(&comparison.fabric_with(fabric, cabling), leaves)
        };
        let present = (judged > 0).then(|| judge(&comparison.present)).flatten();
        let mut order: Vec<usize> = (0..comparison.parts.len()).collect();
        order.sort_by_key(|&part| comparison.parts[part].len());
        if present.is_some() && order.len() > 1 && order.len() <= judged {
            let alone = |part: usize| {
                let mut cabling = comparison.present.clone();
                comparison.parts[part].iter().for_each(|step| apply(*step, &mut cabling));
                judge(&cabling).map(|risk| risk.key())
            };
            order.sort_by_cached_key(|&part| {
                let key = alone(part);
                (key.is_none(), key, part)
            });
        }
        let mut cabling = comparison.present.clone();
        let mut steps = vec![];
        for part in order {
            for &step in &comparison.parts[part] {
                apply(step, &mut cabling);
                let risk = match present.is_some() && steps.len() < judged {
                    true => judge(&cabling),
                    false => None,
                };
                steps.push(PlannedStep { step, part, risk });
            }
        }
        RepairPlan { present, steps }
    }
}

fn apply(step: Replug, cabling: &mut [Option<u32>]) {
    step.apply(cabling).expect("the steps of a comparison can be done in their order");
}
