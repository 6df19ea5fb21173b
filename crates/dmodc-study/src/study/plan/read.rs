//! Reads a plan from its TOML file, and checks it. Every error names its line.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use dmodc::fabric::{PRESETS, Shape};
use dmodc::{Amount, Preset};
use dmodc_formats::{ReadError, printable};
use serde::Deserialize;
use toml::Spanned;

use super::{FabricSource, FaultAmount, FaultLevel, PlannedEngine, PlannedFabric, StudyPlan};
use crate::analysis::Pattern;
use crate::engine::EngineName;
use crate::study::error::StudyError;

/// The greatest number of trials: rare events need very many.
const MOST_TRIALS: u32 = 10_000_000;

/// The file before it is checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPlan {
    name: Spanned<String>,
    #[serde(default = "one")]
    seed: u64,
    /// Called `throws` in earlier versions.
    #[serde(alias = "throws")]
    draws: Spanned<u32>,
    engines: Vec<Spanned<String>>,
    #[serde(default)]
    slow: Vec<Spanned<RawSlow>>,
    patterns: Vec<Spanned<String>>,
    #[serde(default)]
    rates: bool,
    fabric: Vec<Spanned<RawFabric>>,
    degradation: Vec<Spanned<RawLevels>>,
}

fn one() -> u64 {
    1
}

/// Engines that take part only in some cells.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawSlow {
    engines: Vec<Spanned<String>>,
    #[serde(alias = "throws")]
    draws: Option<Spanned<u32>>,
    nodes: Option<Spanned<usize>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFabric {
    name: Option<String>,
    pgft: Option<Spanned<String>>,
    directors: Option<Spanned<String>>,
    pods: Option<Spanned<String>>,
    preset: Option<Spanned<String>>,
    file: Option<PathBuf>,
    optional: Option<Spanned<bool>>,
}

/// Degradations: every amount of cables combined with every amount of switches.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawLevels {
    #[serde(default = "none")]
    cables: Vec<FaultAmount>,
    #[serde(default = "none")]
    switches: Vec<FaultAmount>,
}

fn none() -> Vec<FaultAmount> {
    vec![FaultAmount(Amount::ZERO)]
}

/// A mistake in the plan: its byte offset, and a message.
struct PlanError(usize, String);

impl StudyPlan {
    /// Reads a plan.
    ///
    /// # Errors
    /// If the file cannot be read, or something in it is wrong.
    pub fn read(path: &Path) -> Result<Self, StudyError> {
        let io = |error| StudyError::Io(path.display().to_string(), error);
        let text = fs::read_to_string(path).map_err(io)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        StudyPlan::parse(&text, folder).map_err(|error| StudyError::Plan {
            path: path.into(),
            text,
            error,
        })
    }

    /// Reads the text of a plan. Paths of fabrics are relative to `folder`.
    ///
    /// # Errors
    /// Reports the first mistake.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, ReadError> {
        let written = toml::from_str::<RawPlan>(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            PlanError(at, error.message().replace('\n', " "))
        });
        let plan = written.and_then(|written| written.check(folder));
        plan.map_err(|PlanError(at, message)| {
            let before = &text.as_bytes()[..at.min(text.len())];
            let line_start = before.iter().rposition(|&c| c == b'\n').map_or(0, |at| at + 1);
            ReadError {
                line: 1 + before.iter().filter(|&&c| c == b'\n').count() as u32,
                column: 1 + (before.len() - line_start) as u32,
                message,
            }
        })
    }
}

impl RawPlan {
    fn check(self, folder: &Path) -> Result<StudyPlan, PlanError> {
        let (at, name) = (self.name.span().start, self.name.into_inner());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
            let message = format!(
                "'{name}' cannot be used in file names; use only letters, digits and - _ ."
            );
            return Err(PlanError(at, message));
        }
        if name.starts_with("shard-") {
            let message =
                format!("'{name}' would be mistaken for the table of a shard; use another name");
            return Err(PlanError(at, message));
        }
        check_trials(&self.draws)?;
        let mut fabrics: Vec<PlannedFabric> = Vec::new();
        for written in self.fabric {
            let at = written.span().start;
            let fabric = written.into_inner().check(at, folder)?;
            if fabrics.iter().any(|other| other.name == fabric.name) {
                let message = format!(
                    "two fabrics have the name '{}'; give one of them another 'name'",
                    fabric.name
                );
                return Err(PlanError(at, message));
            }
            fabrics.push(fabric);
        }
        let mut levels: Vec<FaultLevel> = Vec::new();
        for written in self.degradation {
            for &cables in &written.get_ref().cables {
                for &switches in &written.get_ref().switches {
                    // Sweeps of cables and of switches both start with the healthy fabric; it is measured once.
                    let level = FaultLevel { cables, switches };
                    let same = |other: &FaultLevel| {
                        let text =
                            |level: &FaultLevel| format!("{} {}", level.cables, level.switches);
                        text(other) == text(&level)
                    };
                    if !levels.iter().any(same) {
                        levels.push(level);
                    }
                }
            }
        }
        let engines = engines(&self.engines, &self.slow)?;
        let patterns = unique(&self.patterns, pattern)?;
        let counts = [engines.len(), patterns.len(), fabrics.len(), levels.len()];
        let what = ["engine", "pattern", "fabric", "degradation"];
        if let Some((_, what)) = counts.iter().zip(what).find(|(count, _)| **count == 0) {
            return Err(PlanError(
                0,
                format!("the plan has no {what}, so nothing would be measured; add at least one"),
            ));
        }
        Ok(StudyPlan {
            name,
            seed: self.seed,
            trials: self.draws.into_inner(),
            engines,
            patterns,
            rates: self.rates,
            fabrics,
            levels,
        })
    }
}

