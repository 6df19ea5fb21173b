//! One event after the other: how long until tables are uploaded, what changed, whether it is right.

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use dmodc::judge::Delivery;
use dmodc::{Degradation, Fabric, Live, NodeIndex};
use serde::Serialize;

use super::held::{Held, Image, differing};
use super::opensm::{Kind, now};
use super::saved::Saved;
use super::script::{Parts, Step};
use super::{LabError, Opensm, Script, Setup, Sim};

/// The longest that OpenSM may take for one event, in seconds.
const LONGEST: u64 = 900;

/// What one event led to.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The event.
    pub event: String,
    /// How many heavy sweeps OpenSM made.
    pub sweeps: usize,
    /// From the event until the subnet was up, in seconds.
    pub upload_s: f64,
    /// How long the engine computed hop tables in the last sweep, in milliseconds.
    pub matrices_ms: f64,
    /// How long the engine computed forwarding tables in the last sweep, in milliseconds.
    pub tables_ms: f64,
    /// Of that, routing alone, without reading OpenSM's fabric and writing its tables; only Dmodc tells.
    pub routes_ms: Option<f64>,
    /// Why the engine gave no tables, if it did not: switches keep those they have.
    pub refused: Option<String>,
    /// What the switches hold, if that was looked at.
    #[serde(flatten)]
    pub verdict: Option<Verdict>,
}

/// What the switches hold after an event.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// Entries of the switches that are other than before the event.
    pub entries_changed: usize,
    /// Node pairs.
    pub pairs: u64,
    /// Node pairs that are delivered.
    pub delivered: u64,
    /// Node pairs that live cables connect and the tables do not deliver.
    pub lost: u64,
    /// Node pairs that no live cables connect, or that are cut off from OpenSM.
    pub cut_off: u64,
    /// Whether no packet loops and the channel dependency graph has no cycle.
    pub sound: bool,
    /// Whether the channel dependency graph has no cycle.
    pub deadlock_free: bool,
    /// A digest of what the switches hold.
    pub digest: u64,
    /// Whether the switches hold what `dmodc route` computes for the fabric of the moment; only for Dmodc.
    pub as_offline: Option<bool>,
    /// On how many pairs `ibtracert` was sent, with packets that switches forward.
    pub traced: usize,
    /// On how many of them it took the ports of the tables.
    pub followed: usize,
}

impl Verdict {
    /// Returns how many pairs are delivered, lost and cut off.
    pub fn delivery(&self) -> Delivery {
        let Verdict { pairs, delivered, lost, cut_off, .. } = *self;
        Delivery { pairs, delivered, lost, cut_off }
    }

    /// Returns whether nothing is wrong with what the switches hold. What a fault cuts off is no fault of theirs.
    fn is_right(&self) -> bool {
        self.sound
            && self.lost == 0
            && self.as_offline != Some(false)
            && self.followed == self.traced
    }
}

impl fmt::Display for Verdict {
    /// The same words as of `dmodc check`, and what only a lab can see.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.as_offline {
            Some(false) => "OTHER TABLES than dmodc route; ",
            Some(true) => "dmodc route's tables; ",
            None => "",
        })?;
        f.write_str(match (self.sound, self.deadlock_free) {
            (true, _) => "sound, ",
            (false, true) => "NOT SOUND (packets loop), ",
            (false, false) => "NOT SOUND (may deadlock), ",
        })?;
        match self.delivery() {
            all if all.is_complete() => f.write_str("every pair delivered")?,
            some => write!(f, "{some}")?,
        }
        match self.traced - self.followed {
            0 => Ok(()),
            other => {
                write!(f, "; ibtracert goes OTHER WAYS on {other} of {} pairs", self.traced)
            }
        }
    }
}

impl Row {
    /// Returns whether the engine gave tables, and nothing is wrong with them: they are sound, lose no pair, and are what `dmodc route` computes where that is known.
    pub fn is_right(&self) -> bool {
        self.refused.is_none() && self.verdict.as_ref().is_none_or(Verdict::is_right)
    }

