//! Random life: whatever happens to a fabric in years, in an hour, judged after each event.
//!
//! | | |
//! |---|---|
//! | `world` | what there is, spares included, and how it is cabled |
//! | `life` | what may happen, and the draw |
//! | `managers` | two OpenSMs, of which one is in charge |
//! | `disk` | a state folder that can be full or slow |
//! | `judge` | whether everything is as it should be |
//! | `roads` | what no tables of ours can deliver |
//! | `balance` | how evenly traffic is spread |
//! | `summary` | what it amounts to |

mod balance;
mod disk;
mod judge;
mod life;
mod managers;
mod roads;
mod summary;
mod world;

pub use balance::Balance;
pub use life::Kind;
pub use summary::Summary;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

use dmodc::{Fabric, Random};
use serde::Serialize;

use self::disk::Disk;
use self::judge::{BALANCED, Facts, Snapshot, Status, destinations};
use self::life::{Act, Means, Stays};
use self::managers::Managers;
use self::world::{Links, World};
use super::held::{Held, differing};
use super::netlist::stand_in;
use super::run::Verdict;
use super::saved::Saved;
use super::sim::attach;
use super::{LabError, Sim, now};

/// How long life goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// For so many events after the start.
    Events(usize),
    /// For so long.
    Time(Duration),
}

/// Random life of a fabric.
#[derive(Clone, Copy)]
pub struct Soak<'a> {
    /// The fabric. One host in fifty is off at first.
    pub fabric: &'a Fabric,
    /// Our plugin.
    pub plugin: &'a Path,
    /// How long.
    pub length: Length,
    /// What everything is drawn from.
    pub seed: u64,
    /// Whether the plugin learns a reference.
    pub learns: bool,
    /// What may happen, if not everything.
    pub only: Option<&'a [Kind]>,
    /// A folder for the fabric and the switches' tables after each event, as text.
    pub dump: Option<&'a Path>,
}

/// A change of who is in charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Handover {
    /// Whether both have one state folder.
    pub is_shared: bool,
    /// Entries that moved.
    pub moved: usize,
    /// Entries that would have moved if both had one state folder; not known of the way back.
    pub moved_if_shared: Option<usize>,
}

/// What one event led to.
#[derive(Clone, Debug, Serialize)]
pub struct SoakRow {
    /// The number of the event; the start is 0.
    pub number: usize,
    /// What happened, in words.
    pub event: String,
    /// What kind of event it was.
    pub kind: Kind,
    /// How many heavy sweeps OpenSM made.
    pub sweeps: usize,
    /// From the event until the subnet was up, in seconds.
    pub upload_s: f64,
    /// What the switches hold.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Node pairs that cables connect, but no up\*down\* way does: they are lost to any tables of ours.
    pub roadless: u64,
    /// Entries in which they differ from what `dmodc route` computes.
    pub differences: usize,
    /// Whether nothing was at fault, and no host absent that was ever there.
    pub quiet: bool,
    /// How evenly traffic is spread.
    pub balance: Balance,
    /// Entries that moved, of switches and towards destinations that the event was not about.
    pub others_moved: usize,
    /// Whether none of them should have.
    pub must_stay: bool,
    /// If another OpenSM took over.
    pub handover: Option<Handover>,
    /// How often OpenSM had to be told to look once more.
    pub nudges: usize,
    /// How often OpenSM never began to look at the fabric and was started again: the simulator swallows a packet now and then.
    pub stalls: usize,
    /// What is wrong, a sentence each.
    pub wrong: Vec<String>,
}

