//! Advice for operators, built on routes and their judges.

pub mod compare;
mod numbers;
mod what_if;

pub use numbers::NumbersCost;
pub use what_if::{FaultScope, Present, WhatIf};
