//! Small parts of a level that lack cables, compared with other parts of the same size.
//!
//! Two leaves below two switches have no likes enough to show that a cable is missing. But if the level has other such
//! parts, and most of them are whole, the missing one is known.

use std::collections::BTreeMap;

use super::neighbours::Neighbours;
use crate::id::SwitchIndex;
use crate::rank::Ranking;
use crate::union_find::UnionFind;

/// Of the pairs of a part, one in this number may be missing.
const FEW: usize = 4;

/// At least this number of whole parts of the same size show the shape.
const WITNESSES: usize = 2;

/// A connected part of the cables between two levels.
#[derive(Default)]
struct Part {
    lower: Vec<SwitchIndex>,
    upper: Vec<SwitchIndex>,
    pairs: usize,
}

impl Part {
    fn absent_pairs(&self) -> usize {
        self.lower.len() * self.upper.len() - self.pairs
    }
}

/// The connected parts of all levels.
pub(super) struct Parts {
    parts: Vec<Part>,
    ranks: Vec<Option<u32>>,
}

impl Parts {
    pub(super) fn new(above: &Neighbours, below: &Neighbours, ranking: &Ranking) -> Self {
        // A switch is in one part with those below it, and in another one with those above it.
        let count = above.switches().len();
        let upwards = |s: SwitchIndex| SwitchIndex::new(count + s.at());
        let mut joined = UnionFind::new(2 * count);
        for s in above.switches() {
            for neighbour in above.of(s) {
                joined.join(upwards(s), neighbour.switch);
            }
        }
        let mut parts: BTreeMap<SwitchIndex, Part> = BTreeMap::new();
        for s in above.switches() {
            if !above.of(s).is_empty() {
                let part = parts.entry(joined.root(upwards(s))).or_default();
                part.lower.push(s);
                part.pairs += above.of(s).len();
            }
            if !below.of(s).is_empty() {
                parts.entry(joined.root(s)).or_default().upper.push(s);
            }
        }
        let parts: Vec<Part> = parts.into_values().collect();
        let ranks = parts.iter().map(|part| ranking.rank(part.lower[0])).collect();
        Parts { parts, ranks }
    }

    /// Returns for each switch whether it is cabled to all upper switches of its part, as is every other lower switch of
    /// the part.
    pub(super) fn whole(&self, switches: usize) -> Vec<bool> {
        let mut whole = vec![false; switches];
        for part in self.parts.iter().filter(|part| part.absent_pairs() == 0) {
            for s in &part.lower {
                whole[s.at()] = true;
            }
        }
        whole
    }

    /// Returns for each switch whether enough other parts of its level have the size of its part and are whole, so that they
    /// show what the part should be.
    pub(super) fn with_witnesses(&self, switches: usize) -> Vec<bool> {
        let mut whole = BTreeMap::new();
        let size = |part: &Part, rank| (rank, part.lower.len(), part.upper.len());
        for (part, &rank) in self.parts.iter().zip(&self.ranks) {
            if part.absent_pairs() == 0 {
                *whole.entry(size(part, rank)).or_insert(0) += 1;
            }
        }
        let mut known = vec![false; switches];
        for (part, &rank) in self.parts.iter().zip(&self.ranks) {
            let is_whole = usize::from(part.absent_pairs() == 0);
            let witnesses = whole.get(&size(part, rank)).copied().unwrap_or(0);
            if witnesses - is_whole >= WITNESSES {
                part.lower.iter().for_each(|s| known[s.at()] = true);
            }
        }
        known
    }

    /// Returns the absent pairs of parts that lack few, if at least half of the parts of their level have the same size
    /// and are whole.
    pub(super) fn absent(&self, above: &Neighbours) -> Vec<(SwitchIndex, SwitchIndex)> {
        let (mut on_level, mut whole) = (BTreeMap::new(), BTreeMap::new());
        for (part, rank) in self.parts.iter().zip(&self.ranks) {
            *on_level.entry(rank).or_insert(0) += 1;
            if part.absent_pairs() == 0 {
                *whole.entry((rank, part.lower.len(), part.upper.len())).or_insert(0) += 1;
            }
        }
        let mut absent = vec![];
        for (part, rank) in self.parts.iter().zip(&self.ranks) {
            let size = (rank, part.lower.len(), part.upper.len());
            let witnesses = whole.get(&size).copied().unwrap_or(0);
            let (lacking, all) = (part.absent_pairs(), part.lower.len() * part.upper.len());
            if witnesses < WITNESSES || 2 * witnesses < on_level[rank] || FEW * lacking > all {
                continue;
            }
            for &s in part.lower.iter().filter(|s| above.of(**s).len() < part.upper.len()) {
                let others = part.upper.iter().filter(|&&upper| above.cables(s, upper) == 0);
                absent.extend(others.map(|&upper| (s, upper)));
            }
        }
        absent
    }
}
