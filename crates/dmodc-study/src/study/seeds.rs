//! The seeds of a study: all follow from one.

use dmodc::Random;

use super::plan::StudyPlan;
use crate::analysis::Pattern;

/// Seeds are below this number, because every tool can read such numbers exactly.
const SEEDS: u64 = 1 << 53;

/// Streams of the study's seed: one for each trial, from this one on.
const TRIALS: u64 = 1 << 40;

/// The stream of the study's seed for engines that draw.
const ENGINES: u64 = 2 << 40;

/// Streams of a trial's seed, other than those from which faults are drawn.
const PERMUTATIONS: u64 = 16;
const SHIFTS: u64 = 17;
const BISECTIONS: u64 = 18;

/// Returns the seed of an engine that draws. There is one for the whole study, so that an update moves no entries only
/// because of another seed.
pub(super) fn engine_seed(plan: &StudyPlan) -> u64 {
    Random::new(plan.seed, ENGINES).below(SEEDS)
}

/// Returns the seed of a trial.
pub(super) fn trial_seed(plan: &StudyPlan, trial: u32) -> u64 {
    Random::new(plan.seed, TRIALS + u64::from(trial)).below(SEEDS)
}

/// A pattern of a trial, with its seed; `None` if the pattern is not drawn.
#[derive(Clone, Debug)]
pub(super) struct SeededPattern<'a> {
    pub(super) pattern: &'a Pattern,
    pub(super) seed: Option<u64>,
}

/// Returns the patterns of a plan with their seeds in a trial.
pub(super) fn seeded(plan: &StudyPlan, trial_seed: u64) -> Vec<SeededPattern<'_>> {
    let seeded = |pattern| SeededPattern { pattern, seed: pattern_seed(trial_seed, pattern) };
    plan.patterns.iter().map(seeded).collect()
}

fn pattern_seed(trial_seed: u64, pattern: &Pattern) -> Option<u64> {
    let stream = match pattern {
        Pattern::Permutations(_) | Pattern::Incast(_) => PERMUTATIONS,
        Pattern::Shifts(Some(_)) => SHIFTS,
        Pattern::Bisections(_) => BISECTIONS,
        _ => return None,
    };
    Some(Random::new(trial_seed, stream).below(SEEDS))
}
