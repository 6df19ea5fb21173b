//! `dmodc plan`: in which order new tables are safely written over old ones.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use dmodc::judge::{self, NewLoops, UploadPairs, UploadPlan};
use dmodc::{Columns, Fabric};
use dmodc_formats::lft::Lft;
use dmodc_study::answers::check::unmatched;
use serde_json::{Value, json};

use super::check::mismatches;
use crate::args::PlanArgs;
use crate::input::HealthyFabric;
use crate::text::{counted, end, number, percent, switch, time};
use crate::{Answer, input, output, source, table_file};

pub(super) fn run(args: &PlanArgs) -> Result<Answer> {
    let to_stdout = args.output.as_deref() == Some(Path::new("-"));
    ensure!(
        !(args.json && to_stdout),
        "the plan and --json cannot both go to standard output: write the plan to a file (--output FILE)"
    );
    let paths = [args.old.as_path(), args.new.as_path()];
    source::only_one_from_stdin(paths.into_iter().chain([args.fabric.fabric.as_path()]))?;
    let whole = HealthyFabric::new(input::fabric(&args.fabric)?);
    let live = whole.live();
    let tables = |path| table_file::tables(path, live.fabric, &args.fabric);
    let dumps = [tables(paths[0])?, tables(paths[1])?];
    for (dump, path) in dumps.iter().zip(paths) {
        table_file::check_fabric(path, dump, live.fabric)?;
    }
    can_follow(live.fabric, paths, &dumps)?;
    let tables = Lft::tables(&[&dumps[0], &dumps[1]], live.fabric)?;
    let start = Instant::now();
    let plan = judge::plan_upload(live, &tables[0], &tables[1], args.rounds);
    let elapsed = start.elapsed();
    let (fabric, columns) = (live.fabric, tables[1].columns());
    if let (Ok(plan), Some(path)) = (&plan, &args.output) {
        let comments = [format!("dmodc plan, format 1: {}", amount(plan))];
        output::to(Some(path), |out| {
            Ok(dmodc_formats::plan::write(fabric, plan, &tables[1], &comments, out)?)
        })?;
    }
    let report = match (args.json, &plan) {
        (true, plan) => json(fabric, columns, plan, &dumps, elapsed),
        (false, Ok(plan)) => mismatches(live, &dumps, paths.into_iter()) + &text(plan, elapsed),
        (false, Err(why)) => {
            mismatches(live, &dumps, paths.into_iter()) + &refusal(fabric, columns, why)
        }
    };
    match to_stdout && plan.is_ok() {
        true => eprint!("{report}"),
        false => output::print(&report)?,
    }
    Ok(plan.is_ok().into())
}

/// Refuses tables that cannot be written one over the other: a plan of half a file would empty the other half.
fn can_follow(fabric: &Fabric, [old, new]: [&Path; 2], dumps: &[Lft; 2]) -> Result<()> {
    if let Some(&first) = dumps[1].missing_switches.first() {
        let (name, first) = (source::name(new), switch(fabric, first));
        let missing = counted(dumps[1].missing_switches.len(), "switch");
        bail!(
            "{name}: the new tables are incomplete: {missing} of the fabric have none, such as {first}; compute them \
             with 'dmodc route'"
        );
    }
    if let Some((what, was, is)) = dumps[0].renumbered(&dumps[1], fabric) {
        let (old, new, what) = (source::name(old), source::name(new), end(fabric, what));
        bail!(
            "{what} has LID {was} in {old} and LID {is} in {new}; tables with different LIDs cannot replace each other \
             step by step"
        );
    }
    Ok(())
}

/// Returns the size of a plan, in words.
fn amount(plan: &UploadPlan) -> String {
    format!(
        "{}, {}, {}",
        counted(plan.rounds.len(), "round"),
        counted(plan.writes().len(), "block write"),
        counted(plan.entry_count(), "entry"),
    )
}

