//! Advice for operators, built on routes and their judges.

mod attempts;
pub mod compare;
mod drain;
mod numbers;
mod order;
mod repair;
mod risk;
mod what_if;

pub use attempts::Advice;
pub use drain::{
    Ceilings, DrainLimits, DrainPlan, DrainStep, Exceeded, LimitKind, RiskLimit, UnsafePart,
    UnsafeWhen, drain,
};
pub use numbers::NumbersCost;
pub use order::{
    Choice, HostOrder, HostProblem, JobRisk, PatternRisk, Placement, Sharing, ShiftCount,
};
pub use repair::{RepairPlan, RepairStep, repair};
pub use risk::{StatePatterns, StateRisk};
pub use what_if::{FaultScope, Present, WhatIf};
