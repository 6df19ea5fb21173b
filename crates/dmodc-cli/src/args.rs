//! The command line as types. What clap cannot check is checked where it is used.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use dmodc::fabric::Target;
use dmodc::{Amount, Pgft};
use dmodc_study::analysis::Pattern;
pub(crate) use dmodc_study::engine::EngineName;
use dmodc_study::lab::ENGINES;
use dmodc_study::study::Shard;

/// Deterministic, fault-resilient routing of fat-tree fabrics (the Dmodc algorithm).
#[derive(Debug, Parser)]
#[command(
    name = "dmodc",
    version,
    max_term_width = 100,
    after_help = "Files: '-' is standard input or output. Exit codes: 0 yes or done, 1 the answer is no \
                  (invalid, unreachable, a cycle, tables differ), 2 could not answer (bad input or usage).\n\
                  Start with 'dmodc demo'."
)]
pub(crate) struct Cli {
    /// Use so many threads instead of all cores. The results are the same bytes.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build, route, break and re-route a fabric of 11,664 nodes, and tell about it.
    Demo(DemoArgs),
    /// Write a fabric: any PGFT, or one of a real machine.
    Generate(GenerateArgs),
    /// Tell what a fabric is: sizes, levels, shape.
    Info(InfoArgs),
    /// Write a fabric in another format.
    Convert(ConvertArgs),
    /// Remove cables and switches, at random or by name.
    Degrade(DegradeArgs),
    /// Compute forwarding tables, as a dump that OpenSM loads.
    Route(RouteArgs),
    /// Judge anybody's forwarding tables: delivery, loops, up*down*, deadlock.
    Check(CheckArgs),
    /// Measure congestion risk: how many flows of a pattern share a port, and how few could.
    Analyze(AnalyzeArgs),
    /// Tell what new forwarding tables move: entries, blocks, switches, node pairs.
    Diff(DiffArgs),
    /// Tell in which order new forwarding tables are safely written over old ones.
    Plan(PlanArgs),
    /// Follow one route hop by hop.
    Trace(TraceArgs),
    /// Measure re-routing beside writing as many bytes, and check what was computed.
    Bench(BenchArgs),
    /// Measure engines under many random degradations, as a plan says, and draw the results.
    Study {
        #[command(subcommand)]
        what: StudyCommand,
    },
    /// OpenSM on a simulated fabric.
    Opensm {
        #[command(subcommand)]
        what: OpensmCommand,
    },
    /// Print a shell completion script.
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page of a command, or write all of them.
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The seed of the faults.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A fabric to read. Its format is found out from its content.
#[derive(Debug, Args)]
pub(crate) struct FabricArgs {
    /// The fabric: ibnetdiscover text (any mode but -l), an ibsim netlist, a subnet list (.lst),
    /// ibdiagnet2.db_csv or our JSON.
    pub(crate) fabric: PathBuf,
    /// Refuse a file that is damaged in any way, instead of using what is sound of it.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// What is a leaf, where detection is wrong.
#[derive(Debug, Args)]
pub(crate) struct LeafArgs {
    /// Count ranks down from these switches (GUIDs, as in OpenSM's root_guid_file). Without this, ranks are
    /// counted up from the leaves; only in a fabric that is no fat tree (switches of equal rank are cabled)
    /// and would not be connected that way they are counted down from one root, which is then named.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["leaf_min_nodes", "leaf_name"])]
    pub(crate) roots: Option<PathBuf>,
    /// Leaves are the switches with at least so many nodes.
    #[arg(long, value_name = "N", conflicts_with = "leaf_name")]
    pub(crate) leaf_min_nodes: Option<usize>,
    /// Leaves are the switches whose description matches.
    #[arg(long, value_name = "REGEX")]
    pub(crate) leaf_name: Option<String>,
    /// Hosts whose description matches make no leaf (they are routed to all the same), and switches
    /// whose description matches are none.
    #[arg(long, value_name = "REGEX")]
    pub(crate) exclude: Option<String>,
}

/// Where the product of a command goes.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Write to this file (whole or not at all) instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print a summary as JSON. Without --output nothing else is written.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A format for fabrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// What ibnetdiscover prints.
    #[default]
    Ibnetdiscover,
    /// An ibsim netlist: the same text, if the simulator can hold the fabric.
    Ibsim,
    /// Everything that is known of the fabric; reads back the same.
    Json,
    /// A Graphviz drawing of the switches.
    Dot,
    /// A graph for NetworkX or Gephi.
    Graphml,
    /// Slurm's topology.conf.
    SlurmConf,
    /// Slurm's topology.yaml.
    SlurmYaml,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    pub(crate) what: Generate,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Generate {
    /// A Parallel Generalised Fat-Tree "h; m1,…,mh; w1,…,wh; p1,…,ph".
    Pgft {
        /// Levels; children, parents and parallel links of each level, such as "3; 2,2,3; 1,2,2; 1,2,1".
        tuple: Pgft,
        #[command(flatten)]
        options: GenerateOptions,
    },
    /// A named one; without a name the list of all.
    Preset {
        /// Such as director-648 or quantum2-max.
        name: Option<String>,
        #[command(flatten)]
        options: GenerateOptions,
    },
}

#[derive(Debug, Args)]
pub(crate) struct GenerateOptions {
    /// How GUIDs are given: ascending with the topology, or shuffled as in a machine room.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) guids: Guids,
    /// The seed of shuffled GUIDs.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// The format.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Guids {
    #[default]
    Topological,
    Shuffled,
}

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
    /// Algorithms to measure: dmodc, stable (with the whole fabric as its reference), dmodk.
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
    /// Measure so many mixed faults and repairs in one step, too.
    #[arg(long, value_name = "N", conflicts_with = "stream")]
    pub(crate) changes: Option<usize>,
    /// The form of the inner loops, instead of the best for this processor.
    #[arg(long, value_enum, value_name = "FORM")]
    pub(crate) kernel: Option<KernelName>,
    /// The seed of the faults.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Do not compare with the naive reference, which takes longer than all the rest.
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

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// The format to write.
    #[arg(long, value_enum)]
    pub(crate) format: Format,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DegradeArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// Remove so many inter-switch cables at random: a count, or a percentage of them.
    #[arg(long, value_name = "COUNT|PERCENT%", default_value = "0")]
    pub(crate) cables: Amount,
    /// Remove so many switches at random, leaves excepted: a count, or a percentage of them.
    #[arg(long, value_name = "COUNT|PERCENT%", default_value = "0")]
    pub(crate) switches: Amount,
    /// Draw --cables among nodes' own cables, too.
    #[arg(long)]
    pub(crate) any_cable: bool,
    /// Draw --switches among leaves, too.
    #[arg(long)]
    pub(crate) any_switch: bool,
    /// Remove this switch, or the cable in this port of it. May be given often.
    #[arg(long, value_name = "GUID[/PORT]")]
    pub(crate) remove: Vec<Target>,
    /// The seed of what is drawn.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// How destinations are numbered and port groups sorted.
#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    /// How destinations are numbered: topological, lid, guid, or file:PATH.
    #[arg(long, value_name = "ORDER", default_value = "topological", conflicts_with = "orders")]
    pub(crate) destination_order: String,
    /// How port groups are sorted: plane, guid (the paper's), or file:PATH.
    #[arg(long, value_name = "ORDER", default_value = "plane", conflicts_with = "orders")]
    pub(crate) switch_order: String,
    /// Take both orders from a file that --save-orders wrote.
    #[arg(long, value_name = "FILE")]
    pub(crate) orders: Option<PathBuf>,
}

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
    Lab(LabArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AnalyzeArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// The forwarding tables: a dump of OpenSM, dump_lfts or ibroute, or what `dmodc route` writes.
    pub(crate) tables: PathBuf,
    /// What is sent: a2a (everybody to everybody), rp:N (random permutations), sp (all shifts) or sp:N (a
    /// sample), bisection:N, one-to-all:NODE, all-to-one:NODE, file:PATH (lines 'source destination').
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "a2a,rp:1000,sp")]
    pub(crate) patterns: Vec<Pattern>,
    /// Only these nodes send and receive: a job's hosts, folded or not, or GUIDs or LIDs.
    #[arg(long, value_name = "FILE")]
    pub(crate) nodes: Option<PathBuf>,
    /// The seed of permutations, samples and bisections.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
    /// Go on with tables of another state of the fabric: what is unknown is left out, what is missing has
    /// no routes.
    #[arg(long)]
    pub(crate) partial: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the loads of all ports here.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Write a figure of the loads here.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write a report here: one page with heat map, histograms and tables, for any browser.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// What else is measured.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    /// Measure judging (all-to-all, permutations, shifts) beside following every pair hop by hop.
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
    /// What happens: a script, or 'demo'. Without it, only the start is reported.
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

