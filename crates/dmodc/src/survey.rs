//! A survey of a fabric: its levels, and where it differs from the regular shape that most of it has.

use std::collections::BTreeMap;

use crate::fabric::{AdapterKind, Live, Rate};
use crate::group::PortGroups;
use crate::id::{AdapterIndex, NodeIndex, SwitchIndex};
use crate::rank::Ranking;

/// The result of a survey.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    /// One level for each rank, from the leaves up.
    pub levels: Vec<LevelSurvey>,
    /// Pairs of cabled switches of equal rank.
    pub equal_ranks: Vec<(SwitchIndex, SwitchIndex)>,
    /// Cables between two leaves.
    pub cables_between_leaves: usize,
    /// Rates of cables between switches, with the number of cables that run at each, slowest first.
    pub switch_rates: Vec<(Rate, usize)>,
    /// Rates of the cables of nodes; aggregation nodes do not count.
    pub node_rates: Vec<(Rate, usize)>,
    /// The number of hosts that have each number of nodes. (The first word of the description is the host.)
    pub hosts_by_rails: BTreeMap<usize, usize>,
}

/// The switches of one rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LevelSurvey {
    /// Its number of switches.
    pub switches: usize,
    /// Cables downwards: of leaves those of their nodes, of others those to switches below.
    pub down_cables: usize,
    /// Cables upwards.
    pub up_cables: usize,
    /// The usual number of upswitches.
    pub usual_upswitches: usize,
    /// Switches with fewer upswitches than usual, and their numbers.
    pub fewer_upswitches: Vec<(SwitchIndex, usize)>,
    /// The usual number of cables to an upswitch.
    pub usual_parallel: usize,
    /// Pairs with fewer cables than usual, and their numbers.
    pub fewer_cables: Vec<(SwitchIndex, SwitchIndex, usize)>,
}

/// Why a fabric is no fat tree, not even an irregular or a damaged one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFatTree {
    /// More than a third of the cables between switches join leaves: their number, and that of all such cables.
    BetweenLeaves(usize, usize),
    /// Most pairs of leaves with nodes have no up\*down\* route, although cables connect all leaves: their number, and
    /// that of all pairs.
    Unreachable(u64, u64),
}

/// Returns why a fabric is no fat tree; `None` if it may be one.
pub fn not_fat_tree(
    live: Live<'_>,
    ranking: &Ranking,
    survey: &Survey,
    unreachable_leaf_pairs: u64,
    leaf_pairs: u64,
) -> Option<NotFatTree> {
    let cables = survey.switch_rates.iter().map(|(_, count)| count).sum();
    let between = survey.cables_between_leaves;
    if 3 * between > cables {
        return Some(NotFatTree::BetweenLeaves(between, cables));
    }
    let hops = live.hops_to(ranking.leaves_with_nodes().take(1));
    let is_connected = ranking.leaves_with_nodes().all(|leaf| hops[leaf.at()].is_some());
    (2 * unreachable_leaf_pairs > leaf_pairs && is_connected)
        .then_some(NotFatTree::Unreachable(unreachable_leaf_pairs, leaf_pairs))
}

impl LevelSurvey {
    /// Returns the number of cables down for each cable up: more than 1 is oversubscribed. `None` at the top.
    pub fn oversubscription(&self) -> Option<f64> {
        (self.up_cables > 0).then(|| self.down_cables as f64 / self.up_cables as f64)
    }
}

/// Surveys a fabric. O(#ports).
pub fn survey(live: Live<'_>, ranking: &Ranking, groups: &PortGroups) -> Survey {
    let mut survey = Survey::default();
    for switches in ranking.by_rank() {
        survey.levels.push(level(live, ranking, groups, &switches));
    }
    for s in live.switches() {
        for above in groups.up(s).filter(|g| ranking.rank(g.peer) == ranking.rank(s)) {
            survey.equal_ranks.push((s, above.peer));
        }
    }
    survey.cables_between_leaves = live
        .switches()
        .filter(|&s| ranking.is_leaf(s))
        .flat_map(|s| groups.up(s))
        .filter(|above| ranking.is_leaf(above.peer))
        .map(|above| above.ports.len())
        .sum();
    let mut switch_rates: BTreeMap<(u8, u8), (Rate, usize)> = BTreeMap::new();
    let mut node_rates = switch_rates.clone();
    for s in live.switches() {
        for up in groups.up(s) {
            for &port in up.ports {
                count(&mut switch_rates, rate(live, s, port));
            }
        }
        for n in live.nodes(s).filter(|&n| !live.fabric.is_aggregation(n)) {
            count(&mut node_rates, rate(live, s, live.fabric.node(n).switch_port));
        }
    }
    survey.switch_rates = switch_rates.into_values().collect();
    survey.node_rates = node_rates.into_values().collect();
    let mut hosts: BTreeMap<HostKey<'_>, usize> = BTreeMap::new();
    for n in live.fabric.node_indices().filter(|&n| live.node(n)) {
        if matches!(live.fabric.adapter_of(n).kind, AdapterKind::Host | AdapterKind::Aside) {
            *hosts.entry(HostKey::of(live, n)).or_default() += 1;
        }
    }
    for nodes in hosts.into_values() {
        *survey.hosts_by_rails.entry(nodes).or_default() += 1;
    }
    survey
}

