//! `dmodc repair`: in which order failed equipment is repaired.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use dmodc::Fabric;
use dmodc::advise::{Advice, RepairPlan, RepairStep, StatePatterns, StateRisk, repair};
use dmodc_study::answers::maintenance::repair_json;
use dmodc_study::figure::{Across, Chart, ChartPoint, Curve, Unit};

use crate::advice::{self, RISK_HEAD, StateProgress, risk_columns, words};
use crate::args::{RepairArgs, command_line};
use crate::route_state::{self, Numbers, RouteReference};
use crate::text::{counted, number, time};
use crate::{Answer, output, source};

pub(super) fn run(args: RepairArgs) -> Result<Answer> {
    let outputs = [&args.csv, &args.svg];
    let to_stdout = |path: &&Option<_>| path.as_deref() == Some(Path::new("-"));
    ensure!(
        !outputs.iter().any(to_stdout),
        "the steps go to standard output; write the CSV and the figure to files"
    );
    let (csv, svg, is_json) = (args.csv.clone(), args.svg.clone(), args.json);
    let (steps, shifts) = (args.steps.unwrap_or(usize::MAX), args.shifts as usize);
    let reference = source::name(&args.reference);
    let state = route_state::read_joined(&args.routing(), Numbers::Once)?;
    let changes = match &state.reference {
        Some(RouteReference::File(_, changes)) => changes.to_string(),
        _ => String::new(),
    };
    let router = state.into_router()?;
    let progress = StateProgress::new();
    let advice = Advice {
        patterns: StatePatterns { shifts, ..Default::default() },
        on_state: &|| progress.count(),
        ..Default::default()
    };
    let plan = repair(&router, steps, &advice);
    let elapsed = progress.finish();
    let plan = plan.map_err(|error| advice::refusal(&router, error))?;
    let report = RepairReport { fabric: router.fabric(), plan: &plan, reference, changes, elapsed };
    for (path, text) in [(csv, report.csv()), (svg, report.svg())] {
        if let Some(path) = path {
            let text = text?;
            output::to(Some(&path), |out| Ok(out.write_all(text.as_bytes())?))?;
        }
    }
    output::print(&if is_json {
        repair_json(router.fabric(), &plan, &report.reference, elapsed)
    } else {
        report.text()
    })?;
    Ok(Answer::Yes)
}

struct RepairReport<'a> {
    fabric: &'a Fabric,
    plan: &'a RepairPlan,
    reference: String,
    /// What became of the reference, in words.
    changes: String,
    elapsed: Duration,
}

