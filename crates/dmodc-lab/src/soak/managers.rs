//! Two OpenSMs, of which one is in charge.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use dmodc::Guid;

use super::disk::Disk;
use super::world::World;
use crate::opensm::{Seat, now};
use crate::{Event, LabError, Opensm, Setup, Sim};

/// The longest that OpenSM may take for one event, in seconds.
const LONGEST: u64 = 180;

/// So long OpenSM may take to become standby or master.
const ROLE: u64 = 15;

/// After so long without a sweep OpenSM is told to look.
const NOTICE: Duration = Duration::from_secs(1);

/// After so long in the middle of a sweep OpenSM is told to look again: one that just took over may wait for an answer of
/// the other.
const PATIENCE: Duration = Duration::from_secs(20);

/// A standby must notice soon that its master is gone.
const OPTIONS: &str = "sminfo_polling_timeout 300\npolling_retry_number 3\n\
                       honor_guid2lid_file TRUE\n";

/// Where one of them sits.
struct Chair {
    folder: &'static str,
    /// The adapter, and the GUID of its port.
    host: String,
    guid: Guid,
    /// The state folder, if it has one of its own.
    state: PathBuf,
    priority: u8,
}

/// The managers of a fabric.
pub(super) struct Managers<'a> {
    plugin: &'a Path,
    pub(super) learns: bool,
    chairs: Vec<Chair>,
    library: Option<PathBuf>,
    /// Who is in charge.
    pub(super) current: usize,
    /// Whether the second one has the state folder of the first.
    pub(super) is_shared: bool,
    pub(super) opensm: Opensm,
    /// The memory of each process that was in charge: when it had settled, and at its end.
    pub(super) memory: Vec<(u64, u64)>,
}

impl<'a> Managers<'a> {
    /// Starts the first one.
    pub(super) fn start(
        sim: &Sim,
        world: &World,
        disk: &Disk,
        plugin: &'a Path,
        learns: bool,
    ) -> Result<Self, LabError> {
        let mut chairs = Vec::new();
        for (place, (folder, state)) in
            world.managers.iter().zip([("opensm", "state-1"), ("opensm-2", "state-2")])
        {
            let device = &world.devices[place.device];
            let chair = Chair {
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
            chairs.push(chair);
        }
        let library = disk.library.as_ref().ok().cloned();
        let opensm = spawn(sim, plugin, learns, &chairs[0], &chairs[0].state, library.as_deref())?;
        let (current, is_shared, memory) = (0, false, vec![(0, 0)]);
        Ok(Managers { plugin, learns, chairs, library, current, is_shared, opensm, memory })
    }

    fn spawn(&self, sim: &Sim, who: usize) -> Result<Opensm, LabError> {
        let state = self.state_of(who);
        spawn(sim, self.plugin, self.learns, &self.chairs[who], state, self.library.as_deref())
    }

    fn state_of(&self, who: usize) -> &Path {
        &self.chairs[if self.is_shared { 0 } else { who }].state
    }

    /// The state folder of who is in charge.
    pub(super) fn state(&self) -> &Path {
        self.state_of(self.current)
    }

    /// The state folder of the first one.
    pub(super) fn first_state(&self) -> &Path {
        &self.chairs[0].state
    }

    /// Waits until tables were uploaded after `since`, and nothing more happens.
    pub(super) fn settle(&mut self, since: f64) -> Result<Vec<Event>, LabError> {
        let settled = self.opensm.settle(since, LONGEST);
        self.weigh();
        settled
    }

    fn weigh(&mut self) {
        if let (Some(bytes), Some((first, last))) = (self.opensm.memory(), self.memory.last_mut()) {
            (*first, *last) = (if *first == 0 { bytes } else { *first }, bytes);
        }
    }

    /// Ends who is in charge, or kills it, and starts it again.
    pub(super) fn restart(&mut self, sim: &mut Sim, is_killed: bool) -> Result<(), LabError> {
        self.end(sim, is_killed)?;
        self.opensm = self.spawn(sim, self.current)?;
        self.memory.push((0, 0));
        Ok(())
    }

    /// Kills the first one when the second one stands by.
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
            // Seldom the simulator does not tell it of the master, and there are two. Then the first one begins anew.
            tries += 1;
            second.kill();
            sim.forget(second.pid())?;
            let since = now();
            self.restart(sim, false)?;
            self.settle(since)?;
        };
        let since = now();
        self.end(sim, true)?;
        self.take_charge(sim, 1, second);
        Ok(since)
    }

    /// Starts the first one again, which has the higher priority, and ends the second one.
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
        sim.forget(self.opensm.pid())
    }

    fn take_charge(&mut self, sim: &mut Sim, who: usize, opensm: Opensm) {
        (self.opensm, self.current) = (opensm, who);
        self.memory.push((0, 0));
        sim.desk.host = Some(self.chairs[who].host.clone());
    }
}

fn spawn(
    sim: &Sim,
    plugin: &Path,
    learns: bool,
    chair: &Chair,
    state: &Path,
    library: Option<&Path>,
) -> Result<Opensm, LabError> {
    let files = sim.folder().join(chair.folder);
    for name in ["opensm.conf", "dmodc.conf", "status.json"] {
        let _ = fs::remove_file(files.join(name));
    }
    let options = format!("sm_priority {}\n{OPTIONS}", chair.priority);
    let seat = Seat {
        folder: chair.folder,
        state: Some(state),
        host: Some((&chair.host, chair.guid)),
        options: &options,
        library,
    };
    let config = if learns { "reference = \"learn\"" } else { "" };
    let setup = Setup { config, dumps: false, seat, ..Setup::new("dmodc", plugin) };
    let mut opensm = Opensm::start(sim, &setup)?;
    (opensm.notice, opensm.patience) = (NOTICE, PATIENCE);
    Ok(opensm)
}

/// Waits until the log of an OpenSM has these words.
fn wait_for(opensm: &mut Opensm, words: &str) -> Result<(), LabError> {
    let start = Instant::now();
    while !opensm.log().contains(words) {
        if !opensm.is_alive() {
            return Err(LabError::Failed(format!("opensm ended before its log had '{words}'")));
        }
        if start.elapsed().as_secs() > ROLE {
            return Err(LabError::TimedOut(format!("'{words}' in the log of opensm"), ROLE));
        }
        sleep(Duration::from_millis(30));
    }
    Ok(())
}

/// Returns the LIDs of what OpenSM shall know; those that are late get theirs from OpenSM. `dump_fts` (of
/// infiniband-diags 44) forgets a last block of one entry, so LIDs that could be alone there belong to nobody.
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
                lines.push(format!("0x{:016x} {word} {word}", NOBODY + u64::from(lid)));
            }
        }
    }
    lines.iter().map(|line| format!("{line}\n\n")).collect()
}

/// GUIDs from here on belong to nobody.
const NOBODY: u64 = 0xfeed_0000_0000_0000;
