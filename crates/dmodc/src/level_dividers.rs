//! Dividers by level: what the engine `dmodc` uses in the place of Π where the ways of a fabric merge again.
//!
//! Π counts the ways from a leaf. In a PGFT that is right: on the way down there is one way only. In other fabrics
//! different ways merge in one switch, and a switch may have several ways down; there one divider for each level and
//! direction spreads the destinations better. How such dividers are found is in [`measured`](crate::measured). They are
//! found once for a fabric and kept with its [orders](crate::Orders): a fault never changes them.

use std::fmt;

use crate::rank::RankAmong;

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
    /// How many ranks there were, if ranks are counted from roots.
    levels_from_root: Option<u32>,
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
        LevelDividers { up: trimmed(up), down: trimmed(down), levels_from_root: None }
    }

    /// Notes that ranks are counted from roots, and that there are this many. A fault can make the longest way from the
    /// root longer or shorter, and then all ranks change; the levels keep their distance from the root.
    pub fn counted_from_root(self, levels: u32) -> Self {
        let levels_from_root = (!self.are_the_papers()).then_some(levels);
        LevelDividers { levels_from_root, ..self }
    }

    /// Returns how many ranks there were, if ranks are counted from roots.
    pub fn levels_from_root(&self) -> Option<u32> {
        self.levels_from_root
    }

    /// Returns whether all levels follow the paper.
    pub fn are_the_papers(&self) -> bool {
        self.up.is_empty() && self.down.is_empty()
    }

    /// Returns the rule of a rank for routes that go up (`true`) or down. A switch without a rank follows the paper.
    #[inline]
    pub(crate) fn rule(&self, RankAmong { rank, levels }: RankAmong, up: bool) -> LevelRule {
        let rules = if up { &self.up } else { &self.down };
        let then = match self.levels_from_root {
            Some(then) => rank.and_then(|rank| rank.checked_add(then)?.checked_sub(levels)),
            None => rank,
        };
        then.and_then(|rank| rules.get(rank as usize)).copied().unwrap_or_default()
    }

    /// Returns whether two ranks have the same rules in both directions.
    pub(crate) fn are_alike(&self, a: RankAmong, b: RankAmong) -> bool {
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
    /// Writes the rules of both directions, rank 0 first: `up - - 1 down - - 1 8`, and ` from root 5` after it if ranks
    /// are counted from roots and there are 5.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("up")?;
        self.up.iter().try_for_each(|rule| write!(f, " {rule}"))?;
        f.write_str(" down")?;
        self.down.iter().try_for_each(|rule| write!(f, " {rule}"))?;
        self.levels_from_root.map_or(Ok(()), |levels| write!(f, " from root {levels}"))
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
        let among = |rank, levels| RankAmong { rank, levels };
        assert_eq!(levels.rule(among(Some(1), 3), true), by(4));
        assert_eq!(levels.rule(among(Some(2), 3), false), down[2]);
        for rank in [None, Some(0), Some(9)] {
            assert_eq!(levels.rule(among(rank, 3), true), LevelRule::PAPER);
        }
        let are_alike = |a, b| levels.are_alike(among(Some(a), 3), among(Some(b), 3));
        assert!(are_alike(0, 3) && !are_alike(0, 1));
        // Counted from a root: one level more below moves all ranks.
        let rooted = levels.clone().counted_from_root(3);
        assert_eq!(rooted.to_string(), "up - 4 down - 8/2 -/3 from root 3");
        assert_eq!(rooted.rule(among(Some(3), 4), false), down[2]);
        assert_eq!(rooted.rule(among(Some(0), 4), false), LevelRule::PAPER);
        assert_eq!(rooted.rule(among(Some(1), 2), false), down[2]);
        assert!(LevelDividers::new(vec![LevelRule::PAPER; 3], vec![]).are_the_papers());
    }
}
