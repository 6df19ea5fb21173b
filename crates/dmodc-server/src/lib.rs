//! The web page of dmodc and its API: look at a fabric, break it, watch it heal, follow a live one. The principal function
//! is [`serve`].
//!
//! | what | where |
//! |---|---|
//! | who may ask: the token, the host, the origin | `access` |
//! | addresses and their answers | `routes/`, `refusal` |
//! | the workbench that all share, and the thread that judges it | `shared`, `judge` |
//! | events that outlive the program | [`history`] |
//! | how much is computed at once | `lanes` |
//! | long work with progress | `jobs`, `what_if` |
//! | the live fabric | [`follow`], `follow_status` |
//! | numbers for Prometheus | `metrics` |
//!
//! What a question means, and what its answer looks like, is in the crate `dmodc-view`. This crate adds everything that
//! needs a socket, a file, a clock or a thread.
//!
//! # Threads
//! Requests are read and answered by a few threads of `tokio`. Nothing there computes: questions run on threads of their own,
//! a bounded number at a time of each kind. Re-routing uses the global pool of `rayon`; judging and answering use a second
//! one, comparing, which works on copies, a third one, and each job has its own: a click never queues behind them. The
//! workbench is behind a lock that prefers writers: a change waits for at most the answers that are being made. Events go to
//! browsers through a channel that drops what a slow one did not take.

mod access;
pub mod follow;
mod follow_status;
pub mod history;
mod jobs;
mod judge;
mod lanes;
mod metrics;
mod patient;
mod refusal;
mod report;
mod routes;
mod serve;
mod shared;
mod what_if;

pub use access::{Access, Token, TokenError};
pub use serve::{ServeError, ServeOptions, serve};
