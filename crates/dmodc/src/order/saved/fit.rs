//! Residues that fit: which numbers a newcomer may take so that ports stay equally loaded.
//!
//! For each rank, numbers that are equal modulo the modulus of that rank take the same ports up to that rank
//! ([`Residues`](crate::order::residues::Residues)). [`ResidueCosts`] counts for each residue how many nodes of the same
//! subtree have it. A newcomer takes a residue that the fewest have: first of its leaf, then of its pod, and so on.

use std::cmp::Ordering;

use super::newcomers::{Newcomers, NumberedPort};
use crate::id::{PortNumber, SwitchIndex};

/// What speaks against each residue at one rank, for a new place.
struct ResidueCosts {
    /// The number of different residues.
    modulus: u32,
    /// How many nodes of the same subtree have each residue.
    uses: Vec<usize>,
    /// How many places there have each residue and never had a node.
    kept_free: Vec<usize>,
    /// For each residue, with how many others that have it the place is in the same run of neighbours, on average over
    /// all runs that are as long as the number of places of the subtree. (A shift sends the nodes of a subtree to such a
    /// run.)
    meetings: Vec<f64>,
}

impl Newcomers<'_> {
    /// Returns the start of a block of numbers, perhaps in use, that takes the ports that the fewest nodes of the pod of a
    /// new leaf use. Of equally good ones it is the first from `ideal` on.
    pub(super) fn fitting_start(&self, at: usize, length: u32, ideal: u32) -> u32 {
        let none = PortNumber(0);
        let levels: Vec<ResidueCosts> = self
            .residues
            .by_rank
            .iter()
            .zip(&self.subtrees)
            .skip(1)
            .map(|(&modulus, subtrees)| self.residue_costs(at, none, modulus, subtrees))
            .collect();
        let key = |start: u32| {
            let sum = |level: &ResidueCosts| {
                let residues =
                    (start..start + length).map(|number| (number % level.modulus) as usize);
                let uses =
                    residues.clone().map(|residue| level.uses[residue] + level.kept_free[residue]);
                let meetings = residues.map(|residue| level.meetings[residue]);
                (uses.sum::<usize>(), meetings.sum::<f64>())
            };
            levels.iter().map(sum).collect::<Vec<(usize, f64)>>()
        };
        let mut best = (ideal, key(ideal));
        for start in ideal + 1..ideal + self.residues.period {
            let key = key(start);
            if key.partial_cmp(&best.1) == Some(Ordering::Less) {
                best = (start, key);
            }
        }
        best.0
    }

    /// Returns whether no residue is used by fewer nodes of a leaf than that of this number.
    pub(super) fn is_least_used(&self, at: usize, number: u32) -> bool {
        let round = self.residues.round;
        let mut uses = vec![0; round as usize];
        for NumberedPort { number, .. } in
            self.books[at].iter().filter(|entry| !self.never_used.contains(&entry.number))
        {
            uses[(number % round) as usize] += 1;
        }
        uses.iter().min() == uses.get((number % round) as usize)
    }

    /// Returns a number, perhaps in use, that takes the ports that fit a new place on a leaf best.
    pub(super) fn fitting_residue(&self, at: usize, port: PortNumber) -> u32 {
        let first = self.books[at].first().map_or(0, |entry| entry.number);
        let levels: Vec<ResidueCosts> = self
            .residues
            .by_rank
            .iter()
            .zip(&self.subtrees)
            .map(|(&modulus, subtrees)| self.residue_costs(at, port, modulus, subtrees))
            .collect();
        let key = |number: u32| {
            let at = |level: &ResidueCosts| (number % level.modulus) as usize;
            let uses: Vec<usize> = levels.iter().map(|level| level.uses[at(level)]).collect();
            let kept_free = levels.first().map_or(0, |leaf| leaf.kept_free[at(leaf)]);
            let meetings: f64 = levels.iter().map(|level| level.meetings[at(level)]).sum();
            (uses, kept_free, meetings)
        };
        let mut best = (first, key(first));
        for number in first + 1..first + self.residues.period {
            let key = key(number);
            // Of equal ones the first.
            if key.partial_cmp(&best.1) == Some(Ordering::Less) {
                best = (number, key);
            }
        }
        best.0
    }

    /// Returns what speaks against each residue at the rank of this modulus.
    fn residue_costs(
        &self,
        at: usize,
        port: PortNumber,
        modulus: u32,
        subtrees: &[SwitchIndex],
    ) -> ResidueCosts {
        let none = vec![0; modulus as usize];
        let mut level = ResidueCosts {
            modulus,
            uses: none.clone(),
            kept_free: none,
            meetings: vec![0.0; modulus as usize],
        };
        let mut run = 0;
        let inside =
            self.books.iter().zip(subtrees).filter(|(_, subtree)| **subtree == subtrees[at]);
        for NumberedPort { number, .. } in inside.flat_map(|(book, _)| book) {
            let list = if self.never_used.contains(number) {
                &mut level.kept_free
            } else {
                &mut level.uses
            };
            list[(number % modulus) as usize] += 1;
            run += 1;
        }
        let book = &self.books[at];
        let split = book.partition_point(|entry| entry.port < port);
        let below = self.books[..at].iter().flatten().chain(&book[..split]).rev();
        let above = book[split..].iter().chain(self.books[at + 1..].iter().flatten());
        for (hops, NumberedPort { number, .. }) in
            below.take(run).enumerate().chain(above.take(run).enumerate())
        {
            level.meetings[(number % modulus) as usize] += (run - hops) as f64 / run as f64;
        }
        level
    }
}
