//! `dmodc drain`: which parts can be taken out of service together, and in which order.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use dmodc::advise::{
    Advice, Ceilings, DrainPlan, Exceeded, LimitKind, StatePatterns, UnsafeWhen, drain,
};
use dmodc::fabric::{FindError, Part};
use dmodc::{Fabric, Router};
use dmodc_study::answers::maintenance::{PartList, drain_json};

use crate::advice::{self, RISK_HEAD, StateProgress, risk_columns, words};
use crate::args::DrainArgs;
use crate::route_state::{self, Numbers};
use crate::text::{counted, number, time};
use crate::{Answer, output, source};

/// The number of random permutations, if they have a limit.
const PERMUTATIONS: usize = 100;

pub(super) fn run(args: &DrainArgs) -> Result<Answer> {
    source::only_one_from_stdin([args.parts.as_path(), args.routing.fabric.fabric.as_path()])?;
    let router = route_state::read(&args.routing, Numbers::Once)?.into_router()?;
    let list = read_parts(args, &router)?;
    let progress = StateProgress::new();
    let permutations = if args.keep.rp.is_some() { PERMUTATIONS } else { 0 };
    let advice = Advice {
        patterns: StatePatterns { shifts: args.shifts as usize, permutations, seed: 1 },
        most_states: args.states,
        on_state: &|| progress.count(),
    };
    let plan = drain(&router, &list.parts, &args.keep, &advice);
    let elapsed = progress.finish();
    let plan = plan.map_err(|error| advice::refusal(&router, error))?;
    let report = DrainReport { fabric: router.fabric(), list: &list, plan: &plan, elapsed };
    output::print(&if args.json {
        drain_json(router.fabric(), &list, &plan, elapsed)
    } else {
        report.text()
    })?;
    Ok(plan.unsafe_parts.is_empty().into())
}

/// Reads the parts that a file lists.
fn read_parts(args: &DrainArgs, router: &Router) -> Result<PartList> {
    let (name, live) = (source::name(&args.parts), router.live());
    let bytes = source::bytes(&args.parts, |_| true)?;
    let text =
        String::from_utf8(bytes).map_err(|_| anyhow!("{name}: this file is not text in UTF-8"))?;
    let mut list = PartList { parts: vec![], repeated: 0 };
    let mut known = HashMap::new();
    let lines = text.lines().map(str::trim).zip(1..);
    for (line, at) in lines.filter(|(l, _)| !l.is_empty() && !l.starts_with('#')) {
        let place = || format!("{name}:{at}");
        let part = named_part(live.fabric, line).with_context(place)?;
        let works = match part {
            Part::Switch(s) => live.switch(s),
            Part::Cable(c) => live.cable(c),
        };
        ensure!(works, "{}: '{line}' is not in service now: only the reference has it", place());
        match known.insert(part, at) {
            None => list.parts.push(part),
            Some(_) => list.repeated += 1,
        }
    }
    ensure!(!list.parts.is_empty(), "{name}: this file lists no part");
    Ok(list)
}

/// Returns the part that a line names. A comment may follow after a blank and `#`; but a name may contain these, too, so the
/// longest text that names a part is taken.
fn named_part(fabric: &Fabric, line: &str) -> Result<Part, FindError> {
    let comments = line.rmatch_indices('#').map(|(at, _)| &line[..at]);
    let ends = comments.filter(|text| text.ends_with(char::is_whitespace)).map(str::trim_end);
    let mut found = fabric.find_part(line);
    for text in ends {
        if found.is_ok() {
            break;
        }
        found = fabric.find_part(text);
    }
    found
}

struct DrainReport<'a> {
    fabric: &'a Fabric,
    list: &'a PartList,
    plan: &'a DrainPlan,
    elapsed: Duration,
}

impl DrainReport<'_> {
    fn text(&self) -> String {
        let &DrainReport { fabric, list, plan, elapsed } = self;
        let mut text = format!("limits: {}\n", limits(&plan.ceilings));
        if let Some(exceeded) = &plan.exceeded_now {
            let _ =
                writeln!(text, "the present state itself exceeds a limit: {}", reason(exceeded));
        }
        let _ = writeln!(text, " step {RISK_HEAD}  part");
        let _ = writeln!(text, "  now {}", risk_columns(&plan.now));
        for (step, at) in plan.steps.iter().zip(1..) {
            let (risk, part) = (risk_columns(&step.risk), words(fabric, step.part));
            let _ = writeln!(text, "{at:>5} {risk}  {part}");
        }
        for part in &plan.unsafe_parts {
            let when = match part.when {
                UnsafeWhen::Alone => "alone",
                UnsafeWhen::WithSafe => "with the safe parts",
            };
            let always = if part.is_certain { ", whatever the routes" } else { "" };
            let (reason, part) = (reason(&part.exceeded), words(fabric, part.part));
            let _ = writeln!(text, "not safe: {part}: {when}, {reason}{always}");
        }
        if list.repeated > 0 {
            let _ =
                writeln!(text, "{} again a part that is listed before", lines_name(list.repeated));
        }
        let judged = format!("{} judged in {}", counted(plan.states, "state"), time(elapsed));
        let _ = writeln!(text, "{}; {judged}", self.certainty());
        let (safe, all) = (plan.steps.len(), list.parts.len());
        let verdict = match safe == all {
            true => format!("safe: {} can be taken out in this order", all_parts(all)),
            false => format!(
                "NOT ALL SAFE: {} of {} can be taken out in this order",
                number(safe),
                counted(all, "part")
            ),
        };
        text + "verdict: " + &verdict + "\n"
    }

    /// Returns how good the answer is.
    fn certainty(&self) -> String {
        let plan = self.plan;
        match (plan.is_best_order, plan.is_largest()) {
            (true, _) => "exact: no safe set is larger, and no order keeps the risk lower".into(),
            (false, true) => "no safe set is larger; the order is greedy".into(),
            (false, false) => {
                format!("greedy: a safe set has at most {}", counted(plan.bound, "part"))
            }
        }
    }
}

fn all_parts(count: usize) -> String {
    match count {
        1 => "the part".into(),
        _ => format!("all {}", counted(count, "part")),
    }
}

fn lines_name(count: usize) -> String {
    match count {
        1 => "1 line names".into(),
        _ => format!("{} name", counted(count, "line")),
    }
}

/// Returns a number with at most two decimals.
fn decimal(value: f64) -> String {
    match value.fract() == 0.0 {
        true => number(value as u64),
        false => format!("{value:.2}"),
    }
}

fn limits(ceilings: &Ceilings) -> String {
    let mut text = format!("lost {}", number(ceilings.undelivered));
    let all = [("a2a", ceilings.a2a), ("sp", ceilings.sp), ("rp", ceilings.rp)];
    for (name, most) in all {
        if let Some(most) = most {
            let _ = write!(text, ", {name} {}", decimal(most));
        }
    }
    text
}

fn reason(exceeded: &Exceeded) -> String {
    let (value, most) = (decimal(exceeded.value), decimal(exceeded.most));
    match exceeded.limit {
        LimitKind::Lost => {
            format!("{} not delivered, and the limit is {most}", pairs(exceeded.value as u64))
        }
        LimitKind::Permutations => {
            format!("the median of rp is {value}, and the limit is {most}")
        }
        limit => format!("{} is {value}, and the limit is {most}", limit.name()),
    }
}

fn pairs(count: u64) -> String {
    format!("{} {}", counted(count, "node pair"), if count == 1 { "is" } else { "are" })
}
