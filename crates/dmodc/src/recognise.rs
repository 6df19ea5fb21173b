//! Recognising a PGFT in a fabric, and naming its switches by digits.
//!
//! Take the switches of level l. Those that stay connected when all higher levels are removed form a
//! *subtree*, those that stay connected when all lower levels are removed a *plane*. If every switch
//! of a level has the same arities, there are m_{l+1}⋯m_h subtrees and w₁⋯w_l planes, and no two
//! switches of the level share both, then a switch *is* its (plane, subtree), a child is cabled to
//! each parent whose plane lies in its own, and the fabric is the PGFT with those arities: parents of
//! one child share their subtree, so they lie in different planes, and by their number in all of them.
//!
//! Nodes may be missing: m₁ is the greatest number of nodes on a leaf.

use std::collections::HashMap;
use std::fmt;

use crate::fabric::{Live, Pgft};
use crate::group::PortGroups;
use crate::id::SwitchIndex;
use crate::order::Orders;
use crate::rank::Ranking;
use crate::union_find::UnionFind;

/// A PGFT found in a fabric: its shape, and the digits of every switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Labels {
    /// The shape.
    pub pgft: Pgft,
    levels: Vec<usize>,
    digits: Vec<u32>,
}

impl Labels {
    /// Returns the level of a switch, from 1.
    pub fn level(&self, s: SwitchIndex) -> usize {
        self.levels[s.at()]
    }

    /// Returns the digits of a switch, the first digit first; the first `level` digits count planes, the others subtrees.
    pub fn digits(&self, s: SwitchIndex) -> &[u32] {
        let h = self.pgft.levels();
        &self.digits[s.at() * h..(s.at() + 1) * h]
    }
}

/// Why a fabric is not a PGFT: the first reason that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotPgft {
    /// There is no leaf.
    Empty,
    /// A switch that no leaf can be reached from.
    Unconnected(SwitchIndex),
    /// Two cabled switches of equal rank.
    EqualRanks(SwitchIndex, SwitchIndex),
    /// A switch with another number of switches above (`true`) or below than others of its level.
    Arity(SwitchIndex, bool, usize, usize),
    /// Two switches joined by another number of cables than others of their levels.
    Parallel(SwitchIndex, SwitchIndex, usize, usize),
    /// Arities are regular, but this level has another number of subtrees or planes than they imply.
    Components(usize, &'static str, usize, u64),
    /// Two switches with one plane and one subtree.
    SamePlace(SwitchIndex, SwitchIndex),
    /// The arities are beyond what a PGFT of ours may have.
    Shape(crate::fabric::PgftError),
}

impl fmt::Display for NotPgft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotPgft::Empty => write!(f, "there is no leaf"),
            NotPgft::Unconnected(_) => write!(f, "a switch is connected to no leaf"),
            NotPgft::EqualRanks(..) => write!(f, "a cable joins switches of the same rank"),
            NotPgft::Arity(..) => {
                write!(f, "switches of one rank have different numbers of neighbours")
            }
            NotPgft::Parallel(..) => write!(f, "numbers of parallel cables differ"),
            NotPgft::Components(..) | NotPgft::SamePlace(..) => {
                write!(f, "numbers of neighbours are regular, but planes and subtrees are not")
            }
            NotPgft::Shape(_) => {
                write!(f, "numbers of neighbours are regular, but no PGFT has them")
            }
        }
    }
}

impl std::error::Error for NotPgft {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            NotPgft::Shape(error) => Some(error),
            _ => None,
        }
    }
}

