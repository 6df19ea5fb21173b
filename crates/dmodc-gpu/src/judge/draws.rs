//! Random permutations, bisections and shifts: which are drawn, and where they are stored. States with the same seed and the same number of nodes
//! share theirs.

use dmodc::judge::risk::{BISECTIONS, PERMUTATIONS, bisection, permutation, sampled_shifts};
use dmodc::{Random, parallel};

use super::pool::Pool;
use crate::buffer::bytes_of_u16s;

/// A kind of permutations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DrawKind {
    Permutations,
    Bisections,
    Shifts,
}

/// What is drawn: permutations of one kind and seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Draw {
    pub(super) kind: DrawKind,
    pub(super) seed: u64,
    pub(super) nodes: usize,
    pub(super) count: usize,
    /// Where the first destination is stored.
    first: usize,
}

impl Draw {
    /// Returns the words of the structure `Draw` of `kernels/shuffle.cu`.
    fn words(&self) -> [u32; 16] {
        let mut words = [0; 16];
        words[..8].copy_from_slice(&Random::key(self.seed));
        let is_bisection = self.kind == DrawKind::Bisections;
        let stream = if is_bisection { BISECTIONS } else { PERMUTATIONS };
        let halves = |number: u64| [number as u32, (number >> 32) as u32];
        words[8..10].copy_from_slice(&halves(stream));
        words[10..12].copy_from_slice(&[self.nodes as u32, u32::from(is_bisection)]);
        words[12..14].copy_from_slice(&halves(self.first as u64));
        words
    }

    /// Returns all destinations as bytes, drawn by the host.
    pub(super) fn on_host(&self) -> Vec<u8> {
        let shifts = match self.kind {
            DrawKind::Shifts => sampled_shifts(self.nodes, self.count, self.seed),
            _ => vec![],
        };
        let draw = |i: usize| match self.kind {
            DrawKind::Permutations => permutation(self.nodes, self.seed, i),
            DrawKind::Bisections => bisection(self.nodes, self.seed, i),
            DrawKind::Shifts => {
                let shift = shifts.get(i).copied().unwrap_or(0);
                (0..self.nodes).map(|from| ((from + shift) % self.nodes) as u32).collect()
            }
        };
        let all = parallel::map(0..self.count, draw);
        bytes_of_u16s(all.into_iter().flatten().map(|to| to as u16))
    }

    /// Returns where the first destination is stored, in bytes.
    pub(super) fn first_byte(&self) -> usize {
        2 * self.first
    }
}

/// The draws of one pattern for all states.
#[derive(Default)]
pub(super) struct PatternDraws {
    /// All that differ.
    pub(super) draws: Vec<Draw>,
    /// The number of the draw of each state.
    of_state: Vec<u32>,
}

/// Where the draws of a pattern are in the pool.
#[derive(Clone, Copy, Default)]
pub(super) struct DrawPlaces {
    pub(super) draw: u32,
    pub(super) draw_of: u32,
}

impl PatternDraws {
    /// Adds the draw of the next state. `end` is where the destinations of all draws so far end.
    pub(super) fn add(&mut self, draw: Draw, end: &mut usize) {
        let is_same = |known: &Draw| Draw { first: 0, ..*known } == draw;
        let number = self.draws.iter().position(is_same).unwrap_or_else(|| {
            self.draws.push(Draw { first: *end, ..draw });
            *end += draw.nodes * draw.count;
            self.draws.len() - 1
        });
        self.of_state.push(number as u32);
    }

    /// Adds the draws to a pool.
    pub(super) fn store(&self, pool: &mut Pool) -> DrawPlaces {
        DrawPlaces {
            draw: pool.add(self.draws.iter().map(Draw::words).collect::<Vec<_>>().as_flattened()),
            draw_of: pool.add(&self.of_state),
        }
    }
}

/// Returns what is drawn, with no place yet.
pub(super) fn draw(kind: DrawKind, count: usize, seed: u64, nodes: usize) -> Draw {
    Draw { kind, seed, nodes, count, first: 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_share_what_is_equal() {
        let (mut draws, mut end) = (PatternDraws::default(), 0);
        for (seed, nodes) in [(1, 5), (2, 5), (1, 5), (1, 4)] {
            draws.add(draw(DrawKind::Permutations, 3, seed, nodes), &mut end);
        }
        assert_eq!(draws.of_state, [0, 1, 0, 2]);
        assert_eq!(draws.draws.iter().map(Draw::first_byte).collect::<Vec<_>>(), [0, 30, 60]);
        assert_eq!(end, 15 + 15 + 12);
        assert_eq!(draws.draws[2].on_host().len(), 2 * 12);
    }
}
