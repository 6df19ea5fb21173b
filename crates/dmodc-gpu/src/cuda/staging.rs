//! Memory of the host that a device copies from and to without a detour, for small copies.
#![allow(unsafe_code, reason = "the driver of CUDA is a C library")]

use std::sync::Arc;

use cudarc::driver::{CudaStream, DriverError, result};

/// The most bytes that are copied this way.
pub(super) const STAGED_BYTES: usize = 1 << 20;

/// Memory of the host that the driver knows.
pub(super) struct Staging {
    memory: *mut u8,
    /// Whether the device may still read it.
    is_busy: bool,
}

// SAFETY: the memory belongs to this value alone, whichever thread has it.
unsafe impl Send for Staging {}

impl Staging {
    /// Returns new memory. A context must be bound to this thread, here and below.
    pub(super) fn new() -> Result<Self, DriverError> {
        // SAFETY: the memory is given back once, when this value is dropped.
        let memory = unsafe { result::malloc_host(STAGED_BYTES, 0) }?;
        Ok(Staging { memory: memory.cast(), is_busy: false })
    }

    /// Copies at most [`STAGED_BYTES`] bytes to the device, after everything that the stream does before.
    pub(super) fn write(
        &mut self,
        stream: &Arc<CudaStream>,
        to: u64,
        bytes: &[u8],
    ) -> Result<(), DriverError> {
        assert!(bytes.len() <= STAGED_BYTES, "this is too much to be staged");
        if self.is_busy {
            stream.synchronize()?;
        }
        self.is_busy = true;
        // SAFETY: the memory is large enough, and the device has read what was there before.
        let staged = unsafe {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.memory, bytes.len());
            std::slice::from_raw_parts(self.memory, bytes.len())
        };
        // SAFETY: the owner of the device memory asked for at least these bytes; the host memory stays as it is until it is free.
        unsafe { result::memcpy_htod_async(to, staged, stream.cu_stream()) }
    }

    /// Copies at most [`STAGED_BYTES`] bytes from the device, and waits for them.
    pub(super) fn read(
        &mut self,
        stream: &Arc<CudaStream>,
        from: u64,
        bytes: &mut [u8],
    ) -> Result<(), DriverError> {
        assert!(bytes.len() <= STAGED_BYTES, "this is too much to be staged");
        self.is_busy = true;
        // SAFETY: the memory is large enough. The stream works in order, so it has read what was staged before.
        unsafe {
            let staged = std::slice::from_raw_parts_mut(self.memory, bytes.len());
            result::memcpy_dtoh_async(staged, from, stream.cu_stream())?;
        }
        stream.synchronize()?;
        self.is_busy = false;
        // SAFETY: the copy is done.
        unsafe { std::ptr::copy_nonoverlapping(self.memory, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    /// Gives the memory back, after the device is done with it.
    pub(super) fn release(&mut self) {
        let memory = std::mem::replace(&mut self.memory, std::ptr::null_mut());
        if !memory.is_null() {
            // SAFETY: the memory is from `new`, and nobody uses it any more. An error cannot be mended here.
            let _ = unsafe { result::free_host(memory.cast()) };
        }
    }
}
