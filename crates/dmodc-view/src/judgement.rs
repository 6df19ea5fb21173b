//! The judgement of a state: which pairs arrive, and the congestion risk against its bound.

use dmodc::Router;
use dmodc::judge::risk::LostPair;
use dmodc::judge::{Delivery, Islands};
use serde_json::{Value, json};

use crate::names::switch_name;
use crate::workbench::Workbench;

/// About the number of flows that are followed for each series of permutations. More would take longer than a person
/// waits.
const FLOWS: usize = 4_000_000;

/// The greatest number of permutations of a series.
const MOST: usize = 1000;

/// The seed of random permutations and of samples.
pub(crate) const SEED: u64 = 1;

/// Returns how many permutations of this number of nodes are judged.
pub(crate) fn sample_size(nodes: usize) -> usize {
    (FLOWS / nodes.max(1)).clamp(8, MOST)
}

/// A part of a judgement. A server computes one after the other and lets changes in between, so that nobody waits long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgementPart {
    /// Which pairs arrive, and the risk of all-to-all.
    AllToAll,
    /// The risk of shifts.
    Shifts,
    /// The risk of random permutations.
    Permutations,
}

impl JudgementPart {
    /// All of them.
    pub const ALL: [JudgementPart; 3] =
        [JudgementPart::AllToAll, JudgementPart::Shifts, JudgementPart::Permutations];
}

impl Workbench {
    /// Returns the judgement of the present state. It takes a second or two on the largest fabrics.
    pub fn judgement(&self) -> Value {
        let mut value = judge(self.router());
        value["revision"] = json!(self.revision());
        value
    }

    /// Adds a part to the judgement of the present state.
    pub fn judge_part(&self, part: JudgementPart, judgement: &mut Value) {
        judgement["revision"] = json!(self.revision());
        judge_part(self.router(), part, judgement);
    }
}

/// Returns the judgement of the tables of a router.
pub(crate) fn judge(router: &Router) -> Value {
    let mut judgement = json!({});
    for part in JudgementPart::ALL {
        judge_part(router, part, &mut judgement);
    }
    judgement
}

fn judge_part(router: &Router, part: JudgementPart, judgement: &mut Value) {
    let traffic = router.traffic();
    let nodes = traffic.nodes().len();
    let sample = sample_size(nodes);
    match part {
        JudgementPart::AllToAll => {
            let delivery = Delivery::of_route(router.live(), &router.coverage());
            let a2a = traffic.all_to_all();
            judgement["pairs"] = json!(delivery.pairs);
            judgement["delivered"] = json!(delivery.delivered);
            judgement["lost"] = json!(delivery.lost);
            judgement["cut_off"] = json!(delivery.cut_off);
            judgement["undelivered"] = json!(undelivered(router, &a2a.lost));
            judgement["a2a"] = json!({ "max": a2a.max(), "mean": a2a.mean(), "bound": a2a.bound });
        }
        JudgementPart::Shifts => {
            let shifts = traffic.shifts((nodes > sample).then_some((sample, SEED)));
            judgement["sp"] = json!({
                "max": shifts.max(),
                "mean": shifts.mean(),
                "bound": shifts.mean_bound(),
                "shifts": shifts.maxima.len(),
            });
        }
        JudgementPart::Permutations => {
            let random = traffic.permutations(sample.min(100), SEED);
            judgement["rp"] = json!({
                "median": random.median(),
                "max": random.max(),
                "bound": random.median_bound(),
                "permutations": random.maxima.len(),
            });
        }
    }
}

/// Returns the first pairs that do not arrive, by name, and why.
fn undelivered(router: &Router, lost: &[LostPair]) -> Vec<Value> {
    if lost.is_empty() {
        return vec![];
    }
    let (live, fabric) = (router.live(), router.fabric());
    let islands = Islands::new(live);
    let pair = |pair: &LostPair| {
        let node = fabric.node(pair.to);
        let is_connected = islands.connect(pair.from, node.switch);
        json!({
            "from": switch_name(fabric, pair.from),
            "from_guid": fabric.switch(pair.from).guid.to_string(),
            "to": fabric.adapter_of(pair.to).name,
            "to_guid": node.guid.to_string(),
            "reason": if is_connected { "lost" } else { "cut off" },
        })
    };
    lost.iter().map(pair).collect()
}
