//! A fabric on the desk: OpenSM on a simulated fabric (ibsim), with faults, timed and judged.
//!
//! | | |
//! |---|---|
//! | `process` | programs that end with us, each lab apart from all others |
//! | `plugin` | where our plugin is, and whether the library has it |
//! | `netlist` | the fabric as ibsim can hold it |
//! | `sim` | ibsim: a simulated fabric, and a console that kills and repairs |
//! | `opensm` | OpenSM with an engine, and what our plugin tells of it |
//! | `held` | what the simulated switches hold |
//! | `saved` | what the plugin saved, and what follows from it |
//! | `script` | what happens to the fabric |
//! | `run` | one event after the other: how long, what changed, whether it is right |
//! | `soak` | random life, for as long as is wanted |

mod held;
mod netlist;
mod opensm;
mod plugin;
mod process;
mod run;
mod saved;
mod script;
mod sim;
mod soak;

pub use opensm::{ENGINES, Event, Kind, Opensm, OpensmTables, Seat, Setup, now, tables_of};
pub use plugin::{check_plugin, find_plugin};
pub use process::opensm_version;
pub use run::{Lab, Row, Verdict};
pub use script::{GRAMMAR, Script};
pub use sim::Sim;
pub use soak::{Balance, Handover, Kind as SoakKind, Length, Progress, Soak, SoakRow, Summary};

use std::path::PathBuf;

/// Why the lab does not work.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// Programs are not there.
    #[error("not installed: {programs}; on Debian: apt-get install {packages}")]
    Missing {
        /// Their names.
        programs: String,
        /// The Debian packages that have them.
        packages: String,
    },
    /// A program could not be started, or read, or written to.
    #[error("{0}: {1}")]
    Io(String, #[source] std::io::Error),
    /// A program ended too early, or said something else than expected.
    #[error("{0}")]
    Failed(String),
    /// Nothing happened for too long.
    #[error("{0} took longer than {1} s")]
    TimedOut(String, u64),
    /// OpenSM did not use the engine that was asked for.
    #[error("OpenSM did not route with {engine}: {log}")]
    OtherEngine {
        /// What was asked for.
        engine: String,
        /// What its log says.
        log: String,
    },
    /// The plugin is not there.
    #[error(
        "there is no {0}, which gives OpenSM our engine and times OpenSM's own: build it with \
         'cargo build --release -p dmodc-opensm' (on Debian it needs libopensm-dev and libibumad-dev)"
    )]
    NoPlugin(PathBuf),
    /// The library is there, but the plugin is not in it.
    #[error(
        "{0} was built without OpenSM's headers, so the plugin is not in it; OpenSM needs it for our engine and to \
         time its own. On Debian: apt-get install libopensm-dev libibumad-dev, then build it again with \
         'cargo build --release -p dmodc-opensm'"
    )]
    EmptyPlugin(PathBuf),
    /// The fabric is too large for LIDs of InfiniBand.
    #[error("LID {0} is beyond InfiniBand's range: OpenSM cannot hold this fabric")]
    TooLarge(dmodc::Lid),
    /// Tables do not fit into memory, or cannot be computed.
    #[error(transparent)]
    Route(#[from] dmodc::RouteError),
}
