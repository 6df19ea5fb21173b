//! The result for scripts.

use dmodc::advise::compare::replug::{PortId, Replug};
use dmodc::advise::compare::{
    CabledDevice, CablingDoubt, DeviceKind, PlannedStep, Risk, Side, Unmatched, WhyUnmatched,
};
use serde_json::{Value, json};

use super::CompareReport;
use super::steps::{device, is_absent, needs_absent, ports, verb};

pub(super) fn json(report: &CompareReport<'_>) -> String {
    let CompareReport { comparison, plan, intended } = report;
    let steps = |verb_wanted: &str| -> Vec<Value> {
        let steps = plan.steps.iter().enumerate();
        let chosen = steps.filter(|(_, step)| verb(step.step) == verb_wanted);
        chosen.map(|(at, step)| change(report, at, step.step)).collect()
    };
    let all: Vec<Value> = plan
        .steps
        .iter()
        .enumerate()
        .map(|(at, PlannedStep { step, part, risk: after })| {
            let mut value = change(report, at, *step);
            value["action"] = json!(verb(*step));
            value["part"] = json!(part);
            value["needs_absent_device"] = json!(needs_absent(comparison, *step));
            set_risk(&mut value, after.as_ref());
            value
        })
        .collect();
    let value = json!({
        "schema": "dmodc/compare/1",
        "equal": comparison.is_equal(),
        "intended": intended,
        "inferred": intended.is_none(),
        "missing": steps("plug"),
        "extra": steps("unplug"),
        "swaps": steps("swap"),
        "moves": steps("move"),
        "steps": all,
        "replugs": comparison.replugs(),
        "bound": comparison.bound,
        "exact": comparison.is_exact(),
        "wrong_cables": comparison.wrong_cables(),
        "cables_compared": comparison.compared_cables,
        "present": risk(plan.present.as_ref()),
        "after": risk(plan.after.as_ref()),
        "harmful": plan.is_harmful(),
        "doubtful": comparison.doubts.iter().map(|doubt| doubtful(report, doubt)).collect::<Vec<_>>(),
        "hosts_compared": comparison.compares_hosts,
        "matched": { "by_guid": comparison.by_guid, "by_name": comparison.by_name },
        "unmatched": comparison.unmatched.iter().map(|u| unmatched(report, u)).collect::<Vec<_>>(),
    });
    format!("{value:#}\n")
}

/// Returns the ends of a step, in the words of its kind.
fn change(report: &CompareReport<'_>, at: usize, step: Replug) -> Value {
    let mut value = json!({ "step": at + 1 });
    let [first, second] = ports(report.comparison, step).map(|port| end(report, port));
    match step {
        Replug::Swap(..) => value["ports"] = json!([first, second]),
        Replug::Move { .. } => {
            value["from"] = first;
            value["to"] = second;
        }
        Replug::Plug(..) | Replug::Unplug(..) => value["ends"] = json!([first, second]),
    }
    value
}

/// Returns something doubtful: a cable or a leaf.
fn doubtful(report: &CompareReport<'_>, doubt: &CablingDoubt) -> Value {
    let ends = |ports: &[PortId; 2]| json!(ports.map(|port| end(report, port)));
    match doubt {
        CablingDoubt::SameRank(ports) => json!({ "kind": "same_rank", "ends": ends(ports) }),
        CablingDoubt::SelfLoop(ports) => json!({ "kind": "self_loop", "ends": ends(ports) }),
        CablingDoubt::NoUplink(device) => {
            let CabledDevice { name, guid, .. } = &report.comparison.devices[*device];
            json!({ "kind": "no_uplink", "device": name, "guid": guid.map(|guid| guid.to_string()) })
        }
    }
}

fn end(report: &CompareReport<'_>, port: PortId) -> Value {
    let device = device(report.comparison, port);
    json!({
        "device": device.name,
        "guid": device.guid.map(|guid| guid.to_string()),
        "port": report.comparison.ports[port as usize].port.0,
        "in_fabric": !is_absent(report.comparison, port),
    })
}

/// Returns the risk of a state; null if it was not judged.
fn risk(risk: Option<&Risk>) -> Value {
    let mut value = json!({});
    set_risk(&mut value, risk);
    if risk.is_some() { value } else { Value::Null }
}

fn set_risk(value: &mut Value, risk: Option<&Risk>) {
    value["delivered"] = json!(risk.map(|risk| risk.delivery.delivered));
    value["lost"] = json!(risk.map(|risk| risk.delivery.lost));
    value["cut_off"] = json!(risk.map(|risk| risk.delivery.cut_off));
    value["a2a"] = json!(risk.map(|risk| risk.all_to_all));
    value["a2a_bound"] = json!(risk.map(|risk| risk.bound));
}

fn unmatched(report: &CompareReport<'_>, unmatched: &Unmatched) -> Value {
    let device = &report.comparison.devices[unmatched.device];
    let kind = device.kind.map(|kind| match kind {
        DeviceKind::Switch => "switch",
        DeviceKind::Adapter => "adapter",
    });
    json!({
        "device": device.name,
        "guid": device.guid.map(|guid| guid.to_string()),
        "kind": kind,
        "only_in": match unmatched.side {
            Side::Present => "fabric",
            Side::Intended => "intended",
        },
        "reason": match unmatched.why {
            WhyUnmatched::Absent => "absent",
            WhyUnmatched::NameRepeats => "name_repeats",
        },
        "cables": unmatched.cables,
        "cables_set_aside": unmatched.set_aside,
    })
}
