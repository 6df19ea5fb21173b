//! OpenSM on the simulated fabric, with one engine.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use dmodc::{Degradation, Guid, LeafRule, Live, Ranking, SwitchIndex};
use dmodc_formats::lft::{self, Lft};

use super::netlist::stand_in;
use super::plugin::check_plugin;
use super::process::Running;
use super::{LabError, Sim};

/// How OpenSM is started.
#[derive(Clone, Debug)]
pub struct Setup<'a> {
    /// The engine, by the name that `-R` takes.
    pub engine: &'a str,
    /// Our plugin. It also tells what OpenSM does while it runs another engine.
    pub plugin: &'a Path,
    /// What OpenSM goes on with if the engine fails; without it there are no tables then.
    pub fallback: Option<&'a str>,
    /// More lines for our plugin's configuration.
    pub config: &'a str,
    /// Whether OpenSM dumps its tables after each sweep, as the judges want them. On a large fabric that
    /// takes longer than the sweep.
    pub dumps: bool,
    /// Where it sits.
    pub seat: Seat<'a>,
}

/// Where an OpenSM sits in the fabric, and where its files are.
#[derive(Clone, Debug)]
pub struct Seat<'a> {
    /// The folder of its files, in the lab's own.
    pub folder: &'a str,
    /// The state folder of our plugin, if it is another one.
    pub state: Option<&'a Path>,
    /// The adapter, by the simulator's name, and the GUID of its port, if not where programs are attached.
    pub host: Option<(&'a str, Guid)>,
    /// More lines for OpenSM's own configuration.
    pub options: &'a str,
    /// One more library, which is loaded into it.
    pub library: Option<&'a Path>,
}

impl Default for Seat<'_> {
    fn default() -> Self {
        Seat { folder: "opensm", state: None, host: None, options: "", library: None }
    }
}

impl<'a> Setup<'a> {
    /// An engine, and nothing to fall back to.
    pub fn new(engine: &'a str, plugin: &'a Path) -> Self {
        Setup { engine, plugin, fallback: None, config: "", dumps: true, seat: Seat::default() }
    }
}

/// The engines that make sense on a fat-tree.
pub const ENGINES: [&str; 9] =
    ["dmodc", "minhop", "updn", "dnup", "ftree", "sssp", "dfsssp", "lash", "nue"];

/// Something that OpenSM told our plugin.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Seconds since the epoch.
    pub time: f64,
    /// What it is.
    pub kind: Kind,
}

/// What OpenSM tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A heavy sweep began.
    Sweep,
    /// Something was computed.
    Stage {
        /// Forwarding tables, or else hop tables.
        is_tables: bool,
        /// Milliseconds.
        wall: f64,
        /// Milliseconds of the processor.
        cpu: f64,
    },
    /// Tables were sent.
    Routed,
    /// The subnet is up.
    Up,
}

impl Event {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let time = words.next()?.parse().ok()?;
        let kind = match words.next()? {
            "sweep" => Kind::Sweep,
            "routed" => Kind::Routed,
            "up" => Kind::Up,
            stage @ ("matrices" | "tables") => {
                let mut numbers = words.skip(1).map(str::parse);
                let (wall, cpu) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
                Kind::Stage { is_tables: stage == "tables", wall, cpu }
            }
            _ => return None,
        };
        Some(Event { time, kind })
    }
}

/// A running OpenSM. It ends with this value.
pub struct Opensm {
    /// The engine whose tables are expected.
    engine: String,
    folder: PathBuf,
    process: Running,
    /// How much of its log is of events that are over.
    told: u64,
    /// After so long it is told to look.
    pub(super) notice: Duration,
    /// After so long without any event in the middle of a sweep it is told to look again.
    pub(super) patience: Duration,
}

