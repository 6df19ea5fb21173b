//! Memory of a machine, which is given back when its owner is dropped.

use std::sync::Arc;

use crate::error::GpuError;
use crate::machine::{Address, Machine};

/// Memory of a machine.
#[derive(Debug)]
pub(crate) struct Buffer {
    machine: Arc<dyn Machine>,
    address: Address,
    bytes: usize,
}

impl Buffer {
    /// Returns memory with any contents.
    pub(crate) fn new(machine: &Arc<dyn Machine>, bytes: usize) -> Result<Self, GpuError> {
        // A machine need not have allocations of no bytes.
        let address = machine.allocate(bytes.max(1))?;
        Ok(Buffer { machine: machine.clone(), address, bytes })
    }

    /// Returns memory that holds these bytes.
    pub(crate) fn holding(machine: &Arc<dyn Machine>, bytes: &[u8]) -> Result<Self, GpuError> {
        let buffer = Buffer::new(machine, bytes.len())?;
        machine.write(buffer.address, bytes)?;
        Ok(buffer)
    }

    pub(crate) fn address(&self) -> Address {
        self.address
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns numbers of 4 bytes from the start of the memory.
    pub(crate) fn read_u32s(&self, count: usize) -> Result<Vec<u32>, GpuError> {
        let mut bytes = vec![0; 4 * count];
        self.machine.read(self.address, &mut bytes)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect())
    }

    /// Returns numbers of 8 bytes from the start of the memory.
    pub(crate) fn read_u64s(&self, count: usize) -> Result<Vec<u64>, GpuError> {
        let mut bytes = vec![0; 8 * count];
        self.machine.read(self.address, &mut bytes)?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect())
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        self.machine.release(self.address);
    }
}

/// Memory that grows.
#[derive(Debug, Default)]
pub(crate) struct GrowingBuffer(Option<Buffer>);

impl GrowingBuffer {
    /// Reserves this number of bytes. What was there before is lost if there was less. After an error there is no memory, until
    /// some is reserved again.
    pub(crate) fn reserve(
        &mut self,
        machine: &Arc<dyn Machine>,
        bytes: usize,
    ) -> Result<Address, GpuError> {
        if self.0.as_ref().is_none_or(|buffer| buffer.bytes() < bytes) {
            // The old memory is given back first.
            self.0 = None;
            self.0 = Some(Buffer::new(machine, bytes)?);
        }
        Ok(self.address())
    }

    /// Returns where the memory is.
    pub(crate) fn address(&self) -> Address {
        self.0.as_ref().map_or(Address(0), Buffer::address)
    }

    /// Returns numbers of 4 bytes from the start of the memory.
    pub(crate) fn read_u32s(&self, count: usize) -> Result<Vec<u32>, GpuError> {
        self.0.as_ref().map_or(Ok(vec![]), |buffer| buffer.read_u32s(count))
    }

    /// Returns numbers of 8 bytes from the start of the memory.
    pub(crate) fn read_u64s(&self, count: usize) -> Result<Vec<u64>, GpuError> {
        self.0.as_ref().map_or(Ok(vec![]), |buffer| buffer.read_u64s(count))
    }
}

/// Returns the bytes of some numbers.
pub(crate) fn bytes_of_u16s(numbers: impl IntoIterator<Item = u16>) -> Vec<u8> {
    let mut bytes = vec![];
    numbers.into_iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    bytes
}

/// Returns the bytes of some numbers.
pub(crate) fn bytes_of_u32s(numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    let mut bytes = vec![];
    numbers.into_iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    bytes
}

/// Returns the bytes of some numbers.
pub(crate) fn bytes_of_u64s(numbers: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut bytes = vec![];
    numbers.into_iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
    bytes
}
