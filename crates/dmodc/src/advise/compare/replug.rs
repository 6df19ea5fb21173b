//! The fewest re-plugs that turn one cabling into another.
//!
//! # The model
//! Ports are numbered 0, 1, 2 …. A cable joins two ports and has no name, so a cabling is a *matching*: each port has at
//! most one partner. One step is one of four, and each costs one:
//!
//! | step | what it does |
//! |---|---|
//! | swap u, v | two cable ends are exchanged: u gets the partner of v, and v that of u |
//! | move u → v | the cable end in u goes into the free port v |
//! | plug u, v | a cable is added between two free ports |
//! | unplug u, v | the cable between u and v is removed |
//!
//! # The least number
//! Take all ports, with the cables of the present (P) and those that are intended (I). Each port has at most one cable of
//! each kind, so every connected part is a cycle or a path in which P and I alternate. A path ends at a port that lacks a P
//! or lacks an I. A part of n ports needs
//!
//! - n/2 − 1 steps if it is a cycle (a cable that is right is a cycle of two ports, and needs none),
//! - ⌊n/2⌋ steps if it is a path (a port without cables is a path of one port, and needs none).
//!
//! *These are enough.* A swap of two ports of a cycle at an even distance divides it into two cycles of at least two
//! ports. So k − 1 swaps divide a cycle of 2k ports into k right cables. On a path, the free port at its end takes the end
//! of the next cable, which leaves another port free, and so on: one step for each port that is left, and one plug or
//! unplug if the path has one I more or one P more.
//!
//! *Fewer are not enough.* With V ports in all, the sum of these numbers is V/2 − (#odd paths)/2 − #cycles. At the end it is
//! 0. No step lowers it by more than one, for no step raises (#odd paths)/2 + #cycles by more than one:
//!
//! - A step removes at most two cables and adds as many, so it concerns at most two parts and leaves at most two in their
//!   place; a third part appears only where a move cuts a path whose free end is elsewhere, and there two become two.
//! - One part becomes two: of a cycle two cycles, or of a path a path and a cycle. A cycle has an even number of ports, so the
//!   path stays odd or even. Cycles grow by one, odd paths do not change.
//! - One path becomes two by an unplug, or two paths become two others by a swap or a move: no cycle appears, and at most two
//!   odd paths.
//! - A plug joins two paths, which adds no odd path, or closes an even path to a cycle.
//! - Everything else opens or joins cycles, which lowers the number.
//!
//! Example: P = {1–2, 3–4}, I = {1–4, 3–2}. The ports 1, 2, 3, 4 are one cycle (1 P 2 I 3 P 4 I 1), and 4/2 − 1 = 1 swap is
//! needed: 1 and 3, or 2 and 4, which gives the same cabling.

mod cycle;
mod path;
#[cfg(test)]
mod tests;

/// A port among those that are compared.
pub type PortId = u32;

/// The partner of each port in one cabling.
pub type Matching = Vec<Option<PortId>>;

/// One step of a repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Replug {
    /// Two cable ends are exchanged.
    Swap(PortId, PortId),
    /// A cable end moves into a free port.
    Move {
        /// The port that it leaves.
        from: PortId,
        /// The free port.
        to: PortId,
    },
    /// A cable is added between two free ports.
    Plug(PortId, PortId),
    /// The cable between two ports is removed.
    Unplug(PortId, PortId),
}

/// A step that is not possible: the port that it needs is free, or is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Impossible(pub Replug);

impl Replug {
    /// Does this step.
    ///
    /// # Errors
    /// If a port is free that should have a cable, or the other way round. Then nothing is changed.
    pub fn apply(self, cabling: &mut [Option<PortId>]) -> Result<(), Impossible> {
        let partner = |port: PortId, cabling: &[Option<PortId>]| cabling[port as usize];
        match self {
            Replug::Swap(u, v) => match (partner(u, cabling), partner(v, cabling)) {
                (Some(a), Some(b)) if u != v && a != v => {
                    join(cabling, v, a);
                    join(cabling, u, b);
                }
                _ => return Err(Impossible(self)),
            },
            Replug::Move { from, to } => match (partner(from, cabling), partner(to, cabling)) {
                (Some(a), None) => {
                    cabling[from as usize] = None;
                    join(cabling, to, a);
                }
                _ => return Err(Impossible(self)),
            },
            Replug::Plug(u, v) => match (partner(u, cabling), partner(v, cabling)) {
                (None, None) if u != v => join(cabling, u, v),
                _ => return Err(Impossible(self)),
            },
            Replug::Unplug(u, v) => match partner(u, cabling) == Some(v) {
                true => [u, v].into_iter().for_each(|port| cabling[port as usize] = None),
                false => return Err(Impossible(self)),
            },
        }
        Ok(())
    }
}