    /// Returns whether the tables are sound; tables that were not looked at are taken for it.
    pub fn is_sound(&self) -> bool {
        self.verdict.as_ref().is_none_or(|verdict| verdict.sound)
    }
}

/// What happens to which fabric.
#[derive(Clone, Copy)]
pub struct Lab<'a> {
    /// The fabric, as it is before anything happens.
    pub fabric: &'a Fabric,
    /// Our plugin.
    pub plugin: &'a Path,
    /// What happens.
    pub script: &'a Script,
    /// Whether tables are read back and judged after each event.
    pub judges: bool,
}

impl Lab<'_> {
    /// Runs the script with an engine; `each` is told each row as it comes.
    ///
    /// # Errors
    /// If the lab fails, or OpenSM uses another engine from the start.
    pub fn run(&self, engine: &str, mut each: impl FnMut(&Row)) -> Result<Vec<Row>, LabError> {
        let steps = self.script.resolve(self.fabric);
        let steps = steps.map_err(|error| LabError::Failed(format!("the script: {error}")))?;
        let sim = Sim::start(self.fabric)?;
        let since = now();
        let setup = Setup { dumps: self.judges, ..Setup::new(engine, self.plugin) };
        let opensm = Opensm::start(&sim, &setup)?;
        let (is_ours, judges) = (engine == "dmodc", self.judges);
        let mut bench = Bench { sim, opensm, is_ours, judges, before: Image::new() };
        let mut rows = vec![bench.row("start", since)?];
        if let Some(log) = rows[0].refused.take() {
            return Err(LabError::OtherEngine { engine: engine.into(), log });
        }
        each(&rows[0]);
        for (name, step) in &steps {
            let since = now();
            if let Step::Wait(seconds) = step {
                sleep(Duration::from_secs((*seconds).into()));
                continue;
            }
            bench.take(step).map_err(|error| match error {
                LabError::Failed(why) => LabError::Failed(format!("{name}: {why}")),
                other => other,
            })?;
            let row = bench.row(name, since)?;
            each(&row);
            rows.push(row);
        }
        Ok(rows)
    }
}

/// A fabric, OpenSM, and what the switches held before.
struct Bench {
    sim: Sim,
    opensm: Opensm,
    is_ours: bool,
    judges: bool,
    before: Image,
}

impl Bench {
    /// Lets a step happen.
    fn take(&mut self, step: &Step<Parts>) -> Result<(), LabError> {
        match step {
            Step::Wait(_) => Ok(()),
            Step::RepairAll => {
                let healthy = Degradation::none(self.sim.fabric());
                self.sim.degrade(&healthy)
            }
            Step::Change { what, dead } => self.set(what, &[*dead]),
            Step::Flap { what, times } => self.set(what, &[true, false].repeat(*times as usize)),
        }
    }

    /// These parts become dead or not, one state after the other.
    fn set(&mut self, what: &Parts, states: &[bool]) -> Result<(), LabError> {
        let dies = states.first() != Some(&false);
        let parts = what.of(&self.sim, dies).map_err(LabError::Failed)?;
        for (at, &dead) in states.iter().enumerate() {
            if at > 0 {
                sleep(Duration::from_millis(150));
            }
            let mut wanted = self.sim.dead().clone();
            for &part in &parts {
                wanted.set(part, dead);
            }
            self.sim.degrade(&wanted)?;
        }
        Ok(())
    }

    /// Waits for OpenSM, and looks at what the switches hold then.
    fn row(&mut self, name: &str, since: f64) -> Result<Row, LabError> {
        let (events, refused) = match self.opensm.settle(since, LONGEST) {
            Ok(events) => (events, None),
            Err(LabError::OtherEngine { log, .. }) => (Vec::new(), Some(log)),
            Err(other) => return Err(other),
        };
        let stage = |wanted: bool| {
            let time = |kind: &Kind| match *kind {
                Kind::Stage { is_tables, wall, .. } if is_tables == wanted => Some(wall),
                _ => None,
            };
            events.iter().rev().find_map(|event| time(&event.kind)).unwrap_or(0.0)
        };
        let up = events.iter().rev().find(|event| event.kind == Kind::Up);
        Ok(Row {
            event: name.into(),
            sweeps: events.iter().filter(|event| event.kind == Kind::Sweep).count(),
            upload_s: up.map_or(0.0, |event| event.time - since),
            matrices_ms: stage(false),
            tables_ms: stage(true),
            routes_ms: self.is_ours.then(|| self.opensm.routing_time()).flatten(),
            refused,
            verdict: self.judges.then(|| self.judge()).transpose()?,
        })
    }