fn text(plan: &UploadPlan, elapsed: Duration) -> String {
    let UploadPairs { of, old, new, given_up } = plan.pairs;
    if plan.is_empty() {
        return format!("nothing to write: the tables are the same ({})\n", time(elapsed));
    }
    let mut text = format!("{} ({})\n", amount(plan), time(elapsed));
    for (round, at) in plan.rounds.iter().zip(1..) {
        let _ = writeln!(
            text,
            "  round {at}: {}, {}, {}",
            counted(round.switches, "switch"),
            counted(round.blocks, "block"),
            counted(round.entries, "entry"),
        );
    }
    let again = plan.writes().len() as u64 - plan.blocks;
    let _ = writeln!(
        text,
        "{} in {} {}; {}",
        counted(plan.blocks, "block"),
        counted(plan.switches, "switch"),
        if plan.blocks == 1 { "changes" } else { "change" },
        match again {
            0 => "each is written once".into(),
            _ => format!(
                "the order needs {} ({}); more --rounds may need fewer",
                counted(again, "additional block write"),
                percent(again as usize, plan.blocks as usize),
            ),
        },
    );
    let _ = writeln!(
        text,
        "of {}, the old tables deliver {} on this fabric, the new tables {}",
        counted(of, "node pair"),
        number(old),
        number(new),
    );
    if given_up > 0 {
        let _ = writeln!(
            text,
            "  {} delivered by the old tables only; the plan gives them up as late as possible",
            counted(given_up, "pair"),
        );
    }
    if plan.old_loops > 0 {
        let _ = writeln!(
            text,
            "the old tables loop for {}; the plan ends these loops",
            counted(plan.old_loops, "destination"),
        );
    }
    text + "verdict: safe (no new loops; pairs that both tables deliver are delivered during the whole update)\n"
}

fn refusal(fabric: &Fabric, columns: &Columns, why: &NewLoops) -> String {
    let d = &columns.destinations()[why.column];
    let mut text = format!(
        "the new tables loop for {}, such as {}, LID {}; the loop is\n",
        counted(why.destinations, "destination"),
        end(fabric, d.end),
        d.lid,
    );
    for &s in &why.switches {
        let _ = writeln!(text, "  {}", switch(fabric, s));
    }
    text + "verdict: NO SAFE ORDER (hint: 'dmodc route' computes new tables without loops)\n"
}

fn json(
    fabric: &Fabric,
    columns: &Columns,
    plan: &Result<UploadPlan, NewLoops>,
    dumps: &[Lft],
    elapsed: Duration,
) -> String {
    let mut value = match plan {
        Ok(plan) => numbers(plan),
        Err(why) => {
            let d = &columns.destinations()[why.column];
            let guid = |&s: &dmodc::SwitchIndex| fabric.switch(s).guid.to_string();
            json!({
                "new_loop_destinations": why.destinations,
                "new_loop": {
                    "to": d.end.guid(fabric).to_string(),
                    "to_name": d.end.name(fabric),
                    "lid": d.lid.0,
                    "switches": why.switches.iter().map(guid).collect::<Vec<_>>(),
                },
            })
        }
    };
    value["schema"] = json!("dmodc/plan/1");
    value["safe"] = json!(plan.is_ok());
    value["plan_ms"] = json!(elapsed.as_secs_f64() * 1e3);
    value["unmatched"] = unmatched(dumps);
    format!("{value:#}\n")
}

fn numbers(plan: &UploadPlan) -> Value {
    let round = |round: &judge::UploadRound| {
        json!({
            "switches": round.switches,
            "blocks": round.blocks,
            "entries": round.entries,
        })
    };
    json!({
        "rounds": plan.rounds.iter().map(round).collect::<Vec<_>>(),
        "entries": plan.entry_count(),
        "ordered_entries": plan.ordered,
        "writes": plan.writes().len(),
        "blocks": plan.blocks,
        "switches": plan.switches,
        "pairs": {
            "of": plan.pairs.of,
            "old": plan.pairs.old,
            "new": plan.pairs.new,
            "given_up": plan.pairs.given_up,
        },
        "old_loop_destinations": plan.old_loops,
    })
}
