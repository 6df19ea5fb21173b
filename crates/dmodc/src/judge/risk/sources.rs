//! The sources of the flows over each port, and the lengths of routes, if everybody sends to everybody.
//!
//! All nodes of a switch share their routes to other switches, so switches are counted instead of nodes, 64 at a time
//! with a bit for each: O(N × switches with nodes × hops).

use super::Traffic;
use super::paths::{Flow, FlowPaths};
use crate::parallel;

/// This many destinations are followed at once.
const BATCH: usize = 1024;

/// The sources of the flows over each port, and the lengths of routes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// For each of [`Traffic::ports`](super::Traffic::ports), the number of nodes that send over it.
    pub by_port: Vec<u32>,
    /// The number of delivered pairs whose route passes `i` switches, for each `i`.
    pub pairs_by_switches: Vec<u64>,
}

pub(super) fn sources(traffic: &Traffic<'_>) -> Sources {
    let with_nodes: Vec<u32> =
        (0..traffic.weight.len() as u32).filter(|&s| traffic.weight[s as usize] > 0).collect();
    let parts = parallel::map(with_nodes.chunks(64), |part| of(traffic, part));
    let mut sum = Sources { by_port: vec![0; traffic.paths.ports().len()], ..Sources::default() };
    for part in parts {
        super::loads::add(&mut sum.by_port, &part.by_port);
        let longest = sum.pairs_by_switches.len().max(part.pairs_by_switches.len());
        sum.pairs_by_switches.resize(longest, 0);
        super::loads::add(&mut sum.pairs_by_switches, &part.pairs_by_switches);
    }
    sum
}

/// Returns the same for the nodes of these switches alone.
fn of(traffic: &Traffic<'_>, switches: &[u32]) -> Sources {
    // One place more than there are ports: see [`FlowPaths`].
    let mut seen = vec![0u64; traffic.paths.ports().len() + 1];
    let mut pairs_by_switches: Vec<u64> = Vec::new();
    let mut ways = FlowPaths::default();
    let mut flows: Vec<Flow> = Vec::new();
    for targets in traffic.targets.chunks(BATCH) {
        for (bit, &s) in switches.iter().enumerate() {
            flows.clear();
            flows.extend(targets.iter().map(|&target| Flow { from: s, target }));
            traffic.paths.follow_all(&flows, &mut ways);
            for &port in ways.rows().iter().flatten() {
                seen[port as usize] |= 1 << bit;
            }
            let delivered = ways.arrived().iter().zip(ways.switches()).zip(&flows);
            for ((_, &switches), flow) in delivered.filter(|((arrived, _), _)| **arrived) {
                if pairs_by_switches.len() <= switches as usize {
                    pairs_by_switches.resize(switches as usize + 1, 0);
                }
                // Nobody sends to itself.
                let own = u32::from(flow.target.home == s);
                pairs_by_switches[switches as usize] += u64::from(traffic.weight[s as usize] - own);
            }
        }
    }
    seen.pop();
    let weigh = |mut bits: u64| {
        let mut sum = 0;
        while bits != 0 {
            sum += traffic.weight[switches[bits.trailing_zeros() as usize] as usize];
            bits &= bits - 1;
        }
        sum
    };
    Sources { by_port: seen.into_iter().map(weigh).collect(), pairs_by_switches }
}
