//! Max-min fair rates by progressive filling, and what changes in them when flows end.
//!
//! The plain way is in [`oracle::filling`](crate::oracle::filling): all flows rise together; when a link is full, its flows
//! stop. A link's *share* is what it has left for each flow that has not stopped. Departures from the plain way:
//!
//! 1. The link that is full next has the least share. Shares never shrink while flows stop (a flow that stops takes no more
//!    than the share of each of its links), so links wait in a heap by a share that may be too small. When a link comes up
//!    with a share that has grown, it goes back. Each link comes up about as often as flows on it stop: O(Σ hops × log).
//! 2. A link with a single flow needs no place in the heap if that flow has another link that is not faster: the *anchor*
//!    of the flow, its slowest link, and of equally slow ones that with the most flows. In a permutation this holds for
//!    nearly all cables of nodes.
//! 3. When flows end, only some others change. Let r be the least rate of those that end. No link that was full at a
//!    level below r had any of them, so filling takes the same course up to r, and all flows that are slower than r keep
//!    their rates. Of the others, only those change that are connected with an ended flow by links and flows that are not
//!    slower than r. These are filled again; what the slower ones use is subtracted from the links first.
//!
//! Example with links of capacity 1: flows a and b share a link, b and c and d another one. Shares are 1/2 and 1/3, so b, c
//! and d stop at 1/3; a, whose link has 2/3 left, rises to 2/3. When a ends, r is 2/3. The others are slower, so nothing
//! changes. When c ends instead, b and d rise to 1/2, and a falls to 1/2.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::flow_links::Lists;

/// Whether a flow takes part in filling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlowState {
    /// Its rate may rise.
    Rising,
    /// It has its rate.
    Stopped,
    /// It is over.
    Ended,
}

/// Flows that are slower than r by more than this part of r are left alone. Any lower level is right, too; this one is
/// out of reach of rounding.
const SLOWER: f64 = 1e-9;

/// Flows with fair rates over links.
pub(super) struct Filling<'a> {
    capacities: &'a [f64],
    by_flow: &'a Lists,
    by_link: Lists,
    anchors: Vec<u32>,
    rates: Vec<f64>,
    states: Vec<FlowState>,
    /// For each link that is filled: what is left of it, and its number of rising flows.
    left: Vec<f64>,
    rising: Vec<u32>,
    is_met: Vec<bool>,
    /// The links that are filled, and the flows that change.
    links: Vec<u32>,
    changed: Vec<u32>,
    heap: BinaryHeap<Reverse<LinkShare>>,
}

/// A link and its share. Shares are not negative, so their bits are in the same order; of equal ones the first link wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LinkShare {
    bits: u64,
    link: u32,
}

impl<'a> Filling<'a> {
    /// Gives all flows their fair rates. Every flow has at least one link, and each of its links once.
    pub(super) fn new(capacities: &'a [f64], by_flow: &'a Lists) -> Self {
        let (links, flows) = (capacities.len(), by_flow.len());
        let by_link = by_flow.turned(links);
        let anchor = |flow: u32| {
            let slowest = |&a: &u32, &b: &u32| {
                let [cap_a, cap_b] = [a, b].map(|link| capacities[link as usize]);
                cap_a.total_cmp(&cap_b).then_with(|| by_link.of(b).len().cmp(&by_link.of(a).len()))
            };
            by_flow.of(flow).iter().copied().min_by(slowest).expect("a flow has a link")
        };
        let mut filling = Filling {
            anchors: (0..flows as u32).map(anchor).collect(),
            capacities,
            by_flow,
            rates: vec![0.0; flows],
            states: vec![FlowState::Rising; flows],
            left: vec![0.0; links],
            rising: vec![0; links],
            is_met: vec![false; links],
            links: (0..links as u32).filter(|&link| !by_link.of(link).is_empty()).collect(),
            changed: (0..flows as u32).collect(),
            heap: BinaryHeap::new(),
            by_link,
        };
        filling.fill();
        filling
    }

    /// Returns the rate of each flow; of flows that are over, the last one.
    pub(super) fn rates(&self) -> &[f64] {
        &self.rates
    }

    /// Returns the flows whose rates may have changed when flows ended, and their new rates.
    pub(super) fn changes(&self) -> impl Iterator<Item = (u32, f64)> {
        self.changed.iter().map(|&flow| (flow, self.rates[flow as usize]))
    }

