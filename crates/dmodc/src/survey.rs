//! A survey of a fabric: what an expert would note on looking at it, against the regular shape that
//! most of it has.

use std::collections::BTreeMap;

use crate::fabric::{AdapterKind, Live, Rate};
use crate::group::PortGroups;
use crate::id::{NodeIndex, SwitchIndex};
use crate::rank::Ranking;

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Survey {
    /// One for each rank, from the leaves up.
    pub levels: Vec<Level>,
    /// Pairs of cabled switches of equal rank.
    pub equal_ranks: Vec<(SwitchIndex, SwitchIndex)>,
    /// Rates of cables between switches, with how many run at each, slowest first.
    pub switch_rates: Vec<(Rate, usize)>,
    /// Rates of nodes' cables, aggregation nodes aside.
    pub node_rates: Vec<(Rate, usize)>,
    /// Hosts (by the first word of the description) by how many nodes they have.
    pub hosts_by_rails: BTreeMap<usize, usize>,
}

/// What was seen of the switches of one rank.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Level {
    /// How many switches it has.
    pub switches: usize,
    /// Cables downwards: of leaves their nodes, of others the cables to switches below.
    pub down_cables: usize,
    /// Cables upwards.
    pub up_cables: usize,
    /// The usual number of upswitches.
    pub usual_upswitches: usize,
    /// Switches with fewer upswitches than usual, and how many they have.
    pub fewer_upswitches: Vec<(SwitchIndex, usize)>,
    /// The usual number of cables to an upswitch.
    pub usual_parallel: usize,
    /// Pairs with fewer cables than usual, and how many they have.
    pub fewer_cables: Vec<(SwitchIndex, SwitchIndex, usize)>,
}

impl Level {
    /// Cables down for each cable up: more than 1 is oversubscribed. `None` at the top.
    pub fn oversubscription(&self) -> Option<f64> {
        (self.up_cables > 0).then(|| self.down_cables as f64 / self.up_cables as f64)
    }

    /// Cables that the regular shape has and this level lacks, upwards.
    pub fn missing_cables(&self) -> usize {
        let pairs = self.fewer_cables.iter().map(|(_, _, n)| self.usual_parallel - n);
        let switches = self.fewer_upswitches.iter();
        let absent = switches.map(|(_, n)| (self.usual_upswitches - n) * self.usual_parallel);
        pairs.sum::<usize>() + absent.sum::<usize>()
    }
}

/// Looks a fabric over. O(#ports).
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
    let mut hosts: BTreeMap<&str, usize> = BTreeMap::new();
    for n in live.fabric.node_indices().filter(|&n| live.node(n)) {
        if matches!(live.fabric.adapter_of(n).kind, AdapterKind::Host | AdapterKind::Aside) {
            *hosts.entry(host(live, n)).or_default() += 1;
        }
    }
    for nodes in hosts.into_values() {
        *survey.hosts_by_rails.entry(nodes).or_default() += 1;
    }
    survey
}

/// The host that a node belongs to: the first word of its description. Names alone group nodes, and
/// for reports alone.
pub fn host<'a>(live: Live<'a>, n: NodeIndex) -> &'a str {
    let name = &live.fabric.adapter_of(n).name;
    name.split_whitespace().next().unwrap_or(name)
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
) -> Level {
    let up = |s: SwitchIndex| groups.up(s).filter(move |g| ranking.rank(g.peer) != ranking.rank(s));
    let mut level = Level { switches: switches.len(), ..Level::default() };
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

/// The most common value (the greatest of those), 0 of nothing.
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
    fn damage_shows_against_the_regular_shape() {
        let fabric = "3; 4,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let mut d = Degradation::none(&fabric);
        let leaf = fabric.switches()[0].guid;
        let spine = fabric.switches()[11].guid;
        for target in [format!("{leaf}/5"), format!("{spine}/5")] {
            d.remove(&fabric, target.parse().unwrap()).unwrap();
        }
        let live = Live::new(&fabric, &d);
        let ready = Routing::new(live, &Default::default()).preprocess(live);
        let seen = survey(live, &ready.ranking, &ready.groups);
        let [leaves, spines, cores] = &seen.levels[..] else { panic!("three levels") };
        assert_eq!((leaves.down_cables, leaves.up_cables), (24, 23));
        assert_eq!(leaves.fewer_cables.len(), 1);
        assert_eq!((leaves.missing_cables(), spines.missing_cables()), (1, 1));
        assert_eq!(spines.fewer_upswitches, [(SwitchIndex::new(11), 1)]);
        assert_eq!(cores.oversubscription(), None);
        assert_eq!(seen.node_rates, [(Rate::NDR, 24)]);
        assert_eq!(seen.switch_rates, [(Rate::NDR, 23 + 11)]);
        assert_eq!(seen.hosts_by_rails, BTreeMap::from([(1, 24)]));
        assert!(seen.equal_ranks.is_empty());
    }
}