impl Opensm {
    /// Starts OpenSM. What an earlier one on this fabric knew, it knows, too.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(sim: &Sim, setup: &Setup<'_>) -> Result<Self, LabError> {
        let (command, folder) = command(sim, setup)?;
        Opensm::spawn(command, setup.fallback.unwrap_or(setup.engine), folder)
    }

    fn spawn(mut command: Command, engine: &str, folder: PathBuf) -> Result<Self, LabError> {
        let io = |error| LabError::Io("opensm".into(), error);
        command.stdout(File::create(folder.join("opensm.out")).map_err(io)?);
        command.stderr(File::create(folder.join("opensm.err")).map_err(io)?);
        // What an earlier one wrote must not be taken for this one's.
        let _ = fs::remove_file(folder.join("opensm.log"));
        let process = Running(command.spawn().map_err(io)?);
        Ok(Opensm {
            engine: engine.into(),
            folder,
            process,
            told: 0,
            notice: NOTICE,
            patience: Duration::MAX,
        })
    }

    /// Where its files are.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The process, for signals.
    pub fn pid(&self) -> u32 {
        self.process.0.id()
    }

    /// Its log.
    pub fn log(&self) -> String {
        self.log_from(0)
    }

    /// How long its log is.
    pub(super) fn log_length(&self) -> u64 {
        fs::metadata(self.folder.join("opensm.log")).map_or(0, |log| log.len())
    }

    pub(super) fn log_from(&self, start: u64) -> String {
        let mut log = Vec::new();
        if let Ok(mut file) = File::open(self.folder.join("opensm.log"))
            && file.seek(SeekFrom::Start(start)).is_ok()
        {
            // What is not there yet comes with the next look.
            let _ = file.read_to_end(&mut log);
        }
        String::from_utf8_lossy(&log).into_owned()
    }

    /// Whether it has begun to look for other managers, and nothing more.
    pub(super) fn is_discovering(&self) -> bool {
        let log = self.log();
        log.trim_end().ends_with("Entering DISCOVERING state")
    }

    /// The last lines of its log, as one.
    pub(super) fn log_end(&self) -> String {
        let log = self.log();
        let lines: Vec<&str> = log.lines().rev().take(6).collect();
        lines.into_iter().rev().collect::<Vec<&str>>().join(" | ")
    }

    /// How long our engine routed in its last run, in milliseconds, as its status file says.
    pub fn routing_time(&self) -> Option<f64> {
        let status = fs::read(self.folder.join("status.json")).ok()?;
        let status: serde_json::Value = serde_json::from_slice(&status).ok()?;
        status["last"]["route_ms"].as_f64()
    }

    /// How much memory it has, in bytes.
    pub fn memory(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
    }

    /// What it told since it began.
    pub fn events(&self) -> Vec<Event> {
        let text = fs::read_to_string(self.folder.join("events")).unwrap_or_default();
        // The last line may be in the making.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        whole.lines().filter_map(Event::parse).collect()
    }

    /// Asks for a heavy sweep.
    pub fn resweep(&self) {
        self.signal("HUP");
    }

    fn signal(&self, name: &str) {
        // The shell's own: on a minimal system there is no program of this name.
        let (kill, pid) = (format!("kill -{name} \"$1\""), self.pid().to_string());
        let _ = Command::new("sh").args(["-c", &kill, "sh", &pid]).status();
    }

    /// Asks it to end, and waits for that. One that does not end in a while is killed.
    pub(super) fn stop(&mut self) {
        self.signal("TERM");
        let start = Instant::now();
        while self.is_alive() && start.elapsed() < STOP {
            sleep(Duration::from_millis(20));
        }
        self.kill();
    }

    /// Kills it without warning.
    pub(super) fn kill(&mut self) {
        let _ = self.process.0.kill();
        let _ = self.process.0.wait();
    }

    /// Whether it is still there.
    pub(super) fn is_alive(&mut self) -> bool {
        self.process.is_alive()
    }

    /// Waits until tables were uploaded after `since` and nothing more happens; what happened since. If
    /// OpenSM has not noticed anything after a while, it is told to look.
    ///
    /// # Errors
    /// If OpenSM ends, uses another engine, or takes longer than so many seconds.
    pub fn settle(&mut self, since: f64, longest: u64) -> Result<Vec<Event>, LabError> {
        let settled = self.wait(since, longest);
        self.told = fs::metadata(self.folder.join("opensm.log")).map_or(self.told, |log| log.len());
        settled
    }

    fn wait(&mut self, since: f64, longest: u64) -> Result<Vec<Event>, LabError> {
        let start = Instant::now();
        let (mut asked, mut seen, mut last_seen) = (false, 0, start);
        loop {
            let mut events = self.events();
            events.retain(|event| event.time >= since);
            let last = |kind: &Kind| {
                events.iter().rev().find(|event| event.kind == *kind).map(|event| event.time)
            };
            if let (Some(up), Some(sweep)) = (last(&Kind::Up), last(&Kind::Sweep))
                && up > sweep
                && now() - up > QUIET
            {
                self.used_the_engine()?;
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
                return Err(LabError::Failed(format!("opensm ended: {}", self.last_error())));
            }
            if self.has_given_up() {
                self.used_the_engine()?;
            }
            if start.elapsed().as_secs() > longest {
                return Err(LabError::TimedOut("a sweep of OpenSM".into(), longest));
            }
            sleep(Duration::from_millis(30));
        }
    }

    /// Whether no engine gave tables.
    fn has_given_up(&self) -> bool {
        self.log_from(self.told).contains("No routing engine able")
    }

    /// OpenSM falls back to another engine in silence; its log tells.
    fn used_the_engine(&self) -> Result<(), LabError> {
        let log = self.log_from(self.told);
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

    /// Returns the last error of the log. That no engine was able to route says nothing if another line says why.
    fn last_error(&self) -> String {
        let log = self.log_from(self.told);
        let is_error = |line: &&str| line.contains(" 0x01 -> ") || line.contains("ERR ");
        let errors: Vec<&str> = log.lines().filter(is_error).collect();
        let says_why = |line: &&&str| !line.contains("No routing engine able");
        let last = errors.iter().rev().find(says_why).or(errors.last());
        let last = last.copied().unwrap_or("its log has no error");
        last.split(" -> ").last().unwrap_or(last).to_string()
    }
}