/// What a soak tells while it runs.
pub enum Progress<'a> {
    /// What this machine cannot do, and why.
    Skipped(&'a str),
    /// An event is over.
    Event(&'a SoakRow),
}

impl Soak<'_> {
    /// Lets life happen; `each` is told what happens as it comes.
    ///
    /// # Errors
    /// If the lab itself fails.
    pub fn run(
        &self,
        mut each: impl FnMut(Progress<'_>),
    ) -> Result<(Vec<SoakRow>, Summary), LabError> {
        let start = Instant::now();
        let mut random = Random::new(self.seed, STREAM);
        let (mut bench, skipped) = Bench::start(self, &mut random)?;
        let mut summary = Summary { seed: self.seed, skipped, ..Summary::default() };
        summary.skipped.iter().for_each(|why| each(Progress::Skipped(why)));
        let mut rows: Vec<SoakRow> = Vec::new();
        let first = life::Event {
            kind: Kind::Start,
            name: "start".into(),
            act: Act::Nothing,
            stays: Stays::Nothing,
        };
        let mut next = Some(first);
        while let Some(event) = next.take() {
            let row = bench.event(rows.len(), &event).map_err(|error| {
                let (seed, number, name) = (self.seed, rows.len(), &event.name);
                LabError::Failed(format!("seed {seed}, event {number} ({name}): {error}"))
            })?;
            summary.add(&row);
            summary.seconds = start.elapsed().as_secs_f64();
            summary.weigh(&bench.managers.memory);
            each(Progress::Event(&row));
            rows.push(row);
            let goes_on = match self.length {
                Length::Events(count) => rows.len() <= count,
                Length::Time(time) => start.elapsed() < time,
            };
            if goes_on {
                let means = bench.means();
                next = Some(match bench.is_renumbering_due {
                    true => life::Event::renumber(),
                    false => life::draw(&mut bench.world, means, self.only, &mut random),
                });
            }
        }
        Ok((rows, summary))
    }
}

/// The stream of a seed from which life is drawn.
const STREAM: u64 = 7;

/// So often OpenSM is told to look once more before what it says is taken for its last word.
const NUDGES: usize = 3;

/// So long what the plugin says may be behind.
const BEHIND: Duration = Duration::from_secs(2);

/// The same of what takes longer: a disk, or measuring the balance.
const LONG_BEHIND: Duration = Duration::from_secs(20);

/// If the balance is so many times that of a fresh numbering, the plugin must say so.
const NOTICED: f64 = 1.08;

/// The file by which `dmodc opensm renumber` asks for numbering anew.
const RENUMBER: &str = "renumber";

/// A simulated fabric, who manages it, and what was before.
struct Bench<'a> {
    world: World,
    /// The cables that work in the simulator.
    links: Links,
    managers: Managers<'a>,
    disk: Disk,
    sim: Sim,
    before: Snapshot,
    /// Whether somebody came for whom no place was kept since numbers were given.
    has_grown: bool,
    /// Whether anybody ever came for whom no place was kept. Leaves are unequal from then on, so that the places kept
    /// for late hosts are guesses.
    is_uneven: bool,
    /// Whether that has cost so much balance that an operator would number anew.
    is_renumbering_due: bool,
    dump: Option<&'a Path>,
}

impl<'a> Bench<'a> {
    /// Starts everything. Also returns what this machine cannot do, and why.
    fn start(soak: &Soak<'a>, random: &mut Random) -> Result<(Self, Vec<String>), LabError> {
        let held = stand_in(soak.fabric);
        let (attached, _) = attach(&held);
        let attached = attached.ok_or_else(|| LabError::Failed("the fabric has no node".into()))?;
        let world = World::new(&held, attached, random);
        let io = |error| LabError::Io("a folder".into(), error);
        let net = world.netlist().map_err(io)?;
        let sim = Sim::start_as(soak.fabric, held, &net)?;
        let disk = Disk::new(sim.folder()).map_err(io)?;
        let mut skipped = Vec::new();
        if let Err(why) = &disk.mounted {
            skipped.push(format!("a full disk: mounting one needs root ({why})"));
        }
        if let Err(why) = &disk.library {
            skipped.push(format!("a slow disk: the library for it needs a C compiler ({why})"));
        }
        if world.managers.len() < 2 {
            skipped.push("handovers: no host on another leaf can be a second manager".into());
        }
        let managers = Managers::start(&sim, &world, &disk, soak.plugin, soak.learns)?;
        let (links, before) = (world.links(), Snapshot::default());
        let (has_grown, is_renumbering_due) = (false, false);
        let bench = Bench {
            world,
            links,
            managers,
            disk,
            sim,
            before,
            has_grown,
            is_uneven: false,
            is_renumbering_due,
            dump: soak.dump,
        };
        Ok((bench, skipped))
    }

    fn means(&self) -> Means {
        Means {
            can_fill: self.disk.mounted.is_ok(),
            can_slow: self.disk.library.is_ok(),
            is_second: self.managers.current > 0,
        }
    }

    /// Brings the simulator to what the world is now.
    fn apply(&mut self) -> Result<(), LabError> {
        let links = self.world.links();
        let lines = self.world.console(&self.links, &links);
        self.links = links;
        self.sim.tell(&lines)
    }

    /// Lets an event happen, waits for OpenSM, and judges.
    fn event(&mut self, number: usize, event: &life::Event) -> Result<SoakRow, LabError> {
        let earlier = Saved::read(self.managers.state(), self.managers.learns);
        let mut course =
            Course { since: now(), mark: self.managers.opensm.log_length(), ..Course::default() };
        self.happen(event, &mut course)?;
        self.settle(&mut course)?;
        if event.act == Act::FullDisk {
            // Only who is new has to be written down.
            let is_written = event.stays != Stays::Nothing;
            self.outlive_full_disk(&mut course, is_written)?;
        }
        let mut row = self.judge(event, &mut course, &earlier, number)?;
        row.number = number;
        Ok(row)
    }

