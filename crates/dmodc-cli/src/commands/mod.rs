//! One file or folder for each subcommand.

mod analyze;
mod bench;
mod check;
mod compare;
mod convert;
mod degrade;
mod demo;
mod diff;
mod drain;
mod generate;
mod info;
mod manual;
mod opensm;
mod order;
mod page;
mod plan;
mod repair;
mod route;
mod serve;
#[cfg(any(feature = "serve", feature = "page"))]
mod shown;
mod study;
mod trace;
mod whatif;

use anyhow::{Context, Result};

use crate::Answer;
use crate::args::{Cli, Command};

/// Runs the command that the arguments ask for.
pub(crate) fn run(cli: Cli) -> Result<Answer> {
    if let Some(threads) = cli.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into());
        pool.build_global()
            .context("cannot start the number of threads of --threads; use fewer")?;
    }
    cli.command.check_files()?;
    match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::Generate(args) => generate::run(args),
        Command::Info(args) => info::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Degrade(args) => degrade::run(&args),
        Command::Route(args) => route::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Analyze(args) => analyze::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Trace(args) => trace::run(&args),
        Command::Whatif(args) => whatif::run(&args),
        Command::Drain(args) => drain::run(&args),
        Command::Repair(args) => repair::run(args),
        Command::Order(args) => order::run(args),
        Command::Serve(args) => serve::run(&args),
        Command::Page(args) => page::run(&args),
        Command::Study { what } => study::run(&what),
        Command::Opensm { what } => opensm::run(&what),
        Command::Bench(args) => bench::run(&args, cli.threads),
        Command::Completions { shell } => manual::completions(shell),
        Command::Man(args) => manual::man(&args),
    }
}
