//! The numbers that a divider is chosen from.

use std::collections::{BTreeMap, BTreeSet};

use super::MeasuredFabric;
use crate::cost::CloserSets;
use crate::id::SwitchIndex;
use crate::parallel;

/// How often each number occurs.
type Frequencies = BTreeMap<usize, u64>;

/// Returns all products, up to the number of destinations, of the prime factors of the usual number of nodes on a leaf and,
/// for each level, of the usual number of groups above and of the usual size of a closer set below that has more than one
/// group. Ascending.
pub(super) fn of(fabric: &MeasuredFabric<'_>) -> Vec<u32> {
    let destinations = &fabric.destinations;
    let mut nodes = Frequencies::new();
    for i in 0..destinations.targets().len() {
        *nodes.entry(destinations.of_target(i).len()).or_default() += 1;
    }
    let mut usual = vec![most_frequent(&nodes)];
    for level in fabric.ranking.by_rank() {
        let mut above = Frequencies::new();
        for &s in &level {
            let groups = fabric.groups.above(s).peers.len();
            if groups > 0 {
                *above.entry(groups).or_default() += 1;
            }
        }
        usual.push(most_frequent(&above));
        usual.push(most_frequent(&sizes_below(fabric, &level)));
    }
    let primes: BTreeSet<usize> = usual.into_iter().flatten().flat_map(prime_factors).collect();
    products(&primes, destinations.len())
}

/// Counts the sizes of closer sets below that have more than one group.
fn sizes_below(fabric: &MeasuredFabric<'_>, level: &[SwitchIndex]) -> Frequencies {
    let of_switch = |closer: &mut CloserSets, &s: &SwitchIndex| {
        let mut sizes = Frequencies::new();
        for costs in &fabric.costs {
            fabric.kernel.run(
                #[inline(always)]
                || costs.closer_below(fabric.groups, s, closer),
            );
            let mut counts = [0u8; 64];
            if closer.down != 0 {
                for through in &closer.through_down {
                    crate::bits::bits(*through).for_each(|target| counts[target] += 1);
                }
            }
            for count in counts.into_iter().filter(|&count| count > 1) {
                *sizes.entry(usize::from(count)).or_default() += 1;
            }
        }
        sizes
    };
    let mut all = Frequencies::new();
    for sizes in parallel::map_with(level, CloserSets::default, of_switch) {
        for (size, count) in sizes {
            *all.entry(size).or_default() += count;
        }
    }
    all
}

/// Returns the most frequent number, the least of equally frequent ones.
fn most_frequent(counts: &Frequencies) -> Option<usize> {
    // Of equal ones, `max_by_key` takes the last.
    counts.iter().rev().max_by_key(|(_, count)| **count).map(|(number, _)| *number)
}

fn prime_factors(mut n: usize) -> Vec<usize> {
    let mut primes = vec![];
    let mut p = 2;
    while n > 1 {
        if n.is_multiple_of(p) {
            primes.push(p);
            n /= p;
        } else {
            p += 1;
        }
    }
    primes
}

/// Returns 1 and all products of these primes up to a greatest one, ascending.
fn products(primes: &BTreeSet<usize>, greatest: usize) -> Vec<u32> {
    let mut products = vec![1u64];
    for &p in primes {
        let mut at = 0;
        // What is appended is multiplied again, so that each power of p occurs.
        while at < products.len() {
            let next = products[at] * p as u64;
            if next <= greatest as u64 {
                products.push(next);
            }
            at += 1;
        }
    }
    products.sort_unstable();
    products.into_iter().filter_map(|product| u32::try_from(product).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_have_only_the_given_primes() {
        assert_eq!(prime_factors(360), [2, 2, 2, 3, 3, 5]);
        assert_eq!(prime_factors(1), []);
        assert_eq!(products(&[2, 3].into(), 20), [1, 2, 3, 4, 6, 8, 9, 12, 16, 18]);
        assert_eq!(products(&[].into(), 20), [1]);
        assert_eq!(products(&[7].into(), 5), [1]);
        let frequencies = [(3, 2), (5, 4), (8, 4), (9, 1)].into();
        assert_eq!(most_frequent(&frequencies), Some(5));
    }
}
