//! The residues of a number that decide its routes.
//!
//! By eqs. (3) and (4) a switch of rank r uses ⌊d/Π⌋ mod #groups, and then ⌊d/(Π · #groups)⌋ mod #ports. With u(r)
//! upswitches for each switch of rank r and p(r) cables to each of them, Π(r) = u(0) · … · u(r − 1). So two numbers that
//! are equal modulo every Π(r + 1) · p(r) take the same ports everywhere, and a number far beyond the last serves as well
//! as one between its neighbours.
//!
//! Example: in PGFT(3; 18,6,9; 1,9,6; 1,2,1) a leaf has 9 upswitches with 2 cables each, and a spine has 6 with one. Two
//! numbers take the same ports of leaves if they are equal modulo 9 · 2 = 18, and of spines, too, if they are equal
//! modulo lcm(18, 9 · 6) = 54.

use std::collections::BTreeMap;

use crate::fabric::Live;
use crate::id::SwitchIndex;
use crate::rank::Ranking;

/// The greatest period that is allowed in small fabrics; in others it is the number of nodes.
const LEAST_LIMIT: u64 = 4096;

/// The moduli of a fabric, by the cabling that most of its switches have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Residues {
    /// This number of consecutive numbers takes different ports of a leaf.
    pub(super) round: u32,
    /// Numbers that differ by this take the same ports in all switches.
    pub(super) period: u32,
    /// For each rank, from the leaves up: numbers that differ by this take the same ports up to that rank.
    pub(super) by_rank: Vec<u32>,
}

impl Residues {
    /// Finds the moduli from the numbers of upswitches and parallel cables. O(#ports).
    pub(super) fn new(live: Live<'_>, ranking: &Ranking) -> Self {
        let limit = LEAST_LIMIT.max(live.fabric.nodes().len() as u64);
        let mut residues = Residues { round: 1, period: 1, by_rank: vec![] };
        let mut divider = 1;
        for switches in &ranking.by_rank() {
            let Some((upswitches, cables)) = usual_uplinks(live, ranking, switches) else { break };
            divider *= upswitches;
            let modulus = least_common_multiple(residues.period.into(), divider * cables);
            if modulus > limit {
                break;
            }
            residues.period = modulus as u32;
            residues.by_rank.push(residues.period);
        }
        residues.round = residues.by_rank.first().copied().unwrap_or(1);
        residues
    }
}

/// Returns how many upswitches most of these switches have, and how many cables lead to most of those. Switches without
/// upswitches are not counted; `None` if there are no others.
fn usual_uplinks(
    live: Live<'_>,
    ranking: &Ranking,
    switches: &[SwitchIndex],
) -> Option<(u64, u64)> {
    let (mut upswitches, mut cables) = (BTreeMap::new(), BTreeMap::new());
    for &s in switches {
        let is_above = |peer: &SwitchIndex| ranking.rank(*peer) > ranking.rank(s);
        let above: Vec<SwitchIndex> =
            live.links(s).map(|(_, peer)| peer).filter(is_above).collect();
        let groups: Vec<u64> =
            above.chunk_by(|a, b| a == b).map(|group| group.len() as u64).collect();
        if !groups.is_empty() {
            *upswitches.entry(groups.len() as u64).or_insert(0usize) += 1;
        }
        for group in groups {
            *cables.entry(group).or_insert(0usize) += 1;
        }
    }
    // Of equally frequent numbers it is the greatest, since faults only remove cables.
    let most = |counts: BTreeMap<u64, usize>| {
        counts.into_iter().max_by_key(|&(number, count)| (count, number)).map(|(number, _)| number)
    };
    Some((most(upswitches)?, most(cables)?))
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).saturating_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Degradation, LeafRule, Pgft};

    #[test]
    fn moduli_follow_from_the_cabling() {
        for (tuple, by_rank) in [
            ("2; 18,36; 1,18; 1,1", &[18][..]),
            ("3; 18,6,9; 1,9,6; 1,2,1", &[18, 54]),
            ("3; 2,2,3; 1,2,2; 1,2,1", &[4, 4]),
            ("1; 4; 1; 1", &[]),
        ] {
            let fabric = tuple.parse::<Pgft>().unwrap().fabric(Default::default());
            let mut d = Degradation::none(&fabric);
            for faults in 0..2 {
                let live = Live::new(&fabric, &d);
                let ranking = Ranking::new(live, &LeafRule::Detect);
                let residues = Residues::new(live, &ranking);
                assert_eq!(residues.by_rank, by_rank, "{tuple} {faults}");
                assert_eq!(residues.round, by_rank.first().copied().unwrap_or(1));
                assert_eq!(residues.period, by_rank.last().copied().unwrap_or(1));
                if !fabric.inter_switch_cables().is_empty() {
                    d.set_cable(crate::CableIndex::new(0), true);
                }
            }
        }
    }
}
