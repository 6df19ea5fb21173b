//! In which round each entry is written: in as few rounds as the needs allow, and with few writes.
//!
//! The number of rounds is that of the longest chain of needs. An entry has a *window*: the rounds from the earliest to
//! the latest in which it can be written. A block is written once for each round that its entries are in. Entries of
//! one block never need each other (a need is between two switches). So if all other blocks stay in their rounds, the
//! fewest writes of a block are the fewest rounds that meet the windows of all its entries; this is the problem of
//! stabbing intervals with points, which the greedy method solves. Block after block is arranged in this way, from both
//! ends of the time, until nothing improves; no step makes anything worse. Finding the fewest writes of all blocks
//! together would be a covering problem without a quick solution.
//!
//! Example: three entries of one block have the windows 1–2, 2–3 and 3–4. From the late end, round 2 meets the first
//! two windows and round 4 the third: the block is written twice.

use super::needs::OrderedEntry;

/// Lists of numbers, stored one after the other.
struct Lists {
    starts: Vec<u32>,
    numbers: Vec<u32>,
}

impl Lists {
    /// Lists the second numbers of these pairs by the first.
    fn new(count: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0u32; count + 1];
        for (of, _) in pairs.clone() {
            starts[of as usize + 1] += 1;
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let mut numbers = vec![0; starts[count] as usize];
        let mut places = starts.clone();
        for (of, number) in pairs {
            let place = &mut places[of as usize];
            numbers[*place as usize] = number;
            *place += 1;
        }
        Lists { starts, numbers }
    }

    fn of(&self, at: usize) -> &[u32] {
        &self.numbers[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

/// The entries that need an order, and the needs of each.
pub(super) struct Schedule<'a> {
    entries: &'a [OrderedEntry],
    before: Lists,
    after: Lists,
    /// All entries, each after those that it needs.
    sorted: Vec<u32>,
    /// The entries of each block.
    blocks: Vec<Vec<u32>>,
    /// The number of rounds.
    rounds: u32,
}

/// The end of the time from which windows are met.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WindowEnd {
    Early,
    Late,
}

/// Passes over all blocks from each start. The first two or three of them bring nearly all of the gain.
const PASSES: usize = 8;

impl<'a> Schedule<'a> {
    /// Of each of the `edges`, the first entry is written before the second. `block` is the block that each column is
    /// in. There are `rounds` rounds, or more if that is too few.
    pub(super) fn new(
        entries: &'a [OrderedEntry],
        edges: &[(u32, u32)],
        block: &[u32],
        rounds: u32,
    ) -> Self {
        let count = entries.len();
        let before = Lists::new(count, edges.iter().map(|&(first, then)| (then, first)));
        let after = Lists::new(count, edges.iter().copied());
        let mut waiting: Vec<usize> = (0..count).map(|e| before.of(e).len()).collect();
        let mut sorted: Vec<u32> =
            (0..count as u32).filter(|&e| waiting[e as usize] == 0).collect();
        let mut at = 0;
        while let Some(&e) = sorted.get(at) {
            for &then in after.of(e as usize) {
                waiting[then as usize] -= 1;
                if waiting[then as usize] == 0 {
                    sorted.push(then);
                }
            }
            at += 1;
        }
        assert_eq!(sorted.len(), count, "the three rules never make a circle");
        let key = |&e: &u32| {
            let OrderedEntry { switch, column, .. } = entries[e as usize];
            (switch, block[column as usize])
        };
        let mut by_block: Vec<u32> = (0..count as u32).collect();
        by_block.sort_by_key(key);
        let blocks = by_block.chunk_by(|a, b| key(a) == key(b)).map(<[u32]>::to_vec).collect();
        let mut schedule = Schedule { entries, before, after, sorted, blocks, rounds: 1 };
        let needed = schedule.earliest(&vec![1; count]).into_iter().max().unwrap_or(1);
        schedule.rounds = rounds.max(needed);
        schedule
    }

    /// Returns the first round that each entry can be written in, if none is written before its floor.
    fn earliest(&self, floor: &[u32]) -> Vec<u32> {
        let mut rounds = floor.to_vec();
        for &e in &self.sorted {
            let e = e as usize;
            rounds[e] = rounds[e].max(self.since(e, &rounds));
        }
        rounds
    }

    /// Returns the last round that each entry can be written in.
    fn latest(&self) -> Vec<u32> {
        let mut rounds = vec![self.rounds; self.entries.len()];
        for &e in self.sorted.iter().rev() {
            let e = e as usize;
            rounds[e] = self.until(e, &rounds);
        }
        rounds
    }