fn join(cabling: &mut [Option<PortId>], u: PortId, v: PortId) {
    cabling[u as usize] = Some(v);
    cabling[v as usize] = Some(u);
}

/// What is known about a port besides its cables. It decides among equally short repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PortPlace {
    /// The device of the port.
    pub device: u32,
    /// Whether that is a switch.
    pub on_switch: bool,
}

/// How easily two ports are exchanged by hand: less is easier. On one device both are within reach, and a cable is more easily
/// taken from a switch than from a host.
fn effort(places: &[PortPlace], u: PortId, v: PortId) -> u32 {
    let (a, b) = (places[u as usize], places[v as usize]);
    match a.device == b.device {
        true => 0,
        false => 1 + u32::from(!a.on_switch) + u32::from(!b.on_switch),
    }
}

/// Returns the steps of each part in which two cablings differ, parts in the order of their least ports. Altogether they are
/// as few as possible. Steps of one part are done in their order; parts do not depend on each other.
///
/// # Panics
/// If a partner's partner is another port.
pub fn fewest_replugs(
    present: &[Option<PortId>],
    intended: &[Option<PortId>],
    places: &[PortPlace],
) -> Vec<Vec<Replug>> {
    let both = Both { present, intended };
    let mut seen = vec![false; present.len()];
    let mut parts = vec![];
    for port in 0..present.len() as PortId {
        if seen[port as usize] || present[port as usize] == intended[port as usize] {
            continue;
        }
        let part = both.part(port);
        for port in &part.ports {
            seen[*port as usize] = true;
        }
        let steps = match part.is_cycle {
            true => cycle::steps(part.ports, places),
            false => path::steps(&part.ports, both.begins_present(&part.ports), places),
        };
        parts.push(steps);
    }
    parts
}

/// Returns the number of steps that no repair goes below. It is computed from the parts alone, without any steps.
pub fn least_replugs(present: &[Option<PortId>], intended: &[Option<PortId>]) -> usize {
    let both = Both { present, intended };
    let mut seen = vec![false; present.len()];
    let mut sum = 0;
    for port in 0..present.len() as PortId {
        if seen[port as usize] {
            continue;
        }
        let part = both.part(port);
        for port in &part.ports {
            seen[*port as usize] = true;
        }
        sum += part.ports.len() / 2 - usize::from(part.is_cycle);
    }
    sum
}

/// Returns the ports of every path of both cablings together, along the path. A port without cables is a path, too.
pub(super) fn paths(present: &[Option<PortId>], intended: &[Option<PortId>]) -> Vec<Vec<PortId>> {
    let both = Both { present, intended };
    let mut seen = vec![false; present.len()];
    let mut paths = vec![];
    for port in 0..present.len() as PortId {
        if !seen[port as usize] {
            let part = both.part(port);
            for port in &part.ports {
                seen[*port as usize] = true;
            }
            if !part.is_cycle {
                paths.push(part.ports);
            }
        }
    }
    paths
}

/// Both cablings.
struct Both<'a> {
    present: &'a [Option<PortId>],
    intended: &'a [Option<PortId>],
}

/// A connected part of both cablings together.
struct Part {
    /// Its ports along the path or cycle. A cycle begins with a cable of the present.
    ports: Vec<PortId>,
    is_cycle: bool,
}

impl Both<'_> {
    /// Returns the part that a port belongs to.
    fn part(&self, port: PortId) -> Part {
        let ahead = self.walk(port, true);
        if ahead.len().is_multiple_of(2) && self.intended[port as usize] == ahead.last().copied() {
            return Part { ports: ahead, is_cycle: true };
        }
        let mut ports = self.walk(port, false);
        ports.reverse();
        ports.extend(&ahead[1..]);
        Part { ports, is_cycle: false }
    }

    /// Returns the ports from this one on, first by a cable of the present or an intended one, until a path ends or a cycle
    /// closes.
    fn walk(&self, port: PortId, mut by_present: bool) -> Vec<PortId> {
        let mut ports = vec![port];
        let mut at = port;
        loop {
            let side = if by_present { self.present } else { self.intended };
            match side[at as usize] {
                Some(next) if next != port => {
                    assert_eq!(side[next as usize], Some(at), "a cable has two ends");
                    ports.push(next);
                    at = next;
                }
                _ => return ports,
            }
            by_present = !by_present;
        }
    }

    /// Returns whether the first cable of a path is one of the present.
    fn begins_present(&self, ports: &[PortId]) -> bool {
        self.present[ports[0] as usize] == Some(ports[1])
    }
}
