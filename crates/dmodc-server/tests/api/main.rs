//! The server as its clients see it: over a socket.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod changes;
mod desk;
mod exports;
mod follow;
mod http;
mod jobs;
mod malformed;
mod metrics;
mod questions;
mod stream;
mod threads;
#[path = "../../../dmodc-cli/tests/schemas/validator.rs"]
#[allow(dead_code, reason = "only a part of it is used here")]
mod validator;
