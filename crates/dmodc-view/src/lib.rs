//! A fabric to look at, to break and to heal. The principal type is the [`Workbench`].
//!
//! The web page of dmodc has two back ends: the server (`dmodc serve`), and the engine compiled to WebAssembly inside one
//! self-contained file (`dmodc page`). Both answer the same questions with the same JSON, and this crate is where the
//! answers are made. It opens no file and no socket, starts no thread, and reads no clock: the [`Clock`] is given to it.
//!
//! | what the page does | here |
//! |---|---|
//! | draws the tree | [`Workbench::scene`], from the positions of [`layout`] |
//! | breaks and heals | [`Workbench::change`] with a [`ChangeRequest`]; each makes an [`Event`] |
//! | judges, colours cables | [`judgement`], [`loads`] |
//! | asks | [`parts`], [`paths`], [`what_if`], [`job_order`] |
//! | compares | [`compare`], [`cabling`] |
//! | saves | [`Scenario`], [`export`] |
//! | all of it by name | [`Question`], [`call`] |
//!
//! [`page`] holds the files of the page itself.

pub mod cabling;
pub mod call;
pub mod compare;
mod engines;
mod event;
pub mod export;
pub mod job_order;
pub mod judgement;
pub mod layout;
mod leaf_words;
pub mod loads;
mod names;
pub mod page;
mod parameters;
pub mod parts;
pub mod paths;
mod problem;
mod scenario;
mod scene;
mod search;
mod setup;
pub mod what_if;
mod workbench;

pub use call::Question;
pub use engines::PageEngine;
pub use event::{Event, Origin, PartCounts};
pub use leaf_words::LeafWords;
pub use names::{part_id, part_text};
pub use parameters::Parameters;
pub use problem::Problem;
pub use scenario::Scenario;
pub use setup::Setup;
pub use workbench::{ChangeRequest, Clock, RandomFaults, Workbench};
