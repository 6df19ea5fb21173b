//! The choice of hosts for a job, so that it shares few ports with others.
//!
//! Let J be the chosen hosts, and O all other hosts of the fabric, listed or not. If all hosts of J send to each other, and
//! all hosts of O send to each other, then a port is *shared* if it carries flows of both. The best choice has the fewest
//! shared ports; among those, the least number of mixed flows on the worst port. The mixed flows of a port are the lesser
//! of its numbers of flows of J and of O.
//!
//! A leaf whose hosts are all chosen shares no cable, and neither does a subtree. So hosts are chosen in whole leaves and whole
//! subtrees where this is possible, and the best of the candidates that are found so is taken. For small fabrics all
//! choices are compared instead. A choice without shared ports is the best in any case.

use std::cmp::Ordering;

use super::Placement;
use super::exact::{AllPairs, best_of_all};
use super::groups::HostGroups;
use super::sharing::{Choice, Sharing};
use crate::rails::RailHost;

/// The most choices that are all compared.
const MOST_CHOICES: u64 = 5000;

/// The most hosts of a fabric for which all choices are compared.
const MOST_HOSTS: usize = 64;

/// The most candidates whose ports are counted.
const MOST_COUNTED: usize = 16;

impl Placement<'_> {
    /// Chooses `count` of the hosts `listed`, which are positions in the list of all hosts of the fabric.
    ///
    /// # Panics
    /// If fewer hosts are listed.
    pub fn choose(&self, all: &[&RailHost<'_>], listed: &[usize], count: usize) -> Choice {
        assert!(count <= listed.len(), "more hosts are chosen than listed");
        let mut sorted = listed.to_vec();
        sorted.sort_by_cached_key(|&at| (self.place(all[at], 0), at));
        let few = choices(sorted.len(), count).is_some_and(|number| number <= MOST_CHOICES);
        if few && all.len() <= MOST_HOSTS {
            return best_of_all(&AllPairs::new(self, all), &sorted, count);
        }
        self.best_filling(all, &sorted, count)
    }

    /// Returns the best set of whole leaves and subtrees, or the nearest to such a set.
    pub(super) fn best_filling(
        &self,
        all: &[&RailHost<'_>],
        sorted: &[usize],
        count: usize,
    ) -> Choice {
        let groups = HostGroups::new(self, all);
        let estimate = |set: &Vec<usize>| {
            let mut is_chosen = vec![false; all.len()];
            set.iter().for_each(|&at| is_chosen[at] = true);
            groups.mixed(&is_chosen)
        };
        // The estimate is rough, so each kind of candidate has its own share.
        let mut sets = Vec::new();
        for mut kind in [groups.fillings(sorted, count), groups.runs(sorted, count)] {
            kind.sort_by_cached_key(estimate);
            kind.truncate(MOST_COUNTED / 2);
            sets.extend(kind);
        }
        let mut best: Option<Choice> = None;
        for (at, hosts) in sets.into_iter().enumerate() {
            let sharing = self.sharing(all, &hosts);
            let is_best = sharing.ports == 0;
            if best.as_ref().is_none_or(|best| sharing.cmp(&best.sharing) == Ordering::Less) {
                best = Some(Choice { hosts, sharing, is_best, compared: 0 });
            }
            if let Some(best) = &mut best {
                best.compared = at + 1;
            }
            if is_best {
                break;
            }
        }
        best.expect(
            "the whole fabric is a group that has enough hosts, and no hosts are a set, too",
        )
    }

    /// Returns what these hosts share with all others.
    pub fn sharing(&self, all: &[&RailHost<'_>], hosts: &[usize]) -> Sharing {
        let mut is_chosen = vec![false; all.len()];
        hosts.iter().for_each(|&at| is_chosen[at] = true);
        let of = |chosen: bool| {
            let part = (0..all.len()).filter(|&at| is_chosen[at] == chosen);
            let part: Vec<&RailHost<'_>> = part.map(|at| all[at]).collect();
            self.all_to_all(&self.by_rail(&part)).by_port
        };
        Sharing::of(&of(true), &of(false))
    }
}

/// Returns how many choices there are; `None` if the number is too large to count.
fn choices(of: usize, count: usize) -> Option<u64> {
    let least = count.min(of - count) as u64;
    (0..least).try_fold(1u64, |product, i| Some(product.checked_mul(of as u64 - i)? / (i + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Candidates of whole leaves and subtrees are compared with all choices. They are the best in most cases, and never
    /// better.
    #[test]
    fn fillings_are_often_the_best() {
        use crate::{Degradation, Dmodc, GuidOrder, Live, Pgft, Rails, Random, Routing};
        let mut random = Random::new(7, 0);
        let (mut best, mut cases) = (0, 0);
        for tuple in ["2; 3,4; 1,3; 1,1", "3; 2,2,3; 1,2,2; 1,1,1", "3; 2,3,2; 1,2,3; 1,1,1"] {
            let fabric = tuple.parse::<Pgft>().unwrap().fabric(GuidOrder::Shuffled(4));
            let healthy = Degradation::none(&fabric);
            let live = Live::new(&fabric, &healthy);
            let routing = Routing::new(live, &Default::default());
            let (tables, _) = routing.route(live, &Dmodc).unwrap();
            let ranking = routing.ranking(live);
            let placement = Placement::new(live, &ranking, routing.orders(), &tables);
            let rails = Rails::new(live);
            let hosts: Vec<&RailHost<'_>> = rails.hosts.iter().collect();
            for _ in 0..20 {
                let mut listed = random.sample(12, 9);
                listed.sort_unstable();
                let count = 2 + random.below(6) as usize;
                let exact = placement.choose(&hosts, &listed, count);
                let filled = placement.best_filling(&hosts, &listed, count);
                assert!(exact.sharing <= filled.sharing && exact.is_best);
                assert_eq!(filled.sharing, placement.sharing(&hosts, &filled.hosts));
                best += usize::from(exact.sharing == filled.sharing);
                cases += 1;
            }
        }
        assert!(best * 10 >= cases * 6, "{best} of {cases}");
    }

    #[test]
    fn choices_are_counted() {
        assert_eq!(choices(5, 2), Some(10));
        assert_eq!(choices(64, 1), Some(64));
        assert_eq!(choices(6, 6), Some(1));
        assert_eq!(choices(20, 10), Some(184_756));
        assert_eq!(choices(1000, 500), None);
    }
}
