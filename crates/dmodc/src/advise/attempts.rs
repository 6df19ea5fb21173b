//! Many changes that start from the same state, tried on all threads.

use super::risk::StatePatterns;
use super::what_if::Present;
use crate::judge::risk::Tally;
use crate::parallel;
use crate::route::RouteError;
use crate::router::Change;

/// How advice is computed.
#[derive(Clone, Copy)]
pub struct Advice<'a> {
    /// The series of permutations that states are judged by.
    pub patterns: StatePatterns,
    /// The greatest number of states that an exact search judges.
    pub most_states: usize,
    /// This is called for each state that was judged, by any thread.
    pub on_state: &'a (dyn Fn() + Sync),
}

impl Default for Advice<'_> {
    /// Returns exact searches of up to 4,096 states.
    fn default() -> Self {
        Advice { patterns: StatePatterns::default(), most_states: 4096, on_state: &|| () }
    }
}

impl Advice<'_> {
    /// Returns the judgement after each of these changes, each tried from the present state.
    pub(super) fn attempts(
        &self,
        present: &Present<'_>,
        changes: &[Vec<Change>],
    ) -> Result<Vec<Tally>, RouteError> {
        let attempt = |what_if: &mut super::what_if::WhatIf<'_>, changes: &Vec<Change>| {
            let effect = what_if.attempt(changes);
            (self.on_state)();
            effect.map(|effect| effect.after)
        };
        let tallies = parallel::map_with(changes, || present.what_if(), attempt);
        tallies.into_iter().collect()
    }
}
