//! Studies: fabrics × degradations × engines × patterns, measured after a plan, as tidy rows and figures.
//!
//! | | |
//! |---|---|
//! | `plan` | the plan, and the TOML file from which it is read |
//! | `inputs` | a plan with its fabrics |
//! | `cell` | the unit of work: one trial of one degradation on one fabric, all engines and patterns |
//! | `prepared` | a healthy fabric with its tables, and the measurements of its cells |
//! | `seeds` | all seeds follow from that of the plan |
//! | `measure` | what is measured of tables, and how rows say it |
//! | `on_gpu` | the same measurements on a GPU |
//! | `rows` | one CSV row for each measurement |
//! | `shard` | a part of the cells, chosen by the command line, Slurm or MPI |
//! | `folder` | files that are written whole or not at all |
//! | `run`, `merge` | from cells to shards, from shards to one table |
//! | `measures` | the numbers by which engines are compared |
//! | `chance` | what a sample says about chances |
//! | `summary` | from the table to means, and to comparisons of engines on the same trials |
//! | `figures` | from the table to drawings |
//!
//! The list of cells depends only on the plan, and the rows of a cell only on the cell: not on the machine, its threads, or
//! the shard of the cell. So shards are all that several machines need: whoever runs them, merging gives the bytes of a
//! single process.
//!
//! A *trial* is one random draw of a degradation. Plans and tables call it `throw`, a name that files keep.

mod cell;
mod chance;
mod error;
pub mod figures;
mod folder;
mod inputs;
mod measure;
mod measures;
mod merge;
#[cfg(feature = "gpu")]
mod on_gpu;
mod plan;
mod prepared;
mod rows;
mod run;
mod seeds;
mod shard;
mod summary;

pub use cell::Cell;
pub use error::StudyError;
pub use folder::StudyFolder;
pub use inputs::Study;
pub use merge::{BegunShard, MergedTable, StudyStatus, merge, status};
pub use plan::{FabricSource, FaultAmount, FaultLevel, PlannedEngine, PlannedFabric, StudyPlan};
pub use rows::{COLUMNS, RATE_COLUMNS, StudyRow, read_rows};
pub use run::{ShardResult, ShardRun, StudyProgress};
pub use shard::Shard;
pub use summary::{Field, Record, StudySummary};
