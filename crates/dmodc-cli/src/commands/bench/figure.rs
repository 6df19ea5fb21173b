//! `dmodc bench plot`: the times of a record against the sizes of its fabrics.

use std::fs;

use anyhow::{Context, Result, anyhow, bail};
use dmodc_study::figure::{Across, Chart, ChartPoint, Curve, Unit, engine_style};
use serde_json::Value;

use super::record::write;
use crate::args::{BenchPlotArgs, command_line};
use crate::text::number;
use crate::{Answer, output};

/// Draws a record again.
pub(super) fn plot(args: &BenchPlotArgs) -> Result<Answer> {
    let path = args.record.join("record.json");
    let name = path.display().to_string();
    let text = fs::read_to_string(&path).with_context(|| name.clone())?;
    let record: Value = serde_json::from_str(&text).with_context(|| name.clone())?;
    if record["schema"] != "dmodc/bench/1" {
        bail!("{name}: this is not a record of the times of routing");
    }
    let figure = args.output.clone().unwrap_or_else(|| args.record.join("runtime.svg"));
    write(&figure, &svg(&record, &command_line()).with_context(|| name)?)?;
    output::print(&format!("{}\n", figure.display()))?;
    Ok(Answer::Yes)
}

/// Returns the figure of a record as SVG, with the command that draws it.
pub(super) fn svg(record: &Value, command: &str) -> Result<String> {
    let rows: Vec<TimedRow<'_>> = match record["rows"].as_array() {
        Some(rows) => rows.iter().filter_map(TimedRow::new).collect(),
        None => vec![],
    };
    let chart = Figure { record, rows }.chart(command);
    chart.svg().map_err(|error| anyhow!(error)).context("the figure")
}

/// The state of a fabric in which nothing failed.
const NO_FAILURES: &str = "no failures";

/// A row that has a time.
struct TimedRow<'a> {
    row: &'a Value,
    engine: &'a str,
    /// The failures, in words.
    state: String,
    nodes: f64,
    ms: f64,
}

impl<'a> TimedRow<'a> {
    fn new(row: &'a Value) -> Option<Self> {
        let failed = |key: &str, what: &str| {
            let percent = row[key].as_f64().filter(|percent| *percent > 0.0);
            percent.map(|percent| format!("{percent} % of {what}"))
        };
        let failed = [failed("cables_dead", "cables"), failed("switches_dead", "switches")];
        let failed: Vec<String> = failed.into_iter().flatten().collect();
        Some(TimedRow {
            row,
            engine: row["engine"].as_str()?,
            state: if failed.is_empty() { NO_FAILURES.into() } else { failed.join(",\n") },
            nodes: row["nodes"].as_f64()?,
            ms: row["reroute_ms"].as_f64()?,
        })
    }
}

struct Figure<'a> {
    record: &'a Value,
    rows: Vec<TimedRow<'a>>,
}

