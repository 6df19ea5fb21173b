//! The plan of a study.

mod read;

use std::path::PathBuf;

use dmodc::{Amount, Pgft};
use serde::{Deserialize, Deserializer, de};

use crate::analysis::Pattern;
use crate::engine::EngineName;

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct StudyPlan {
    /// What the study is called; its files are, too.
    pub name: String,
    /// All other seeds come from this one.
    pub seed: u64,
    /// How often each degradation is drawn. Where nothing dies, once is enough.
    pub throws: u32,
    /// The algorithms; slow ones last.
    pub engines: Vec<PlannedEngine>,
    /// The traffic.
    pub patterns: Vec<Pattern>,
    /// The fabrics.
    pub fabrics: Vec<PlannedFabric>,
    /// How much dies.
    pub levels: Vec<FaultLevel>,
}

/// An algorithm of the plan, and what it takes part in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedEngine {
    /// Which one.
    pub name: EngineName,
    /// In the first so many throws of each degradation only.
    pub throws: Option<u32>,
    /// On fabrics of at most so many nodes only.
    pub nodes: Option<usize>,
}

impl PlannedEngine {
    /// Whether it routes this throw, counted from 0, of a fabric of so many nodes.
    pub fn takes_part(&self, throw: u32, nodes: usize) -> bool {
        self.throws.is_none_or(|throws| throw < throws)
            && self.nodes.is_none_or(|most| nodes <= most)
    }
}

/// A fabric of the plan.
#[derive(Clone, Debug)]
pub struct PlannedFabric {
    /// What it is called in results.
    pub name: String,
    /// Where it comes from.
    pub source: FabricSource,
}

/// Where a fabric comes from.
#[derive(Clone, Debug)]
pub enum FabricSource {
    /// A tuple, or a preset's.
    Pgft(Pgft),
    /// A file in any format that dmodc reads.
    File(PathBuf),
}

/// How much dies: one degradation of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultLevel {
    /// Of the cables between switches.
    pub cables: FaultAmount,
    /// Of the switches that are not leaves.
    pub switches: FaultAmount,
}

impl FaultLevel {
    /// Whether nothing dies.
    pub fn is_healthy(&self) -> bool {
        self.cables.is_zero() && self.switches.is_zero()
    }
}

/// An amount as it is written in a plan: `40`, or `"0.5%"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FaultAmount(pub Amount);

impl FaultAmount {
    /// Whether it is nothing.
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
