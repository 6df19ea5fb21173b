//! Two OpenSMs, of which one is in charge.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use dmodc::Guid;

use super::disk::StateDisk;
use super::world::World;
use crate::error::LabError;
use crate::opensm::{Instance, Opensm, OpensmEvent, Setup, now};
use crate::sim::Sim;

/// The longest that OpenSM may take for one event, in seconds.
const LONGEST: u64 = 180;

/// The time that OpenSM may take to become standby or master, in seconds.
const ROLE: u64 = 15;

/// The time after which OpenSM is asked for a sweep if it has not noticed anything.
const NOTICE: Duration = Duration::from_secs(1);

/// The time without events in the middle of a sweep after which OpenSM is asked for another one: an OpenSM that just took
/// over may wait for an answer of the other.
const PATIENCE: Duration = Duration::from_secs(20);

/// OpenSM's options: a standby must soon notice that its master is gone, and LIDs are those of the file.
const OPTIONS: &str = "sminfo_polling_timeout 300\npolling_retry_number 3\n\
                       honor_guid2lid_file TRUE\n";

/// Where one of the managers runs, and where its files are.
struct ManagerSite {
    folder: &'static str,
    /// The adapter, by the simulator's name.
    host: String,
    /// The GUID of its port.
    guid: Guid,
    /// The state folder that it has if it does not share one.
    state: PathBuf,
    priority: u8,
}

/// The memory of an OpenSM process, in bytes.
#[derive(Clone, Copy, Default)]
pub(super) struct ProcessMemory {
    /// After it had settled for the first time; 0 before that.
    pub(super) first: u64,
    /// After it had settled for the last time.
    pub(super) last: u64,
}

/// The managers of a fabric, and the one that runs.
pub(super) struct Managers<'a> {
    plugin: &'a Path,
    pub(super) learns: bool,
    sites: Vec<ManagerSite>,
    library: Option<PathBuf>,
    /// The index of the manager in charge.
    pub(super) current: usize,
    /// Whether the second manager uses the state folder of the first.
    pub(super) is_shared: bool,
    pub(super) opensm: Opensm,
    /// The memory of each process that was in charge.
    pub(super) memory: Vec<ProcessMemory>,
}

impl<'a> Managers<'a> {
    /// Starts the first manager.
    pub(super) fn start(
        sim: &Sim,
        world: &World,
        disk: &StateDisk,
        plugin: &'a Path,
        learns: bool,
    ) -> Result<Self, LabError> {
        let mut sites = Vec::new();
        for (place, (folder, state)) in
            world.managers.iter().zip([("opensm", "state-1"), ("opensm-2", "state-2")])
        {
            let device = &world.devices[place.device];
            let site = ManagerSite {
                folder,
                host: device.id(),
                guid: Guid(device.guid.0 + u64::from(place.port)),
                state: sim.folder().join(state),
                priority: if folder == "opensm" { 9 } else { 5 },
            };
            let files = sim.folder().join(folder);
            let io = |error| LabError::Io(files.display().to_string(), error);
            fs::create_dir_all(&files).map_err(io)?;
            fs::write(files.join("guid2lid"), guid_to_lid(sim, world)).map_err(io)?;
            sites.push(site);
        }
        let library = disk.slow_library.as_ref().ok().cloned();
        let state = &sites[0].state;
        let opensm = spawn(sim, plugin, learns, &sites[0], state, library.as_deref())?;
        let (current, is_shared, memory) = (0, false, vec![ProcessMemory::default()]);
        Ok(Managers { plugin, learns, sites, library, current, is_shared, opensm, memory })
    }

    fn spawn(&self, sim: &Sim, manager: usize) -> Result<Opensm, LabError> {
        let (site, state) = (&self.sites[manager], self.state_of(manager));
        spawn(sim, self.plugin, self.learns, site, state, self.library.as_deref())
    }

    fn state_of(&self, manager: usize) -> &Path {
        &self.sites[if self.is_shared { 0 } else { manager }].state
    }

    /// Returns the state folder of the manager in charge.
    pub(super) fn state(&self) -> &Path {
        self.state_of(self.current)
    }

    /// Returns the state folder of the first manager.
    pub(super) fn first_state(&self) -> &Path {
        &self.sites[0].state
    }

    /// Waits until tables were uploaded after `since` and nothing more happens. Returns the events since then.
    pub(super) fn settle(&mut self, since: f64) -> Result<Vec<OpensmEvent>, LabError> {
        let settled = self.opensm.settle(since, LONGEST);
        self.note_memory();
        settled
    }

    fn note_memory(&mut self) {
        if let (Some(bytes), Some(memory)) = (self.opensm.memory(), self.memory.last_mut()) {
            memory.first = if memory.first == 0 { bytes } else { memory.first };
            memory.last = bytes;
        }
    }

    /// Stops or kills the manager in charge, and starts it again.
    pub(super) fn restart(&mut self, sim: &mut Sim, is_killed: bool) -> Result<(), LabError> {
        self.end(sim, is_killed)?;
        self.opensm = self.spawn(sim, self.current)?;
        self.memory.push(ProcessMemory::default());
        Ok(())
    }

