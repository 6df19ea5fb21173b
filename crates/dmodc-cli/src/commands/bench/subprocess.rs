//! Measures a row in a process of its own.

use std::io::IsTerminal;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use dmodc_study::device::DeviceName;
use serde_json::Value;

use super::cases::{PlannedRow, kernel_name};
use super::progress::progress;
use crate::args::BenchArgs;
use crate::device::report;

/// Measures one row in a process of its own, and returns it.
pub(super) fn measure_apart(
    planned: &PlannedRow<'_>,
    args: &BenchArgs,
    device: DeviceName,
    threads: Option<u16>,
) -> Result<Value> {
    let row = format!("{} {}", planned.size.name, planned.dead);
    progress(&row);
    let program = std::env::current_exe().context("cannot find the path of this program")?;
    let mut command = Command::new(program);
    command.args(["bench", "--json"]).args(&planned.size.option);
    command.args(["--dead".into(), planned.dead.to_string()]);
    command.args(["--rounds".into(), args.rounds.to_string()]);
    command.args(["--seed".into(), args.seed.to_string()]);
    command.args(["--engine".into(), planned.engine.to_string()]);
    command.args(["--device".into(), device.to_string()]);
    for (wanted, flag) in [
        (args.switch_lids, "--switch-lids"),
        (args.stream, "--stream"),
        (args.no_check, "--no-check"),
        (args.rewrite, "--rewrite"),
    ] {
        command.args(wanted.then_some(flag));
    }
    if let Some(changes) = args.changes {
        command.args(["--changes".into(), changes.to_string()]);
    }
    if let Some(pgft) = &args.against {
        command.args(["--against".into(), pgft.to_string()]);
    }
    if let Some(kernel) = args.kernel {
        command.args(["--kernel", kernel_name(kernel)]);
    }
    if let Some(threads) = threads {
        command.args(["--threads".into(), threads.to_string()]);
    }
    // At a terminal, the other process shows its own progress and errors. What it says about a GPU passes through this process, so that
    // the same line is not printed for each row.
    let is_seen = device == DeviceName::Cpu && std::io::stderr().is_terminal();
    command.stderr(if is_seen { Stdio::inherit() } else { Stdio::piped() });
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let output = child.and_then(Child::wait_with_output);
    let output = output.with_context(|| format!("measuring {row}"))?;
    let parsed: Result<Value, _> = serde_json::from_slice(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    match (output.status.code(), parsed) {
        (Some(0 | 1), Ok(mut parsed)) => {
            errors.lines().for_each(report);
            Ok(parsed["rows"][0].take())
        }
        _ => {
            let errors = errors.trim().trim_start_matches("dmodc: ");
            bail!(
                "measuring {row}: {}",
                if errors.is_empty() { "the program ended without a result" } else { errors }
            )
        }
    }
}
