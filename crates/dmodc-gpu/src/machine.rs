//! Memory and launches, whatever carries them out: an NVIDIA GPU, or a stand-in for it in tests.

use std::fmt;

use crate::error::GpuError;
use crate::kernels::KernelName;

/// The arguments of a launch as the kernels read them: the structure `Arguments` of `kernels/common.cu`, or another one that
/// begins with it.
pub type Words = [u64];

/// A place in the memory of a machine; 0 is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Address(pub u64);

impl Address {
    /// Returns the address that is this number of bytes further.
    pub fn plus(self, bytes: usize) -> Address {
        Address(self.0 + bytes as u64)
    }
}

/// How many threads run a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchSize {
    /// The number of blocks, along x, y and z.
    pub blocks: [u32; 3],
    /// The number of threads of a block, a multiple of 32.
    pub threads: u32,
    /// The bytes of memory that the threads of a block share.
    pub shared_bytes: u32,
}

impl LaunchSize {
    /// Checks that the threads of a block share at most this number of bytes.
    ///
    /// # Errors
    /// If they share more.
    pub fn check(self, most_shared_bytes: usize) -> Result<(), GpuError> {
        let bytes = self.shared_bytes as usize;
        match bytes > most_shared_bytes {
            true => Err(GpuError::SharedMemory { bytes, most: most_shared_bytes }),
            false => Ok(()),
        }
    }
}

/// What runs kernels. Work is done in the order in which it was asked for.
pub trait Machine: fmt::Debug + Send + Sync {
    /// Returns its name.
    fn name(&self) -> &str;

    /// Returns how many bytes the threads of a block may share.
    fn shared_bytes(&self) -> usize;

    /// Returns memory of this size, with any contents. It starts at a multiple of 256.
    ///
    /// # Errors
    /// If there is not enough memory.
    fn allocate(&self, bytes: usize) -> Result<Address, GpuError>;

    /// Gives memory back that [`allocate`](Self::allocate) returned.
    fn release(&self, address: Address);

    /// Copies bytes to the machine.
    ///
    /// # Errors
    /// If the driver fails, as in all of these.
    fn write(&self, to: Address, bytes: &[u8]) -> Result<(), GpuError>;

    /// Copies bytes from the machine, after everything that was asked for before is done.
    ///
    /// # Errors
    /// If the driver fails, now or in earlier work.
    fn read(&self, from: Address, bytes: &mut [u8]) -> Result<(), GpuError>;

    /// Fills memory with one byte.
    ///
    /// # Errors
    /// If the driver fails.
    fn fill(&self, at: Address, value: u8, bytes: usize) -> Result<(), GpuError>;

    /// Starts a kernel.
    ///
    /// # Errors
    /// If the threads of a block share more than they may, or the driver fails.
    fn launch(
        &self,
        kernel: KernelName,
        size: LaunchSize,
        arguments: &Words,
    ) -> Result<(), GpuError>;

    /// Waits until everything that was asked for is done.
    ///
    /// # Errors
    /// If any of it failed.
    fn wait(&self) -> Result<(), GpuError>;
}
