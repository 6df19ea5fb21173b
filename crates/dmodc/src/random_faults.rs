//! Random faults: how many cables and switches die, and which.

use std::fmt;
use std::str::FromStr;

use crate::fabric::{Degradation, Fabric, Live};
use crate::id::{CableIndex, SwitchIndex};
use crate::leaf::{LeafRule, Leaves};
use crate::random::Random;

/// How many of something: a count, or a percentage that is rounded to the nearest count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// This number.
    Count(usize),
    /// This percentage of all.
    Percent(f64),
}

impl Amount {
    /// None at all.
    pub const ZERO: Amount = Amount::Count(0);

    /// Returns how many of `total` that is.
    ///
    /// # Errors
    /// If that is more than there are.
    pub fn of(self, total: usize, what: &'static str) -> Result<usize, AmountError> {
        match self {
            Amount::Percent(percent) => {
                Amount::Count((total as f64 * percent / 100.0).round() as usize).of(total, what)
            }
            Amount::Count(wanted) if wanted > total => Err(AmountError { wanted, total, what }),
            Amount::Count(wanted) => Ok(wanted),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Count(count) => write!(f, "{count}"),
            Amount::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl FromStr for Amount {
    type Err = ParseAmountError;

    fn from_str(text: &str) -> Result<Self, ParseAmountError> {
        let wrong = || ParseAmountError { text: text.into() };
        match text.strip_suffix('%') {
            Some(number) => match number.trim().parse::<f64>() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(Amount::Percent(percent)),
                _ => Err(wrong()),
            },
            None => text.parse().map(Amount::Count).map_err(|_| wrong()),
        }
    }
}

/// The error of a text that is no [`Amount`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseAmountError {
    text: Box<str>,
}

impl fmt::Display for ParseAmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected a count such as 5, or a percentage from 0% to 100%, not '{}'",
            self.text
        )
    }
}

impl std::error::Error for ParseAmountError {}

/// The error of a draw that is to remove more than there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmountError {
    wanted: usize,
    total: usize,
    what: &'static str,
}

impl fmt::Display for AmountError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AmountError { wanted, total, what } = self;
        write!(f, "cannot remove {wanted} {what}: there are only {total}")
    }
}

impl std::error::Error for AmountError {}

/// A uniform random draw of faults. Cables and switches are drawn from the whole fabric independently, each from its own
/// stream of random numbers: more switches do not change the cables that are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    /// Cables to kill, among those between switches.
    pub cables: Amount,
    /// Switches to kill, among those that are not leaves.
    pub switches: Amount,
    /// Cables of nodes can be drawn, too.
    pub any_cable: bool,
    /// Leaves can be drawn, too.
    pub any_switch: bool,
    /// The seed.
    pub seed: u64,
}

impl Draw {
    /// Returns the faults of this draw.
    ///
    /// # Errors
    /// If more is asked for than there is.
    pub fn degradation(&self, fabric: &Fabric) -> Result<Degradation, AmountError> {
        let mut degradation = Degradation::none(fabric);
        let inter_switch = fabric.inter_switch_cables().len();
        let (cables, what) = match self.any_cable {
            true => (fabric.cable_count(), "cables"),
            false => (inter_switch, "inter-switch cables"),
        };
        let wanted = self.cables.of(cables, what)?;
        for at in Random::new(self.seed, 0).sample(cables, wanted) {
            degradation.set_cable(CableIndex::new(at), true);
        }

        let healthy = Degradation::none(fabric);
        let live = Live::new(fabric, &healthy);
        let leaves = Leaves::new(live, &LeafRule::Detect).all;
        let candidates: Vec<SwitchIndex> = live
            .switches()
            .filter(|s| self.any_switch || leaves.binary_search(s).is_err())
            .collect();
        let what = if self.any_switch { "switches" } else { "switches that are not leaves" };
        let wanted = self.switches.of(candidates.len(), what)?;
        for at in Random::new(self.seed, 1).sample(candidates.len(), wanted) {
            degradation.set_switch(candidates[at], true);
        }
        Ok(degradation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Pgft;
    use crate::fabric::CableEnds;

    #[test]
    fn amounts_are_counts_or_percentages() {
        assert_eq!("12".parse(), Ok(Amount::Count(12)));
        assert_eq!("1.5%".parse(), Ok(Amount::Percent(1.5)));
        for wrong in ["", "-1", "101%", "x%", "NaN%", "1 %%"] {
            assert!(wrong.parse::<Amount>().is_err(), "{wrong}");
        }
        assert_eq!(Amount::Percent(1.0).of(250, "cables"), Ok(3), "2.5 rounds up");
        assert!(Amount::Count(6).of(5, "cables").is_err());
        assert!(Amount::Percent(150.0).of(5, "cables").is_err());
    }

    #[test]
    fn a_draw_is_seeded_and_spares_leaves_and_node_cables() {
        let fabric = "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
        let draw = |seed, cables, switches| Draw {
            cables: Amount::Count(cables),
            switches: Amount::Count(switches),
            any_cable: false,
            any_switch: false,
            seed,
        };
        let healthy = Degradation::none(&fabric);
        let live = Live::new(&fabric, &healthy);
        for seed in 0..50 {
            let d = draw(seed, 7, 3).degradation(&fabric).unwrap();
            assert_eq!(d.dead_cables().count(), 7);
            assert_eq!(d.dead_switches().count(), 3);
            assert!(d.dead_switches().all(|s| live.nodes(s).next().is_none()));
            assert!(d.dead_cables().all(|c| matches!(fabric.cable(c), CableEnds::Switches(_))));
            assert_eq!(d, draw(seed, 7, 3).degradation(&fabric).unwrap());
            let more = draw(seed, 7, 4).degradation(&fabric).unwrap();
            assert!(more.dead_cables().eq(d.dead_cables()), "streams are independent");
        }
        assert!(draw(1, 37, 0).degradation(&fabric).is_err());
        let every = Draw { any_cable: true, any_switch: true, ..draw(1, 48, 16) };
        let every = every.degradation(&fabric).unwrap();
        assert_eq!(every.removed().count(), 64);
        assert_eq!(fabric.without(&every).switches().len(), 0);
    }
}
