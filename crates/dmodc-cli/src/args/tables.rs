//! Commands that compute and judge forwarding tables: route, check, analyze, diff, plan, trace.

use std::path::PathBuf;

use clap::Args;
use dmodc_study::analysis::Pattern;

use super::routing::RoutingArgs;
use super::shared::{FabricArgs, LeafArgs, OrderArgs, OutputArgs};

#[derive(Debug, Args)]
pub(crate) struct AnalyzeArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// The forwarding tables: a dump of OpenSM, dump_lfts.sh, ibroute or 'dmodc route', or an array (FILE.npy, with
    /// FILE.npy.json next to it).
    pub(crate) tables: PathBuf,
    /// The traffic patterns, separated by commas; they are explained below. Without this option they are a2a,rp:1000,sp, or
    /// none if --jobs is given.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) patterns: Option<Vec<Pattern>>,
    /// Judge the jobs in this file, all at the same time: the risk of each alone and with the others. Each line has the name
    /// of a job, its pattern and its hosts, as in "train ring node[1-64]". Jobs are reported as text and as JSON only.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["nodes", "listed_order", "csv", "svg", "html"])]
    pub(crate) jobs: Option<PathBuf>,
    /// Also compute how fast every flow is: max-min fair rates of all flows that send at the same time, and when equal
    /// messages have arrived. The cables of the nodes count, too.
    #[arg(long)]
    pub(crate) rates: bool,
    /// Let only the nodes in this file send and receive, for example the hosts of one job. The file lists host names
    /// (also folded as in "node[1-4]"), GUIDs or LIDs.
    #[arg(long, value_name = "FILE")]
    pub(crate) nodes: Option<PathBuf>,
    /// Let shifts, rings and other patterns that number the nodes follow the order of the list of --nodes instead of destination order. Of
    /// hosts with several nodes, the first nodes of all hosts come first, then the second ones, and so on.
    #[arg(long, requires = "nodes")]
    pub(crate) listed_order: bool,
    /// The seed of the random patterns. The same seed gives the same patterns.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
    /// This option has no effect any more. Tables of another state of the fabric are always analysed.
    #[arg(long, hide = true)]
    pub(crate) partial: bool,
    /// Print the results as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the number of flows through every port to this CSV file.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Draw histograms of the flows per port into this SVG file.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Write a report for a browser to this HTML file: heat map, histograms and tables on one page.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RouteArgs {
    #[command(flatten)]
    pub(crate) routing: RoutingArgs,
    /// Save the orders, leaves, ranks and measured dividers in this file. Give it back with --orders after a fault, so that few
    /// routes move. Numbers that are saved leave room for nodes that may be added to leaves, so the routes are other ones than
    /// without this option.
    #[arg(long, value_name = "FILE")]
    pub(crate) save_orders: Option<PathBuf>,
    /// Give a shortest path to switch-to-switch entries that have no up*down* route. Such routes are not covered by the
    /// guarantee against deadlock.
    #[arg(long)]
    pub(crate) connect_roots: bool,
    /// Write the alternative ports of every entry (P(s,d) in the paper) to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) alternatives: Option<PathBuf>,
    /// Write one file for each switch into this new folder. The tables are never held in memory together, so the fabric
    /// may have any size.
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
pub(crate) struct CheckArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    /// The forwarding tables: a dump of OpenSM, dump_lfts.sh, ibroute or 'dmodc route', or an array (FILE.npy, with
    /// FILE.npy.json next to it).
    pub(crate) tables: PathBuf,
    /// With --union: the new tables, which replace the first ones.
    #[arg(requires = "union")]
    pub(crate) new: Option<PathBuf>,
    /// Check every mixture of old and new tables, as it may occur while tables are replaced.
    #[arg(long, requires = "new")]
    pub(crate) union: bool,
    /// Also end with exit code 1 if a route goes up after it went down.
    #[arg(long)]
    pub(crate) up_down: bool,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
    /// Print the result as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
    /// The old tables: a dump of OpenSM, dump_lfts.sh, ibroute or 'dmodc route', or an array (FILE.npy).
    pub(crate) old: PathBuf,
    /// The new tables, which replace the old ones.
    pub(crate) new: PathBuf,
    /// Print the result as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// The tables that the switches hold now: a dump of OpenSM, dump_lfts.sh, ibroute or 'dmodc route', or an array
    /// (FILE.npy). They may have been computed before the faults.
    pub(crate) old: PathBuf,
    /// The new tables, which replace the old ones.
    pub(crate) new: PathBuf,
    /// Allow up to this number of rounds if that saves block writes. Without this option, the plan has as few rounds as
    /// possible.
    #[arg(long, value_name = "N", default_value_t = 1, hide_default_value = true,
        value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: u32,
    /// Write the plan to this file, one line for each block that is written.
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
    /// The forwarding tables: a dump of OpenSM, dump_lfts.sh, ibroute or 'dmodc route', or an array (FILE.npy).
    pub(crate) tables: PathBuf,
    /// The start of the route: the name, GUID or LID of a node or switch.
    pub(crate) source: String,
    /// The end of the route: the name, GUID or LID of a node or switch.
    pub(crate) destination: String,
    /// Print the result as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}