/// So long nothing must happen before a sweep counts as the last one, in seconds.
const QUIET: f64 = 0.4;

/// After so long OpenSM is told to look.
const NOTICE: Duration = Duration::from_secs(3);

/// So long OpenSM may take to end.
const STOP: Duration = Duration::from_secs(10);

/// Seconds since the epoch, as in events.
pub fn now() -> f64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

/// The command of an OpenSM in a folder of its own. Engines that want roots get them.
fn command(sim: &Sim, setup: &Setup<'_>) -> Result<(Command, PathBuf), LabError> {
    let Setup { engine, plugin, seat, .. } = setup;
    let io = |error| LabError::Io("a folder for opensm".into(), error);
    let folder = sim.desk.folder.join(seat.folder);
    fs::create_dir_all(&folder).map_err(io)?;
    check_plugin(plugin)?;
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        if !path.exists() {
            fs::write(&path, text).map_err(io)?;
        }
        Ok::<_, LabError>(path)
    };
    let config = write("opensm.conf", format!("event_plugin_name dmodc\n{}", seat.options))?;
    let roots = write("roots", roots(sim))?;
    write("guid2lid", sim.guid_to_lid())?;
    let (files, state) = (folder.display(), seat.state.unwrap_or(&folder).display());
    let ours = write(
        "dmodc.conf",
        format!(
            "state_folder = \"{state}\"\nstatus_file = \"{files}/status.json\"\n\
             metrics_file = \"{files}/dmodc.prom\"\n{}\n",
            setup.config
        ),
    )?;
    let host = seat.host.map(|(host, _)| host).or(sim.desk.host.as_deref());
    let mut command = sim.desk.client_at("opensm", host, seat.library);
    command.env("OSM_CACHE_DIR", &folder).env("OSM_TMP_DIR", &folder);
    command.env("LD_LIBRARY_PATH", plugin.parent().unwrap_or(Path::new(".")));
    command.env("DMODC_CONF", ours).env("DMODC_EVENTS", folder.join("events"));
    if seat.library.is_some() {
        // What the library of a slow disk goes by.
        command.env("DMODC_LAB_SLOW", sim.desk.folder.join("disk-is-slow"));
        command.env("DMODC_LAB_DISK", sim.desk.folder.join("state-"));
    }
    command.arg("-e").arg("-F").arg(config);
    command.arg("-f").arg(folder.join("opensm.log"));
    let then = setup.fallback.unwrap_or("no_fallback");
    // Errors, what happens, and with 0x40 the dumps.
    let level = if setup.dumps { "0x43" } else { "0x03" };
    command.args(["-R", &format!("{engine},{then}"), "-D", level, "-d", "2"]);
    command.arg("--dump_files_dir").arg(&folder);
    let lmc = sim.fabric().nodes().iter().map(|node| node.lmc).max().unwrap_or(0);
    if lmc > 0 {
        command.arg("-l").arg(lmc.to_string());
    }
    if let Some(guid) = seat.host.map(|(_, guid)| guid).or(sim.attached_guid()) {
        command.arg("-g").arg(guid.to_string());
    }
    if matches!(*engine, "updn" | "dnup" | "ftree") {
        command.arg("-a").arg(roots);
    }
    if matches!(*engine, "lash" | "dfsssp" | "nue") {
        command.arg("-Q");
    }
    Ok((command, folder))
}