    /// Reads the tables back and judges them.
    fn judge(&mut self) -> Result<Verdict, LabError> {
        let held = Held::read(&self.sim)?;
        let (saved, as_offline) = match self.is_ours {
            true => {
                let (saved, differences) = Saved::compare(self.opensm.folder(), false, &held)?;
                (saved, Some(differences.is_empty()))
            }
            false => (Saved::read(self.opensm.folder(), false), None),
        };
        let judgement = held.check(&saved).nodes;
        let (traced, followed) = held.follow(&self.sim);
        let before = std::mem::replace(&mut self.before, held.image);
        // OpenSM does not see what is cut off from it, so those pairs are not among the judged ones.
        let unseen = self.pairs().saturating_sub(judgement.pairs);
        Ok(Verdict {
            entries_changed: differing(&before, &self.before),
            pairs: judgement.pairs + unseen,
            delivered: judgement.delivered,
            lost: judgement.lost,
            cut_off: judgement.cut_off + unseen,
            sound: judgement.is_sound(),
            deadlock_free: judgement.is_deadlock_free(),
            digest: digest(&self.before),
            as_offline,
            traced,
            followed,
        })
    }

    /// Returns how many pairs of live nodes there are, whether OpenSM sees them or not.
    fn pairs(&self) -> u64 {
        let fabric = self.sim.fabric();
        let live = Live::new(fabric, self.sim.dead());
        let is_node = |n: &NodeIndex| live.node(*n) && !fabric.is_aggregation(*n);
        let nodes = fabric.node_indices().filter(is_node).count() as u64;
        nodes * nodes.saturating_sub(1)
    }
}

/// Returns a digest of what the switches hold.
pub(super) fn digest(image: &Image) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(image)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(lost: u64, cut_off: u64, sound: bool) -> Verdict {
        Verdict {
            entries_changed: 0,
            pairs: 15_500,
            delivered: 15_500 - lost - cut_off,
            lost,
            cut_off,
            sound,
            deadlock_free: sound,
            digest: 0,
            as_offline: Some(true),
            traced: 6,
            followed: 6,
        }
    }

    fn row(verdict: Verdict) -> Row {
        Row {
            event: "start".into(),
            sweeps: 1,
            upload_s: 0.0,
            matrices_ms: 0.0,
            tables_ms: 0.0,
            routes_ms: None,
            refused: None,
            verdict: Some(verdict),
        }
    }

    /// What is printed and what scripts read say the same of the same row.
    #[test]
    fn words_and_numbers_of_a_row_agree() {
        for (lost, cut_off, sound, words) in [
            (0, 0, true, "dmodc route's tables; sound, every pair delivered"),
            (
                6594,
                0,
                true,
                "dmodc route's tables; sound, 8,906 of 15,500 node pairs delivered, 6,594 lost",
            ),
            (
                0,
                500,
                true,
                "dmodc route's tables; sound, 15,000 of 15,500 node pairs delivered, 500 cut off",
            ),
            (0, 0, false, "dmodc route's tables; NOT SOUND (may deadlock), every pair delivered"),
        ] {
            let row = row(verdict(lost, cut_off, sound));
            assert_eq!(row.verdict.as_ref().expect("it has one").to_string(), words);
            let json = serde_json::to_value(&row).expect("a row is JSON");
            assert_eq!((&json["lost"], &json["cut_off"]), (&lost.into(), &cut_off.into()));
            assert_eq!(json["sound"], sound);
            assert_eq!(json["pairs"], 15_500);
            assert_eq!(row.is_sound(), sound);
            assert_eq!(row.is_right(), sound && lost == 0);
        }
    }
}
