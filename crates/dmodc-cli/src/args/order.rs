//! The command order.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::routing::RoutingArgs;
use super::shared::OutputArgs;

#[derive(Debug, Args)]
pub(crate) struct HostOrderArgs {
    #[command(flatten)]
    pub(crate) routing: RoutingArgs,
    /// The forwarding tables by which risks are measured: a dump of OpenSM, dump_lfts.sh, ibroute or 'dmodc route', or an
    /// array (FILE.npy). Without it, tables are computed as 'dmodc route' does, by --engine.
    pub(crate) tables: Option<PathBuf>,
    /// The hosts of the job, in the order that they would have without this command. The file lists host names (also
    /// folded as in "node[1-4]"), GUIDs or LIDs, or it is a host file of Open MPI. The word 'all', which is the default, stands for all hosts in the natural
    /// order of their names.
    #[arg(long, value_name = "FILE", default_value = "all")]
    pub(crate) hosts: PathBuf,
    /// Choose this number of hosts from the list, so that they share as few ports as possible with all other hosts of the
    /// fabric.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) choose: Option<u32>,
    /// Report hosts that are unknown, listed twice, unnamed or not fully connected, and leave them out. Without this option,
    /// the first such host in the list is an error.
    #[arg(long)]
    pub(crate) skip_unknown: bool,
    /// The format of the list that is written.
    #[arg(long, value_enum, default_value = "hostfile")]
    pub(crate) format: HostFormat,
    /// The number of ranks on each host. In a host file it is written only if this option is given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) slots: Option<u32>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// A format for a list of hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HostFormat {
    /// One host in each line, for mpirun --hostfile.
    Hostfile,
    /// A rank file of Open MPI.
    Rankfile,
    /// One host for each task, for SLURM_HOSTFILE.
    Slurm,
    /// The whole report as JSON, the same as with --json.
    Json,
}
