//! The workbench: a fabric that is routed, broken and healed, with everything that happened to it.

use std::sync::Arc;

use dmodc::fabric::Part;
use dmodc::{Amount, Change, Degradation, Draw, Fabric, Router};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::engines::PageEngine;
use crate::event::{DeltaSize, Event, NAMED, Origin, PartCounts, TablesBefore};
use crate::names::{part_id, part_text};
use crate::problem::Problem;
use crate::scenario::Scenario;
use crate::setup::{Setup, route_problem};

/// Returns milliseconds since 1970. A server reads its clock; a page asks the browser.
pub type Clock = fn() -> f64;

/// The greatest number of changes that can be taken back.
const UNDO_STEPS: usize = 1000;

/// The greatest number of failed parts that an event keeps, so that the moment can be looked at again.
const KEPT_PARTS: usize = 2000;

/// Random faults.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RandomFaults {
    /// Cables between switches: a number or a percentage.
    #[serde(default)]
    pub cables: Option<String>,
    /// Switches: a number or a percentage.
    #[serde(default)]
    pub switches: Option<String>,
    /// The seed of the draw.
    #[serde(default)]
    pub seed: u64,
    /// Whether leaves may be drawn, too.
    #[serde(default)]
    pub any_switch: bool,
}

/// A change that somebody asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum ChangeRequest {
    /// These parts fail, and those are repaired.
    Parts {
        /// Names of the parts that fail.
        fail: Vec<String>,
        /// Names of the parts that are repaired.
        repair: Vec<String>,
    },
    /// The faults become those of a random draw.
    Random(RandomFaults),
    /// The last change is taken back.
    Undo,
    /// The change that was taken back last is made again.
    Redo,
    /// The fabric becomes as it was at first.
    Reset,
    /// Another engine routes from now on.
    Engine(PageEngine),
    /// The faults and the engine become those of a scenario.
    Scenario(Scenario),
}

/// A fabric that is routed, broken and healed. See the [crate](crate).
pub struct Workbench {
    setup: Arc<Setup>,
    engine: PageEngine,
    router: Router,
    before: TablesBefore,
    clock: Clock,
    revision: u64,
    /// The number of the drawing: the time at which the bench was made, and one more for each other fabric on it. So a page
    /// notices that the program was started again.
    scene: u64,
    /// The number of the next event.
    next_sequence: u64,
    undo: Vec<Vec<Change>>,
    redo: Vec<Vec<Change>>,
    last: Option<Event>,
}

impl Workbench {
    /// Routes a fabric for the first time.
    ///
    /// # Errors
    /// If the engine cannot route it.
    pub fn new(setup: Setup, engine: PageEngine, clock: Clock) -> Result<Self, Problem> {
        let start = clock();
        let setup = Arc::new(setup);
        let router = setup.router(engine, setup.first().clone())?;
        let before = TablesBefore::new(router.tables());
        let mut bench = Workbench {
            setup,
            engine,
            router,
            before,
            clock,
            revision: 0,
            scene: start as u64,
            next_sequence: 1,
            undo: vec![],
            redo: vec![],
            last: None,
        };
        bench.start_event(start);
        Ok(bench)
    }

    /// Puts another fabric on the bench, because the one that is followed has new parts. Nothing can be taken back.
    ///
    /// # Errors
    /// If the engine cannot route it: then the old fabric stays.
    pub fn replace(&mut self, setup: Setup) -> Result<&Event, Problem> {
        let start = (self.clock)();
        let setup = Arc::new(setup);
        let router = setup.router(self.engine, setup.first().clone())?;
        self.before = TablesBefore::new(router.tables());
        (self.setup, self.router) = (setup, router);
        self.scene += 1;
        self.undo.clear();
        self.redo.clear();
        self.start_event(start);
        Ok(self.last.as_ref().expect("an event was just made"))
    }

    fn start_event(&mut self, start: f64) {
        let all = self.router.tables().entry_count() as u64;
        let size =
            DeltaSize { entries: all, blocks: 0, switches: self.fabric().switches().len() as u64 };
        let text = format!("{} is routed by {}", self.setup.title(), self.engine);
        self.finish(Origin::Start, text, &[], start, size);
    }

