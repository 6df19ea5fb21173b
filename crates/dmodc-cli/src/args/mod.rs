//! The command line as types: one file for each group of commands. What clap cannot check is checked where it
//! is used.

mod bench;
mod fabric;
mod shared;
mod study;
mod tables;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use dmodc_study::engine::EngineName;

pub(crate) use self::bench::*;
pub(crate) use self::fabric::*;
pub(crate) use self::shared::*;
pub(crate) use self::study::*;
pub(crate) use self::tables::*;

/// Deterministic, fault-resilient routing of fat-tree fabrics (the Dmodc algorithm).
#[derive(Debug, Parser)]
#[command(
    name = "dmodc",
    version,
    max_term_width = 100,
    after_help = "Files: '-' is standard input or output. Exit codes: 0 yes or done, 1 the answer is no \
                  (pairs lost or cut off, a loop or cycle, tables differ), 2 could not answer (bad input or usage).\n\
                  Start with 'dmodc demo'."
)]
pub(crate) struct Cli {
    /// Use this number of threads instead of all cores. The results are the same bytes.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build, route, break and re-route a fabric of 11,664 nodes, and report on it.
    Demo(DemoArgs),
    /// Write a fabric: any PGFT, or one of a real machine.
    Generate(GenerateArgs),
    /// Describe a fabric: sizes, levels, shape.
    Info(InfoArgs),
    /// Write a fabric in another format.
    Convert(ConvertArgs),
    /// Remove cables and switches, at random or by name.
    Degrade(DegradeArgs),
    /// Compute forwarding tables, as a dump that OpenSM loads.
    Route(RouteArgs),
    /// Judge forwarding tables of any origin: delivery, loops, up*down*, deadlock.
    Check(CheckArgs),
    /// Measure congestion risk: how many flows of a pattern share a port, and the least possible number.
    Analyze(AnalyzeArgs),
    /// Report what new forwarding tables change: entries, blocks, switches, node pairs.
    Diff(DiffArgs),
    /// Find an order in which new forwarding tables can safely be written over old ones.
    Plan(PlanArgs),
    /// Follow one route hop by hop.
    Trace(TraceArgs),
    /// Measure re-routing, compared with writing the same number of bytes, and check the results.
    Bench(BenchArgs),
    /// Measure engines under many random degradations after a plan, and draw the results.
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
        /// The shell.
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

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The command; without one, the page of dmodc itself.
    pub(crate) command: Option<String>,
    /// Write all pages into this folder.
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
