//! A fault script, event by event: how long until tables are uploaded, what changed, whether it is right.

use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use dmodc::{Degradation, Fabric, Live, NodeIndex};
use serde::Serialize;

use crate::error::LabError;
use crate::held::HeldTables;
use crate::image::{TableImage, count_differences};
use crate::opensm::{Opensm, OpensmEventKind, Setup, now};
use crate::saved::SavedState;
use crate::script::{ResolvedLine, Script, ScriptParts, Step};
use crate::sim::Sim;
use crate::verdict::{TableVerdict, digest};

/// The longest that OpenSM may take for one event, in seconds.
const LONGEST: u64 = 900;

/// The results of one event.
#[derive(Clone, Debug, Serialize)]
pub struct LabRow {
    /// The event, in the words of the script.
    pub event: String,
    /// The number of heavy sweeps that OpenSM made.
    pub sweeps: usize,
    /// The time from the event until the subnet was up, in seconds.
    pub upload_s: f64,
    /// How long the engine computed hop tables in the last sweep, in milliseconds.
    pub matrices_ms: f64,
    /// How long the engine computed forwarding tables in the last sweep, in milliseconds.
    pub tables_ms: f64,
    /// The part of `tables_ms` for routing alone, without reading OpenSM's fabric and writing its tables; only Dmodc
    /// reports it.
    pub routes_ms: Option<f64>,
    /// The reason if the engine gave no tables; the switches keep their old ones then.
    pub refused: Option<String>,
    /// The verdict on the tables, if they were read back.
    #[serde(flatten)]
    pub verdict: Option<TableVerdict>,
}

impl LabRow {
    /// Returns whether the engine gave tables, and nothing is wrong with them: they are sound, lose no pair, and are
    /// those of `dmodc route` where that is known.
    pub fn is_right(&self) -> bool {
        self.refused.is_none() && self.verdict.as_ref().is_none_or(TableVerdict::is_right)
    }

    /// Returns whether the tables are sound; tables that were not read back count as sound.
    pub fn is_sound(&self) -> bool {
        self.verdict.as_ref().is_none_or(|verdict| verdict.sound)
    }
}

/// A fabric, and the script of what happens to it.
#[derive(Clone, Copy)]
pub struct Lab<'a> {
    /// The fabric before anything happens.
    pub fabric: &'a Fabric,
    /// The library of our plugin.
    pub plugin: &'a Path,
    /// The events.
    pub script: &'a Script,
    /// Whether tables are read back and judged after each event.
    pub judges: bool,
}

impl Lab<'_> {
    /// Runs the script with an engine, and passes each row to `each` as soon as it is complete. Returns all rows.
    ///
    /// # Errors
    /// If the lab fails, or OpenSM uses another engine from the start.
    pub fn run(
        &self,
        engine: &str,
        mut each: impl FnMut(&LabRow),
    ) -> Result<Vec<LabRow>, LabError> {
        let steps = self.script.resolve(self.fabric);
        let steps = steps.map_err(|error| LabError::Failed(format!("the script: {error}")))?;
        let sim = Sim::start(self.fabric)?;
        let since = now();
        let setup = Setup { dumps: self.judges, ..Setup::new(engine, self.plugin) };
        let opensm = Opensm::start(&sim, &setup)?;
        let (is_ours, judges) = (engine == "dmodc", self.judges);
        let mut run = LabRun { sim, opensm, is_ours, judges, before: TableImage::new() };
        let mut rows = vec![run.row("start", since)?];
        if let Some(log) = rows[0].refused.take() {
            return Err(LabError::OtherEngine { engine: engine.into(), log });
        }
        each(&rows[0]);
        for ResolvedLine { event: name, step } in &steps {
            let since = now();
            if let Step::Wait(seconds) = step {
                sleep(Duration::from_secs((*seconds).into()));
                continue;
            }
            run.happen(step).map_err(|error| match error {
                LabError::Failed(why) => LabError::Failed(format!("{name}: {why}")),
                other => other,
            })?;
            let row = run.row(name, since)?;
            each(&row);
            rows.push(row);
        }
        Ok(rows)
    }
}