    /// Numbers events from here on, because earlier ones are in a history. The event of the start gets this number.
    pub fn number_events_from(&mut self, sequence: u64) {
        if let Some(event) = &mut self.last {
            event.sequence = sequence;
        }
        self.next_sequence = sequence + 1;
    }

    /// Returns what is fixed about the routing.
    pub fn setup(&self) -> &Arc<Setup> {
        &self.setup
    }

    /// Returns the fabric.
    pub fn fabric(&self) -> &Arc<Fabric> {
        self.setup.fabric()
    }

    /// Returns the router, with the present tables.
    pub fn router(&self) -> &Router {
        &self.router
    }

    /// Returns the engine.
    pub fn engine(&self) -> PageEngine {
        self.engine
    }

    /// Returns the number of the state.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Returns the number of the drawing.
    pub fn scene_number(&self) -> u64 {
        self.scene
    }

    /// Returns the last event.
    pub fn last_event(&self) -> Option<&Event> {
        self.last.as_ref()
    }

    /// Adds a judgement to the last event, if it is about that event's state.
    pub fn note_judgement(&mut self, judgement: &Value) {
        let revision = judgement["revision"].as_u64();
        if let Some(event) = self.last.as_mut().filter(|event| Some(event.revision) == revision) {
            event.judgement = Some(judgement.clone());
        }
    }

    /// Makes a change, and returns its event. If nothing changes, the last event stays and is returned.
    ///
    /// # Errors
    /// If a part is unknown, or the engine cannot route the fabric after the change. Then nothing is changed.
    pub fn change(&mut self, request: ChangeRequest) -> Result<Option<&Event>, Problem> {
        let made = match request {
            ChangeRequest::Parts { fail, repair } => {
                let changes = self.named_changes(&fail, &repair)?;
                self.make(&changes, Origin::User)?
            }
            ChangeRequest::Random(random) => {
                let faults = self.drawn(&random)?;
                self.become_faults(&faults, Origin::Random)?
            }
            ChangeRequest::Reset => {
                let first = self.setup.first().clone();
                self.become_faults(&first, Origin::Reset)?
            }
            ChangeRequest::Undo => self.step_back()?,
            ChangeRequest::Redo => self.step_forward()?,
            ChangeRequest::Engine(engine) => self.use_engine(engine)?,
            ChangeRequest::Scenario(scenario) => {
                let faults = self.setup.faults(&scenario.failed)?;
                let engine = scenario.engine()?;
                let is_other = self.use_engine(engine)?;
                self.become_faults(&faults, Origin::Scenario)? | is_other
            }
        };
        Ok(self.last.as_ref().filter(|_| made))
    }

    /// Makes the faults those of the fabric that is followed. This cannot be taken back. Returns its event, if something
    /// changed.
    ///
    /// # Errors
    /// If the engine cannot route the fabric after the change.
    pub fn follow(&mut self, faults: &Degradation) -> Result<Option<&Event>, Problem> {
        let made = self.become_faults(faults, Origin::Follow)?;
        self.undo.clear();
        self.redo.clear();
        Ok(self.last.as_ref().filter(|_| made))
    }

    fn named_changes(&self, fail: &[String], repair: &[String]) -> Result<Vec<Change>, Problem> {
        let part = |name: &String| self.setup.find_part(name);
        let mut changes = Vec::with_capacity(fail.len() + repair.len());
        for name in fail {
            changes.push(Change::Dies(part(name)?));
        }
        for name in repair {
            changes.push(Change::Recovers(part(name)?));
        }
        Ok(changes)
    }

    /// Returns the faults of a draw, together with what was absent at first.
    fn drawn(&self, random: &RandomFaults) -> Result<Degradation, Problem> {
        let amount = |text: &Option<String>| match text.as_deref() {
            None | Some("") => Ok(Amount::ZERO),
            Some(text) => {
                text.parse::<Amount>().map_err(|error| Problem::Invalid(error.to_string()))
            }
        };
        let draw = Draw {
            cables: amount(&random.cables)?,
            switches: amount(&random.switches)?,
            any_cable: false,
            any_switch: random.any_switch,
            seed: random.seed,
        };
        let mut faults =
            draw.degradation(self.fabric()).map_err(|error| Problem::Invalid(error.to_string()))?;
        for part in self.setup.first().removed() {
            faults.set(part, true);
        }
        Ok(faults)
    }

