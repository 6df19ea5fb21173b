//! The faults of a survey.

use dmodc::Random;
use dmodc::fabric::Part;

/// Which pairs of parts fail together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DoubleFaults {
    /// None: parts fail one at a time.
    #[default]
    None,
    /// A sample of the pairs.
    Sample {
        /// How many.
        count: usize,
        /// The seed of the draw.
        seed: u64,
    },
    /// All pairs.
    All,
}

/// Parts that fail at once: one or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    first: Part,
    second: Option<Part>,
}

impl Fault {
    /// Returns the parts.
    pub fn parts(&self) -> Vec<Part> {
        std::iter::once(self.first).chain(self.second).collect()
    }
}

/// The greatest number of faults: the outcome of each is kept in memory.
const MOST: u64 = 4_000_000;

/// More faults were asked for than a survey takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "these are {0} faults, and a survey takes at most {MOST}; ask for a sample with --double N"
)]
pub struct TooManyFaults(u64);

/// All faults of a survey, by number: single ones in the order of the parts, then pairs.
#[derive(Clone, Debug)]
pub struct Faults {
    parts: Vec<Part>,
    /// The numbers of pairs, ascending; empty if there are none or all.
    sample: Vec<u64>,
    doubles: u64,
}

impl Faults {
    /// Lists the faults of these parts.
    ///
    /// # Errors
    /// If there are too many.
    pub fn new(parts: Vec<Part>, doubles: DoubleFaults) -> Result<Self, TooManyFaults> {
        let n = parts.len() as u64;
        let pairs = n * n.saturating_sub(1) / 2;
        let (sample, doubles) = match doubles {
            DoubleFaults::None => (vec![], 0),
            DoubleFaults::Sample { count, seed } if (count as u64) < pairs => {
                (draw(pairs, count, seed), count as u64)
            }
            _ => (vec![], pairs),
        };
        match n + doubles {
            all if all > MOST => Err(TooManyFaults(all)),
            _ => Ok(Faults { parts, sample, doubles }),
        }
    }

    /// Returns how many faults there are.
    pub fn len(&self) -> usize {
        self.parts.len() + self.doubles as usize
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the parts that fail one at a time.
    pub fn singles(&self) -> &[Part] {
        &self.parts
    }

    /// Returns a fault.
    ///
    /// # Panics
    /// If there is no fault with this number.
    pub fn get(&self, at: usize) -> Fault {
        if let Some(&first) = self.parts.get(at) {
            return Fault { first, second: None };
        }
        let double = at - self.parts.len();
        let number = self.sample.get(double).copied().unwrap_or(double as u64);
        let (low, high) = pair(number);
        Fault { first: self.parts[low], second: Some(self.parts[high]) }
    }
}

/// Returns the pair with this number. Pairs are numbered by their greater part, then by the lesser one:
/// 0 = (0, 1), 1 = (0, 2), 2 = (1, 2), 3 = (0, 3) …
fn pair(number: u64) -> (usize, usize) {
    // h·(h − 1)/2 pairs have a greater part below h.
    let mut high = ((2.0 * number as f64).sqrt()) as u64;
    while high * (high + 1) / 2 <= number {
        high += 1;
    }
    while high * (high - 1) / 2 > number {
        high -= 1;
    }
    ((number - high * (high - 1) / 2) as usize, high as usize)
}

/// Returns different numbers below `all`, ascending.
fn draw(all: u64, count: usize, seed: u64) -> Vec<u64> {
    let mut random = Random::new(seed, DOUBLES);
    let mut drawn = std::collections::BTreeSet::new();
    while drawn.len() < count {
        drawn.insert(random.below(all));
    }
    drawn.into_iter().collect()
}

/// The stream of random numbers for pairs of faults.
const DOUBLES: u64 = 4 << 32;

#[cfg(test)]
mod tests {
    use dmodc::SwitchIndex;

    use super::*;

    #[test]
    fn every_pair_has_a_number() {
        let mut number = 0;
        for high in 1..300 {
            for low in 0..high {
                assert_eq!(pair(number), (low, high));
                number += 1;
            }
        }
        assert_eq!(pair(u64::from(u32::MAX) * u64::from(u32::MAX - 1) / 2).0, 0);
    }

    #[test]
    fn samples_are_different_pairs() {
        let parts: Vec<Part> = (0..30).map(|s| Part::Switch(SwitchIndex::new(s))).collect();
        let of = |doubles| Faults::new(parts.clone(), doubles).expect("few faults");
        assert_eq!(of(DoubleFaults::None).len(), 30);
        let all = of(DoubleFaults::All);
        assert_eq!(all.len(), 30 + 435);
        let sample = of(DoubleFaults::Sample { count: 400, seed: 1 });
        let mut drawn: Vec<_> = (30..430).map(|at| sample.get(at).parts()).collect();
        drawn.dedup();
        assert_eq!(drawn.len(), 400);
        let every: Vec<_> = (30..465).map(|at| all.get(at).parts()).collect();
        assert!(drawn.iter().all(|parts| every.contains(parts) && parts[0] < parts[1]));
        assert_eq!(of(DoubleFaults::Sample { count: 9000, seed: 1 }).len(), all.len());
        let many = (0..5000).map(|s| Part::Switch(SwitchIndex::new(s))).collect();
        assert!(Faults::new(many, DoubleFaults::All).is_err());
    }
}
