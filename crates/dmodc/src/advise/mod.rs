//! Advice for operators, built on routes and their judges.

mod numbers;

pub use numbers::NumbersCost;
