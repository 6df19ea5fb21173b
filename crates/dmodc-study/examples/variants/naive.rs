//! Slots and displaced destinations: computes the tables of all variants in one walk.

use std::collections::HashMap;

use dmodc::oracle::stable::STRETCHES;
use dmodc::oracle::updown::Distances;
use dmodc::oracle::{DividersByLevel, Graph, Neighbour, select_by};
use dmodc::{Destination, ForwardingTables, Live, PortNumber, SwitchIndex};

use super::Outcome;
use super::choice::{Displaced, VARIANTS, Variant};
use super::fabric::VariantFabric;

/// An entry whose slot is lost, with its alternative ports.
pub(crate) struct LostEntry {
    pub s: SwitchIndex,
    pub column: usize,
    pub ports: Vec<PortNumber>,
}

/// The routes to one destination switch, in the reference and at present.
struct Way<'a> {
    whole: &'a VariantFabric,
    target: SwitchIndex,
    /// The number of its first destination.
    first: u64,
    /// R of every switch.
    then: Vec<Vec<&'a Neighbour>>,
    /// C of every switch.
    now: Vec<Vec<&'a Neighbour>>,
    /// The dividers of the present.
    dividers: &'a DividersByLevel,
}

/// The slot of a destination at a switch: eqs. (3) and (4) in the reference.
struct Slot {
    /// Its place in R.
    at: usize,
    round: u64,
    /// What chooses the port of a group.
    turn: u64,
}

impl Slot {
    fn pick(&self, ports: &[PortNumber]) -> PortNumber {
        ports[(self.turn % ports.len() as u64) as usize]
    }
}

/// What happens to an entry.
enum EntryFate<'a> {
    /// All variants but `arrival` agree.
    One(Option<PortNumber>),
    /// The port is dead: another port of its group replaces it, or it is spread with the rest.
    Port(PortNumber, Displaced<'a>),
    /// The slot is lost.
    Lost(Displaced<'a>),
}

impl EntryFate<'_> {
    /// Returns the port that a variant chooses.
    fn port(&self, variant: Variant) -> Option<PortNumber> {
        match self {
            EntryFate::One(port) => *port,
            EntryFate::Port(port, _) if variant != Variant::Ports => Some(*port),
            EntryFate::Port(_, displaced) | EntryFate::Lost(displaced) => displaced.port(variant),
        }
    }
}

