//! An event from its beginning to its row: it happens, OpenSM settles, and everything is measured and judged.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use dmodc::judge::Scope;
use dmodc::words::counted;

use super::balance::SoakBalance;
use super::event::{Action, MustStay, SoakEvent};
use super::findings::{BALANCED, EventFindings, ObservedTables, PluginStatus, destinations};
use super::row::{Handover, SoakRow};
use super::run::{EventCourse, RENUMBER, SoakRun};
use super::updown_paths::pairs_without_path;
use super::world::DevicePort;
use crate::error::LabError;
use crate::held::HeldTables;
use crate::image::{EntryAddress, count_differences, differences};
use crate::opensm::now;
use crate::saved::SavedState;
use crate::verdict::{TableVerdict, digest};

/// How often OpenSM is asked for one more sweep before its last report is taken as final.
const NUDGES: usize = 3;

/// How long the plugin's status file and log may lag behind the tables.
const BEHIND: Duration = Duration::from_secs(2);

/// How long reports may lag that need more time: those about a disk, or about the balance.
const LONG_BEHIND: Duration = Duration::from_secs(20);

/// If the balance is this many times that of a fresh numbering, the plugin must report it.
const NOTICED: f64 = 1.08;

/// Entries that moved although the event was not about them.
struct Moves {
    must_stay: MustStay,
    moved: Vec<EntryAddress>,
}

