//! Records of measurements: tables for other programs, and the figure.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use dmodc_study::figure::{RuntimeCurve, runtime};
use serde_json::Value;

use crate::output;

/// Returns the command line, without the path of the program.
pub(super) fn command_line() -> String {
    let quoted = |word: String| match word.contains([' ', ';', '$']) {
        true => format!("\"{word}\""),
        false => word,
    };
    let words = std::env::args().skip(1).map(quoted);
    std::iter::once("dmodc".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    output::to(Some(path), |out| Ok(out.write_all(text.as_bytes())?))
}

/// Returns all values that are not lists, one line for each row.
pub(super) fn rows_csv(rows: &[Value]) -> String {
    // The columns that identify a row come first.
    let mut names = vec!["preset", "pgft", "engine", "nodes", "switches"];
    names.extend(["cables_dead", "switches_dead", "reroute_ms", "memset_ms", "ratio"]);
    for row in rows.iter().filter_map(Value::as_object) {
        for (name, _) in row.iter().filter(|(_, value)| !value.is_array()) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    let mut csv = names.join(",") + "\n";
    for row in rows {
        let values: Vec<String> = names.iter().map(|name| csv_value(&row[*name])).collect();
        csv += &(values.join(",") + "\n");
    }
    csv
}

fn csv_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) if text.contains(',') => format!("\"{text}\""),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Returns every single time, one line for each round.
pub(super) fn times_csv(rows: &[Value]) -> String {
    let mut csv =
        "preset,engine,cables_dead,switches_dead,round,reroute_ms,memset_ms\n".to_string();
    for row in rows {
        let (Some(reroute), Some(memset)) =
            (row["reroute_ms_all"].as_array(), row["memset_ms_all"].as_array())
        else {
            continue;
        };
        for (round, (reroute, memset)) in reroute.iter().zip(memset).enumerate() {
            let about = ["preset", "engine", "cables_dead", "switches_dead"];
            let about: Vec<String> = about.map(|name| csv_value(&row[name])).to_vec();
            csv += &format!("{},{round},{reroute},{memset}\n", about.join(","));
        }
    }
    csv
}

/// Returns the runtime figure as SVG.
pub(super) fn figure(rows: &[Value]) -> Result<String> {
    let mut curves: Vec<RuntimeCurve> = Vec::new();
    let mut add = |name: String, row: &Value, key: &str, is_limit| {
        let (Some(nodes), Some(ms)) = (row["nodes"].as_f64(), row[key].as_f64()) else { return };
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push((nodes, ms)),
            None => curves.push(RuntimeCurve { name, points: vec![(nodes, ms)], is_limit }),
        }
    };
    for row in rows {
        let (cables, switches) = (&row["cables_dead"], &row["switches_dead"]);
        let engine = row["engine"].as_str().unwrap_or("?");
        let dead = |count: &Value, what: &str| match count.as_f64() {
            Some(percent) if percent > 0.0 => Some(format!("{percent} % of {what}")),
            _ => None,
        };
        let dead: Vec<String> =
            [dead(cables, "cables"), dead(switches, "switches")].into_iter().flatten().collect();
        let state = match dead.is_empty() {
            true => "healthy".into(),
            false => format!("{} dead", dead.join(" and ")),
        };
        add(format!("{engine}, {state}"), row, "reroute_ms", false);
    }
    // There is one limit for each size: all rows of a size write the same number of bytes.
    let ours = rows.iter().filter(|row| row["memset_ms"].is_number());
    let healthy = ours.filter(|row| row["cables_dead"] == rows[0]["cables_dead"]);
    for row in healthy.filter(|row| row["switches_dead"] == rows[0]["switches_dead"]) {
        add("memset of as many bytes".into(), row, "memset_ms", true);
    }
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let threads = rows[0]["threads"].as_u64().unwrap_or(0);
    let title = format!("Complete re-routing, {threads} threads");
    runtime(&title, &curves).map_err(anyhow::Error::msg).context("the figure")
}
