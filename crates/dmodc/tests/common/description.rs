//! Descriptions of fabrics that can be changed.

use std::collections::HashMap;

use dmodc::fabric::{Adapter, Rate, Switch, Vertex};
use dmodc::{Fabric, FabricBuilder, Guid, Lid, NodeIndex, PortNumber, Random, SwitchIndex};

/// The same fabric, described in another order and with `change` made to it.
pub fn described_anew(
    fabric: &Fabric,
    random: &mut Random,
    change: impl Fn(&mut Description),
) -> Fabric {
    let mut described = Description::of(fabric);
    change(&mut described);
    random.shuffle(&mut described.switches);
    random.shuffle(&mut described.nodes);
    random.shuffle(&mut described.cables);
    described.finish()
}

/// A description of a fabric that can be changed: lists of its parts.
pub struct Description {
    pub switches: Vec<Switch>,
    pub nodes: Vec<DescribedNode>,
    pub cables: Vec<[(Guid, PortNumber); 2]>,
}

pub struct DescribedNode {
    pub adapter: Adapter,
    pub port: PortNumber,
    pub guid: Guid,
    pub lid: Lid,
    pub lmc: u8,
    /// Where it is plugged in.
    pub at: (Guid, PortNumber),
}

impl Description {
    pub fn of(fabric: &Fabric) -> Self {
        let guid = |s: SwitchIndex| fabric.switch(s).guid;
        let node = |n: NodeIndex| {
            let node = fabric.node(n);
            DescribedNode {
                adapter: fabric.adapter_of(n).clone(),
                port: node.adapter_port,
                guid: node.guid,
                lid: node.lid,
                lmc: node.lmc,
                at: (guid(node.switch), node.switch_port),
            }
        };
        let cables = fabric.inter_switch_cables().iter();
        Description {
            switches: fabric.switches().to_vec(),
            nodes: fabric.node_indices().map(node).collect(),
            cables: cables.map(|c| [c.a, c.b].map(|(s, p)| (guid(s), p))).collect(),
        }
    }

    pub fn finish(&self) -> Fabric {
        self.finish_with(Rate::default)
    }

    /// The fabric, each of its cables at a rate of its own.
    pub fn finish_with(&self, mut rate: impl FnMut() -> Rate) -> Fabric {
        let mut b = FabricBuilder::new();
        let switches: HashMap<Guid, Vertex> =
            self.switches.iter().map(|s| (s.guid, b.switch(s.clone()))).collect();
        let mut adapters: HashMap<Guid, Vertex> = HashMap::new();
        for DescribedNode { adapter, port, guid, lid, lmc, at } in &self.nodes {
            let of = *adapters.entry(adapter.guid).or_insert_with(|| b.adapter(adapter.clone()));
            b.end_port(of, *port, *guid, *lid, *lmc);
            b.cable((of, *port), (switches[&at.0], at.1), rate());
        }
        for [x, y] in &self.cables {
            b.cable((switches[&x.0], x.1), (switches[&y.0], y.1), rate());
        }
        b.finish().unwrap()
    }

    /// Counts as many ports as the last one in use has, as files that list cables let readers guess. Adapters
    /// become those of `ibnetdiscover -p`: each port is one, by its own GUID.
    pub fn forget_unused_ports(&mut self) {
        for switch in &mut self.switches {
            let cables = self.cables.iter().flatten().chain(self.nodes.iter().map(|n| &n.at));
            let used = cables.filter(|end| end.0 == switch.guid).map(|end| end.1.0);
            switch.ports = used.max().unwrap_or(0);
        }
        for node in &mut self.nodes {
            (node.adapter.guid, node.adapter.ports) = (node.guid, node.port.0);
        }
    }

    /// Another GUID for a switch.
    pub fn rename_switch(&mut self, from: Guid, to: Guid) {
        let rename = |guid: &mut Guid| {
            if *guid == from {
                *guid = to;
            }
        };
        self.switches.iter_mut().for_each(|s| rename(&mut s.guid));
        self.nodes.iter_mut().for_each(|n| rename(&mut n.at.0));
        self.cables.iter_mut().flatten().for_each(|end| rename(&mut end.0));
    }
}