/// Recognises a PGFT. Digits follow the orders: planes by their first switch in switch order,
/// subtrees by their first node in destination order.
///
/// # Errors
/// The first reason why it is none.
pub fn recognise(
    live: Live<'_>,
    ranking: &Ranking,
    groups: &PortGroups,
    orders: &Orders,
) -> Result<Labels, NotPgft> {
    if let Some(s) = live.switches().find(|&s| ranking.rank(s).is_none()) {
        return Err(NotPgft::Unconnected(s));
    }
    let by_rank = ranking.by_rank();
    let pgft = arities(live, ranking, groups, &by_rank)?;
    let h = pgft.levels();
    let subtrees = components(live, &by_rank);
    let mut reversed = by_rank.clone();
    reversed.reverse();
    let mut planes = components(live, &reversed);
    planes.reverse();
    for l in 1..=h {
        let expected: u64 = (l + 1..=h).map(|i| u64::from(pgft.m(i))).product();
        distinct(&by_rank[l - 1], &subtrees[l - 1], expected)
            .map_err(|found| NotPgft::Components(l, "subtrees", found, expected))?;
        let expected: u64 = (1..=l).map(|i| u64::from(pgft.w(i))).product();
        distinct(&by_rank[l - 1], &planes[l - 1], expected)
            .map_err(|found| NotPgft::Components(l, "planes", found, expected))?;
        let mut places = HashMap::new();
        for &s in &by_rank[l - 1] {
            let place = (subtrees[l - 1][s.at()], planes[l - 1][s.at()]);
            if let Some(other) = places.insert(place, s) {
                return Err(NotPgft::SamePlace(other, s));
            }
        }
    }
    Ok(label(live, orders, pgft, &TreeParts { by_rank, subtrees, planes }))
}

/// Returns the shape, if every level is regular.
fn arities(
    live: Live<'_>,
    ranking: &Ranking,
    groups: &PortGroups,
    by_rank: &[Vec<SwitchIndex>],
) -> Result<Pgft, NotPgft> {
    let nodes = |s: SwitchIndex| live.nodes(s).filter(|&n| !live.fabric.is_aggregation(n)).count();
    let most = ranking.leaves().iter().map(|&s| nodes(s)).max().ok_or(NotPgft::Empty)?;
    let (mut m, mut w, mut p) = (vec![most as u32], vec![1], vec![1]);
    for pair in by_rank.windows(2) {
        let (lower, upper) = (&pair[0], &pair[1]);
        w.push(usual(lower, true, |s| groups.up(s).len())? as u32);
        m.push(usual(upper, false, |s| groups.down(s).len())? as u32);
        let joins: Vec<(SwitchIndex, SwitchIndex, usize)> = lower
            .iter()
            .flat_map(|&s| groups.up(s).map(move |g| (s, g.peer, g.ports.len())))
            .collect();
        if let Some(&(a, b, _)) =
            joins.iter().find(|(a, b, _)| ranking.rank(*a) == ranking.rank(*b))
        {
            return Err(NotPgft::EqualRanks(a, b));
        }
        let cables = crate::survey::usual(joins.iter().map(|join| join.2));
        if let Some(&(a, b, found)) = joins.iter().find(|join| join.2 != cables) {
            return Err(NotPgft::Parallel(a, b, found, cables));
        }
        p.push(cables as u32);
    }
    usual(&by_rank[by_rank.len() - 1], true, |s| groups.up(s).len())?;
    Pgft::new(m, w, p).map_err(NotPgft::Shape)
}

/// Returns the arity that all these switches share.
fn usual(
    switches: &[SwitchIndex],
    up: bool,
    arity: impl Fn(SwitchIndex) -> usize,
) -> Result<usize, NotPgft> {
    let usual = crate::survey::usual(switches.iter().map(|&s| arity(s)));
    match switches.iter().find(|&&s| arity(s) != usual) {
        Some(&s) => Err(NotPgft::Arity(s, up, arity(s), usual)),
        None => Ok(usual),
    }
}