    fn become_faults(&mut self, faults: &Degradation, origin: Origin) -> Result<bool, Problem> {
        let changes: Vec<Change> = faults
            .difference(self.router.degradation())
            .map(
                |part| {
                    if faults.is_dead(part) { Change::Dies(part) } else { Change::Recovers(part) }
                },
            )
            .collect();
        self.make(&changes, origin)
    }

    fn step_back(&mut self) -> Result<bool, Problem> {
        let Some(changes) = self.undo.pop() else {
            return Err(Problem::Conflict("there is nothing to take back".into()));
        };
        let back: Vec<Change> = changes.iter().map(|change| opposite(*change)).collect();
        if let Err(problem) = self.apply(&back, Origin::Undo) {
            self.undo.push(changes);
            return Err(problem);
        }
        self.redo.push(changes);
        Ok(true)
    }

    fn step_forward(&mut self) -> Result<bool, Problem> {
        let Some(changes) = self.redo.pop() else {
            return Err(Problem::Conflict("there is nothing to make again".into()));
        };
        if let Err(problem) = self.apply(&changes, Origin::Redo) {
            self.redo.push(changes);
            return Err(problem);
        }
        self.undo.push(changes);
        Ok(true)
    }

    /// Makes changes that can be taken back. Returns whether something changed.
    fn make(&mut self, changes: &[Change], origin: Origin) -> Result<bool, Problem> {
        let mut after = self.router.degradation().clone();
        for &change in changes {
            match change {
                Change::Dies(part) => after.set(part, true),
                Change::Recovers(part) => after.set(part, false),
            }
        }
        let real: Vec<Change> = after
            .difference(self.router.degradation())
            .map(
                |part| {
                    if after.is_dead(part) { Change::Dies(part) } else { Change::Recovers(part) }
                },
            )
            .collect();
        if real.is_empty() {
            return Ok(false);
        }
        self.apply(&real, origin)?;
        self.redo.clear();
        if self.undo.len() == UNDO_STEPS {
            self.undo.remove(0);
        }
        self.undo.push(real);
        Ok(true)
    }

    fn apply(&mut self, changes: &[Change], origin: Origin) -> Result<(), Problem> {
        let start = (self.clock)();
        match self.router.apply(changes) {
            Ok(delta) => {
                let size = self.before.follow(&delta, self.router.tables());
                let text = self.text_of(changes);
                self.finish(origin, text, changes, start, size);
                Ok(())
            }
            Err(error) => {
                // The state before could be routed, so it can be routed again.
                let back: Vec<Change> = changes.iter().map(|change| opposite(*change)).collect();
                let engine = self.engine;
                self.router.apply(&back).map_err(|error| route_problem(engine, &error))?;
                self.before.replace(self.router.tables());
                Err(route_problem(engine, &error))
            }
        }
    }

    fn use_engine(&mut self, engine: PageEngine) -> Result<bool, Problem> {
        if engine == self.engine {
            return Ok(false);
        }
        let start = (self.clock)();
        let router = self.setup.router(engine, self.router.degradation().clone())?;
        let size = self.before.replace(router.tables());
        let text = format!("the engine is {engine} instead of {}", self.engine);
        (self.router, self.engine) = (router, engine);
        self.finish(Origin::Engine, text, &[], start, size);
        Ok(true)
    }

