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
//! | `filling` | rates, O(Σ hops × log links) |
//! | `summary` | means, percentiles and times of one step, and of a pattern of several steps |
//!
//! *Time.* Let every flow of a step send a message of length 1, all at time 0, and let rates be fair at every moment among
//! the flows that are still on the way: a fluid model without latency and packets, as SimGrid has it. Then **a flow of rate
//! r keeps this rate until its message has arrived, at time 1/r.** Proof: let r be the greatest rate. The flows of rate r
//! arrive first, all at 1/r. A link that stops a flow slower than r has only flows that are slower than r, because no flow
//! on a bottleneck is faster than those that it stops. So the links that stopped the others lose no flow, stay full, and
//! are still bottlenecks: the rates of the others do not change. The same holds for the next greatest rate, and so on. The
//! plain simulation [`completion_times`](crate::oracle::filling::completion_times), which fills again at each arrival,
//! agrees in the tests. (With messages of different lengths rates do change.) Time is in units of one message over one
//! node's cable at full speed.
//!
//! A step is a list of flows that send at the same time, as pairs of positions. Collective operations have several steps
//! one after the other; random patterns have independent ones. Steps are computed in parallel, and each of them by one
//! thread, so that the same flows have the same rates, bit by bit, with any number of threads.

mod filling;
mod flow_links;
mod speeds;
mod summary;

pub use speeds::{LinkSpeeds, commonest};
pub use summary::{PatternRates, StepRates, StepSummary};

use super::risk::Traffic;
use crate::fabric::Fabric;
use crate::parallel;
use filling::fair_rates;
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
    /// The greatest number of flows of one step. Each takes about 80 bytes.
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

    /// Returns the rates of these flows, all at the same time, in units of one node's cable.
    ///
    /// # Panics
    /// If there are 2^32 links of flows or more; [`MOST_FLOWS`](FairRates::MOST_FLOWS) flows have fewer on any real fabric.
    pub fn step(&self, pairs: &[(u32, u32)]) -> StepRates {
        let flows = self.flows(pairs);
        let mut rates = vec![None; pairs.len()];
        let fair = fair_rates(self.speeds.capacities(), &flows.links);
        for (&pair, rate) in flows.pairs.iter().zip(fair) {
            rates[pair as usize] = Some(rate);
        }
        StepRates { rates, undelivered: flows.undelivered }
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