    /// Returns the first round after everything that an entry needs.
    fn since(&self, e: usize, rounds: &[u32]) -> u32 {
        self.before.of(e).iter().map(|&b| rounds[b as usize] + 1).max().unwrap_or(1)
    }

    /// Returns the last round before everything that needs an entry.
    fn until(&self, e: usize, rounds: &[u32]) -> u32 {
        self.after.of(e).iter().map(|&a| rounds[a as usize] - 1).min().unwrap_or(self.rounds)
    }

    /// Returns the round of each entry.
    pub(super) fn arrange(&self) -> Vec<u32> {
        let latest = self.latest();
        let floor = |(entry, &latest): (&OrderedEntry, &u32)| if entry.late { latest } else { 1 };
        let floors: Vec<u32> = self.entries.iter().zip(&latest).map(floor).collect();
        let earliest = self.earliest(&floors);
        // Where there are two rounds, as after most faults, nothing has room.
        let mut rounds = match earliest == latest {
            true => latest,
            false => self.better(earliest, latest),
        };
        self.close_ranks(&mut rounds);
        rounds
    }

    /// Returns the arrangement with fewer writes: improved from the earliest rounds, or from the latest.
    fn better(&self, earliest: Vec<u32>, latest: Vec<u32>) -> Vec<u32> {
        let early = self.improve(earliest, [WindowEnd::Early, WindowEnd::Late]);
        if self.writes(&early) == self.blocks.len() {
            return early;
        }
        let late = self.improve(latest, [WindowEnd::Late, WindowEnd::Early]);
        if self.writes(&late) < self.writes(&early) { late } else { early }
    }

    /// Arranges block after block until nothing improves, and returns the best arrangement.
    fn improve(&self, mut rounds: Vec<u32>, sides: [WindowEnd; 2]) -> Vec<u32> {
        let mut best = (self.writes(&rounds), rounds.clone());
        for two in 0..PASSES / 2 {
            let before = best.0;
            for side in sides {
                // No block can be written less than once.
                if best.0 == self.blocks.len() {
                    return best.1;
                }
                for block in &self.blocks {
                    self.gather(block, side, &mut rounds);
                }
                let writes = self.writes(&rounds);
                if writes < best.0 {
                    best = (writes, rounds.clone());
                }
            }
            // The first passes only make room.
            if two > 0 && best.0 == before {
                break;
            }
        }
        best.1
    }

    /// Arranges one block so that it is written as seldom as the rounds of all others allow.
    fn gather(&self, block: &[u32], side: WindowEnd, rounds: &mut [u32]) {
        let window = |&e: &u32| {
            let e = e as usize;
            match self.entries[e].late {
                true => (rounds[e], rounds[e], e),
                false => (self.since(e, rounds), self.until(e, rounds), e),
            }
        };
        let mut windows: Vec<(u32, u32, usize)> = block.iter().map(window).collect();
        let mut round = 0;
        match side {
            // From the window that closes first: it is met as late as it can be.
            WindowEnd::Late => {
                windows.sort_unstable_by_key(|&(_, until, e)| (until, e));
                for (since, until, e) in windows {
                    if round < since {
                        round = until;
                    }
                    rounds[e] = round;
                }
            }
            WindowEnd::Early => {
                windows.sort_unstable_by_key(|&(since, _, e)| (std::cmp::Reverse(since), e));
                round = u32::MAX;
                for (since, until, e) in windows {
                    if round > until {
                        round = since;
                    }
                    rounds[e] = round;
                }
            }
        }
    }

    /// Leaves out rounds in which nothing is written.
    fn close_ranks(&self, rounds: &mut [u32]) {
        let mut number = vec![0; self.rounds as usize + 1];
        for &round in rounds.iter() {
            number[round as usize] = 1;
        }
        for round in 1..number.len() {
            number[round] += number[round - 1];
        }
        for round in rounds {
            *round = number[*round as usize];
        }
    }

    /// Returns how often blocks are written.
    fn writes(&self, rounds: &[u32]) -> usize {
        let mut of_block: Vec<u32> = vec![];
        let mut writes = 0;
        for block in &self.blocks {
            of_block.clear();
            of_block.extend(block.iter().map(|&e| rounds[e as usize]));
            of_block.sort_unstable();
            of_block.dedup();
            writes += of_block.len();
        }
        writes
    }
}
