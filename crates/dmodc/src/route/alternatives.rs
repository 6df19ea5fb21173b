//! What follows from costs alone: which pairs have a route, and over which ports.

use super::Coverage;
use super::job::RouteJob;
use crate::cost::{CloserSets, CostBlock, TooFar};
use crate::fabric::Live;
use crate::id::{PortNumber, SwitchIndex};
use crate::parallel;
use crate::preprocess::Preprocessing;
use crate::tables::{BLOCK, Columns};

/// Returns which pairs have an up\*down\* route. No table is needed for that.
///
/// # Errors
/// If a route is longer than costs can count.
pub fn validity(
    live: Live<'_>,
    ready: &Preprocessing,
    columns: &Columns,
) -> Result<Coverage, TooFar> {
    let job = RouteJob::new(live, ready, columns);
    let covered = parallel::map_with(
        columns.tiles(),
        || ready.new_costs(),
        |costs, tile| {
            job.compute(&tile, costs)?;
            Ok(Coverage::of_tile(&job, &tile, costs))
        },
    );
    covered.into_iter().try_fold(Coverage::default(), |sum, next| Ok(sum.and(next?)))
}

/// Calls `each(s, target, ports)` for every live switch s and each of these destination switches other than s. `ports` is
/// P(s, d), eq. (2): all ports of all groups of the closer set, or none if there is no route.
///
/// # Errors
/// If a route is longer than costs can count.
pub fn alternative_ports(
    live: Live<'_>,
    ready: &Preprocessing,
    targets: &[SwitchIndex],
    mut each: impl FnMut(SwitchIndex, SwitchIndex, &[PortNumber]),
) -> Result<(), TooFar> {
    let mut costs = CostBlock::default();
    let (mut ports, mut closer) = (Vec::new(), CloserSets::default());
    for block in targets.chunks(BLOCK) {
        costs.compute(&ready.groups, block)?;
        for s in live.switches() {
            costs.closer(&ready.groups, s, &mut closer);
            for (bit, &target) in block.iter().enumerate().filter(|(_, t)| **t != s) {
                ports.clear();
                let up = ready.groups.up(s).zip(&closer.through_up);
                let down = ready.groups.down(s).zip(&closer.through_down);
                for (group, _) in up.chain(down).filter(|(_, mask)| **mask >> bit & 1 == 1) {
                    ports.extend_from_slice(group.ports);
                }
                each(s, target, &ports);
            }
        }
    }
    Ok(())
}
