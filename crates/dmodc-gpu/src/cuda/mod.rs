//! A machine that is an NVIDIA GPU. Nothing of CUDA is linked: [`Cuda::open`] loads what there is.
#![allow(unsafe_code, reason = "the driver of CUDA is a C library")]

mod cache;
mod compile;
mod library;
mod nvrtc;
mod staging;
mod target;

use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaContext, CudaFunction, CudaStream, DriverError, result, sys};
use cudarc::nvrtc::Ptx;

use self::cache::KernelCache;
use self::library::DriverLibrary;
use self::staging::{STAGED_BYTES, Staging};
use self::target::Target;
use crate::error::{GpuError, LEAST_CAPABILITY};
use crate::kernels::{KernelName, program};
use crate::machine::{Address, LaunchSize, Machine, Words};

/// The least version of CUDA that the driver must have.
const LEAST_VERSION: i32 = 12_000;

/// The most shared memory of a block that needs no permission.
const USUAL_SHARED_BYTES: u32 = 48 << 10;

/// An NVIDIA GPU with the kernels of this crate.
pub struct Cuda {
    context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    kernels: Vec<CudaFunction>,
    /// The most shared memory that each kernel has permission for.
    permitted: Mutex<[u32; KernelName::ALL.len()]>,
    staging: Mutex<Staging>,
    name: String,
    shared_bytes: usize,
    why_not_kept: Option<String>,
}

impl Drop for Cuda {
    fn drop(&mut self) {
        // After the wait, no kernel is still running and no copy is under way. If the wait fails, the device has stopped.
        let _ = self.bind().is_ok_and(|()| self.stream.synchronize().is_ok());
        self.staging.get_mut().unwrap_or_else(PoisonError::into_inner).release();
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cuda").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Cuda {
    /// Opens the first GPU and loads the kernels: those that are kept from an earlier time, or else they are compiled.
    ///
    /// # Errors
    /// If the driver, a GPU or the compiler is missing, or one of them fails.
    pub fn open() -> Result<Self, GpuError> {
        let library = DriverLibrary::open()?;
        let version = library.version()?;
        if version < LEAST_VERSION {
            return Err(GpuError::OldDriver { found: version });
        }
        library.check_functions()?;
        let context = CudaContext::new(0).map_err(|error| library.not_opened(error))?;
        let name = context.name().map_err(driver)?;
        let capability = context.compute_capability().map_err(driver)?;
        if capability.0 < LEAST_CAPABILITY {
            return Err(GpuError::OldDevice { name, found: capability });
        }
        let target = Target { capability, driver: version };
        let stream = context.new_stream().map_err(driver)?;
        let (kernels, why_not_kept) = load_kernels(&context, target)?;
        let staging = Mutex::new(Staging::new().map_err(driver)?);
        let permitted = Mutex::new([USUAL_SHARED_BYTES; KernelName::ALL.len()]);
        let most = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let shared_bytes = context.attribute(most).map_err(driver)?.max(0) as usize;
        Ok(Cuda { context, stream, kernels, permitted, staging, name, shared_bytes, why_not_kept })
    }

    /// Returns why the compiled kernels could not be kept, so that the next process compiles them again; `None` if they are kept.
    pub fn why_not_kept(&self) -> Option<&str> {
        self.why_not_kept.as_deref()
    }

    /// Returns the bytes of memory that are free, and all bytes.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn memory(&self) -> Result<(usize, usize), GpuError> {
        self.context.mem_get_info().map_err(driver)
    }

    /// Permits a kernel to share this number of bytes. A permission is never reduced, because another thread may be about to start
    /// the same kernel.
    fn permit(&self, kernel: KernelName, shared_bytes: u32) -> Result<(), GpuError> {
        let mut permitted = self.permitted.lock().unwrap_or_else(PoisonError::into_inner);
        let so_far = &mut permitted[kernel as usize];
        if shared_bytes > *so_far {
            let most = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            let function = &self.kernels[kernel as usize];
            function.set_attribute(most, shared_bytes as i32).map_err(driver)?;
            *so_far = shared_bytes;
        }
        Ok(())
    }

    /// Selects this GPU for the driver calls of this thread.
    fn bind(&self) -> Result<(), GpuError> {
        self.context.bind_to_thread().map_err(driver)
    }
}

/// Returns the kernels, and why they could not be kept.
fn load_kernels(
    context: &Arc<CudaContext>,
    target: Target,
) -> Result<(Vec<CudaFunction>, Option<String>), GpuError> {
    let source = program();
    let cache = KernelCache::new(&source, &target.architecture(), target.driver);
    let kept = cache.load().and_then(|kept| {
        let loaded = kept.map(|code| functions(context, code)).transpose();
        loaded.map_err(|error| format!("{cache}: {error}"))
    });
    // A file that is damaged, or that the driver refuses, is written again.
    let why_not_used = match kept {
        Ok(Some(kernels)) => return Ok((kernels, None)),
        Ok(None) => None,
        Err(why) => Some(why),
    };
    let compiled = compile::compile(&source, target);
    let code = compiled.map_err(|error| match why_not_used {
        None => error,
        Some(kept) => GpuError::NeitherKernels { kept, compiled: Box::new(error) },
    })?;
    let why_not_kept = cache.store(&code).err();
    Ok((functions(context, code)?, why_not_kept))
}