    /// Waits for OpenSM. If it ended, or gave no tables of ours, the event is wrong, and it is started again.
    fn settle(&mut self, course: &mut Course) -> Result<(), LabError> {
        let events = match self.managers.settle(course.since) {
            // The simulator swallowed a packet that OpenSM waits for before it looks at the fabric: nobody asked an engine yet.
            Err(LabError::TimedOut(..)) if self.managers.opensm.is_discovering() => {
                course.stalls += 1;
                self.managers.restart(&mut self.sim, true)?;
                (course.since, course.mark) = (now(), 0);
                self.managers.settle(course.since)?
            }
            Err(
                error @ (LabError::Failed(_)
                | LabError::OtherEngine { .. }
                | LabError::TimedOut(..)),
            ) => {
                let end = self.managers.opensm.log_end();
                course.wrong.push(format!("OpenSM FAILED: {error}; its log ends with: {end}"));
                self.managers.restart(&mut self.sim, true)?;
                (course.since, course.mark) = (now(), 0);
                self.managers.settle(course.since)?
            }
            settled => settled?,
        };
        let up = events.iter().rev().find(|event| event.kind == super::Kind::Up);
        course.sweeps = events.iter().filter(|event| event.kind == super::Kind::Sweep).count();
        course.upload_s = up.map_or(0.0, |event| event.time - course.since);
        Ok(())
    }

    /// Does what the event says, up to where OpenSM has to react.
    fn happen(&mut self, event: &life::Event, course: &mut Course) -> Result<(), LabError> {
        let io = |error| LabError::Io("the disk of the state folder".into(), error);
        // A state folder of its own may be from long ago.
        let is_other_state = match event.act {
            Act::Handover { is_shared } => !is_shared,
            Act::Handback => !self.managers.is_shared,
            _ => false,
        };
        self.has_grown |=
            event.is_growth() || is_other_state || (self.is_uneven && event.brings_late_hosts());
        self.is_uneven |= event.is_growth();
        match event.act {
            Act::Nothing => self.apply(),
            Act::Flap { cable, times } => {
                for _ in 0..times {
                    for is_dead in [true, false] {
                        self.world.cables[cable].is_dead = is_dead;
                        self.apply()?;
                        sleep(Duration::from_millis(150));
                    }
                }
                Ok(())
            }
            Act::Restart => {
                course.mark = 0;
                self.managers.restart(&mut self.sim, false)
            }
            Act::Kill { after } => {
                self.apply()?;
                self.managers.opensm.resweep();
                sleep(Duration::from_millis(after));
                course.mark = 0;
                self.managers.restart(&mut self.sim, true)?;
                course.since = now();
                Ok(())
            }
            Act::Handover { is_shared } => {
                course.since = self.managers.hand_over(&mut self.sim, is_shared)?;
                course.mark = 0;
                Ok(())
            }
            Act::Handback => {
                course.since = self.managers.hand_back(&mut self.sim)?;
                course.mark = 0;
                Ok(())
            }
            Act::FullDisk => {
                self.disk.fill().map_err(io)?;
                self.apply()
            }
            Act::SlowDisk => {
                self.disk.be_slow(true).map_err(io)?;
                self.apply()
            }
            Act::Renumber => {
                self.has_grown = false;
                fs::write(self.managers.state().join(RENUMBER), "").map_err(io)?;
                self.managers.opensm.resweep();
                Ok(())
            }
        }
    }

    /// Returns what is wrong with the balance of numbers that growth has cost some: whether the plugin says so. Also
    /// decides whether an operator would number anew.
    fn weigh_growth(&mut self, balance: &Balance) -> Option<String> {
        self.is_renumbering_due = balance.ratio() > BALANCED;
        // The plugin may draw other shifts than we, so it may be of another opinion on what hardly matters.
        if balance.ratio() <= NOTICED {
            return None;
        }
        let path = self.managers.opensm.folder().join("status.json");
        let is_noticed = || {
            let status = fs::read(&path).ok()?;
            let status: serde_json::Value = serde_json::from_slice(&status).ok()?;
            status["numbers"]["noticeable"].as_bool()
        };
        let start = Instant::now();
        while is_noticed() != Some(true) {
            if start.elapsed() > LONG_BEHIND {
                return Some("the status does not say that the numbers cost BALANCE".into());
            }
            sleep(Duration::from_millis(100));
        }
        None
    }

