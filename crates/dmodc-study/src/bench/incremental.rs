//! Faults and repairs that a router applies to the tables that it keeps.

use std::time::Duration;

use dmodc::fabric::Part;
use dmodc::{CableIndex, Change, Random, RouteError, Router, SwitchIndex};
use serde_json::json;

use super::rewrite::RewrittenEntries;
use super::session::BenchSession;
use super::times::{RowFields, fields, median, ms, timed};

/// Parts whose death is measured one by one.
pub(super) struct Victims {
    pub(super) cables: Vec<Part>,
    pub(super) switches: Vec<Part>,
}

impl BenchSession<'_> {
    /// Draws live cables between switches, and live switches of the highest rank.
    pub(super) fn victims(&self) -> Victims {
        let mut random = Random::new(self.case.seed, 2);
        let live = self.live();
        let cables = self.fabric.inter_switch_cables().len();
        let mut cables: Vec<Part> = (0..cables)
            .map(|at| Part::Cable(CableIndex::new(at)))
            .filter(|p| self.is_alive(p))
            .collect();
        random.shuffle(&mut cables);
        cables.truncate(15);
        let by_rank = self.routing.ranking(live).by_rank();
        let top: &[SwitchIndex] = by_rank.last().map_or(&[], |top| top);
        let mut switches: Vec<Part> = top.iter().copied().map(Part::Switch).collect();
        random.shuffle(&mut switches);
        switches.truncate(9);
        Victims { cables, switches }
    }

    /// Returns the median time of applying the death of one of these parts; each is repaired again.
    pub(super) fn apply_each(
        &self,
        router: &mut Router,
        parts: &[Part],
    ) -> Result<Option<Duration>, RouteError> {
        let mut times = Vec::new();
        for &part in parts {
            let mut applied = Ok(Default::default());
            times.push(timed(|| applied = router.apply(&[Change::Dies(part)])));
            applied?;
            router.apply(&[Change::Recovers(part)])?;
        }
        Ok((!times.is_empty()).then(|| median(&times)))
    }

    /// Measures, for the death of each of these parts in turns, the update and its limit: rewriting the entries that it
    /// changes, in a copy of the tables. Returns the medians, or nothing if there are no parts.
    pub(super) fn rewrite_each(
        &self,
        router: &mut Router,
        parts: &[Part],
        kind: &str,
    ) -> Result<RowFields, RouteError> {
        let mut copy = router.tables().clone();
        let (mut updates, mut rewrites) = (vec![], vec![]);
        let (mut entries, mut lines) = (vec![], vec![]);
        for &part in parts {
            let mut applied = Ok(Default::default());
            updates.push(timed(|| applied = router.apply(&[Change::Dies(part)])));
            let rewritten = RewrittenEntries::new(&copy, &applied?, router.tables());
            // The repair takes the places that were just compared out of the caches again.
            router.apply(&[Change::Recovers(part)])?;
            rewrites.push(rewritten.rewrite(&mut copy));
            rewritten.rewrite(&mut copy);
            entries.push(rewritten.entries());
            lines.push(rewritten.lines());
        }
        let mut row = RowFields::new();
        if !parts.is_empty() {
            entries.sort_unstable();
            lines.sort_unstable();
            let (update, rewrite) = (median(&updates), median(&rewrites));
            row.insert(format!("{kind}_entries"), json!(entries[entries.len() / 2]));
            row.insert(format!("{kind}_lines"), json!(lines[lines.len() / 2]));
            row.insert(format!("rewrite_{kind}_ms"), json!(ms(rewrite)));
            let over = update.as_secs_f64() / rewrite.as_secs_f64();
            row.insert(format!("apply_{kind}_over_rewrite"), json!(over));
        }
        Ok(row)
    }

    /// Measures many faults and repairs in one `apply`, compared with a whole re-route of the same state.
    pub(super) fn many_changes(
        &self,
        router: &mut Router,
        count: usize,
    ) -> Result<RowFields, RouteError> {
        let changes = self.mixed_changes(count);
        let mut changed = self.degraded.clone();
        for change in &changes {
            match *change {
                Change::Dies(part) => changed.set(part, true),
                Change::Recovers(part) => changed.set(part, false),
            }
        }
        let (mut applied, mut whole, mut exact) = (vec![], vec![], true);
        for _ in 0..self.settings.rounds {
            router.reroute(&self.degraded)?;
            let mut delta = Ok(Default::default());
            applied.push(timed(|| delta = router.apply(&changes)));
            delta?;
            let digest = router.tables().digest();
            router.reroute(&self.degraded)?;
            let mut rerouted = Ok(());
            whole.push(timed(|| rerouted = router.reroute(&changed)));
            rerouted?;
            exact &= router.tables().digest() == digest;
        }
        let (applied, whole) = (median(&applied), median(&whole));
        Ok(fields(json!({
            "changes": count,
            "apply_changes_ms": ms(applied),
            "reroute_changes_ms": ms(whole),
            "apply_changes_ratio": applied.as_secs_f64() / whole.as_secs_f64(),
            "apply_changes_exact": exact,
        })))
    }

    /// Draws changes: half of them are repairs, as far as enough parts are dead; the rest are faults, one switch to 50
    /// cables.
    fn mixed_changes(&self, count: usize) -> Vec<Change> {
        let mut random = Random::new(self.case.seed, 3);
        let mut dead: Vec<Part> = self.degraded.removed().collect();
        random.shuffle(&mut dead);
        dead.truncate(count / 2);
        let cables = (0..self.fabric.inter_switch_cables().len()).map(CableIndex::new);
        let mut cables: Vec<Part> = cables.map(Part::Cable).filter(|p| self.is_alive(p)).collect();
        let mut switches: Vec<Part> = self
            .fabric
            .switch_indices()
            .filter(|&s| self.fabric.nodes_of(s).is_empty())
            .map(Part::Switch)
            .filter(|p| self.is_alive(p))
            .collect();
        random.shuffle(&mut cables);
        random.shuffle(&mut switches);
        let faults = count - dead.len();
        switches.truncate(faults / 50);
        let faults = switches.iter().chain(&cables).take(faults).map(|&p| Change::Dies(p));
        let mut changes: Vec<Change> =
            dead.into_iter().map(Change::Recovers).chain(faults).collect();
        random.shuffle(&mut changes);
        changes
    }
}
