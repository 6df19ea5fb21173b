//! The fair rates of a pattern.

use dmodc::judge::rates::{FairRates, PatternRates};

use super::PatternFlows;
use super::steps::PatternSteps;

/// Why a pattern has no rates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{pattern} has {flows} flows at the same time, and rates are computed for at most {most} in memory; leave it out, or choose fewer nodes",
    most = FairRates::MOST_FLOWS
)]
pub struct TooManyFlows {
    /// The pattern in the user's words.
    pub pattern: String,
    /// The number of its flows that send at the same time.
    pub flows: usize,
}

impl PatternFlows {
    /// Checks that rates of this pattern among this number of nodes can be computed.
    ///
    /// # Errors
    /// If it has too many flows at the same time.
    pub fn check_rates(&self, nodes: usize) -> Result<(), TooManyFlows> {
        let flows = self.most_flows(nodes);
        match flows <= FairRates::MOST_FLOWS {
            true => Ok(()),
            false => Err(TooManyFlows { pattern: self.pattern.to_string(), flows }),
        }
    }
}

/// Returns the rates of a pattern, step by step.
///
/// # Errors
/// If too many flows send at the same time.
pub fn rates(
    fair: &FairRates<'_>,
    flows: &PatternFlows,
    seed: u64,
) -> Result<PatternRates, TooManyFlows> {
    let nodes = fair.traffic().nodes().len();
    flows.check_rates(nodes)?;
    let steps = PatternSteps::new(fair.traffic(), flows, seed);
    let found = fair.steps(steps.count, &steps.draw).into_iter().enumerate();
    let timed = found.map(|(at, step)| steps.timed(at, step)).collect();
    Ok(PatternRates { steps: timed, is_collective: steps.is_operation })
}

#[cfg(test)]
mod tests {
    use super::super::Pattern;
    use super::super::steps::test_fabric::routed;
    use super::*;

    /// On a healthy, full fat tree Dmodc leaves nobody waiting in shifts, and everybody shares its own cable in a2a.
    #[test]
    fn patterns_have_their_steps() {
        routed("2; 4,4; 1,4; 1,1", |live, fair| {
            let of = |pattern: &str| {
                let pattern: Pattern = pattern.parse().expect("a pattern");
                let flows =
                    PatternFlows::new(live, fair.traffic().nodes(), &pattern).expect("it fits");
                rates(fair, &flows, 1).expect("few flows")
            };
            let (all, doubling, shifts) = (of("a2a"), of("recursive-doubling"), of("sp"));
            assert!((all.mean() - 1.0 / 15.0).abs() < 1e-12 && all.flows() == 240);
            assert_eq!((doubling.steps.len(), doubling.completion()), (4, 4.0), "times add up");
            assert_eq!((shifts.steps.len(), shifts.completion(), shifts.min()), (15, 1.0, 1.0));
            assert_eq!((of("ring").mean(), of("rp:3").steps.len()), (1.0, 3));
            let halving = of("halving");
            assert_eq!((halving.steps.len(), halving.completion()), (4, 1.0 - 1.0 / 16.0));
            assert_eq!(of("a2a:phases").completion(), 15.0);
            assert_eq!(of("a2a:phases:15").completion(), 15.0, "all at once is no faster here");
        });
    }

    #[test]
    fn too_many_flows_are_refused() {
        let of = |pattern: Pattern| PatternFlows { pattern, pairs: Vec::new(), jobs: Vec::new() };
        assert_eq!(of(Pattern::AllToAll).check_rates(2048), Ok(()));
        let error = of(Pattern::AllToAll).check_rates(2049).expect_err("too many").to_string();
        assert!(error.starts_with("a2a has 4196352 flows at the same time"), "{error}");
        assert_eq!(of(Pattern::Shifts(None)).check_rates(1_000_000), Ok(()));
    }
}
