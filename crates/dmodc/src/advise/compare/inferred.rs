//! The regular shape of a fabric as the intended one.
//!
//! The shape says which pairs of switches should have how many cables, and not in which ports. So ports are chosen such that
//! few ends move: a cable that is missing at a switch goes into the port of one that does not belong there, pairs of
//! exchanged cables first. A cable that is only too much is left alone, because nothing shows that it is wrong, and cables
//! for which nothing has to move are those of the [`InferredWhole`](crate::InferredWhole).
//!
//! Another choice of ports may need fewer steps. A swap repairs at most two missing pairs, and every other step one, which gives
//! a lower bound.

use std::collections::{BTreeMap, BTreeSet};

use super::replug::{Matching, PortId, least_replugs};
use super::{Cabling, CablingEnd, ComparedPort, Comparison, aggregation_cables};
use crate::fabric::{Cable, Fabric, Peer};
use crate::id::{PortNumber, SwitchIndex};
use crate::infer::{ShapeDifference, TooIrregular};
use crate::leaf::LeafRule;

impl Comparison {
    /// Compares the cables between switches with the regular shape of the fabric.
    ///
    /// # Errors
    /// If the fabric is too irregular to have one.
    pub fn with_inferred(fabric: &Fabric, leaves: &LeafRule) -> Result<Self, TooIrregular> {
        let difference = ShapeDifference::new(fabric, leaves)?;
        let mut comparison = between_switches(fabric);
        let mut repair = Repair::new(fabric, &difference);
        repair.exchange();
        repair.reuse();
        repair.add_missing(&difference);
        let cables = repair.cables();
        comparison.intend(fabric, &cables);
        comparison.keep_extra();
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
fn between_switches(fabric: &Fabric) -> Comparison {
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

/// A cable that does not belong where it is, and which of its ends already serve another one.
struct Misplaced {
    cable: Cable,
    lower: (SwitchIndex, PortNumber),
    upper: (SwitchIndex, PortNumber),
    lower_is_used: bool,
    upper_is_used: bool,
}

/// A cable that a pair of switches lacks, and the ports found for it.
#[derive(Clone, Copy)]
struct Lacking {
    lower: SwitchIndex,
    upper: SwitchIndex,
    lower_port: Option<PortNumber>,
    upper_port: Option<PortNumber>,
}

/// The cables that are chosen for the shape.
struct Repair<'a> {
    fabric: &'a Fabric,
    misplaced: Vec<Misplaced>,
    lacking: Vec<Lacking>,
    /// Ports that are or will be in use.
    taken: BTreeSet<(SwitchIndex, PortNumber)>,
    /// Cables of the inferred whole that are added as they are.
    added: Vec<Cable>,
}

impl<'a> Repair<'a> {
    fn new(fabric: &'a Fabric, difference: &ShapeDifference) -> Self {
        let misplaced = difference.surplus.iter().map(|surplus| Misplaced {
            cable: surplus.cable,
            lower: surplus.lower,
            upper: surplus.upper,
            lower_is_used: false,
            upper_is_used: false,
        });
        let lacking = difference.lacking.iter().flat_map(|pair| {
            let (lower, upper) = (pair.lower, pair.upper);
            let one = Lacking { lower, upper, lower_port: None, upper_port: None };
            std::iter::repeat_n(one, pair.cables)
        });
        let mut taken = BTreeSet::new();
        for s in fabric.switch_indices() {
            for (at, port) in fabric.ports_of(s).iter().enumerate() {
                if port.peer != Peer::None {
                    taken.insert((s, PortNumber(at as u8 + 1)));
                }
            }
        }
        let (misplaced, lacking) = (misplaced.collect(), lacking.collect());
        Repair { fabric, misplaced, lacking, taken, added: vec![] }
    }

    /// Finds pairs of exchanged cables: a–y and b–x are misplaced, a–x and b–y are lacking.
    fn exchange(&mut self) {
        for first in 0..self.lacking.len() {
            let Lacking { lower: a, upper: x, lower_port: None, .. } = self.lacking[first] else {
                continue;
            };
            let Some((second, at_a, at_x)) = self.exchanged(a, x) else { continue };
            self.use_ports(first, at_a, at_x);
            self.use_ports(second, at_x, at_a);
        }
    }

    /// Returns the place of b–y among the lacking cables, and those of a–y and b–x among the misplaced ones.
    fn exchanged(&self, a: SwitchIndex, x: SwitchIndex) -> Option<(usize, usize, usize)> {
        let is_unused = |m: &&Misplaced| !m.lower_is_used && !m.upper_is_used;
        let unused = || self.misplaced.iter().enumerate().filter(|(_, m)| is_unused(m));
        for (at_a, own) in unused().filter(|(_, m)| m.lower.0 == a) {
            for (at_x, other) in unused().filter(|(_, m)| m.upper.0 == x) {
                let wanted = (other.lower.0, own.upper.0);
                let second = self.lacking.iter().position(|l| {
                    (l.lower, l.upper) == wanted && l.lower_port.is_none() && l.upper_port.is_none()
                });
                if let Some(second) = second {
                    return Some((second, at_a, at_x));
                }
            }
        }
        None
    }

    /// Gives a lacking cable the lower port of one misplaced cable and the upper port of another one.
    fn use_ports(&mut self, lacking: usize, lower_of: usize, upper_of: usize) {
        self.misplaced[lower_of].lower_is_used = true;
        self.misplaced[upper_of].upper_is_used = true;
        self.lacking[lacking].lower_port = Some(self.misplaced[lower_of].lower.1);
        self.lacking[lacking].upper_port = Some(self.misplaced[upper_of].upper.1);
    }

    /// Gives the other lacking cables ports of misplaced ones where there are any, and a free port at the other end.
    fn reuse(&mut self) {
        for at in 0..self.lacking.len() {
            let Lacking { lower, upper, lower_port: None, upper_port: None } = self.lacking[at]
            else {
                continue;
            };
            let own = self.misplaced.iter().position(|m| m.lower.0 == lower && !m.lower_is_used);
            let far = self.misplaced.iter().position(|m| m.upper.0 == upper && !m.upper_is_used);
            match (own, far) {
                (Some(own), Some(far)) => self.use_ports(at, own, far),
                (Some(own), None) => {
                    let Some(free) = self.take_free(upper) else { continue };
                    self.misplaced[own].lower_is_used = true;
                    self.lacking[at].lower_port = Some(self.misplaced[own].lower.1);
                    self.lacking[at].upper_port = Some(free);
                }
                (None, Some(far)) => {
                    let Some(free) = self.take_free(lower) else { continue };
                    self.misplaced[far].upper_is_used = true;
                    self.lacking[at].upper_port = Some(self.misplaced[far].upper.1);
                    self.lacking[at].lower_port = Some(free);
                }
                (None, None) => {}
            }
        }
    }

    fn take_free(&mut self, s: SwitchIndex) -> Option<PortNumber> {
        let mut ports = (1..=self.fabric.switch(s).ports).map(PortNumber);
        let free = ports.find(|port| !self.taken.contains(&(s, *port)))?;
        self.taken.insert((s, free));
        Some(free)
    }

    /// Adds the cables of the inferred whole whose ports are still free.
    fn add_missing(&mut self, difference: &ShapeDifference) {
        for cable in difference.missing() {
            let ends = [cable.a, cable.b];
            let is_free = ends.iter().all(|end| !self.taken.contains(end));
            let is_known = self.lacking.iter().any(|l| {
                l.lower_port.is_some()
                    && [(l.lower, l.upper), (l.upper, l.lower)].contains(&(cable.a.0, cable.b.0))
            });
            if is_free && !is_known {
                self.taken.extend(ends);
                self.added.push(cable);
            }
        }
    }

    /// Returns all cables of the shape.
    fn cables(&self) -> Vec<Cable> {
        let is_gone = |cable: &&Cable| {
            let mut gone = self.misplaced.iter().filter(|m| m.lower_is_used || m.upper_is_used);
            gone.any(|m| m.cable == **cable)
        };
        let stay =
            self.fabric.inter_switch_cables().iter().filter(|cable| !is_gone(cable)).copied();
        let found = self.lacking.iter().filter_map(|l| {
            Some(Cable { a: (l.lower, l.lower_port?), b: (l.upper, l.upper_port?) })
        });
        stay.chain(found).chain(self.added.iter().copied()).collect()
    }
}
