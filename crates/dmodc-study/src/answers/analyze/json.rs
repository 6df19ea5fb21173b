//! The findings as JSON.

use dmodc::judge::risk::StepKind;
use dmodc::{End, Guid, SwitchIndex};
use serde_json::{Map, Value, json};

use super::super::check::set_delivery;
use super::{Analysis, SeriesSummary, WorstHosts, percentiles, worst_hosts};
use crate::analysis::{Finding, Pattern, WorstPort, histogram};

/// The greatest number of bars of a figure.
pub const BARS: u64 = 40;

/// Returns an analysis as JSON.
pub fn json(analysis: &Analysis<'_>) -> String {
    let fabric = analysis.live.fabric;
    let nodes = analysis.traffic.nodes().len() as u64;
    let examples: Vec<Value> = analysis
        .lost
        .iter()
        .map(|lost| {
            let (to, name) = (fabric.node(lost.to).guid, End::Node(lost.to).name(fabric));
            let from = fabric.switch(lost.from).guid.to_string();
            json!({ "from_switch": from, "to": to.to_string(), "to_name": name })
        })
        .collect();
    let mut report = json!({
        "schema": "dmodc/analyze/1",
        "nodes": nodes,
        "ports": analysis.traffic.ports().len(),
        "unroutable_examples": examples,
        "seed": analysis.seed,
        "analyze_ms": analysis.elapsed.as_secs_f64() * 1e3,
        "unmatched": analysis.unmatched,
    });
    set_delivery(&mut report, &analysis.delivery);
    if let Some(rates) = &analysis.rates {
        report["link_speeds"] = rates.speeds_json();
    }
    if let Some(jobs) = &analysis.jobs_json {
        report["jobs"] = jobs.clone();
    }
    for (at, finding) in analysis.findings.iter().enumerate() {
        let mut value = one(analysis, finding);
        if let Some(rates) = analysis.rates.as_ref().map(|rates| rates.json(at))
            && !rates.is_null()
        {
            value["rates"] = rates;
        }
        // If there are two patterns of one kind, each has its full name as key.
        let key = finding.pattern.key();
        let same = analysis.findings.iter().filter(|other| other.pattern.key() == key).count();
        let name = if same > 1 { finding.pattern.to_string() } else { key.into() };
        report[name] = value;
    }
    format!("{report:#}\n")
}

fn one(analysis: &Analysis<'_>, finding: &Finding) -> Value {
    let mut value = Map::new();
    let mut set = |key: &str, of: Value| value.insert(key.into(), of);
    let [maxima, bounds] =
        [&finding.maxima, &finding.bounds].map(|values| SeriesSummary::of(values));
    set("pattern", json!(finding.pattern.to_string()));
    set("max", json!(finding.max));
    if finding.pattern.is_series() {
        let count = match finding.pattern {
            Pattern::Shifts(_) => "shifts",
            Pattern::Bisections(_) => "bisections",
            Pattern::Permutations(_) => "permutations",
            Pattern::Incast(_) => "draws",
            _ => "steps",
        };
        set(count, json!(finding.maxima.len()));
        set("min", json!(maxima.min));
        set("median", json!(maxima.median));
        set("mean", json!(maxima.mean));
        // The bound of the most important number: for random patterns the median, for others the maximum.
        set("bound", json!(if finding.pattern.is_random() { bounds.median } else { bounds.max }));
        set("bound_median", json!(bounds.median));
        set("bound_mean", json!(bounds.mean));
        set("bound_max", json!(bounds.max));
        let all = || finding.maxima.iter().map(|&max| u64::from(max));
        set("histogram", json!(histogram(all(), BARS)));
    } else {
        let sum: u64 = finding.by_port.iter().sum();
        set("mean", json!(sum as f64 / finding.by_port.len().max(1) as f64));
        set("bound", json!(finding.bound));
        set("histogram", json!(histogram(finding.by_port.iter().copied(), BARS)));
    }
    if !finding.steps.is_empty() || finding.pattern == Pattern::RecursiveDoubling {
        set("by_step", by_step(finding));
    }
    set("unroutable_flows", json!(finding.undelivered));
    if let Some(ends) = &finding.ends {
        set("max_min_src_dst", json!(ends.max_least()));
        set("pairs_by_switches", json!(ends.pairs_by_switches));
    }
    if let Some(cut) = &finding.cut {
        let first = analysis.live.fabric.switch(cut.first).guid.to_string();
        let (nodes, cables) = (cut.nodes, cut.cables);
        set(
            "bound_cut",
            json!({
                "switch": first,
                "level": cut.level + 1,
                "half": cut.is_half,
                "nodes": nodes,
                "cables": cables,
                "flows_stay_together": finding.is_by_bundles,
            }),
        );
    }
    set(
        "percentiles",
        json!(percentiles(finding).into_iter().collect::<std::collections::BTreeMap<_, _>>()),
    );
    set("worst_ports", worst(analysis, finding));
    if !finding.by_host.is_empty() {
        set("hosts", of_hosts(analysis, finding));
    }
    Value::Object(value)
}

/// Returns the risk of each step that has a name.
fn by_step(finding: &Finding) -> Value {
    let risks = finding.maxima.iter().zip(&finding.bounds);
    let step = |(kind, (max, bound)): (&StepKind, (&u32, &u32))| {
        let (name, distance) = match kind {
            StepKind::FoldIn => ("fold_in", None),
            StepKind::Exchange(distance) => ("exchange", Some(*distance)),
            StepKind::FoldOut => ("fold_out", None),
            StepKind::Write => ("write", None),
            StepKind::Read => ("read", None),
        };
        json!({ "step": name, "distance": distance, "max": max, "bound": bound })
    };
    finding.steps.iter().zip(risks).map(step).collect()
}

/// Returns the hosts, judged by the worst port that any of their rails sends over.
fn of_hosts(analysis: &Analysis<'_>, finding: &Finding) -> Value {
    const NAMED: usize = 10;
    let WorstHosts { means, order } = worst_hosts(finding);
    let rails = analysis.traffic.rails();
    let host = |&host: &usize| {
        let (name, max) = (analysis.traffic.hosts()[host], finding.by_host[host].max);
        json!({ "name": name, "rails": rails[host], "mean": means[host], "max": max })
    };
    json!({
        "count": means.len(),
        "mean": means.iter().sum::<f64>() / means.len().max(1) as f64,
        "worst": order.iter().take(NAMED).map(host).collect::<Vec<_>>(),
    })
}

fn worst(analysis: &Analysis<'_>, finding: &Finding) -> Value {
    let (fabric, traffic) = (analysis.live.fabric, analysis.traffic);
    let guid = |s: SwitchIndex| fabric.switch(s).guid.to_string();
    let node = |position: u32| -> Guid { fabric.node(traffic.nodes()[position as usize]).guid };
    let port = |worst: &WorstPort| {
        let port = &traffic.ports()[worst.port];
        let flow = |&(from, to): &(u32, u32)| [node(from).to_string(), node(to).to_string()];
        json!({
            "guid": guid(port.switch),
            "name": fabric.switch(port.switch).name,
            "port": port.port.0,
            "peer_guid": guid(port.peer),
            "peer_name": fabric.switch(port.peer).name,
            "load": worst.load,
            "sources": finding.ends.as_ref().map(|ends| ends.sources[worst.port]),
            "destinations": finding.ends.as_ref().map(|ends| ends.destinations[worst.port]),
            "some_flows": worst.flows.iter().map(flow).collect::<Vec<_>>(),
        })
    };
    finding.worst.iter().map(port).collect()
}
