//! A plan with its fabrics: everything that the results depend on.

use std::fs;
use std::path::{Path, PathBuf};

use dmodc::{Draw, Fabric};
use dmodc_formats::{Dirt, Reading};

use super::cell::Cell;
use super::error::StudyError;
use super::hash::ContentHash;
use super::plan::{FabricSource, FaultLevel, PlannedEngine, StudyPlan};

/// A plan with its fabrics: everything that the results depend on.
#[derive(Debug)]
pub struct Study {
    /// The plan.
    pub plan: StudyPlan,
    /// Its fabrics.
    pub fabrics: Vec<Fabric>,
    /// All units of work, in the order of their rows.
    pub cells: Vec<Cell>,
    /// Equal for equal plans and fabrics.
    pub hash: String,
    /// What was not as it should be in files of fabrics.
    pub dirt: Vec<(PathBuf, Dirt)>,
}

impl Study {
    /// Reads a plan and its fabrics.
    ///
    /// # Errors
    /// If something is missing or wrong.
    pub fn open(path: &Path) -> Result<Self, StudyError> {
        let plan = StudyPlan::read(path)?;
        let mut hash = ContentHash::default();
        hash.take(described(&plan).as_bytes());
        let (mut fabrics, mut dirt) = (Vec::new(), Vec::new());
        for planned in &plan.fabrics {
            let fabric = match &planned.source {
                FabricSource::Pgft(pgft) => pgft.fabric(Default::default()),
                FabricSource::File(file) => {
                    let reading = read_fabric(file, &mut hash)?;
                    dirt.push((file.clone(), reading.dirt));
                    reading.fabric
                }
            };
            can_degrade(path, &plan, &planned.name, &fabric)?;
            fabrics.push(fabric);
        }
        let hash = hash.to_string();
        let mut study = Study { cells: Cell::all(&plan), plan, fabrics, hash, dirt };
        // Where slow engines are the only ones, there are cells that none takes part in.
        let cells = std::mem::take(&mut study.cells);
        study.cells = cells.into_iter().filter(|&cell| study.rows_of(cell) > 0).collect();
        if study.cells.is_empty() {
            let what =
                "every fabric has more nodes than the engines are for: nothing would be measured";
            return Err(StudyError::Fabric(format!("{}: {what}", path.display())));
        }
        Ok(study)
    }

    /// The engines that take part in a cell, as numbers of the plan.
    pub fn engines_of(&self, cell: Cell) -> impl Iterator<Item = usize> {
        let nodes = nodes(&self.fabrics[cell.fabric]);
        let engines = self.plan.engines.iter().enumerate();
        engines.filter(move |(_, engine)| engine.takes_part(cell.throw, nodes)).map(|(at, _)| at)
    }

    /// How many rows a cell has.
    pub fn rows_of(&self, cell: Cell) -> usize {
        self.engines_of(cell).count() * self.plan.patterns.len()
    }
}

/// How many nodes a fabric has, aggregation nodes aside.
pub(super) fn nodes(fabric: &Fabric) -> usize {
    fabric.node_indices().filter(|&n| !fabric.is_aggregation(n)).count()
}

fn read_fabric(file: &Path, hash: &mut ContentHash) -> Result<Reading, StudyError> {
    let name = file.display();
    let text = fs::read(file).map_err(|error| StudyError::Io(name.to_string(), error))?;
    hash.take(&text);
    dmodc_formats::read(&text).map_err(|error| StudyError::Fabric(format!("{name}:{error}")))
}

/// Whether the fabric has as much as is to die.
fn can_degrade(
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

/// The faults of a level: among cables between switches, and switches that are not leaves.
pub(super) fn draw(level: &FaultLevel, seed: u64) -> Draw {
    Draw {
        cables: level.cables.0,
        switches: level.switches.0,
        any_cable: false,
        any_switch: false,
        seed,
    }
}

/// All that is planned, in one way only: comments and the order of keys in the file do not matter.
fn described(plan: &StudyPlan) -> String {
    let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join("|");
    let fabrics = plan.fabrics.iter().map(|fabric| match &fabric.source {
        FabricSource::Pgft(pgft) => format!("{:?} pgft {pgft}", fabric.name),
        FabricSource::File(_) => format!("{:?} file", fabric.name),
    });
    let levels = plan.levels.iter().map(|level| format!("{} {}", level.cables, level.switches));
    let engines = plan.engines.iter().map(|PlannedEngine { name, throws, nodes }| {
        let limit = |limit: Option<u64>| limit.map_or("all".into(), |limit| limit.to_string());
        let nodes = nodes.map(|nodes| nodes as u64);
        format!("{name} {} {}", limit(throws.map(u64::from)), limit(nodes))
    });
    [
        // The second table has other columns than the first.
        format!("dmodc/study-plan/2 {} {} {}", plan.name, plan.seed, plan.throws),
        list(&mut { engines }),
        list(&mut plan.patterns.iter().map(ToString::to_string)),
        list(&mut { fabrics }),
        list(&mut { levels }),
    ]
    .join("\n")
}