#[derive(Debug, Args)]
pub(crate) struct RouteArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    /// The routing algorithm: dmodc (any fabric), stable (Dmodc that keeps the routes of --reference wherever
    /// they are still there, and spreads the rest), dmodk (healthy PGFTs), random (uniform among the closer
    /// ports), or opensm:NAME, OpenSM's own on a simulated fabric (minhop, updn, dnup, ftree, sssp, dfsssp,
    /// lash, nue).
    #[arg(long, default_value = "dmodc")]
    pub(crate) engine: EngineName,
    /// The fabric as it is when whole, for --engine stable: a file in any format, matched by GUID. Tables depend
    /// on this file, the fabric of now and the orders, never on what was between. Without it the fabric is its own
    /// reference, and stable gives the tables of dmodc.
    #[arg(long, value_name = "FABRIC")]
    pub(crate) reference: Option<PathBuf>,
    /// The seed of --engine random.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
    /// Write both orders here, with what ranks are counted from, to be given back with --orders after a fault.
    #[arg(long, value_name = "FILE")]
    pub(crate) save_orders: Option<PathBuf>,
    /// Fill switch-to-switch entries that have no up*down* route by shortest path. These routes are
    /// outside the deadlock guarantee.
    #[arg(long)]
    pub(crate) connect_roots: bool,
    /// Write the alternative ports P(s,d) of every entry here.
    #[arg(long, value_name = "FILE")]
    pub(crate) alternatives: Option<PathBuf>,
    /// Write a file for each switch into this new folder, without ever holding all tables: for fabrics
    /// of any size.
    #[arg(
        long,
        value_name = "FOLDER",
        conflicts_with_all = ["output", "connect_roots", "alternatives"]
    )]
    pub(crate) split: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
