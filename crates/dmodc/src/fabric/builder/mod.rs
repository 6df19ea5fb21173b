//! The one way to make a [`Fabric`]: every reader and generator goes through here.
//!
//! Devices and the ends of cables may be added in any order. Peers are named by GUID and resolved at the end. Each end
//! of a cable is *mentioned* by its own device, as discovery tools print it, and the two mentions must agree. Every
//! [`Inconsistency`] is found once: [`FabricBuilder::finish`] makes it an error, [`FabricBuilder::finish_sound`]
//! leaves out what is inconsistent and keeps the rest.
//!
//! ```
//! use dmodc::fabric::{Product, Rate, Switch};
//! use dmodc::{FabricBuilder, Guid, Lid, PortNumber};
//!
//! let mut builder = FabricBuilder::new();
//! let [left, right] = [1, 2].map(|guid| {
//!     let (name, product) = (format!("switch {guid}").into(), Product::default());
//!     builder.switch(Switch { guid: Guid(guid), lid: Lid(0), ports: 4, name, product })
//! });
//! builder.cable((left, PortNumber(1)), (right, PortNumber(3)), Rate::NDR);
//! // Port 2 of the first switch mentions a cable that the other switch does not know.
//! builder.mention(left, PortNumber(2), Guid(2), PortNumber(4), Rate::NDR);
//!
//! let (fabric, inconsistencies) = builder.finish_sound();
//! assert_eq!(fabric.inter_switch_cables().len(), 1);
//! assert_eq!(inconsistencies.len(), 1);
//! ```

mod cables;
mod layout;
mod problem;
mod starts;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

pub use problem::{BuildError, Inconsistency, Problem};

use super::{Adapter, Fabric, Rate, Switch};
use crate::id::{AdapterIndex, Guid, Lid, PortNumber, SwitchIndex};

/// The device that an end of a cable belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vertex {
    /// A switch.
    Switch(SwitchIndex),
    /// A channel adapter.
    Adapter(AdapterIndex),
}

/// One end of a cable, as its own device describes it.
struct Mention {
    from: Vertex,
    port: PortNumber,
    to: Guid,
    to_port: PortNumber,
    rate: Rate,
    line: u32,
}

/// A port of an adapter, with its GUID and LIDs.
struct DescribedPort {
    adapter: AdapterIndex,
    port: PortNumber,
    guid: Guid,
    lid: Lid,
    lmc: u8,
    line: u32,
}

/// Collects devices and the ends of cables, then makes the fabric. Two mentions of a cable that do not agree are an
/// [`Inconsistency`].
#[derive(Default)]
pub struct FabricBuilder {
    switches: Vec<Switch>,
    adapters: Vec<Adapter>,
    end_ports: Vec<DescribedPort>,
    mentions: Vec<Mention>,
    vertices: HashMap<Guid, Vertex>,
    line: u32,
    problems: Vec<Inconsistency>,
}

impl FabricBuilder {
    /// Returns an empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the line of the input that everything added from now on stands in.
    pub fn at_line(&mut self, line: u32) {
        self.line = line;
    }

    /// Adds a switch, and returns its name for cables.
    ///
    /// # Panics
    /// If its LID is over 31 bits.
    pub fn switch(&mut self, mut switch: Switch) -> Vertex {
        assert!(switch.lid.0 < 1 << 31, "a reader checks LIDs");
        let vertex = Vertex::Switch(SwitchIndex::new(self.switches.len()));
        if let Some(first) = self.device(switch.guid, switch.ports, vertex) {
            return first;
        }
        switch.ports = switch.ports.min(PortNumber::MAX.0);
        self.switches.push(switch);
        vertex
    }

    /// Adds a channel adapter, and returns its name for cables.
    pub fn adapter(&mut self, adapter: Adapter) -> Vertex {
        let vertex = Vertex::Adapter(AdapterIndex::new(self.adapters.len()));
        if let Some(first) = self.device(adapter.guid, adapter.ports, vertex) {
            return first;
        }
        self.adapters.push(adapter);
        vertex
    }

    /// Adds GUID and LIDs of an adapter's port. Does nothing for a switch, whose ports have none.
    ///
    /// # Panics
    /// If `lmc` is over 7, InfiniBand's greatest, or the LID over 31 bits.
    pub fn end_port(&mut self, of: Vertex, port: PortNumber, guid: Guid, lid: Lid, lmc: u8) {
        assert!(lmc <= 7 && lid.0 < 1 << 31, "a reader checks LIDs");
        if let Vertex::Adapter(adapter) = of {
            let line = self.line;
            self.end_ports.push(DescribedPort { adapter, port, guid, lid, lmc, line });
        }
    }

    /// Adds one end of a cable: port `port` of `from` is cabled to port `to_port` of the device `to`.
    pub fn mention(
        &mut self,
        from: Vertex,
        port: PortNumber,
        to: Guid,
        to_port: PortNumber,
        rate: Rate,
    ) {
        let line = self.line;
        self.mentions.push(Mention { from, port, to, to_port, rate, line });
    }

    /// Adds both ends of a cable.
    pub fn cable(&mut self, a: (Vertex, PortNumber), b: (Vertex, PortNumber), rate: Rate) {
        let (guid_a, guid_b) = (self.guid(a.0), self.guid(b.0));
        self.mention(a.0, a.1, guid_b, b.1, rate);
        self.mention(b.0, b.1, guid_a, a.1, rate);
    }

    /// Registers a device. Returns the first device with its GUID if there is one already.
    fn device(&mut self, guid: Guid, ports: u8, vertex: Vertex) -> Option<Vertex> {
        if let Some(&first) = self.vertices.get(&guid) {
            self.problem(self.line, Problem::DeviceTwice(guid));
            return Some(first);
        }
        self.vertices.insert(guid, vertex);
        if ports > PortNumber::MAX.0 {
            self.problem(self.line, Problem::TooManyPorts(guid, ports.into()));
        }
        None
    }

    fn problem(&mut self, line: u32, problem: Problem) {
        self.problems.push(Inconsistency { line, problem });
    }

    fn guid(&self, vertex: Vertex) -> Guid {
        match vertex {
            Vertex::Switch(s) => self.switches[s.at()].guid,
            Vertex::Adapter(a) => self.adapters[a.at()].guid,
        }
    }

    fn port_count(&self, vertex: Vertex) -> u8 {
        match vertex {
            Vertex::Switch(s) => self.switches[s.at()].ports,
            Vertex::Adapter(a) => self.adapters[a.at()].ports,
        }
    }

    /// Returns the fabric, if its description is consistent.
    ///
    /// # Errors
    /// Every inconsistency, each once, in the order of the input.
    pub fn finish(self) -> Result<Fabric, BuildError> {
        match self.finish_sound() {
            (fabric, inconsistencies) if inconsistencies.is_empty() => Ok(fabric),
            (_, inconsistencies) => Err(BuildError { inconsistencies }),
        }
    }

    /// Returns the fabric of all that is consistent, and all inconsistencies in the order of the input. Cables whose
    /// ends do not agree are left out; of a device that is described twice the first description holds.
    pub fn finish_sound(mut self) -> (Fabric, Vec<Inconsistency>) {
        let slots = self.slots();
        let mut cables = self.match_ends(&slots);
        let nodes = self.nodes(&slots, &mut cables);
        self.problems.sort_by_key(|p| p.line);
        (layout::assemble(self.switches, self.adapters, nodes, &cables), self.problems)
    }
}
