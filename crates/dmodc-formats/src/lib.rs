//! Reads and writes fabrics and tables in all formats. The principal function is [`read`], which returns a [`Reading`] of
//! any fabric. Nothing here opens a path: readers take bytes, writers a
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
//! | platforms of SimGrid, tables of CODES, networks of LogGOPSim | | [`simulators`] |
//! | OpenSM's LFT dump, `ibroute`/`dump_lfts` text, `opensm.fdbs` | [`lft::read`] | [`lft::write`] |
//! | tables as a NumPy array with labels | [`npy::read`] | [`npy::write`] |
//! | alternative ports | | [`alternatives::write`] |
//! | plans of writes | | [`plan::write`] |
//! | intended cables: topology files of ibutils, CSV | [`cabling::read`] | |
//! | orders, GUID lists | [`orders::read`] | [`orders::write`] |
//! | types of nodes by name | [`node_types::read`] | |
//! | lists of hosts and of pairs | [`hosts::read_hosts`], [`hosts::read_pairs`] | |
//!
//! Readers of fabrics share `scan` (a cursor over a line), `fabric_reader` (line by line, with a report of damage) and
//! `cable_list` (formats that list one cable per line). `dirt` is that report, `planes` counts the planes of XDR ports,
//! and `unsupported` describes inputs that are none of these formats.
//!
//! # Example
//! ```
#![doc = include_str!("../examples/reroute.rs")]
//! ```

pub mod alternatives;
mod cable_list;
pub mod cabling;
mod db_csv;
mod dirt;
pub mod dot;
mod fabric_reader;
pub mod graphml;
pub mod host_order;
pub mod hosts;
pub mod ibnetdiscover;
pub mod json;
mod json_value;
pub mod lft;
pub mod node_types;
pub mod npy;
pub mod orders;
pub mod plan;
mod planes;
mod port_list;
mod scan;
pub mod simulators;
pub mod slurm;
pub mod source;
mod subnet_list;
mod unsupported;

pub use dirt::{Dirt, DirtKind, DirtPlaces};
pub use fabric_reader::adapter_kind;
pub use planes::Planes;
pub use scan::printable;

use dmodc::Fabric;
use dmodc::advise::compare::SelfLoop;
use unsupported::describe_unsupported;

/// A place in the input that cannot be read, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ReadError {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// The error, or what was expected.
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
    /// Returns the name of the format.
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

/// A fabric, and a report on the file that it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The fabric of all sound parts of the file.
    pub fabric: Fabric,
    /// The format of the file.
    pub format: Format,
    /// Everything in the file that should not be there.
    pub dirt: Dirt,
    /// The number of ports that had no LID, or that of another port, and were given a new one
    /// ([`Fabric::with_missing_lids`]).
    pub given_lids: usize,
    /// The planes of XDR ports, if the file has them.
    pub planes: Planes,
    /// Cables that join two ports of one switch. The fabric is without them, but their ports are not free.
    pub self_loops: Vec<SelfLoop>,
}

/// Returns the format of a text, judged by its lines. The beginning of a text is enough.
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

/// Reads a fabric in any format. Damaged parts are noted and left out if the rest is sound without them.
///
/// # Errors
/// If the text is of no known format, or describes no device.
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
            Ok(Reading { fabric, format, dirt, given_lids, planes, self_loops: vec![] })
        }
        None => {
            let message = match describe_unsupported(text) {
                Some(what) => format!("{what}; {EXPECTED}"),
                None => format!("this file does not describe a fabric: {EXPECTED}"),
            };
            Err(ReadError { line: 1, column: 1, message })
        }
    }
}

/// The formats that a reader of fabrics expects.
const EXPECTED: &str = "expected ibnetdiscover text, an ibsim netlist, a subnet list (.lst), ibdiagnet2.db_csv or \
                        dmodc's JSON";
