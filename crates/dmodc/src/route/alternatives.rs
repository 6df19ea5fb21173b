//! P(s, d): the ports that keep routes up\*down\* and so free of deadlock.

use crate::cost::{CloserSets, CostBlock, TooFar};
use crate::fabric::Live;
use crate::id::{PortNumber, SwitchIndex};
use crate::preprocess::Preprocessing;
use crate::tables::BLOCK;

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
