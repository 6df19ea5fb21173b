//! Rates in a few numbers: of one step, and of a pattern of several steps.
//!
//! Sums are taken in the order of flows and steps, so that they do not depend on the number of threads.

/// The rates of the flows of one step, by pair.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepRates {
    /// The rate of each flow; none if it does not arrive or sends to itself. A message of length 1 that starts with the
    /// step has arrived after 1/rate.
    pub rates: Vec<Option<f64>>,
    /// Flows that do not arrive.
    pub undelivered: u64,
}

/// The rates of one step in a few numbers. All are 0 if no flow arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepSummary {
    /// The number of flows that arrive.
    pub flows: u64,
    /// Flows that do not arrive.
    pub undelivered: u64,
    /// The mean of the rates.
    pub mean: f64,
    /// Their first percentile, by nearest rank: 99 % of the flows are as fast as this or faster.
    pub p1: f64,
    /// The least rate.
    pub min: f64,
    /// When the last of equal messages has arrived.
    pub completion: f64,
    /// The mean of the times at which messages have arrived.
    pub mean_completion: f64,
}

impl StepRates {
    /// Returns the summary of all flows.
    pub fn summary(&self) -> StepSummary {
        self.summary_of(0..self.rates.len())
    }

    /// Returns the summary of some flows, by the index of their pairs, for example those of one job. Flows that do not
    /// arrive are counted for the whole step only.
    pub fn summary_of(&self, pairs: impl Iterator<Item = usize>) -> StepSummary {
        let mut rates: Vec<f64> = pairs.filter_map(|at| self.rates[at]).collect();
        if rates.is_empty() {
            return StepSummary { undelivered: self.undelivered, ..StepSummary::default() };
        }
        let count = rates.len() as f64;
        let mean = rates.iter().sum::<f64>() / count;
        let mean_completion = rates.iter().map(|rate| 1.0 / rate).sum::<f64>() / count;
        let min = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let rank = rates.len().div_ceil(100) - 1;
        let (_, &mut p1, _) = rates.select_nth_unstable_by(rank, f64::total_cmp);
        StepSummary {
            flows: rates.len() as u64,
            undelivered: self.undelivered,
            mean,
            p1,
            min,
            completion: 1.0 / min,
            mean_completion,
        }
    }
}

impl StepSummary {
    /// Returns the means of some summaries of the same flows in different company; the least of their least rates. Those
    /// in which no flow arrives count for nothing.
    pub fn average(summaries: &[StepSummary]) -> StepSummary {
        let used: Vec<&StepSummary> = summaries.iter().filter(|step| step.flows > 0).collect();
        let count = used.len().max(1) as f64;
        let mean =
            |of: fn(&StepSummary) -> f64| used.iter().fold(0.0, |sum, step| sum + of(step)) / count;
        StepSummary {
            flows: used.first().map_or(0, |step| step.flows),
            undelivered: summaries.first().map_or(0, |step| step.undelivered),
            mean: mean(|step| step.mean),
            p1: mean(|step| step.p1),
            min: used.iter().map(|step| step.min).reduce(f64::min).unwrap_or(0.0),
            completion: mean(|step| step.completion),
            mean_completion: mean(|step| step.mean_completion),
        }
    }
}

/// The rates of a pattern. A step in which no flow arrives counts for nothing but `undelivered`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PatternRates {
    /// The steps: one for a single pattern.
    pub steps: Vec<StepSummary>,
    /// Whether the steps are parts of one operation, one after the other. Otherwise they are independent.
    pub is_collective: bool,
}

impl PatternRates {
    /// Returns the mean over all steps of the mean rate. For random bisections, this is the effective bisection bandwidth.
    pub fn mean(&self) -> f64 {
        self.average(|step| step.mean)
    }

    /// Returns the mean over all steps of the first percentile.
    pub fn p1(&self) -> f64 {
        self.average(|step| step.p1)
    }

    /// Returns the least rate of all steps.
    pub fn min(&self) -> f64 {
        let least = self.used().map(|step| step.min).fold(f64::INFINITY, f64::min);
        if least.is_finite() { least } else { 0.0 }
    }

    /// Returns when the last message has arrived: for a collective operation the sum over its steps, each of which starts
    /// when the one before is over; otherwise the mean over independent steps.
    pub fn completion(&self) -> f64 {
        self.time(|step| step.completion)
    }

    /// Returns the mean time at which messages have arrived, summed or averaged in the same way.
    pub fn mean_completion(&self) -> f64 {
        self.time(|step| step.mean_completion)
    }

    /// Returns the number of flows that arrive, over all steps.
    pub fn flows(&self) -> u64 {
        self.steps.iter().map(|step| step.flows).sum()
    }

    /// Returns the number of flows that do not arrive, over all steps.
    pub fn undelivered(&self) -> u64 {
        self.steps.iter().map(|step| step.undelivered).sum()
    }

    fn used(&self) -> impl Iterator<Item = &StepSummary> {
        self.steps.iter().filter(|step| step.flows > 0)
    }

    fn average(&self, of: impl Fn(&StepSummary) -> f64) -> f64 {
        // The sum of no floating-point numbers would be -0.
        self.used().map(of).fold(0.0, |sum, value| sum + value) / self.used().count().max(1) as f64
    }

    fn time(&self, of: impl Fn(&StepSummary) -> f64) -> f64 {
        match self.is_collective {
            true => self.used().map(of).sum(),
            false => self.average(of),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_and_means_skip_flows_that_do_not_arrive() {
        let mut rates: Vec<Option<f64>> =
            (1..=200).rev().map(|i| Some(f64::from(i) / 200.0)).collect();
        rates.push(None);
        let step = StepRates { rates, undelivered: 1 };
        let all = step.summary();
        assert_eq!((all.flows, all.undelivered, all.min, all.p1), (200, 1, 0.005, 0.01));
        assert!((all.mean - 0.5025).abs() < 1e-12 && (all.completion - 200.0).abs() < 1e-9);
        let two = step.summary_of(0..2);
        assert_eq!((two.flows, two.min, two.p1), (2, 0.995, 0.995));
    }

    #[test]
    fn times_of_collective_steps_add_up() {
        let step = |flows, mean, completion| StepSummary {
            flows,
            mean,
            min: mean,
            completion,
            mean_completion: completion,
            ..StepSummary::default()
        };
        let steps = vec![step(2, 1.0, 1.0), step(0, 0.0, 0.0), step(2, 0.5, 2.0)];
        let collective = PatternRates { steps, is_collective: true };
        assert_eq!(
            (collective.mean(), collective.min(), collective.completion()),
            (0.75, 0.5, 3.0)
        );
        let apart = PatternRates { is_collective: false, ..collective };
        assert_eq!((apart.completion(), apart.mean_completion()), (1.5, 1.5));
        assert_eq!(PatternRates::default().min(), 0.0);
    }
}