    /// While the disk is full, tables must be right and the log must say so; then there is room again.
    fn outlive_full_disk(&mut self, course: &mut Course, is_written: bool) -> Result<(), LabError> {
        let held = Held::read(&self.sim)?;
        let saved = Saved::read(self.managers.state(), false);
        let lost = held.check(&saved).nodes.lost;
        if lost > 0 {
            course.wrong.push(format!("{lost} node pairs are LOST while the disk is full"));
        }
        let start = Instant::now();
        let orders = self.managers.state().join("dmodc.orders");
        let began = SystemTime::UNIX_EPOCH + Duration::from_secs_f64(course.since);
        // What a killed process left behind is removed first, which may make room.
        let is_done = || {
            let written = fs::metadata(&orders).and_then(|about| about.modified());
            let log = self.managers.opensm.log_from(course.mark);
            log.contains("No space left") || written.is_ok_and(|written| written >= began)
        };
        while is_written && !is_done() && start.elapsed() < LONG_BEHIND {
            sleep(Duration::from_millis(50));
        }
        if is_written && !is_done() {
            course.wrong.push("the log does not say that the disk is FULL".into());
        }
        self.disk.free().map_err(|error| LabError::Io("the full disk".into(), error))?;
        self.nudge(course)
    }

    /// Tells OpenSM to look once more, and waits for it.
    fn nudge(&mut self, course: &mut Course) -> Result<(), LabError> {
        let since = now();
        self.managers.opensm.resweep();
        course.nudges += 1;
        self.managers.settle(since).map(|_| ())
    }

