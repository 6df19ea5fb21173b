//! The judgement of tables as JSON.

use std::time::Duration;

use dmodc::judge::{Channel, Check, Delivery, Loop, Scope, UndeliveredReason};
use dmodc::{Coverage, Fabric};
use dmodc_formats::lft::Lft;
use serde_json::{Value, json};

/// Writes the numbers of node pairs into a report.
pub fn set_delivery(report: &mut Value, delivery: &Delivery) {
    report["pairs"] = json!(delivery.pairs);
    report["delivered"] = json!(delivery.delivered);
    report["lost"] = json!(delivery.lost);
    report["cut_off"] = json!(delivery.cut_off);
    report["unroutable_pairs"] = json!(delivery.unroutable());
}

/// Returns the numbers of mismatches, for each dump.
pub fn unmatched(dumps: &[Lft]) -> Value {
    let numbers = |dump: &Lft| {
        json!({
            "unknown_switches": dump.unknown_switches.len(),
            "unknown_destinations": dump.unknown_destinations.len(),
            "missing_switches": dump.missing_switches.len(),
        })
    };
    dumps.iter().map(numbers).collect()
}

/// Returns the judgement of tables as JSON.
pub fn json(
    fabric: &Fabric,
    check: &Check,
    coverage: Option<&Coverage>,
    unmatched: &Value,
    elapsed: Duration,
) -> String {
    let mut value = scope(fabric, &check.nodes);
    value["valid"] = json!(coverage.map(Coverage::is_valid));
    value["schema"] = json!("dmodc/check/2");
    value["everything"] = scope(fabric, &check.everything);
    value["check_ms"] = json!(elapsed.as_secs_f64() * 1e3);
    value["unmatched"] = unmatched.clone();
    format!("{value:#}\n")
}

fn looped(fabric: &Fabric, found: &Loop) -> Value {
    let hop = |&(c, new): &(Channel, bool)| json!({"guid": fabric.switch(c.switch).guid.to_string(), "port": c.port.0, "new": new});
    json!({
        "to": found.to.guid(fabric).to_string(),
        "to_name": found.to.name(fabric),
        "hops": found.hops.iter().map(hop).collect::<Vec<_>>(),
    })
}

fn scope(fabric: &Fabric, scope: &Scope) -> Value {
    let channel =
        |c: &Channel| json!({"guid": fabric.switch(c.switch).guid.to_string(), "port": c.port.0});
    let examples: Vec<Value> = scope
        .examples
        .iter()
        .map(|lost| {
            let from = fabric.switch(lost.from).guid.to_string();
            let (to, name) = (lost.to.guid(fabric), lost.to.name(fabric));
            let (loops, cut_off) =
                (lost.why == UndeliveredReason::Loops, lost.why == UndeliveredReason::CutOff);
            json!({
                "from_switch": from,
                "to": to.to_string(),
                "to_name": name,
                "loops": loops,
                "cut_off": cut_off,
            })
        })
        .collect();
    let mut value = json!({
        "sound": scope.is_sound(),
        "loops": scope.loops,
        "loop_destinations": scope.loop_destinations,
        "loop": scope.loop_example.as_ref().map(|found| looped(fabric, found)),
        "up_down_violations": scope.up_down_violations,
        "deadlock_free": scope.is_deadlock_free(),
        "cycle": scope.cycle.as_ref().map(|cycle| cycle.iter().map(channel).collect::<Vec<_>>()),
        "examples": examples,
    });
    set_delivery(&mut value, &scope.delivery());
    value
}
