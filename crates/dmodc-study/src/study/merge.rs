//! From shards to one table; and what is missing.

use std::path::PathBuf;

use serde_json::Value;

use super::error::StudyError;
use super::folder::{StudyFolder, write_whole};
use super::inputs::Study;
use super::journal::ShardJournal;
use super::rows::StudyRow;
use super::shard::Shard;
use super::summary::{StudySummary, csv};

/// What is there of a study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyStatus {
    /// Shards whose tables are there.
    pub shards: Vec<Shard>,
    /// Shards that were begun and have no table yet.
    pub begun: Vec<BegunShard>,
    /// How many cells the plan has.
    pub cells: usize,
    /// Those that no table has.
    pub missing: Vec<usize>,
    /// Shards that nobody has begun: those of the sharding that most is there of.
    pub holes: Vec<Shard>,
    /// The merged table, if it is there.
    pub merged: Option<PathBuf>,
}

/// A shard that was begun and has no table yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BegunShard {
    /// Which one.
    pub shard: Shard,
    /// How many of its cells are finished.
    pub finished: usize,
    /// How many cells it has.
    pub cells: usize,
    /// Whether a process works on it; `None` if the file system cannot say.
    pub is_running: Option<bool>,
}

/// All shards that are there.
struct CollectedShards {
    shards: Vec<Shard>,
    /// The rows of every cell that some shard has.
    cells: Vec<Option<Vec<String>>>,
    /// What measured them.
    versions: Option<Value>,
}

/// What is there, and what is not.
///
/// # Errors
/// If files cannot be read, or are of another plan.
pub fn status(study: &Study, folder: &StudyFolder) -> Result<StudyStatus, StudyError> {
    let CollectedShards { shards, cells, .. } = collect(study, folder)?;
    let mut begun = Vec::new();
    for shard in folder.shards(".journal")?.into_iter().filter(|shard| !shards.contains(shard)) {
        let path = folder.journal(shard);
        let finished = ShardJournal::look(&path, study)?.len();
        let cells = (0..cells.len()).filter(|&cell| shard.has(cell)).count();
        begun.push(BegunShard { shard, finished, cells, is_running: ShardJournal::is_open(&path) });
    }
    let missing: Vec<usize> = (0..cells.len()).filter(|&cell| cells[cell].is_none()).collect();
    let all = || shards.iter().copied().chain(begun.iter().map(|of| of.shard));
    // Where several shardings were begun, the one with the most shards is the one to finish.
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
    /// Its file.
    pub table: PathBuf,
    /// How many rows it has.
    pub rows: usize,
    /// The shards it was made from.
    pub shards: usize,
    /// Its summary, as Markdown.
    pub summary: PathBuf,
}

/// Puts all shards together, in the order of the plan: the bytes that a single process writes. Beside the table
/// goes its summary.
///
/// # Errors
/// If a shard is missing, damaged or of another plan, or two differ about a cell.
pub fn merge(study: &Study, folder: &StudyFolder) -> Result<MergedTable, StudyError> {
    let CollectedShards { shards, cells, versions } = collect(study, folder)?;
    let missing = cells.iter().filter(|cell| cell.is_none()).count();
    if missing > 0 {
        return Err(StudyError::Mismatch(format!(
            "{}: {missing} of {} cells are missing ('dmodc study status' lists them)",
            folder.path().display(),
            cells.len(),
        )));
    }
    let rows: Vec<String> = cells.into_iter().flatten().flatten().collect();
    let table = folder.merged(study);
    table.check(study)?;
    table.write(study, Shard::WHOLE, &versions.unwrap_or_default(), &rows)?;
    let summary = summarise(study, folder, &rows)?;
    Ok(MergedTable { table: table.csv, rows: rows.len(), shards: shards.len(), summary })
}

/// Writes the summary of a merged table: means, pairs of engines, and both to read.
fn summarise(study: &Study, folder: &StudyFolder, lines: &[String]) -> Result<PathBuf, StudyError> {
    let rows: Option<Vec<StudyRow>> = lines.iter().map(|line| StudyRow::parse(line)).collect();
    let wrong = || StudyError::Mismatch("a shard has lines that are no rows: run it again".into());
    let summary = StudySummary::new(&rows.ok_or_else(wrong)?);
    let [means, versus, text] = folder.summary(study);
    // The first engine of the plan is the one that it is about.
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
            StudyError::Mismatch(format!("{}: {what}: run the shard again", table.csv.display()))
        };
        let measured_by = table.check(study)?.map(|mut meta| meta["versions"].take());
        if versions.is_some() && versions != measured_by {
            return Err(wrong("it was measured by other versions than the shards before it"));
        }
        versions = measured_by;
        let mine: Vec<usize> = (0..cells.len()).filter(|&cell| shard.has(cell)).collect();
        if lines.len() != mine.iter().map(|&cell| study.rows_of(study.cells[cell])).sum::<usize>() {
            return Err(wrong("the table has another number of rows than its part of the plan"));
        }
        let mut rest = &lines[..];
        for cell in mine {
            let (rows, later) = rest.split_at(study.rows_of(study.cells[cell]));
            rest = later;
            match &cells[cell] {
                Some(other) if other != rows => {
                    return Err(wrong("its rows differ from those of another shard"));
                }
                _ => cells[cell] = Some(rows.to_vec()),
            }
        }
    }
    Ok(CollectedShards { shards, cells, versions })
}
