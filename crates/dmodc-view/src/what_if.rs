//! What breaks next: every single fault, tried from the present state.

use std::collections::HashMap;
use std::ops::ControlFlow;

use dmodc::advise::{FaultScope, Present};
use dmodc::fabric::{CableEnds, Part};
use dmodc::judge::risk::{Effect, SeriesPattern};
use dmodc::{Change, Router, parallel};
use serde_json::{Value, json};

use crate::judgement::SEED;
use crate::names::{part_id, part_text};
use crate::problem::Problem;

/// In larger fabrics, a sample of the shifts is counted.
const ALL_SHIFTS: usize = 1024;
const SAMPLED_SHIFTS: usize = 64;

/// This many faults are tried between two reports of progress.
const ROUND: usize = 256;

/// Which faults are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WhatIfRequest {
    /// Which parts may fail.
    pub scope: FaultScope,
    /// The greatest number of rows of the answer.
    pub limit: usize,
}

impl WhatIfRequest {
    /// Takes the word for the parts: all, cables or switches.
    ///
    /// # Errors
    /// If it is another word.
    pub fn new(parts: &str, limit: usize) -> Result<Self, Problem> {
        let usual = FaultScope::default();
        let scope = match parts {
            "all" => usual,
            "cables" => FaultScope { switches: false, ..usual },
            "switches" => FaultScope { cables: false, ..usual },
            _ => {
                return Err(Problem::Invalid(format!(
                    "there are no parts '{parts}'; expected all, cables or switches"
                )));
            }
        };
        Ok(WhatIfRequest { scope, limit })
    }
}

/// Everything that faults have in common which are one row of the answer.
#[derive(Clone, PartialEq, Eq, Hash)]
struct RowKey {
    is_switch: bool,
    ranks: [Option<u32>; 2],
    interrupted: u64,
    a2a: u64,
    shift_sum: u64,
    entries: u64,
    blocks: u64,
}

/// Faults with the same effect.
struct Row {
    key: RowKey,
    first: Part,
    alike: usize,
    shifts: f64,
}

/// Tries every fault. `on_progress` hears how many of how many are done, and may end the work.
///
/// # Errors
/// [`Problem::Cancelled`] if it was ended; a conflict if the engine cannot route the fabric after a fault.
pub fn what_if(
    router: &Router,
    request: WhatIfRequest,
    on_progress: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
) -> Result<Value, Problem> {
    let nodes = router.fabric().nodes().len();
    let shifts = match nodes > ALL_SHIFTS {
        true => SeriesPattern::Shifts { count: SAMPLED_SHIFTS, seed: SEED },
        false => SeriesPattern::AllShifts,
    };
    let present = Present::new(router, &[shifts]);
    let faults = present.single_faults(request.scope);
    let mut rows = Rows::default();
    for (round, some) in faults.chunks(ROUND).enumerate() {
        if on_progress(round * ROUND, faults.len()).is_break() {
            return Err(Problem::Cancelled);
        }
        let effects = parallel::map_with(
            some,
            || present.what_if(),
            |what_if, &part| what_if.attempt(&[Change::Dies(part)]),
        );
        for (&part, effect) in some.iter().zip(effects) {
            let effect = effect.map_err(|error| Problem::Conflict(error.to_string()))?;
            rows.add(&present, part, &effect);
        }
    }
    if on_progress(faults.len(), faults.len()).is_break() {
        return Err(Problem::Cancelled);
    }
    Ok(rows.answer(&present, &faults, request.limit))
}

/// The rows of the answer.
#[derive(Default)]
struct Rows {
    rows: Vec<Row>,
    places: HashMap<RowKey, usize>,
}

impl Rows {
    fn add(&mut self, present: &Present<'_>, part: Part, effect: &Effect) {
        let router = present.router();
        let ranking = &router.preprocessing().ranking;
        let ranks = match part {
            Part::Switch(s) => [ranking.rank(s), None],
            Part::Cable(c) => match router.fabric().cable(c) {
                CableEnds::Switches(cable) => {
                    let (a, b) = (ranking.rank(cable.a.0), ranking.rank(cable.b.0));
                    [a.min(b), a.max(b)]
                }
                CableEnds::Node(_) => [None, None],
            },
        };
        let before = present.tally().delivery.delivered;
        let shifts = effect.after.series.first();
        let key = RowKey {
            is_switch: matches!(part, Part::Switch(_)),
            ranks,
            interrupted: before.saturating_sub(effect.after.delivery.delivered),
            a2a: effect.after.all_to_all.max,
            shift_sum: shifts.map_or(0, |shifts| shifts.sum),
            entries: effect.changes.entries,
            blocks: effect.changes.blocks,
        };
        let place = *self.places.entry(key.clone()).or_insert_with(|| {
            let shifts = shifts.map_or(0.0, dmodc::judge::risk::SeriesRisk::mean);
            self.rows.push(Row { key, first: part, alike: 0, shifts });
            self.rows.len() - 1
        });
        self.rows[place].alike += 1;
    }

    /// Returns the answer, the most harmful faults first.
    fn answer(mut self, present: &Present<'_>, faults: &[Part], limit: usize) -> Value {
        let harm =
            |row: &Row| (row.key.interrupted, row.key.a2a, row.key.shift_sum, row.key.entries);
        self.rows.sort_by(|a, b| harm(b).cmp(&harm(a)).then(a.first.cmp(&b.first)));
        let now = present.tally();
        let is_harmless =
            |row: &&Row| row.key.interrupted == 0 && row.key.a2a <= now.all_to_all.max;
        let harmless: usize = self.rows.iter().filter(is_harmless).map(|row| row.alike).sum();
        let fabric = present.router().fabric();
        let row = |row: &Row| {
            json!({
                "part": part_id(fabric, row.first),
                "name": part_text(fabric, row.first),
                "kind": if row.key.is_switch { "switch" } else { "cable" },
                "alike": row.alike,
                "lost": row.key.interrupted,
                "a2a": row.key.a2a,
                "sp": row.shifts,
                "entries": row.key.entries,
                "blocks": row.key.blocks,
            })
        };
        json!({
            "tried": faults.len(),
            "harmless": harmless,
            "groups": self.rows.len(),
            "rows": self.rows.iter().take(limit).map(row).collect::<Vec<_>>(),
            "now": {
                "a2a": now.all_to_all.max,
                "sp": now.series.first().map(dmodc::judge::risk::SeriesRisk::mean),
            },
        })
    }
}
