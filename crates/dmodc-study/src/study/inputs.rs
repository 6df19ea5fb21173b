//! A plan with its fabrics: everything that the results depend on.

use std::path::{Path, PathBuf};
use std::{fs, io};

use dmodc::{Draw, Fabric};
use dmodc_formats::{Dirt, Reading};

use super::cell::Cell;
use super::error::StudyError;
use super::plan::{FabricSource, FaultLevel, PlannedEngine, StudyPlan};
use crate::hash::ContentHash;
use crate::journal::JournalOwner;

/// A plan with its fabrics: everything that the results depend on.
#[derive(Debug)]
pub struct Study {
    /// The plan of the study.
    pub plan: StudyPlan,
    /// The healthy fabrics of the plan.
    pub fabrics: Vec<Fabric>,
    /// All units of work, in the order of their rows.
    pub cells: Vec<Cell>,
    /// Equal for equal plans and fabrics.
    pub hash: String,
    /// What the readers found wrong in files of fabrics, file by file.
    pub dirt: Vec<(PathBuf, Dirt)>,
    /// Optional fabrics that were left out because their files are absent: their names and files. The plan has them no more.
    pub skipped: Vec<(String, PathBuf)>,
}

impl JournalOwner for Study {
    const KIND: &'static str = "dmodc/study-journal/2";
    const OF: &'static str = "plan";
    const ADVICE: &'static str = "use another folder with --output";

    fn hash(&self) -> &str {
        &self.hash
    }

    fn rows_of(&self, cell: usize) -> Option<usize> {
        Some(Study::rows_of(self, *self.cells.get(cell)?))
    }
}

impl Study {
    /// Reads a plan and its fabrics.
    ///
    /// # Errors
    /// If a file is missing, or there is a mistake in one.
    pub fn open(path: &Path) -> Result<Self, StudyError> {
        Self::new(StudyPlan::read(path)?, path)
    }

    /// Takes a plan, which may have [engines of your own](crate::engine::EngineName::Own), and reads its fabrics. `path`
    /// stands for the plan in messages.
    ///
    /// # Errors
    /// If a file of a fabric is missing, or there is a mistake in one or in the plan.
    pub fn new(mut plan: StudyPlan, path: &Path) -> Result<Self, StudyError> {
        // The results of the other fabrics are those of a plan without these: seeds do not depend on fabrics.
        let skipped = skip_absent(&mut plan);
        if plan.fabrics.is_empty() {
            let files: Vec<String> =
                skipped.iter().map(|(_, file)| file.display().to_string()).collect();
            let what = "the files of all fabrics are absent, so nothing would be measured";
            let files = files.join(", ");
            return Err(StudyError::Fabric(format!("{}: {what}: {files}", path.display())));
        }
        let mut hash = ContentHash::default();
        hash.take(canonical(&plan).as_bytes());
        let (mut fabrics, mut dirt) = (Vec::new(), Vec::new());
        for planned in &plan.fabrics {
            let fabric = match &planned.source {
                FabricSource::Shape(shape) => {
                    let fabric = shape.fabric(Default::default());
                    fabric.map_err(|why| {
                        let (plan, name) = (path.display(), &planned.name);
                        StudyError::Fabric(format!("{plan}: fabric '{name}': {why}"))
                    })?
                }
                FabricSource::File { path: file, .. } => {
                    let (plan, name) = (path.display(), &planned.name);
                    let what = format!("{plan}: fabric '{name}': {}", file.display());
                    let reading = read_fabric(file, &what, &mut hash)?;
                    dirt.push((file.clone(), reading.dirt));
                    reading.fabric
                }
            };
            check_levels(path, &plan, &planned.name, &fabric)?;
            check_rates(path, &plan, &planned.name, &fabric)?;
            fabrics.push(fabric);
        }
        let hash = hash.to_string();
        let mut study = Study { cells: Cell::all(&plan), plan, fabrics, hash, dirt, skipped };
        // If all engines are slow ones, there may be cells in which no engine takes part.
        let cells = std::mem::take(&mut study.cells);
        study.cells = cells.into_iter().filter(|&cell| study.rows_of(cell) > 0).collect();
        if study.cells.is_empty() {
            let what = "every fabric has more nodes than the limits of the engines allow, so nothing would be measured; raise 'nodes' in [[slow]]";
            return Err(StudyError::Fabric(format!("{}: {what}", path.display())));
        }
        Ok(study)
    }