/// A running lab, and the tables before the present event.
struct LabRun {
    sim: Sim,
    opensm: Opensm,
    is_ours: bool,
    judges: bool,
    before: TableImage,
}

impl LabRun {
    /// Lets a step happen.
    fn happen(&mut self, step: &Step<ScriptParts>) -> Result<(), LabError> {
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

    /// Kills (`true`) or repairs (`false`) parts, one state after the other.
    fn set(&mut self, what: &ScriptParts, states: &[bool]) -> Result<(), LabError> {
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

    /// Waits until OpenSM has settled, and returns the results of the event.
    fn row(&mut self, name: &str, since: f64) -> Result<LabRow, LabError> {
        let (events, refused) = match self.opensm.settle(since, LONGEST) {
            Ok(events) => (events, None),
            Err(LabError::OtherEngine { log, .. }) => (Vec::new(), Some(log)),
            Err(other) => return Err(other),
        };
        let stage = |wanted: bool| {
            let time = |kind: &OpensmEventKind| match *kind {
                OpensmEventKind::Stage { is_tables, wall, .. } if is_tables == wanted => Some(wall),
                _ => None,
            };
            events.iter().rev().find_map(|event| time(&event.kind)).unwrap_or(0.0)
        };
        let up = events.iter().rev().find(|event| event.kind == OpensmEventKind::Up);
        Ok(LabRow {
            event: name.into(),
            sweeps: events.iter().filter(|event| event.kind == OpensmEventKind::Sweep).count(),
            upload_s: up.map_or(0.0, |event| event.time - since),
            matrices_ms: stage(false),
            tables_ms: stage(true),
            routes_ms: self.is_ours.then(|| self.opensm.routing_time()).flatten(),
            refused,
            verdict: self.judges.then(|| self.judge()).transpose()?,
        })
    }

    /// Reads the tables back and judges them.
    fn judge(&mut self) -> Result<TableVerdict, LabError> {
        let held = HeldTables::read(&self.sim)?;
        let folder = self.opensm.folder();
        let (saved, as_offline) = match self.is_ours {
            true => {
                let comparison = SavedState::compare(folder, false, &held)?;
                (comparison.saved, Some(comparison.differing.is_empty()))
            }
            false => (SavedState::read(folder, false), None),
        };
        let judgement = held.check(&saved.options()).nodes;
        let traces = held.follow(&self.sim);
        let before = std::mem::replace(&mut self.before, held.image);
        Ok(TableVerdict {
            entries_changed: count_differences(&before, &self.before),
            digest: digest(&self.before),
            as_offline,
            ..TableVerdict::new(&judgement, self.pairs(), traces)
        })
    }

    /// Returns the number of pairs of live nodes, whether OpenSM sees them or not.
    fn pairs(&self) -> u64 {
        let fabric = self.sim.fabric();
        let live = Live::new(fabric, self.sim.dead());
        let is_node = |n: &NodeIndex| live.node(*n) && !fabric.is_aggregation(*n);
        let nodes = fabric.node_indices().filter(is_node).count() as u64;
        nodes * nodes.saturating_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(lost: u64, cut_off: u64, sound: bool) -> TableVerdict {
        TableVerdict {
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

    fn row(verdict: TableVerdict) -> LabRow {
        LabRow {
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

    /// The printed sentence and the JSON keys of a row agree.
    #[test]
    fn words_and_numbers_of_a_row_agree() {
        for (lost, cut_off, sound, words) in [
            (0, 0, true, "the tables of 'dmodc route'; sound, every pair delivered"),
            (
                6594,
                0,
                true,
                "the tables of 'dmodc route'; sound, 8,906 of 15,500 node pairs delivered, 6,594 lost",
            ),
            (
                0,
                500,
                true,
                "the tables of 'dmodc route'; sound, 15,000 of 15,500 node pairs delivered, 500 cut off",
            ),
            (
                0,
                0,
                false,
                "the tables of 'dmodc route'; NOT SOUND (a deadlock is possible), every pair delivered",
            ),
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