/// Returns the name of the host that a description begins with, as `node17` of `node17 mlx5_0`. Returns `None` for what
/// an adapter says before its host has named it: the maker's description, such as `MT4129 ConnectX7   Mellanox
/// Technologies`, the name that every host has until it is given one (`localhost`, `(none)`), or a GUID.
pub fn host_name(description: &str) -> Option<&str> {
    const FAMILIES: [&str; 4] = ["ConnectX", "Connect-IB", "InfiniHost", "BlueField"];
    let mut words = description.split_whitespace();
    let (first, second) = (words.next()?, words.next());
    let of_family = |word: &str| FAMILIES.iter().any(|family| word.starts_with(family));
    let digits = first.strip_prefix("MT").unwrap_or_default();
    let is_model = digits.len() >= 4 && digits.bytes().all(|c| c.is_ascii_digit());
    // A host may be called MT4129, too: then the device of the host follows, not a family of adapters.
    let is_model = is_model && second.is_none_or(of_family);
    let is_maker = description.contains("Mellanox Technologies") || of_family(first);
    let lower = first.to_ascii_lowercase();
    let is_nobody = lower == "(none)"
        || ["localhost", "localhost4", "localhost6"].iter().any(|name| {
            lower.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
    (!is_model && !is_maker && !is_nobody && !is_guid(first)).then_some(first)
}

/// Returns whether a word is a GUID: 16 hexadecimal digits, as in `0x0002c90300a1b2c3`, `H-0002c90300a1b2c3` or
/// `0002:c903:00a1:b2c3`.
fn is_guid(word: &str) -> bool {
    let bare = ["0x", "0X", "H-", "S-", "R-"].iter().find_map(|prefix| word.strip_prefix(prefix));
    let digits = bare.unwrap_or(word).bytes().filter(|&c| c != b':');
    let (count, all) =
        digits.fold((0, true), |(count, all), c| (count + 1, all && c.is_ascii_hexdigit()));
    count == 16 && all
}

/// The host that a node belongs to, for reports alone: by the name of the host, or, where the description has none, by the
/// adapter, which is then taken for a host of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HostKey<'a> {
    /// By name.
    Named(&'a str),
    /// By adapter, with its description.
    Unnamed(AdapterIndex, &'a str),
}

impl<'a> HostKey<'a> {
    /// Returns the host that a node belongs to.
    pub fn of(live: Live<'a>, n: NodeIndex) -> Self {
        let description = &live.fabric.adapter_of(n).name;
        match host_name(description) {
            Some(name) => HostKey::Named(name),
            None => HostKey::Unnamed(live.fabric.node(n).adapter, description),
        }
    }

    /// Returns its name, or the description of its adapter.
    pub fn name(self) -> &'a str {
        match self {
            HostKey::Named(name) | HostKey::Unnamed(_, name) => name,
        }
    }
}

fn rate(live: Live<'_>, s: SwitchIndex, port: crate::PortNumber) -> Rate {
    live.fabric.port(s, port).map_or(Rate::default(), |port| port.rate)
}

fn count(rates: &mut BTreeMap<(u8, u8), (Rate, usize)>, rate: Rate) {
    rates.entry((rate.speed as u8, rate.width)).or_insert((rate, 0)).1 += 1;
}

fn level(
    live: Live<'_>,
    ranking: &Ranking,
    groups: &PortGroups,
    switches: &[SwitchIndex],
) -> LevelSurvey {
    let up = |s: SwitchIndex| groups.up(s).filter(move |g| ranking.rank(g.peer) != ranking.rank(s));
    let mut level = LevelSurvey { switches: switches.len(), ..LevelSurvey::default() };
    let (mut upswitches, mut parallel) = (Vec::new(), Vec::new());
    for &s in switches {
        let nodes = live.nodes(s).filter(|&n| !live.fabric.is_aggregation(n)).count();
        let below: usize = groups.down(s).map(|g| g.ports.len()).sum();
        level.down_cables += if ranking.is_leaf(s) { nodes } else { below };
        level.up_cables += up(s).map(|g| g.ports.len()).sum::<usize>();
        upswitches.push(up(s).count());
        parallel.extend(up(s).map(|g| g.ports.len()));
    }
    level.usual_upswitches = usual(upswitches.iter().copied());
    level.usual_parallel = usual(parallel.into_iter());
    for (&s, count) in switches.iter().zip(upswitches) {
        if count < level.usual_upswitches {
            level.fewer_upswitches.push((s, count));
        }
        for group in up(s).filter(|g| g.ports.len() < level.usual_parallel) {
            level.fewer_cables.push((s, group.peer, group.ports.len()));
        }
    }
    level
}

/// Returns the most common value, the greatest of equally common ones; 0 if there are none.
pub(crate) fn usual(values: impl Iterator<Item = usize>) -> usize {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts.into_iter().max_by_key(|&(value, count)| (count, value)).map_or(0, |(value, _)| value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Degradation, Pgft, Routing};

    #[test]
    fn models_of_adapters_and_localhost_are_no_host_names() {
        for (description, name) in [
            ("node17 mlx5_0", Some("node17")),
            ("  login1", Some("login1")),
            ("ubuntu HCA-1", Some("ubuntu")),
            ("MT4129 HCA-1", Some("MT4129")),
            ("MT12", Some("MT12")),
            ("mt4129", Some("mt4129")),
            ("localhost7 HCA-1", Some("localhost7")),
            ("connectx-test HCA-1", Some("connectx-test")),
            ("MT4129 ConnectX7   Mellanox Technologies", None),
            ("MT25408 ConnectX Mellanox Technologies", None),
            ("MT25218 InfiniHostEx Mellanox Technologies", None),
            ("MT41692 BlueField-3", None),
            ("MT4129", None),
            ("ConnectX-6 Dx", None),
            ("Mellanox Technologies", None),
            ("localhost HCA-1", None),
            ("Localhost.localdomain mlx5_0", None),
            ("localhost6", None),
            ("(none) mlx5_0", None),
            ("0x0002c90300a1b2c3", None),
            ("H-0002c90300a1b2c3", None),
            ("0002:c903:00a1:b2c3 HCA-1", None),
            ("0002c90300a1b2c3", None),
            ("0x0002c90300a1b2", Some("0x0002c90300a1b2")),
            ("H-7", Some("H-7")),
            ("", None),
            (" \t", None),
        ] {
            assert_eq!(host_name(description), name, "{description}");
        }
    }

    #[test]
    fn damage_shows_against_the_regular_shape() {
        let fabric = "3; 4,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let mut d = Degradation::none(&fabric);
        let leaf = fabric.switches()[0].guid;
        let spine = fabric.switches()[11].guid;
        for target in [format!("{leaf}/5"), format!("{spine}/5")] {
            d.remove(&fabric, &target).unwrap();
        }
        let live = Live::new(&fabric, &d);
        let ready = Routing::new(live, &Default::default()).preprocess(live);
        let seen = survey(live, &ready.ranking, &ready.groups);
        let [leaves, spines, cores] = &seen.levels[..] else { panic!("three levels") };
        assert_eq!((leaves.down_cables, leaves.up_cables), (24, 23));
        assert_eq!(leaves.fewer_cables.len(), 1);
        assert_eq!(spines.fewer_upswitches, [(SwitchIndex::new(11), 1)]);
        assert_eq!(cores.oversubscription(), None);
        assert_eq!(seen.node_rates, [(Rate::NDR, 24)]);
        assert_eq!(seen.switch_rates, [(Rate::NDR, 23 + 11)]);
        assert_eq!(seen.hosts_by_rails, BTreeMap::from([(1, 24)]));
        assert!(seen.equal_ranks.is_empty());
    }
}
