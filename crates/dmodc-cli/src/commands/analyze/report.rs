//! The findings as JSON, CSV, SVG and HTML.

use std::fmt::Write as _;

use anyhow::{Result, anyhow};
use dmodc::judge::risk::StepKind;
use dmodc::{End, Fabric, Guid, SwitchIndex, host_name};
use dmodc_formats::printable;
use dmodc_study::analysis::{Bin, Finding, Pattern, histogram, percentile};
use dmodc_study::{figure, report as page};
use serde_json::{Map, Value, json};

use super::Analysis;
use super::words::{SeriesSummary, WorstHosts, proof, title, worst_hosts};
use crate::text::number;
use crate::verdict;

/// The greatest number of bars of a figure.
const BARS: u64 = 40;

pub(super) fn json(analysis: &Analysis<'_>) -> String {
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
    verdict::set(&mut report, &analysis.delivery);
    if let Some(rates) = &analysis.rates {
        report["link_speeds"] = rates.speeds_json();
    }
    if let Some(jobs) = &analysis.jobs {
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

fn percentiles(finding: &Finding) -> Vec<(String, u64)> {
    let mut sorted = finding.by_port.clone();
    sorted.sort_unstable();
    let all = [0.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 100.0];
    all.iter().map(|&p| (p.to_string(), percentile(&sorted, p))).collect()
}

fn worst(analysis: &Analysis<'_>, finding: &Finding) -> Value {
    let (fabric, traffic) = (analysis.live.fabric, analysis.traffic);
    let guid = |s: SwitchIndex| fabric.switch(s).guid.to_string();
    let node = |position: u32| -> Guid { fabric.node(traffic.nodes()[position as usize]).guid };
    let port = |worst: &dmodc_study::analysis::WorstPort| {
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

/// Returns a CSV row for each directed port, with its load for each pattern.
pub(super) fn csv(analysis: &Analysis<'_>) -> String {
    let fabric = analysis.live.fabric;
    let mut text = String::from("guid,name,port,peer_guid,peer_name,level,peer_level");
    for finding in &analysis.findings {
        let _ = write!(text, ",{}", quoted(&finding.pattern.to_string()));
        if finding.ends.is_some() {
            text += ",sources,destinations";
        }
    }
    text.push('\n');
    let level = |s| analysis.ranking.rank(s).map_or(String::new(), |rank| (rank + 1).to_string());
    for (at, port) in analysis.traffic.ports().iter().enumerate() {
        let [from, to] = [port.switch, port.peer].map(|s| fabric.switch(s));
        let (from_level, to_level) = (level(port.switch), level(port.peer));
        let (from_name, to_name) = (quoted(&from.name), quoted(&to.name));
        let _ = write!(
            text,
            "{},{from_name},{},{},{to_name},{from_level},{to_level}",
            from.guid, port.port, to.guid
        );
        for finding in &analysis.findings {
            let _ = write!(text, ",{}", finding.by_port[at]);
            if let Some(ends) = &finding.ends {
                let _ = write!(text, ",{},{}", ends.sources[at], ends.destinations[at]);
            }
        }
        text.push('\n');
    }
    text
}

/// Returns a field in the notation of CSV.
fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.into(),
    }
}

/// Returns a figure with a histogram for each pattern.
pub(super) fn svg(analysis: &Analysis<'_>) -> Result<String> {
    let panels: Vec<figure::HistogramPanel> = analysis
        .findings
        .iter()
        .map(|finding| {
            let (bins, x, y) = distribution(finding);
            let bars = bins
                .iter()
                .map(|bin| (bin.from as f64 - 0.5, bin.to as f64 + 0.5, bin.count as f64));
            let limit = (finding.bound > 0).then_some(finding.bound as f64);
            // A file may have any name, but SVG must not contain control characters.
            let title =
                printable(&format!("{}: {}", finding.pattern, title(finding, analysis.seed)));
            figure::HistogramPanel { title, x: x.into(), y: y.into(), bars: bars.collect(), limit }
        })
        .collect();
    figure::histograms(&panels).map_err(|why| anyhow!(why))
}

/// Returns the bins of a histogram and the labels of its axes: maxima of a series, or loads of ports.
fn distribution(finding: &Finding) -> (Vec<Bin>, &'static str, &'static str) {
    match finding.pattern.is_series() {
        true => {
            let maxima = finding.maxima.iter().map(|&max| u64::from(max));
            (histogram(maxima, BARS), "flows on the worst port", "patterns")
        }
        false => {
            (histogram(finding.by_port.iter().copied(), BARS), "flows on a port", "directed ports")
        }
    }
}

/// Returns the contents of the HTML page.
pub(super) fn page(analysis: &Analysis<'_>, fabric: &str, tables: &str) -> page::HtmlReport {
    let traffic = analysis.traffic;
    let nodes = traffic.nodes().len() as u64;
    let fact = |name: &str, value: String| (name.to_string(), value);
    let live = analysis.live;
    let examples = analysis.lost.iter().map(|lost| {
        let (from, to) = (End::Switch(lost.from), End::Node(lost.to));
        let [from, to] = [from, to].map(|end| device(live.fabric, end));
        page::LostPairRow { from, to, reason: "not delivered".into() }
    });
    page::HtmlReport {
        title: format!("Congestion risk of {tables}"),
        facts: vec![
            fact("fabric", fabric.into()),
            fact("tables", tables.into()),
            fact("nodes", number(nodes)),
            fact("switches", number(live.switches().count())),
            fact("directed ports between switches", number(traffic.ports().len())),
            fact("seed", analysis.seed.to_string()),
        ],
        patterns: (0..analysis.findings.len()).map(|at| section(analysis, at)).collect(),
        unroutable: page::Unroutable {
            pairs: analysis.delivery.unroutable(),
            of: analysis.delivery.pairs,
            examples: examples.collect(),
        },
        hosts: hosts(analysis),
        made_by: format!("dmodc {}", env!("CARGO_PKG_VERSION")),
    }
}

/// Returns a device by name, with its GUID and LID, because names may repeat.
fn device(fabric: &Fabric, end: End) -> page::DeviceName {
    let lid = match end {
        End::Switch(s) => fabric.switch(s).lid,
        End::Node(n) => fabric.node(n).lid,
    };
    let detail = format!("{} · LID {lid}", end.guid(fabric));
    page::DeviceName { name: printable(end.name(fabric)), detail }
}

fn section(analysis: &Analysis<'_>, at: usize) -> page::PatternSection {
    let (fabric, finding) = (analysis.live.fabric, &analysis.findings[at]);
    let series = finding.pattern.is_series();
    let [maxima, bounds] =
        [&finding.maxima, &finding.bounds].map(|values| SeriesSummary::of(values));
    let sum: u64 = finding.by_port.iter().sum();
    let about = match (series, proof(fabric, finding)) {
        (true, _) => {
            "Loads are flows of one pattern on a directed port between switches; of each port, the \
             worst pattern counts. The maximum is that of the worst pattern, the mean is over the maxima of all \
             patterns, and each has its own bound."
                .into()
        }
        (false, Some(proof)) => {
            format!(
                "Loads are flows on a directed port between switches. The bound of the maximum: {proof}."
            )
        }
        (false, None) => "Loads are flows on a directed port between switches.".into(),
    };
    let (bins, value, count) = distribution(finding);
    let worst = finding.worst.iter().map(|worst| {
        let port = &analysis.traffic.ports()[worst.port];
        let ends = finding.ends.as_ref();
        page::WorstPortRow {
            switch: device(fabric, End::Switch(port.switch)),
            port: port.port.0,
            peer: device(fabric, End::Switch(port.peer)),
            load: worst.load as f64,
            sources: ends.map(|ends| ends.sources[worst.port].into()),
            destinations: ends.map(|ends| ends.destinations[worst.port].into()),
        }
    });
    page::PatternSection {
        name: title(finding, analysis.seed),
        about,
        max: finding.max as f64,
        mean: if series { maxima.mean } else { sum as f64 / finding.by_port.len().max(1) as f64 },
        mean_over: if series { "the patterns' maxima" } else { "all ports" }.into(),
        max_bound: (finding.bound > 0).then_some(if series {
            bounds.max.into()
        } else {
            finding.bound as f64
        }),
        mean_bound: (series && finding.bound > 0).then_some(bounds.mean),
        rates: analysis.rates.as_ref().map(|rates| rates.tiles(at)).unwrap_or_default(),
        histogram: page::Histogram {
            value: value.into(),
            count: count.into(),
            bars: bins.iter().map(|bin| (bin.from, bin.count)).collect(),
        },
        percentiles: percentiles(finding)
            .into_iter()
            .map(|(p, v)| (format!("{p} %"), v as f64))
            .collect(),
        worst: worst.collect(),
        heat: Some(heat(analysis, finding)),
    }
}

/// Returns the loads of every port of every switch, the highest level first.
fn heat(analysis: &Analysis<'_>, finding: &Finding) -> page::HeatMap {
    let fabric = analysis.live.fabric;
    let mut rows: Vec<Vec<Option<u64>>> =
        fabric.switches().iter().map(|s| vec![None; usize::from(s.ports)]).collect();
    for (port, &load) in analysis.traffic.ports().iter().zip(&finding.by_port) {
        rows[port.switch.at()][usize::from(port.port.0) - 1] = Some(load);
    }
    let ranks = analysis.ranking.by_rank();
    let level = |(rank, switches): (usize, &Vec<SwitchIndex>)| page::HeatLevel {
        name: if rank == 0 { "Level 1 (leaves)".into() } else { format!("Level {}", rank + 1) },
        switches: switches
            .iter()
            .map(|s| page::HeatRow {
                switch: device(fabric, End::Switch(*s)),
                loads: rows[s.at()].clone(),
            })
            .collect(),
    };
    page::HeatMap { levels: ranks.iter().enumerate().rev().map(level).collect() }
}

/// Returns the hosts with the worst loads, of the patterns that have loads of hosts.
fn hosts(analysis: &Analysis<'_>) -> Vec<page::HostRow> {
    const SHOWN: usize = 50;
    let (fabric, traffic) = (analysis.live.fabric, analysis.traffic);
    let rails = traffic.rails();
    if analysis.findings.iter().all(|finding| finding.by_host.is_empty()) {
        return Vec::new();
    }
    let mut switches: Vec<Vec<page::DeviceName>> = vec![Vec::new(); rails.len()];
    let mut names = vec![page::DeviceName::default(); rails.len()];
    for (position, &n) in traffic.nodes().iter().enumerate() {
        let (host, switch) = (traffic.host_of(position), End::Switch(fabric.node(n).switch));
        let switch = device(fabric, switch);
        if !switches[host].contains(&switch) {
            switches[host].push(switch);
        }
        // An adapter without the name of a host is identified by its GUID.
        let unnamed = host_name(&fabric.adapter_of(n).name).is_none();
        let detail = if unnamed { device(fabric, End::Node(n)).detail } else { String::new() };
        names[host] = page::DeviceName { name: printable(traffic.hosts()[host]), detail };
    }
    let mean = |finding: &Finding, host: usize| {
        let patterns = finding.maxima.len().max(1) as f64;
        finding.by_host.get(host).map(|risk| risk.sum as f64 / patterns)
    };
    let mut hosts: Vec<page::HostRow> = (0..rails.len())
        .map(|host| page::HostRow {
            name: std::mem::take(&mut names[host]),
            nodes: rails[host].into(),
            switches: std::mem::take(&mut switches[host]),
            loads: analysis.findings.iter().map(|finding| mean(finding, host)).collect(),
        })
        .collect();
    let worst = |host: &page::HostRow| host.loads.iter().flatten().sum::<f64>();
    hosts.sort_by(|a, b| {
        worst(b)
            .total_cmp(&worst(a))
            .then_with(|| (&a.name.name, &a.name.detail).cmp(&(&b.name.name, &b.name.detail)))
    });
    hosts.truncate(SHOWN);
    hosts
}
