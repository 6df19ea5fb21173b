//! Both cablings with one numbering of devices, until their ports are numbered.

use std::collections::HashMap;

use super::cabling::{CabledDevice, Cabling, CablingCable, CablingEnd, DeviceKind};
use super::devices::{Counterparts, WhyUnmatched};
use super::replug::{Matching, PortId};
use super::{CompareError, ComparedPort, Comparison, Side, Unmatched, aggregation_cables};
use crate::fabric::{AdapterKind, Fabric};

/// Both cablings, with devices numbered as in [`Comparison::devices`].
pub(super) struct Sides {
    devices: Vec<CabledDevice>,
    /// The number of devices that the fabric has, and the number of switches among them, which come first.
    present_devices: usize,
    switches: usize,
    /// For each device, whether the other side has it, too.
    is_matched: Vec<bool>,
    compares_hosts: bool,
    present: Vec<CablingCable>,
    intended: Vec<CablingCable>,
    kept: Vec<[CablingEnd; 2]>,
    /// Cables that are not compared because one host probably replaces another one, on both sides.
    replaced: Vec<[CablingEnd; 2]>,
}

impl Sides {
    pub(super) fn new(
        fabric: &Fabric,
        present: Cabling,
        intended: &Cabling,
        counterparts: &Counterparts,
    ) -> Self {
        let (present_devices, switches) = (present.devices.len(), fabric.switches().len());
        let mut devices = present.devices;
        let mut is_matched = vec![false; present_devices];
        let mut places = vec![];
        for (device, found) in intended.devices.iter().zip(&counterparts.of) {
            places.push(found.unwrap_or(devices.len()));
            match found {
                Ok(found) => is_matched[*found] = true,
                Err(_) => {
                    devices.push(device.clone());
                    is_matched.push(false);
                }
            }
        }
        let place = |end: CablingEnd| CablingEnd { device: places[end.device], ..end };
        let is_aggregation = |end: &CablingEnd| is_aggregation(fabric, end.device);
        let cables = intended.cables.iter();
        let cables = cables.map(|cable| CablingCable { ends: cable.ends.map(place), ..*cable });
        let cables = cables.filter(|cable| !cable.ends.iter().any(is_aggregation));
        let names_a_host =
            |(at, matched): (usize, &bool)| *matched && (switches..present_devices).contains(&at);
        let has_adapters = intended.devices.iter().any(|d| d.kind == Some(DeviceKind::Adapter));
        let compares_hosts = has_adapters || is_matched.iter().enumerate().any(names_a_host);
        Sides {
            present_devices,
            switches,
            compares_hosts,
            present: present.cables,
            intended: cables.collect(),
            kept: aggregation_cables(fabric),
            replaced: vec![],
            devices,
            is_matched,
        }
    }

    fn is_unknown_host(&self, device: usize) -> bool {
        (self.switches..self.present_devices).contains(&device) && !self.is_matched[device]
    }

    /// Sets the cables aside that are not compared.
    pub(super) fn set_aside(&mut self) {
        let mut needed: HashMap<CablingEnd, usize> = HashMap::new();
        for cable in &self.intended {
            for (own, other) in [(0, 1), (1, 0)] {
                needed.insert(cable.ends[own], cable.ends[other].device);
            }
        }
        let (mut kept, mut replaced, mut places) = (vec![], vec![], vec![]);
        let present = std::mem::take(&mut self.present);
        let present = present.into_iter().filter(|cable| {
            // The cable of a node has its switch first.
            let [near, far] = cable.ends;
            if !self.is_unknown_host(far.device) {
                return true;
            }
            let is_aside = match needed.get(&near) {
                None => !self.compares_hosts,
                Some(wanted) => *wanted >= self.present_devices,
            };
            if is_aside {
                kept.push(cable.ends);
                if needed.contains_key(&near) {
                    replaced.push(cable.ends);
                    places.push(near);
                }
            }
            !is_aside
        });
        self.present = present.collect();
        places.sort_unstable();
        self.intended.retain(|cable| {
            let is_aside = cable.ends.iter().any(|end| places.binary_search(end).is_ok());
            if is_aside {
                replaced.push(cable.ends);
            }
            !is_aside
        });
        self.kept.extend(kept);
        self.replaced = replaced;
    }

