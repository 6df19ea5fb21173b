//! Flows that cannot be separated, and the lower bounds that follow.
//!
//! A *bundle* is all flows from the nodes of one switch to one destination. Tables have one entry for each switch and
//! destination, so a bundle stays together from its first switch to its last. By induction: all its flows are at its
//! switch at first; and if they are at one switch, they share the entry there, so they leave by one port and are at one
//! switch again. This holds for any tables, whatever their routes, and for nodes on any switch. (Traffic goes to the
//! first LID of a node, so several LIDs change nothing.) A bundle also arrives as a whole or not at all.
//!
//! A bundle that crosses a cut of `c` cables therefore puts all its flows on one of `c` ports. The least possible maximum
//! is that of scheduling jobs of given lengths on `c` machines, for which three simple lower bounds are known. With the
//! bundles from large to small, b₁ ≥ b₂ ≥ …:
//!
//! - *Sum.* Some port carries ⌈(b₁ + … + bₘ)/c⌉, for every m.
//! - *Divisor.* If g divides b₁ … bₘ, loads by these bundles are multiples of g: some port carries g·⌈(b₁ + … + bₘ)/(c·g)⌉.
//! - *Pigeonhole.* Of the k·c + 1 largest bundles, some port carries k + 1: at least the k + 1 smallest of these.
//!
//! Example: 7 destinations on a leaf with 3 cables, and 5 bundles of 4 flows to each. 140 flows on 3 ports are 47 on
//! average; but 35 bundles on 3 ports put 12 on one of them, which is 48 flows.

use super::cuts::{Cut, Cuts};
use super::loads::add;

/// How many bundles of each size cross each cut, outwards and inwards.
#[derive(Clone)]
pub(super) struct Bundles {
    /// The sizes that there are, descending.
    sizes: Vec<u32>,
    /// For each cut, the number of bundles of each size.
    out: Vec<u64>,
    into: Vec<u64>,
}

/// A lower bound of the greatest load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CutBound {
    pub(super) value: u64,
    /// The cut that gives it.
    pub(super) cut: Option<Cut>,
    /// Whether it is greater than what the number of flows alone shows.
    pub(super) is_by_bundles: bool,
}

impl Bundles {
    /// Returns no bundles; later ones have some of these sizes.
    pub(super) fn none(cuts: &Cuts, sizes: impl IntoIterator<Item = u32>) -> Self {
        let mut sizes: Vec<u32> = sizes.into_iter().filter(|&size| size > 0).collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes.dedup();
        let counts = vec![0; cuts.cuts.len() * sizes.len()];
        Bundles { sizes, out: counts.clone(), into: counts }
    }

    /// Returns the bundles if everybody sends to everybody. `weight` is the number of nodes on each switch.
    pub(super) fn all_to_all(cuts: &Cuts, weight: &[u32]) -> Self {
        let mut bundles = Bundles::none(cuts, weight.iter().copied());
        let width = bundles.sizes.len();
        let mut everywhere = vec![0u64; width];
        for &size in weight.iter().filter(|&&size| size > 0) {
            everywhere[bundles.class(size)] += 1;
        }
        // The numbers of switches by size, inside each cut.
        let mut inside = vec![0u64; bundles.out.len()];
        for of in cuts.levels() {
            for (s, &size) in weight.iter().enumerate().filter(|(_, size)| **size > 0) {
                if let Some(cut) = cuts.at(of, s) {
                    inside[cut * width + bundles.class(size)] += 1;
                }
            }
        }
        let total: u64 = weight.iter().map(|&size| u64::from(size)).sum();
        for (at, cut) in cuts.cuts.iter().enumerate() {
            for (class, all) in everywhere.iter().enumerate() {
                let place = at * width + class;
                bundles.out[place] = inside[place] * (total - cut.nodes);
                bundles.into[place] = (all - inside[place]) * cut.nodes;
            }
        }
        bundles
    }

    fn class(&self, size: u32) -> usize {
        self.sizes.binary_search_by(|own| size.cmp(own)).expect("a size that was announced")
    }

    /// Counts one bundle from one switch to another, or with −1 takes it back.
    pub(super) fn count(&mut self, cuts: &Cuts, ends: (u32, u32), size: u32, sign: i64) {
        let (width, class) = (self.sizes.len(), self.class(size));
        for (left, entered) in cuts.crossed(ends.0, ends.1) {
            for (counts, cut) in [(&mut self.out, left), (&mut self.into, entered)] {
                if let Some(cut) = cuts.known(cut) {
                    let count = &mut counts[cut * width + class];
                    *count = count.wrapping_add_signed(sign);
                }
            }
        }
    }

    /// Adds other bundles of the same sizes. Counts may be negative in between.
    pub(super) fn add(&mut self, other: &Bundles) {
        add(&mut self.out, &other.out);
        add(&mut self.into, &other.into);
    }

    /// Returns the greatest bound of all cuts. Of equal ones, one that needs no bundles is preferred, then the first.
    pub(super) fn bound(&self, cuts: &Cuts) -> CutBound {
        let mut best = CutBound::default();
        let width = self.sizes.len();
        for (at, cut) in cuts.cuts.iter().enumerate().filter(|(_, cut)| cut.cables > 0) {
            for counts in [&self.out, &self.into] {
                let counts = &counts[at * width..(at + 1) * width];
                let classes = self.sizes.iter().zip(counts).filter(|(_, count)| **count > 0);
                let classes: Vec<BundleClass> = classes
                    .map(|(&size, &count)| BundleClass { size: size.into(), count })
                    .collect();
                let flows: u64 = classes.iter().map(|class| class.size * class.count).sum();
                let alone = flows.div_ceil(cut.cables);
                let value = least_maximum(&classes, cut.cables).max(alone);
                let is_by_bundles = value > alone;
                if (value, !is_by_bundles) > (best.value, !best.is_by_bundles) {
                    best = CutBound { value, cut: Some(*cut), is_by_bundles };
                }
            }
        }
        best
    }
}

