//! From how many nodes a port has flows, if everybody sends to everybody.
//!
//! All nodes of a switch share their routes to other switches, so switches are looked at, 64 at a time
//! with a bit for each: O(N × switches with nodes × hops).

use rayon::prelude::*;

use super::Traffic;
use super::paths::{Target, Ways};

pub(super) fn sources(traffic: &Traffic<'_>) -> Vec<u32> {
    let with_nodes: Vec<u32> =
        (0..traffic.weight.len() as u32).filter(|&s| traffic.weight[s as usize] > 0).collect();
    let parts: Vec<Vec<u32>> = with_nodes.par_chunks(64).map(|part| of(traffic, part)).collect();
    let mut sum = vec![0; traffic.paths.ports.len()];
    for part in parts {
        super::add(&mut sum, &part);
    }
    sum
}

/// How many nodes of these switches send over each port.
fn of(traffic: &Traffic<'_>, switches: &[u32]) -> Vec<u32> {
    let mut seen = vec![0u64; traffic.paths.ports.len()];
    let mut ways = Ways::default();
    let mut flows: Vec<(u32, Target)> = Vec::new();
    for targets in traffic.targets.chunks(1024) {
        for (bit, &s) in switches.iter().enumerate() {
            flows.clear();
            flows.extend(targets.iter().filter(|t| t.home != s).map(|&t| (s, t)));
            traffic.paths.follow_all(&flows, &mut ways);
            for flow in (0..flows.len()).filter(|&flow| ways.arrived(flow)) {
                ways.of(flow).for_each(|port| seen[port as usize] |= 1 << bit);
            }
        }
    }
    let weigh = |mut bits: u64| {
        let mut sum = 0;
        while bits != 0 {
            sum += traffic.weight[switches[bits.trailing_zeros() as usize] as usize];
            bits &= bits - 1;
        }
        sum
    };
    seen.into_iter().map(weigh).collect()
}
