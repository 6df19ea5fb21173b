//! Dividers are changed one by one, as long as the ports are then loaded less.
//!
//! Level by level, each divider spreads what arrives at its level. But a port can be loaded by several switches at once. An example: 36
//! leaves with 8 nodes are cabled to 8 of 18 line chips each, at equal distances. Seen from each spine chip alone, several dividers spread
//! equally well; together, the spine chips send most flows over a few cables, and 1,384 flows of all-to-all meet on one of them. With
//! other dividers at two levels these are 376. So the flows over all ports are counted:
//!
//! ```text
//! load = the worst port of all-to-all · the mean of the worst ports of a sample of shifts
//! if no dividers can have less than those that were found level by level: keep them
//! repeat
//!     for each level and direction with a choice, up and then down; first its divider of groups, then that of ports:
//!         try Π (or eq. (4)) and all candidates in its place
//!         take the one with the least load, if that is less than before
//! until nothing changed, or too much was counted
//! if the load is at least a tenth less: these dividers; else those that were found level by level
//! ```
//!
//! Two details that these lines leave out. Dividers with which either factor is greater than at the beginning do not count: neither all-to-all nor shifts pay for the
//! other. Of equal loads, the one with the lesser sum of squares over all ports in all-to-all is less, so that the search does not
//! stop where several ports are the worst.

use super::MeasuredFabric;
use super::flows::{FlowCounter, LevelRules, Load, SHIFTS};
use crate::parallel;

/// How many steps are counted at the most, in all trials together. So a refinement takes about three seconds of one thread at the most.
const MOST_STEPS: usize = 1 << 30;

/// Returns how many trials there may be. In a trial, all-to-all takes a step for each switch and destination, and a shift one for each
/// destination and hop; a route over n levels has up to 2n hops.
pub(crate) fn most_trials(switches: usize, levels: usize, destinations: usize) -> usize {
    let of_destination = switches + SHIFTS * 2 * levels;
    MOST_STEPS / (of_destination * destinations).max(1)
}

/// Returns whether a refinement is worth other dividers.
pub(crate) fn is_worth_it(before: &Load, after: &Load) -> bool {
    10 * after.key().0 <= 9 * before.key().0
}

/// Refines the dividers of all levels.
pub(super) fn refine(
    fabric: &MeasuredFabric<'_>,
    candidates: &[u32],
    found: LevelRules,
) -> LevelRules {
    let mut trials = most_trials(
        fabric.groups.switch_count(),
        fabric.ranking.levels() as usize,
        fabric.destinations.len(),
    );
    if trials <= candidates.len() {
        return found;
    }
    let counter = FlowCounter::new(fabric);
    let Some(before) = counter.count(&found, &Load::GREATEST, &Load::GREATEST) else {
        return found;
    };
    if before.is_no_worse(&counter.lower_bound()) {
        return found;
    }
    let dividers: Vec<Option<u32>> =
        [None].into_iter().chain(candidates.iter().map(|c| Some(*c))).collect();
    let ranks = fabric.ranking.levels();
    let levels = (0..ranks).map(|rank| (rank, true)).chain((0..ranks).rev().map(|r| (r, false)));
    let places: Vec<Place> = levels
        .flat_map(|(rank, up)| {
            let choices = counter.choices(rank, up).into_iter().zip([false, true]);
            choices.filter(|(exists, _)| *exists).map(move |(_, of_ports)| Place {
                rank: rank as usize,
                up,
                of_ports,
            })
        })
        .collect();
    let (mut best, mut rules) = (before, found.clone());
    'rounds: loop {
        let at_first = best;
        for place in &places {
            if trials < dividers.len() {
                break 'rounds;
            }
            trials -= dividers.len();
            let loads = parallel::map(&dividers, |divider| {
                counter.count(&place.with(&rules, *divider), &before, &best)
            });
            let less = loads.into_iter().zip(&dividers).filter_map(|(load, d)| Some((load?, d)));
            if let Some((load, divider)) = less.min_by_key(|(load, _)| load.key()) {
                best = load;
                rules = place.with(&rules, *divider);
            }
        }
        if best == at_first {
            break;
        }
    }
    if is_worth_it(&before, &best) { rules } else { found }
}

/// A divider of a level.
struct Place {
    rank: usize,
    up: bool,
    of_ports: bool,
}

impl Place {
    /// Returns rules with another divider here.
    fn with(&self, rules: &LevelRules, divider: Option<u32>) -> LevelRules {
        let mut rules = rules.clone();
        let rule = &mut rules.of_mut(self.up)[self.rank];
        *(if self.of_ports { &mut rule.port } else { &mut rule.group }) = divider;
        rules
    }
}
