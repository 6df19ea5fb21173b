//! Leaves that are missing, seen by the ports that they leave empty.
//!
//! The leaves of a pod are cabled to its spines port by port, in the order of their names. If the third leaf is dead when
//! the fabric is seen for the first time, port 3 of each spine is empty, and numbers should be kept for the leaf, so that
//! the others get the numbers that they would have had.
//!
//! ```text
//! spine port     1   2   3   4
//! pod 1          L1  L2  L3  L4      leaves before it that are missing:  0 0 0 0
//! pod 2          L5  L6  .   L8                                          0 0   1
//! pod 3          L9  L10 L11 .                                           0 0 0      and one before the first leaf of pod 4
//! ```

use std::collections::{BTreeMap, HashMap};

use crate::fabric::{Live, Peer};
use crate::id::SwitchIndex;
use crate::rank::Ranking;
use crate::union_find::UnionFind;

/// Returns for each of these leaves, which are in topological order, how many leaves are missing right before it. All are
/// 0 if the order of leaves does not follow the ports.
pub(super) fn missing_before(
    live: Live<'_>,
    ranking: &Ranking,
    leaves: &[SwitchIndex],
) -> Vec<u32> {
    let none = vec![0; leaves.len()];
    let mut pods = UnionFind::new(live.fabric.switches().len());
    let ports: Vec<Option<u8>> =
        leaves.iter().map(|&leaf| upper_port(live, ranking, leaf)).collect();
    for &leaf in leaves {
        for (_, peer) in
            live.links(leaf).filter(|(_, peer)| ranking.rank(*peer) > ranking.rank(leaf))
        {
            pods.join(leaf, peer);
        }
    }
    let mut used: Vec<u8> = ports.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let Some(slots) = slots(&used) else { return none };
    let slot_of: HashMap<u8, usize> = slots.iter().copied().zip(0..).collect();
    let mut missing = none.clone();
    // How many are missing at the end of the pod before.
    let mut pending = 0;
    let mut at = 0;
    while at < leaves.len() {
        let pod = pods.root(leaves[at]);
        let end = at + leaves[at..].iter().take_while(|&&leaf| pods.root(leaf) == pod).count();
        let known: Option<Vec<usize>> =
            ports[at..end].iter().map(|port| slot_of.get(&(*port)?).copied()).collect();
        let Some(known) = known.filter(|known| known.windows(2).all(|pair| pair[0] < pair[1]))
        else {
            return none;
        };
        let mut next = 0;
        for (leaf, slot) in (at..end).zip(known) {
            missing[leaf] = pending + (slot - next) as u32;
            (pending, next) = (0, slot + 1);
        }
        pending = (slots.len() - next) as u32;
        at = end;
    }
    // If more than a quarter were missing, that would be no accident: the ports have another meaning.
    let all: u32 = missing.iter().sum();
    if 4 * all as usize > leaves.len() { none } else { missing }
}

/// Returns the least port to which a leaf is cabled on an upswitch, as it is for most of its upswitches.
fn upper_port(live: Live<'_>, ranking: &Ranking, leaf: SwitchIndex) -> Option<u8> {
    let mut least: HashMap<SwitchIndex, u8> = HashMap::new();
    for (port, peer) in live.links(leaf) {
        if ranking.rank(peer) > ranking.rank(leaf)
            && let Peer::Switch(_, upper) = live.peer(leaf, port)
        {
            let known = least.entry(peer).or_insert(upper.0);
            *known = upper.0.min(*known);
        }
    }
    let mut counts: BTreeMap<u8, usize> = BTreeMap::new();
    for port in least.into_values() {
        *counts.entry(port).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by_key(|&(port, count)| (count, std::cmp::Reverse(port)))
        .map(|(port, _)| port)
}

/// Returns the ports that leaves are cabled to: those in use and, if they are evenly spaced, those between.
fn slots(used: &[u8]) -> Option<Vec<u8>> {
    let (first, last) = (*used.first()?, *used.last()?);
    let step = used.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(1);
    let even: Vec<u8> = (first..=last).step_by(step.into()).collect();
    match used.iter().all(|port| even.contains(port)) {
        true => Some(even),
        false => Some(used.to_vec()),
    }
}
