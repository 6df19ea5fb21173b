//! Advice for operators, built on routes and their judges.

pub mod compare;
mod numbers;

pub use numbers::NumbersCost;
