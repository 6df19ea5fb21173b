//! Commands that run many cases or OpenSM itself: study and opensm.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use dmodc_study::engine::EngineName;
use dmodc_study::lab::ENGINES;
use dmodc_study::study::Shard;

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// Measure: everything, or one shard of it. What an earlier run had finished is kept.
    Run(StudyRunArgs),
    /// Tell what is measured and what is missing; the answer is no if something is.
    Status(StudyArgs),
    /// Put the tables of all shards together: the same bytes as of a single run.
    Merge(StudyArgs),
    /// Tell the merged table in short: means over throws, and engines beside each other on equal throws.
    Summary(StudySummaryArgs),
    /// Draw the merged table: risk, updates and validity against degradation, as SVG and PNG.
    Plot(StudyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    /// The plan: a TOML file; studies/quick.toml explains itself.
    pub(crate) plan: PathBuf,
    /// Where results are, instead of NAME.study beside the plan.
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Run and merge write the same for the plan's first engine: NAME-summary.md to read, NAME-summary.csv with \
                  all means, and NAME-versus.csv with every pair of engines over the throws that both have."
)]
pub(crate) struct StudySummaryArgs {
    #[command(flatten)]
    pub(crate) study: StudyArgs,
    /// The engine that is held against each of the others; the plan's first one, if none is given.
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<EngineName>,
}

#[derive(Debug, Args)]
pub(crate) struct StudyRunArgs {
    #[command(flatten)]
    pub(crate) study: StudyArgs,
    /// Measure this part of the plan only. Without it, the environment of a Slurm array or step, or of MPI
    /// ranks, tells the part, so that sbatch --array, srun and mpirun work as they are.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// The plugin, for OpenSM's engines, if it is not beside this program or where libraries are.
    #[arg(long, value_name = "FILE")]
    pub(crate) plugin: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OpensmCommand {
    /// Start ibsim and OpenSM on a fabric, let things happen to it, and report on each.
    #[command(after_help = dmodc_study::lab::GRAMMAR)]
    Lab(LabArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    /// The fabric: a file in any format, or - for standard input.
    #[arg(required_unless_present = "preset", conflicts_with = "preset")]
    pub(crate) fabric: Option<PathBuf>,
    /// A preset instead of a file.
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// The engine: dmodc, or one of OpenSM's own (minhop, updn, dnup, ftree, sssp, dfsssp, lash, nue); or
    /// several, separated by commas: one run after the other.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "dmodc",
        value_parser = clap::builder::PossibleValuesParser::new(ENGINES))]
    pub(crate) engine: Vec<String>,
    /// What happens: the file of a script (see below), or 'demo'. Without it, only the start is reported.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) faults: Option<PathBuf>,
    /// The plugin, if it is not beside this program or where libraries are.
    #[arg(long, value_name = "FILE")]
    pub(crate) plugin: Option<PathBuf>,
    /// Only take times: tables are neither dumped by OpenSM nor read back and judged, which takes minutes
    /// on fabrics of ten thousand nodes.
    #[arg(long)]
    pub(crate) unchecked: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
