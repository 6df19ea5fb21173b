//! The summary of a soak.

use std::collections::BTreeMap;
use std::fmt;

use dmodc::words::counted;
use serde::Serialize;

use super::event::SoakKind;
use super::managers::ProcessMemory;
use super::row::{Handover, SoakRow};

/// The results of all events of a soak.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SoakSummary {
    /// The seed from which the events were drawn.
    pub seed: u64,
    /// Whether nothing was wrong.
    pub right: bool,
    /// The number of events.
    pub events: usize,
    /// The number of events of each kind.
    pub kinds: BTreeMap<SoakKind, usize>,
    /// The numbers of the events at which something was wrong.
    pub wrong: Vec<usize>,
    /// The number of entries that differ from the tables of `dmodc route`, over all events.
    pub differences: usize,
    /// Node pairs that were lost although an up\*down\* path connects them, over all events.
    pub lost: u64,
    /// Node pairs that were lost because no up\*down\* path connects them, over all events.
    pub roadless: u64,
    /// Node pairs that were cut off, over all events.
    pub cut_off: u64,
    /// The number of quiet events: nothing was at fault, and no known host was absent.
    pub quiet: usize,
    /// The worst balance at a quiet event, relative to a fresh numbering.
    pub worst_quiet: Option<f64>,
    /// The worst balance at any other event.
    pub worst_other: Option<f64>,
    /// The number of entries that moved although they had to stay.
    pub moved: usize,
    /// How often OpenSM was stopped or killed, and started again.
    pub restarts: usize,
    /// Handovers to another OpenSM and back.
    pub handovers: Vec<Handover>,
    /// How often OpenSM had to be asked for one more sweep.
    pub nudges: usize,
    /// How often OpenSM never began to look at the fabric and was started again.
    pub stalls: usize,
    /// The memory of OpenSM after the start and at the end, in bytes.
    pub memory: [u64; 2],
    /// The greatest growth of the memory of one process, in bytes.
    pub memory_growth: u64,
    /// The duration of the soak, in seconds.
    pub seconds: f64,
    /// Kinds of events that this machine cannot do, with reasons.
    pub skipped: Vec<String>,
}

impl SoakSummary {
    /// Adds an event.
    pub(super) fn add(&mut self, row: &SoakRow) {
        self.events += 1;
        *self.kinds.entry(row.kind).or_default() += 1;
        if !row.wrong.is_empty() {
            self.wrong.push(row.number);
        }
        self.differences += row.differences;
        self.lost += row.verdict.lost.saturating_sub(row.roadless);
        self.roadless += row.roadless;
        self.cut_off += row.verdict.cut_off;
        let ratio = row.balance.ratio();
        let worst = match row.quiet {
            true => {
                self.quiet += 1;
                &mut self.worst_quiet
            }
            false => &mut self.worst_other,
        };
        *worst = Some(worst.map_or(ratio, |worst| worst.max(ratio)));
        self.moved += if row.must_stay { row.others_moved } else { 0 };
        self.restarts += usize::from(matches!(row.kind, SoakKind::Restart | SoakKind::Kill));
        self.handovers.extend(row.handover);
        self.nudges += row.nudges;
        self.stalls += row.stalls;
        self.right = self.wrong.is_empty();
    }

    /// Sets the memory from that of all processes that were in charge.
    pub(super) fn set_memory(&mut self, processes: &[ProcessMemory]) {
        let first = processes.first().map_or(0, |process| process.first);
        let last = processes.last().map_or(0, |process| process.last);
        self.memory = [first, last];
        let growth = processes.iter().map(|process| process.last.saturating_sub(process.first));
        self.memory_growth = growth.max().unwrap_or(0);
    }
}

impl fmt::Display for SoakSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SoakSummary { seed, events, quiet, differences, lost, cut_off, moved, .. } = self;
        match self.wrong.len() {
            0 => write!(f, "everything is right: ")?,
            wrong => write!(
                f,
                "WRONG at {}, first at number {}: ",
                counted(wrong, "event"),
                self.wrong[0]
            )?,
        }
        write!(f, "seed {seed}, {} in {:.0} s (", counted(*events, "event"), self.seconds)?;
        for (at, (kind, count)) in self.kinds.iter().enumerate() {
            write!(f, "{}{kind} {count}", if at > 0 { ", " } else { "" })?;
        }
        writeln!(
            f,
            ");\n{} other than in 'dmodc route', {} lost, {} without an up*down* route, {cut_off} cut off;",
            counted(*differences, "entry"),
            counted(*lost, "pair"),
            self.roadless
        )?;
        let percent = |ratio: Option<f64>| {
            ratio.map_or("none".into(), |ratio| format!("{:+.1} %", (ratio - 1.0) * 100.0))
        };
        let (worst, other) = (percent(self.worst_quiet), percent(self.worst_other));
        writeln!(
            f,
            "balance compared with new numbers, at worst: {worst} at {} without faults, {other} at others;",
            counted(*quiet, "event")
        )?;
        write!(
            f,
            "{} moved without reason; {}",
            counted(*moved, "entry"),
            counted(self.restarts, "restart")
        )?;
        for is_shared in [true, false] {
            let some = self.handovers.iter().filter(|handover| handover.is_shared == is_shared);
            let (count, moved) = some.fold((0, 0), |sum, h| (sum.0 + 1, sum.1 + h.moved));
            let whose = if is_shared { "one state folder" } else { "two state folders" };
            let (count, moved) = (counted(count, "handover"), counted(moved, "entry"));
            write!(f, ", {count} with {whose} moved {moved}")?;
        }
        let [first, last] = self.memory.map(|bytes| bytes as f64 / f64::from(1 << 20));
        let growth = self.memory_growth as f64 / f64::from(1 << 20);
        write!(
            f,
            ";\nmemory of OpenSM: {first:.1} MiB at the start, {last:.1} MiB at the end, and at most {growth:.1} MiB more within \
             one process;\nOpenSM needed {} for a sweep, and {} because it did not begin to work",
            counted(self.nudges, "extra request"),
            counted(self.stalls, "restart")
        )
    }
}
