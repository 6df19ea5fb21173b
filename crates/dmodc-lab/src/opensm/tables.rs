//! The tables that one of OpenSM's own engines computes for a fabric.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use dmodc::Live;
use dmodc_formats::lft::{self, Lft};

use super::event::OpensmEventKind;
use super::process::Opensm;
use super::setup::{Setup, command};
use crate::error::LabError;
use crate::netlist::stand_in;
use crate::plugin::check_plugin;
use crate::process::check_installed;
use crate::sim::Sim;

/// The tables of one of OpenSM's own engines.
#[derive(Clone, Debug)]
pub struct OpensmTables {
    /// The tables, matched with the fabric. Switches that OpenSM does not see have none.
    pub lft: Lft,
    /// The time that the engine took for hop tables, in milliseconds.
    pub matrices_ms: f64,
    /// The time that the engine took for forwarding tables, in milliseconds.
    pub tables_ms: f64,
}

/// Checks that this machine has everything that [`tables_of`] needs, whatever the fabric.
///
/// # Errors
/// If programs or the plugin are missing.
pub fn check_opensm(plugin: &Path) -> Result<(), LabError> {
    check_installed()?;
    check_plugin(plugin)
}

/// Returns the tables of one of OpenSM's own engines for the live part of a fabric. OpenSM may take up to `longest`
/// seconds.
///
/// # Errors
/// If the lab fails, OpenSM takes too long, or it used another engine.
pub fn tables_of(
    live: Live<'_>,
    engine: &str,
    plugin: &Path,
    longest: u64,
) -> Result<OpensmTables, LabError> {
    check_plugin(plugin)?;
    // Dead parts are left out before the simulator starts; the GUIDs of the whole stand-in stay.
    let held = stand_in(live.fabric);
    let sim = Sim::start(&held.without(live.degradation))?;
    let (mut command, folder) = command(&sim, &Setup::new(engine, plugin))?;
    command.arg("-o");
    let mut opensm = Opensm::spawn(command, engine, folder)?;
    let start = Instant::now();
    while opensm.is_alive() && !opensm.has_given_up() {
        if start.elapsed().as_secs() > longest {
            return Err(LabError::TimedOut(format!("routing with {engine}"), longest));
        }
        sleep(Duration::from_millis(20));
    }
    opensm.check_engine()?;
    let mut times = [0.0; 2];
    for event in opensm.events() {
        if let OpensmEventKind::Stage { is_tables, wall, .. } = event.kind {
            times[usize::from(is_tables)] = wall;
        }
    }
    let path = opensm.folder().join("opensm-lfts.dump");
    let dump = fs::read(&path).map_err(|error| LabError::Io("OpenSM's tables".into(), error))?;
    let lft = lft::read(&dump, &held)
        .map_err(|error| LabError::Failed(format!("OpenSM's tables: {error}")))?;
    let [matrices_ms, tables_ms] = times;
    Ok(OpensmTables { lft, matrices_ms, tables_ms })
}
