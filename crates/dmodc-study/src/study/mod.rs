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
mod error;
pub mod figures;
mod folder;
mod hash;
mod inputs;
mod journal;
mod measure;
mod measures;
mod merge;
mod plan;
mod prepared;
mod rows;
mod run;
mod shard;
mod summary;

pub use cell::Cell;
pub use error::StudyError;
pub use folder::StudyFolder;
pub use inputs::Study;
pub use merge::{BegunShard, MergedTable, StudyStatus, merge, status};
pub use plan::{FabricSource, FaultAmount, FaultLevel, PlannedEngine, PlannedFabric, StudyPlan};
pub use rows::{COLUMNS, StudyRow, read_rows};
pub use run::{ShardResult, ShardRun, StudyProgress};
pub use shard::Shard;
pub use summary::{Field, Record, StudySummary};
