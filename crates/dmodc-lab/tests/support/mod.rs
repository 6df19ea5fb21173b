//! Small fabrics, and the plugin and simulator if they are installed: shared by the tests.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::io::Write as _;
use std::path::PathBuf;

use dmodc::{Fabric, Pgft};
use dmodc_lab::{LabError, Sim, check_plugin};

pub(crate) const FIGURE_1: &str = "3; 2,2,3; 1,2,2; 1,2,1";

pub(crate) const DIRECTOR: &str = "2; 18,36; 1,18; 1,1";

/// 1,024 nodes on three levels.
pub(crate) const THREE_LEVELS: &str = "3; 8,8,16; 1,8,8; 1,1,1";

/// Only one OpenSM runs at a time: machines may have only two cores, and waiting times are part of the tests.
pub(crate) static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

pub(crate) fn fabric(tuple: &str) -> Fabric {
    tuple.parse::<Pgft>().unwrap().fabric(Default::default())
}

/// Reports that the running test is skipped. The line is written directly to standard error, because the test harness hides
/// the output of passing tests.
pub(crate) fn skip(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let _ = writeln!(std::io::stderr(), "skipped: {test}: {why}");
}

/// Returns the plugin that was built next to the tests; `None` if it is missing.
pub(crate) fn plugin() -> Option<PathBuf> {
    let here = std::env::current_exe().unwrap();
    let plugin = here.parent().unwrap().parent().unwrap().join("libdmodc.so");
    let found = check_plugin(&plugin);
    if let Err(why) = &found {
        skip(&why.to_string());
    }
    found.is_ok().then_some(plugin)
}

/// Returns a simulated fabric; `None` if programs are missing.
pub(crate) fn sim(fabric: &Fabric) -> Option<Sim> {
    match Sim::start(fabric) {
        Err(why @ LabError::Missing { .. }) => {
            skip(&why.to_string());
            None
        }
        other => Some(other.unwrap()),
    }
}
