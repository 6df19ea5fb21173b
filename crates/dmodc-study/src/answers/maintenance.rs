//! Which parts can be taken out together, and in which order parts are repaired, as JSON.

use std::time::Duration;

use dmodc::Fabric;
use dmodc::advise::{
    Ceilings, DrainPlan, DrainStep, Exceeded, RepairPlan, RepairStep, StateRisk, UnsafeWhen,
};
use dmodc::fabric::{CableEnds, Part};
use serde_json::{Value, json};

/// Returns a part in the notation of `--remove`: a GUID, or a GUID and a port.
pub fn notation(fabric: &Fabric, part: Part) -> String {
    let (s, port) = match part {
        Part::Switch(s) => return fabric.switch(s).guid.to_string(),
        Part::Cable(c) => match fabric.cable(c) {
            CableEnds::Switches(cable) => cable.a,
            CableEnds::Node(n) => (fabric.node(n).switch, fabric.node(n).switch_port),
        },
    };
    format!("{}/{port}", fabric.switch(s).guid)
}

/// Returns a part for machines: its notation, its kind, and its names.
pub fn describe(fabric: &Fabric, part: Part) -> Value {
    let (kind, name) = match part {
        Part::Switch(s) => ("switch", fabric.switch(s).name.to_string()),
        Part::Cable(c) => match fabric.cable(c) {
            CableEnds::Switches(cable) => {
                let [a, b] =
                    [cable.a, cable.b].map(|(s, p)| format!("{}/{p}", fabric.switch(s).name));
                ("cable", format!("{a} - {b}"))
            }
            CableEnds::Node(n) => {
                let node = fabric.node(n);
                let (switch, adapter) =
                    (&fabric.switch(node.switch).name, &fabric.adapter_of(n).name);
                ("node cable", format!("{switch}/{} - {adapter}", node.switch_port))
            }
        },
    };
    json!({ "part": notation(fabric, part), "kind": kind, "name": name })
}

/// Adds the numbers of a state to an object.
pub fn add_risk(value: &mut Value, risk: &StateRisk) {
    value["lost"] = json!(risk.undelivered);
    value["a2a"] = json!(risk.all_to_all.max);
    value["a2a_bound"] = json!(risk.all_to_all.bound);
    value["sp"] = json!(risk.shifts.mean());
    value["sp_bound"] = json!(risk.shifts.mean_bound());
}

/// The parts that somebody lists.
#[derive(Clone, Debug, Default)]
pub struct PartList {
    /// The parts, each once.
    pub parts: Vec<Part>,
    /// How many lines name a part again, perhaps by the other end of a cable.
    pub repeated: usize,
}

/// Returns which parts can be taken out together, as JSON.
pub fn drain_json(fabric: &Fabric, list: &PartList, plan: &DrainPlan, elapsed: Duration) -> String {
    let parts = list.parts.iter();
    let is_safe = |part: &&Part| plan.steps.iter().any(|step| step.part == **part);
    let safe: Vec<String> = parts.filter(is_safe).map(|&p| notation(fabric, p)).collect();
    let step = |step: &DrainStep| {
        let mut value = describe(fabric, step.part);
        add_risk(&mut value, &step.risk);
        value["rp"] = json!(step.risk.permutations.map(|series| series.median));
        value
    };
    let mut now = json!({ "rp": plan.now.permutations.map(|series| series.median) });
    add_risk(&mut now, &plan.now);
    let others = plan.unsafe_parts.iter().map(|part| {
        let mut value = describe(fabric, part.part);
        value["when"] = json!(match part.when {
            UnsafeWhen::Alone => "alone",
            UnsafeWhen::WithSafe => "with_safe",
        });
        value["certain"] = json!(part.is_certain);
        value["exceeded"] = exceeded_json(&part.exceeded);
        value
    });
    let Ceilings { undelivered, a2a, sp, rp } = plan.ceilings;
    let value = json!({
        "schema": "dmodc/drain/1",
        "parts": list.parts.len(),
        "repeated": list.repeated,
        "all_safe": plan.unsafe_parts.is_empty(),
        "exact": plan.is_largest(),
        "order_exact": plan.is_best_order,
        "bound": plan.bound,
        "limits": { "lost": undelivered, "a2a": a2a, "sp": sp, "rp": rp },
        "now": now,
        "now_exceeds": plan.exceeded_now.as_ref().map(exceeded_json),
        "safe": safe,
        "order": plan.steps.iter().map(step).collect::<Vec<_>>(),
        "unsafe": others.collect::<Vec<_>>(),
        "states": plan.states,
        "drain_ms": elapsed.as_secs_f64() * 1e3,
    });
    format!("{value:#}\n")
}

fn exceeded_json(exceeded: &Exceeded) -> Value {
    json!({
        "limit": exceeded.limit.name(),
        "value": exceeded.value,
        "most": exceeded.most,
    })
}

/// Returns in which order parts are repaired, as JSON. `reference` names the whole fabric.
pub fn repair_json(
    fabric: &Fabric,
    plan: &RepairPlan,
    reference: &str,
    elapsed: Duration,
) -> String {
    let step = |step: &RepairStep| {
        let mut value = describe(fabric, step.part);
        add_risk(&mut value, &step.risk);
        value["left"] = json!(step.left);
        value["tried"] = json!(step.tried);
        value
    };
    let mut now = json!({});
    add_risk(&mut now, &plan.now);
    let value = json!({
        "schema": "dmodc/repair/1",
        "reference": reference,
        "dead": plan.dead,
        "pairs": plan.pairs,
        "exact": plan.is_exact(),
        "now": now,
        "steps": plan.steps.iter().map(step).collect::<Vec<_>>(),
        "left": plan.dead - plan.steps.len(),
        "states": plan.states,
        "repair_ms": elapsed.as_secs_f64() * 1e3,
    });
    format!("{value:#}\n")
}
