//! The result for people: what differs, and what to do, by switch.

use std::fmt::Write as _;

use dmodc::advise::compare::replug::{PortId, Replug};
use dmodc::advise::compare::{CablingDoubt, PlannedStep, Risk, Side, Unmatched, WhyUnmatched};

use super::CompareReport;
use super::steps::{device_name, is_absent, port_name, ports};
use crate::text::{counted, number};

/// The number of devices without a counterpart that are named, on each side.
const NAMED: usize = 5;

/// The number of steps that are shown, and that of doubtful things.
const SHOWN: usize = 50;

pub(super) fn text(report: &CompareReport<'_>) -> String {
    let CompareReport { comparison, plan, intended } = report;
    let cables = comparison.present.iter().flatten().count() / 2;
    let mut text = match intended {
        Some(file) => format!(
            "compared: {} with {file} ({} by GUID, {} by name)\n",
            counted(cables, "cable"),
            counted(comparison.by_guid, "device"),
            number(comparison.by_name),
        ),
        None if comparison.compared_cables < cables => format!(
            "compared: {} of {} between switches with the regular shape of the fabric, which says nothing about the others\n",
            number(comparison.compared_cables),
            counted(cables, "cable")
        ),
        None => format!(
            "compared: {} between switches with the regular shape of the fabric\n",
            counted(cables, "cable")
        ),
    };
    if !comparison.compares_hosts && intended.is_some() {
        text += "the intended fabric names no host, so the cables of hosts are not compared\n";
    }
    text += &unmatched(report);
    if comparison.is_equal() {
        return text
            + match report.intended {
                Some(_) => "verdict: equal\n",
                None => {
                    "verdict: no difference from the inferred shape was found (it does not show every mistake; --with names the \
                     intended fabric)\n"
                }
            };
    }
    if !plan.steps.is_empty() {
        let _ = writeln!(text, "{}", summary(report));
        if let Some(risk) = &plan.present {
            let _ = writeln!(text, "now: {}", words(risk));
        }
        text += &steps(report);
        text += &harm(report);
    }
    text += &doubts(report);
    text + match plan.steps.is_empty() && comparison.unmatched.is_empty() {
        true => "verdict: DOUBTFUL\n",
        false => "verdict: DIFFERENT\n",
    }
}

/// Returns the numbers of steps, and whether they are the fewest.
fn summary(report: &CompareReport<'_>) -> String {
    let CompareReport { comparison, plan, .. } = report;
    let count = |is_one: fn(&Replug) -> bool| plan.steps.iter().filter(|s| is_one(&s.step)).count();
    let kinds = [
        (count(|step| matches!(step, Replug::Swap(..))), "swap"),
        (count(|step| matches!(step, Replug::Move { .. })), "move"),
        (count(|step| matches!(step, Replug::Plug(..))), "missing cable"),
        (count(|step| matches!(step, Replug::Unplug(..))), "extra cable"),
    ];
    let kinds: Vec<String> =
        kinds.iter().filter(|(n, _)| *n > 0).map(|(n, noun)| counted(*n, noun)).collect();
    let fewest = match comparison.is_exact() {
        true => "no repair has fewer".into(),
        false => format!("at least {} are needed", number(comparison.bound)),
    };
    format!("{}: {} ({fewest})", counted(plan.steps.len(), "re-plug"), kinds.join(", "))
}

/// Returns the risk of a state.
fn words(risk: &Risk) -> String {
    let mut parts = vec![];
    for (pairs, word) in [(risk.delivery.lost, "lost"), (risk.delivery.cut_off, "cut off")] {
        if pairs > 0 {
            parts.push(format!("{} {word}", counted(pairs, "node pair")));
        }
    }
    parts.push(format!("all-to-all {} (bound {})", number(risk.all_to_all), number(risk.bound)));
    parts.join(", ")
}

/// Returns the steps in their order, those in a row at one switch below its name.
fn steps(report: &CompareReport<'_>) -> String {
    let CompareReport { comparison, plan, .. } = report;
    let mut text = "steps, the most harmful faults first:\n".to_owned();
    if plan.present.is_none() {
        text = "steps (not judged):\n".into();
    }
    let mut heading = None;
    for (at, PlannedStep { step, risk, .. }) in plan.steps.iter().enumerate().take(SHOWN) {
        let [own, other] = ports(comparison, *step);
        let device = comparison.ports[own as usize].device;
        if heading != Some(device) {
            heading = Some(device);
            let absent = if is_absent(comparison, own) { " (not in the fabric)" } else { "" };
            let _ = writeln!(text, "  {}{absent}", device_name(&comparison.devices[device]));
        }
        let _ = write!(text, "    {}. {}", at + 1, instruction(report, *step));
        if is_absent(comparison, other) && comparison.ports[other as usize].device != device {
            text += " (not in the fabric)";
        }
        let _ = match risk {
            Some(risk) => writeln!(text, "; then {}", words(risk)),
            None => writeln!(text),
        };
    }
    if plan.steps.len() > SHOWN {
        let more = counted(plan.steps.len() - SHOWN, "more step");
        let _ = writeln!(text, "  and {more} (--json and --csv list all)");
    }
    text
}