/// Returns for each prefix of the stages the component (an arbitrary member) of every switch in it.
fn components(live: Live<'_>, stages: &[Vec<SwitchIndex>]) -> Vec<Vec<SwitchIndex>> {
    let count = live.fabric.switches().len();
    let mut sets = UnionFind::new(count);
    let mut present = vec![false; count];
    stages
        .iter()
        .map(|stage| {
            for &s in stage {
                present[s.at()] = true;
                for (_, peer) in live.links(s).filter(|(_, peer)| present[peer.at()]) {
                    sets.join(s, peer);
                }
            }
            live.fabric.switch_indices().map(|s| sets.root(s)).collect()
        })
        .collect()
}

/// Checks that these switches lie in the expected number of components. Returns the true number if not.
fn distinct(
    switches: &[SwitchIndex],
    component: &[SwitchIndex],
    expected: u64,
) -> Result<(), usize> {
    let mut found: Vec<SwitchIndex> = switches.iter().map(|s| component[s.at()]).collect();
    found.sort_unstable();
    found.dedup();
    if found.len() as u64 != expected {
        return Err(found.len());
    }
    Ok(())
}

/// The switches of each rank, and for each level the subtree and the plane of every switch.
struct TreeParts {
    by_rank: Vec<Vec<SwitchIndex>>,
    subtrees: Vec<Vec<SwitchIndex>>,
    planes: Vec<Vec<SwitchIndex>>,
}

/// Gives every switch its digits.
fn label(live: Live<'_>, orders: &Orders, pgft: Pgft, parts: &TreeParts) -> Labels {
    let TreeParts { by_rank, subtrees, planes } = parts;
    let h = pgft.levels();
    let count = live.fabric.switches().len();
    let mut labels = Labels { levels: vec![0; count], digits: vec![0; count * h], pgft };
    // Subtrees of level l, by the least number of their nodes, are numbered within those of l + 1.
    let first_node = |s: SwitchIndex| {
        let numbers = live.fabric.nodes_of(s).iter().map(|&n| orders.node_number(n));
        numbers.filter(|n| n.on_leaf).map(|n| n.number).min().unwrap_or(u32::MAX)
    };
    let leaves = &by_rank[0];
    for l in 1..h {
        let keyed = leaves
            .iter()
            .map(|&s| (first_node(s), Some(subtrees[l][s.at()]), subtrees[l - 1][s.at()]));
        let digits = number_within(keyed.collect());
        for lower in &by_rank[..l] {
            for &s in lower {
                labels.digits[s.at() * h + l] = digits[&subtrees[l - 1][s.at()]];
            }
        }
    }
    // Planes of level l, by their first switch, are numbered within those of l - 1.
    for l in 1..=h {
        let keyed = by_rank[l - 1].iter().map(|&s| {
            let outer = (l > 1).then(|| planes[l - 2][s.at()]);
            (orders.position(s), outer, planes[l - 1][s.at()])
        });
        let digits = number_within(keyed.collect());
        for upper in &by_rank[l - 1..] {
            for &s in upper {
                labels.digits[s.at() * h + l - 1] = digits[&planes[l - 1][s.at()]];
            }
        }
        for &s in &by_rank[l - 1] {
            labels.levels[s.at()] = l;
        }
    }
    labels
}

