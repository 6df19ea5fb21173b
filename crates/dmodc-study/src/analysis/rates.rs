//! The fair rates of a pattern.

use dmodc::judge::rates::{FairRates, PatternRates};
use dmodc::judge::risk::{Traffic, recursive_doubling, ring};

use super::{Pattern, PatternFlows};

/// Why a pattern has no rates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{pattern} has {flows} flows at the same time, and rates are computed for at most {most} in memory; leave {pattern} out of the patterns, or choose fewer nodes",
    most = FairRates::MOST_FLOWS
)]
pub struct TooManyFlows {
    /// The pattern in the user's words.
    pub pattern: String,
    /// The number of its flows that send at the same time.
    pub flows: usize,
}

/// The steps of a pattern: lists of flows that send at the same time.
struct PatternSteps<'a> {
    count: usize,
    /// Whether the steps are parts of one operation, one after the other; otherwise they are independent.
    is_collective: bool,
    draw: Box<dyn Fn(usize) -> Vec<(u32, u32)> + Sync + 'a>,
}

impl Pattern {
    /// Checks that rates of this pattern among this number of nodes can be computed; `listed` is the number of its pairs if
    /// it is a list.
    ///
    /// # Errors
    /// If it has too many flows at the same time.
    pub fn check_rates(&self, nodes: usize, listed: usize) -> Result<(), TooManyFlows> {
        let flows = match self {
            Pattern::AllToAll => nodes.saturating_mul(nodes.saturating_sub(1)),
            _ => nodes.max(listed),
        };
        match flows <= FairRates::MOST_FLOWS {
            true => Ok(()),
            false => Err(TooManyFlows { pattern: self.to_string(), flows }),
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
    flows.pattern.check_rates(nodes, flows.pairs.len())?;
    let PatternSteps { count, is_collective, draw } = steps(fair.traffic(), flows, seed);
    Ok(PatternRates { steps: fair.steps(count, draw), is_collective })
}

fn steps<'a>(traffic: &'a Traffic<'_>, flows: &'a PatternFlows, seed: u64) -> PatternSteps<'a> {
    let nodes = traffic.nodes().len() as u32;
    match flows.pattern {
        Pattern::AllToAll => {
            let from_one =
                move |from| (0..nodes).filter(move |&to| to != from).map(move |to| (from, to));
            single(move || (0..nodes).flat_map(from_one).collect())
        }
        Pattern::OneToAll(_) | Pattern::AllToOne(_) | Pattern::File(_) => {
            single(|| flows.pairs.clone())
        }
        Pattern::Ring => single(move || ring(0..nodes)),
        Pattern::RecursiveDoubling => {
            let steps = recursive_doubling(0..nodes);
            PatternSteps {
                count: steps.len(),
                is_collective: true,
                draw: Box::new(move |i| steps[i].pairs.clone()),
            }
        }
        Pattern::Permutations(count) => independent(count, move |i| traffic.permutation(seed, i)),
        Pattern::Bisections(count) => independent(count, move |i| traffic.bisection(seed, i)),
        Pattern::Shifts(sample) => {
            let sample = traffic.shift_sample(sample.map(|count| (count, seed)));
            let shifts = sample.unwrap_or_else(|| (1..nodes as usize).collect());
            independent(shifts.len(), move |i| traffic.shift(shifts[i]))
        }
    }
}

/// Returns a pattern of one step.
fn single<'a>(flows: impl Fn() -> Vec<(u32, u32)> + Sync + 'a) -> PatternSteps<'a> {
    PatternSteps { count: 1, is_collective: false, draw: Box::new(move |_| flows()) }
}

/// Returns steps that do not depend on each other; `to` returns the destination of every position.
fn independent<'a>(count: usize, to: impl Fn(usize) -> Vec<u32> + Sync + 'a) -> PatternSteps<'a> {
    let draw = move |i: usize| (0u32..).zip(to(i)).collect();
    PatternSteps { count, is_collective: false, draw: Box::new(draw) }
}

#[cfg(test)]
mod tests {
    use dmodc::{Degradation, Dmodc, Live, Pgft, Routing};

    use super::*;

    /// On a healthy, full fat tree Dmodc leaves nobody waiting in shifts, and everybody shares its own cable in a2a.
    #[test]
    fn patterns_have_their_steps() {
        let fabric =
            "2; 4,4; 1,4; 1,1".parse::<Pgft>().expect("a tuple").fabric(Default::default());
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        let routing = Routing::new(live, &Default::default());
        let (tables, _) = routing.route(live, &Dmodc).expect("it fits");
        let traffic = Traffic::new(live, &routing.ranking(live), routing.orders(), &tables);
        let fair = FairRates::new(&fabric, &traffic);
        let of = |pattern: &str| {
            let pattern = pattern.parse().expect("a pattern");
            rates(&fair, &PatternFlows { pattern, pairs: Vec::new() }, 1).expect("few flows")
        };
        let (all, doubling, shifts) = (of("a2a"), of("recursive-doubling"), of("sp"));
        assert!((all.mean() - 1.0 / 15.0).abs() < 1e-12 && all.flows() == 240);
        assert_eq!((doubling.steps.len(), doubling.completion()), (4, 4.0), "times add up");
        assert_eq!((shifts.steps.len(), shifts.completion(), shifts.min()), (15, 1.0, 1.0));
        assert_eq!((of("ring").mean(), of("rp:3").steps.len()), (1.0, 3));
    }

    #[test]
    fn too_many_flows_are_refused() {
        assert_eq!(Pattern::AllToAll.check_rates(2048, 0), Ok(()));
        let error = Pattern::AllToAll.check_rates(2049, 0).expect_err("too many").to_string();
        assert!(error.starts_with("a2a has 4196352 flows at the same time"), "{error}");
        assert_eq!(Pattern::Shifts(None).check_rates(1_000_000, 0), Ok(()));
    }
}
