//! The fabric as it is cabled, compared with the intended one.
//!
//! [`Comparison`] matches devices ([`Cabling`], by GUID and then by name), numbers all ports, and finds the fewest re-plugs
//! ([`replug`]) that make the cabling the intended one. [`RepairPlan`] sorts them, so that the most harmful faults are repaired
//! first, and says what each step brings.
//!
//! These cables are not compared: those of aggregation nodes, which sit inside switches; those of hosts, if the intended cabling
//! names no host; and those of a host that nobody knows in the port of one that is absent, which probably replaces it. Such a
//! cable counts as extra if the intended cabling needs its port for a device that is there.

mod cabling;
mod devices;
mod inferred;
mod plan;
pub mod replug;
mod sides;
mod state;

use std::fmt;

pub use cabling::{CabledDevice, Cabling, CablingCable, CablingEnd, DeviceKind, SelfLoop};
pub use devices::WhyUnmatched;
pub use plan::{PlannedStep, RepairPlan, Risk};

use crate::fabric::Fabric;
use crate::id::PortNumber;
use devices::Counterparts;
use replug::{Matching, PortId, PortPlace, Replug, fewest_replugs, least_replugs};
use sides::Sides;

/// A port that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComparedPort {
    /// The place of its device in [`Comparison::devices`].
    pub device: usize,
    /// Its number.
    pub port: PortNumber,
}

/// Which side has a device that the other one has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Only the fabric has it.
    Present,
    /// Only the intended cabling has it.
    Intended,
}

/// A device without a counterpart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The place of the device in [`Comparison::devices`].
    pub device: usize,
    /// Who has it.
    pub side: Side,
    /// Why it has no counterpart.
    pub why: WhyUnmatched,
    /// Its cables.
    pub cables: usize,
    /// Those of its cables that are not compared, because a host that nobody knows is in the port of an absent one.
    pub set_aside: usize,
}

/// Something that no regular shape has, and that is still no proof of a mistake. No step concerns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CablingDoubt {
    /// A cable joins two switches of the same rank, and few others of that rank do so.
    SameRank([PortId; 2]),
    /// A cable joins two ports of one switch.
    SelfLoop([PortId; 2]),
    /// A leaf with nodes has no cable to a switch of the next rank, and most leaves have one. This is its place in
    /// [`Comparison::devices`].
    NoUplink(usize),
}

/// A fabric and an intended cabling, port by port.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The devices: those of [`Cabling::of`] the fabric, then those that only the intended cabling has.
    pub devices: Vec<CabledDevice>,
    /// The number of devices that the fabric has.
    pub present_devices: usize,
    /// All ports that are compared.
    pub ports: Vec<ComparedPort>,
    /// The cables of the fabric.
    pub present: Matching,
    /// The intended cables.
    pub intended: Matching,
    /// Steps that make the first the second, one list for each part of the cabling that differs.
    pub parts: Vec<Vec<Replug>>,
    /// No repair has fewer steps than this.
    pub bound: usize,
    /// Devices without a counterpart.
    pub unmatched: Vec<Unmatched>,
    /// What is doubtful without an intended cabling; empty with one.
    pub doubts: Vec<CablingDoubt>,
    /// The number of present cables about which the intended cabling says something. A regular shape says nothing about
    /// switches that resemble no others.
    pub compared_cables: usize,
    /// Whether the cables of hosts are compared.
    pub compares_hosts: bool,
    /// Intended devices that were found by GUID.
    pub by_guid: usize,
    /// Intended devices that were found by name.
    pub by_name: usize,
    /// Cables of the fabric that are not compared, as ends by device.
    kept: Vec<[CablingEnd; 2]>,
}

/// Why an intended cabling cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompareError {
    /// No switch of the fabric is in it.
    NothingInCommon,
    /// Two intended cables share a port.
    PortTwice {
        /// The device.
        device: Box<str>,
        /// Its port.
        port: PortNumber,
        /// The lines of both cables; 0 if they come from no list.
        lines: [u32; 2],
    },
}

impl fmt::Display for CompareError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompareError::NothingInCommon => f.write_str(
                "no switch of the fabric is in the intended one, neither by GUID nor by name",
            ),
            CompareError::PortTwice { device, port, .. } => {
                write!(f, "port {port} of '{device}' is in two cables")
            }
        }
    }
}

impl std::error::Error for CompareError {}

impl Comparison {
    /// Compares a fabric with an intended cabling. O(#ports) if few cables differ.
    ///
    /// # Errors
    /// If they have no switch in common, or the intended cabling has two cables in one port.
    pub fn new(fabric: &Fabric, intended: &Cabling) -> Result<Self, CompareError> {
        Comparison::with_self_loops(fabric, &[], intended)
    }

    /// Compares a fabric with an intended cabling, as [`Comparison::new`] does. The file of the fabric also lists these cables
    /// between two ports of one switch.
    ///
    /// # Errors
    /// If they have no switch in common, or the intended cabling has two cables in one port.
    pub fn with_self_loops(
        fabric: &Fabric,
        loops: &[SelfLoop],
        intended: &Cabling,
    ) -> Result<Self, CompareError> {
        let present = Cabling::with_self_loops(fabric, loops);
        let counterparts = Counterparts::new(fabric, &present, intended);
        let is_switch = |found: &usize| *found < fabric.switches().len();
        if !counterparts.of.iter().flatten().any(is_switch) {
            return Err(CompareError::NothingInCommon);
        }
        let mut sides = Sides::new(fabric, present, intended, &counterparts);
        sides.set_aside();
        sides.finish(&counterparts)
    }

    /// Returns whether nothing differs, and nothing is doubtful.
    pub fn is_equal(&self) -> bool {
        self.parts.is_empty() && self.unmatched.is_empty() && self.doubts.is_empty()
    }

    /// Returns the number of steps.
    pub fn replugs(&self) -> usize {
        self.parts.iter().map(Vec::len).sum()
    }

    /// Returns whether no repair has fewer steps.
    pub fn is_exact(&self) -> bool {
        self.bound == self.replugs()
    }

    /// Returns the number of intended cables that are not there.
    pub fn wrong_cables(&self) -> usize {
        let ports = self.intended.iter().zip(&self.present);
        ports.filter(|(intended, present)| intended.is_some() && intended != present).count() / 2
    }

    /// Returns whether a device is in the fabric.
    pub fn is_present(&self, device: usize) -> bool {
        device < self.present_devices
    }
}

impl Comparison {
    /// Finds the steps.
    fn with_parts(mut self, switches: usize) -> Self {
        let place = |port: &ComparedPort| PortPlace {
            device: port.device as u32,
            on_switch: port.device < switches
                || self.devices[port.device].kind == Some(DeviceKind::Switch),
        };
        // Both cablings know the same ports by now.
        self.present.resize(self.ports.len(), None);
        self.intended.resize(self.ports.len(), None);
        let places: Vec<PortPlace> = self.ports.iter().map(place).collect();
        self.parts = fewest_replugs(&self.present, &self.intended, &places);
        self.bound = least_replugs(&self.present, &self.intended);
        self
    }
}

/// Returns the cables of aggregation nodes.
fn aggregation_cables(fabric: &Fabric) -> Vec<[CablingEnd; 2]> {
    let first_adapter = fabric.switches().len();
    let nodes = fabric.node_indices().filter(|&n| fabric.is_aggregation(n));
    nodes
        .map(|n| {
            let node = fabric.node(n);
            let near = CablingEnd { device: node.switch.at(), port: node.switch_port };
            let device = first_adapter + node.adapter.at();
            [near, CablingEnd { device, port: node.adapter_port }]
        })
        .collect()
}
