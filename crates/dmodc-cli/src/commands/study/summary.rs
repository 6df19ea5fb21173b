//! `dmodc study merge` and `dmodc study summary`.

use anyhow::{Result, anyhow};
use dmodc_study::study::{Field, Record, StudySummary, merge};
use serde_json::{Value, json};

use super::table::{merged, open};
use crate::args::{StudyArgs, StudySummaryArgs};
use crate::text::counted;
use crate::{Answer, output};

pub(super) fn merge_shards(args: &StudyArgs) -> Result<Answer> {
    let (study, folder) = open(args)?;
    let merged = merge(&study, &folder)?;
    if args.json {
        let report = json!({
            "schema": "dmodc/study-merge/1",
            "study": study.plan.name,
            "plan_hash": study.hash,
            "shards": merged.shards,
            "rows": merged.rows,
            "table": merged.table.display().to_string(),
            "summary": merged.summary.display().to_string(),
        });
        output::print(&format!("{report:#}\n"))?;
    } else {
        let (shards, rows) = (counted(merged.shards, "shard"), counted(merged.rows, "row"));
        let (table, summary) = (merged.table.display(), merged.summary.display());
        output::print(&format!("merged {shards} with {rows}: {table}\nsummary: {summary}\n"))?;
    }
    Ok(Answer::Yes)
}

pub(super) fn summarise(args: &StudySummaryArgs) -> Result<Answer> {
    let (study, folder) = open(&args.study)?;
    let (rows, name) = merged(&study, &folder)?;
    let summary = StudySummary::new(&rows);
    let engine = match &args.engine {
        Some(engine) => engine.to_string(),
        None => summary.engines().first().cloned().unwrap_or_default(),
    };
    let text = summary.markdown(&engine).map_err(|error| anyhow!("{name}: {error}"))?;
    if args.study.json {
        let mut versus = summary.versus();
        versus.retain(|record| record.contains(&("engine".into(), Field::Text(engine.clone()))));
        let report = json!({
            "schema": "dmodc/study-summary/1",
            "study": study.plan.name,
            "plan_hash": study.hash,
            "engine": engine,
            "means": objects(&summary.means()),
            "versus": objects(&versus),
        });
        output::print(&format!("{report:#}\n"))?;
    } else {
        output::print(&text)?;
    }
    Ok(Answer::Yes)
}

/// Returns lines of a table as JSON.
fn objects(records: &[Record]) -> Vec<Value> {
    let value = |field: &Field| match field {
        Field::Text(text) => json!(text),
        Field::Number(number) => json!(number),
    };
    let object =
        |record: &Record| record.iter().map(|(name, f)| (name.clone(), value(f))).collect();
    records.iter().map(object).collect()
}
