//! The port of a destination whose slot is lost, chosen in thirteen ways.

use dmodc::oracle::{Neighbour, select};
use dmodc::{PortNumber, Random, SwitchIndex};

/// How a destination is placed whose slot is lost. x is round · #D + j + σ + k, and C is the present
/// closer set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// The engine as it was first: x over the unharmed of C if they are half of it, otherwise over those that kept the
    /// slot.
    Kept,
    /// x over all of C, without looking ahead.
    Position,
    /// `Kept` with another σ: the number of the switch's pod plus its place in the pod.
    Pod,
    /// `Kept` with σ · #D instead of σ, so that neighbouring switches do not overlap.
    Wide,
    /// A hash of switch, destination switch and slot over all of C.
    Hash,
    /// Another slot, round + σ further on, if it can be used; otherwise as `Kept`.
    Second,
    /// The first slot that can be used from there on.
    Probe,
    /// x over those of C with the greatest share of their ports left: the unharmed, if there are any.
    Weight,
    /// x over the unharmed if they are half of C, otherwise over all of it.
    Half,
    /// x over those of C that kept the slot, harmed or not.
    Slot,
    /// `Kept`; and the destinations of a dead parallel port, too, are spread over all of C.
    Ports,
    /// `Kept`; and a slot on the way up is lost, too, if the switch there goes down and lost its own slot. Such switches
    /// are taken out of C, if others are left.
    Arrival,
    /// The engine: `Kept` with x over a cycle of ports instead of groups: the first port of each group, then the second of each group
    /// that has one, and so on. So groups with fewer live ports get less.
    Cycle,
}

pub(crate) const VARIANTS: [(&str, Variant); 13] = [
    ("kept", Variant::Kept),
    ("position", Variant::Position),
    ("pod", Variant::Pod),
    ("wide", Variant::Wide),
    ("hash", Variant::Hash),
    ("second", Variant::Second),
    ("probe", Variant::Probe),
    ("weight", Variant::Weight),
    ("half", Variant::Half),
    ("slot", Variant::Slot),
    ("ports", Variant::Ports),
    ("arrival", Variant::Arrival),
    ("cycle", Variant::Cycle),
];

/// The index of the variant that the engine `stable` is: `cycle`.
pub(crate) const ENGINE: usize = VARIANTS.len() - 1;

/// A switch that lost some slots towards a destination switch.
pub(crate) struct Displaced<'a> {
    pub s: SwitchIndex,
    pub target: SwitchIndex,
    /// R.
    pub r: &'a [&'a Neighbour],
    /// C.
    pub c: Vec<&'a Neighbour>,
    /// Of C: unharmed ones, those that kept the slot, those with the greatest share of ports.
    pub unharmed: Vec<&'a Neighbour>,
    pub kept: Vec<&'a Neighbour>,
    pub widest: Vec<&'a Neighbour>,
    pub slot: usize,
    pub round: u64,
    /// #D.
    pub lost: u64,
    /// round · #D + j + k, for the k-th LID of a node.
    pub own: u64,
    /// σ: by place in the rank, and by pod.
    pub place: u64,
    pub pod: u64,
}

impl Displaced<'_> {
    /// Returns the groups over which `Kept` and the engine spread.
    fn ahead(&self) -> &[&Neighbour] {
        match (2 * self.unharmed.len() >= self.c.len(), self.kept.is_empty()) {
            (true, _) => &self.unharmed,
            (false, false) => &self.kept,
            (false, true) => &self.c,
        }
    }

    /// Returns the port that a variant chooses.
    pub(crate) fn port(&self, variant: Variant) -> Option<PortNumber> {
        let x = self.own + self.place;
        let all = self.c.as_slice();
        let or_all = |wanted| if <[_]>::is_empty(wanted) { all } else { wanted };
        match variant {
            Variant::Kept | Variant::Ports | Variant::Arrival => select(self.ahead(), 1, x, 0),
            Variant::Position => select(all, 1, x, 0),
            Variant::Pod => select(self.ahead(), 1, self.own + self.pod, 0),
            Variant::Wide => select(self.ahead(), 1, self.own + self.place * self.lost, 0),
            Variant::Hash => {
                let seed = (self.s.at() as u64) << 32 | self.target.at() as u64;
                let drawn = Random::new(seed, self.slot as u64).below(1 << 32);
                select(all, 1, drawn, 0)
            }
            Variant::Second => self.slot_after(1).or_else(|| self.port(Variant::Kept)),
            Variant::Probe => self.slot_after(self.r.len()).or_else(|| self.port(Variant::Kept)),
            Variant::Weight => select(or_all(&self.widest), 1, x, 0),
            Variant::Half if 2 * self.unharmed.len() < self.c.len() => select(all, 1, x, 0),
            Variant::Half => select(&self.unharmed, 1, x, 0),
            Variant::Slot => select(or_all(&self.kept), 1, x, 0),
            Variant::Cycle => {
                let ports = cycle(self.ahead());
                ports.get((x % ports.len().max(1) as u64) as usize).copied()
            }
        }
    }

    /// Returns the port of the first usable slot among `tries` slots, starting round + σ slots further on. A slot is usable if
    /// `Kept` would spread over its group, too.
    fn slot_after(&self, tries: usize) -> Option<PortNumber> {
        let slots = self.r.len();
        let step = (self.round + self.place) as usize % (slots - 1).max(1);
        let from = self.slot + 1 + step;
        let slot = |at: usize| self.r[at % slots].switch;
        let usable = |at| self.ahead().iter().find(|group| group.switch == slot(at));
        let group = (from..from + tries).find_map(usable)?;
        Some(group.ports[self.round as usize % group.ports.len()])
    }
}

/// Returns the first port of each group, then the second of each group that has one, and so on.
fn cycle(groups: &[&Neighbour]) -> Vec<PortNumber> {
    let most = groups.iter().map(|group| group.ports.len()).max().unwrap_or(0);
    (0..most)
        .flat_map(|at| groups.iter().filter_map(move |group| group.ports.get(at)))
        .copied()
        .collect()
}