/// Bundles of one size.
#[derive(Clone, Copy, Debug)]
struct BundleClass {
    size: u64,
    count: u64,
}

/// Returns a lower bound of the greatest load if these bundles, sorted from large to small, are put on this number of ports.
/// O(classes · log classes).
fn least_maximum(classes: &[BundleClass], ports: u64) -> u64 {
    let first = Prefixes::new(classes);
    let (mut best, mut divisor) = (0, 0);
    for (at, class) in classes.iter().enumerate() {
        divisor = gcd(divisor, class.size);
        best = best.max(divisor * first.sums[at + 1].div_ceil(ports * divisor));
    }
    // The window of the k + 1 smallest bundles among the k·c + 1 largest is at the places k·(c − 1) … k·c. While both its
    // ends stay in their classes, its sum is linear in k, so the greatest sums are next to where an end changes its class.
    for &places in &first.counts[1..] {
        let last = places - 1;
        let step = (ports - 1).max(1);
        for k in [last / ports, last / ports + 1, last / step, last / step + 1] {
            if k * ports < first.all() {
                best = best.max(first.sum(k * ports + 1) - first.sum(k * (ports - 1)));
            }
        }
    }
    best
}

/// Numbers and sums of the first classes of bundles.
struct Prefixes<'a> {
    classes: &'a [BundleClass],
    counts: Vec<u64>,
    sums: Vec<u64>,
}

impl<'a> Prefixes<'a> {
    fn new(classes: &'a [BundleClass]) -> Self {
        let (mut counts, mut sums) = (vec![0], vec![0]);
        for class in classes {
            counts.push(counts[counts.len() - 1] + class.count);
            sums.push(sums[sums.len() - 1] + class.count * class.size);
        }
        Prefixes { classes, counts, sums }
    }

    fn all(&self) -> u64 {
        self.counts[self.classes.len()]
    }

    /// Returns the sum of this number of largest bundles.
    fn sum(&self, bundles: u64) -> u64 {
        // Classes whose bundles are all among them.
        let whole = self.counts.partition_point(|&count| count <= bundles) - 1;
        let rest = bundles - self.counts[whole];
        self.sums[whole] + self.classes.get(whole).map_or(0, |class| class.size * rest)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn classes(sizes: &[u64]) -> Vec<BundleClass> {
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let class = |same: &[u64]| BundleClass { size: same[0], count: same.len() as u64 };
        sizes.chunk_by(|a, b| a == b).map(class).collect()
    }

    /// The least possible maximum, by trying every port for every bundle.
    fn tried(sizes: &[u64], loads: &mut [u64]) -> u64 {
        let Some((size, rest)) = sizes.split_first() else {
            return loads.iter().copied().max().unwrap_or(0);
        };
        let one = |at: usize, loads: &mut [u64]| {
            loads[at] += size;
            let found = tried(rest, loads);
            loads[at] -= size;
            found
        };
        (0..loads.len()).map(|at| one(at, loads)).min().unwrap_or(0)
    }

    /// The same three bounds, with every m and every k.
    fn naive(sizes: &[u64], ports: usize) -> u64 {
        let mut sizes = sizes.to_vec();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let mut best = 0;
        for m in 1..=sizes.len() {
            let (sum, g) =
                (sizes[..m].iter().sum::<u64>(), sizes[..m].iter().fold(0, |a, &b| gcd(a, b)));
            best = best.max(g * sum.div_ceil(g * ports as u64));
        }
        for k in (0..).take_while(|k| k * ports < sizes.len()) {
            best = best.max(sizes[k * (ports - 1)..=k * ports].iter().sum());
        }
        best
    }

    #[test]
    fn the_examples() {
        assert_eq!(least_maximum(&classes(&[4; 35]), 3), 48);
        assert_eq!(least_maximum(&[], 3), 0);
        // Pigeonhole: four bundles on three ports.
        assert_eq!(least_maximum(&classes(&[9, 7, 5, 5, 1]), 3), 10);
    }

    #[test]
    fn no_distribution_is_below_the_bound() {
        for seed in 0..400 {
            let mut random = Random::new(seed, 7);
            let ports = 1 + random.below(4) as usize;
            let kinds: Vec<u64> = (0..3).map(|_| 1 + random.below(9)).collect();
            let sizes: Vec<u64> =
                (0..random.below(8)).map(|_| kinds[random.below(3) as usize]).collect();
            let bound = least_maximum(&classes(&sizes), ports as u64);
            let mut descending = sizes.clone();
            descending.sort_unstable();
            assert!(bound <= tried(&descending, &mut vec![0; ports]), "seed {seed}: {sizes:?}");
        }
    }

    #[test]
    fn the_best_k_is_always_tried() {
        for seed in 0..2000 {
            let mut random = Random::new(seed, 8);
            let ports = 1 + random.below(6) as usize;
            let kinds: Vec<u64> = (0..4).map(|_| 1 + random.below(30)).collect();
            let sizes: Vec<u64> =
                (0..random.below(90)).map(|_| kinds[random.below(4) as usize]).collect();
            let found = least_maximum(&classes(&sizes), ports as u64);
            assert_eq!(found, naive(&sizes, ports), "seed {seed}: {sizes:?} on {ports}");
        }
    }
}
