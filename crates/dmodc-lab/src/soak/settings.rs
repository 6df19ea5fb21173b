//! The settings of a soak.

use std::path::Path;
use std::time::Duration;

use dmodc::Fabric;

use super::event::SoakKind;

/// How long a soak goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoakLength {
    /// For this number of events after the start.
    Events(usize),
    /// For this time.
    Time(Duration),
}

/// The settings of a soak.
#[derive(Clone, Copy)]
pub struct Soak<'a> {
    /// The fabric. One host in fifty is off at first.
    pub fabric: &'a Fabric,
    /// The library of our plugin.
    pub plugin: &'a Path,
    /// How long the soak goes on.
    pub length: SoakLength,
    /// The seed from which all events are drawn.
    pub seed: u64,
    /// Whether the plugin learns a reference.
    pub learns: bool,
    /// The kinds of events that are drawn, if not all of them.
    pub only: Option<&'a [SoakKind]>,
    /// A folder for the fabric and the switches' tables after each event, as text.
    pub dump: Option<&'a Path>,
}
