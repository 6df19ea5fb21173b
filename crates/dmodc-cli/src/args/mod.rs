//! The command line as types: one file for each group of commands. What clap cannot check is checked where it
//! is used.

mod bench;
mod compare;
mod fabric;
mod files;
mod maintenance;
mod order;
mod page;
mod routing;
mod serve;
mod shared;
mod study;
mod tables;
mod whatif;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use dmodc_study::engine::EngineName;

pub(crate) use self::bench::*;
pub(crate) use self::compare::*;
pub(crate) use self::fabric::*;
pub(crate) use self::maintenance::*;
pub(crate) use self::order::*;
pub(crate) use self::page::*;
pub(crate) use self::routing::*;
pub(crate) use self::serve::*;
pub(crate) use self::shared::*;
pub(crate) use self::study::*;
pub(crate) use self::tables::*;
pub(crate) use self::whatif::*;

/// Route InfiniBand fat trees, also when cables and switches have failed.
///
/// dmodc reads a description of a fabric, computes forwarding tables for its switches with the Dmodc algorithm, and checks,
/// measures and compares tables of any origin. It works on files. To route a running fabric, load its plugin into OpenSM.
#[derive(Debug, Parser)]
#[command(name = "dmodc", version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Use this number of threads instead of one for each core. Results do not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what dmodc does on a built-in fabric; no files are needed.
    ///
    /// The demo builds a fat tree of 11,664 nodes, routes it, removes cables and switches, routes it again, and checks every
    /// route. It takes a few seconds.
    Demo(DemoArgs),
    /// Write the description of a fat-tree fabric, for experiments.
    ///
    /// The fabric is any PGFT (a regular fat tree), or a preset of the size of a real machine.
    Generate(GenerateArgs),
    /// Describe a fabric: its size, levels, shape, and what is wrong with it.
    ///
    /// Start with this command when you have the dump of a real fabric. It shows which switches are taken for leaves, which
    /// cables are missing, and which lines of the file could not be used.
    Info(InfoArgs),
    /// Compare how a fabric is cabled with how it should be, and find the fewest re-plugs.
    ///
    /// The intended fabric is another fabric file, a topology file of ibutils, or a CSV file of cables. Without one, the regular
    /// shape of the fabric shows which cables between switches are missing or exchanged. The steps that help most come first.
    Compare(CompareArgs),

    /// Convert the description of a fabric into another file format.
    ///
    /// The formats are those of ibnetdiscover, ibsim, Graphviz, GraphML and Slurm, those of the simulators SimGrid, CODES and LogGOPSim,
    /// and a JSON format of dmodc.
    Convert(ConvertArgs),
    /// Remove cables and switches from a fabric, at random or by name.
    ///
    /// The result is the description of a degraded fabric, as ibnetdiscover text. Use it to see what a fault would do.
    Degrade(DegradeArgs),
    /// Compute the forwarding tables of a fabric.
    ///
    /// A forwarding table gives, for each destination, the port by which a switch sends packets on. The tables are written as
    /// a dump that OpenSM loads, and a summary says whether all nodes reach each other.
    Route(RouteArgs),
    /// Check whether forwarding tables deliver all packets and cannot deadlock.
    ///
    /// The tables may come from dmodc, from OpenSM or from a running fabric. The command follows every pair of nodes and looks
    /// for lost packets, loops, routes that go up after they went down, and cycles in which packets wait for each other.
    Check(CheckArgs),
    /// Measure how evenly forwarding tables spread traffic over the cables.
    ///
    /// For each traffic pattern the command counts the flows through every port between switches. The greatest count is the
    /// congestion risk. It is compared with a lower bound, which no routing of this fabric can beat.
    Analyze(AnalyzeArgs),
    /// Compare old and new forwarding tables: which entries and routes change.
    ///
    /// Use it to see how much traffic moves when new tables replace old ones, for example after a fault.
    Diff(DiffArgs),
    /// Find a safe order in which to replace old forwarding tables by new ones.
    ///
    /// While tables are replaced, some switches have old entries and others new ones, and packets could loop. The plan divides
    /// the changes into rounds so that no packet loops and no pair is interrupted that both tables deliver.
    Plan(PlanArgs),
    /// Follow the route from one node to another, hop by hop.
    ///
    /// Each line shows a switch with the ports by which a packet enters and leaves it. If the packet does not arrive, the last
    /// line says why.
    Trace(TraceArgs),
    /// Find out what every single fault would do, before it happens.
    ///
    /// Every cable and every switch fails once, and the fabric is routed again. The report shows which node pairs would be lost,
    /// how loaded the worst port would be, and how much would move. The most harmful faults come first.
    Whatif(WhatifArgs),
    /// Find out which parts can be taken out of service together, and in which order.
    ///
    /// For cables that flap, or switches that need new firmware: the command finds a largest set of the listed parts that can be
    /// taken out within limits of lost pairs and congestion, and the order that keeps the risk lowest on the way.
    Drain(DrainArgs),
    /// Find the order of repairs that brings back the most first.
    ///
    /// The command compares a fabric with the whole one, and lists failed switches and cables in the order in which their
    /// repair delivers most pairs, then lowers the congestion risk most. Each line shows the fabric after that repair.
    Repair(RepairArgs),
    /// Put the hosts of a job into an order in which their traffic meets least.
    ///
    /// Collective operations send from each rank to the next ones. If ranks follow the order in which the fabric spreads
    /// destinations, such traffic shares few ports. The command writes the list of hosts for MPI or Slurm and reports the
    /// congestion risk before and after.
    Order(HostOrderArgs),
    /// Measure how fast forwarding tables are computed on this machine.
    ///
    /// The yardstick is the time that the machine needs to fill the same amount of memory (memset). The tables are compared with
    /// those of a slow, simple program, so that a wrong result is noticed.
    Bench(BenchArgs),
    /// Compare routing engines under many random degradations.
    ///
    /// A plan (a TOML file) lists fabrics, degradations, engines and traffic patterns. The study measures all combinations,
    /// on one machine or many, and draws figures.
    Study {
        #[command(subcommand)]
        what: StudyCommand,
    },
    /// Show a fabric on a web page: look at it, break it, watch it heal.
    ///
    /// The page draws the tree, colours cables by load, breaks and repairs parts with a click, and shows what moves. It follows
    /// live fabrics, too. The server listens at a loopback address and prints it.
    Serve(ServeArgs),
    /// Write the web page of a fabric as one file, which needs no server.
    ///
    /// The file holds the fabric and the engine. It opens in any browser, breaks and repairs parts with a click, and shows what
    /// moves.
    Page(PageArgs),
    /// Try OpenSM with dmodc on a simulated fabric, or send a request to the plugin.
    ///
    /// The plugin libdmodc.so makes 'dmodc' a routing engine of OpenSM.
    Opensm {
        #[command(subcommand)]
        what: OpensmCommand,
    },
    /// Print a script that completes dmodc commands in a shell.
    Completions {
        /// The shell for which the script is written.
        shell: clap_complete::Shell,
    },
    /// Print the manual page of a command, or write all manual pages to a folder.
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The seed of the random faults. The same seed gives the same faults.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Print the result as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command, such as route or study-run. Without it, the page of dmodc itself is printed.
    pub(crate) command: Option<String>,
    /// Write all pages into this folder instead of printing one.
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    pub(crate) dir: Option<PathBuf>,
}

/// Returns the command line, without the path of the program.
pub(crate) fn command_line() -> String {
    let quoted = |word: String| match word.contains([' ', ';', '$']) {
        true => format!("\"{word}\""),
        false => word,
    };
    let words = std::env::args().skip(1).map(quoted);
    std::iter::once("dmodc".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

/// Returns clap's message as one line: what is wrong, and its tip if it has one. A command without its subcommand is
/// answered with its help instead.
pub(crate) fn complaint(error: &clap::Error) -> String {
    let text = error.render().to_string();
    if error.kind() == clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return text;
    }
    let paragraphs = text.split("\n\n").map(|p| p.split_whitespace().collect::<Vec<_>>().join(" "));
    let sentences: Vec<String> = paragraphs
        .enumerate()
        .filter(|(at, paragraph)| *at == 0 || paragraph.starts_with("tip:"))
        .map(|(_, paragraph)| paragraph.trim_start_matches("error: ").to_owned())
        .collect();
    format!("dmodc: {} (see --help)\n", sentences.join("; "))
}
