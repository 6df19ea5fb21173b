//! Merges shards to one table, and reports which are missing.

use std::path::PathBuf;

use dmodc::words::counted;
use serde_json::Value;

use super::error::StudyError;
use super::folder::{StudyFolder, write_whole};
use super::inputs::Study;
use super::rows::StudyRow;
use super::shard::Shard;
use super::summary::{StudySummary, csv};
use crate::journal::Journal;

/// The parts of a study that are finished, begun and missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyStatus {
    /// The shards that have a table.
    pub shards: Vec<Shard>,
    /// The shards that were begun and have no table yet.
    pub begun: Vec<BegunShard>,
    /// The number of cells of the plan.
    pub cells: usize,
    /// The cells that are in no table.
    pub missing: Vec<usize>,
    /// The shards that were not begun, of the division with the most begun or finished shards.
    pub holes: Vec<Shard>,
    /// The merged table, if it is written.
    pub merged: Option<PathBuf>,
}

/// A shard that was begun and has no table yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BegunShard {
    /// The shard.
    pub shard: Shard,
    /// The number of its finished cells.
    pub finished: usize,
    /// The number of its cells.
    pub cells: usize,
    /// Whether a process works on it; `None` if the file system cannot tell.
    pub is_running: Option<bool>,
}

/// All shards that have a table.
struct CollectedShards {
    shards: Vec<Shard>,
    /// The rows of every cell that is in some shard.
    cells: Vec<Option<Vec<String>>>,
    /// The versions of the programs that measured them.
    versions: Option<Value>,
}

/// Returns which parts of a study are finished, begun and missing.
///
/// # Errors
/// If files cannot be read, or belong to another plan.
pub fn status(study: &Study, folder: &StudyFolder) -> Result<StudyStatus, StudyError> {
    let CollectedShards { shards, cells, .. } = collect(study, folder)?;
    let mut begun = Vec::new();
    for shard in folder.shards(".journal")?.into_iter().filter(|shard| !shards.contains(shard)) {
        let path = folder.journal(shard);
        let finished = Journal::finished(&path, study)?.len();
        let cells = (0..cells.len()).filter(|&cell| shard.has(cell)).count();
        begun.push(BegunShard { shard, finished, cells, is_running: Journal::is_open(&path) });
    }
    let missing: Vec<usize> = (0..cells.len()).filter(|&cell| cells[cell].is_none()).collect();
    let all = || shards.iter().copied().chain(begun.iter().map(|of| of.shard));
    // If divisions into several numbers of shards were begun, the one with the most shards is to be finished.
    let count = all().map(|shard| shard.count).max_by_key(|&count| {
        let known = all().filter(|shard| shard.count == count).count();
        (known, std::cmp::Reverse(count))
    });
    let is_begun = |shard: &Shard| begun.iter().any(|of| of.shard == *shard);
    let has_hole = |shard: &Shard| !is_begun(shard) && missing.iter().any(|&cell| shard.has(cell));
    let count = count.unwrap_or(1);
    let holes = (1..=count).map(|index| Shard { index, count }).filter(has_hole).collect();
    let merged = folder.merged(study);
    let is_merged = merged.lines(study)?.is_some();
    Ok(StudyStatus {
        cells: cells.len(),
        holes,
        missing,
        begun,
        shards,
        merged: is_merged.then_some(merged.csv),
    })
}

/// The merged table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedTable {
    /// The file of the table.
    pub table: PathBuf,
    /// The number of its rows.
    pub rows: usize,
    /// The number of shards from which it was made.
    pub shards: usize,
    /// Its summary, as Markdown.
    pub summary: PathBuf,
}

/// Merges all shards in the order of the plan, to the bytes that a single process writes. Also writes the summary.
///
/// # Errors
/// If a shard is missing, damaged or of another plan, or the rows of a cell differ between two shards.
pub fn merge(study: &Study, folder: &StudyFolder) -> Result<MergedTable, StudyError> {
    let CollectedShards { shards, cells, versions } = collect(study, folder)?;
    let missing = cells.iter().filter(|cell| cell.is_none()).count();
    if missing > 0 {
        return Err(StudyError::Mismatch(format!(
            "{}: {missing} of {} not measured yet; 'dmodc study status' shows the commands that measure them",
            folder.path().display(),
            counted(cells.len(), "cell"),
        )));
    }
    let rows: Vec<String> = cells.into_iter().flatten().flatten().collect();
    let table = folder.merged(study);
    table.check(study)?;
    table.write(study, Shard::WHOLE, &versions.unwrap_or_default(), &rows)?;
    let summary = summarise(study, folder, &rows)?;
    Ok(MergedTable { table: table.csv, rows: rows.len(), shards: shards.len(), summary })
}

/// Writes the summary of a merged table: means, pairs of engines, and both as text.
fn summarise(study: &Study, folder: &StudyFolder, lines: &[String]) -> Result<PathBuf, StudyError> {
    let parse = |line: &String| StudyRow::parse(line, study.plan.rates);
    let rows: Option<Vec<StudyRow>> = lines.iter().map(parse).collect();
    let wrong = || {
        StudyError::Mismatch(
            "a table of a shard has damaged lines; remove it and run the shard again".into(),
        )
    };
    let summary = StudySummary::new(&rows.ok_or_else(wrong)?);
    let [means, versus, text] = folder.summary(study);
    // The text compares the first engine of the plan with all others.
    let first = summary.engines().first().cloned().unwrap_or_default();
    write_whole(&means, csv(&summary.means()).as_bytes())?;
    write_whole(&versus, csv(&summary.versus()).as_bytes())?;
    write_whole(&text, summary.markdown(&first).map_err(StudyError::Mismatch)?.as_bytes())?;
    Ok(text)
}

fn collect(study: &Study, folder: &StudyFolder) -> Result<CollectedShards, StudyError> {
    let mut cells = vec![None; study.cells.len()];
    let mut versions: Option<Value> = None;
    let shards = folder.shards(".csv")?;
    for &shard in &shards {
        let table = folder.shard(shard);
        let Some(lines) = table.lines(study)? else { continue };
        let wrong = |what: &str| {
            StudyError::Mismatch(format!(
                "{}: {what}; remove the table and run the shard again",
                table.csv.display()
            ))
        };
        let measured_by = table.check(study)?.map(|mut meta| meta["versions"].take());
        if versions.is_some() && versions != measured_by {
            return Err(wrong(
                "the shard was measured by other versions of the programs than the shards before it",
            ));
        }
        versions = measured_by;
        let mine: Vec<usize> = (0..cells.len()).filter(|&cell| shard.has(cell)).collect();
        if lines.len() != mine.iter().map(|&cell| study.rows_of(study.cells[cell])).sum::<usize>() {
            return Err(wrong("the table has not the number of rows that the plan asks for"));
        }
        let mut rest = &lines[..];
        for cell in mine {
            let (rows, later) = rest.split_at(study.rows_of(study.cells[cell]));
            rest = later;
            match &cells[cell] {
                Some(other) if other != rows => {
                    return Err(wrong("rows of the table differ from those of another shard"));
                }
                _ => cells[cell] = Some(rows.to_vec()),
            }
        }
    }
    Ok(CollectedShards { shards, cells, versions })
}