impl RawFabric {
    fn check(self, at: usize, folder: &Path) -> Result<PlannedFabric, PlanError> {
        let wrong_lines = || {
            let what =
                "a fabric needs exactly one of the lines pgft, directors, pods, preset and file";
            PlanError(at, what.into())
        };
        let shapes = [
            notation(self.pgft, "pgft", Shape::Pgft)?,
            notation(self.directors, "directors", Shape::Directors)?,
            notation(self.pods, "pods", Shape::Pods)?,
            self.preset.map(|name| preset(&name)).transpose()?,
        ];
        let mut shapes = shapes.into_iter().flatten();
        let (usual, source) = match (shapes.next(), shapes.next(), self.file) {
            (Some((name, shape)), None, None) => {
                if let Some(optional) = self.optional {
                    let what = "optional is only for fabrics with a file, which may be absent";
                    return Err(PlanError(optional.span().start, what.into()));
                }
                (name, FabricSource::Shape(shape))
            }
            (None, None, Some(file)) => {
                let stem = file.file_stem().unwrap_or(file.as_os_str());
                let is_optional = self.optional.is_some_and(Spanned::into_inner);
                let source = FabricSource::File { path: folder.join(&file), is_optional };
                (stem.to_string_lossy().into_owned(), source)
            }
            _ => return Err(wrong_lines()),
        };
        // Control characters would spoil tables and figures.
        Ok(PlannedFabric { name: printable(&self.name.unwrap_or(usual)), source })
    }
}

/// Reads a shape in its notation. Returns its usual name and the shape.
fn notation<T: FromStr<Err: std::fmt::Display> + ToString>(
    written: Option<Spanned<String>>,
    key: &str,
    shape: impl Fn(T) -> Shape,
) -> Result<Option<(String, Shape)>, PlanError> {
    let Some(written) = written else { return Ok(None) };
    let read = written.get_ref().parse::<T>();
    let read = read.map_err(|why| PlanError(written.span().start, format!("{key}: {why}")))?;
    Ok(Some((read.to_string(), shape(read))))
}

/// Returns the name and the shape of a preset.
fn preset(name: &Spanned<String>) -> Result<(String, Shape), PlanError> {
    let preset = Preset::named(name.get_ref()).ok_or_else(|| {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        let names = names.join(", ");
        let message = format!("there is no preset '{}'; the presets are {names}", name.get_ref());
        PlanError(name.span().start, message)
    })?;
    Ok((preset.name.to_string(), preset.shape()))
}

/// Refuses numbers of trials that make no sense.
fn check_trials(written: &Spanned<u32>) -> Result<(), PlanError> {
    match written.get_ref() {
        1..=MOST_TRIALS => Ok(()),
        _ => Err(PlanError(
            written.span().start,
            format!("draws (the number of random draws) must be from 1 to {MOST_TRIALS}"),
        )),
    }
}

/// Returns the engines that take part in all cells, then the slow ones.
fn engines(
    all: &[Spanned<String>],
    slow: &[Spanned<RawSlow>],
) -> Result<Vec<PlannedEngine>, PlanError> {
    let mut words: Vec<Spanned<String>> = all.to_vec();
    let mut limits = vec![(None, None); all.len()];
    for table in slow {
        let (at, table) = (table.span().start, table.get_ref());
        if table.engines.is_empty() {
            return Err(PlanError(
                at,
                "this [[slow]] table names no engine; list some in its line engines".into(),
            ));
        }
        if table.draws.is_none() && table.nodes.is_none() {
            let what = "a [[slow]] table needs a limit: draws, nodes or both";
            return Err(PlanError(at, what.into()));
        }
        if let Some(written) = &table.draws {
            check_trials(written)?;
        }
        if let Some(nodes) = table.nodes.as_ref().filter(|nodes| *nodes.get_ref() == 0) {
            return Err(PlanError(nodes.span().start, "nodes must be at least 1".into()));
        }
        let limit = (
            table.draws.as_ref().map(|draws| *draws.get_ref()),
            table.nodes.as_ref().map(|nodes| *nodes.get_ref()),
        );
        words.extend_from_slice(&table.engines);
        limits.extend(std::iter::repeat_n(limit, table.engines.len()));
    }
    let names = unique(&words, EngineName::from_str)?;
    let planned = |(name, (trials, nodes))| PlannedEngine { name, trials, nodes };
    Ok(names.into_iter().zip(limits).map(planned).collect())
}

/// Reads a pattern of all nodes. A study cannot name nodes, because another fabric would not have them.
fn pattern(word: &str) -> Result<Pattern, String> {
    match word.parse() {
        Ok(Pattern::OneToAll(_) | Pattern::AllToOne(_) | Pattern::File(_)) | Err(_) => {
            Err(format!(
                "'{word}' is not a pattern for a study: expected {}, with N from 1 to {}",
                Pattern::OF_ALL_NODES,
                Pattern::MOST
            ))
        }
        Ok(pattern) => Ok(pattern),
    }
}

/// Returns the meanings of words. Each must occur only once.
fn unique<T>(
    words: &[Spanned<String>],
    meaning: impl Fn(&str) -> Result<T, String>,
) -> Result<Vec<T>, PlanError>
where
    T: PartialEq,
{
    let mut unique: Vec<T> = Vec::new();
    for word in words {
        let wrong = |message| PlanError(word.span().start, message);
        let value = meaning(word.get_ref()).map_err(wrong)?;
        if unique.contains(&value) {
            return Err(wrong(format!(
                "'{}' is listed twice; remove one of the two",
                word.get_ref()
            )));
        }
        unique.push(value);
    }
    Ok(unique)
}
