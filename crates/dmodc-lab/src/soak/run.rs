//! The simulated fabric of a soak with its managers: events happen to it, and OpenSM settles.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use dmodc::Random;

use super::disk::StateDisk;
use super::event::{Action, Capabilities, SoakEvent};
use super::findings::ObservedTables;
use super::managers::Managers;
use super::settings::Soak;
use super::world::{WorkingLinks, World};
use crate::attachment::Attachment;
use crate::error::LabError;
use crate::netlist::stand_in;
use crate::opensm::{OpensmEvent, OpensmEventKind, now};
use crate::sim::Sim;

/// The file by which `dmodc opensm renumber` asks the plugin to number everything anew.
pub(super) const RENUMBER: &str = "renumber";

/// A simulated fabric, its managers, and the tables before the present event.
pub(super) struct SoakRun<'a> {
    pub(super) world: World,
    /// The cables that work in the simulator.
    pub(super) links: WorkingLinks,
    pub(super) managers: Managers<'a>,
    pub(super) disk: StateDisk,
    pub(super) sim: Sim,
    pub(super) before: ObservedTables,
    /// Whether, since the last numbering, a device came for which no place was kept.
    pub(super) has_grown: bool,
    /// Whether a device ever came for which no place was kept. Leaves are unequal from then on, so that the places
    /// kept for late hosts are guesses.
    is_uneven: bool,
    /// Whether growth has cost so much balance that an operator would number anew.
    pub(super) is_renumbering_due: bool,
    pub(super) dump: Option<&'a Path>,
}

/// How one event went.
#[derive(Default)]
pub(super) struct EventCourse {
    /// When the event began, in seconds since the epoch.
    pub(super) since: f64,
    /// The length of OpenSM's log when the event began.
    pub(super) log_start: u64,
    pub(super) sweeps: usize,
    pub(super) upload_s: f64,
    pub(super) nudges: usize,
    pub(super) stalls: usize,
    /// What was wrong so far, a sentence each.
    pub(super) wrong: Vec<String>,
}

impl<'a> SoakRun<'a> {
    /// Starts the simulator and the first manager. Also returns what this machine cannot do, with the reasons.
    pub(super) fn start(
        soak: &Soak<'a>,
        random: &mut Random,
    ) -> Result<(Self, Vec<String>), LabError> {
        let held = stand_in(soak.fabric);
        let attached = Attachment::of(&held).node;
        let attached = attached.ok_or_else(|| {
            LabError::Failed("the fabric has no node on which OpenSM could run".into())
        })?;
        let world = World::new(&held, attached, random);
        let io = |error| LabError::Io("a folder".into(), error);
        let netlist = world.netlist().map_err(io)?;
        let sim = Sim::start_with(soak.fabric, held, &netlist)?;
        let disk = StateDisk::new(sim.folder()).map_err(io)?;
        let mut skipped = Vec::new();
        if let Err(reason) = &disk.mounted {
            skipped.push(format!(
                "events with a full disk, because mounting one needs root ({reason})"
            ));
        }
        if let Err(reason) = &disk.slow_library {
            skipped.push(format!(
                "events with a slow disk, because they need a C compiler ({reason})"
            ));
        }
        if world.managers.len() < 2 {
            skipped
                .push("handovers, because no host on another leaf can be a second manager".into());
        }
        let managers = Managers::start(&sim, &world, &disk, soak.plugin, soak.learns)?;
        let run = SoakRun {
            links: world.links(),
            world,
            managers,
            disk,
            sim,
            before: ObservedTables::default(),
            has_grown: false,
            is_uneven: false,
            is_renumbering_due: false,
            dump: soak.dump,
        };
        Ok((run, skipped))
    }

    pub(super) fn capabilities(&self) -> Capabilities {
        Capabilities {
            can_fill_disk: self.disk.mounted.is_ok(),
            can_slow_disk: self.disk.slow_library.is_ok(),
            second_is_in_charge: self.managers.current > 0,
        }
    }

    /// Brings the simulator to the present state of the world.
    fn apply(&mut self) -> Result<(), LabError> {
        let links = self.world.links();
        let lines = self.world.console(&self.links, &links);
        self.links = links;
        self.sim.write_console(&lines)
    }

