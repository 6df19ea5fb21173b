//! How many cables join a pair of switches where most pairs have the same number.

use std::collections::BTreeMap;

/// Of the cables that pairs would have, at most one in this number may be missing from pairs that have some.
const FEW: usize = 6;

/// How often pairs have each number of cables.
#[derive(Clone, Debug, Default)]
pub(super) struct CableCounts(BTreeMap<usize, usize>);

impl CableCounts {
    pub(super) fn add(&mut self, cables: usize) {
        *self.0.entry(cables).or_default() += 1;
    }

    pub(super) fn add_all(&mut self, other: &CableCounts) {
        for (cables, pairs) in &other.0 {
            *self.0.entry(*cables).or_default() += pairs;
        }
    }

    /// Returns the number of pairs.
    pub(super) fn pairs(&self) -> usize {
        self.0.values().sum()
    }

    /// Returns the most common number of cables, the greatest of equally common ones.
    pub(super) fn most_common(&self) -> Option<usize> {
        let most = self.0.iter().max_by_key(|&(cables, pairs)| (pairs, cables));
        most.map(|(&cables, _)| cables)
    }

    /// Returns the most common number of cables, if pairs with fewer lack few cables altogether. Else different numbers
    /// are meant to be: 18 cables of a leaf to 12 switches make 6 pairs and 6 single cables.
    pub(super) fn usual(&self) -> Option<usize> {
        let usual = self.most_common()?;
        let lacking: usize = self.0.range(..usual).map(|(n, pairs)| (usual - n) * pairs).sum();
        (FEW * lacking <= usual * self.pairs()).then_some(usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usual(counts: &[usize]) -> Option<usize> {
        let mut all = CableCounts::default();
        for &cables in counts {
            all.add(cables);
        }
        all.usual()
    }

    #[test]
    fn few_lost_cables_do_not_hide_the_usual_number() {
        assert_eq!(usual(&[]), None);
        assert_eq!(usual(&[2, 2, 2, 1]), Some(2));
        assert_eq!(usual(&[2, 1, 2, 1]), None, "half of the pairs are single on purpose");
        assert_eq!(usual(&[1, 1, 1, 4]), Some(1), "one pair has more");
        assert_eq!(usual(&[8, 7, 8, 7, 8, 6]), Some(8));
    }
}
