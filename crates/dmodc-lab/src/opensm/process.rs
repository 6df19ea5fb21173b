//! One running OpenSM: its files, its log, and waiting until it has uploaded tables.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::event::{OpensmEvent, OpensmEventKind, now};
use super::setup::{Setup, command};
use crate::error::LabError;
use crate::process::KilledOnDrop;
use crate::sim::Sim;

/// A running OpenSM. It ends when this value is dropped.
pub struct Opensm {
    /// The engine whose tables are expected.
    engine: String,
    folder: PathBuf,
    process: KilledOnDrop,
    /// The length of the log when the previous event was over.
    log_read: u64,
    /// If it has not noticed anything for this time, it is asked for a sweep.
    pub(crate) notice: Duration,
    /// If there is no event for this time in the middle of a sweep, it is asked for another one.
    pub(crate) patience: Duration,
}

impl Opensm {
    /// Starts OpenSM. It uses the files that an earlier one left in the same folder.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(sim: &Sim, setup: &Setup<'_>) -> Result<Self, LabError> {
        let (command, folder) = command(sim, setup)?;
        Opensm::spawn(command, setup.fallback.unwrap_or(setup.engine), folder)
    }

    pub(super) fn spawn(
        mut command: Command,
        engine: &str,
        folder: PathBuf,
    ) -> Result<Self, LabError> {
        let io = |error| LabError::Io("opensm".into(), error);
        command.stdout(File::create(folder.join("opensm.out")).map_err(io)?);
        command.stderr(File::create(folder.join("opensm.err")).map_err(io)?);
        // The log of an earlier OpenSM must not be taken for this one's.
        let _ = fs::remove_file(folder.join("opensm.log"));
        let process = KilledOnDrop(command.spawn().map_err(io)?);
        Ok(Opensm {
            engine: engine.into(),
            folder,
            process,
            log_read: 0,
            notice: NOTICE,
            patience: Duration::MAX,
        })
    }

    /// Returns the folder of its files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the process identifier.
    pub fn pid(&self) -> u32 {
        self.process.0.id()
    }

    /// Returns its log.
    pub fn log(&self) -> String {
        self.log_from(0)
    }

    /// Returns the length of its log in bytes.
    pub(crate) fn log_length(&self) -> u64 {
        fs::metadata(self.folder.join("opensm.log")).map_or(0, |log| log.len())
    }

    /// Returns its log from this byte on.
    pub(crate) fn log_from(&self, start: u64) -> String {
        let mut log = Vec::new();
        if let Ok(mut file) = File::open(self.folder.join("opensm.log"))
            && file.seek(SeekFrom::Start(start)).is_ok()
        {
            // The rest is read at the next look.
            let _ = file.read_to_end(&mut log);
        }
        String::from_utf8_lossy(&log).into_owned()
    }

    /// Returns whether the last thing that it did was to enter a state of the election between managers, so that no
    /// engine was asked since.
    pub(crate) fn is_between_managers(&self) -> bool {
        let log = self.log();
        let states = ["DISCOVERING", "STANDBY", "MASTER"];
        states.iter().any(|state| log.trim_end().ends_with(&format!("Entering {state} state")))
    }

    /// Returns the last lines of its log, joined to one.
    pub(crate) fn log_end(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().rev().take(6).collect();
        lines.into_iter().rev().collect::<Vec<&str>>().join(" | ")
    }

    /// Returns the path of our plugin's status file.
    pub(crate) fn status_file(&self) -> PathBuf {
        self.folder.join("status.json")
    }

    /// Returns how long our engine routed in its last run, in milliseconds, from the status file.
    pub fn routing_time(&self) -> Option<f64> {
        let status = fs::read(self.status_file()).ok()?;
        let status: serde_json::Value = serde_json::from_slice(&status).ok()?;
        status["last"]["route_ms"].as_f64()
    }

    /// Returns its resident memory in bytes.
    pub fn memory(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
    }

    /// Returns all events since it started.
    pub fn events(&self) -> Vec<OpensmEvent> {
        let text = fs::read_to_string(self.folder.join("events")).unwrap_or_default();
        // The last line may be incomplete.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().filter_map(OpensmEvent::parse).collect()
    }

    /// Asks for a heavy sweep.
    pub fn resweep(&self) {
        self.signal("HUP");
    }

    fn signal(&self, name: &str) {
        // `kill` is built into the shell; a minimal system has no program of this name.
        let (kill, pid) = (format!("kill -{name} \"$1\""), self.pid().to_string());
        let _ = Command::new("sh").args(["-c", &kill, "sh", &pid]).status();
    }

    /// Asks it to end, and waits. If it does not end in time, it is killed.
    pub(crate) fn stop(&mut self) {
        self.signal("TERM");
        let start = Instant::now();
        while self.is_alive() && start.elapsed() < STOP {
            sleep(Duration::from_millis(20));
        }
        self.kill();
    }

    /// Kills it without warning.
    pub(crate) fn kill(&mut self) {
        let _ = self.process.0.kill();
        let _ = self.process.0.wait();
    }

    /// Returns whether it still runs.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.process.is_alive()
    }

    /// Waits until tables were uploaded after `since` and nothing more happens. Returns the events since then. If OpenSM
    /// has not noticed anything after a while, it is asked for a sweep.
    ///
    /// # Errors
    /// If OpenSM ends, uses another engine, or takes longer than `longest` seconds.
    pub fn settle(&mut self, since: f64, longest: u64) -> Result<Vec<OpensmEvent>, LabError> {
        let settled = self.wait(since, longest);
        self.log_read =
            fs::metadata(self.folder.join("opensm.log")).map_or(self.log_read, |log| log.len());
        settled
    }

    fn wait(&mut self, since: f64, longest: u64) -> Result<Vec<OpensmEvent>, LabError> {
        let start = Instant::now();
        let (mut asked, mut seen, mut last_seen) = (false, 0, start);
        loop {
            let mut events = self.events();
            events.retain(|event| event.time >= since);
            let last = |kind: &OpensmEventKind| {
                events.iter().rev().find(|event| event.kind == *kind).map(|event| event.time)
            };
            if let (Some(up), Some(sweep)) =
                (last(&OpensmEventKind::Up), last(&OpensmEventKind::Sweep))
                && up > sweep
                && now() - up > QUIET
            {
                self.check_engine()?;
                return Ok(events);
            }
            if events.is_empty() && !asked && start.elapsed() > self.notice {
                self.resweep();
                asked = true;
            }
            if events.len() > seen || last_seen.elapsed() > self.patience {
                if events.len() == seen {
                    self.resweep();
                }
                (seen, last_seen) = (events.len(), Instant::now());
            }
            if !self.process.is_alive() {
                return Err(LabError::Failed(format!(
                    "OpenSM ended unexpectedly: {}",
                    self.last_error()
                )));
            }
            if self.has_given_up() {
                self.check_engine()?;
            }
            if start.elapsed().as_secs() > longest {
                return Err(LabError::TimedOut("a sweep of OpenSM".into(), longest));
            }
            sleep(Duration::from_millis(30));
        }
    }

    /// Returns whether the log reports that no engine gave tables.
    pub(super) fn has_given_up(&self) -> bool {
        self.log_from(self.log_read).contains("No routing engine able")
    }

    /// Checks in the log that OpenSM used the expected engine: it falls back to another one without a warning.
    pub(super) fn check_engine(&self) -> Result<(), LabError> {
        let log = self.log_from(self.log_read);
        let configured: Vec<&str> = log
            .lines()
            .filter(|line| line.contains(" tables configured on all switches"))
            .collect();
        let wanted = format!(" {} tables configured", self.engine);
        match configured.last() {
            Some(line) if line.contains(&wanted) => Ok(()),
            _ => Err(LabError::OtherEngine { engine: self.engine.clone(), log: self.last_error() }),
        }
    }

    /// Returns the last error of the log. A line that gives the reason is preferred to "No routing engine able".
    fn last_error(&self) -> String {
        let log = self.log_from(self.log_read);
        let is_error = |line: &&str| line.contains(" 0x01 -> ") || line.contains("ERR ");
        let errors: Vec<&str> = log.lines().filter(is_error).collect();
        let says_why = |line: &&&str| !line.contains("No routing engine able");
        let last = errors.iter().rev().find(says_why).or(errors.last());
        let last = last.copied().unwrap_or("there is no error in its log");
        last.split(" -> ").last().unwrap_or(last).to_string()
    }
}

/// The time without events after which a sweep counts as the last one, in seconds.
const QUIET: f64 = 0.4;

/// The usual time after which OpenSM is asked for a sweep if it has not noticed anything.
const NOTICE: Duration = Duration::from_secs(3);

/// The time that OpenSM may take to end.
const STOP: Duration = Duration::from_secs(10);
