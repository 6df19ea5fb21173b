//! OpenSM on the simulated fabric, with one engine.
//!
//! | | |
//! |---|---|
//! | `event` | the events that our plugin reports from inside OpenSM |
//! | `setup` | how OpenSM is started |
//! | `process` | one running OpenSM |
//! | `tables` | the tables that one of OpenSM's own engines computes |

mod event;
mod process;
mod setup;
mod tables;

pub use event::{OpensmEvent, OpensmEventKind, now};
pub use process::Opensm;
pub use setup::{ENGINES, Instance, Setup};
pub use tables::{OpensmTables, check_opensm, tables_of};
