//! The present fabric, as OpenSM has it.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use dmodc::words::counted;
use dmodc::{Degradation, Fabric, Guid, Lid};

use crate::subnet_manager::{LogLevel, SubnetManager};

/// A fabric that was read from OpenSM.
pub(super) struct CollectedFabric {
    pub(super) fabric: Fabric,
    pub(super) switch_lmc: HashMap<Guid, u8>,
    /// How long reading took.
    pub(super) took: Duration,
}

impl CollectedFabric {
    pub(super) fn read(manager: &mut impl SubnetManager) -> Self {
        let start = Instant::now();
        let fabric = manager.fabric();
        let switch_lmc = manager.switch_lmc();
        CollectedFabric { fabric, switch_lmc, took: start.elapsed() }
    }

    /// Leaves out the nodes that have no LID: nobody can send to them.
    pub(super) fn leave_out_nodes_without_lid(&mut self, manager: &impl SubnetManager) {
        let fabric = &self.fabric;
        let has_no_lid = |n: &_| fabric.node(*n).lid == Lid::UNKNOWN;
        let without_lid: Vec<_> = fabric.node_indices().filter(has_no_lid).collect();
        let Some(&first) = without_lid.first() else { return };
        let (count, name) = (without_lid.len(), &fabric.adapter_of(first).name);
        let verb = if count == 1 { "has" } else { "have" };
        let count = counted(count, "port");
        manager.log(
            LogLevel::Error,
            format_args!("{count} {verb} no LID and {verb} no routes, such as a port of '{name}'"),
        );
        let mut mask = Degradation::none(fabric);
        without_lid.iter().for_each(|n| mask.set_cable(fabric.node_cable(*n), true));
        self.fabric = fabric.without(&mask);
    }
}