impl<'a> Way<'a> {
    fn group(&self, s: SwitchIndex, peer: SwitchIndex) -> Option<&'a Neighbour> {
        self.now[s.at()].iter().copied().find(|group| group.switch == peer)
    }

    fn has_all(&self, s: SwitchIndex, was: &Neighbour) -> bool {
        self.group(s, was.switch).is_some_and(|group| group.ports == was.ports)
    }

    fn is_unharmed(&self, s: SwitchIndex) -> bool {
        self.then[s.at()].iter().all(|was| self.has_all(s, was))
    }

    /// Returns whether a switch still has the group that it had for the target's q-th destinations.
    fn keeps(&self, s: SwitchIndex, q: u64) -> bool {
        let then = &self.then[s.at()];
        then.is_empty() || self.group(s, then[(q % then.len() as u64) as usize].switch).is_some()
    }

    /// Returns whether a switch kept a greater share of its ports towards the target than another switch.
    fn is_wider(&self, s: SwitchIndex, other: SwitchIndex) -> bool {
        let width = |of: &[&Neighbour]| of.iter().map(|group| group.ports.len()).sum::<usize>();
        let left = |u: SwitchIndex| (width(&self.now[u.at()]), width(&self.then[u.at()]).max(1));
        let (own, others) = (left(s), left(other));
        own.0 * others.1 > others.0 * own.1
    }

    /// Returns the divider of a switch for groups, in the reference.
    fn group_divider(&self, s: SwitchIndex) -> u64 {
        self.whole.dividers.of(s, &self.then[s.at()]).group
    }

    /// Returns the slot of a destination at a switch whose R has groups.
    fn slot(&self, s: SwitchIndex, d: &Destination) -> Slot {
        let r = &self.then[s.at()];
        let (number, k, slots) = (u64::from(d.number), u64::from(d.k), r.len() as u64);
        let dividers = self.whole.dividers.of(s, r);
        let q = number / dividers.group;
        let round = q / slots;
        let turn = dividers.port.map_or(round, |port| number / port) + k / slots;
        Slot { at: ((q + k) % slots) as usize, round, turn }
    }

    /// Returns whether a switch went down to the target and lost its slot for a destination. Where it has other ways down, it
    /// displaces the destination after the routes of many sources met.
    fn loses_arrival(&self, s: SwitchIndex, d: &Destination) -> bool {
        let r = &self.then[s.at()];
        let goes_down = r.first().is_some_and(|group| !group.up);
        goes_down && self.group(s, r[self.slot(s, d).at].switch).is_none()
    }

    /// Returns the entry of a switch, other than the target, for a destination.
    fn entry(&self, s: SwitchIndex, d: &Destination) -> EntryFate<'_> {
        let (r, c) = (&self.then[s.at()], &self.now[s.at()]);
        if r.is_empty() || c.is_empty() {
            let (number, k) = (u64::from(d.number), u64::from(d.k));
            return EntryFate::One(select_by(c, self.dividers.of(s, c), number, k));
        }
        let slot = self.slot(s, d);
        let standing = self.group(s, r[slot.at].switch);
        let port = slot.pick(&r[slot.at].ports);
        if standing.is_some_and(|group| group.ports.contains(&port)) {
            return EntryFate::One(Some(port));
        }
        // D: the lost slots; if only the port is dead, the slots that lost any port.
        let is_lost = |at: &usize| match standing {
            Some(_) => !self.has_all(s, r[*at]),
            None => self.group(s, r[*at].switch).is_none(),
        };
        let lost: Vec<usize> = (0..r.len()).filter(is_lost).collect();
        let displaced = self.displaced(s, d, &lost, c.clone());
        match standing {
            Some(group) => EntryFate::Port(slot.pick(&group.ports), displaced),
            None => EntryFate::Lost(displaced),
        }
    }

    /// Returns the displaced destination of the variant `arrival`; `None` if its slot stands, and its arrival, too.
    fn without_arrival(&self, s: SwitchIndex, d: &Destination) -> Option<Displaced<'_>> {
        let (r, c) = (&self.then[s.at()], &self.now[s.at()]);
        if r.is_empty() || c.is_empty() {
            return None;
        }
        let is_avoided = |group: &Neighbour| group.up && self.loses_arrival(group.switch, d);
        let is_lost = |at: &usize| self.group(s, r[*at].switch).is_none() || is_avoided(r[*at]);
        if !is_lost(&self.slot(s, d).at) {
            return None;
        }
        let lost: Vec<usize> = (0..r.len()).filter(is_lost).collect();
        let others: Vec<_> = c.iter().copied().filter(|group| !is_avoided(group)).collect();
        Some(self.displaced(s, d, &lost, if others.is_empty() { c.clone() } else { others }))
    }

    /// Returns a destination that is displaced, where D is `lost` and C is `c`.
    fn displaced(
        &self,
        s: SwitchIndex,
        d: &Destination,
        lost: &[usize],
        c: Vec<&'a Neighbour>,
    ) -> Displaced<'_> {
        let (r, slot) = (&self.then[s.at()], self.slot(s, d));
        let j = lost.iter().position(|&at| at == slot.at).unwrap_or(0) as u64;
        // Leaves of the reference are always taken: no route passes through a leaf.
        let of_c = |wanted: &dyn Fn(SwitchIndex) -> bool| -> Vec<&Neighbour> {
            let is_leaf = |u: SwitchIndex| self.whole.graph.leaves.contains(&u);
            c.iter().copied().filter(|g| is_leaf(g.switch) || wanted(g.switch)).collect()
        };
        let first_round = self.first / self.group_divider(s) / r.len() as u64;
        let stretch = slot.round.saturating_sub(first_round).min(STRETCHES as u64 - 1);
        Displaced {
            s,
            target: self.target,
            r,
            unharmed: of_c(&|u| self.is_unharmed(u)),
            kept: of_c(&|u| self.keeps(u, self.first / self.group_divider(u) + stretch)),
            widest: of_c(&|u| !c.iter().any(|group| self.is_wider(group.switch, u))),
            c,
            slot: slot.at,
            round: slot.round,
            lost: lost.len() as u64,
            own: slot.round * lost.len() as u64 + j + u64::from(d.k),
            place: self.whole.sigma[s.at()].0,
            pod: self.whole.sigma[s.at()].1,
        }
    }
}

