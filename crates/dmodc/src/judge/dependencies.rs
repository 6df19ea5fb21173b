//! The channel dependency graph: which channel a packet may hold while it waits for which other.
//!
//! Routes are free of deadlock if this graph has no cycle (Dally and Seitz). An edge leads from the
//! channel a packet came by to the one it takes next, so the successors of a channel are ports of
//! the switch it leads to: 256 bits a channel hold them all, and joining two graphs is an `or`.

use super::cycle::{Channel, find_cycle};
use crate::bits::bits;
use crate::fabric::{Fabric, Peer};
use crate::id::{PortNumber, SwitchIndex};

/// A set of dependencies between the channels of a fabric.
#[derive(Clone)]
pub(super) struct Dependencies(Vec<[u64; 4]>);

impl Dependencies {
    pub(super) fn new(fabric: &Fabric) -> Self {
        Dependencies(vec![[0; 4]; fabric.port_slots()])
    }

    /// Adds a dependency: a packet that came out of `port` of `from` goes on by port `next` of the switch it reached.
    pub(super) fn add(
        &mut self,
        fabric: &Fabric,
        from: SwitchIndex,
        port: PortNumber,
        next: PortNumber,
    ) {
        let slot = fabric.port_slot(from, port);
        self.0[slot][usize::from(next.0 / 64)] |= 1 << (next.0 % 64);
    }

    /// Returns the union of both graphs.
    pub(super) fn join(mut self, other: &Dependencies) -> Self {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            for (a, b) in a.iter_mut().zip(b) {
                *a |= b;
            }
        }
        self
    }

    /// Returns a cycle of channels, if there is one.
    pub(super) fn cycle(&self, fabric: &Fabric) -> Option<Vec<Channel>> {
        let mut channels = Vec::with_capacity(self.0.len());
        for s in fabric.switch_indices() {
            let ports = (1..=fabric.switch(s).ports).map(PortNumber);
            channels.extend(ports.map(|port| Channel { switch: s, port }));
        }
        let successors = |slot: u32| {
            let Channel { switch, port } = channels[slot as usize];
            let to = match fabric.port(switch, port).map(|p| p.peer) {
                Some(Peer::Switch(to, _)) => Some(to),
                _ => None,
            };
            let words = self.0[slot as usize].into_iter().enumerate();
            let ports = words.flat_map(|(word, mask)| bits(mask).map(move |b| word * 64 + b));
            to.into_iter().flat_map(move |to| {
                ports.clone().map(move |p| fabric.port_slot(to, PortNumber(p as u8)) as u32)
            })
        };
        let cycle = find_cycle(self.0.len(), 0..self.0.len() as u32, successors)?;
        Some(cycle.into_iter().map(|slot| channels[slot as usize]).collect())
    }
}
