//! The numbers of a row: the risks of tables, and what an update to them moves.

use dmodc::judge::rates::FairRates;
use dmodc::judge::risk::{Loads, Series, Traffic, recursive_doubling, ring};
use dmodc::judge::{Diff, Forced};

use super::rows::StudyRow;
use crate::analysis::{Pattern, PatternFlows, rates};

/// Writes the risk of a pattern into a row.
pub(super) fn risk(
    traffic: &Traffic<'_>,
    pattern: &Pattern,
    seed: Option<u64>,
    row: &mut StudyRow,
) {
    let drawn = seed.unwrap_or(0);
    match *pattern {
        Pattern::AllToAll => single(&traffic.all_to_all(), row),
        Pattern::Ring => single(&traffic.pairs(&ring(0..traffic.nodes().len() as u32)), row),
        Pattern::RecursiveDoubling => {
            let steps = recursive_doubling(0..traffic.nodes().len() as u32);
            series(&traffic.steps(&steps), row);
        }
        Pattern::Permutations(count) => series(&traffic.permutations(count, drawn), row),
        Pattern::Bisections(count) => series(&traffic.bisections(count, drawn), row),
        Pattern::Shifts(sample) => series(&traffic.shifts(sample.zip(seed)), row),
        Pattern::OneToAll(_) | Pattern::AllToOne(_) | Pattern::File(_) => {
            unreachable!("the plan has patterns of all nodes only")
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

/// Writes the fair rates of a pattern into a row.
pub(super) fn fair_rates(
    fair: &FairRates<'_>,
    pattern: &Pattern,
    seed: Option<u64>,
    row: &mut StudyRow,
) {
    let flows = PatternFlows { pattern: pattern.clone(), pairs: Vec::new() };
    let found = rates(fair, &flows, seed.unwrap_or(0));
    let found = found.expect("the study was opened: no pattern has too many flows");
    if found.flows() == 0 {
        return;
    }
    row.set("mean_rate", found.mean());
    row.set("p1_rate", found.p1());
    row.set("min_rate", found.min());
    row.set("completion", found.completion());
    row.set("mean_completion", found.mean_completion());
}

/// Writes into a row what an update moves.
pub(super) fn update(diff: &Diff, forced: Option<Forced>, row: &mut StudyRow) {
    row.set("entries_moved", diff.changes.entries);
    row.set("entries_total", diff.of.entries);
    row.set("blocks_moved", diff.changes.blocks);
    row.set("blocks_total", diff.of.blocks);
    row.set_some("entries_forced", forced.map(|forced| forced.entries));
    row.set_some("blocks_forced", forced.map(|forced| forced.blocks));
    row.set("pairs_moved", diff.pairs);
    row.set("pairs_total", diff.of.pairs);
}
