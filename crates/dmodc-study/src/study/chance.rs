//! What a sample says about chances: confidence intervals of 95 %, exact for any sample.
//!
//! A share k of n draws is the outcome of a binomial distribution. The interval of the chance p behind it (Clopper and Pearson) has
//! the p for which neither ≤ k nor ≥ k is an outcome that happens in less than 2.5 % of all samples. The same distribution says
//! between which draws of a sorted sample a quantile of the true distribution lies.

use std::fmt;

use crate::figure::thousands;

/// A degradation with at least this number of draws says something about rare events.
pub(super) const MANY: usize = 1000;

/// Each end of an interval is wrong in at most this share of all samples.
const TAIL: f64 = 0.025;

/// Some draws of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    /// Their number.
    pub(super) count: usize,
    /// The size of the sample.
    pub(super) of: usize,
}

impl Share {
    /// Returns the share.
    pub(super) fn value(self) -> f64 {
        self.count as f64 / self.of.max(1) as f64
    }

    /// Returns the interval of the chance behind the share.
    pub(super) fn interval(self) -> (f64, f64) {
        let lower = match self.count {
            0 => 0.0,
            count => chance(self.of, count - 1, 1.0 - TAIL),
        };
        let upper = if self.count >= self.of { 1.0 } else { chance(self.of, self.count, TAIL) };
        (lower, upper)
    }
}

impl fmt::Display for Share {
    /// `3 of 100,000 draws: 0.0030 % (0.0006 % to 0.0088 %)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| match 100.0 * share {
            0.0 => "0 %".into(),
            all if all < 0.1 => format!("{all:.4} %"),
            all => format!("{all:.2} %"),
        };
        let count = |number: usize| thousands(&number.to_string());
        let (least, most) = self.interval();
        let (value, least, most) = (percent(self.value()), percent(least), percent(most));
        write!(f, "{} of {} draws: {value} ({least} to {most})", count(self.count), count(self.of))
    }
}

/// A quantile of a sample, with the interval of the true one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantile {
    pub(super) value: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

/// Returns the value that a share `part` of all draws reaches or exceeds; `None` if the sample is too small to bound it from
/// above. `descending` has the sample, the greatest value first.
pub(super) fn exceeded_by(part: f64, descending: &[f64]) -> Option<Quantile> {
    let size = descending.len();
    let rank = ((size as f64 * part).ceil() as usize).clamp(1, size.max(1));
    // The number of draws above the true quantile lies between these two.
    let fewest = most_successes(size, part, TAIL)?;
    let most = most_successes(size, part, 1.0 - TAIL).map_or(0, |most| most + 1);
    Some(Quantile {
        value: *descending.get(rank - 1)?,
        least: *descending.get(most.min(size.saturating_sub(1)))?,
        most: *descending.get(fewest)?,
    })
}

/// Returns the greatest k for which at most k of n draws succeed with a probability of at most `limit`.
fn most_successes(n: usize, p: f64, limit: f64) -> Option<usize> {
    let mut sum = 0.0;
    let mut found = None;
    for (k, term) in terms(n, p).enumerate() {
        sum += term;
        if sum > limit {
            break;
        }
        found = Some(k);
    }
    found
}

/// Returns the chance p with which at most k of n draws succeed with this probability. The greater p, the smaller that is.
fn chance(n: usize, k: usize, probability: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        match terms(n, middle).take(k + 1).sum::<f64>() > probability {
            true => low = middle,
            false => high = middle,
        }
    }
    f64::midpoint(low, high)
}

/// Returns the probabilities of 0, 1, 2 … successes in n draws with chance p. They are computed as logarithms, since the first ones
/// may be too small for a number.
fn terms(n: usize, p: f64) -> impl Iterator<Item = f64> {
    let (n, odds) = (n as f64, (p / (1.0 - p)).ln());
    let first = n * (-p).ln_1p();
    let next = move |&(k, logarithm): &(f64, f64)| {
        (k < n).then(|| (k + 1.0, logarithm + ((n - k) / (k + 1.0)).ln() + odds))
    };
    std::iter::successors(Some((0.0, first)), next)
        .map(|(_, logarithm): (f64, f64)| logarithm.exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-3 * expected.max(1e-3), "{found}, not {expected}");
    }

    /// The values are those of published tables of the interval of Clopper and Pearson.
    #[test]
    fn intervals_are_those_of_tables() {
        for (count, of, lower, upper) in
            [(0, 10, 0.0, 0.3085), (1, 10, 0.002_529, 0.4450), (5, 10, 0.1871, 0.8129)]
        {
            let (least, most) = Share { count, of }.interval();
            assert_near(least, lower);
            assert_near(most, upper);
        }
        assert_eq!(Share { count: 10, of: 10 }.interval().1, 1.0);
        // The rule of three: what never happened in n draws has a chance of at most about 3.7 / n, in 97.5 % of all samples.
        assert_near(Share { count: 0, of: 100_000 }.interval().1, 3.689e-5);
    }

    #[test]
    fn shares_are_written_with_their_intervals() {
        let share = Share { count: 3, of: 100_000 };
        assert_eq!(share.to_string(), "3 of 100,000 draws: 0.0030 % (0.0006 % to 0.0088 %)");
        let share = Share { count: 500, of: 1000 };
        assert_eq!(share.to_string(), "500 of 1,000 draws: 50.00 % (46.85 % to 53.15 %)");
    }

    #[test]
    fn probabilities_add_up_to_one() {
        for (n, p) in [(1, 0.5), (30, 0.1), (100_000, 0.5), (100_000, 1e-5)] {
            assert_near(terms(n, p).sum(), 1.0);
        }
    }

    /// Of the numbers 1 to 1,000 a tenth is at least 901; the interval follows from the normal approximation 100 ± 1.96 · 9.49.
    #[test]
    fn a_quantile_lies_between_two_draws() {
        let sample: Vec<f64> = (1..=1000).rev().map(f64::from).collect();
        let found = exceeded_by(0.1, &sample).expect("the sample is large enough");
        assert_eq!(found.value, 901.0);
        assert!((880.0..=885.0).contains(&found.least), "{found:?}");
        assert!((918.0..=922.0).contains(&found.most), "{found:?}");
        assert_eq!(exceeded_by(0.001, &sample), None, "nothing bounds the worst of all draws");
        assert_eq!(exceeded_by(0.5, &[]), None);
    }

    /// The interval is wrong in at most one of twenty samples; a simple generator draws them.
    #[test]
    fn intervals_hold_what_they_promise() {
        let (mut state, mut wrong) = (1u64, 0);
        let mut draw = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        for _ in 0..1000 {
            let count = (0..200).filter(|_| draw() < 0.03).count();
            let (least, most) = Share { count, of: 200 }.interval();
            wrong += usize::from(!(least..=most).contains(&0.03));
        }
        assert!(wrong <= 50, "{wrong} of 1,000 intervals are wrong");
    }
}
