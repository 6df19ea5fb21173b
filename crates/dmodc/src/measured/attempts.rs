//! The choice among dividers that spread a level equally well: the one that lets the levels after it be spread best.
//!
//! In a regular fabric, several dividers often spread a level perfectly, but fix different digits of d. An example: 64 cores above 8
//! pods go down by ⌊d/1⌋ mod 4 or by ⌊d/8⌋ mod 4, and both are even. The switches below the cores choose among 4 as well. After the
//! first choice, the digit that is left to them is the one that the leaves of a pod share; after the second choice, it is that of the nodes
//! on a leaf. So several *attempts* are followed from level to level, and the one with the least excess in all wins.
//!
//! ```text
//! attempts = one: all destinations at all leaves, no rule, excess 0
//! for each level, up and then down:
//!     next = for each attempt, for each divider that spreads the level best: (attempt, divider, excess with this level)
//!     next in the order of the excess; equal ones as they were found; 2 · WIDTH at most
//!     attempts = the first of them that lead to different sets of destinations at the switches, WIDTH at most; of those that lead to
//!                the same sets, the one with the least excess
//! the rules of the attempt with the least excess; the first of equal ones
//! ```
//!
//! One departure: a single attempt is followed first, which takes the best divider of each level, and the smallest of equal ones. If nothing
//! is in excess, no other one is better. (It is the first of equal ones, too.)

use super::MeasuredFabric;
use super::destinations::DestinationSets;
use super::flows::LevelRules;
use super::level::LevelMeasure;
use crate::level_dividers::LevelRule;

/// How many attempts are followed at the same time.
pub(crate) const WIDTH: usize = 8;

/// How many continuations are tried for each attempt that may be kept. Some lead to the same sets.
pub(crate) const TRIED_FOR_EACH: usize = 2;

/// The most memory for the sets of all attempts. In large fabrics fewer of them are followed.
const MOST_BYTES: usize = 256 << 20;

/// Returns how many attempts are followed if the sets of each have this number of bytes.
pub(crate) fn width(bytes: usize) -> usize {
    (MOST_BYTES / bytes.max(1)).clamp(1, WIDTH)
}

/// The rules of the levels so far.
#[derive(Clone)]
struct Attempt {
    reach: DestinationSets,
    rules: Vec<LevelRule>,
    excess: u64,
}

/// Returns the rules of all levels.
pub(super) fn measure(fabric: &MeasuredFabric<'_>, candidates: &[u32]) -> LevelRules {
    let ranks = fabric.ranking.levels();
    let levels: Vec<LevelMeasure<'_>> = (0..ranks)
        .map(|rank| (rank, true))
        .chain((0..ranks).rev().map(|rank| (rank, false)))
        .map(|(rank, up)| LevelMeasure::new(fabric, candidates, rank, up))
        .collect();
    let reach = DestinationSets::new(&fabric.destinations, fabric.groups.switch_count());
    let first = Attempt { reach, rules: vec![], excess: 0 };
    let width = width(first.reach.bytes());
    let mut best = follow(&levels, first.clone(), 1);
    if best.excess > 0 && width > 1 {
        best = follow(&levels, first, width);
    }
    let mut rules = best.rules;
    let mut down = rules.split_off(ranks as usize);
    down.reverse();
    LevelRules { up: rules, down }
}

/// Follows at most `width` attempts through all levels, and returns the best.
fn follow(levels: &[LevelMeasure<'_>], first: Attempt, width: usize) -> Attempt {
    let mut attempts = vec![first];
    for level in levels {
        let mut next = vec![];
        for attempt in &attempts {
            let best = level.best(&attempt.reach);
            let excess = attempt.excess + best.excess;
            next.extend(best.dividers.into_iter().map(|divider| (excess, attempt, divider)));
        }
        next.sort_by_key(|(excess, ..)| *excess);
        next.truncate(TRIED_FOR_EACH * width);
        let mut kept: Vec<Attempt> = vec![];
        for (excess, before, divider) in next {
            let mut reach = before.reach.clone();
            let followed = level.follow(divider, &mut reach);
            let mut rules = before.rules.clone();
            rules.push(followed.rule);
            let attempt = Attempt { reach, rules, excess: excess + followed.excess };
            match kept.iter().position(|other| other.reach == attempt.reach) {
                Some(at) if attempt.excess < kept[at].excess => kept[at] = attempt,
                None if kept.len() < width => kept.push(attempt),
                _ => {}
            }
        }
        attempts = kept;
    }
    let best = attempts.into_iter().min_by_key(|attempt| attempt.excess);
    best.expect("some attempt is always kept")
}
