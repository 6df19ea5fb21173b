//! The result for people: what differs, and what to do, by switch.

use std::fmt::Write as _;

use dmodc::advise::compare::replug::{PortId, Replug};
use dmodc::advise::compare::{PlannedStep, Risk, Side, Unmatched, WhyUnmatched};

use super::CompareReport;
use super::steps::{device_name, needs_absent, port_name, ports};
use crate::text::{counted, number};

/// The number of devices without a counterpart that are named, on each side.
const NAMED: usize = 5;

/// The number of steps that are shown.
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
    }
    text + "verdict: DIFFERENT\n"
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
        let device = comparison.ports[ports(*step)[0] as usize].device;
        if heading != Some(device) {
            heading = Some(device);
            let _ = writeln!(text, "  {}", device_name(&comparison.devices[device]));
        }
        let _ = write!(text, "    {}. {}", at + 1, instruction(report, *step));
        if needs_absent(comparison, *step) {
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

/// Returns what to do at a switch.
fn instruction(report: &CompareReport<'_>, step: Replug) -> String {
    let comparison = report.comparison;
    let at = |port: PortId| comparison.ports[port as usize];
    let there = |own: PortId, other: PortId| match at(own).device == at(other).device {
        true => format!("port {}", at(other).port),
        false => port_name(comparison, other),
    };
    let [own, other] = ports(step);
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