    /// Reads what the switches hold, once the plugin speaks of that fabric.
    fn read(&mut self, course: &mut Course) -> Result<Held, LabError> {
        loop {
            let held = Held::read(&self.sim)?;
            let start = Instant::now();
            let expected = Status::expected(&held, &Default::default());
            let path = self.managers.opensm.folder().join("status.json");
            while start.elapsed() < BEHIND {
                if Status::read(&path).is_some_and(|status| status.is_of_the_same(&expected)) {
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

    fn judge(
        &mut self,
        event: &life::Event,
        course: &mut Course,
        earlier: &Saved,
        number: usize,
    ) -> Result<SoakRow, LabError> {
        let held = self.read(course)?;
        if let Some(folder) = self.dump {
            let dumped = held.dump(folder, number);
            dumped.map_err(|error| LabError::Io(folder.display().to_string(), error))?;
        }
        if event.act == Act::SlowDisk {
            let slow = self.disk.be_slow(false);
            slow.map_err(|error| LabError::Io("the slow disk".into(), error))?;
        }
        let learns = self.managers.learns;
        let (saved, differ) = Saved::compare(self.managers.state(), learns, &held)?;
        let judgement = held.check(&saved).nodes;
        // Where nothing is lost there is nothing to excuse.
        let roadless = match judgement.lost {
            0 => 0,
            _ => roads::roadless(&held.fabric, &saved.options()),
        };
        let traced = held.follow(&self.sim);
        let balance = Balance::of(&held.fabric, &held.tables)?;
        let quiet = self.world.is_whole();
        let now = Snapshot::of(&held);
        let (stays, moved) = self.moved(event, &now, earlier, &held)?;
        let handover = self.handover(event, &held)?;
        let told = self.told(&held, &judgement, course.mark);
        let nodes = self.world.nodes();
        let pairs = nodes * nodes.saturating_sub(1);
        let unseen = pairs.saturating_sub(judgement.pairs);
        let verdict = Verdict {
            entries_changed: differing(&self.before.image, &now.image),
            pairs: judgement.pairs + unseen,
            delivered: judgement.delivered,
            lost: judgement.lost,
            cut_off: judgement.cut_off + unseen,
            sound: judgement.is_sound(),
            deadlock_free: judgement.is_deadlock_free(),
            digest: super::run::digest(&now.image),
            as_offline: Some(differ.is_empty()),
            traced: traced.0,
            followed: traced.1,
        };
        let mut wrong = std::mem::take(&mut course.wrong);
        self.is_renumbering_due = false;
        let quiet_balance = match quiet && self.has_grown {
            true => {
                wrong.extend(self.weigh_growth(&balance));
                None
            }
            false => quiet.then_some(&balance),
        };
        let request = self.managers.state().join(RENUMBER);
        if event.act == Act::Renumber && is_there_for(&request, LONG_BEHIND) {
            wrong.push("the request for numbering anew is STILL THERE".into());
        }
        let (differ, stays) = (&*differ, &stays);
        let facts = Facts {
            judgement: &judgement,
            roadless,
            traced,
            differ,
            quiet: quiet_balance,
            moved: &moved,
            stays,
            told,
        };
        wrong.extend(facts.wrong());
        wrong.extend(self.unlike(&held));
        self.before = now;
        Ok(SoakRow {
            number: 0,
            event: event.name.clone(),
            kind: event.kind,
            sweeps: course.sweeps,
            upload_s: course.upload_s,
            verdict,
            roadless,
            differences: differ.len(),
            quiet,
            balance,
            others_moved: moved.len(),
            must_stay: *stays != Stays::Nothing,
            handover,
            nudges: course.nudges,
            stalls: course.stalls,
            wrong,
        })
    }

    /// Returns what must not move, and the entries that did although the event was not about them.
    fn moved(
        &self,
        event: &life::Event,
        now: &Snapshot,
        earlier: &Saved,
        held: &Held,
    ) -> Result<(Stays, Vec<(u64, usize)>), LabError> {
        let stays = match event.act {
            Act::Handback if self.managers.is_shared => Stays::Everything,
            _ => event.stays.clone(),
        };
        let moved = match &stays {
            Stays::Nothing => self.before.moved(now, &BTreeSet::new()),
            Stays::AllBut(devices) => self.before.moved(now, &destinations(&self.world, devices)),
            // The tables that the files from before give now; if nothing happened to the fabric, those from before.
            Stays::Everything => {
                super::held::differences(&earlier.route(&held.fabric)?, &now.image).collect()
            }
        };
        Ok((stays, moved))
    }

    fn handover(&self, event: &life::Event, held: &Held) -> Result<Option<Handover>, LabError> {
        if !matches!(event.act, Act::Handover { .. } | Act::Handback) {
            return Ok(None);
        }
        let moved = differing(&self.before.image, &held.image);
        let first = Saved::read(self.managers.first_state(), self.managers.learns);
        let moved_if_shared = match event.act {
            Act::Handover { .. } => {
                Some(differing(&self.before.image, &first.route(&held.fabric)?))
            }
            _ => None,
        };
        Ok(Some(Handover { is_shared: self.managers.is_shared, moved, moved_if_shared }))
    }

    /// Returns what the plugin says that is not so, after it had time to say it.
    fn told(&self, held: &Held, judgement: &dmodc::judge::Scope, mark: u64) -> Option<String> {
        let expected = Status::expected(held, judgement);
        let path = self.managers.opensm.folder().join("status.json");
        let start = Instant::now();
        loop {
            let status = Status::read(&path);
            let log = self.managers.opensm.log_from(mark);
            let is_logged = log.contains(&format!("; {};", expected.delivery));
            if status == Some(expected) && is_logged {
                return None;
            }
            if start.elapsed() > BEHIND {
                return Some(match status == Some(expected) {
                    true => format!("the LOG does not say '{}'", expected.delivery),
                    false => format!("the STATUS is {status:?}, not {expected:?}"),
                });
            }
            sleep(Duration::from_millis(100));
        }
    }

    /// Returns in what the discovered fabric is not what it should be: then the simulator, or we, are wrong.
    fn unlike(&self, held: &Held) -> Option<String> {
        let manager = self.world.managers[self.managers.current].device;
        let reached = self.world.reachable(manager);
        let switches = reached.iter().filter(|&&device| self.world.devices[device].is_switch());
        let (wanted, found) = (switches.count(), held.fabric.switches().len());
        let is_there = |[a, b]: &&[world::Place; 2]| {
            [a, b].iter().all(|place| self.world.devices[place.device].is_switch())
                && reached.contains(&a.device)
        };
        let cables = self.links.iter().filter(is_there).count();
        let discovered = held.fabric.inter_switch_cables().len();
        ((wanted, cables) != (found, discovered)).then(|| {
            format!(
                "the SIMULATOR has {found} switches and {discovered} cables between them, not {wanted} and {cables}"
            )
        })
    }
}

/// How an event goes.
#[derive(Default)]
struct Course {
    since: f64,
    /// Where the log of the event begins.
    mark: u64,
    sweeps: usize,
    upload_s: f64,
    nudges: usize,
    stalls: usize,
    wrong: Vec<String>,
}

/// Whether a file is there all the time.
fn is_there_for(path: &Path, time: Duration) -> bool {
    let start = Instant::now();
    while path.exists() {
        if start.elapsed() > time {
            return true;
        }
        sleep(Duration::from_millis(50));
    }
    false
}
