//! Arguments of `bench`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use dmodc::Pgft;
use dmodc::fabric::{Directors, Pods};
use dmodc_lab::ENGINES;
use dmodc_study::device::DeviceName;
use dmodc_study::engine::EngineName;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) what: Option<BenchCommand>,
    #[command(flatten)]
    pub(crate) fabrics: MeasuredFabrics,
    /// Measure with these amounts of failed cables and failed switches, in percent.
    #[arg(
        long = "dead",
        value_name = "CABLES/SWITCHES",
        value_delimiter = ',',
        default_value = "0/0,1/0,10/1"
    )]
    pub(crate) dead: Vec<Dead>,
    /// The routing engines to measure, separated by commas: dmodc, paper, stable (with the whole fabric as its reference), or
    /// dmodk (fabrics without faults only).
    #[arg(long = "engine", value_delimiter = ',', default_value = "dmodc")]
    pub(crate) engines: Vec<EngineName>,
    /// Also measure these engines of OpenSM on the same fabrics. They run inside OpenSM on a simulated fabric.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        num_args = 0..=1,
        default_missing_value = "minhop,updn,ftree",
        value_parser = clap::builder::PossibleValuesParser::new(ENGINES)
    )]
    pub(crate) with_opensm: Vec<String>,
    /// Also compute the routes to the LIDs of the switches themselves.
    #[arg(long)]
    pub(crate) switch_lids: bool,
    /// Compute only a digest of the tables and do not keep them in memory. Use this for fabrics whose tables do not fit. The engine
    /// is dmodc or stable.
    #[arg(long)]
    pub(crate) stream: bool,
    /// Measure each time this often and report the median.
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) rounds: u32,
    /// Also measure this number of faults and repairs, mixed and applied in one step. Only with --device cpu.
    #[arg(long, value_name = "N", conflicts_with = "stream")]
    pub(crate) changes: Option<usize>,
    /// Also measure the limit of an update: the time to rewrite only the entries that one failed cable or switch changes,
    /// at places that are known beforehand. Only with --device cpu.
    #[arg(long, conflicts_with = "stream")]
    pub(crate) rewrite: bool,
    /// Also re-route this PGFT in turns with each fabric, by the same engine and with the same shares of failed parts. The
    /// report shows how many times as long the fabric takes. Only with --device cpu.
    #[arg(long, value_name = "TUPLE", conflicts_with = "stream")]
    pub(crate) against: Option<Pgft>,
    /// Where tables are computed: cpu, gpu, or auto, which is the GPU of this machine if there is one. On a GPU, only the engines
    /// dmodc and stable are measured. The tables stay in the memory of the device, or with --stream only their digest.
    #[arg(long, value_name = "DEVICE", default_value_t = DeviceName::Cpu)]
    pub(crate) device: DeviceName,
    /// Use this version of the inner loops instead of the best one for this processor.
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) kernel: Option<KernelName>,
    /// The seed of the random faults.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Do not compare the tables with those of the slow, simple program. This saves most of the time. For large tables of
    /// the engine stable, only a sample is compared, and the report shows its size.
    #[arg(long)]
    pub(crate) no_check: bool,
    /// Draw a figure of time against fabric size into this SVG file.
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Write a record into this folder: results, single measurements, a figure, and a description of the machine.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) record: Option<PathBuf>,
    /// Print the results as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The fabrics that are measured.
