//! What is measured of the tables of an engine, and how rows say it.

use dmodc::judge::rates::{FairRates, PatternRates};
use dmodc::judge::risk::{Loads, Series, Traffic};
use dmodc::judge::{Delivery, Forced, Sizes, TableChanges, diff, forced};
use dmodc::{ForwardingTables, Live, Preprocessing, Routing};

use super::rows::StudyRow;
use super::seeds::SeededPattern;
use crate::analysis::{Pattern, PatternFlows, PatternRisk, rates};

/// Tables, and everything that it takes to judge them.
#[derive(Clone, Copy)]
pub(super) struct JudgedTables<'a> {
    pub(super) live: Live<'a>,
    pub(super) ready: &'a Preprocessing,
    pub(super) routing: &'a Routing,
    pub(super) tables: &'a ForwardingTables,
    /// The healthy tables of the same engine, if it gave any.
    pub(super) healthy: Option<&'a ForwardingTables>,
}

/// Everything that rows say about tables.
#[derive(Clone, Debug, Default)]
pub(super) struct TableFindings {
    /// What was found with each pattern.
    pub(super) patterns: Vec<PatternFindings>,
    /// Node pairs that do not arrive.
    pub(super) unroutable: u64,
    /// Those of them that live cables connect.
    pub(super) lost: u64,
    /// Whether every pair of leaves with nodes has an up\*down\* route. It is about the fabric, not about these tables.
    pub(super) valid: Option<bool>,
    /// What differs from the healthy tables.
    pub(super) update: Option<UpdateFindings>,
}

/// What was found with a pattern. A pattern that fits the whole fabric may not fit what is left of it; then there is nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct PatternFindings {
    pub(super) risk: Option<PatternRisk>,
    pub(super) rates: Option<PatternRates>,
}

/// What an update from the healthy tables moves.
#[derive(Clone, Copy, Debug)]
pub(super) struct UpdateFindings {
    pub(super) changes: TableChanges,
    pub(super) of: Sizes,
    pub(super) pairs: u64,
    pub(super) forced: Option<Forced>,
}

impl JudgedTables<'_> {
    /// Measures the tables with all these patterns.
    pub(super) fn measure(
        &self,
        patterns: &[SeededPattern<'_>],
        with_rates: bool,
    ) -> TableFindings {
        let &JudgedTables { live, ready, routing, tables, healthy } = self;
        let traffic = self.traffic();
        let all_to_all = traffic.all_to_all();
        let unroutable = all_to_all.undelivered;
        let delivery = Delivery::among(live, traffic.nodes().iter().copied(), unroutable);
        let valid = dmodc::validity(live, ready, routing.columns()).ok();
        let update = healthy.map(|healthy| {
            let diff = diff(live, &ready.ranking, healthy, tables);
            UpdateFindings {
                changes: diff.changes,
                of: diff.of,
                pairs: diff.pairs,
                forced: forced(live, ready, healthy, tables).ok(),
            }
        });
        TableFindings {
            patterns: self.measure_patterns(&traffic, &all_to_all, patterns, with_rates),
            unroutable,
            lost: delivery.lost,
            valid: valid.map(|coverage| coverage.is_valid()),
            update,
        }
    }

    /// Returns the traffic over the tables.
    pub(super) fn traffic(&self) -> Traffic<'_> {
        Traffic::new(self.live, &self.ready.ranking, self.routing.orders(), self.tables)
    }

    /// Measures the tables with some patterns. The loads of all-to-all are known.
    pub(super) fn measure_patterns(
        &self,
        traffic: &Traffic<'_>,
        all_to_all: &Loads,
        patterns: &[SeededPattern<'_>],
        with_rates: bool,
    ) -> Vec<PatternFindings> {
        let fair = with_rates.then(|| FairRates::new(self.live.fabric, traffic));
        let of = |&SeededPattern { pattern, seed }: &SeededPattern<'_>| {
            let Ok(flows) = PatternFlows::new(self.live, traffic.nodes(), pattern) else {
                return PatternFindings::default();
            };
            let found = |fair| {
                let found = rates(fair, &flows, seed.unwrap_or(0));
                found.expect("the study was opened: no pattern has too many flows")
            };
            PatternFindings {
                risk: Some(match pattern {
                    Pattern::AllToAll => PatternRisk::Single(all_to_all.clone()),
                    _ => risk(traffic, &flows, seed),
                }),
                rates: fair.as_ref().map(found),
            }
        };
        patterns.iter().map(of).collect()
    }
}

