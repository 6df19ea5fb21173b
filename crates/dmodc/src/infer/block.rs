//! What switches that are alike have in common, and what single ones of them lack.
//!
//! The words are those of a view from below: *likes* share *neighbours*, which are above them. Seen from above, neighbours
//! are below.

use std::collections::BTreeMap;

use super::neighbours::Neighbours;
use super::usual::CableCounts;
use crate::id::SwitchIndex;

/// One in this number may be missing: likes that lack a common neighbour, and cables that a switch lacks.
const PART: usize = 4;

/// With fewer likes and common neighbours than this, together, one absent pair is no evidence: three leaves below two
/// switches may well have one leaf with a single cable on purpose.
const EVIDENCE: usize = 6;

/// With fewer pairs than this, the usual number of cables is that of the whole level.
const FEW_PAIRS: usize = 4;

/// Cables that a switch lacks towards a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Lack {
    pub(super) neighbour: SwitchIndex,
    pub(super) cables: usize,
}

/// A neighbour that as good as all likes have.
struct Common {
    switch: SwitchIndex,
    /// The number of cables that each of the likes should have to it.
    cables: usize,
}

/// A set of likes with their common neighbours.
pub(super) struct Block<'a> {
    own: &'a Neighbours,
    likes: &'a [SwitchIndex],
    common: Vec<Common>,
    /// Neighbours that as good as none of the likes have, ascending.
    rare: Vec<SwitchIndex>,
    /// The usual number of cables to rare neighbours.
    usual_rare: usize,
}

impl<'a> Block<'a> {
    /// Finds what the likes have in common. `level` counts the cables of all pairs of their level.
    pub(super) fn new(own: &'a Neighbours, likes: &'a [SwitchIndex], level: &CableCounts) -> Self {
        let mut columns: BTreeMap<SwitchIndex, CableCounts> = BTreeMap::new();
        for &s in likes {
            for neighbour in own.of(s) {
                columns.entry(neighbour.switch).or_default().add(neighbour.cables);
            }
        }
        let spared = (likes.len() / PART).max(1);
        let is_rare = |counts: &CableCounts| likes.len() >= PART && counts.pairs() <= spared;
        let rare = columns.iter().filter(|(_, counts)| is_rare(counts));
        let rare = rare.map(|(&switch, _)| switch).collect();
        columns.retain(|_, counts| counts.pairs() >= 2 && counts.pairs() + spared >= likes.len());
        let mut all = CableCounts::default();
        for counts in columns.values() {
            all.add_all(counts);
        }
        let usual = match all.pairs() < FEW_PAIRS {
            true => level.usual(),
            false => all.usual(),
        };
        let cables = |counts: &CableCounts| usual.or_else(|| counts.usual()).unwrap_or(1);
        let common =
            columns.iter().map(|(&switch, counts)| Common { switch, cables: cables(counts) });
        let mut block = Block { own, likes, common: common.collect(), rare, usual_rare: 0 };
        let mut counts = CableCounts::default();
        likes.iter().for_each(|&s| counts.add(block.rare_cables(s)));
        block.usual_rare = counts.most_common().unwrap_or(0);
        block
    }

    /// Returns the rare neighbours of a switch, with the cables to them.
    fn rare(&self, s: SwitchIndex) -> impl Iterator<Item = (SwitchIndex, usize)> {
        let all = self.own.of(s).iter().map(|neighbour| (neighbour.switch, neighbour.cables));
        all.filter(|(switch, _)| self.rare.binary_search(switch).is_ok())
    }

    fn rare_cables(&self, s: SwitchIndex) -> usize {
        self.rare(s).map(|(_, cables)| cables).sum()
    }

    /// Returns the likes that have more cables to rare neighbours than usual, with those neighbours. They were cabled in
    /// another way on purpose, or by mistake; nothing is missing there.
    pub(super) fn recabled(&self) -> impl Iterator<Item = (SwitchIndex, Vec<SwitchIndex>)> {
        self.likes.iter().copied().filter(|&s| self.is_recabled(s)).map(|s| {
            let others = self.rare(s).map(|(switch, _)| switch).collect();
            (s, others)
        })
    }

    fn is_recabled(&self, s: SwitchIndex) -> bool {
        self.rare_cables(s) > self.usual_rare
    }

    /// Returns the cables that single likes lack. Two switches that lack the same cables, several of them, were cabled so
    /// on purpose.
    pub(super) fn lacking(&self) -> Vec<(SwitchIndex, Vec<Lack>)> {
        let lacks = |s: SwitchIndex| -> Vec<Lack> {
            let all = self.common.iter().map(|common| Lack {
                neighbour: common.switch,
                cables: common.cables.saturating_sub(self.own.cables(s, common.switch)),
            });
            all.filter(|lack| lack.cables > 0).collect()
        };
        let rows = self.likes.iter().map(|&s| (s, lacks(s)));
        let mut rows: Vec<_> = rows.filter(|(_, lacks)| !lacks.is_empty()).collect();
        let mut seen: BTreeMap<Vec<Lack>, usize> = BTreeMap::new();
        for (_, lacks) in &rows {
            *seen.entry(lacks.clone()).or_default() += 1;
        }
        rows.retain(|(s, lacks)| {
            (lacks.len() == 1 || seen[lacks] == 1)
                && !self.is_recabled(*s)
                && self.are_few(*s, lacks)
        });
        rows
    }

    /// Returns how many cables each of the likes should have to its neighbours and to common ones, where the others show it. A
    /// switch that lacks many cables is left out.
    pub(super) fn expected(&self) -> Vec<(SwitchIndex, SwitchIndex, usize)> {
        let mut expected = vec![];
        for &s in self.likes {
            let lacks = self.common.iter().filter_map(|common| {
                let cables = common.cables.saturating_sub(self.own.cables(s, common.switch));
                (cables > 0).then_some(Lack { neighbour: common.switch, cables })
            });
            if !self.are_few(s, &lacks.collect::<Vec<_>>()) {
                continue;
            }
            expected.extend(self.common.iter().map(|common| (s, common.switch, common.cables)));
            if self.usual_rare == 0 {
                expected.extend(self.rare(s).map(|(switch, _)| (s, switch, 0)));
            }
        }
        expected
    }

    /// Returns whether a switch lacks so few cables that it must be one of its likes.
    fn are_few(&self, s: SwitchIndex, lacks: &[Lack]) -> bool {
        let lacking: usize = lacks.iter().map(|lack| lack.cables).sum();
        let all: usize = self.common.iter().map(|common| common.cables).sum();
        let is_one_pair = lacks.len() == 1 && self.own.of(s).len() + 1 >= self.common.len();
        PART * lacking <= all || (is_one_pair && self.likes.len() + self.common.len() >= EVIDENCE)
    }
}
