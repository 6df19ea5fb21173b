//! The C interface, as C programs see it: header, libraries, every function, and what comes out compared with the Rust library.
//!
//! The programs are in `tests/c`. They are compiled against a folder that `scripts/install-c` filled. Without a C compiler or
//! valgrind, tests are skipped and say so.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod errors;
mod header;
mod install;
mod pages;
mod programs;
mod results;
mod workshop;
