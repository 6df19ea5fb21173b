//! The findings in words.

use std::fmt::Write as _;

use dmodc::judge::risk::{Cut, DirectedPort, StepKind};
use dmodc::{End, Fabric, NodeIndex, host_name};
use dmodc_formats::printable;
use dmodc_study::analysis::{Finding, Pattern, percentile};
use dmodc_study::answers::analyze::{Analysis, SeriesSummary, WorstHosts, worst_hosts};

use crate::text::{counted, end, number, switch, time};

/// What is said about an analysis besides its findings.
pub(super) struct Remarks {
    /// Mismatches between tables and fabric.
    pub(super) mismatches: String,
    /// The jobs.
    pub(super) jobs: String,
    /// What would help if pairs are not delivered.
    pub(super) hint: String,
}

pub(super) fn text(analysis: &Analysis<'_>, remarks: &Remarks) -> String {
    let traffic = analysis.traffic;
    let mut text = remarks.mismatches.clone();
    let _ = writeln!(
        text,
        "{}, {} between switches ({})",
        counted(traffic.nodes().len(), "node"),
        counted(traffic.ports().len(), "directed port"),
        time(analysis.elapsed),
    );
    text += &undelivered(analysis);
    if let Some(rates) = &analysis.rates {
        text += &rates.speeds_text();
    }
    for (at, finding) in analysis.findings.iter().enumerate() {
        text += &section(analysis, finding);
        if let Some(rates) = &analysis.rates {
            text += &rates.text(at);
        }
    }
    text += &remarks.jobs;
    if !remarks.hint.is_empty() {
        text += "\n";
    }
    text + &remarks.hint
}

fn undelivered(analysis: &Analysis<'_>) -> String {
    let fabric = analysis.live.fabric;
    let mut text = format!("{}\n", analysis.delivery);
    for lost in &analysis.lost {
        let to = end(fabric, End::Node(lost.to));
        let _ = writeln!(text, "  not delivered: from {} to {to}", switch(fabric, lost.from));
    }
    if !analysis.delivery.is_complete() {
        text += "  flows of these pairs are not counted below\n";
    }
    text
}

/// Returns a pattern in words.
pub(super) fn title(finding: &Finding, seed: u64) -> String {
    let count = finding.maxima.len();
    match &finding.pattern {
        Pattern::AllToAll => "every node to every other".into(),
        Pattern::Permutations(_) => {
            format!("{}, seed {seed}", counted(count, "random permutation"))
        }
        Pattern::Shifts(None) => format!("all {}", counted(count, "shift")),
        Pattern::Shifts(Some(_)) => format!("{}, seed {seed}", counted(count, "sampled shift")),
        Pattern::Bisections(_) => format!("{}, seed {seed}", counted(count, "random bisection")),
        Pattern::Ring => "every node to the next, and the last to the first".into(),
        Pattern::RecursiveDoubling | Pattern::Halving => counted(count, "step"),
        Pattern::Tree => "a binary tree, every edge in both directions".into(),
        Pattern::Phases(in_flight) => {
            let messages = counted(in_flight.get(), "message");
            format!(
                "every node to every other in {}, at most {messages} of each node at a time",
                counted(count, "phase")
            )
        }
        Pattern::Neighbours(grid) => {
            let [x, y, z] = grid.lengths;
            format!("every node of a grid of {x} × {y} × {z} to its neighbours")
        }
        Pattern::Incast(senders) => {
            let draws = counted(count, "draw");
            format!("groups in which at most {senders} send to one, {draws}, seed {seed}")
        }
        Pattern::Storage(_) => "all other nodes to the storage nodes, then back".into(),
        Pattern::OneToAll(node) => format!("{node} to every other node"),
        Pattern::AllToOne(node) => format!("every other node to {node}"),
        Pattern::File(path) => format!("the pairs in {path}"),
    }
}

fn section(analysis: &Analysis<'_>, finding: &Finding) -> String {
    let mut text = format!("\n{}: {}\n", finding.pattern, title(finding, analysis.seed));
    text += &headline(analysis, finding);
    if let Some(ends) = &finding.ends {
        let least = number(ends.max_least());
        let _ = writeln!(
            text,
            "  the smaller of sources and destinations of one port: at most {least}"
        );
        let pairs = ends.pairs_by_switches.iter().enumerate().filter(|(_, pairs)| **pairs > 0);
        let pairs: Vec<String> = pairs
            .map(|(switches, pairs)| {
                format!("{} over {}", counted(*pairs, "pair"), counted(switches, "switch"))
            })
            .collect();
        let _ = writeln!(text, "  routes by length: {}", pairs.join(", "));
    }
    let mut sorted = finding.by_port.clone();
    sorted.sort_unstable();
    let parts =
        [50.0, 90.0, 99.0, 99.9].map(|p| format!("{p} %: {}", number(percentile(&sorted, p))));
    let what = if finding.pattern.is_series() { "greatest flows" } else { "flows" };
    let _ = writeln!(text, "  percentiles of {what} per port: {}", parts.join(", "));
    text += &worst(analysis, finding);
    text += &hosts(analysis, finding);
    text
}