#[command(
    after_help = "With --union a pair counts as delivered if it is in every mixture of old and new entries, and as in a loop \
                  if it is in any: each switch may have been written or not. The dependencies of channels are those of \
                  both tables together. Where packets can loop, the destinations are counted, and one loop is told \
                  with the table of each hop. 'dmodc plan' tells an order of writes under which nothing loops.\n\n\
                  Exit 0 if every node pair is delivered and nothing can deadlock, 1 if a pair is lost or loops, or \
                  channels wait for each other."
)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    /// The tables: a dump of OpenSM, of dmodc, of ibroute or of dump_lfts.
    pub(crate) tables: PathBuf,
    /// With --union: the tables that replace the first ones.
    #[arg(requires = "union")]
    pub(crate) new: Option<PathBuf>,
    /// Judge every mixture of old and new tables, as in force during an update.
    #[arg(long, requires = "new")]
    pub(crate) union: bool,
    /// Answer no, too, if a route goes up after it went down.
    #[arg(long)]
    pub(crate) up_down: bool,
    /// Which of two cabled switches of equal rank is the higher one: plane, guid, or file:PATH.
    #[arg(long, value_name = "ORDER", default_value = "plane")]
    pub(crate) switch_order: String,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "A block is 64 successive LIDs of one switch, what a subnet manager sends at once. A pair is moved if \
                  any entry on its way differs, so that its packets leave some switch by another port, or are \
                  delivered by one of the two tables alone. An old entry could not stay (forced_entries, \
                  forced_blocks) if its port is none of the alternative ports that up*down* routes have in the \
                  fabric as it is: every routing along them changes it, so that what differs can be held against the \
                  least. Exit 0 if the tables are equal, 1 if they differ."
)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    /// The tables that were: a dump of OpenSM, of dmodc, of ibroute or of dump_lfts.
    pub(crate) old: PathBuf,
    /// The tables that replace them.
    pub(crate) new: PathBuf,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Entries are put into rounds: those of one round may be written in any order, and the next round starts \
                  when all have been answered and the packets of before are gone. Then no packet loops (but in a loop \
                  that the old tables have), and every pair that both tables deliver upon the fabric is delivered all the time. \
                  Pairs that only the old tables deliver are given up as late as can be. As few rounds as the rules \
                  need; then few writes: a block is 64 successive LIDs of one switch, and one with entries in several rounds \
                  is written several times.\n\n\
                  The file of --output has a line for each write: round, switch GUID, block, and LID:port of every entry that \
                  becomes new with it (port 255: no route); other entries of the block stay as they are. Deadlock of the \
                  mixture is another question: 'dmodc check --union' answers it.\n\n\
                  Exit 0 if there is a plan, 1 if the new tables loop, so that no order is safe."
)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// The tables in force: a dump of OpenSM, of dmodc, of ibroute or of dump_lfts. They may be of the
    /// fabric before its faults.
    pub(crate) old: PathBuf,
    /// The tables that replace them.
    pub(crate) new: PathBuf,
    /// Take up to so many rounds where that saves block writes, instead of as few rounds as can be.
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true,
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    /// Write the plan to this file (whole or not at all), one line for each write.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print the summary as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// The tables.
    pub(crate) tables: PathBuf,
    /// From: a name, GUID or LID of a node or switch.
    pub(crate) source: String,
    /// To: a name, GUID or LID of a node or switch.
    pub(crate) destination: String,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command; without one, the page of dmodc itself.
    pub(crate) command: Option<String>,
    /// Write all pages into this folder.
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    pub(crate) dir: Option<PathBuf>,
}

/// clap's complaint as one line: what is wrong, and its tip if it has one.
pub(crate) fn in_one_line(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let paragraphs = text.split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" "));
    let told: Vec<String> = paragraphs
        .enumerate()
        .filter(|(at, paragraph)| *at == 0 || paragraph.starts_with("tip:"))
        .map(|(_, paragraph)| paragraph.trim_start_matches("error: ").to_owned())
        .collect();
    // A command without its subcommand answers with its whole help; the names are enough.
    match error.kind() {
        clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "a command is missing (see --help)".into()
        }
        _ => format!("{} (see --help)", told.join("; ")),
    }
}

impl OutputArgs {
    /// Refuses two things on one standard output.
    pub(crate) fn check(&self, others: &[&Option<PathBuf>]) -> anyhow::Result<()> {
        let is_stdout =
            |path: &&Option<PathBuf>| path.as_deref().is_some_and(|p| p.as_os_str() == "-");
        let product = usize::from(match &self.output {
            None => !self.json,
            output => is_stdout(&output),
        });
        let wanted =
            product + usize::from(self.json) + others.iter().filter(|o| is_stdout(o)).count();
        anyhow::ensure!(wanted <= 1, "only one thing can go to standard output");
        Ok(())
    }
}
