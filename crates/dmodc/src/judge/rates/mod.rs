//! Max-min fair rates: how fast the flows of a pattern are with some tables.
//!
//! [Congestion risk](super::risk) counts the flows that share the worst port. That bounds the slowest flow only. Here every
//! flow gets its rate, and every message its time: a flow is as fast as its bottleneck lets it be, and what it cannot use
//! elsewhere is left to others.
//!
//! *Definition.* Rates are max-min fair if no link carries more than its speed, and every flow has a *bottleneck*: a full
//! link on which no flow is faster. There is exactly one such set of rates, which [progressive
//! filling](crate::oracle::filling) finds. The links of a flow are its node's cable to the switch, the directed ports
//! between switches, and the cable to the destination's node. Each direction of a cable is a link of its own.
//!
//! | file | |
//! |---|---|
//! | `speeds` | the speed of every link, and the unit |
//! | `filling` | rates, O(Σ hops × log), and what changes when flows end |
//! | `completion` | when equal messages arrive |
//! | `summary` | means, percentiles and times of one step, and of a pattern of several steps |
//!
//! A step is a list of flows that send at the same time, as pairs of positions. Collective operations have several steps
//! one after the other; random patterns have independent ones. Steps are computed in parallel, and each of them by one
//! thread, so that the same flows have the same rates, bit by bit, with any number of threads.

mod completion;
mod filling;
mod flow_links;
mod speeds;
mod summary;

pub use speeds::LinkSpeeds;
pub use summary::{PatternRates, StepRates, StepSummary};

use super::risk::Traffic;
use crate::fabric::Fabric;
use crate::parallel;
use filling::Filling;
use flow_links::Lists;

/// The rates of flows over some tables.
pub struct FairRates<'a> {
    traffic: &'a Traffic<'a>,
    speeds: LinkSpeeds,
}

/// The flows of a step that arrive, and their links.
struct StepFlows {
    links: Lists,
    /// The index of each flow in the list of pairs.
    pairs: Vec<u32>,
    undelivered: u64,
}

impl<'a> FairRates<'a> {
    /// The greatest number of flows of one step. Each takes about 150 bytes.
    pub const MOST_FLOWS: usize = 1 << 22;

    /// Reads the speeds of the links that the traffic uses. The fabric is that of the traffic.
    pub fn new(fabric: &Fabric, traffic: &'a Traffic<'a>) -> Self {
        FairRates { traffic, speeds: LinkSpeeds::new(fabric, traffic) }
    }

    /// Returns the traffic.
    pub fn traffic(&self) -> &'a Traffic<'a> {
        self.traffic
    }

    /// Returns the speeds of the links.
    pub fn speeds(&self) -> &LinkSpeeds {
        &self.speeds
    }

    /// Returns the rate of each of these flows, all at the same time, in units of one node's cable. A pair that does not
    /// arrive, or of a position with itself, has none.
    ///
    /// # Panics
    /// If there are more than 2^32 links of flows.
    pub fn rates(&self, pairs: &[(u32, u32)]) -> Vec<Option<f64>> {
        let flows = self.flows(pairs);
        let filling = Filling::new(self.speeds.capacities(), &flows.links);
        flows.by_pair(pairs.len(), filling.rates())
    }

    /// Returns the rates of flows at the start of a step, and when their messages have arrived.
    ///
    /// # Panics
    /// As [`rates`](FairRates::rates).
    pub fn step(&self, pairs: &[(u32, u32)]) -> StepRates {
        let flows = self.flows(pairs);
        let filling = Filling::new(self.speeds.capacities(), &flows.links);
        let rates = flows.by_pair(pairs.len(), filling.rates());
        let times = flows.by_pair(pairs.len(), &completion::times(filling));
        StepRates { rates, times, undelivered: flows.undelivered }
    }

    /// Returns the summaries of some steps; the `i`-th is `draw(i)`.
    pub fn steps(
        &self,
        count: usize,
        draw: impl Fn(usize) -> Vec<(u32, u32)> + Sync,
    ) -> Vec<StepSummary> {
        parallel::map(0..count, |i| self.step(&draw(i)).summary())
    }

    /// Returns the links of each flow that arrives, in the order of the pairs. These are what rates are computed from.
    pub fn routes(&self, pairs: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let flows = self.flows(pairs);
        (0..flows.links.len() as u32).map(|flow| flows.links.of(flow).to_vec()).collect()
    }

    fn flows(&self, pairs: &[(u32, u32)]) -> StepFlows {
        let mut flows = StepFlows {
            links: Lists::with_capacity(pairs.len(), pairs.len() * 6),
            pairs: Vec::with_capacity(pairs.len()),
            undelivered: 0,
        };
        self.traffic.routes(pairs, |at, ports| {
            let (from, to) = pairs[at];
            match ports {
                _ if from == to => {}
                None => flows.undelivered += 1,
                Some(ports) => {
                    let ends = [self.speeds.sent_by(from), self.speeds.received_by(to)];
                    flows.links.push(ports.iter().copied().chain(ends));
                    flows.pairs.push(at as u32);
                }
            }
        });
        flows
    }
}

impl StepFlows {
    /// Returns the values of flows by pair.
    fn by_pair(&self, pairs: usize, values: &[f64]) -> Vec<Option<f64>> {
        let mut by_pair = vec![None; pairs];
        for (&pair, &value) in self.pairs.iter().zip(values) {
            by_pair[pair as usize] = Some(value);
        }
        by_pair
    }
}
