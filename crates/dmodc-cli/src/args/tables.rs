//! Commands that compute and judge forwarding tables: route, check, analyze, diff, plan, trace.

use std::path::PathBuf;

use clap::Args;
use dmodc_study::analysis::Pattern;
use dmodc_study::engine::EngineName;

use super::shared::{FabricArgs, LeafArgs, OrderArgs, OutputArgs};

#[derive(Debug, Args)]
pub(crate) struct AnalyzeArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// The forwarding tables: a dump of OpenSM, dump_lfts or ibroute, or what `dmodc route` writes (an array,
    /// too: FILE.npy, with FILE.npy.json next to it).
    pub(crate) tables: PathBuf,
    /// The traffic: a2a (every node to every other), rp:N (random permutations), sp (all shifts) or sp:N (a
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
    /// Does nothing any more: tables of another state of the fabric are always analysed, and what does not match
    /// is reported.
    #[arg(long, hide = true)]
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

#[derive(Debug, Args)]
#[command(
    after_help = "An output file whose name ends in .npy becomes a NumPy array of bytes: a row for each switch, a column for \
                  each LID, an entry is a port, and 255 is no route. FILE.npy.json next to it has the GUIDs of the rows \
                  and the LIDs and GUIDs of the columns. numpy.load reads the array, and every command that takes \
                  tables does; it is a sixtieth of the dump. Any other file becomes a dump that OpenSM loads."
)]
pub(crate) struct RouteArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    /// The routing algorithm: dmodc (any fabric; where routes have several ways down, the dividers of each level are
    /// measured so that they spread), paper (dmodc with the paper's dividers everywhere), stable (Dmodc that keeps the routes of --reference wherever
    /// they are still there, and spreads the rest), dmodk (healthy PGFTs), random (uniform among the closer
    /// ports), or opensm:NAME, OpenSM's own on a simulated fabric (minhop, updn, dnup, ftree, sssp, dfsssp,
    /// lash, nue).
    #[arg(long, default_value = "dmodc")]
    pub(crate) engine: EngineName,
    /// The whole fabric, for --engine stable: a file in any format, matched by GUID. Tables depend on this file, the
    /// present fabric and the orders, never on states in between. Without it the fabric is its own reference, and
    /// stable gives the tables of dmodc.
    #[arg(long, value_name = "FABRIC")]
    pub(crate) reference: Option<PathBuf>,
    /// The seed of --engine random.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
    /// Write both orders here, with the leaves, what ranks are counted from and the dividers of levels, to be given back with --orders
    /// after a fault.
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
                  both tables together. If packets can loop, the destinations are counted, and one loop is shown \
                  with the table of each hop. 'dmodc plan' finds an order of writes under which nothing loops.\n\n\
                  Which routes count as up*down* follows from the leaves, ranks and orders: give --orders if the tables \
                  were made with them.\n\n\
                  Exit 0 if every node pair is delivered and nothing can deadlock; 1 if a pair is lost or cut off, packets \
                  loop, channels wait for each other, or with --up-down a route goes up after it went down."
)]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    /// The tables: a dump of OpenSM, of dmodc, of ibroute or of dump_lfts, or an array that 'dmodc route -o
    /// FILE.npy' wrote.
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
    #[command(flatten)]
    pub(crate) order: OrderArgs,
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
                  fabric as it is, or if it has no port and there are such: every routing along them changes it, so that what differs can be held against the \
                  least. Exit 0 if the tables are equal, 1 if they differ."
)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
    /// The old tables: a dump of OpenSM, of dmodc, of ibroute or of dump_lfts, or an array (FILE.npy).
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
    /// The tables in force: a dump of OpenSM, of dmodc, of ibroute or of dump_lfts, or an array (FILE.npy). They
    /// may be of the fabric before its faults.
    pub(crate) old: PathBuf,
    /// The tables that replace them.
    pub(crate) new: PathBuf,
    /// Take up to this number of rounds if that saves block writes, instead of as few rounds as possible.
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
    /// The tables: a dump, or an array (FILE.npy).
    pub(crate) tables: PathBuf,
    /// From: a name, GUID or LID of a node or switch.
    pub(crate) source: String,
    /// To: a name, GUID or LID of a node or switch.
    pub(crate) destination: String,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
