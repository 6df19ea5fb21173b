//! The limits that a state must keep to.

use std::fmt;
use std::str::FromStr;

use super::super::risk::StateRisk;
use crate::fabric::{NumbersError, Written};

/// How much of a risk is allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RiskLimit {
    /// This number of times the risk of now.
    Times(f64),
    /// This risk.
    Most(f64),
}

/// Why a text is no [`RiskLimit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRiskLimit;

impl fmt::Display for NoRiskLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a risk such as 500, or a multiple of the risk of now such as 1.1x")
    }
}

impl FromStr for RiskLimit {
    type Err = NoRiskLimit;

    /// Reads `1.1x` or `500`.
    fn from_str(text: &str) -> Result<Self, NoRiskLimit> {
        let number = |text: &str| {
            let number = text.parse::<f64>().ok();
            number.filter(|n| n.is_finite() && *n >= 0.0).ok_or(NoRiskLimit)
        };
        match text.strip_suffix('x') {
            Some(times) => number(times).map(RiskLimit::Times),
            None => number(text).map(RiskLimit::Most),
        }
    }
}

/// A number of node pairs.
struct PairCount(u64);

/// Why a text is no [`PairCount`].
struct NoPairCount;

impl fmt::Display for NoPairCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a number of node pairs, which is 0 or more")
    }
}

impl FromStr for PairCount {
    type Err = NoPairCount;

    fn from_str(text: &str) -> Result<Self, NoPairCount> {
        text.parse().map(PairCount).map_err(|_| NoPairCount)
    }
}

impl RiskLimit {
    fn ceiling(self, now: f64) -> f64 {
        match self {
            RiskLimit::Times(times) => times * now,
            RiskLimit::Most(most) => most,
        }
    }
}

/// The limits of a drain, compared with the present state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DrainLimits {
    /// How many node pairs more than now may be lost or cut off.
    pub lost: u64,
    /// All-to-all.
    pub a2a: Option<RiskLimit>,
    /// The mean of the shifts.
    pub sp: Option<RiskLimit>,
    /// The median of random permutations.
    pub rp: Option<RiskLimit>,
}

impl FromStr for DrainLimits {
    type Err = NumbersError;

    /// Reads `lost=0,a2a=1.1x,sp=500`. Without `lost`, nothing may be lost. Without another one, that risk has no limit.
    fn from_str(text: &str) -> Result<Self, NumbersError> {
        let mut limits = DrainLimits::default();
        for written in Written::all(text) {
            let written = written?;
            match written.name {
                "lost" => limits.lost = written.value::<PairCount>()?.0,
                "a2a" => limits.a2a = Some(written.value()?),
                "sp" => limits.sp = Some(written.value()?),
                "rp" => limits.rp = Some(written.value()?),
                _ => return Err(written.unknown("lost, a2a, sp and rp")),
            }
        }
        Ok(limits)
    }
}

/// Limits as numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ceilings {
    /// The greatest number of node pairs that are not delivered.
    pub undelivered: u64,
    /// The greatest risk of all-to-all.
    pub a2a: Option<f64>,
    /// The greatest mean of the shifts.
    pub sp: Option<f64>,
    /// The greatest median of random permutations.
    pub rp: Option<f64>,
}

/// What has a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// Node pairs that are not delivered.
    Lost,
    /// All-to-all.
    AllToAll,
    /// The mean of the shifts.
    Shifts,
    /// The median of random permutations.
    Permutations,
}

impl LimitKind {
    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            LimitKind::Lost => "lost",
            LimitKind::AllToAll => "a2a",
            LimitKind::Shifts => "sp",
            LimitKind::Permutations => "rp",
        }
    }
}

/// A limit that a state exceeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exceeded {
    /// Which one.
    pub limit: LimitKind,
    /// The value of the state.
    pub value: f64,
    /// The greatest value that is allowed.
    pub most: f64,
}

/// Products such as 1.1 × 120 are not exact, so this share above a ceiling is still below it.
const ROUNDING: f64 = 1e-9;

impl Ceilings {
    /// Returns the ceilings that limits mean in the present state.
    pub(super) fn new(limits: &DrainLimits, now: &StateRisk) -> Self {
        let ceiling = |limit: Option<RiskLimit>, now: f64| limit.map(|limit| limit.ceiling(now));
        let median = now.permutations.map_or(0.0, |series| f64::from(series.median));
        Ceilings {
            undelivered: now.undelivered.saturating_add(limits.lost),
            a2a: ceiling(limits.a2a, now.all_to_all.max as f64),
            sp: ceiling(limits.sp, now.shifts.mean()),
            rp: ceiling(limits.rp, median),
        }
    }

    /// Returns the first limit that a state exceeds.
    pub fn exceeded(&self, risk: &StateRisk) -> Option<Exceeded> {
        let median = risk.permutations.map(|series| f64::from(series.median));
        let all = [
            (LimitKind::Lost, Some(risk.undelivered as f64), Some(self.undelivered as f64)),
            (LimitKind::AllToAll, Some(risk.all_to_all.max as f64), self.a2a),
            (LimitKind::Shifts, Some(risk.shifts.mean()), self.sp),
            (LimitKind::Permutations, median, self.rp),
        ];
        all.into_iter().find_map(|(limit, value, most)| {
            let (value, most) = (value?, most?);
            is_above(value, most).then_some(Exceeded { limit, value, most })
        })
    }
}

/// Returns whether a value is above a ceiling.
pub(super) fn is_above(value: f64, most: f64) -> bool {
    value > most * (1.0 + ROUNDING)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read() {
        let limits: DrainLimits = "lost=3, a2a=1.1x,sp=2.5".parse().unwrap();
        assert_eq!((limits.lost, limits.rp), (3, None));
        assert_eq!(limits.a2a, Some(RiskLimit::Times(1.1)));
        assert_eq!(limits.sp, Some(RiskLimit::Most(2.5)));
        for (text, why) in [
            ("lost=1x", "lost=1x: expected a number of node pairs, which is 0 or more"),
            ("a2a=-1", "a2a=-1: expected a risk such as 500"),
            ("a2a=NaN", "expected a risk"),
            ("a2a=infx", "expected a risk"),
            ("a2a", "'a2a' has no value"),
            ("a2a=1,a2a=2", "'a2a' is there twice"),
            ("bisection=1", "'bisection' is not known; there are lost, a2a, sp and rp"),
        ] {
            let error = text.parse::<DrainLimits>().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        assert!(!is_above(1.1 * 120.0, 132.0) && !is_above(132.0, 1.1 * 120.0));
        assert!(is_above(133.0, 132.0));
    }
}
