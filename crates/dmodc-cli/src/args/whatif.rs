//! Arguments of `whatif`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dmodc_study::analysis::Pattern;
use dmodc_study::device::DeviceName;
use dmodc_study::study::Shard;

use super::routing::RoutingArgs;

/// Which double faults are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DoubleArg {
    All,
    Sample(usize),
}

impl std::str::FromStr for DoubleArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(DoubleArg::All),
            _ => match text.parse() {
                Ok(count) if count > 0 => Ok(DoubleArg::Sample(count)),
                _ => Err(format!("expected 'all' or a number from 1 on, not '{text}'")),
            },
        }
    }
}

/// Parts that may fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailingParts {
    /// Cables between switches.
    Cables,
    /// Switches.
    Switches,
    /// Cables between switches, and switches.
    Both,
}

/// What makes the answer "no".
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// A fault after which fewer node pairs arrive than now.
    Lost,
}

#[derive(Debug, Args)]
pub(crate) struct WhatifArgs {
    #[command(flatten)]
    pub(crate) routing: RoutingArgs,
    /// Which parts fail, one at a time.
    #[arg(long, value_enum, default_value = "both")]
    pub(crate) parts: FailingParts,
    /// Also let leaves fail. Their nodes fail with them, so fewer pairs are left.
    #[arg(long)]
    pub(crate) any_switch: bool,
    /// Also let two parts fail at once: this number of random pairs of parts, or 'all' pairs.
    #[arg(long, value_name = "N|all")]
    pub(crate) double: Option<DoubleArg>,
    /// The traffic patterns, separated by commas: a2a (always counted), sp, sp:N, rp:N. Without this option they are a2a and
    /// sp; in fabrics with more than 1,024 nodes a2a and sp:64.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) patterns: Option<Vec<Pattern>>,
    /// Where faults are tried: cpu, gpu, or auto, which is the GPU of this machine if there is one. The answer is the same. On a
    /// GPU, the engine is dmodc or stable.
    #[arg(long, value_name = "DEVICE", default_value_t = DeviceName::Cpu)]
    pub(crate) device: DeviceName,
    /// Exit with 1 if this happens after any of the faults.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) fail_on: Option<FailOn>,
    /// Keep finished outcomes in this file. If the command is interrupted, the same command goes on where it stopped.
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// Try only part I of N of the faults, so that several machines can share the work. Each needs a journal of its own.
    #[arg(long, value_name = "I/N", requires = "journal")]
    pub(crate) shard: Option<Shard>,
    /// Try nothing, and report what the journals of all shards contain.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["journal", "shard"])]
    pub(crate) merge: Vec<PathBuf>,
    /// Print at most this number of groups of faults.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) most: usize,
    /// Print the results as JSON instead of text. All groups are in it.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write one line for every fault to this CSV file.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write a report for a browser to this HTML file.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}
