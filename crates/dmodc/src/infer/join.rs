//! The inferred whole of a reference, joined with the present fabric.

use std::collections::HashMap;

use super::InferredWhole;
use crate::fabric::{CableEnds, Degradation, Joined, OtherFabric, Peer};
use crate::id::{Guid, SwitchIndex};

impl InferredWhole {
    /// Joins the whole, as the reference, with the present fabric. Also returns the first state that is known: the
    /// reference without the inferred cables.
    ///
    /// # Errors
    /// If they are different fabrics.
    pub fn join(&self, present: &crate::Fabric) -> Result<(Joined, Degradation), OtherFabric> {
        let joined = Joined::new(&self.fabric, present)?;
        let mut first = joined.then.clone();
        let switches = joined.fabric.switch_indices();
        let by_guid: HashMap<Guid, SwitchIndex> =
            switches.map(|s| (joined.fabric.switch(s).guid, s)).collect();
        let find = |s: SwitchIndex| {
            let guid = self.fabric.switch(s).guid;
            by_guid.get(joined.renamed.get(&guid).unwrap_or(&guid)).copied()
        };
        for c in self.missing.dead_cables() {
            let CableEnds::Switches(cable) = self.fabric.cable(c) else { continue };
            let (Some(a), Some(b)) = (find(cable.a.0), find(cable.b.0)) else { continue };
            // A port that has another cable now is recabled: the inferred cable is not in the union.
            let Some(port) = joined.fabric.port(a, cable.a.1) else { continue };
            if let (Peer::Switch(peer, _), Some(same)) = (port.peer, port.cable())
                && peer == b
            {
                first.set_cable(same, true);
            }
        }
        Ok((joined, first))
    }
}