impl RepairReport<'_> {
    fn text(&self) -> String {
        let RepairReport { fabric, plan, reference, changes, elapsed } = self;
        let mut text = format!("compared with {reference}: {changes}\n");
        if plan.dead == 0 {
            return text + "nothing is dead: no repair is needed\n";
        }
        let _ = writeln!(text, " step {RISK_HEAD}  left  part");
        let _ = writeln!(text, "  now {} {:>5}", risk_columns(&plan.now), number(plan.dead));
        for (step, at) in plan.steps.iter().zip(1..) {
            let (risk, part) = (risk_columns(&step.risk), words(fabric, step.part));
            let _ = writeln!(text, "{at:>5} {risk} {:>5}  {part}", number(step.left));
        }
        let tried = match plan.is_exact() {
            true => "each step tried every repair",
            false => "some steps tried only the most promising repairs",
        };
        let judged = format!("{} judged in {}", counted(plan.states, "state"), time(*elapsed));
        let _ = writeln!(text, "{tried}; {judged}");
        text + &self.summary()
    }

    /// Returns what the first repairs bring, and what all bring.
    fn summary(&self) -> String {
        let plan = self.plan;
        let is_done = |step: &RepairStep| step.risk.undelivered == 0;
        let last = plan.steps.last().map_or(&plan.now, |step| &step.risk);
        let mut text = String::new();
        if plan.now.undelivered > 0 {
            let _ = match plan.steps.iter().position(is_done) {
                Some(at) => writeln!(
                    text,
                    "after {}, every node pair is delivered",
                    counted(at + 1, "repair")
                ),
                None => writeln!(
                    text,
                    "after {}, {} are not delivered",
                    counted(plan.steps.len(), "repair"),
                    counted(last.undelivered, "node pair")
                ),
            };
        }
        let is_as_last = |risk: &StateRisk| {
            (risk.undelivered, risk.all_to_all.max) == (last.undelivered, last.all_to_all.max)
        };
        let states = std::iter::once(&plan.now).chain(plan.steps.iter().map(|step| &step.risk));
        let unlike = states.enumerate().filter(|(_, risk)| !is_as_last(risk)).last();
        let enough = unlike.map_or(0, |(at, _)| at + 1);
        let about = "the delivered pairs or the all-to-all risk";
        let _ = match enough {
            _ if enough == plan.steps.len() => Ok(()),
            0 => writeln!(text, "none of these repairs changes {about}"),
            _ => {
                let first = counted(enough, "repair");
                writeln!(text, "after {first}, none of the others changes {about}")
            }
        };
        text
    }

    fn csv(&self) -> Result<String> {
        let mut csv = String::from("step,part,name,lost,a2a,a2a_bound,sp,sp_bound,left\n");
        let mut row = |at: usize, names: [&str; 2], risk: &StateRisk, left: usize| {
            let [part, name] = names.map(quoted);
            let (a2a, sp) = (&risk.all_to_all, &risk.shifts);
            let _ = writeln!(
                csv,
                "{at},{part},{name},{},{},{},{:.4},{:.4},{left}",
                risk.undelivered,
                a2a.max,
                a2a.bound,
                sp.mean(),
                sp.mean_bound(),
            );
        };
        row(0, ["", ""], &self.plan.now, self.plan.dead);
        for (step, at) in self.plan.steps.iter().zip(1..) {
            let part = advice::describe(self.fabric, step.part);
            let names = ["part", "name"].map(|key| part[key].as_str().unwrap_or_default());
            row(at, names, &step.risk, step.left);
        }
        Ok(csv)
    }

    /// Returns a figure: delivered pairs and risks after each repair, compared with those after the last one.
    fn svg(&self) -> Result<String> {
        let plan = self.plan;
        let risks: Vec<&StateRisk> =
            std::iter::once(&plan.now).chain(plan.steps.iter().map(|step| &step.risk)).collect();
        let curve = |name: &str, style: usize, value: &dyn Fn(&StateRisk) -> f64| {
            let last = value(risks[risks.len() - 1]);
            let share = |value: f64| if last > 0.0 { 100.0 * value / last } else { 0.0 };
            let point = |(at, risk): (usize, &&StateRisk)| ChartPoint {
                across: at as f64,
                up: share(value(risk)),
                range: None,
            };
            Curve {
                name: name.into(),
                style,
                points: risks.iter().enumerate().map(point).collect(),
            }
        };
        // No more than about twenty labels have room.
        let every = risks.len().div_ceil(20);
        let label =
            |at: usize| if at.is_multiple_of(every) { at.to_string() } else { String::new() };
        let chart = Chart {
            title: "What does each repair bring back?".into(),
            caption: vec!["Each curve is compared with its value after the last repair.".into()],
            source: vec![command_line()],
            across: Across::Steps((0..risks.len()).map(label).collect()),
            across_label: "repairs".into(),
            up_label: "share of the value after the last repair".into(),
            unit: Unit::Percent,
            curves: vec![
                curve("delivered pairs", 0, &|risk| (plan.pairs - risk.undelivered) as f64),
                curve("all-to-all risk", 1, &|risk| risk.all_to_all.max as f64),
                curve("risk of shifts", 2, &|risk| risk.shifts.mean()),
            ],
            limit: None,
        };
        chart.svg().map_err(|why| anyhow!("--svg: {why}"))
    }
}

/// Returns a value of a CSV file, in quotes if it needs them.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.into(),
    }
}
