//! `dmodc bench`: how fast, how close to the limit, and whether it is right.
//!
//! Every row is measured in a process of its own, so that none starts from the memory another left.

mod analyze;

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use dmodc::{Amount, Draw, Kernel, Live, Pgft};
use dmodc_lab::OpensmTables;
use dmodc_study::bench::{Algorithm, BenchCase, BenchSettings, measure};
use dmodc_study::figure::{RuntimeCurve, runtime};
use dmodc_study::machine;
use serde_json::{Value, json};

use super::generate::preset;
use crate::args::{BenchArgs, BenchCommand, Dead, EngineName, KernelName};
use crate::text::{bytes, number};
use crate::{Answer, output};

const DEFAULT_PRESET: &str = "quantum2-max";

/// A fabric to measure on.
struct Size {
    name: String,
    pgft: Pgft,
    /// How to say it on a command line.
    option: [String; 2],
}

/// One row to be measured.
struct Plan<'a> {
    size: &'a Size,
    dead: Dead,
    engine: EngineName,
}

pub(super) fn run(args: &BenchArgs, threads: Option<u16>) -> Result<Answer> {
    if let Some(BenchCommand::Analyze(args)) = &args.what {
        return analyze::run(args);
    }
    let sizes = sizes(&args.presets, &args.tuples, DEFAULT_PRESET)?;
    let kernel = kernel(args.kernel)?;
    let mut plans = Vec::new();
    for size in &sizes {
        for engine in &args.engines {
            for &dead in &args.dead {
                // Dmodk is for healthy fabrics; its other rows are left out.
                if *engine != EngineName::Dmodk || (dead.cables == 0.0 && dead.switches == 0.0) {
                    plans.push(Plan { size, dead, engine: engine.clone() });
                }
            }
        }
    }
    ensure!(
        !args.engines.contains(&EngineName::Random),
        "the engines that are measured are dmodc and dmodk"
    );
    ensure!(
        !args.engines.iter().any(|engine| matches!(engine, EngineName::Opensm(_))),
        "OpenSM's engines are measured by --with-opensm"
    );
    ensure!(!plans.is_empty(), "Dmodk routes healthy fabrics only: nothing is left to measure");
    ensure!(
        !args.stream || args.engines == [EngineName::Dmodc],
        "--stream is there for --engine dmodc alone"
    );
    if let Some(folder) = &args.record {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let mut rows = match &plans[..] {
        [plan] if args.with_opensm.is_empty() => {
            vec![measure(&case(plan, args), &settings(plan, args, kernel))?]
        }
        _ => plans.iter().map(|plan| apart(plan, args, threads)).collect::<Result<_>>()?,
    };
    if !args.with_opensm.is_empty() {
        rows.extend(with_opensm(args, &sizes)?);
    }
    let result = json!({
        "schema": "dmodc/bench/1",
        "command": command_line(),
        "machine": machine::description(),
        "rows": rows,
    });
    if let Some(path) = &args.plot {
        write(path, &figure(&rows)?)?;
    }
    if let Some(folder) = &args.record {
        write(&folder.join("record.json"), &format!("{result:#}\n"))?;
        write(&folder.join("rows.csv"), &rows_csv(&rows))?;
        write(&folder.join("times.csv"), &times_csv(&rows))?;
        write(&folder.join("runtime.svg"), &figure(&rows)?)?;
    }
    output::print(&match args.json {
        true => format!("{result:#}\n"),
        false => table(&rows),
    })?;
    let wrong = |row: &Value| row["digest_ok"] == false || row["apply_changes_exact"] == false;
    Ok(Answer::from(!rows.iter().any(wrong)))
}

fn sizes(presets: &[String], tuples: &[Pgft], default: &str) -> Result<Vec<Size>> {
    let mut names: Vec<&str> = presets.iter().map(String::as_str).collect();
    if names.is_empty() && tuples.is_empty() {
        names.push(default);
    }
    let named = names.into_iter().map(|name| {
        let pgft = preset(name)?.pgft();
        Ok(Size { name: name.into(), pgft, option: ["--preset".into(), name.into()] })
    });
    let tuples = tuples.iter().map(|pgft| {
        let tuple = pgft.to_string();
        Ok(Size { name: tuple.clone(), pgft: pgft.clone(), option: ["--pgft".into(), tuple] })
    });
    named.chain(tuples).collect()
}

fn kernel(name: Option<KernelName>) -> Result<Kernel> {
    let Some(name) = name else { return Ok(Kernel::best()) };
    let wanted = kernel_name(name);
    let known = Kernel::all();
    known.iter().copied().find(|kernel| kernel.name() == wanted).with_context(|| {
        let names: Vec<&str> = known.into_iter().map(Kernel::name).collect();
        format!("--kernel {wanted}: this processor has {}", names.join(", "))
    })
}

fn kernel_name(name: KernelName) -> &'static str {
    match name {
        KernelName::Portable => "portable",
        KernelName::Avx2 => "avx2",
        KernelName::Avx512 => "avx512",
    }
}