impl VariantFabric {
    /// Returns the tables of all variants, and the entries whose slot is lost.
    pub(crate) fn tables(
        &self,
        live: Live<'_>,
    ) -> Outcome<(Vec<ForwardingTables>, Vec<LostEntry>)> {
        let empty = VARIANTS.iter().map(|_| self.routing.empty_tables(live));
        let mut tables = empty.collect::<Result<Vec<_>, _>>()?;
        let mut lost = vec![];
        let orders = self.routing.orders();
        let graph = Graph::new(live, orders, self.routing.ranking(live).leaves());
        let dividers = DividersByLevel::new(&graph, orders.level_dividers());
        let columns = self.routing.columns();
        let destination = |column: usize| &columns.destinations()[column];
        for (at, &target) in columns.switches().iter().enumerate() {
            if !live.switch(target) {
                continue;
            }
            let first = columns.of_switch(at).next();
            let way = Way {
                whole: self,
                target,
                first: first.map_or(0, |column| u64::from(destination(column).number)),
                then: sets(&self.graph, target),
                now: sets(&graph, target),
                dividers: &dividers,
            };
            let is_alive = |&column: &usize| destination(column).end.is_alive(live);
            for column in columns.of_switch(at).filter(is_alive) {
                let d = destination(column);
                for s in live.switches() {
                    let (fate, without_arrival) = match s == target {
                        true => (EntryFate::One(Some(d.port)), None),
                        false => (way.entry(s, d), way.without_arrival(s, d)),
                    };
                    for (tables, (_, variant)) in tables.iter_mut().zip(VARIANTS) {
                        let port = match (variant, &without_arrival) {
                            (Variant::Arrival, Some(displaced)) => displaced.port(variant),
                            _ => fate.port(variant),
                        };
                        tables.set(s, column, port);
                    }
                    if let EntryFate::Lost(displaced) = fate {
                        let ports = displaced.c.iter().flat_map(|group| &group.ports).copied();
                        lost.push(LostEntry { s, column, ports: ports.collect() });
                    }
                }
            }
        }
        Ok((tables, lost))
    }
}

/// Returns the closer sets of all switches.
fn sets(graph: &Graph, target: SwitchIndex) -> Vec<Vec<&Neighbour>> {
    let distances = Distances::to(graph, target);
    (0..graph.neighbours.len()).map(|s| distances.closer(graph, SwitchIndex::new(s))).collect()
}

/// Returns σ of every switch in two forms: its position in its rank, and the number of its pod there plus its position in
/// the pod. Leaves are in one pod if they are below the same switches, other switches if they are above the same ones.
pub(crate) fn sigma(graph: &Graph) -> Vec<(u64, u64)> {
    let mut sigma = vec![(0, 0); graph.neighbours.len()];
    for rank in graph.ascending.chunk_by(|a, b| graph.ranks[a.at()] == graph.ranks[b.at()]) {
        let mut pods: HashMap<Vec<SwitchIndex>, (u64, u64)> = HashMap::new();
        for (place, s) in rank.iter().enumerate() {
            let of = graph.side(*s, graph.ranks[s.at()] == 0).map(|group| group.switch).collect();
            let new = (pods.len() as u64, 0);
            let (pod, size) = pods.entry(of).or_insert(new);
            sigma[s.at()] = (place as u64, *pod + *size);
            *size += 1;
        }
    }
    sigma
}
