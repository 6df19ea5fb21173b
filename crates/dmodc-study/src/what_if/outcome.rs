//! What one fault does.

use std::cmp::Reverse;

use dmodc::judge::risk::{DirectedPort, Effect, LostPair, SeriesRisk};
use dmodc::{NodeIndex, PortNumber, SwitchIndex};

/// The risk of a series after a fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SeriesNumbers {
    /// How many permutations there are.
    pub permutations: u32,
    /// The sum of the greatest loads.
    pub sum: u64,
    /// The greatest of them.
    pub max: u32,
    /// The sum of the lower bounds.
    pub bound_sum: u64,
}

impl SeriesNumbers {
    /// Returns the mean of the greatest loads.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / f64::from(self.permutations.max(1))
    }

    /// Returns the mean of the lower bounds.
    pub fn mean_bound(&self) -> f64 {
        self.bound_sum as f64 / f64::from(self.permutations.max(1))
    }
}

impl From<&SeriesRisk> for SeriesNumbers {
    fn from(risk: &SeriesRisk) -> Self {
        let SeriesRisk { permutations, sum, max, bound_sum, .. } = *risk;
        SeriesNumbers { permutations, sum, max, bound_sum }
    }
}

/// What one fault does: the numbers after it, and what it moves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Node pairs that arrive.
    pub delivered: u64,
    /// Node pairs that live cables connect and the tables do not deliver.
    pub lost: u64,
    /// Node pairs that no live cables connect.
    pub cut_off: u64,
    /// The flows of all-to-all on the port with the most.
    pub a2a: u64,
    /// The lower bound of that.
    pub a2a_bound: u64,
    /// The port with the most flows of all-to-all.
    pub worst: Option<DirectedPort>,
    /// The risk of each series.
    pub series: Vec<SeriesNumbers>,
    /// Entries that change.
    pub entries: u64,
    /// Blocks of 64 entries with such an entry.
    pub blocks: u64,
    /// Switches with such an entry.
    pub switches: u64,
    /// Node pairs whose route changes.
    pub pairs: u64,
    /// The first pairs that are not delivered.
    pub undelivered: Vec<LostPair>,
}

impl Outcome {
    /// Takes the numbers of an effect.
    pub fn new(effect: &Effect) -> Self {
        let after = &effect.after;
        Outcome {
            delivered: after.delivery.delivered,
            lost: after.delivery.lost,
            cut_off: after.delivery.cut_off,
            a2a: after.all_to_all.max,
            a2a_bound: after.all_to_all.bound,
            worst: after.all_to_all.worst,
            series: after.series.iter().map(SeriesNumbers::from).collect(),
            entries: effect.changes.entries,
            blocks: effect.changes.blocks,
            switches: effect.changes.switches,
            pairs: effect.moved_pairs,
            undelivered: effect.undelivered.clone(),
        }
    }

    /// Returns the pairs that do not arrive.
    pub fn undelivered_pairs(&self) -> u64 {
        self.lost + self.cut_off
    }

    /// Returns what decides how harmful the fault is, the most important first: the fewer pairs arrive, the greater the harm.
    pub fn harm(&self) -> (Reverse<u64>, u64, Vec<SeriesNumbers>, u64) {
        (Reverse(self.delivered), self.a2a, self.series.clone(), self.entries)
    }

    /// Returns the outcome as a line of a journal: numbers, separated by blanks; then the series, then the pairs.
    pub(super) fn line(&self) -> String {
        let worst = self.worst.map_or("-".into(), |worst| {
            format!("{}/{}/{}", worst.switch.at(), worst.port.0, worst.peer.at())
        });
        let Outcome { lost, cut_off, a2a, a2a_bound, entries, blocks, switches, pairs, .. } = self;
        let mut line = format!(
            "{} {lost} {cut_off} {a2a} {a2a_bound} {entries} {blocks} {switches} {pairs} {worst}",
            self.delivered
        );
        for SeriesNumbers { permutations, sum, max, bound_sum } in &self.series {
            line += &format!(" {permutations}/{sum}/{max}/{bound_sum}");
        }
        for pair in &self.undelivered {
            line += &format!(" {}>{}", pair.from.at(), pair.to.at());
        }
        line
    }

    /// Reads a line of a journal; `None` if it is none.
    pub(super) fn read(line: &str) -> Option<Outcome> {
        let mut words = line.split(' ');
        let mut number = || words.next()?.parse::<u64>().ok();
        let mut outcome = Outcome {
            delivered: number()?,
            lost: number()?,
            cut_off: number()?,
            a2a: number()?,
            a2a_bound: number()?,
            entries: number()?,
            blocks: number()?,
            switches: number()?,
            pairs: number()?,
            ..Outcome::default()
        };
        let switch = |text: &str| Some(SwitchIndex::new(text.parse().ok()?));
        outcome.worst = match words.next()? {
            "-" => None,
            text => match text.split('/').collect::<Vec<_>>()[..] {
                [from, port, peer] => Some(DirectedPort {
                    switch: switch(from)?,
                    port: PortNumber(port.parse().ok()?),
                    peer: switch(peer)?,
                }),
                _ => return None,
            },
        };
        for word in words {
            if let Some((from, to)) = word.split_once('>') {
                let to = NodeIndex::new(to.parse().ok()?);
                outcome.undelivered.push(LostPair { from: switch(from)?, to });
                continue;
            }
            let [permutations, sum, max, bound_sum] = word.split('/').collect::<Vec<_>>()[..]
            else {
                return None;
            };
            outcome.series.push(SeriesNumbers {
                permutations: permutations.parse().ok()?,
                sum: sum.parse().ok()?,
                max: max.parse().ok()?,
                bound_sum: bound_sum.parse().ok()?,
            });
        }
        Some(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_written() {
        let mut outcome = Outcome { lost: 3, a2a: 77, entries: u64::MAX, ..Outcome::default() };
        assert_eq!(Outcome::read(&outcome.line()), Some(outcome.clone()));
        outcome.worst = Some(DirectedPort {
            switch: SwitchIndex::new(4),
            port: PortNumber(254),
            peer: SwitchIndex::new(9),
        });
        outcome.series = vec![SeriesNumbers { permutations: 3, sum: 9, max: 4, bound_sum: 3 }; 2];
        outcome.undelivered =
            vec![LostPair { from: SwitchIndex::new(1), to: NodeIndex::new(70_000) }];
        assert_eq!(Outcome::read(&outcome.line()), Some(outcome));
        for wrong in ["", "1 2 3", "1 2 3 4 5 6 7 8 9 9", "1 2 3 4 5 6 7 8 9 - 1/2/3", "a"] {
            assert_eq!(Outcome::read(wrong), None, "{wrong}");
        }
    }
}
