//! What `bench analyze`, `bench rates` and `bench whatif` share: a row for each fabric and each share of failed parts, and the
//! report of all rows.

use anyhow::{Context, Result};
use dmodc_study::bench::BenchCase;
use dmodc_study::machine;
use serde_json::{Value, json};

use super::cases::{Size, sizes};
use super::record::write;
use crate::args::{BenchReportArgs, Dead, MeasuredFabrics, command_line};
use crate::output;

/// The fabric that these commands measure by default. It is smaller than that of `dmodc bench`, because judging takes longer than
/// routing.
const DEFAULT_PRESET: &str = "rlft-36";

/// A report that is to be made.
pub(super) struct Report<'a> {
    /// Identifies the format of the report.
    pub(super) schema: &'static str,
    pub(super) args: &'a BenchReportArgs,
}

impl Report<'_> {
    /// Measures one row after the other, and prints and writes the report. Returns the rows.
    pub(super) fn make(
        &self,
        fabrics: &MeasuredFabrics,
        dead: &[Dead],
        mut measure: impl FnMut(&BenchCase) -> Result<Value>,
        text: impl Fn(&Value) -> String,
    ) -> Result<Vec<Value>> {
        let BenchReportArgs { seed, json, record } = self.args;
        if let Some(folder) = record {
            // Before measuring, so that a folder that cannot be made costs no time.
            std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        }
        let mut rows = Vec::new();
        for Size { name, shape, .. } in sizes(fabrics, DEFAULT_PRESET)? {
            for &Dead { cables, switches } in dead {
                let (name, shape, seed) = (name.clone(), shape.clone(), *seed);
                rows.push(measure(&BenchCase {
                    name,
                    shape,
                    cables,
                    switches,
                    seed,
                    switch_lids: true,
                })?);
            }
        }
        let report = json!({
            "schema": self.schema,
            "command": command_line(),
            "machine": machine::description(),
            "rows": rows,
        });
        if let Some(folder) = record {
            write(&folder.join("record.json"), &format!("{report:#}\n"))?;
        }
        output::print(&match json {
            true => format!("{report:#}\n"),
            false => rows.iter().map(text).collect(),
        })?;
        Ok(rows)
    }
}