    /// Starts the second manager, and kills the first one when the second is on standby. Returns when that was.
    pub(super) fn hand_over(&mut self, sim: &mut Sim, is_shared: bool) -> Result<f64, LabError> {
        self.is_shared = is_shared;
        let mut tries = 0;
        let second = loop {
            let mut second = self.spawn(sim, 1)?;
            match wait_for(&mut second, "Entering STANDBY state") {
                Ok(()) => break second,
                Err(error) if tries == 2 => return Err(error),
                Err(_) => {}
            }
            // Rarely the second manager does not see the first one in the simulator, and both become master. Then the first
            // one is restarted.
            tries += 1;
            second.kill();
            sim.forget_client(second.pid())?;
            let since = now();
            self.restart(sim, false)?;
            self.settle(since)?;
        };
        let since = now();
        self.end(sim, true)?;
        self.take_charge(sim, 1, second);
        Ok(since)
    }

    /// Starts the first manager again, which has the higher priority, and stops the second one. Returns when it was
    /// started.
    pub(super) fn hand_back(&mut self, sim: &mut Sim) -> Result<f64, LabError> {
        let since = now();
        let mut first = self.spawn(sim, 0)?;
        wait_for(&mut first, "Entering MASTER state")?;
        self.end(sim, false)?;
        self.take_charge(sim, 0, first);
        Ok(since)
    }

    fn end(&mut self, sim: &mut Sim, is_killed: bool) -> Result<(), LabError> {
        match is_killed {
            true => self.opensm.kill(),
            false => self.opensm.stop(),
        }
        sim.forget_client(self.opensm.pid())
    }

    fn take_charge(&mut self, sim: &mut Sim, manager: usize, opensm: Opensm) {
        (self.opensm, self.current) = (opensm, manager);
        self.memory.push(ProcessMemory::default());
        sim.sandbox.host = Some(self.sites[manager].host.clone());
    }
}

/// Starts an OpenSM with our plugin.
fn spawn(
    sim: &Sim,
    plugin: &Path,
    learns: bool,
    site: &ManagerSite,
    state: &Path,
    library: Option<&Path>,
) -> Result<Opensm, LabError> {
    let files = sim.folder().join(site.folder);
    for name in ["opensm.conf", "dmodc.conf", "status.json"] {
        let _ = fs::remove_file(files.join(name));
    }
    let options = format!("sm_priority {}\n{OPTIONS}", site.priority);
    let instance = Instance {
        folder: site.folder,
        state: Some(state),
        host: Some((&site.host, site.guid)),
        options: &options,
        library,
    };
    let config = if learns { "reference = \"learn\"" } else { "" };
    let setup = Setup { config, dumps: false, instance, ..Setup::new("dmodc", plugin) };
    let mut opensm = Opensm::start(sim, &setup)?;
    (opensm.notice, opensm.patience) = (NOTICE, PATIENCE);
    Ok(opensm)
}

/// Waits until the log of an OpenSM contains these words.
fn wait_for(opensm: &mut Opensm, words: &str) -> Result<(), LabError> {
    let start = Instant::now();
    while !opensm.log().contains(words) {
        if !opensm.is_alive() {
            return Err(LabError::Failed(format!(
                "OpenSM ended before its log contained '{words}'"
            )));
        }
        if start.elapsed().as_secs() > ROLE {
            return Err(LabError::TimedOut(
                format!("waiting for '{words}' in the log of OpenSM"),
                ROLE,
            ));
        }
        sleep(Duration::from_millis(30));
    }
    Ok(())
}

/// Returns OpenSM's file `guid2lid` for all devices but late ones, which get their LIDs from OpenSM. `dump_fts` (of
/// infiniband-diags 44) forgets a last block of one entry, so LIDs that could be alone there are given to GUIDs that no
/// device has.
fn guid_to_lid(sim: &Sim, world: &World) -> String {
    let known = sim.guid_to_lid();
    let is_late = |line: &str| {
        let guid = line.split(' ').next().and_then(|word| word.strip_prefix("0x"));
        let guid = guid.and_then(|word| u64::from_str_radix(word, 16).ok()).unwrap_or(0);
        let late = world.devices.iter().filter(|device| device.is_off && !device.is_switch());
        late.map(|device| device.guid.0..=device.guid.0 + u64::from(device.ports))
            .any(|own| own.contains(&guid))
    };
    let mut lines: Vec<String> =
        known.lines().filter(|line| !line.is_empty() && !is_late(line)).map(String::from).collect();
    let has_one_lid_each = lines.iter().all(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        words.len() == 3 && words[1] == words[2]
    });
    if has_one_lid_each {
        for lid in (64..0xbfff_u32).step_by(64) {
            let word = format!("0x{lid:04x}");
            if !lines.iter().any(|line| line.ends_with(&word)) {
                lines.push(format!("0x{:016x} {word} {word}", UNUSED_GUIDS + u64::from(lid)));
            }
        }
    }
    lines.iter().map(|line| format!("{line}\n\n")).collect()
}

/// No device has a GUID from here on.
const UNUSED_GUIDS: u64 = 0xfeed_0000_0000_0000;
