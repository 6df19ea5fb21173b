//! OpenSM on a simulated fabric (ibsim), with faults, timed and judged.
//!
//! | | |
//! |---|---|
//! | `error` | why the lab does not work |
//! | `process` | programs that end with us; each lab is separated from all others |
//! | `plugin` | where our plugin is, and whether the library contains it |
//! | `netlist` | the fabric in a form that ibsim can simulate |
//! | `attachment` | the node on which programs of the lab run |
//! | `sim` | ibsim: a simulated fabric, and a console that kills and repairs |
//! | `opensm` | OpenSM with an engine, and the events that our plugin reports |
//! | `image` | forwarding tables by GUID, which can be compared |
//! | `held` | the tables that the simulated switches hold |
//! | `saved` | the files that the plugin saved, and the tables that follow from them |
//! | `verdict` | the verdict on the tables that the switches hold |
//! | `script` | the language of fault scripts |
//! | `run` | a script, event by event: how long it took, what changed, whether it is right |
//! | `soak` | random events, for as long as is wanted |

mod attachment;
mod error;
mod held;
mod image;
mod netlist;
mod opensm;
mod plugin;
mod process;
mod run;
mod saved;
mod script;
mod sim;
mod soak;
mod verdict;

pub use error::LabError;
pub use opensm::{
    ENGINES, Instance, Opensm, OpensmEvent, OpensmEventKind, OpensmTables, Setup, check_opensm,
    now, tables_of,
};
pub use plugin::{check_plugin, find_plugin};
pub use process::opensm_version;
pub use run::{Lab, LabRow};
pub use script::{GRAMMAR, Script};
pub use sim::{Sim, TracedHop};
pub use soak::{
    Handover, Soak, SoakBalance, SoakKind, SoakLength, SoakProgress, SoakRow, SoakSummary,
};
pub use verdict::TableVerdict;
