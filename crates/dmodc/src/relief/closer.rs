//! P(s, d), found when it is asked for.

use std::collections::HashMap;

use crate::bits::bits;
use crate::cost::{CloserSets, TileCosts, TooFar};
use crate::id::{PortNumber, SwitchIndex};
use crate::preprocess::Preprocessing;
use crate::tables::Columns;

/// The closer sets of switches, kept once they were needed.
pub(super) struct KnownCloserSets<'a> {
    ready: &'a Preprocessing,
    columns: &'a Columns,
    /// For each tile of columns.
    costs: Vec<Option<TileCosts>>,
    /// By tile and switch.
    sets: HashMap<(usize, SwitchIndex), CloserSets>,
}

impl<'a> KnownCloserSets<'a> {
    pub(super) fn new(ready: &'a Preprocessing, columns: &'a Columns) -> Self {
        let costs = vec![None; columns.tile_count()];
        KnownCloserSets { ready, columns, costs, sets: HashMap::new() }
    }

    /// Appends P(s, d), in the order of groups.
    ///
    /// # Errors
    /// If a route is longer than costs can count.
    pub(super) fn ports(
        &mut self,
        switch: SwitchIndex,
        column: u32,
        ports: &mut Vec<PortNumber>,
    ) -> Result<(), TooFar> {
        let groups = &self.ready.groups;
        let index = self.columns.tile_of(column as usize);
        let tile = self.columns.tile(index);
        let targets = &self.columns.switches()[tile.switches.clone()];
        if self.costs[index].is_none() {
            let mut costs = self.ready.new_costs();
            costs.compute(groups, targets)?;
            self.costs[index] = Some(costs);
        }
        let costs = self.costs[index].as_ref().expect("computed above");
        let closer = self.sets.entry((index, switch)).or_insert_with(|| {
            let mut closer = CloserSets::default();
            costs.closer(groups, switch, &mut closer);
            closer
        });
        let home = self.columns.destinations()[column as usize].switch;
        let is_home = |bit: &usize| targets[*bit] == home;
        let Some(bit) = bits(tile.targets()).find(is_home) else { return Ok(()) };
        let up = groups.up(switch).zip(&closer.through_up);
        let down = groups.down(switch).zip(&closer.through_down);
        for (group, _) in up.chain(down).filter(|(_, mask)| **mask >> bit & 1 == 1) {
            ports.extend_from_slice(group.ports);
        }
        Ok(())
    }
}
