//! Cells: one trial of one degradation on one fabric, with all engines that take part and all patterns.

use super::plan::StudyPlan;

/// A unit of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The index of the fabric in the plan.
    pub fabric: usize,
    /// The index of the degradation in the plan.
    pub level: usize,
    /// The number of the trial, from 0.
    pub trial: u32,
}

impl Cell {
    /// Returns all cells that a plan can have, in the order of their rows.
    pub(super) fn all(plan: &StudyPlan) -> Vec<Cell> {
        let mut cells = Vec::new();
        for fabric in 0..plan.fabrics.len() {
            for (level, asked) in plan.levels.iter().enumerate() {
                let trials = if asked.is_healthy() { 1 } else { plan.trials };
                cells.extend((0..trials).map(|trial| Cell { fabric, level, trial }));
            }
        }
        cells
    }
}
