//! The folder of a study: shards, journals, the merged table, its summary, figures.
//!
//! A table is written whole or not at all, and its `.meta.json` is written before it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::error::StudyError;
use super::inputs::Study;
use super::plan::PlannedEngine;
use super::rows::{StudyRow, header};
use super::shard::Shard;
use crate::engine::EngineName;
use crate::hash::ContentHash;
use crate::interrupt;
use crate::journal::JournalOwner as _;

/// The folder of the results of a study.
#[derive(Clone, Debug)]
pub struct StudyFolder(PathBuf);

/// A table and its description.
#[derive(Clone, Debug)]
pub(super) struct TableFile {
    pub(super) csv: PathBuf,
    pub(super) meta: PathBuf,
}

impl StudyFolder {
    /// Returns this folder, or NAME.study next to the plan.
    pub fn new(given: Option<&Path>, plan: &Path, study: &Study) -> Self {
        let default = || plan.with_file_name(format!("{}.study", study.plan.name));
        StudyFolder(given.map_or_else(default, Path::to_path_buf))
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    pub(super) fn create(&self) -> Result<(), StudyError> {
        if self.0.exists() && !self.0.is_dir() {
            return Err(io(&self.0, std::io::ErrorKind::NotADirectory.into()));
        }
        fs::create_dir_all(&self.0).map_err(|error| io(&self.0, error))
    }

    /// Returns the merged table: NAME.csv.
    pub(super) fn merged(&self, study: &Study) -> TableFile {
        self.table(&study.plan.name)
    }

    pub(super) fn shard(&self, shard: Shard) -> TableFile {
        self.table(&stem(shard))
    }

    pub(super) fn journal(&self, shard: Shard) -> PathBuf {
        self.0.join(format!("{}.journal", stem(shard)))
    }

    /// Returns the files of the summary: means, pairs of engines, and both as text.
    pub fn summary(&self, study: &Study) -> [PathBuf; 3] {
        let name = &study.plan.name;
        ["summary.csv", "versus.csv", "summary.md"]
            .map(|file| self.0.join(format!("{name}-{file}")))
    }

    /// Returns the path of a figure.
    pub fn figure(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn table(&self, stem: &str) -> TableFile {
        TableFile {
            csv: self.0.join(format!("{stem}.csv")),
            meta: self.0.join(format!("{stem}.meta.json")),
        }
    }

    /// Returns the shards that have a file with this ending, sorted by the number of shards and by index.
    pub(super) fn shards(&self, ending: &str) -> Result<Vec<Shard>, StudyError> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(vec![]),
            Err(error) => return Err(io(&self.0, error)),
        };
        let shard = |name: &str| {
            let (index, count) =
                name.strip_prefix("shard-")?.strip_suffix(ending)?.split_once("-of-")?;
            format!("{}/{}", index.parse::<u32>().ok()?, count.parse::<u32>().ok()?).parse().ok()
        };
        let mut shards: Vec<Shard> = entries
            .flatten()
            .filter_map(|entry| shard(&entry.file_name().to_string_lossy()))
            .collect();
        shards.sort_by_key(|shard| (shard.count, shard.index));
        Ok(shards)
    }
}

fn stem(shard: Shard) -> String {
    format!("shard-{:04}-of-{:04}", shard.index, shard.count)
}

pub(super) fn io(path: &Path, error: std::io::Error) -> StudyError {
    StudyError::Io(path.display().to_string(), error)
}

/// Writes a file whole or not at all.
///
/// # Errors
/// If it cannot be written.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), StudyError> {
    let write = || {
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".dmodc-").suffix(".part");
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let (mut file, listed) = interrupt::file(&builder, folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        interrupt::settle(listed, || file.persist(path)).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| io(path, error))
}

/// Returns the versions of dmodc, and of OpenSM if the plan has one of its engines.
pub(super) fn versions(study: &Study) -> Value {
    let mut versions = json!({ "dmodc": env!("CARGO_PKG_VERSION") });
    if study.plan.engines.iter().any(|engine| matches!(engine.name, EngineName::Opensm(_))) {
        versions["opensm"] = json!(dmodc_lab::opensm_version());
    }
    versions
}

/// Returns the description of a table. It contains nothing in which two runs of the same plan could differ.
fn meta(study: &Study, shard: Shard, versions: &Value) -> Value {
    let plan = &study.plan;
    let texts = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>();
    let slow = plan.engines.iter().filter(|e| e.trials.is_some() || e.nodes.is_some());
    let slow = slow.map(|engine| {
        let PlannedEngine { name, trials, nodes } = engine;
        json!({ "engine": name.to_string(), "throws": trials, "nodes": nodes })
    });
    json!({
        "schema": "dmodc/study/2",
        "study": plan.name,
        "plan_hash": study.hash,
        "versions": versions,
        "seed": plan.seed,
        "throws": plan.trials,
        "engines": texts(&mut plan.engines.iter().map(|engine| engine.name.to_string())),
        "slow": slow.collect::<Vec<_>>(),
        "patterns": texts(&mut plan.patterns.iter().map(ToString::to_string)),
        "fabrics": texts(&mut plan.fabrics.iter().map(|fabric| fabric.name.clone())),
        "shard": { "index": shard.index, "count": shard.count },
    })
}

impl TableFile {
    pub(super) fn write(
        &self,
        study: &Study,
        shard: Shard,
        versions: &Value,
        rows: &[String],
    ) -> Result<(), StudyError> {
        let mut text = header(study.plan.rates) + "\n";
        for row in rows {
            text.push_str(row);
            text.push('\n');
        }
        let mut meta = meta(study, shard, versions);
        meta["rows"] = json!(rows.len());
        meta["digest"] = json!(ContentHash::of(&text));
        write_whole(&self.meta, format!("{meta:#}\n").as_bytes())?;
        write_whole(&self.csv, text.as_bytes())
    }

    /// Reads the description of the table, and refuses one of another plan or version. Returns `None` if there is none.
    pub(super) fn check(&self, study: &Study) -> Result<Option<Value>, StudyError> {
        let text = match fs::read_to_string(&self.meta) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| io(&self.meta, error))?,
        };
        let name = self.meta.display();
        let meta: Value = serde_json::from_str(&text)
            .map_err(|error| StudyError::Mismatch(format!("{name}: {error}")))?;
        let text = |value: &Value| value.as_str().unwrap_or("unknown").to_string();
        let (hash, version) = (text(&meta["plan_hash"]), text(&meta["versions"]["dmodc"]));
        study.check(&name, &hash, &version)?;
        Ok(Some(meta))
    }

    /// Returns the rows as lines, without the header; `None` if there is no table.
    pub(super) fn lines(&self, study: &Study) -> Result<Option<Vec<String>>, StudyError> {
        let text = match fs::read_to_string(&self.csv) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| io(&self.csv, error))?,
        };
        let meta = self.check(study)?;
        let digest = meta.as_ref().and_then(|meta| meta["digest"].as_str());
        if digest != Some(&ContentHash::of(&text)) {
            let what =
                "the table does not fit its .meta.json; remove both files and run the shard again";
            return Err(StudyError::Mismatch(format!("{}: {what}", self.csv.display())));
        }
        Ok(Some(text.lines().skip(1).map(str::to_string).collect()))
    }
}

/// Returns rows as lines.
pub(super) fn lines(rows: &[StudyRow]) -> Vec<String> {
    rows.iter().map(StudyRow::line).collect()
}
