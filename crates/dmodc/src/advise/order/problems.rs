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
    /// On this rail, the list has several parts of the same size that no live cables connect. None of them has most hosts, so
    /// nobody knows which part is meant.
    EquallyDivided(usize),
}

/// The islands that the hosts of a list are on.
#[derive(Clone, Copy)]
enum UsualIsland {
    /// Most hosts have no node on this rail.
    None,
    /// More hosts are on this island than on any other one.
    One(u32),
    /// As many hosts are on another island as on this one.
    Several,
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
        let usual: Vec<UsualIsland> = (0..rails)
            .map(|rail| {
                let has_node =
                    |host: &&&RailHost<'_>| host.nodes.get(rail).is_some_and(Option::is_some);
                let with_node = hosts.iter().filter(has_node).count();
                let seen: Vec<u32> = hosts.iter().filter_map(|host| of(host, rail)).collect();
                match 2 * with_node > hosts.len() {
                    true => most_common(seen),
                    false => UsualIsland::None,
                }
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
        usual: UsualIsland,
        island: Option<u32>,
    ) -> Option<HostProblem> {
        match (host.nodes.get(rail).copied().flatten(), usual) {
            (None, UsualIsland::None) => None,
            (None, _) => Some(HostProblem::MissingRail(rail)),
            (Some(n), _) if !self.live.node(n) => Some(HostProblem::DeadRail(rail)),
            (Some(n), _) if !self.has_column[n.at()] => Some(HostProblem::NoEntries(rail)),
            (Some(_), UsualIsland::One(usual)) if island != Some(usual) => {
                Some(HostProblem::CutOff(rail))
            }
            (Some(_), UsualIsland::Several) => Some(HostProblem::EquallyDivided(rail)),
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

/// Returns the most common island.
fn most_common(mut islands: Vec<u32>) -> UsualIsland {
    islands.sort_unstable();
    let mut runs: Vec<&[u32]> = islands.chunk_by(|a, b| a == b).collect();
    runs.sort_by_key(|run| std::cmp::Reverse(run.len()));
    match runs[..] {
        [] => UsualIsland::None,
        [first, second, ..] if first.len() == second.len() => UsualIsland::Several,
        [first, ..] => UsualIsland::One(first[0]),
    }
}
