//! OpenSM's engines on the same fabrics.

use anyhow::Result;
use dmodc::{Amount, Draw, Live};
use dmodc_lab::{OpensmTables, tables_of};
use serde_json::{Value, json};

use super::cases::Size;
use super::progress::progress;
use crate::args::BenchArgs;
use crate::commands::opensm::plugin;

/// The time that one of OpenSM's engines may take, in seconds.
const LONGEST: u64 = 1800;

/// Returns the rows of OpenSM's engines, with the time that was spent inside the engine. If an engine refuses a fabric,
/// the row has the reason instead.
pub(super) fn with_opensm(args: &BenchArgs, sizes: &[Size]) -> Result<Vec<Value>> {
    let plugin = plugin(None)?;
    let mut rows = Vec::new();
    for size in sizes {
        let whole = size.shape.fabric(Default::default())?;
        if whole.infiniband_lids().is_err() {
            continue;
        }
        for &dead in &args.dead {
            let draw = Draw {
                cables: Amount::Percent(dead.cables),
                switches: Amount::Percent(dead.switches),
                any_cable: false,
                any_switch: false,
                seed: args.seed,
            };
            let faults = draw.degradation(&whole)?;
            let live = Live::new(&whole, &faults);
            for name in &args.with_opensm {
                progress(&format!("{} {dead} opensm:{name}", size.name));
                let mut row = json!({
                    "preset": size.name,
                    "pgft": size.shape.pgft().map(ToString::to_string),
                    "engine": format!("opensm:{name}"),
                    "nodes": whole.nodes().len(),
                    "switches": whole.switches().len(),
                    "cables_dead": dead.cables,
                    "switches_dead": dead.switches,
                    "seed": args.seed,
                    "threads": 1,
                });
                if size.shape.pgft().is_none() {
                    row[size.shape.kind()] = json!(size.shape.to_string());
                }
                match tables_of(live, name, &plugin, LONGEST) {
                    Ok(OpensmTables { matrices_ms, tables_ms, .. }) => {
                        row["hop_tables_ms"] = json!(matrices_ms);
                        row["tables_ms"] = json!(tables_ms);
                        row["reroute_ms"] = json!(matrices_ms + tables_ms);
                    }
                    Err(error) => row["error"] = json!(error.to_string()),
                }
                rows.push(row);
            }
        }
    }
    Ok(rows)
}
