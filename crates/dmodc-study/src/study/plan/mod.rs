//! The plan of a study.

mod read;

use std::path::PathBuf;

use dmodc::Amount;
use dmodc::fabric::Shape;
use serde::{Deserialize, Deserializer, de};

use crate::analysis::Pattern;
use crate::engine::EngineName;

/// What a study measures.
#[derive(Clone, Debug)]
pub struct StudyPlan {
    /// The name of the study and of its files.
    pub name: String,
    /// The seed from which all other seeds are drawn.
    pub seed: u64,
    /// The number of trials of each degradation. If nothing dies, there is only one.
    pub trials: u32,
    /// The engines; slow ones last.
    pub engines: Vec<PlannedEngine>,
    /// The traffic patterns.
    pub patterns: Vec<Pattern>,
    /// Whether fair rates are measured, too.
    pub rates: bool,
    /// The fabrics.
    pub fabrics: Vec<PlannedFabric>,
    /// The degradations: how much dies.
    pub levels: Vec<FaultLevel>,
}

/// An engine of the plan, and the cells in which it takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedEngine {
    /// The engine.
    pub name: EngineName,
    /// It takes part only in the first trials of each degradation, up to this number; `None` for all.
    pub trials: Option<u32>,
    /// It takes part only on fabrics of at most this number of nodes; `None` for all.
    pub nodes: Option<usize>,
}

impl PlannedEngine {
    /// Returns whether it routes this trial, counted from 0, on a fabric with this number of nodes.
    pub fn takes_part(&self, trial: u32, nodes: usize) -> bool {
        self.trials.is_none_or(|trials| trial < trials)
            && self.nodes.is_none_or(|most| nodes <= most)
    }
}

/// A fabric of the plan.
#[derive(Clone, Debug)]
pub struct PlannedFabric {
    /// Its name in results.
    pub name: String,
    /// Where it comes from.
    pub source: FabricSource,
}

/// Where a fabric comes from.
#[derive(Clone, Debug)]
pub enum FabricSource {
    /// A shape, from its notation or a preset.
    Shape(Shape),
    /// A file in any format that dmodc reads.
    File {
        /// Its path.
        path: PathBuf,
        /// Whether the fabric is left out if there is no such file.
        is_optional: bool,
    },
}

/// One degradation of the plan: how much dies.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultLevel {
    /// The amount of cables between switches.
    pub cables: FaultAmount,
    /// The amount of switches that are not leaves.
    pub switches: FaultAmount,
}

impl FaultLevel {
    /// Returns whether nothing dies.
    pub fn is_healthy(&self) -> bool {
        self.cables.is_zero() && self.switches.is_zero()
    }
}

/// An amount in the notation of a plan: `40`, or `"0.5%"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultAmount(pub Amount);

impl FaultAmount {
    /// Returns whether the amount is zero.
    pub fn is_zero(self) -> bool {
        matches!(self.0, Amount::Count(0) | Amount::Percent(0.0))
    }
}

impl std::fmt::Display for FaultAmount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            _ if self.is_zero() => f.write_str("0"),
            Amount::Count(count) => write!(f, "{count}"),
            Amount::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl<'de> Deserialize<'de> for FaultAmount {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = FaultAmount;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a count such as 40 or a percentage such as \"0.5%\"")
            }

            fn visit_i64<E: de::Error>(self, count: i64) -> Result<FaultAmount, E> {
                let unexpected = || E::invalid_value(de::Unexpected::Signed(count), &self);
                usize::try_from(count)
                    .map(|c| FaultAmount(Amount::Count(c)))
                    .map_err(|_| unexpected())
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<FaultAmount, E> {
                text.parse().map(FaultAmount).map_err(E::custom)
            }
        }
        from.deserialize_any(Visitor)
    }
}