/// Returns what all steps bring, if not every one was judged, and a warning if they raise the risk.
fn harm(report: &CompareReport<'_>) -> String {
    let plan = report.plan;
    let mut text = String::new();
    let Some(after) = &plan.after else { return text };
    let is_known = plan.steps.last().is_some_and(|step| step.risk.is_some());
    if !is_known {
        let _ = writeln!(text, "after all steps: {}", words(after));
    }
    if plan.is_harmful() {
        let _ = writeln!(
            text,
            "WARNING: the steps raise the risk; {}",
            match report.intended {
                Some(_) => "routes will be worse than now if the intended fabric is right",
                None => "do not follow them without knowing the intended fabric (--with)",
            }
        );
    }
    text
}

/// Returns what is doubtful.
fn doubts(report: &CompareReport<'_>) -> String {
    let comparison = report.comparison;
    let mut text = String::new();
    for doubt in comparison.doubts.iter().take(SHOWN) {
        let ends = |ports: &[PortId; 2]| {
            let [a, b] = ports.map(|port| port_name(comparison, port));
            format!("the cable from {a} to {b}")
        };
        let _ = match doubt {
            CablingDoubt::SameRank(ports) => {
                writeln!(
                    text,
                    "doubtful: {} joins two switches of one rank, as few others do",
                    ends(ports)
                )
            }
            CablingDoubt::SelfLoop(ports) => {
                writeln!(text, "doubtful: {} joins a switch to itself", ends(ports))
            }
            CablingDoubt::NoUplink(device) => {
                let name = device_name(&comparison.devices[*device]);
                writeln!(text, "doubtful: '{name}' is a leaf without any cable upwards")
            }
        };
    }
    if comparison.doubts.len() > SHOWN {
        let more = counted(comparison.doubts.len() - SHOWN, "more doubt");
        let _ = writeln!(text, "and {more} (--json lists all)");
    }
    text
}

/// Returns what to do at a switch.
fn instruction(report: &CompareReport<'_>, step: Replug) -> String {
    let comparison = report.comparison;
    let at = |port: PortId| comparison.ports[port as usize];
    let there = |own: PortId, other: PortId| match at(own).device == at(other).device {
        true => format!("port {}", at(other).port),
        false => port_name(comparison, other),
    };
    let [own, other] = ports(comparison, step);
    let (port, there) = (at(own).port, there(own, other));
    match step {
        Replug::Swap(..) => format!("swap port {port} and {there}"),
        Replug::Move { .. } => format!("move the cable end in port {port} to {there}"),
        Replug::Plug(..) => format!("plug a cable from port {port} to {there}"),
        Replug::Unplug(..) => format!("unplug the cable from port {port} to {there}"),
    }
}

/// Returns the devices that only one side has.
fn unmatched(report: &CompareReport<'_>) -> String {
    let mut text = String::new();
    for (side, place) in
        [(Side::Intended, "only in the intended fabric"), (Side::Present, "only in the fabric")]
    {
        let all = report.comparison.unmatched.iter().filter(|unmatched| unmatched.side == side);
        let all: Vec<&Unmatched> = all.collect();
        if all.is_empty() {
            continue;
        }
        let names: Vec<String> = all.iter().take(NAMED).map(|u| described(report, u)).collect();
        let more = if all.len() > NAMED { ", …" } else { "" };
        let count = counted(all.len(), "device");
        let _ = writeln!(text, "{place}: {count}: {}{more}", names.join(", "));
    }
    text
}

fn described(report: &CompareReport<'_>, unmatched: &Unmatched) -> String {
    let name = device_name(&report.comparison.devices[unmatched.device]);
    let mut notes = vec![counted(unmatched.cables, "cable")];
    if unmatched.set_aside > 0 {
        notes.push("perhaps a replaced host".into());
    }
    if unmatched.why == WhyUnmatched::NameRepeats {
        notes.push("several devices have this name".into());
    }
    format!("'{name}' ({})", notes.join(", "))
}