/// Returns the risk of a pattern other than all-to-all, found in the fastest way that there is for it.
fn risk(traffic: &Traffic<'_>, flows: &PatternFlows, seed: Option<u64>) -> PatternRisk {
    let drawn = seed.unwrap_or(0);
    match flows.pattern {
        Pattern::Permutations(count) => PatternRisk::Series(traffic.permutations(count, drawn)),
        Pattern::Bisections(count) => PatternRisk::Series(traffic.bisections(count, drawn)),
        Pattern::Shifts(sample) => PatternRisk::Series(traffic.shifts(sample.zip(seed))),
        _ => flows.risk(traffic, drawn),
    }
}

impl TableFindings {
    /// Returns a row for each pattern. `about` has what all rows of the engine share.
    pub(super) fn rows<'a>(
        &'a self,
        about: &'a StudyRow,
        patterns: &'a [SeededPattern<'a>],
    ) -> impl Iterator<Item = StudyRow> + 'a {
        patterns.iter().zip(&self.patterns).map(|(seeded, found)| {
            let mut row = about_pattern(about, seeded);
            found.write(&mut row);
            row.set("unroutable_pairs", self.unroutable);
            row.set("lost", self.lost);
            row.set_some("valid", self.valid);
            if let Some(update) = &self.update {
                update.write(&mut row);
            }
            row
        })
    }
}

/// Returns a row that names a pattern.
pub(super) fn about_pattern(about: &StudyRow, seeded: &SeededPattern<'_>) -> StudyRow {
    let mut row = about.clone();
    row.set("pattern", seeded.pattern);
    row.set_some("pattern_seed", seeded.seed);
    row
}

impl PatternFindings {
    fn write(&self, row: &mut StudyRow) {
        match &self.risk {
            Some(PatternRisk::Single(loads)) => single(loads, row),
            Some(PatternRisk::Series(found)) => series(found, row),
            None => {}
        }
        if let Some(found) = self.rates.as_ref().filter(|found| found.flows() > 0) {
            row.set("mean_rate", found.mean());
            row.set("p1_rate", found.p1());
            row.set("min_rate", found.min());
            row.set("completion", found.completion());
            row.set("mean_completion", found.mean_completion());
        }
    }
}

fn single(loads: &Loads, row: &mut StudyRow) {
    row.set("max", loads.max());
    row.set("mean", loads.mean());
    row.set("bound", loads.bound);
}

fn series(series: &Series, row: &mut StudyRow) {
    row.set("max", series.max());
    row.set("mean", series.mean());
    row.set("median", series.median());
    row.set("min", series.min());
    row.set("bound", series.max_bound());
    row.set("bound_mean", series.mean_bound());
    row.set("bound_median", series.median_bound());
}

impl UpdateFindings {
    fn write(&self, row: &mut StudyRow) {
        row.set("entries_moved", self.changes.entries);
        row.set("entries_total", self.of.entries);
        row.set("blocks_moved", self.changes.blocks);
        row.set("blocks_total", self.of.blocks);
        row.set_some("entries_forced", self.forced.map(|forced| forced.entries));
        row.set_some("blocks_forced", self.forced.map(|forced| forced.blocks));
        row.set("pairs_moved", self.pairs);
        row.set("pairs_total", self.of.pairs);
    }
}