fn case(plan: &Plan<'_>, args: &BenchArgs) -> BenchCase {
    BenchCase {
        name: plan.size.name.clone(),
        pgft: plan.size.pgft.clone(),
        cables: plan.dead.cables,
        switches: plan.dead.switches,
        seed: args.seed,
        switch_lids: args.switch_lids,
    }
}

fn settings(plan: &Plan<'_>, args: &BenchArgs, kernel: Kernel) -> BenchSettings {
    BenchSettings {
        algorithm: match plan.engine {
            EngineName::Dmodk => Algorithm::Dmodk,
            EngineName::Stable => Algorithm::Stable,
            _ if args.stream => Algorithm::Stream,
            _ => Algorithm::Dmodc,
        },
        rounds: args.rounds as usize,
        kernel,
        check: !args.no_check,
        on_checked: checking,
        changes: args.changes,
    }
}

/// OpenSM's engines on the same fabrics: their rows have the time that was spent inside the engine. One
/// that refuses a fabric has the reason instead.
fn with_opensm(args: &BenchArgs, sizes: &[Size]) -> Result<Vec<Value>> {
    let plugin = super::opensm::plugin(None)?;
    let mut rows = Vec::new();
    for size in sizes {
        let whole = size.pgft.fabric(Default::default());
        if whole.infiniband_lids().is_err() {
            continue;
        }
        for &dead in &args.dead {
            let draw = Draw {
                cables: Amount::Percent(dead.cables),
                switches: Amount::Percent(dead.switches),
                any_cable: false,
                any_switch: false,
                seed: args.seed,
            };
            let faults = draw.degradation(&whole)?;
            let live = Live::new(&whole, &faults);
            for name in &args.with_opensm {
                progress(&format!("{} {dead} opensm:{name}", size.name));
                let mut row = json!({
                    "preset": size.name,
                    "pgft": size.pgft.to_string(),
                    "engine": format!("opensm:{name}"),
                    "nodes": whole.nodes().len(),
                    "switches": whole.switches().len(),
                    "cables_dead": dead.cables,
                    "switches_dead": dead.switches,
                    "seed": args.seed,
                    "threads": 1,
                });
                match dmodc_lab::tables_of(live, name, &plugin, LONGEST) {
                    Ok(OpensmTables { matrices_ms, tables_ms, .. }) => {
                        row["hop_tables_ms"] = json!(matrices_ms);
                        row["tables_ms"] = json!(tables_ms);
                        row["reroute_ms"] = json!(matrices_ms + tables_ms);
                    }
                    Err(error) => row["error"] = json!(error.to_string()),
                }
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

/// The longest that one of OpenSM's engines may take, in seconds.
const LONGEST: u64 = 1800;

/// Tells a waiting human what is being done.
fn progress(what: &str) {
    if std::io::stderr().is_terminal() {
        eprintln!("measuring {what} …");
    }
}

/// Tells a waiting human how far the comparison with the naive reference is.
fn checking(done: usize, of: usize) {
    if std::io::stderr().is_terminal() {
        let end = if done == of { "\r\x1b[K" } else { "" };
        eprint!("\rchecking: {done} of {of} destination switches{end}");
    }
}

/// Measures one row in a process of its own.
fn apart(plan: &Plan<'_>, args: &BenchArgs, threads: Option<u16>) -> Result<Value> {
    let row = format!("{} {}", plan.size.name, plan.dead);
    progress(&row);
    let program = std::env::current_exe().context("where this program is")?;
    let mut command = Command::new(program);
    command.args(["bench", "--json"]).args(&plan.size.option);
    command.args(["--dead".into(), plan.dead.to_string()]);
    command.args(["--rounds".into(), args.rounds.to_string()]);
    command.args(["--seed".into(), args.seed.to_string()]);
    command.args(["--engine".into(), plan.engine.to_string()]);
    for (wanted, flag) in [
        (args.switch_lids, "--switch-lids"),
        (args.stream, "--stream"),
        (args.no_check, "--no-check"),
    ] {
        command.args(wanted.then_some(flag));
    }
    if let Some(changes) = args.changes {
        command.args(["--changes".into(), changes.to_string()]);
    }
    if let Some(kernel) = args.kernel {
        command.args(["--kernel", kernel_name(kernel)]);
    }
    if let Some(threads) = threads {
        command.args(["--threads".into(), threads.to_string()]);
    }
    // A human sees the progress of the other process, and what it says if it fails.
    let is_seen = std::io::stderr().is_terminal();
    command.stderr(if is_seen { Stdio::inherit() } else { Stdio::piped() });
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let output = child.and_then(Child::wait_with_output);
    let output = output.with_context(|| format!("measuring {row}"))?;
    let parsed: Result<Value, _> = serde_json::from_slice(&output.stdout);
    match (output.status.code(), parsed) {
        (Some(0 | 1), Ok(mut parsed)) => Ok(parsed["rows"][0].take()),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.trim().trim_start_matches("dmodc: ");
            bail!("measuring {row}: {}", if said.is_empty() { "it ended early" } else { said })
        }
    }
}

/// What was typed, but for where the program is.
fn command_line() -> String {
    let quoted = |word: String| match word.contains([' ', ';', '$']) {
        true => format!("\"{word}\""),
        false => word,
    };
    let words = std::env::args().skip(1).map(quoted);
    std::iter::once("dmodc".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

fn write(path: &Path, text: &str) -> Result<()> {
    output::to(Some(path), |out| Ok(out.write_all(text.as_bytes())?))
}

/// The columns of the text.
const HEADER: [&str; 12] = [
    "preset", "engine", "nodes", "dead %", "re-route", "memset", "ratio", "a cable", "a switch",
    "gain", "memory", "digest",
];

fn table(rows: &[Value]) -> String {
    let mut lines: Vec<Vec<String>> = vec![HEADER.map(String::from).to_vec()];
    lines.extend(rows.iter().map(line));
    let width =
        |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADER.len()).map(width).collect();
    let mut text = format!(
        "{} threads, {} kernel, median of {}\n",
        rows[0]["threads"],
        rows[0]["kernel"].as_str().unwrap_or("?"),
        rows[0]["rounds"],
    );
    for line in &lines {
        for (at, (word, width)) in line.iter().zip(&widths).enumerate() {
            text += &match at {
                0 => format!("{word:<width$}"),
                1 => format!("  {word:<width$}"),
                _ => format!("  {word:>width$}"),
            };
        }
        text.push('\n');
    }
    for row in rows.iter().filter(|row| row["over_dmodc"].is_number()) {
        let times = |key: &str| row[key].as_f64().unwrap_or(f64::NAN);
        text += &format!(
            "{} {}/{}: a re-route takes {:.2} of dmodc's in turns with it, a cable {:.2}\n",
            row["preset"].as_str().unwrap_or("?"),
            row["cables_dead"],
            row["switches_dead"],
            times("over_dmodc"),
            times("apply_cable_over_dmodc"),
        );
    }
    for row in rows {
        if let Some(percent) = checked_share(row) {
            text += &format!(
                "{} {} {}/{}: {percent:.1} % of the entries were compared with the naive reference, those towards {} \
                 destination switches\n",
                row["preset"].as_str().unwrap_or("?"),
                row["engine"].as_str().unwrap_or("?"),
                row["cables_dead"],
                row["switches_dead"],
                row["checked_destination_switches"],
            );
        }
    }
    for row in rows.iter().filter(|row| row["changes"].is_number()) {
        text += &format!(
            "{}: {} changes at once {:.2} ms, {:.3} of a whole re-route, {}\n",
            row["preset"].as_str().unwrap_or("?"),
            number(row["changes"].as_u64().unwrap_or(0)),
            row["apply_changes_ms"].as_f64().unwrap_or(f64::NAN),
            row["apply_changes_ratio"].as_f64().unwrap_or(f64::NAN),
            if row["apply_changes_exact"] == true { "the same tables" } else { "OTHER TABLES" },
        );
    }
    text
}

fn line(row: &Value) -> Vec<String> {
    let ms = |key: &str| row[key].as_f64().map_or("-".into(), |ms| format!("{ms:.2} ms"));
    let times = |key: &str| row[key].as_f64().map_or("-".into(), |ratio| format!("{ratio:.2}"));
    let share = |key: &str| match row[key].as_f64() {
        Some(ratio) if ratio > 0.0 => format!("1/{:.0}", 1.0 / ratio),
        _ => "-".into(),
    };
    let verdict = match row["digest_ok"].as_bool() {
        Some(true) => "right",
        Some(false) => "WRONG",
        None if row["error"].is_string() => "refused",
        None => "unchecked",
    };
    let verdict = match checked_share(row) {
        Some(percent) => format!("{verdict} ({percent:.1} %)"),
        None => verdict.into(),
    };
    vec![
        row["preset"].as_str().unwrap_or("?").into(),
        row["engine"].as_str().unwrap_or("?").into(),
        number(row["nodes"].as_u64().unwrap_or(0)),
        format!("{}/{}", row["cables_dead"], row["switches_dead"]).replace(".0", ""),
        ms("reroute_ms"),
        ms("memset_ms"),
        times("ratio"),
        share("apply_cable_ratio"),
        share("apply_switch_ratio"),
        times("gain_ratio"),
        row["peak_extra_bytes"].as_u64().map_or("-".into(), bytes),
        verdict,
    ]
}

/// How many of a hundred entries were compared, if not all.
fn checked_share(row: &Value) -> Option<f64> {
    row["checked_destination_switches"].as_u64()?;
    let (checked, all) = (row["checked_entries"].as_f64()?, row["entries"].as_f64()?);
    Some(100.0 * checked / all)
}

/// Every value that is not a list, one line for each row.
fn rows_csv(rows: &[Value]) -> String {
    // What a row is about comes first.
    let mut names = vec!["preset", "pgft", "engine", "nodes", "switches"];
    names.extend(["cables_dead", "switches_dead", "reroute_ms", "memset_ms", "ratio"]);
    for row in rows.iter().filter_map(Value::as_object) {
        for (name, _) in row.iter().filter(|(_, value)| !value.is_array()) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
    }
    let mut csv = names.join(",") + "\n";
    for row in rows {
        let values: Vec<String> = names.iter().map(|name| csv_value(&row[*name])).collect();
        csv += &(values.join(",") + "\n");
    }
    csv
}

fn csv_value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) if text.contains(',') => format!("\"{text}\""),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Every single time.
fn times_csv(rows: &[Value]) -> String {
    let mut csv =
        "preset,engine,cables_dead,switches_dead,round,reroute_ms,memset_ms\n".to_string();
    for row in rows {
        let (Some(reroute), Some(memset)) =
            (row["reroute_ms_all"].as_array(), row["memset_ms_all"].as_array())
        else {
            continue;
        };
        for (round, (reroute, memset)) in reroute.iter().zip(memset).enumerate() {
            let about = ["preset", "engine", "cables_dead", "switches_dead"];
            let about: Vec<String> = about.map(|name| csv_value(&row[name])).to_vec();
            csv += &format!("{},{round},{reroute},{memset}\n", about.join(","));
        }
    }
    csv
}

fn figure(rows: &[Value]) -> Result<String> {
    let mut curves: Vec<RuntimeCurve> = Vec::new();
    let mut add = |name: String, row: &Value, key: &str, is_limit| {
        let (Some(nodes), Some(ms)) = (row["nodes"].as_f64(), row[key].as_f64()) else { return };
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push((nodes, ms)),
            None => curves.push(RuntimeCurve { name, points: vec![(nodes, ms)], is_limit }),
        }
    };
    for row in rows {
        let (cables, switches) = (&row["cables_dead"], &row["switches_dead"]);
        let engine = row["engine"].as_str().unwrap_or("?");
        let dead = |count: &Value, what: &str| match count.as_f64() {
            Some(percent) if percent > 0.0 => Some(format!("{percent} % of {what}")),
            _ => None,
        };
        let dead: Vec<String> =
            [dead(cables, "cables"), dead(switches, "switches")].into_iter().flatten().collect();
        let state = match dead.is_empty() {
            true => "healthy".into(),
            false => format!("{} dead", dead.join(" and ")),
        };
        add(format!("{engine}, {state}"), row, "reroute_ms", false);
    }
    // One limit for each size: the rows of a size write as many bytes.
    let ours = rows.iter().filter(|row| row["memset_ms"].is_number());
    let healthy = ours.filter(|row| row["cables_dead"] == rows[0]["cables_dead"]);
    for row in healthy.filter(|row| row["switches_dead"] == rows[0]["switches_dead"]) {
        add("memset of as many bytes".into(), row, "memset_ms", true);
    }
    for curve in &mut curves {
        curve.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let threads = rows[0]["threads"].as_u64().unwrap_or(0);
    let title = format!("Complete re-routing, {threads} threads");
    runtime(&title, &curves).map_err(anyhow::Error::msg).context("the figure")
}