    pub(super) fn finish(self, counterparts: &Counterparts) -> Result<Comparison, CompareError> {
        let mut numbers = PortNumbers::default();
        let present = numbers.matching(&self.present, &self.devices)?;
        let intended = numbers.matching(&self.intended, &self.devices)?;
        let unmatched = self.unmatched(counterparts);
        let comparison = Comparison {
            compared_cables: present.iter().flatten().count() / 2,
            present_devices: self.present_devices,
            present,
            intended,
            parts: vec![],
            bound: 0,
            unmatched,
            doubts: vec![],
            compares_hosts: self.compares_hosts,
            by_guid: counterparts.by_guid,
            by_name: counterparts.by_name,
            kept: self.kept,
            ports: numbers.ports,
            devices: self.devices,
        };
        Ok(comparison.with_parts(self.switches))
    }

    /// Returns the devices without a counterpart.
    fn unmatched(&self, counterparts: &Counterparts) -> Vec<Unmatched> {
        let mut cables = vec![0; self.devices.len()];
        let mut set_aside = vec![0; self.devices.len()];
        for cable in self.present.iter().chain(&self.intended) {
            cable.ends.iter().for_each(|end| cables[end.device] += 1);
        }
        for ends in &self.replaced {
            ends.iter().for_each(|end| {
                cables[end.device] += 1;
                set_aside[end.device] += 1;
            });
        }
        let why = counterparts.of.iter().filter_map(|found| found.err());
        let intended = (self.present_devices..).zip(why).map(|(at, why)| (at, Side::Intended, why));
        // Hosts that are not compared, and aggregation nodes, have no cables here.
        let present = (0..self.present_devices)
            .filter(|&at| !self.is_matched[at] && (at < self.switches || cables[at] > 0))
            .map(|at| (at, Side::Present, WhyUnmatched::Absent));
        let unmatched = |(device, side, why): (usize, _, _)| Unmatched {
            device,
            side,
            why,
            cables: cables[device],
            set_aside: set_aside[device],
        };
        intended.chain(present).map(unmatched).collect()
    }
}

/// The numbers of all ports.
#[derive(Default)]
struct PortNumbers {
    ports: Vec<ComparedPort>,
    numbers: HashMap<CablingEnd, PortId>,
}

impl PortNumbers {
    fn number(&mut self, end: CablingEnd) -> PortId {
        *self.numbers.entry(end).or_insert_with(|| {
            self.ports.push(ComparedPort { device: end.device, port: end.port });
            self.ports.len() as PortId - 1
        })
    }

    /// Returns cables as a matching. A cable may be listed twice.
    fn matching(
        &mut self,
        cables: &[CablingCable],
        devices: &[CabledDevice],
    ) -> Result<Matching, CompareError> {
        let mut partner: Matching = vec![];
        let mut lines: Vec<u32> = vec![];
        for cable in cables {
            let [a, b] = cable.ends.map(|end| self.number(end));
            partner.resize(self.ports.len(), None);
            lines.resize(self.ports.len(), 0);
            for (own, other, end) in [(a, b, cable.ends[0]), (b, a, cable.ends[1])] {
                let before = partner[own as usize];
                if own == other || before.is_some_and(|before| before != other) {
                    return Err(CompareError::PortTwice {
                        device: devices[end.device].name.clone(),
                        port: end.port,
                        lines: [
                            lines[own as usize].max(u32::from(own == other) * cable.line),
                            cable.line,
                        ],
                    });
                }
                partner[own as usize] = Some(other);
                lines[own as usize] = cable.line;
            }
        }
        Ok(partner)
    }
}

/// Returns whether a device of a fabric is an aggregation node.
fn is_aggregation(fabric: &Fabric, device: usize) -> bool {
    let adapter = device.checked_sub(fabric.switches().len());
    let adapter = adapter.and_then(|at| fabric.adapters().get(at));
    adapter.is_some_and(|adapter| adapter.kind == AdapterKind::Aggregation)
}
