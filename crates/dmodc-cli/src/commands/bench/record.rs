//! Records of measurements: tables for other programs.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use crate::output;

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
