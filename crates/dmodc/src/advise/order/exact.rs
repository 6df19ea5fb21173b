//! The best of all choices, for small fabrics: every choice is compared.

use super::Placement;
use super::sharing::{Choice, Sharing};
use crate::id::NodeIndex;
use crate::rails::RailHost;

/// The ports between all pairs of hosts.
pub(super) struct AllPairs {
    hosts: usize,
    /// For each pair of hosts, the directed ports of the routes on all rails.
    ways: Vec<Vec<u32>>,
    ports: usize,
}

impl AllPairs {
    pub(super) fn new(placement: &Placement<'_>, all: &[&RailHost<'_>]) -> Self {
        let hosts = all.len();
        let mut ways = vec![Vec::new(); hosts * hosts];
        let rails = all.iter().map(|host| host.nodes.len()).max().unwrap_or(0);
        let mut ports = 0;
        for rail in 0..rails {
            let on_rail = |at: usize| Some((at, placement.node(all[at], rail)?));
            let (members, nodes): (Vec<usize>, Vec<NodeIndex>) =
                (0..hosts).filter_map(on_rail).unzip();
            let traffic = placement.traffic(nodes);
            ports = traffic.ports().len();
            for (from, &a) in (0u32..).zip(&members) {
                for (to, &b) in (0u32..).zip(&members).filter(|(to, _)| *to != from) {
                    let mut way = Vec::new();
                    // A flow that does not arrive loads nothing.
                    if traffic.follow(from, to, |port| way.push(port)) {
                        ways[a * hosts + b].extend(way);
                    }
                }
            }
        }
        AllPairs { hosts, ways, ports }
    }

    /// Returns what the chosen hosts share with all others.
    fn sharing(&self, is_chosen: &[bool]) -> Sharing {
        let (mut job, mut others) = (vec![0; self.ports], vec![0; self.ports]);
        for a in 0..self.hosts {
            let loads = if is_chosen[a] { &mut job } else { &mut others };
            for b in (0..self.hosts).filter(|&b| is_chosen[b] == is_chosen[a]) {
                for &port in &self.ways[a * self.hosts + b] {
                    loads[port as usize] += 1;
                }
            }
        }
        Sharing::of(&job, &others)
    }
}

/// Compares all choices of `count` of these hosts. Of equally good ones, the first in the order of the hosts is taken.
pub(super) fn best_of_all(pairs: &AllPairs, hosts: &[usize], count: usize) -> Choice {
    let mut places: Vec<usize> = (0..count).collect();
    let mut best: Option<(Sharing, Vec<usize>)> = None;
    let mut compared = 0;
    loop {
        let mut is_chosen = vec![false; pairs.hosts];
        places.iter().for_each(|&place| is_chosen[hosts[place]] = true);
        let sharing = pairs.sharing(&is_chosen);
        compared += 1;
        if best.as_ref().is_none_or(|(least, _)| sharing < *least) {
            best = Some((sharing, places.iter().map(|&place| hosts[place]).collect()));
        }
        if sharing.ports == 0 || !next(&mut places, hosts.len()) {
            break;
        }
    }
    let (sharing, mut hosts) = best.expect("there is always one choice");
    hosts.sort_unstable();
    Choice { hosts, sharing, is_best: true, compared }
}

/// Replaces a choice of places below `of` by the next one. Returns whether there is one.
fn next(places: &mut [usize], of: usize) -> bool {
    let count = places.len();
    let Some(at) = (0..count).rev().find(|&at| places[at] < of - count + at) else { return false };
    places[at] += 1;
    for later in at + 1..count {
        places[later] = places[later - 1] + 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_follow_each_other() {
        let mut places = vec![0, 1];
        let mut all = vec![places.clone()];
        while next(&mut places, 4) {
            all.push(places.clone());
        }
        assert_eq!(all, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert!(!next(&mut [], 3));
    }
}
