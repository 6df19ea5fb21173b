//! The report of a run: one line for the log, an object for the event file, the status file and the metrics file.

mod health;
mod metrics;
mod totals;

use std::fmt;
use std::time::{Duration, SystemTime};

use dmodc::judge::Delivery;
use dmodc::words::counted;
use dmodc::{Coverage, Fabric};
use serde_json::{Value, json};

use crate::kept_tables::RouteMode;
use crate::snapshot::ReferenceReport;
pub(crate) use health::PluginHealth;
pub(crate) use totals::RunTotals;

/// The numbers of parts of a fabric.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FabricSize {
    pub(crate) nodes: usize,
    pub(crate) switches: usize,
    /// Cables between switches.
    pub(crate) cables: usize,
}

impl FabricSize {
    pub(crate) fn of(fabric: &Fabric) -> Self {
        FabricSize {
            nodes: fabric.nodes().len(),
            switches: fabric.switches().len(),
            cables: fabric.inter_switch_cables().len(),
        }
    }
}

/// How the new tables differ from the tables that the switches have.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UploadSize {
    pub(crate) entries: u64,
    /// Blocks of 64 entries with at least one that differs.
    pub(crate) blocks: u64,
    /// Switches with at least one such block.
    pub(crate) switches: u64,
}

/// How long the stages of a run took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunTimes {
    /// Reading OpenSM's fabric.
    pub(crate) collect: Duration,
    /// Looking at files.
    pub(crate) look: Duration,
    pub(crate) route: Duration,
    /// Writing OpenSM's tables.
    pub(crate) write: Duration,
}

/// One run.
#[derive(Clone, Debug)]
pub(crate) struct RunReport {
    pub(crate) size: FabricSize,
    pub(crate) mode: RouteMode,
    pub(crate) coverage: Coverage,
    pub(crate) delivery: Delivery,
    /// The reference, if the configuration asks for one.
    pub(crate) reference: Option<ReferenceReport>,
    pub(crate) upload: UploadSize,
    pub(crate) times: RunTimes,
    /// A warning that the rule for leaves is probably wrong.
    pub(crate) leaf_warning: Option<String>,
    /// The likely reason why node pairs are lost, if any are.
    pub(crate) loss_reason: Option<String>,
}

impl RunReport {
    /// Returns the engine, as `dmodc route` calls it.
    fn engine(&self) -> &'static str {
        match &self.reference {
            Some(ReferenceReport { changes: Ok(_), .. }) => "stable",
            _ => "dmodc",
        }
    }

    /// Returns what becomes of the node pairs, with the numbers of `dmodc check --json`.
    fn verdict(&self) -> Value {
        let Delivery { pairs, delivered, lost, cut_off } = self.delivery;
        json!({
            "valid": self.coverage.is_valid(),
            "pairs": pairs,
            "delivered": delivered,
            "lost": lost,
            "cut_off": cut_off,
        })
    }

    /// Returns the numbers of faults and repairs, if the run was incremental.
    fn faults_and_repairs(&self) -> [Option<usize>; 2] {
        match self.mode {
            RouteMode::Whole => [None, None],
            RouteMode::Incremental { faults, repairs } => [Some(faults), Some(repairs)],
        }
    }

    fn is_incremental(&self) -> bool {
        self.mode != RouteMode::Whole
    }

    /// Returns the facts of the run for the event file.
    pub(crate) fn event(&self) -> Value {
        let [faults, repairs] = self.faults_and_repairs();
        let UploadSize { entries, blocks, switches } = self.upload;
        json!({
            "routed": if self.is_incremental() { "incremental" } else { "whole" },
            "faults": faults,
            "repairs": repairs,
            "nodes": self.size.nodes,
            "switches": self.size.switches,
            "cables": self.size.cables,
            "moved": { "entries": entries, "blocks": blocks, "switches": switches },
            "verdict": self.verdict(),
            "ms": {
                "read": milliseconds(self.times.collect),
                "files": milliseconds(self.times.look),
                "route": milliseconds(self.times.route),
                "write": milliseconds(self.times.write),
            },
        })
    }
}

impl fmt::Display for RunReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FabricSize { nodes, switches, cables } = self.size;
        let UploadSize { entries, blocks, .. } = self.upload;
        write!(
            f,
            "{}, {}, {} between switches; ",
            counted(nodes, "node"),
            counted(switches, "switch"),
            counted(cables, "cable")
        )?;
        match self.mode {
            RouteMode::Whole => f.write_str("everything routed anew")?,
            RouteMode::Incremental { faults, repairs } => {
                let (faults, repairs) = (counted(faults, "fault"), counted(repairs, "repair"));
                write!(f, "{faults} and {repairs} routed")?;
            }
        }
        let RunTimes { collect, route, write, .. } = self.times;
        let [collect, route, write] = [collect, route, write].map(duration_text);
        write!(f, " in {route} (read in {collect}, written in {write}); ")?;
        match self.coverage.unreachable_leaf_pairs {
            0 if self.delivery.lost > 0 => f.write_str("NOT ALL DELIVERED: ")?,
            0 => f.write_str("valid; ")?,
            lost => {
                let verb = if lost == 1 { "has" } else { "have" };
                write!(f, "INVALID: {} {verb} no up*down* route; ", counted(lost, "leaf pair"))?;
            }
        }
        write!(f, "{}; ", self.delivery)?;
        if let Some(reference) = &self.reference {
            write!(f, "{reference}; ")?;
        }
        write!(f, "{} in {} changed", counted(entries, "entry"), counted(blocks, "block"))
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Returns a duration as text for people.
pub(crate) fn duration_text(duration: Duration) -> String {
    format!("{:.2} ms", milliseconds(duration))
}

/// Returns the seconds since the epoch.
pub(crate) fn now() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests;
