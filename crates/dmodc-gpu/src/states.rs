//! The memory of the states of a fabric: everything that differs from one degradation to the next.

use std::sync::Arc;

use crate::arguments::StateAddresses;
use crate::buffer::{Buffer, GrowingBuffer};
use crate::error::GpuError;
use crate::layout::{CHUNK, DeviceFabric};
use crate::machine::{Address, Machine};

/// Masks start at multiples of this number of bytes.
const MASK_ALIGNMENT: usize = 256;

/// The memory of the states.
#[derive(Debug)]
pub(crate) struct States {
    pub(crate) capacity: usize,
    pub(crate) addresses: StateAddresses,
    /// The flags of all states, and then their masks.
    pub(crate) flags: Buffer,
    /// Where the masks start.
    pub(crate) mask_offset: usize,
    pub(crate) digests: Buffer,
    planes: GrowingBuffer,
    /// The tables of a window, state by state.
    pub(crate) tables: Buffer,
    /// The bytes of the tables of one state.
    pub(crate) table_bytes: usize,
    /// Costs as bytes, of one state. They are needed rarely.
    costs: Option<Buffer>,
    /// The memory behind the other addresses.
    _others: Vec<Buffer>,
}

impl States {
    /// Makes room for states, with tables of this number of bytes each.
    pub(crate) fn new(
        machine: &Arc<dyn Machine>,
        device: &DeviceFabric,
        capacity: usize,
        ranks_run: u32,
        table_bytes: usize,
    ) -> Result<Self, GpuError> {
        let sizes = &device.sizes;
        let new = |bytes: usize| Buffer::new(machine, bytes * capacity);
        let (switches, links) = (sizes.switches as usize, sizes.links as usize);
        let mut others = vec![];
        let mut other = |bytes: usize| -> Result<Address, GpuError> {
            let buffer = new(bytes)?;
            let address = buffer.address();
            others.push(buffer);
            Ok(address)
        };
        let mut addresses = StateAddresses {
            counts: other(4 * switches)?,
            peers: other(4 * links)?,
            firsts: other(links)?,
            ports: other(links)?,
            pi: other(4 * switches)?,
            dividers: other(16 * switches)?,
            ranks: other(switches)?,
            heights: other(2 * switches)?,
            depths: other(2 * switches)?,
            dead_slots: other(2 * sizes.slots as usize / CHUNK)?,
            ..StateAddresses::default()
        };
        let mask_offset = (4 * capacity).next_multiple_of(MASK_ALIGNMENT);
        let mask_bytes = 4 * sizes.mask_words as usize * capacity;
        let flags = Buffer::new(machine, mask_offset + mask_bytes)?;
        let digests = new(8)?;
        let mut planes = GrowingBuffer::default();
        let plane_bytes = plane_bytes(device) * ranks_run as usize * capacity;
        addresses.planes = planes.reserve(machine, plane_bytes)?;
        let tables = new(table_bytes)?;
        addresses.dead_switches = flags.address().plus(mask_offset);
        addresses.dead_cables = addresses.dead_switches.plus(device.switch_mask_bytes);
        addresses.flags = flags.address();
        addresses.digests = digests.address();
        addresses.tables = tables.address();
        let (costs, _others) = (None, others);
        Ok(States {
            capacity,
            addresses,
            flags,
            mask_offset,
            digests,
            planes,
            tables,
            table_bytes,
            costs,
            _others,
        })
    }

    /// Returns the bytes of one state, with its planes and tables.
    pub(crate) fn bytes_of_one(device: &DeviceFabric, ranks_run: u32, table_bytes: usize) -> usize {
        let sizes = &device.sizes;
        let (switches, links) = (sizes.switches as usize, sizes.links as usize);
        let masks = 4 * sizes.mask_words as usize + 2 * sizes.slots as usize / CHUNK;
        let planes = plane_bytes(device) * ranks_run as usize;
        29 * switches + 6 * links + masks + 12 + planes + table_bytes
    }

    /// Makes room for the planes of this number of ranks. What the planes held is lost if there was less room. After an error there
    /// are no planes, until room is made again.
    pub(crate) fn grow_planes(
        &mut self,
        machine: &Arc<dyn Machine>,
        device: &DeviceFabric,
        ranks_run: u32,
    ) -> Result<(), GpuError> {
        let bytes = plane_bytes(device) * ranks_run as usize * self.capacity;
        self.addresses.planes = self.planes.reserve(machine, bytes)?;
        Ok(())
    }

    /// Returns where planes must start so that those of this state, if each state had one, start where they do if each has this number of
    /// ranks.
    pub(crate) fn planes_of(&self, device: &DeviceFabric, state: usize, ranks_run: u32) -> Address {
        self.addresses.planes.plus(state * (ranks_run as usize - 1) * plane_bytes(device))
    }

    /// Returns where the costs of one state are, as bytes.
    pub(crate) fn costs(
        &mut self,
        machine: &Arc<dyn Machine>,
        device: &DeviceFabric,
    ) -> Result<Address, GpuError> {
        if self.costs.is_none() {
            self.costs = Some(Buffer::new(machine, 8 * plane_bytes(device))?);
        }
        Ok(self.costs.as_ref().map_or(Address(0), Buffer::address))
    }
}

/// Returns the bytes of one plane of one state.
fn plane_bytes(device: &DeviceFabric) -> usize {
    8 * device.sizes.switches as usize * device.sizes.tiles as usize
}
