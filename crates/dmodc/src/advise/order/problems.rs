//! Why a host cannot take part in a job.

use super::Placement;
use crate::rails::RailHost;
use crate::survey::HostKey;

/// Why a host cannot take part in a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostProblem {
    /// The descriptions of its adapters name no host, so nobody can start a process there.
    Unnamed,
    /// All its links are dead.
    Dead,
    /// The link of this rail is dead.
    DeadRail(usize),
    /// It has no node on this rail, unlike most hosts of the list.
    MissingRail(usize),
    /// The tables have no entries for its node on this rail.
    NoEntries(usize),
    /// No live cables lead from its node on this rail to most hosts of the list.
    CutOff(usize),
}

impl Placement<'_> {
    /// Returns the first problem of each host of a list.
    pub fn problems(&self, hosts: &[&RailHost<'_>]) -> Vec<Option<HostProblem>> {
        let islands = self.islands();
        let rails = hosts.iter().map(|host| host.nodes.len()).max().unwrap_or(0);
        let of = |host: &RailHost<'_>, rail: usize| {
            self.node(host, rail).map(|n| islands[self.live.fabric.node(n).switch.at()])
        };
        // What most hosts have on each rail: the island they are on, or no node at all.
        let usual: Vec<Option<u32>> = (0..rails)
            .map(|rail| {
                let has_node =
                    |host: &&&RailHost<'_>| host.nodes.get(rail).is_some_and(Option::is_some);
                let with_node = hosts.iter().filter(has_node).count();
                let seen: Vec<u32> = hosts.iter().filter_map(|host| of(host, rail)).collect();
                most_common(seen).filter(|_| 2 * with_node > hosts.len())
            })
            .collect();
        let problem = |host: &&RailHost<'_>| {
            if matches!(host.host, HostKey::Unnamed(..)) {
                return Some(HostProblem::Unnamed);
            }
            if (0..rails).all(|rail| host.live_node(self.live, rail).is_none()) {
                return Some(HostProblem::Dead);
            }
            (0..rails)
                .find_map(|rail| self.problem_of_rail(host, rail, usual[rail], of(host, rail)))
        };
        hosts.iter().map(problem).collect()
    }

    /// Returns the problem of a rail of a host, which is on an island, compared with the usual island of the rail.
    fn problem_of_rail(
        &self,
        host: &RailHost<'_>,
        rail: usize,
        usual: Option<u32>,
        island: Option<u32>,
    ) -> Option<HostProblem> {
        match (host.nodes.get(rail).copied().flatten(), usual) {
            (None, Some(_)) => Some(HostProblem::MissingRail(rail)),
            (None, None) => None,
            (Some(n), _) if !self.live.node(n) => Some(HostProblem::DeadRail(rail)),
            (Some(n), _) if !self.has_column[n.at()] => Some(HostProblem::NoEntries(rail)),
            (Some(_), Some(_)) if island != usual => Some(HostProblem::CutOff(rail)),
            (Some(_), _) => None,
        }
    }

    /// Returns the island of each switch: those that live cables connect have the same number.
    fn islands(&self) -> Vec<u32> {
        let mut islands = vec![u32::MAX; self.live.fabric.switches().len()];
        for first in self.live.switches() {
            if islands[first.at()] != u32::MAX {
                continue;
            }
            let island = first.at() as u32;
            islands[first.at()] = island;
            let mut waiting = vec![first];
            while let Some(s) = waiting.pop() {
                for (_, peer) in self.live.links(s) {
                    if islands[peer.at()] == u32::MAX {
                        islands[peer.at()] = island;
                        waiting.push(peer);
                    }
                }
            }
        }
        islands
    }
}

/// Returns the most common value, the least of equally common ones.
fn most_common(mut values: Vec<u32>) -> Option<u32> {
    values.sort_unstable();
    let runs = values.chunk_by(|a, b| a == b);
    // `max_by_key` returns the last of equal ones, so the runs are looked at backwards.
    let runs: Vec<&[u32]> = runs.collect();
    runs.into_iter().rev().max_by_key(|run| run.len()).map(|run| run[0])
}
