//! Cells: one throw of one degradation on one fabric, with all engines that take part and all patterns.

use super::plan::StudyPlan;

/// A unit of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Which fabric of the plan.
    pub fabric: usize,
    /// Which degradation.
    pub level: usize,
    /// Which draw of it.
    pub throw: u32,
}

impl Cell {
    /// All cells that a plan can have, in the order of their rows.
    pub(super) fn all(plan: &StudyPlan) -> Vec<Cell> {
        let mut cells = Vec::new();
        for fabric in 0..plan.fabrics.len() {
            for (level, asked) in plan.levels.iter().enumerate() {
                let throws = if asked.is_healthy() { 1 } else { plan.throws };
                cells.extend((0..throws).map(|throw| Cell { fabric, level, throw }));
            }
        }
        cells
    }
}