    /// Lets an event happen, up to where OpenSM has to react.
    pub(super) fn happen(
        &mut self,
        event: &SoakEvent,
        course: &mut EventCourse,
    ) -> Result<(), LabError> {
        let io = |error| LabError::Io("the disk of the state folder".into(), error);
        self.note_growth(event);
        match event.action {
            Action::Nothing => self.apply(),
            Action::Flap { cable, times } => {
                for _ in 0..times {
                    for is_dead in [true, false] {
                        self.world.cables[cable].is_dead = is_dead;
                        self.apply()?;
                        sleep(Duration::from_millis(150));
                    }
                }
                Ok(())
            }
            Action::Restart => {
                course.log_start = 0;
                self.managers.restart(&mut self.sim, false)
            }
            Action::Kill { after } => {
                self.apply()?;
                self.managers.opensm.resweep();
                sleep(Duration::from_millis(after));
                course.log_start = 0;
                self.managers.restart(&mut self.sim, true)?;
                course.since = now();
                Ok(())
            }
            Action::Handover { is_shared } => {
                course.since = self.managers.hand_over(&mut self.sim, is_shared)?;
                course.log_start = 0;
                Ok(())
            }
            Action::Handback => {
                course.since = self.managers.hand_back(&mut self.sim)?;
                course.log_start = 0;
                Ok(())
            }
            Action::FullDisk => {
                self.disk.fill().map_err(io)?;
                self.apply()
            }
            Action::SlowDisk => {
                self.disk.set_slow(true).map_err(io)?;
                self.apply()
            }
            Action::Renumber => {
                self.has_grown = false;
                fs::write(self.managers.state().join(RENUMBER), "").map_err(io)?;
                self.managers.opensm.resweep();
                Ok(())
            }
        }
    }

    /// Notes whether the numbers in use may cost balance after this event.
    fn note_growth(&mut self, event: &SoakEvent) {
        // A manager with a state folder of its own may have numbers from long ago.
        let has_other_state = match event.action {
            Action::Handover { is_shared } => !is_shared,
            Action::Handback => !self.managers.is_shared,
            _ => false,
        };
        self.has_grown |=
            event.is_growth() || has_other_state || (self.is_uneven && event.brings_late_hosts());
        self.is_uneven |= event.is_growth();
    }

    /// Waits until OpenSM has uploaded tables. If it ended, or none of its tables are ours, this is wrong, and OpenSM
    /// is started again.
    pub(super) fn settle(&mut self, course: &mut EventCourse) -> Result<(), LabError> {
        let events = match self.managers.settle(course.since) {
            // The simulator lost a packet that OpenSM waits for before it looks at the fabric: no engine was asked yet.
            Err(LabError::TimedOut(..)) if self.managers.opensm.is_between_managers() => {
                course.stalls += 1;
                self.restart(course)?
            }
            Err(
                error @ (LabError::Failed(_)
                | LabError::OtherEngine { .. }
                | LabError::TimedOut(..)),
            ) => {
                let end = self.managers.opensm.log_end();
                course.wrong.push(format!("OpenSM FAILED: {error}; the end of its log is: {end}"));
                self.restart(course)?
            }
            settled => settled?,
        };
        let up = events.iter().rev().find(|event| event.kind == OpensmEventKind::Up);
        let is_sweep = |event: &&OpensmEvent| event.kind == OpensmEventKind::Sweep;
        course.sweeps = events.iter().filter(is_sweep).count();
        course.upload_s = up.map_or(0.0, |event| event.time - course.since);
        Ok(())
    }

    /// Kills OpenSM, starts it again, and returns the events until it has settled.
    fn restart(&mut self, course: &mut EventCourse) -> Result<Vec<OpensmEvent>, LabError> {
        self.managers.restart(&mut self.sim, true)?;
        (course.since, course.log_start) = (now(), 0);
        self.managers.settle(course.since)
    }

    /// Asks OpenSM for one more sweep, and waits for it.
    pub(super) fn nudge(&mut self, course: &mut EventCourse) -> Result<(), LabError> {
        let since = now();
        self.managers.opensm.resweep();
        course.nudges += 1;
        self.managers.settle(since).map(|_| ())
    }
}
