//! Dividers by level: what the engine `dmodc` uses in the place of Π where the ways of a fabric merge again.
//!
//! Π counts the ways from a leaf. In a PGFT that is right: on the way down there is one way only. In other fabrics
//! different ways merge in one switch, and a switch may have several ways down; there one divider for each level and
//! direction spreads the destinations better. How such dividers are found is in [`measured`](crate::measured). They are
//! found once for a fabric and kept with its [orders](crate::Orders): a fault never changes them.

use std::fmt;

/// How the switches of one level choose in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LevelRule {
    /// The divider of eq. (3): group ⌊d / divider⌋ mod #C. `None` keeps Π of each switch.
    pub group: Option<u32>,
    /// The divider of ports: port ⌊d / divider⌋ mod #ports. `None` keeps eq. (4), with the divider of groups in the place of Π.
    pub port: Option<u32>,
}

impl LevelRule {
    /// The paper: Π of each switch, in eqs. (3) and (4).
    pub const PAPER: LevelRule = LevelRule { group: None, port: None };
}

impl fmt::Display for LevelRule {
    /// Writes the divider of groups, and after a slash that of ports if there is one; `-` stands for Π.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.group {
            Some(group) => group.fmt(f)?,
            None => f.write_str("-")?,
        }
        match self.port {
            Some(port) => write!(f, "/{port}"),
            None => Ok(()),
        }
    }
}

/// A rule for each rank and direction. Ranks above the last one follow the paper.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LevelDividers {
    up: Vec<LevelRule>,
    down: Vec<LevelRule>,
}

impl LevelDividers {
    /// Takes the rules of all ranks, rank 0 first.
    ///
    /// # Panics
    /// If a divider is 0.
    pub fn new(up: Vec<LevelRule>, down: Vec<LevelRule>) -> Self {
        let is_zero = |rule: &LevelRule| rule.group == Some(0) || rule.port == Some(0);
        assert!(!up.iter().chain(&down).any(is_zero), "nothing is divided by 0");
        // What the paper says anyway need not be listed, so that equal rules are equal lists.
        let trimmed = |mut rules: Vec<LevelRule>| {
            while rules.last() == Some(&LevelRule::PAPER) {
                rules.pop();
            }
            rules
        };
        LevelDividers { up: trimmed(up), down: trimmed(down) }
    }

    /// Returns whether all levels follow the paper.
    pub fn are_the_papers(&self) -> bool {
        self.up.is_empty() && self.down.is_empty()
    }

    /// Returns the rule of a rank for routes that go up (`true`) or down. A switch without a rank follows the paper.
    #[inline]
    pub fn rule(&self, rank: Option<u32>, up: bool) -> LevelRule {
        let rules = if up { &self.up } else { &self.down };
        rank.and_then(|rank| rules.get(rank as usize)).copied().unwrap_or_default()
    }

    /// Returns whether two ranks have the same rules in both directions.
    pub(crate) fn are_alike(&self, a: Option<u32>, b: Option<u32>) -> bool {
        [true, false].into_iter().all(|up| self.rule(a, up) == self.rule(b, up))
    }

    /// Returns the rules for going up, rank 0 first.
    pub fn up(&self) -> &[LevelRule] {
        &self.up
    }

    /// Returns the rules for going down, rank 0 first.
    pub fn down(&self) -> &[LevelRule] {
        &self.down
    }
}

impl fmt::Display for LevelDividers {
    /// Writes the rules of both directions, rank 0 first: `up - - 1 down - - 1 8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("up")?;
        self.up.iter().try_for_each(|rule| write!(f, " {rule}"))?;
        f.write_str(" down")?;
        self.down.iter().try_for_each(|rule| write!(f, " {rule}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_looked_up_by_rank_and_written_in_a_line() {
        let by = |group| LevelRule { group: Some(group), port: None };
        let down = vec![
            LevelRule::PAPER,
            LevelRule { port: Some(2), ..by(8) },
            LevelRule { group: None, port: Some(3) },
        ];
        let levels =
            LevelDividers::new(vec![LevelRule::PAPER, by(4), LevelRule::PAPER], down.clone());
        assert_eq!(levels.to_string(), "up - 4 down - 8/2 -/3");
        assert_eq!(levels.rule(Some(1), true), by(4));
        assert_eq!(levels.rule(Some(2), false), down[2]);
        for rank in [None, Some(0), Some(9)] {
            assert_eq!(levels.rule(rank, true), LevelRule::PAPER);
        }
        assert!(levels.are_alike(Some(0), Some(3)) && !levels.are_alike(Some(0), Some(1)));
        assert!(LevelDividers::new(vec![LevelRule::PAPER; 3], vec![]).are_the_papers());
    }
}