impl SoakRun<'_> {
    /// Lets an event happen, waits for OpenSM, and judges. Returns the row of the event.
    pub(super) fn event(&mut self, number: usize, event: &SoakEvent) -> Result<SoakRow, LabError> {
        let earlier = SavedState::read(self.managers.state(), self.managers.learns);
        let log_start = self.managers.opensm.log_length();
        let mut course = EventCourse { since: now(), log_start, ..EventCourse::default() };
        self.happen(event, &mut course)?;
        self.settle(&mut course)?;
        if event.action == Action::FullDisk {
            // The plugin has to write its files only if a newcomer needs a number.
            let must_write = event.must_stay != MustStay::Nothing;
            self.outlive_full_disk(&mut course, must_write)?;
        }
        let held = self.read_tables(&mut course)?;
        if let Some(folder) = self.dump {
            let dumped = held.dump(folder, number);
            dumped.map_err(|error| LabError::Io(folder.display().to_string(), error))?;
        }
        if event.action == Action::SlowDisk {
            let slow = self.disk.set_slow(false);
            slow.map_err(|error| LabError::Io("the slow disk".into(), error))?;
        }
        self.judge(number, event, course, &held, &earlier)
    }

    /// Checks that tables are right while the disk is full, and that the log reports the full disk if the plugin has
    /// to write. Then makes room again.
    fn outlive_full_disk(
        &mut self,
        course: &mut EventCourse,
        must_write: bool,
    ) -> Result<(), LabError> {
        let held = HeldTables::read(&self.sim)?;
        let saved = SavedState::read(self.managers.state(), false);
        let lost = held.check(&saved.options()).nodes.lost;
        if lost > 0 {
            course
                .wrong
                .push(format!("{} LOST while the disk is full", counted(lost, "node pair")));
        }
        let start = Instant::now();
        let orders = self.managers.state().join("dmodc.orders");
        let began = SystemTime::UNIX_EPOCH + Duration::from_secs_f64(course.since);
        // The plugin first removes files that a killed process left behind, which may make room.
        let is_done = || {
            let written = fs::metadata(&orders).and_then(|metadata| metadata.modified());
            let log = self.managers.opensm.log_from(course.log_start);
            log.contains("No space left") || written.is_ok_and(|written| written >= began)
        };
        while must_write && !is_done() && start.elapsed() < LONG_BEHIND {
            sleep(Duration::from_millis(50));
        }
        if must_write && !is_done() {
            course.wrong.push("the log does not report that the disk is FULL".into());
        }
        self.disk.free().map_err(|error| LabError::Io("the full disk".into(), error))?;
        self.nudge(course)
    }

    /// Reads the tables that the switches hold, once the plugin reports on the same fabric.
    fn read_tables(&mut self, course: &mut EventCourse) -> Result<HeldTables, LabError> {
        loop {
            let held = HeldTables::read(&self.sim)?;
            let start = Instant::now();
            let expected = PluginStatus::expected(&held, &Scope::default());
            let path = self.managers.opensm.status_file();
            while start.elapsed() < BEHIND {
                let status = PluginStatus::read(&path);
                if status.is_some_and(|status| status.has_same_fabric(&expected)) {
                    return Ok(held);
                }
                sleep(Duration::from_millis(50));
            }
            if course.nudges >= NUDGES {
                return Ok(held);
            }
            self.nudge(course)?;
        }
    }

    /// Judges the tables that the switches hold, and everything that the plugin reports about them.
    fn judge(
        &mut self,
        number: usize,
        event: &SoakEvent,
        mut course: EventCourse,
        held: &HeldTables,
        earlier: &SavedState,
    ) -> Result<SoakRow, LabError> {
        let learns = self.managers.learns;
        let comparison = SavedState::compare(self.managers.state(), learns, held)?;
        let options = comparison.saved.options();
        let judgement = held.check(&options).nodes;
        // If no pair is lost, none needs an excuse.
        let roadless = match judgement.lost {
            0 => 0,
            _ => pairs_without_path(&held.fabric, &options),
        };
        let traces = held.follow(&self.sim);
        let balance = SoakBalance::of(&held.fabric, &held.tables)?;
        let quiet = self.world.is_whole();
        let now = ObservedTables::of(held);
        let Moves { must_stay, moved } = self.moves(event, &now, earlier, held)?;
        let handover = self.handover(event, held)?;
        let misreport = self.misreport(held, &judgement, course.log_start);
        let nodes = self.world.nodes();
        let verdict = TableVerdict {
            entries_changed: count_differences(&self.before.image, &now.image),
            digest: digest(&now.image),
            as_offline: Some(comparison.differing.is_empty()),
            ..TableVerdict::new(&judgement, nodes * nodes.saturating_sub(1), traces)
        };
        let judged_balance = self.judged_balance(event, quiet, &balance, &mut course.wrong);
        let findings = EventFindings {
            judgement: &judgement,
            roadless,
            traces,
            differing: &comparison.differing,
            quiet: judged_balance.as_ref(),
            moved: &moved,
            must_stay: &must_stay,
            misreport,
        };
        course.wrong.extend(findings.wrong());
        course.wrong.extend(self.unlike_world(held));
        self.before = now;
        Ok(SoakRow {
            number,
            event: event.name.clone(),
            kind: event.kind,
            sweeps: course.sweeps,
            upload_s: course.upload_s,
            verdict,
            roadless,
            differences: comparison.differing.len(),
            quiet,
            balance,
            others_moved: moved.len(),
            must_stay: must_stay != MustStay::Nothing,
            handover,
            nudges: course.nudges,
            stalls: course.stalls,
            wrong: course.wrong,
        })
    }

    /// Returns which entries must not move, and those that did although the event was not about them.
    fn moves(
        &self,
        event: &SoakEvent,
        now: &ObservedTables,
        earlier: &SavedState,
        held: &HeldTables,
    ) -> Result<Moves, LabError> {
        let must_stay = match event.action {
            Action::Handback if self.managers.is_shared => MustStay::Everything,
            _ => event.must_stay.clone(),
        };
        let moved = match &must_stay {
            MustStay::Nothing => self.before.moved(now, &BTreeSet::new()),
            MustStay::AllBut(devices) => {
                self.before.moved(now, &destinations(&self.world, devices))
            }
            // Compared with the tables that the files from before the event give for the present fabric. If nothing
            // happened to the fabric, these are the tables from before.
            MustStay::Everything => {
                differences(&earlier.route(&held.fabric)?, &now.image).collect()
            }
        };
        Ok(Moves { must_stay, moved })
    }

    /// Returns how many entries a handover moved; `None` if the event is not a handover.
    fn handover(&self, event: &SoakEvent, held: &HeldTables) -> Result<Option<Handover>, LabError> {
        if !matches!(event.action, Action::Handover { .. } | Action::Handback) {
            return Ok(None);
        }
        let moved = count_differences(&self.before.image, &held.image);
        let first = SavedState::read(self.managers.first_state(), self.managers.learns);
        let moved_if_shared = match event.action {
            Action::Handover { .. } => {
                Some(count_differences(&self.before.image, &first.route(&held.fabric)?))
            }
            _ => None,
        };
        Ok(Some(Handover { is_shared: self.managers.is_shared, moved, moved_if_shared }))
    }

    /// Returns what is wrong in the plugin's status file or log, after it had time to write them.
    fn misreport(&self, held: &HeldTables, judgement: &Scope, log_start: u64) -> Option<String> {
        let expected = PluginStatus::expected(held, judgement);
        let path = self.managers.opensm.status_file();
        let start = Instant::now();
        loop {
            let status = PluginStatus::read(&path);
            let log = self.managers.opensm.log_from(log_start);
            let is_logged = log.contains(&format!("; {};", expected.delivery));
            if status == Some(expected) && is_logged {
                return None;
            }
            if start.elapsed() > BEHIND {
                return Some(match status == Some(expected) {
                    true => format!("the LOG does not contain '{}'", expected.delivery),
                    false => format!("the STATUS is {status:?}, not {expected:?}"),
                });
            }
            sleep(Duration::from_millis(100));
        }
    }

    /// Returns the balance if it must be that of a fresh numbering: nothing is at fault, and nothing has grown. After
    /// growth the plugin has to report lost balance, and an operator would number anew; that is checked here.
    fn judged_balance(
        &mut self,
        event: &SoakEvent,
        quiet: bool,
        balance: &SoakBalance,
        wrong: &mut Vec<String>,
    ) -> Option<SoakBalance> {
        self.is_renumbering_due = quiet && self.has_grown && balance.ratio() > BALANCED;
        if quiet && self.has_grown {
            wrong.extend(self.unreported_balance(balance));
        }
        let request = self.managers.state().join(RENUMBER);
        if event.action == Action::Renumber && stays_for(&request, LONG_BEHIND) {
            wrong.push("the plugin has NOT REMOVED the request for new numbers".into());
        }
        (quiet && !self.has_grown).then_some(*balance)
    }

    /// Returns an error sentence if the numbers in use cost balance and the plugin does not report it.
    fn unreported_balance(&self, balance: &SoakBalance) -> Option<String> {
        // The plugin may draw other shifts than we do, so it may judge differently where the difference is small.
        if balance.ratio() <= NOTICED {
            return None;
        }
        let path = self.managers.opensm.status_file();
        let is_reported = || {
            let status = fs::read(&path).ok()?;
            let status: serde_json::Value = serde_json::from_slice(&status).ok()?;
            status["numbers"]["noticeable"].as_bool()
        };
        let start = Instant::now();
        while is_reported() != Some(true) {
            if start.elapsed() > LONG_BEHIND {
                return Some("the status does not report that the numbers cost BALANCE".into());
            }
            sleep(Duration::from_millis(100));
        }
        None
    }

    /// Returns how the discovered fabric differs from the world: then the simulator, or this program, is wrong.
    fn unlike_world(&self, held: &HeldTables) -> Option<String> {
        let manager = self.world.managers[self.managers.current].device;
        let reached = self.world.reachable(manager);
        let is_switch = |device: usize| self.world.devices[device].is_switch();
        let wanted = reached.iter().filter(|&&device| is_switch(device)).count();
        let is_reached = |[a, b]: &&[DevicePort; 2]| {
            is_switch(a.device) && is_switch(b.device) && reached.contains(&a.device)
        };
        let cables = self.links.iter().filter(is_reached).count();
        let found = held.fabric.switches().len();
        let discovered = held.fabric.inter_switch_cables().len();
        ((wanted, cables) != (found, discovered)).then(|| {
            format!(
                "the SIMULATOR shows another fabric: switches: {found} instead of {wanted}, cables between them: {discovered} instead of {cables}"
            )
        })
    }
}

/// Returns whether a file is still there after this time.
fn stays_for(path: &Path, time: Duration) -> bool {
    let start = Instant::now();
    while path.exists() {
        if start.elapsed() > time {
            return true;
        }
        sleep(Duration::from_millis(50));
    }
    false
}