    /// Ends some flows, and gives the others their fair rates.
    pub(super) fn end(&mut self, flows: &[u32]) {
        let least =
            flows.iter().map(|&flow| self.rates[flow as usize]).fold(f64::INFINITY, f64::min);
        let level = least * (1.0 - SLOWER);
        self.links.clear();
        self.changed.clear();
        for &flow in flows {
            self.states[flow as usize] = FlowState::Ended;
            self.meet_links(flow);
        }
        let mut at = 0;
        while at < self.links.len() {
            let link = self.links[at];
            at += 1;
            for place in 0..self.by_link.of(link).len() {
                let flow = self.by_link.of(link)[place];
                let state = &mut self.states[flow as usize];
                if *state == FlowState::Stopped && self.rates[flow as usize] >= level {
                    *state = FlowState::Rising;
                    self.changed.push(flow);
                    self.meet_links(flow);
                }
            }
        }
        for &link in &self.links {
            self.is_met[link as usize] = false;
        }
        self.fill();
    }

    /// Adds the links of a flow to those that are filled.
    fn meet_links(&mut self, flow: u32) {
        for &link in self.by_flow.of(flow) {
            if !std::mem::replace(&mut self.is_met[link as usize], true) {
                self.links.push(link);
            }
        }
    }

    /// Lets all rising flows rise until they stop. `links` has all their links.
    fn fill(&mut self) {
        let mut entries = std::mem::take(&mut self.heap).into_vec();
        entries.clear();
        for at in 0..self.links.len() {
            entries.extend(self.start(self.links[at]).map(Reverse));
        }
        self.heap = entries.into();
        while let Some(Reverse(LinkShare { bits, link })) = self.heap.pop() {
            if self.rising[link as usize] == 0 {
                continue;
            }
            let share = self.share(link);
            let is_next = |next: &Reverse<LinkShare>| share.to_bits() <= next.0.bits;
            if share.to_bits() > bits && !self.heap.peek().is_none_or(is_next) {
                self.heap.push(Reverse(LinkShare { bits: share.to_bits(), link }));
                continue;
            }
            self.stop(link, share);
        }
    }

    /// Notes what a link has left for its rising flows. Returns its share, if it can be what stops a flow.
    fn start(&mut self, link: u32) -> Option<LinkShare> {
        let (mut used, mut rising, mut last) = (0.0, 0, None);
        for &flow in self.by_link.of(link) {
            match self.states[flow as usize] {
                FlowState::Rising => (rising, last) = (rising + 1, Some(flow)),
                FlowState::Stopped => used += self.rates[flow as usize],
                FlowState::Ended => {}
            }
        }
        self.left[link as usize] = (self.capacities[link as usize] - used).max(0.0);
        self.rising[link as usize] = rising;
        let is_alone = rising == 1 && used == 0.0;
        let flow = last.filter(|&flow| !is_alone || self.anchors[flow as usize] == link);
        flow.map(|_| LinkShare { bits: self.share(link).to_bits(), link })
    }

    #[inline]
    fn share(&self, link: u32) -> f64 {
        self.left[link as usize] / f64::from(self.rising[link as usize])
    }

    /// Stops all rising flows of a link that is full.
    fn stop(&mut self, link: u32, share: f64) {
        for &flow in self.by_link.of(link) {
            let state = &mut self.states[flow as usize];
            if *state != FlowState::Rising {
                continue;
            }
            *state = FlowState::Stopped;
            self.rates[flow as usize] = share;
            for &link in self.by_flow.of(flow) {
                let left = &mut self.left[link as usize];
                *left = (*left - share).max(0.0);
                self.rising[link as usize] -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(routes: &[&[u32]]) -> Lists {
        let mut lists = Lists::with_capacity(routes.len(), 0);
        routes.iter().for_each(|route| lists.push(route.iter().copied()));
        lists
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    /// The example of this file.
    #[test]
    fn the_others_rise_or_fall_when_a_flow_ends() {
        let (third, half) = (1.0 / 3.0, 0.5);
        let flows = lists(&[&[0], &[0, 1], &[1], &[1]]);
        let mut filling = Filling::new(&[1.0, 1.0], &flows);
        assert_close(filling.rates(), &[2.0 * third, third, third, third]);
        filling.end(&[0]);
        assert_eq!(filling.changes().count(), 0);
        let mut filling = Filling::new(&[1.0, 1.0], &flows);
        filling.end(&[2]);
        assert_eq!(filling.changes().count(), 3);
        assert_close(filling.rates(), &[half, half, third, half]);
    }

    #[test]
    fn a_slow_cable_of_a_node_is_a_limit() {
        // Link 2 is slow and has one flow; link 0 is shared.
        let flows = lists(&[&[0, 2], &[0, 1]]);
        assert_close(Filling::new(&[1.0, 1.0, 0.25], &flows).rates(), &[0.25, 0.75]);
        assert_close(Filling::new(&[1.0, 0.5, 0.25], &flows).rates(), &[0.25, 0.5]);
        assert_close(Filling::new(&[1.0, 1.0], &lists(&[])).rates(), &[]);
    }
}