#[derive(Debug, Args)]
pub(crate) struct MeasuredFabrics {
    /// Measure on these presets, separated by commas ('dmodc generate preset' lists them). Without --preset, --pgft,
    /// --directors and --pods, one preset is measured: quantum2-max for 'dmodc bench', rlft-36 for its commands.
    #[arg(long = "preset", value_name = "NAME", value_delimiter = ',')]
    pub(crate) presets: Vec<String>,
    /// Measure on this PGFT, such as "3; 24,18,20; 1,12,20; 1,1,1". Repeat the option for several fabrics.
    #[arg(long = "pgft", value_name = "TUPLE")]
    pub(crate) tuples: Vec<Pgft>,
    /// Measure on leaves below director switches, such as
    /// "leaves=36,nodes=18,directors=1,lines=36,spines=18,cables=18". The numbers are those of 'dmodc generate
    /// directors'. Repeat the option for several fabrics.
    #[arg(long, value_name = "NUMBERS")]
    pub(crate) directors: Vec<Directors>,
    /// Measure on pods below cores, such as "pods=8". The numbers are those of 'dmodc generate pods'. Repeat the option
    /// for several fabrics.
    #[arg(long, value_name = "NUMBERS")]
    pub(crate) pods: Vec<Pods>,
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
            .ok_or_else(|| {
                format!(
                    "expected two percentages from 0 to 100, of cables and of switches, such as 10/1; not '{text}'"
                )
            })
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
    /// Measure how fast 'dmodc analyze' counts flows on this machine.
    ///
    /// The patterns are all-to-all, random permutations and shifts. They are compared with a simple program that follows every
    /// pair hop by hop.
    Analyze(BenchAnalyzeArgs),
    /// Measure how fast 'dmodc analyze --rates' computes fair rates on this machine.
    ///
    /// The rates of random permutations are computed. Some of them are also computed by a simple program, and the times and
    /// rates of both are compared.
    Rates(BenchRatesArgs),
    /// Measure how fast 'dmodc whatif' tries single faults on this machine.
    ///
    /// All-to-all and lost pairs are counted for every fault. Some of the faults are also routed and judged from the
    /// beginning, and the times and numbers of both are compared.
    Whatif(BenchWhatifArgs),
    /// Draw the times of a record again.
    Plot(BenchPlotArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BenchPlotArgs {
    /// The folder that --record wrote.
    pub(crate) record: PathBuf,
    /// The figure, an SVG file; by default runtime.svg in the folder of the record.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// The last options of the commands of `bench`, apart from `plot`.
#[derive(Debug, Args)]
pub(crate) struct BenchReportArgs {
    /// The seed of everything that is drawn.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the results as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the results to record.json in this folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) record: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BenchWhatifArgs {
    #[command(flatten)]
    pub(crate) fabrics: MeasuredFabrics,
    /// Measure with these amounts of failed cables and failed switches, in percent.
    #[arg(
        long = "dead",
        value_name = "CABLES/SWITCHES",
        value_delimiter = ',',
        default_value = "0/0"
    )]
    pub(crate) dead: Vec<Dead>,
    /// Try this number of single faults, drawn at random, instead of all.
    #[arg(long, value_name = "N")]
    pub(crate) sample: Option<usize>,
    /// Compare this number of the faults with routing and judging from the beginning.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) compare: usize,
    #[command(flatten)]
    pub(crate) report: BenchReportArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BenchRatesArgs {
    #[command(flatten)]
    pub(crate) fabrics: MeasuredFabrics,
    /// Measure with these amounts of failed cables and failed switches, in percent.
    #[arg(
        long = "dead",
        value_name = "CABLES/SWITCHES",
        value_delimiter = ',',
        default_value = "0/0,1/0"
    )]
    pub(crate) dead: Vec<Dead>,
    /// Compute the rates of this number of random permutations.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) permutations: usize,
    /// Compare this number of the permutations with the simple program.
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) compare: usize,
    #[command(flatten)]
    pub(crate) report: BenchReportArgs,
}

#[derive(Debug, Args)]
pub(crate) struct BenchAnalyzeArgs {
    #[command(flatten)]
    pub(crate) fabrics: MeasuredFabrics,
    /// Measure with these amounts of failed cables and failed switches, in percent.
    #[arg(
        long = "dead",
        value_name = "CABLES/SWITCHES",
        value_delimiter = ',',
        default_value = "0/0,1/0"
    )]
    pub(crate) dead: Vec<Dead>,
    /// Leave out the simple program, which takes minutes on large fabrics.
    #[arg(long)]
    pub(crate) no_naive: bool,
    /// Measure each time this often and report the shortest.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    #[command(flatten)]
    pub(crate) report: BenchReportArgs,
}
