//! The findings as CSV, SVG and HTML.

use std::fmt::Write as _;

use anyhow::{Result, anyhow};
use dmodc::{End, Fabric, SwitchIndex, host_name};
use dmodc_formats::printable;
use dmodc_study::analysis::{Bin, Finding, histogram};
use dmodc_study::answers::analyze::{Analysis, BARS, SeriesSummary, percentiles};
use dmodc_study::{figure, report as page};

use super::words::{proof, title};
use crate::text::number;

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
