//! The rows as a table for people.

use serde_json::Value;

use crate::text::{bytes, counted, number};

/// The columns of the text.
const HEADER: [&str; 12] = [
    "preset", "engine", "nodes", "failed %", "re-route", "memset", "ratio", "1 cable", "1 switch",
    "gain", "memory", "tables",
];

pub(super) fn table(rows: &[Value]) -> String {
    let mut lines: Vec<Vec<String>> = vec![HEADER.map(String::from).to_vec()];
    lines.extend(rows.iter().map(line));
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADER.len()).map(width).collect();
    let on_processor = || {
        let threads = counted(rows[0]["threads"].as_u64().unwrap_or(0), "thread");
        format!("{threads}, kernel {}", rows[0]["kernel"].as_str().unwrap_or("?"))
    };
    let mut text = format!(
        "{}, median of {}\n",
        rows[0]["device"].as_str().map_or_else(on_processor, str::to_owned),
        counted(rows[0]["rounds"].as_u64().unwrap_or(0), "measurement"),
    );
    for line in &lines {
        for (at, (word, width)) in line.iter().zip(&widths).enumerate() {
            text += &match at {
                0 => format!("{word:<width$}"),
                1 => format!("  {word:<width$}"),
                _ => format!("  {word:>width$}"),
            };
        }
        text.push('\n');
    }
    for row in rows.iter().filter(|row| row["over_dmodc"].is_number()) {
        let times = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
        text += &format!(
            "{} {}/{}: measured in turns with dmodc, a re-route takes {:.2} × its time, one cable {:.2} ×\n",
            row["preset"].as_str().unwrap_or("?"),
            row["cables_dead"],
            row["switches_dead"],
            times("over_dmodc"),
            times("apply_cable_over_dmodc"),
        );
    }
    for row in rows.iter().filter(|row| row["over_against"].is_number()) {
        text += &format!(
            "{} {} {}/{}: measured in turns with the PGFT {} ({} nodes, {}), a re-route takes {:.2} × its time\n",
            row["preset"].as_str().unwrap_or("?"),
            row["engine"].as_str().unwrap_or("?"),
            row["cables_dead"],
            row["switches_dead"],
            row["against"].as_str().unwrap_or("?"),
            number(row["against_nodes"].as_u64().unwrap_or(0)),
            counted(row["against_switches"].as_u64().unwrap_or(0), "switch"),
            row["over_against"].as_f64().unwrap_or(f64::NAN),
        );
    }
    for row in rows {
        if let Some(percent) = checked_share(row) {
            text += &format!(
                "{} {} {}/{}: {percent:.1} % of the entries were compared with the simple program (those to {})\n",
                row["preset"].as_str().unwrap_or("?"),
                row["engine"].as_str().unwrap_or("?"),
                row["cables_dead"],
                row["switches_dead"],
                counted(
                    row["checked_destination_switches"].as_u64().unwrap_or(0),
                    "destination switch"
                ),
            );
        }
    }
    for row in rows {
        for kind in ["cable", "switch"] {
            text += &rewritten(row, kind).unwrap_or_default();
        }
    }
    for row in rows.iter().filter(|row| row["changes"].is_number()) {
        text += &format!(
            "{}: {} in one step take {:.2} ms, {:.3} of a whole re-route, {}\n",
            row["preset"].as_str().unwrap_or("?"),
            counted(row["changes"].as_u64().unwrap_or(0), "change"),
            row["apply_changes_ms"].as_f64().unwrap_or(f64::NAN),
            row["apply_changes_ratio"].as_f64().unwrap_or(f64::NAN),
            if row["apply_changes_exact"] == true { "the same tables" } else { "OTHER TABLES" },
        );
    }
    text
}

/// Returns a line about the limit of an update, if it was measured.
fn rewritten(row: &Value, kind: &str) -> Option<String> {
    let count = |key: String, noun: &str| Some(counted(row[key].as_u64()?, noun));
    let rewrite = row[format!("rewrite_{kind}_ms")].as_f64()?;
    Some(format!(
        "{} {} {}/{}: one {kind} changes {} on {} of {}; rewriting these alone takes {rewrite:.2} ms, 1/{:.0} of a \
         re-route, and the update {:.2} × as long\n",
        row["preset"].as_str().unwrap_or("?"),
        row["engine"].as_str().unwrap_or("?"),
        row["cables_dead"],
        row["switches_dead"],
        count(format!("{kind}_entries"), "entry")?,
        count(format!("{kind}_lines"), "cache line")?,
        number(row["entries"].as_u64()?.div_ceil(64)),
        row["reroute_ms"].as_f64()? / rewrite,
        row[format!("apply_{kind}_over_rewrite")].as_f64()?,
    ))
}

fn line(row: &Value) -> Vec<String> {
    let ms = |key: &str| {
        row[key].as_f64().map_or("-".into(), |ms| match row["device"].is_string() {
            // A GPU is faster by orders of magnitude.
            true => format!("{ms:.3} ms"),
            false => format!("{ms:.2} ms"),
        })
    };
    let times = |key: &str| row[key].as_f64().map_or("-".into(), |ratio| format!("{ratio:.2}"));
    let share = |key: &str| match row[key].as_f64() {
        Some(ratio) if ratio > 0.0 => format!("1/{:.0}", 1.0 / ratio),
        _ => "-".into(),
    };
    let verdict = match row["digest_ok"].as_bool() {
        Some(true) => "right",
        Some(false) => "WRONG",
        None if row["error"].is_string() => "refused",
        None => "unchecked",
    };
    let verdict = match checked_share(row) {
        Some(percent) => format!("{verdict} ({percent:.1} %)"),
        None => verdict.into(),
    };
    vec![
        row["preset"].as_str().unwrap_or("?").into(),
        row["engine"].as_str().unwrap_or("?").into(),
        number(row["nodes"].as_u64().unwrap_or(0)),
        format!("{}/{}", row["cables_dead"], row["switches_dead"]).replace(".0", ""),
        ms("reroute_ms"),
        ms("memset_ms"),
        times("ratio"),
        share("apply_cable_ratio"),
        share("apply_switch_ratio"),
        times("gain_ratio"),
        row["peak_extra_bytes"].as_u64().map_or("-".into(), bytes),
        verdict,
    ]
}

/// Returns the percentage of entries that were compared with the oracle; `None` if all were.
fn checked_share(row: &Value) -> Option<f64> {
    row["checked_destination_switches"].as_u64()?;
    let (checked, all) = (row["checked_entries"].as_f64()?, row["entries"].as_f64()?);
    Some(100.0 * checked / all)
}
