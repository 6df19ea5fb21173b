//! Switches that took the place of others between two runs.

use std::collections::{HashMap, HashSet};

use super::{SavedCable, SavedOrders};
use crate::fabric::{Fabric, FabricBuilder, Product, Rate, Switch, Vertex, replaced_switches};
use crate::id::{Guid, Lid, PortNumber};

impl SavedOrders {
    /// Gives the positions of absent switches, in both orders and in places, to new switches that are cabled as those
    /// were. O(#cables).
    pub fn hand_over_to(&mut self, fabric: &Fabric) {
        let known: HashSet<Guid> = self.switches.iter().chain(&self.groups).copied().collect();
        let present: HashSet<Guid> = fabric.switches().iter().map(|s| s.guid).collect();
        if self.cables.is_empty() || present.is_subset(&known) || known.is_subset(&present) {
            return;
        }
        let renamed = replaced_switches(&self.skeleton(), fabric);
        self.rename(&renamed);
    }

    /// Returns the known switches and cables as a fabric.
    fn skeleton(&self) -> Fabric {
        let mut builder = FabricBuilder::new();
        let mut vertices: HashMap<Guid, Vertex> = HashMap::new();
        for guid in self.cables.iter().flat_map(|SavedCable(a, b)| [a.switch, b.switch]) {
            vertices.entry(guid).or_insert_with(|| {
                let (name, product) = ("".into(), Product::default());
                builder.switch(Switch {
                    guid,
                    lid: Lid(0),
                    ports: PortNumber::MAX.0,
                    name,
                    product,
                })
            });
        }
        for SavedCable(a, b) in &self.cables {
            let end = |place: &super::SavedPlace| (vertices[&place.switch], place.port);
            builder.cable(end(a), end(b), Rate::default());
        }
        builder.finish_sound().0
    }
}
