//! Studies: fabrics × degradations × engines × patterns, as a plan says, to tidy rows and figures.
//!
//! | | |
//! |---|---|
//! | `plan` | the TOML file |
//! | `cell` | the unit of work: one throw of one degradation on one fabric, all engines and patterns |
//! | `measure` | what is measured of one table |
//! | `rows` | one CSV row for each measurement |
//! | `shard` | a part of the cells, told by the command line, Slurm or MPI |
//! | `folder`, `journal` | files that are there whole or not at all, and what a killed run had finished |
//! | `run`, `merge` | from cells to shards, from shards to one table |
//! | `measures` | what engines are compared by |
//! | `summary` | from the table to means, and engines beside each other on equal throws |
//! | `figures` | from the table to drawings |
//!
//! The list of cells follows from the plan alone, and a cell's rows from the cell alone: not from the
//! machine, its threads, or the shard that it happens to be in. So shards are the only thing that more
//! than one machine needs: whoever runs them, merging gives the bytes of a single process.

mod cell;
pub mod figures;
mod folder;
mod journal;
mod measure;
mod measures;
mod merge;
mod plan;
mod rows;
mod run;
mod shard;
mod summary;

pub use cell::Cell;
pub use folder::Folder;
pub use merge::{Begun, Merged, Status, merge, status};
pub use plan::{Asked, Level, Plan, PlannedEngine, PlannedFabric, Source};
pub use rows::{COLUMNS, Row, read_rows};
pub use run::{Done, Progress, Run};
pub use shard::Shard;
pub use summary::{Field, Record, Summary};

use std::fs;
use std::path::{Path, PathBuf};

use dmodc::{Draw, Fabric};
use dmodc_formats::{Dirt, ReadError, Reading};

/// Why a study does not go on.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A file cannot be read or written.
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
    /// The plan is wrong.
    #[error("{}:{error}", path.display())]
    Plan {
        /// Its file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// The place, and what is wrong there.
        error: ReadError,
    },
    /// A fabric of the plan is no fabric, or has not what is to die.
    #[error("{0}")]
    Fabric(String),
    /// What is there does not belong together.
    #[error("{0}")]
    Mismatch(String),
    /// A figure cannot be drawn.
    #[error("{0}")]
    Figure(String),
}

/// A plan with its fabrics: everything that the results depend on.
#[derive(Debug)]
pub struct Study {
    /// The plan.
    pub plan: Plan,
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
        let plan = Plan::read(path)?;
        let mut hash = Hash::default();
        hash.take(described(&plan).as_bytes());
        let (mut fabrics, mut dirt) = (Vec::new(), Vec::new());
        for planned in &plan.fabrics {
            let fabric = match &planned.source {
                Source::Pgft(pgft) => pgft.fabric(Default::default()),
                Source::File(file) => {
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
fn nodes(fabric: &Fabric) -> usize {
    fabric.node_indices().filter(|&n| !fabric.is_aggregation(n)).count()
}

fn read_fabric(file: &Path, hash: &mut Hash) -> Result<Reading, StudyError> {
    let name = file.display();
    let text = fs::read(file).map_err(|error| StudyError::Io(name.to_string(), error))?;
    hash.take(&text);
    dmodc_formats::read(&text).map_err(|error| StudyError::Fabric(format!("{name}:{error}")))
}

/// Whether the fabric has as much as is to die.
fn can_degrade(path: &Path, plan: &Plan, name: &str, fabric: &Fabric) -> Result<(), StudyError> {
    for level in &plan.levels {
        let drawn = draw(level, 0).degradation(fabric);
        drawn.map_err(|error| {
            StudyError::Fabric(format!("{}: fabric '{name}': {error}", path.display()))
        })?;
    }
    Ok(())
}

/// The faults of a level: among cables between switches, and switches that are not leaves.
fn draw(level: &Level, seed: u64) -> Draw {
    Draw {
        cables: level.cables.0,
        switches: level.switches.0,
        any_cable: false,
        any_switch: false,
        seed,
    }
}

/// All that is planned, in one way only: comments and the order of keys in the file do not matter.
fn described(plan: &Plan) -> String {
    let list = |items: &mut dyn Iterator<Item = String>| items.collect::<Vec<_>>().join("|");
    let fabrics = plan.fabrics.iter().map(|fabric| match &fabric.source {
        Source::Pgft(pgft) => format!("{:?} pgft {pgft}", fabric.name),
        Source::File(_) => format!("{:?} file", fabric.name),
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

/// FNV-1a with 128 bits: it tells mistakes, not forgeries.
#[derive(Clone, Copy)]
struct Hash(u128);

impl Default for Hash {
    fn default() -> Self {
        Hash(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }
}

impl Hash {
    fn take(&mut self, bytes: &[u8]) {
        // The length first, so that parts cannot be confused.
        for &byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u128::from(byte)).wrapping_mul((1 << 88) + 0x13b);
        }
    }

    /// Of one text.
    fn of(text: &str) -> String {
        let mut hash = Hash::default();
        hash.take(text.as_bytes());
        hash.to_string()
    }
}

impl std::fmt::Display for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