    /// Returns the engines that take part in a cell, as indices of the plan.
    pub fn engines_of(&self, cell: Cell) -> impl Iterator<Item = usize> {
        let nodes = nodes(&self.fabrics[cell.fabric]);
        let engines = self.plan.engines.iter().enumerate();
        engines.filter(move |(_, engine)| engine.takes_part(cell.trial, nodes)).map(|(at, _)| at)
    }

    /// Returns the number of rows of a cell.
    pub fn rows_of(&self, cell: Cell) -> usize {
        self.engines_of(cell).count() * self.plan.patterns.len()
    }
}

/// Returns the number of nodes of a fabric, without aggregation nodes.
pub(super) fn nodes(fabric: &Fabric) -> usize {
    fabric.node_indices().filter(|&n| !fabric.is_aggregation(n)).count()
}

/// Takes optional fabrics whose files are absent out of a plan. Returns their names and files.
fn skip_absent(plan: &mut StudyPlan) -> Vec<(String, PathBuf)> {
    let mut skipped = vec![];
    plan.fabrics.retain(|fabric| match &fabric.source {
        FabricSource::File { path, is_optional: true } if !path.exists() => {
            skipped.push((fabric.name.clone(), path.clone()));
            false
        }
        _ => true,
    });
    skipped
}

/// Reads the file of a fabric. `what` names the plan, the fabric and the file.
fn read_fabric(file: &Path, what: &str, hash: &mut ContentHash) -> Result<Reading, StudyError> {
    let text = fs::read(file).map_err(|error| {
        let hint = match error.kind() {
            io::ErrorKind::NotFound => {
                " (hint: with the line 'optional = true' the fabric is skipped)"
            }
            _ => "",
        };
        StudyError::Fabric(format!("{what}: {error}{hint}"))
    })?;
    hash.take(&text);
    let name = file.display();
    dmodc_formats::read(&text).map_err(|error| StudyError::Fabric(format!("{name}:{error}")))
}

/// Checks that the fabric has as many parts as shall die.
fn check_levels(
    path: &Path,
    plan: &StudyPlan,
    name: &str,
    fabric: &Fabric,
) -> Result<(), StudyError> {
    for level in &plan.levels {
        let drawn = draw(level, 0).degradation(fabric);
        drawn.map_err(|error| {
            StudyError::Fabric(format!("{}: fabric '{name}': {error}", path.display()))
        })?;
    }
    Ok(())
}

/// Checks that the rates of all patterns can be computed, if the plan asks for rates.
fn check_rates(
    path: &Path,
    plan: &StudyPlan,
    name: &str,
    fabric: &Fabric,
) -> Result<(), StudyError> {
    for pattern in plan.patterns.iter().filter(|_| plan.rates) {
        pattern.check_rates(nodes(fabric), 0).map_err(|error| {
            StudyError::Fabric(format!("{}: fabric '{name}': {error}", path.display()))
        })?;
    }
    Ok(())
}

/// Returns the draw of a level: among cables between switches, and switches that are not leaves.
pub(super) fn draw(level: &FaultLevel, seed: u64) -> Draw {
    Draw {
        cables: level.cables.0,
        switches: level.switches.0,
        any_cable: false,
        any_switch: false,
        seed,
    }
}

/// Returns the plan in a canonical form: comments and the order of keys in the file do not matter.
fn canonical(plan: &StudyPlan) -> String {
    let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join("|");
    let fabrics = plan.fabrics.iter().map(|fabric| match &fabric.source {
        FabricSource::Shape(shape) => format!("{:?} {} {shape}", fabric.name, shape.kind()),
        FabricSource::File { .. } => format!("{:?} file", fabric.name),
    });
    let levels = plan.levels.iter().map(|level| format!("{} {}", level.cables, level.switches));
    let engines = plan.engines.iter().map(|PlannedEngine { name, trials, nodes }| {
        let limit = |limit: Option<u64>| limit.map_or("all".into(), |limit| limit.to_string());
        let nodes = nodes.map(|nodes| nodes as u64);
        format!("{name} {} {}", limit(trials.map(u64::from)), limit(nodes))
    });
    let mut lines = vec![
        // The second version of the table has other columns than the first.
        format!("dmodc/study-plan/2 {} {} {}", plan.name, plan.seed, plan.trials),
        list(&mut { engines }),
        list(&mut plan.patterns.iter().map(ToString::to_string)),
        list(&mut { fabrics }),
        list(&mut { levels }),
    ];
    // Plans without rates have the same form as before there were any.
    lines.extend(plan.rates.then(|| "rates".to_string()));
    lines.join("\n")
}