    /// Notes an event.
    fn finish(
        &mut self,
        origin: Origin,
        text: String,
        changes: &[Change],
        start: f64,
        size: DeltaSize,
    ) {
        self.revision += 1;
        let now = (self.clock)();
        let fabric = self.setup.fabric();
        let (mut failed, mut repaired) = (vec![], vec![]);
        for change in changes {
            match change {
                Change::Dies(part) => failed.push(*part),
                Change::Recovers(part) => repaired.push(*part),
            }
        }
        let ids = |parts: &[Part], most: usize| -> Vec<String> {
            parts.iter().take(most).map(|&part| part_id(fabric, part)).collect()
        };
        let all: Vec<Part> = self.router.degradation().removed().collect();
        let event = Event {
            sequence: self.next_sequence,
            time_ms: now as u64,
            revision: self.revision,
            origin,
            engine: self.engine.to_string(),
            text,
            failed: ids(&failed, NAMED),
            repaired: ids(&repaired, NAMED),
            failed_count: failed.len(),
            repaired_count: repaired.len(),
            all_failed: PartCounts {
                switches: all.iter().filter(|part| matches!(part, Part::Switch(_))).count(),
                cables: all.iter().filter(|part| matches!(part, Part::Cable(_))).count(),
            },
            state: (all.len() <= KEPT_PARTS).then(|| ids(&all, KEPT_PARTS)),
            milliseconds: now - start,
            entries: size.entries,
            entries_total: self.router.tables().entry_count() as u64,
            blocks: size.blocks,
            switches: size.switches,
            valid: self.router.coverage().is_valid(),
            judgement: None,
        };
        self.next_sequence += 1;
        self.last = Some(event);
    }

    /// Returns changes in words.
    fn text_of(&self, changes: &[Change]) -> String {
        let list = |is_meant: fn(&Change) -> bool, verb: &str| {
            let meant: Vec<&Change> = changes.iter().filter(|change| is_meant(change)).collect();
            match meant[..] {
                [] => None,
                [one] => Some(format!("{} {verb}", self.part_words(part_of(one)))),
                _ => {
                    let switches =
                        meant.iter().filter(|change| matches!(part_of(change), Part::Switch(_)));
                    let switches = switches.count();
                    let words = counted(switches, meant.len() - switches);
                    Some(format!("{words} {verb}"))
                }
            }
        };
        let failed = list(|change| matches!(change, Change::Dies(_)), "failed");
        let repaired = list(|change| matches!(change, Change::Recovers(_)), "repaired");
        [failed, repaired].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    fn part_words(&self, part: Part) -> String {
        let kind = if matches!(part, Part::Switch(_)) { "switch" } else { "cable" };
        format!("{kind} {}", part_text(self.fabric(), part))
    }

    /// Returns the present faults and engine, to be loaded again.
    pub fn scenario(&self) -> Scenario {
        let failed = self.router.degradation().removed();
        let failed = failed.map(|part| part_id(self.fabric(), part)).collect();
        Scenario::new(self.setup.title(), self.engine, failed)
    }

    /// Returns the present state for the page.
    pub fn state(&self) -> Value {
        let cables = self.fabric().inter_switch_cables().len();
        let faults = self.router.degradation();
        let dead_cables = || faults.dead_cables().map(dmodc::CableIndex::at);
        let missing = self.setup.first().dead_cables().filter(|&c| faults.cable_is_dead(c));
        json!({
            "revision": self.revision,
            "scene": self.scene,
            "engine": self.engine,
            "reference": self.setup.about_reference(),
            "failed": {
                "switches": faults.dead_switches().map(dmodc::SwitchIndex::at).collect::<Vec<_>>(),
                "cables": dead_cables().filter(|&c| c < cables).collect::<Vec<_>>(),
                "node_cables": dead_cables().filter(|&c| c >= cables).map(|c| c - cables).collect::<Vec<_>>(),
            },
            "missing": {
                "cables": missing.map(dmodc::CableIndex::at).filter(|&c| c < cables).collect::<Vec<_>>(),
            },
            "can_undo": !self.undo.is_empty(),
            "can_redo": !self.redo.is_empty(),
            "event": self.last,
        })
    }
}

fn part_of(change: &Change) -> Part {
    match change {
        Change::Dies(part) | Change::Recovers(part) => *part,
    }
}

fn opposite(change: Change) -> Change {
    match change {
        Change::Dies(part) => Change::Recovers(part),
        Change::Recovers(part) => Change::Dies(part),
    }
}

/// Returns numbers of switches and cables in words.
fn counted(switches: usize, cables: usize) -> String {
    let words = |count: usize, one: &str, several: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {several}")),
    };
    let both = [words(switches, "switch", "switches"), words(cables, "cable", "cables")];
    both.into_iter().flatten().collect::<Vec<_>>().join(" and ")
}
