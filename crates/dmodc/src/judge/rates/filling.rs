//! Max-min fair rates by progressive filling.
//!
//! The plain way is in [`oracle::filling`](crate::oracle::filling): all flows rise together; when a link is full, its flows
//! stop. A link's *share* is what it has left for each flow that has not stopped. Departures from the plain way:
//!
//! 1. The link that is full next has the least share. Shares never shrink while flows stop (a flow that stops takes no more
//!    than the share of each of its links), so links wait in a heap by a share that may be too small. When a link comes up
//!    with a share that has grown, it goes back. Each link comes up at most once more than flows on it stop:
//!    O(Σ hops × log links).
//! 2. A link with a single flow needs no place in the heap if that flow has another link that is not faster: the *anchor*
//!    of the flow, its slowest link, and of equally slow ones that with the most flows. In a permutation this holds for
//!    nearly all cables of nodes.
//!
//! Example with links of capacity 1: flows a and b share a link, b and c and d another one. Shares are 1/2 and 1/3, so b, c
//! and d stop at 1/3. The first link has 2/3 left for a alone: its share has grown from 1/2 to 2/3, where a stops.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::flow_links::Lists;

/// A link and its share. Shares are not negative, so their bits are in the same order; of equal ones the first link wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct LinkShare {
    bits: u64,
    link: u32,
}

/// Flows that rise over links.
struct Filling<'a> {
    by_flow: &'a Lists,
    by_link: Lists,
    /// What is left of each link, and its number of rising flows.
    left: Vec<f64>,
    rising: Vec<u32>,
    /// The rate of each flow; not a number while it rises.
    rates: Vec<f64>,
}

/// Returns the fair rate of each flow. Every flow has at least one link, and each of its links once.
pub(super) fn fair_rates(capacities: &[f64], by_flow: &Lists) -> Vec<f64> {
    let by_link = by_flow.turned(capacities.len());
    let mut filling = Filling {
        by_flow,
        left: capacities.to_vec(),
        rising: (0..capacities.len() as u32).map(|link| by_link.of(link).len() as u32).collect(),
        rates: vec![f64::NAN; by_flow.len()],
        by_link,
    };
    let mut heap = filling.limits();
    while let Some(Reverse(LinkShare { bits, link })) = heap.pop() {
        if filling.rising[link as usize] == 0 {
            continue;
        }
        let share = filling.share(link);
        let is_next = |next: &Reverse<LinkShare>| share.to_bits() <= next.0.bits;
        match share.to_bits() <= bits || heap.peek().is_none_or(is_next) {
            true => filling.stop(link, share),
            false => heap.push(Reverse(LinkShare { bits: share.to_bits(), link })),
        }
    }
    filling.rates
}

impl Filling<'_> {
    /// Returns the links that can stop a flow, with their first shares.
    fn limits(&self) -> BinaryHeap<Reverse<LinkShare>> {
        let anchors: Vec<u32> = (0..self.rates.len() as u32).map(|f| self.anchor(f)).collect();
        let limits = |link: &u32| match self.by_link.of(*link) {
            [] => false,
            [alone] => anchors[*alone as usize] == *link,
            _ => true,
        };
        let share = |link| Reverse(LinkShare { bits: self.share(link).to_bits(), link });
        let links = (0..self.rising.len() as u32).filter(limits).map(share);
        // A heap of a whole list is made faster than one of link after link.
        links.collect::<Vec<_>>().into()
    }

    /// Returns the slowest link of a flow, before any flow has stopped; of equally slow ones, the first with the most flows.
    fn anchor(&self, flow: u32) -> u32 {
        let &[mut anchor, ref others @ ..] = self.by_flow.of(flow) else {
            unreachable!("a flow has a link");
        };
        for &link in others {
            let [(left, flows), (least, most)] =
                [link, anchor].map(|link| (self.left[link as usize], self.rising[link as usize]));
            if left < least || (left == least && flows > most) {
                anchor = link;
            }
        }
        anchor
    }

    #[inline]
    fn share(&self, link: u32) -> f64 {
        self.left[link as usize] / f64::from(self.rising[link as usize])
    }

    /// Stops all rising flows of a link that is full.
    fn stop(&mut self, link: u32, share: f64) {
        for &flow in self.by_link.of(link) {
            let rate = &mut self.rates[flow as usize];
            if !rate.is_nan() {
                continue;
            }
            *rate = share;
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

    #[track_caller]
    fn check(capacities: &[f64], routes: &[&[u32]], expected: &[f64]) {
        let mut lists = Lists::with_capacity(routes.len(), 0);
        routes.iter().for_each(|route| lists.push(route.iter().copied()));
        let found = fair_rates(capacities, &lists);
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    /// The example of this file.
    #[test]
    fn what_slow_flows_leave_is_used() {
        let third = 1.0 / 3.0;
        check(&[1.0, 1.0], &[&[0], &[0, 1], &[1], &[1]], &[2.0 * third, third, third, third]);
    }

    #[test]
    fn a_slow_cable_of_a_node_is_a_limit() {
        // Link 2 is slow and has one flow; link 0 is shared.
        let flows: [&[u32]; 2] = [&[0, 2], &[0, 1]];
        check(&[1.0, 1.0, 0.25], &flows, &[0.25, 0.75]);
        check(&[1.0, 0.5, 0.25], &flows, &[0.25, 0.5]);
        check(&[1.0, 1.0], &[], &[]);
    }
}
