//! Bytes to fabrics and tables, and back. Nothing here opens a path: readers take bytes, writers a
//! [`std::io::Write`].
//!
//! | format | read | write |
//! |---|---|---|
//! | `ibnetdiscover` text, ibdiagnet's dialect, ibsim netlists | [`read`] | [`ibnetdiscover::write`] |
//! | `ibnetdiscover -p`: a line for each port | [`read`] | |
//! | `opensm-subnet.lst`, ibdiagnet's `.lst` | [`read`] | |
//! | `ibdiagnet2.db_csv` | [`read`] | |
//! | our JSON | [`read`] | [`json::write`] |
//! | GraphML, Graphviz DOT, Slurm topologies | | [`graphml::write`], [`dot::write`], [`slurm`] |
//! | OpenSM's LFT dump, `ibroute`/`dump_lfts` text, `opensm.fdbs` | [`lft::read`] | [`lft::write`] |
//! | tables as a NumPy array with labels | [`npy::read`] | [`npy::write`] |
//! | alternative ports | | [`alternatives::write`] |
//! | plans of writes | | [`plan::write`] |
//! | orders, GUID lists | [`orders::read`] | [`orders::write`] |

pub mod alternatives;
mod db_csv;
mod dirt;
pub mod dot;
mod foreign;
pub mod graphml;
pub mod hosts;
pub mod ibnetdiscover;
mod intake;
pub mod json;
pub mod lft;
mod links;
pub mod npy;
pub mod orders;
pub mod plan;
mod planes;
mod port_list;
mod scan;
pub mod slurm;
pub mod source;
mod subnet_list;

pub use dirt::{Dirt, DirtKind, Found};
pub use foreign::foreign;
pub use intake::adapter_kind;
pub use planes::Planes;
pub use scan::printable;

use dmodc::Fabric;

/// A place in the input that cannot be read, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ReadError {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// What is wrong, or what was expected.
    pub message: String,
}

/// A format that fabrics are read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// `ibnetdiscover`, ibdiagnet's dialect of it, or an ibsim netlist.
    Ibnetdiscover,
    /// `ibnetdiscover -p`.
    PortList,
    /// `opensm-subnet.lst` or ibdiagnet's `.lst`.
    SubnetList,
    /// `ibdiagnet2.db_csv`.
    DbCsv,
    /// Our JSON.
    Json,
}

impl Format {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Format::Ibnetdiscover => "ibnetdiscover",
            Format::PortList => "ibnetdiscover -p",
            Format::SubnetList => "subnet list",
            Format::DbCsv => "ibdiagnet db_csv",
            Format::Json => "JSON",
        }
    }
}

/// A fabric, and what was noticed while reading it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The fabric of all that was sound.
    pub fabric: Fabric,
    /// What it was read from.
    pub format: Format,
    /// What was not as it should be.
    pub dirt: Dirt,
    /// How many ports had no LID, or one that another port has, and were given one
    /// ([`Fabric::with_missing_lids`]).
    pub given_lids: usize,
    /// The planes of XDR ports, where the file tells them.
    pub planes: Planes,
}

/// The format of a text, judged by what its lines look like. The beginning of a text is enough.
pub fn detect(text: &[u8]) -> Option<Format> {
    if json::detect(text) {
        return Some(Format::Json);
    }
    scan::lines(text).take(20_000).find_map(|line| {
        if subnet_list::detect(line) {
            Some(Format::SubnetList)
        } else if db_csv::detect(line) {
            Some(Format::DbCsv)
        } else if port_list::detect(line) {
            Some(Format::PortList)
        } else if ibnetdiscover::detect(line) {
            Some(Format::Ibnetdiscover)
        } else {
            None
        }
    })
}

/// Reads a fabric, whatever its format. What is damaged is noted and left out, where the rest is sound
/// without it.
///
/// # Errors
/// If the text is of no format that is known, or describes no device.
pub fn read(text: &[u8]) -> Result<Reading, ReadError> {
    match detect(text) {
        Some(Format::Ibnetdiscover) => ibnetdiscover::read(text),
        Some(Format::PortList) => port_list::read(text),
        Some(Format::SubnetList) => subnet_list::read(text),
        Some(Format::DbCsv) => db_csv::read(text),
        Some(Format::Json) => {
            let (fabric, given) = json::read(text)?.with_missing_lids();
            let given_lids = given.len();
            let (format, dirt, planes) = (Format::Json, Dirt::default(), Planes::default());
            Ok(Reading { fabric, format, dirt, given_lids, planes })
        }
        None => {
            let message = match foreign(text) {
                Some(what) => format!("{what}; {EXPECTED}"),
                None => format!("not a fabric: {EXPECTED}"),
            };
            Err(ReadError { line: 1, column: 1, message })
        }
    }
}

/// What a reader of fabrics hoped for.
const EXPECTED: &str = "expected ibnetdiscover text, an ibsim netlist, a subnet list (.lst), ibdiagnet2.db_csv or \
                        dmodc's JSON";
