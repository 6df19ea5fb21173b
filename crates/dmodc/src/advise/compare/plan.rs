//! The order of a repair: what harms most is repaired first.
//!
//! The harm of a part is what its repair alone would bring: more node pairs that are delivered, or, with equally many, a lower
//! load on the worst port of all-to-all traffic. If there are few parts, what the next repair brings is judged anew after each
//! one. Each state is routed anew by Dmodc, as a subnet manager would do it after the
//! step.

use std::cmp::Reverse;

use super::Comparison;
use super::replug::Replug;
use super::state::leaves_of;
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
    /// The sum of the squares of all loads. It decides between states whose worst ports are equal.
    pub squares: u128,
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
        let squares = loads.by_port.iter().map(|load| u128::from(*load).pow(2)).sum();
        Some(Risk { delivery, all_to_all: loads.max(), bound: loads.bound, squares })
    }

    /// Returns a key by which the better of two states comes first.
    fn key(&self) -> (Reverse<u64>, u64, u128) {
        (Reverse(self.delivery.delivered), self.all_to_all, self.squares)
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
    /// The risk once all steps are done; `None` if nothing was judged.
    pub after: Option<Risk>,
}

impl RepairPlan {
    /// Sorts the steps of a comparison, and judges at most `judged` of them, each by routing the fabric. Up to as many routings
    /// again find the order, and one judges the end. If there are too many parts for that, short repairs come first.
    pub fn new(comparison: &Comparison, fabric: &Fabric, leaves: &LeafRule, judged: usize) -> Self {
        let judge = Judge { comparison, fabric, leaves };
        let present = (judged > 0).then(|| judge.risk(&comparison.present)).flatten();
        let order = judge.order(if present.is_some() { judged } else { 0 });
        let mut cabling = comparison.present.clone();
        let mut steps = vec![];
        for part in order {
            for &step in &comparison.parts[part] {
                apply(step, &mut cabling);
                let is_judged = present.is_some() && steps.len() < judged;
                let risk = if is_judged { judge.risk(&cabling) } else { None };
                steps.push(PlannedStep { step, part, risk });
            }
        }
        let after = match steps.last().filter(|_| present.is_some()) {
            Some(PlannedStep { risk: Some(risk), .. }) => Some(*risk),
            Some(_) => judge.risk(&cabling),
            None => present,
        };
        RepairPlan { present, steps, after }
    }

    /// Returns whether all steps together raise the risk: fewer node pairs are delivered, or equally many with a higher load on
    /// the worst port. It happens where most of a fabric is dead, and its shape is guessed from the rest.
    pub fn is_harmful(&self) -> bool {
        let harm = |risk: &Risk| (Reverse(risk.delivery.delivered), risk.all_to_all);
        match (&self.present, &self.after) {
            (Some(present), Some(after)) => harm(after) > harm(present),
            _ => false,
        }
    }
}

/// Judges states of a repair.
struct Judge<'a> {
    comparison: &'a Comparison,
    fabric: &'a Fabric,
    leaves: &'a LeafRule,
}

impl Judge<'_> {
    fn risk(&self, cabling: &[Option<u32>]) -> Option<Risk> {
        let fabric = self.comparison.fabric_with(self.fabric, cabling);
        Risk::of(&fabric, &leaves_of(self.leaves, fabric.switches().len()))
    }

    /// Returns the parts in the order of their repairs, with at most this number of routings.
    fn order(&self, routings: usize) -> Vec<usize> {
        let mut left: Vec<usize> = (0..self.comparison.parts.len()).collect();
        left.sort_by_key(|&part| self.comparison.parts[part].len());
        let count = left.len();
        if count < 2 || count > routings {
            return left;
        }
        let mut cabling = self.comparison.present.clone();
        if count * (count + 1) / 2 > routings {
            self.sort(&mut left, &cabling);
            return left;
        }
        let mut order = vec![];
        while !left.is_empty() {
            if left.len() > 1 {
                self.sort(&mut left, &cabling);
            }
            let best = left.remove(0);
            self.repair(best, &mut cabling);
            order.push(best);
        }
        order
    }

    /// Sorts parts by what the repair of each alone would bring now.
    fn sort(&self, parts: &mut [usize], cabling: &[Option<u32>]) {
        parts.sort_by_cached_key(|&part| {
            let mut after = cabling.to_vec();
            self.repair(part, &mut after);
            let key = self.risk(&after).map(|risk| risk.key());
            (key.is_none(), key, part)
        });
    }

    fn repair(&self, part: usize, cabling: &mut [Option<u32>]) {
        self.comparison.parts[part].iter().for_each(|step| apply(*step, cabling));
    }
}

fn apply(step: Replug, cabling: &mut [Option<u32>]) {
    step.apply(cabling).expect("the steps of a comparison can be done in their order");
}
