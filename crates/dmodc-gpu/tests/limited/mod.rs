//! A machine that lacks something that another machine has.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use dmodc_gpu::{Address, GpuError, KernelName, LaunchSize, Machine, Words};

/// A machine that has no memory left at times, or whose blocks may share less.
#[derive(Debug)]
pub(crate) struct Limited {
    of: Arc<dyn Machine>,
    is_full: AtomicBool,
    allocated: AtomicUsize,
    shared_bytes: usize,
}

impl Limited {
    pub(crate) fn new(of: &Arc<dyn Machine>) -> Arc<Self> {
        Self::with_shared_bytes(of, of.shared_bytes())
    }

    /// Returns a machine whose blocks may share at most this number of bytes.
    pub(crate) fn with_shared_bytes(of: &Arc<dyn Machine>, shared_bytes: usize) -> Arc<Self> {
        Arc::new(Limited {
            of: of.clone(),
            is_full: false.into(),
            allocated: 0.into(),
            shared_bytes,
        })
    }

    /// Returns how many bytes were asked for so far, whether they were given back or not.
    pub(crate) fn allocated(&self) -> usize {
        self.allocated.load(Ordering::Relaxed)
    }

    /// Sets whether there is no memory left.
    pub(crate) fn set_full(&self, is_full: bool) {
        self.is_full.store(is_full, Ordering::Relaxed);
    }
}

impl Machine for Limited {
    fn name(&self) -> &str {
        self.of.name()
    }

    fn shared_bytes(&self) -> usize {
        self.shared_bytes
    }

    fn allocate(&self, bytes: usize) -> Result<Address, GpuError> {
        if self.is_full.load(Ordering::Relaxed) {
            return Err(GpuError::OutOfMemory { bytes: Some(bytes) });
        }
        self.allocated.fetch_add(bytes, Ordering::Relaxed);
        self.of.allocate(bytes)
    }

    fn release(&self, address: Address) {
        self.of.release(address);
    }

    fn write(&self, to: Address, bytes: &[u8]) -> Result<(), GpuError> {
        self.of.write(to, bytes)
    }

    fn read(&self, from: Address, bytes: &mut [u8]) -> Result<(), GpuError> {
        self.of.read(from, bytes)
    }

    fn fill(&self, at: Address, value: u8, bytes: usize) -> Result<(), GpuError> {
        self.of.fill(at, value, bytes)
    }

    fn launch(
        &self,
        kernel: KernelName,
        size: LaunchSize,
        arguments: &Words,
    ) -> Result<(), GpuError> {
        size.check(self.shared_bytes)?;
        self.of.launch(kernel, size, arguments)
    }

    fn wait(&self) -> Result<(), GpuError> {
        self.of.wait()
    }
}
