//! Arguments of `bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use dmodc::Pgft;
use dmodc_lab::ENGINES;
use dmodc_study::engine::EngineName;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) what: Option<BenchCommand>,
    /// Presets to measure on ('generate preset' lists them); without one or a tuple, quantum2-max.
    #[arg(long = "preset", value_name = "NAME", value_delimiter = ',')]
    pub(crate) presets: Vec<String>,
    /// PGFT tuples to measure on, such as "3; 24,18,20; 1,12,20; 1,1,1".
    #[arg(long = "pgft", value_name = "TUPLE")]
    pub(crate) tuples: Vec<Pgft>,
    /// Dead cables and dead switches, in percent.
    #[arg(
        long = "dead",
        value_name = "CABLES/SWITCHES",
        value_delimiter = ',',
        default_value = "0/0,1/0,10/1"
    )]
    pub(crate) dead: Vec<Dead>,
    /// Algorithms to measure: dmodc, paper, stable (with the whole fabric as its reference), dmodk.
    #[arg(long = "engine", value_delimiter = ',', default_value = "dmodc")]
    pub(crate) engines: Vec<EngineName>,
    /// Measure these engines of OpenSM on the same fabrics, too, inside OpenSM on a simulated fabric.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        num_args = 0..=1,
        default_missing_value = "minhop,updn,ftree",
        value_parser = clap::builder::PossibleValuesParser::new(ENGINES)
    )]
    pub(crate) with_opensm: Vec<String>,
    /// Give switches' own LIDs columns, too.
    #[arg(long)]
    pub(crate) switch_lids: bool,
    /// Compute a digest of the tables without keeping them: for fabrics of any size.
    #[arg(long)]
    pub(crate) stream: bool,
    /// How often each time is taken; the median counts.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rounds: u32,
    /// Measure this number of mixed faults and repairs in one step, too.
    #[arg(long, value_name = "N", conflicts_with = "stream")]
    pub(crate) changes: Option<usize>,
    /// The form of the inner loops, instead of the best for this processor.
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) kernel: Option<KernelName>,
    /// The seed of the faults.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Do not compare with the naive oracle, which takes longer than everything else. (Of large tables of the engine
    /// stable only a sample is compared; the report shows how much.)
    #[arg(long)]
    pub(crate) no_check: bool,
    /// Draw the times against the sizes into this file, as SVG.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Write rows, single times, figure and machine into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) record: Option<PathBuf>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Dead cables and switches, in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dead {
    pub(crate) cables: f64,
    pub(crate) switches: f64,
}

impl std::str::FromStr for Dead {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = |text: &str| match text.trim().trim_end_matches('%').parse::<f64>() {
            Ok(percent) if (0.0..=100.0).contains(&percent) => Some(percent),
            _ => None,
        };
        text.split_once('/')
            .and_then(|(cables, switches)| {
                Some(Dead { cables: percent(cables)?, switches: percent(switches)? })
            })
            .ok_or_else(|| format!("'{text}' is not two percentages such as 10/1"))
    }
}

impl std::fmt::Display for Dead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.cables, self.switches)
    }
}

/// A form of the inner loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum KernelName {
    Portable,
    Avx2,
    Avx512,
}

/// Other measurements.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Measure judging (all-to-all, permutations, shifts), compared with following every pair hop by hop.
    Analyze(BenchAnalyzeArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BenchAnalyzeArgs {
    /// Presets to measure on ('generate preset' lists them); without one or a tuple, rlft-36.
    #[arg(long = "preset", value_name = "NAME", value_delimiter = ',')]
    pub(crate) presets: Vec<String>,
    /// PGFT tuples to measure on, such as "3; 24,18,20; 1,12,20; 1,1,1".
    #[arg(long = "pgft", value_name = "TUPLE")]
    pub(crate) tuples: Vec<Pgft>,
    /// Dead cables and dead switches, in percent.
    #[arg(
        long = "dead",
        value_name = "CABLES/SWITCHES",
        value_delimiter = ',',
        default_value = "0/0,1/0"
    )]
    pub(crate) dead: Vec<Dead>,
    /// The seed of the faults and permutations.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Leave out the naive all-to-all, which takes minutes on large fabrics.
    #[arg(long)]
    pub(crate) no_naive: bool,
    /// How often each thing is measured; the least time counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write record.json into this folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) record: Option<PathBuf>,
}
