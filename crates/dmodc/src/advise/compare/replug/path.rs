//! Paths: a free port takes the end of the next cable, which frees another port, and so on.
//!
//! A path has one more intended cable than present ones (a cable is missing), one fewer (a cable is extra), or equally many.
//! In the first two cases any of its cables can be the one that is plugged or unplugged, and the choice decides which ends
//! move. The easiest is taken.

use super::{PortId, PortPlace, Replug, effort};

/// Returns the steps of a path, whose first cable is one of the present or an intended one.
pub(super) fn steps(ports: &[PortId], begins_present: bool, places: &[PortPlace]) -> Vec<Replug> {
    let is_even = ports.len().is_multiple_of(2);
    match (is_even, begins_present) {
        (false, true) => towards_end(ports),
        (false, false) => {
            let turned: Vec<PortId> = ports.iter().rev().copied().collect();
            towards_end(&turned)
        }
        (true, true) => extra(ports, places),
        (true, false) => missing(ports, places),
    }
}

/// Returns the moves of ends two ports further on, the last first: the free port is at the end.
///
/// ```text
/// u₀ ═ u₁ ─ u₂ ═ u₃ ─ u₄     u₄ is free: u₂ → u₄, then u₀ → u₂
/// ```
fn towards_end(ports: &[PortId]) -> Vec<Replug> {
    (2..ports.len()).rev().step_by(2).map(|at| moved(ports[at - 2], ports[at])).collect()
}

/// Returns the moves of ends two ports back, the first first: the free port is at the beginning.
fn towards_start(ports: &[PortId]) -> Vec<Replug> {
    (2..ports.len()).step_by(2).map(|at| moved(ports[at], ports[at - 2])).collect()
}

fn moved(from: PortId, to: PortId) -> Replug {
    Replug::Move { from, to }
}

/// Returns the steps of a path that begins and ends with intended cables: one of them is plugged at last. If that is
/// `ports[at]`–`ports[at + 1]`, ends before it move to the start, and ends after it to the end.
fn missing(ports: &[PortId], places: &[PortPlace]) -> Vec<Replug> {
    let at = best_place(ports, places);
    let mut steps = towards_start(&ports[..=at]);
    steps.extend(towards_end(&ports[at + 1..]));
    steps.push(Replug::Plug(ports[at].min(ports[at + 1]), ports[at].max(ports[at + 1])));
    steps
}

/// Returns the steps of a path that begins and ends with present cables: one of them is unplugged first. If that is
/// `ports[at]`–`ports[at + 1]`, its two ports are free then, and take the ends before and after it.
fn extra(ports: &[PortId], places: &[PortPlace]) -> Vec<Replug> {
    let at = best_place(ports, places);
    let mut steps =
        vec![Replug::Unplug(ports[at].min(ports[at + 1]), ports[at].max(ports[at + 1]))];
    steps.extend(towards_end(&ports[..=at]));
    steps.extend(towards_start(&ports[at + 1..]));
    steps
}

/// Returns the even position that makes the moves easiest: even ports before it move, and odd ports after it.
fn best_place(ports: &[PortId], places: &[PortPlace]) -> usize {
    let effort_at = |at: usize| effort(places, ports[at - 2], ports[at]);
    let mut now: u32 = (3..ports.len()).step_by(2).map(effort_at).sum();
    let mut best = (now, 0);
    for at in (2..ports.len()).step_by(2) {
        now = now + effort_at(at) - effort_at(at + 1);
        best = best.min((now, at));
    }
    best.1
}
