//! Advice for operators, built on routes and their judges.

mod numbers;
mod order;

pub use numbers::NumbersCost;
pub use order::{
    Choice, HostOrder, HostProblem, JobRisk, PatternRisk, Placement, Sharing, ShiftCount,
};
