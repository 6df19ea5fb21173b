//! `dmodc`: routes, checks and degrades fat-tree fabrics.
//!
//! Arguments become types ([`args`]), and each subcommand is one file or folder in [`commands`]. Exit codes:
//! 0 is "yes" or "done", 1 is "the answer is no", 2 is "could not answer"; a reader that goes away
//! early (broken pipe) is no failure. A signal leaves no temporary files, and the program dies by it.

mod advice;
mod args;
mod commands;
mod device;
mod dividers;
mod expected_risk;
mod help;
mod inferred;
mod input;
mod ranks;
mod route_state;
mod table_file;
mod verdict;

use std::io;
use std::process::ExitCode;

use clap::FromArgMatches as _;
use dmodc_study::answers::{names, output, source, text};

/// The answer of a command, which decides the exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// Yes, or done.
    Yes,
    /// The answer is no: pairs are lost or cut off, packets may loop or wait for each other, tables differ.
    No,
}

impl From<bool> for Answer {
    fn from(yes: bool) -> Self {
        if yes { Answer::Yes } else { Answer::No }
    }
}

fn main() -> ExitCode {
    let parsed =
        help::command().try_get_matches().and_then(|matches| args::Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(usage) if usage.use_stderr() => {
            eprint!("{}", args::complaint(&usage));
            return ExitCode::from(2);
        }
        // Help and version were asked for.
        Err(asked) => asked.exit(),
    };
    if let Err(error) = dmodc_study::interrupt::watch() {
        eprintln!(
            "dmodc: cannot wait for signals ({error}); if dmodc is interrupted, temporary files may be left behind"
        );
    }
    match commands::run(cli) {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dmodc: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Returns whether the reader of our output has closed it.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
