//! Slots and displaced destinations: computes the tables of all variants in one walk.

use std::collections::HashMap;

use dmodc::oracle::updown::Distances;
use dmodc::oracle::{Graph, Neighbour, select};
use dmodc::{ForwardingTables, Live, PortNumber, SwitchIndex};

use super::choice::{Displaced, VARIANTS, Variant};
use super::{Outcome, VariantFabric};

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
    /// Π of the present.
    dividers: &'a [u64],
}

/// What happens to an entry.
enum EntryFate<'a> {
    /// All variants agree.
    One(Option<PortNumber>),
    /// The port is dead: another port of its group replaces it, or it is spread with the rest.
    Port(PortNumber, Displaced<'a>),
    /// The slot is lost.
    Lost(Displaced<'a>),
}

impl Way<'_> {
    fn group(&self, s: SwitchIndex, peer: SwitchIndex) -> Option<&Neighbour> {
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
        then.is_empty() || self.group(s, then[q as usize % then.len()].switch).is_some()
    }

    /// Returns whether a switch kept a greater share of its ports towards the target than another switch.
    fn is_wider(&self, s: SwitchIndex, other: SwitchIndex) -> bool {
        let width = |of: &[&Neighbour]| of.iter().map(|group| group.ports.len()).sum::<usize>();
        let left = |u: SwitchIndex| (width(&self.now[u.at()]), width(&self.then[u.at()]).max(1));
        let (own, others) = (left(s), left(other));
        own.0 * others.1 > others.0 * own.1
    }

    /// Returns the entry of a switch, other than the target, for a destination.
    fn entry(&self, s: SwitchIndex, number: u64) -> EntryFate<'_> {
        let (r, c) = (&self.then[s.at()], &self.now[s.at()]);
        if r.is_empty() || c.is_empty() {
            return EntryFate::One(select(c, self.dividers[s.at()], number, 0));
        }
        let dividers = &self.whole.dividers;
        let (q, slots) = (number / dividers[s.at()], r.len() as u64);
        let (slot, round) = ((q % slots) as usize, q / slots);
        let standing = self.group(s, r[slot].switch);
        let pick = |ports: &[PortNumber]| ports[(round % ports.len() as u64) as usize];
        let port = pick(&r[slot].ports);
        if standing.is_some_and(|group| group.ports.contains(&port)) {
            return EntryFate::One(Some(port));
        }
        // D: the lost slots; if only the port is dead, the slots that lost any port.
        let is_lost = |at: &usize| match standing {
            Some(_) => !self.has_all(s, r[*at]),
            None => self.group(s, r[*at].switch).is_none(),
        };
        let lost: Vec<usize> = (0..r.len()).filter(is_lost).collect();
        let j = lost.iter().position(|&at| at == slot).unwrap_or(0) as u64;
        let of_c = |wanted: &dyn Fn(SwitchIndex) -> bool| -> Vec<&Neighbour> {
            let is_leaf = |u: SwitchIndex| self.whole.graph.ranks[u.at()] == 0;
            c.iter().copied().filter(|g| is_leaf(g.switch) || wanted(g.switch)).collect()
        };
        // As in the engine, the fourth stretch of a destination switch stands for all later ones.
        let stretch = round.saturating_sub(self.first / dividers[s.at()] / slots).min(3);
        let displaced = Displaced {
            s,
            target: self.target,
            r,
            c,
            unharmed: of_c(&|u| self.is_unharmed(u)),
            kept: of_c(&|u| self.keeps(u, self.first / dividers[u.at()] + stretch)),
            widest: of_c(&|u| !c.iter().any(|group| self.is_wider(group.switch, u))),
            slot,
            round,
            lost: lost.len() as u64,
            own: round * lost.len() as u64 + j,
            place: self.whole.sigma[s.at()].0,
            pod: self.whole.sigma[s.at()].1,
        };
        match standing {
            Some(group) => EntryFate::Port(pick(&group.ports), displaced),
            None => EntryFate::Lost(displaced),
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
        let graph = Graph::new(live, self.routing.orders(), self.routing.ranking(live).leaves());
        let dividers = graph.dividers();
        let columns = self.routing.columns();
        let number = |column: usize| u64::from(columns.destinations()[column].number);
        for (at, &target) in columns.switches().iter().enumerate() {
            if !live.switch(target) {
                continue;
            }
            let way = Way {
                whole: self,
                target,
                first: columns.of_switch(at).next().map_or(0, number),
                then: sets(&self.graph, target),
                now: sets(&graph, target),
                dividers: &dividers,
            };
            let is_alive = |&column: &usize| columns.destinations()[column].end.is_alive(live);
            for column in columns.of_switch(at).filter(is_alive) {
                for s in live.switches() {
                    let entry = match s == target {
                        true => EntryFate::One(Some(columns.destinations()[column].port)),
                        false => way.entry(s, number(column)),
                    };
                    for (tables, (_, variant)) in tables.iter_mut().zip(VARIANTS) {
                        let port = match &entry {
                            EntryFate::One(port) => *port,
                            EntryFate::Port(port, _) if variant != Variant::Ports => Some(*port),
                            EntryFate::Port(_, displaced) | EntryFate::Lost(displaced) => {
                                displaced.port(variant)
                            }
                        };
                        tables.set(s, column, port);
                    }
                    if let EntryFate::Lost(displaced) = entry {
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