/// Returns the switches of the highest rank, as OpenSM's root_guid_file, in the part of the fabric that OpenSM sees.
fn roots(sim: &Sim) -> String {
    let fabric = sim.held();
    let healthy = Degradation::none(fabric);
    let ranking = Ranking::new(Live::new(fabric, &healthy), &LeafRule::Detect);
    let seen = |rank: &Vec<SwitchIndex>| -> Vec<SwitchIndex> {
        rank.iter().copied().filter(|&s| sim.is_seen(s)).collect()
    };
    let top = ranking.by_rank().iter().rev().map(seen).find(|top| !top.is_empty());
    top.iter().flatten().map(|&s| format!("{}\n", fabric.switch(s).guid)).collect()
}

/// What one of OpenSM's own engines computed.
#[derive(Clone, Debug)]
pub struct OpensmTables {
    /// The tables, matched with the fabric. OpenSM gives none to switches that it does not see.
    pub lft: Lft,
    /// How long the engine took for hop tables, in milliseconds.
    pub matrices_ms: f64,
    /// How long the engine took for forwarding tables, in milliseconds.
    pub tables_ms: f64,
}

/// Returns the tables of one of OpenSM's own engines for what is alive of a fabric.
///
/// # Errors
/// If something fails, or OpenSM used another engine.
pub fn tables_of(
    live: Live<'_>,
    engine: &str,
    plugin: &Path,
    longest: u64,
) -> Result<OpensmTables, LabError> {
    check_plugin(plugin)?;
    // What is dead is left out before the simulator starts; the GUIDs of the whole stand-in stay.
    let held = stand_in(live.fabric);
    let sim = Sim::start(&held.without(live.degradation))?;
    let (mut command, folder) = command(&sim, &Setup::new(engine, plugin))?;
    command.arg("-o");
    let mut opensm = Opensm::spawn(command, engine, folder)?;
    let start = Instant::now();
    while opensm.process.is_alive() && !opensm.has_given_up() {
        if start.elapsed().as_secs() > longest {
            return Err(LabError::TimedOut(format!("routing with {engine}"), longest));
        }
        sleep(Duration::from_millis(20));
    }
    opensm.used_the_engine()?;
    let mut times = [0.0; 2];
    for event in opensm.events() {
        if let Kind::Stage { is_tables, wall, .. } = event.kind {
            times[usize::from(is_tables)] = wall;
        }
    }
    let path = opensm.folder.join("opensm-lfts.dump");
    let dump = fs::read(&path).map_err(|error| LabError::Io("OpenSM's tables".into(), error))?;
    let lft = lft::read(&dump, &held)
        .map_err(|error| LabError::Failed(format!("OpenSM's tables: {error}")))?;
    let [matrices_ms, tables_ms] = times;
    Ok(OpensmTables { lft, matrices_ms, tables_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_line_by_line() {
        let stage = Kind::Stage { is_tables: true, wall: 5.115, cpu: 3.097 };
        assert_eq!(
            Event::parse("12.5 tables dmodc 5.115 3.097"),
            Some(Event { time: 12.5, kind: stage })
        );
        assert_eq!(Event::parse("1.0 up"), Some(Event { time: 1.0, kind: Kind::Up }));
        for line in ["", "x up", "1.0", "1.0 other", "1.0 tables dmodc 5", "1.0 tables a b c"] {
            assert_eq!(Event::parse(line), None, "{line}");
        }
    }
}
