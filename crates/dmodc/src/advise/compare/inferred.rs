//! The regular shape of a fabric as the intended one.
//!
//! The shape says which pairs of switches should have how many cables, and not in which ports. So ports are chosen such that
//! few ends move: a cable that is missing at a switch goes into the port of one that does not belong there, pairs of
//! exchanged cables first. A cable that is only too much is left alone, because nothing shows that it is wrong, and cables
//! for which nothing has to move are those of the [`InferredWhole`](crate::InferredWhole).
//!
//! Another choice of ports may need fewer steps. A swap repairs at most two missing pairs, and every other step one, which gives
//! a lower bound.

mod repair;

use std::collections::BTreeMap;

use super::cabling::self_loop_ends;
use super::replug::{Matching, PortId, least_replugs};
use super::{
    Cabling, CablingDoubt, CablingEnd, ComparedPort, Comparison, SelfLoop, aggregation_cables,
};
use crate::fabric::{Cable, Fabric, Peer};
use crate::id::{PortNumber, SwitchIndex};
use crate::infer::{ShapeDifference, ShapeDoubt, TooIrregular};
use crate::leaf::LeafRule;
use repair::Repair;

impl Comparison {
    /// Compares the cables between switches with the regular shape of the fabric. Its file also lists these cables between two
    /// ports of one switch.
    ///
    /// # Errors
    /// If the fabric is too irregular to have one.
    pub fn with_inferred(
        fabric: &Fabric,
        loops: &[SelfLoop],
        leaves: &LeafRule,
    ) -> Result<Self, TooIrregular> {
        let difference = ShapeDifference::new(fabric, leaves)?;
        let loops: Vec<Cable> = self_loop_ends(fabric, loops)
            .map(|ends| {
                let [a, b] = ends.map(|end| (SwitchIndex::new(end.device), end.port));
                Cable { a, b }
            })
            .collect();
        let mut comparison = between_switches(fabric, &loops);
        comparison.compared_cables = difference.compared;
        let cables = Repair::new(fabric, &difference, &loops).cables(&loops);
        comparison.intend(fabric, &cables);
        comparison.keep_extra();
        comparison.doubt(fabric, &difference.doubts, &loops);
        let switches = fabric.switches().len();
        let mut comparison = comparison.with_parts(switches);
        comparison.bound = bound(&comparison);
        Ok(comparison)
    }

    /// Makes these cables the intended ones.
    fn intend(&mut self, fabric: &Fabric, cables: &[Cable]) {
        let end = |(s, port): (SwitchIndex, PortNumber)| fabric.port_slot(s, port) as PortId;
        self.intended = vec![None; self.ports.len()];
        for cable in cables {
            let (a, b) = (end(cable.a), end(cable.b));
            self.intended[a as usize] = Some(b);
            self.intended[b as usize] = Some(a);
        }
    }

    /// Notes what is doubtful and stays as it is.
    fn doubt(&mut self, fabric: &Fabric, doubts: &[ShapeDoubt], loops: &[Cable]) {
        let slot = |(s, port): (SwitchIndex, PortNumber)| fabric.port_slot(s, port) as PortId;
        let stays = |ends: [PortId; 2]| self.intended[ends[0] as usize] == Some(ends[1]);
        let is_changed = |s: SwitchIndex| {
            let mut slots = (1..=fabric.switch(s).ports).map(|port| slot((s, PortNumber(port))));
            slots.any(|at| self.intended[at as usize] != self.present[at as usize])
        };
        let ends = |cable: &Cable| [slot(cable.a), slot(cable.b)];
        let found = doubts.iter().filter_map(|doubt| match doubt {
            ShapeDoubt::SameRank(cable) => {
                Some(CablingDoubt::SameRank(ends(cable))).filter(|_| stays(ends(cable)))
            }
            ShapeDoubt::NoUplink(s) => {
                Some(CablingDoubt::NoUplink(s.at())).filter(|_| !is_changed(*s))
            }
        });
        let loops = loops.iter().map(ends).filter(|ends| stays(*ends)).map(CablingDoubt::SelfLoop);
        self.doubts = found.chain(loops).collect();
    }

    /// Leaves a part as it is if its repair would take a cable away.
    fn keep_extra(&mut self) {
        for ports in super::replug::paths(&self.present, &self.intended) {
            let ends = [ports[0], ports[ports.len() - 1]];
            let lacks_intended = |port: PortId| self.intended[port as usize].is_none();
            if ports.len() > 1 && ends.into_iter().all(lacks_intended) {
                for port in ports {
                    self.intended[port as usize] = self.present[port as usize];
                }
            }
        }
    }
}

/// Returns a comparison of all switch ports with themselves. The cables of nodes are not compared.
fn between_switches(fabric: &Fabric, loops: &[Cable]) -> Comparison {
    let Cabling { devices, .. } = Cabling::of(fabric);
    let (mut ports, mut present) = (vec![], Matching::new());
    let mut kept = aggregation_cables(fabric);
    for s in fabric.switch_indices() {
        for (at, port) in fabric.ports_of(s).iter().enumerate() {
            let number = PortNumber(at as u8 + 1);
            ports.push(ComparedPort { device: s.at(), port: number });
            present.push(match port.peer {
                Peer::Switch(peer, far) => Some(fabric.port_slot(peer, far) as PortId),
                Peer::Node(_) | Peer::None => None,
            });
        }
    }
    for cable in loops {
        let [a, b] = [cable.a, cable.b].map(|(s, port)| fabric.port_slot(s, port));
        (present[a], present[b]) = (Some(b as PortId), Some(a as PortId));
    }
    for n in fabric.node_indices().filter(|&n| !fabric.is_aggregation(n)) {
        let node = fabric.node(n);
        let near = CablingEnd { device: node.switch.at(), port: node.switch_port };
        let device = fabric.switches().len() + node.adapter.at();
        kept.push([near, CablingEnd { device, port: node.adapter_port }]);
    }
    Comparison {
        present_devices: devices.len(),
        devices,
        ports,
        intended: present.clone(),
        present,
        parts: vec![],
        bound: 0,
        unmatched: vec![],
        doubts: vec![],
        compared_cables: 0,
        compares_hosts: false,
        by_guid: 0,
        by_name: 0,
        kept,
    }
}

/// Returns a number of steps that no repair goes below, whatever ports it uses.
fn bound(comparison: &Comparison) -> usize {
    let count = |cabling: &Matching| cabling.iter().flatten().count() / 2;
    let pair = |cabling: &Matching| {
        let mut pairs: BTreeMap<(usize, usize), usize> = BTreeMap::new();
        for (own, other) in (0..).zip(cabling) {
            if let Some(other) = other.filter(|other| own < *other) {
                let [a, b] = [own, other].map(|port| comparison.ports[port as usize].device);
                *pairs.entry((a.min(b), a.max(b))).or_default() += 1;
            }
        }
        pairs
    };
    let (present, intended) = (pair(&comparison.present), pair(&comparison.intended));
    let lacking = intended
        .iter()
        .map(|(pair, cables)| cables.saturating_sub(present.get(pair).copied().unwrap_or(0)));
    let lacking: usize = lacking.sum();
    let added = count(&comparison.intended).saturating_sub(count(&comparison.present));
    let bound = added + lacking.saturating_sub(added).div_ceil(2);
    bound.min(least_replugs(&comparison.present, &comparison.intended))
}