fn functions(context: &Arc<CudaContext>, code: Vec<u8>) -> Result<Vec<CudaFunction>, GpuError> {
    let module = context.load_module(Ptx::from_binary(code)).map_err(driver)?;
    let load = |kernel: KernelName| module.load_function(kernel.function()).map_err(driver);
    KernelName::ALL.into_iter().map(load).collect()
}

/// Returns what the driver says about an error; its number if the driver does not know it.
fn words(error: DriverError) -> String {
    match (error.error_string(), error.error_name()) {
        (Ok(text), Ok(name)) => format!("{} ({})", text.to_string_lossy(), name.to_string_lossy()),
        _ => format!("CUDA error {}", error.0 as u32),
    }
}

/// Returns the error of a call of the driver. Any call may lack memory, since the driver takes memory of its own, for example for the
/// registers that a kernel cannot keep.
fn driver(error: DriverError) -> GpuError {
    match error.0 {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => GpuError::OutOfMemory { bytes: None },
        _ => GpuError::Driver(words(error)),
    }
}

impl Machine for Cuda {
    fn name(&self) -> &str {
        &self.name
    }

    fn shared_bytes(&self) -> usize {
        self.shared_bytes
    }

    fn allocate(&self, bytes: usize) -> Result<Address, GpuError> {
        self.bind()?;
        // SAFETY: the memory is given back by `release` alone.
        let allocated = unsafe { result::malloc_sync(bytes) };
        allocated.map(Address).map_err(|error| match driver(error) {
            GpuError::OutOfMemory { .. } => GpuError::OutOfMemory { bytes: Some(bytes) },
            other => other,
        })
    }

    fn release(&self, address: Address) {
        // Kernels that use the memory may still wait behind the work of other threads. The driver does not promise to wait for them.
        // An error here would come from earlier work, which has reported it.
        let _ = self.bind().is_ok_and(|()| self.stream.synchronize().is_ok());
        // SAFETY: the address is from `allocate`, its owner is being dropped, and no kernel uses it any more.
        let _ = unsafe { result::free_sync(address.0) };
    }

    fn write(&self, to: Address, bytes: &[u8]) -> Result<(), GpuError> {
        self.bind()?;
        if bytes.len() <= STAGED_BYTES {
            let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
            return staging.write(&self.stream, to.0, bytes).map_err(driver);
        }
        // SAFETY: the owner of the memory asked for at least these bytes. The device may read them until the wait below is over, and
        // the caller lends them for as long.
        unsafe { result::memcpy_htod_async(to.0, bytes, self.stream.cu_stream()) }
            .map_err(driver)?;
        self.wait()
    }

    fn read(&self, from: Address, bytes: &mut [u8]) -> Result<(), GpuError> {
        self.bind()?;
        if bytes.len() <= STAGED_BYTES {
            let mut staging = self.staging.lock().unwrap_or_else(PoisonError::into_inner);
            return staging.read(&self.stream, from.0, bytes).map_err(driver);
        }
        // SAFETY: the owner of the memory asked for at least these bytes, and they are not used before the wait.
        unsafe { result::memcpy_dtoh_async(bytes, from.0, self.stream.cu_stream()) }
            .map_err(driver)?;
        self.wait()
    }

    fn fill(&self, at: Address, value: u8, bytes: usize) -> Result<(), GpuError> {
        self.bind()?;
        // SAFETY: the owner of the memory asked for at least these bytes.
        unsafe { result::memset_d8_async(at.0, value, bytes, self.stream.cu_stream()) }
            .map_err(driver)
    }

    fn launch(
        &self,
        kernel: KernelName,
        size: LaunchSize,
        arguments: &Words,
    ) -> Result<(), GpuError> {
        self.bind()?;
        size.check(self.shared_bytes)?;
        self.permit(kernel, size.shared_bytes)?;
        let function = &self.kernels[kernel as usize];
        let [x, y, z] = size.blocks;
        let mut parameters = [arguments.as_ptr().cast_mut().cast::<c_void>()];
        // SAFETY: every kernel takes one structure, whose words the caller gives, and the driver copies it now. The addresses in it are
        // of buffers that their owner keeps, and kernels stay within them, which the tests of this crate check.
        unsafe {
            result::launch_kernel(
                function.cu_function(),
                (x, y, z),
                (size.threads, 1, 1),
                size.shared_bytes,
                self.stream.cu_stream(),
                &mut parameters,
            )
        }
        .map_err(driver)
    }

    fn wait(&self) -> Result<(), GpuError> {
        self.stream.synchronize().map_err(driver)
    }
}
