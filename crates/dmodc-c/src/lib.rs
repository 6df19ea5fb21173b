//! The C interface of dmodc: what a fabric manager needs to route a fabric and to keep its routes after faults.
//!
//! | what | where |
//! |---|---|
//! | the functions that C calls, and all unsafe code | `ffi` |
//! | records, kinds and numbers that both sides share | `records` |
//! | codes and messages of errors | `error` |
//! | objects by number, so that a wrong or old number is an error and nothing worse | `handles` |
//! | threads of our own, on which everything is computed, one call after the other | `compute` |
//! | a fabric that is made from records | `builder` |
//! | what can be chosen about a router, and its first tables | `settings`, `start` |
//! | a router with exact differences, and plans of writes | `session`, `delta`, `plan` |
//!
//! The header is `include/dmodc_engine.h`, which a test compares with the code.

mod builder;
mod compute;
mod delta;
pub mod error;
pub mod ffi;
mod handles;
mod plan;
pub mod records;
mod session;
mod settings;
mod start;