/// Returns the most important numbers.
fn headline(analysis: &Analysis<'_>, finding: &Finding) -> String {
    let ratio = |risk: f64, bound: f64| match bound > 0.0 {
        true => format!("the risk is {:.2} × the bound", risk / bound),
        false => "no port between switches has to carry any flow".into(),
    };
    if !finding.pattern.is_series() {
        let sum: u64 = finding.by_port.iter().sum();
        let mean = sum as f64 / finding.by_port.len().max(1) as f64;
        let why = proof(analysis.live.fabric, finding).map(|proof| format!(" ({proof})"));
        return format!(
            "  risk {}: the most flows through one port; mean {mean:.2}\n  bound {}{}; {}\n",
            number(finding.max),
            number(finding.bound),
            why.unwrap_or_default(),
            ratio(finding.max as f64, finding.bound as f64),
        );
    }
    let [maxima, bounds] =
        [&finding.maxima, &finding.bounds].map(|values| SeriesSummary::of(values));
    let line = |name: &str, of: &SeriesSummary| {
        let SeriesSummary { min, median, mean, max } = of;
        format!("  {name:<6}{min:>9}{median:>9}{mean:>9.2}{max:>9}\n")
    };
    let mut text = format!("  {:<6}{:>9}{:>9}{:>9}{:>9}\n", "", "min", "median", "mean", "max");
    text += &line("risk", &maxima);
    text += &line("bound", &bounds);
    let _ = writeln!(text, "  on average {}", ratio(maxima.mean, bounds.mean));
    let risks = finding.maxima.iter().zip(&finding.bounds);
    for (&kind, (max, bound)) in finding.steps.iter().zip(risks) {
        let _ = writeln!(text, "  {}: risk {max}, bound {bound}", step(kind));
    }
    text
}

/// Returns a step in words.
fn step(kind: StepKind) -> String {
    match kind {
        StepKind::FoldIn => "positions beyond a power of two send to a neighbour".into(),
        StepKind::Exchange(distance) => format!("exchange at distance {distance}"),
        StepKind::FoldOut => "positions beyond a power of two get the result".into(),
        StepKind::Write => "to storage".into(),
        StepKind::Read => "from storage".into(),
    }
}

/// Returns the proof of a bound, in words: the cut, and whether flows that stay together matter.
pub(super) fn proof(fabric: &Fabric, finding: &Finding) -> Option<String> {
    let together = match finding.is_by_bundles {
        true => "; flows of one switch to one node stay together",
        false => "",
    };
    finding.cut.map(|cut| bound(fabric, &cut) + together)
}

/// Returns a cut in words.
fn bound(fabric: &Fabric, cut: &Cut) -> String {
    let nodes = counted(cut.nodes, "node");
    let cables = counted(cut.cables, "cable");
    let first = switch(fabric, cut.first);
    match cut.level {
        _ if cut.is_half => format!("{cables} for the {nodes} of the half with {first}"),
        0 => format!("{cables} for the {nodes} of {first}"),
        level => format!("{cables} for the {nodes} around {first} up to level {}", level + 1),
    }
}

pub(super) fn port(fabric: &Fabric, port: &DirectedPort) -> String {
    let (from, to) = (switch(fabric, port.switch), switch(fabric, port.peer));
    format!("{from} port {} to {to}", port.port)
}

fn worst(analysis: &Analysis<'_>, finding: &Finding) -> String {
    let (fabric, traffic) = (analysis.live.fabric, analysis.traffic);
    let mut text = String::new();
    if finding.worst.is_empty() {
        return text;
    }
    text += "  worst ports:\n";
    let node = |n: NodeIndex| {
        let host = host_name(&fabric.adapter_of(n).name).map(printable);
        host.unwrap_or_else(|| fabric.node(n).guid.to_string())
    };
    for worst in &finding.worst {
        let ends = finding.ends.as_ref().map(|ends| {
            let (sources, destinations) = (ends.sources[worst.port], ends.destinations[worst.port]);
            let sources = counted(sources, "source");
            format!(", {sources}, {}", counted(destinations, "destination"))
        });
        let name = port(fabric, &traffic.ports()[worst.port]);
        let _ = writeln!(text, "  {:>9}  {name}{}", number(worst.load), ends.unwrap_or_default());
    }
    if let Some(first) = finding.worst.first().filter(|worst| !worst.flows.is_empty()) {
        let name = |position: u32| node(traffic.nodes()[position as usize]);
        let flows: Vec<String> = first
            .flows
            .iter()
            .map(|&(from, to)| format!("{} → {}", name(from), name(to)))
            .collect();
        let more = if first.load as usize > flows.len() { ", …" } else { "" };
        let _ = writeln!(text, "  flows through the first: {}{more}", flows.join(", "));
    }
    text
}

/// Returns the worst hosts. A host with several nodes is as slow as its slowest node.
fn hosts(analysis: &Analysis<'_>, finding: &Finding) -> String {
    let rails = analysis.traffic.rails();
    if finding.by_host.is_empty() || rails.iter().all(|&rails| rails < 2) {
        return String::new();
    }
    let WorstHosts { means, order } = worst_hosts(finding);
    let all = means.iter().sum::<f64>() / means.len().max(1) as f64;
    let mut text = format!(
        "  hosts with several nodes, by the worst port that any of them uses: {all:.2} on average\n"
    );
    for host in order.into_iter().take(3) {
        let (name, rails, max) =
            (analysis.traffic.hosts()[host], rails[host], finding.by_host[host].max);
        let rails = counted(rails, "node");
        let _ = writeln!(text, "  {:>9.2}  '{name}' ({rails}), at most {max}", means[host]);
    }
    text
}