impl Figure<'_> {
    /// Returns the chart: against the number of nodes, or, if all rows are of one fabric, against the failures.
    fn chart(&self, command: &str) -> Chart {
        let states = distinct(self.rows.iter().map(|row| row.state.clone()));
        let engines = distinct(self.rows.iter().map(|row| row.engine.to_string()));
        let sizes = distinct(self.rows.iter().map(|row| row.nodes.to_string()));
        let is_single = sizes.len() == 1;
        let place = |row: &TimedRow<'_>| match is_single {
            true => states.iter().position(|state| *state == row.state).unwrap_or(0) as f64,
            false => row.nodes,
        };
        let name = |row: &TimedRow<'_>| match (is_single || states.len() == 1, engines.len()) {
            (true, _) => row.engine.to_string(),
            (false, 1) => row.state.clone(),
            (false, _) => format!("{}:\n{}", row.engine, row.state),
        };
        let names = distinct(self.rows.iter().map(name));
        let plain: Vec<&str> = names.iter().map(String::as_str).collect();
        let is_by_state = !is_single && engines.len() == 1 && states.len() > 1;
        let curve = |(at, curve): (usize, &&str)| {
            let rows = self.rows.iter().filter(|row| name(row) == **curve);
            let points = rows.map(|row| (place(row), row.ms)).collect();
            let style = if is_by_state { at } else { engine_style(&plain, at) };
            Curve { name: (*curve).into(), style, points: sorted(points) }
        };
        let curves = plain.iter().enumerate().map(curve).collect();
        let across = match is_single {
            true => Across::Steps(states.iter().map(|state| state.replace('\n', " ")).collect()),
            false => Across::Amounts,
        };
        let across_label =
            if is_single { "failed cables and switches" } else { "nodes of the fabric" };
        let measured = self.record["command"].as_str().unwrap_or_default();
        let mut source = vec![format!("Drawn by: {command}")];
        if measured != command {
            source.push(format!("Measured by: {measured}"));
        }
        Chart {
            title: "How long does it take to compute all forwarding tables?".into(),
            caption: self.caption(is_single),
            source,
            across,
            across_label: across_label.into(),
            up_label: "time to compute all forwarding tables".into(),
            unit: Unit::Milliseconds,
            curves,
            limit: self.limit(&place, is_single),
        }
    }

    fn has_opensm(&self) -> bool {
        self.rows.iter().any(|row| row.engine.starts_with("opensm:"))
    }

    /// Returns the time of writing as many bytes: one for each place, because all rows of a size write the same number. OpenSM's
    /// engines are compared with ours, not with the limit.
    fn limit(&self, place: &impl Fn(&TimedRow<'_>) -> f64, is_single: bool) -> Option<Curve> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for row in self.rows.iter().filter(|_| !self.has_opensm()) {
            let at = place(row);
            if let Some(ms) = row.row["memset_ms"].as_f64()
                && points.iter().all(|(other, _)| *other != at)
            {
                points.push((at, ms));
            }
        }
        // A line needs two points.
        let is_line = points.len() > 1 || is_single;
        let name = "memset".into();
        (is_line && !points.is_empty()).then(|| Curve { name, style: 0, points: sorted(points) })
    }

    fn caption(&self, is_single: bool) -> Vec<String> {
        let ours = self.rows.iter().find(|row| !row.engine.starts_with("opensm:"));
        let count = |key: &str| ours.and_then(|row| row.row[key].as_u64());
        let cpu = self.record["machine"]["cpu"].as_str().unwrap_or("an unknown processor");
        let plural = |count: u64, what: &str| match count {
            1 => format!("1 {what}"),
            _ => format!("{} {what}s", number(count)),
        };
        let mut lines = Vec::new();
        if let (true, Some(row)) = (is_single, self.rows.first()) {
            let preset = row.row["preset"].as_str().unwrap_or_default();
            let (nodes, switches) = (row.row["nodes"].as_u64(), row.row["switches"].as_u64());
            let [nodes, switches] = [nodes, switches].map(|count| number(count.unwrap_or(0)));
            lines.push(format!("Fabric {preset}: {nodes} nodes, {switches} switches."));
        }
        if let (Some(rounds), Some(threads)) = (count("rounds"), count("threads")) {
            let (rounds, threads) = (plural(rounds, "round"), plural(threads, "thread"));
            lines.push(format!("Median of {rounds}, {threads}, {cpu}."));
        }
        lines.push(match self.has_opensm() {
            true => "opensm:… is an engine inside OpenSM on a simulated fabric: hop tables and forwarding tables, 1 run; \
                     OpenSM's own engines use 1 thread. Engines without this prefix run without OpenSM."
                .into(),
            false => "Dashed: memset of as many bytes as the tables have, a limit of the machine.".into(),
        });
        let has_failures = self.rows.iter().any(|row| row.state != NO_FAILURES);
        if has_failures && !is_single {
            lines.push("Percentages are of failed cables and switches.".into());
        }
        lines.push("Lower is better.".into());
        lines
    }
}

/// Returns the different names, in order.
fn distinct(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut names = Vec::new();
    for name in all {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Returns points from left to right.
fn sorted(mut points: Vec<(f64, f64)>) -> Vec<ChartPoint> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points.into_iter().map(|(across, up)| ChartPoint { across, up, range: None }).collect()
}
