//! The C interface of dmodc: what a fabric manager needs to route a fabric and to keep its routes after faults.
//!
//! | what | where |
//! |---|---|
//! | the functions that C calls, and all unsafe code | `ffi` |
//! | objects by number, so that a wrong or old number is an error and nothing worse | `handles` |
//! | a fabric that is made from records | `builder` |
//! | a router with exact differences | `session` |
//! | codes and messages of errors | `error` |
//!
//! The header is `include/dmodc_engine.h`, which a test compares with the code.

mod builder;
pub mod error;
pub mod ffi;
mod handles;
mod session;