/// Returns the numbers of the inner parts within their outer parts, by their least keys. `keyed` are key, outer part and
/// inner part.
fn number_within(
    mut keyed: Vec<(u32, Option<SwitchIndex>, SwitchIndex)>,
) -> HashMap<SwitchIndex, u32> {
    keyed.sort_unstable();
    let mut next: HashMap<Option<SwitchIndex>, u32> = HashMap::new();
    let mut digits = HashMap::new();
    for (_, outer, inner) in keyed {
        digits.entry(inner).or_insert_with(|| {
            let counter = next.entry(outer).or_default();
            *counter += 1;
            *counter - 1
        });
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Degradation, Fabric, GuidOrder};

    fn recognised(fabric: &Fabric, degradation: &Degradation) -> Result<Labels, NotPgft> {
        let live = Live::new(fabric, degradation);
        let ranking = Ranking::new(live, &Default::default());
        let orders = Orders::new(live, &ranking, &Default::default(), &Default::default());
        let groups = PortGroups::new(live, &ranking, &orders);
        recognise(live, &ranking, &groups, &orders)
    }

    #[test]
    fn every_generated_pgft_is_recognised_with_its_digits() {
        for tuple in [
            "1; 5; 1; 1",
            "2; 3,4; 1,2; 1,3",
            "3; 2,2,3; 1,2,2; 1,2,1",
            "3; 4,3,2; 1,1,3; 1,2,2",
            "4; 2,2,2,3; 1,2,1,2; 1,1,2,1",
        ] {
            let pgft: Pgft = tuple.parse().unwrap();
            let fabric = pgft.fabric(GuidOrder::Topological);
            let labels = recognised(&fabric, &Degradation::none(&fabric)).unwrap();
            assert_eq!(labels.pgft, pgft);
            let mut all = fabric.switch_indices();
            for l in 1..=pgft.levels() {
                for (i, s) in all.by_ref().take(pgft.count(l)).enumerate() {
                    assert_eq!(labels.level(s), l);
                    assert_eq!(labels.digits(s), pgft.digits(l, i), "{tuple} {l} {i}");
                }
            }
            let shuffled = pgft.fabric(GuidOrder::Shuffled(11));
            assert_eq!(recognised(&shuffled, &Degradation::none(&shuffled)).unwrap().pgft, pgft);
        }
    }

    #[test]
    fn damage_is_witnessed() {
        let fabric = "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let remove = |targets: &[&str]| {
            let mut d = Degradation::none(&fabric);
            for t in targets {
                let (s, port) = t.split_once('/').unwrap();
                let guid = fabric.switches()[s.parse::<usize>().unwrap()].guid;
                d.remove(&fabric, &format!("{guid}/{port}")).unwrap();
            }
            recognised(&fabric, &d).unwrap_err()
        };
        let (leaf, spine, core) = (SwitchIndex::new(0), SwitchIndex::new(6), SwitchIndex::new(12));
        assert_eq!(remove(&["0/3"]), NotPgft::Parallel(leaf, spine, 1, 2));
        assert_eq!(remove(&["0/3", "0/5"]), NotPgft::Arity(leaf, true, 1, 2));
        assert_eq!(remove(&["12/1"]), NotPgft::Arity(spine, true, 1, 2));
        assert_eq!(remove(&["12/1", "12/2", "12/3"]), NotPgft::Unconnected(core));
    }

    #[test]
    fn regular_arities_are_not_enough() {
        // Two leaves, two spines, each leaf cabled twice to a spine of its own: two trees, not one.
        let pgft: Pgft = "2; 1,1; 1,1; 1,2".parse().unwrap();
        let one = pgft.fabric(Default::default());
        let mut b = crate::FabricBuilder::new();
        for copy in 0..2u64 {
            let rename = |g: crate::Guid| crate::Guid(g.0 + (copy << 24));
            let switches: Vec<_> = one
                .switches()
                .iter()
                .map(|s| b.switch(crate::fabric::Switch { guid: rename(s.guid), ..s.clone() }))
                .collect();
            let a = &one.adapters()[0];
            let host = b.adapter(crate::fabric::Adapter { guid: rename(a.guid), ..a.clone() });
            let port = crate::PortNumber;
            b.end_port(host, port(1), rename(one.nodes()[0].guid), crate::Lid(1), 0);
            b.cable((host, port(1)), (switches[0], port(1)), Default::default());
            for j in 0..2 {
                b.cable((switches[0], port(2 + j)), (switches[1], port(1 + j)), Default::default());
            }
        }
        let fabric = b.finish().unwrap();
        let found = recognised(&fabric, &Degradation::none(&fabric)).unwrap_err();
        assert_eq!(found, NotPgft::Components(1, "subtrees", 2, 1));
    }
}
