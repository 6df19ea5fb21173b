//! Why there are no tables from a device.

use dmodc::{NoMemory, RouteError};

/// The least compute capability of a device that runs the kernels: threads of a warp wait for each other one by one.
pub(crate) const LEAST_CAPABILITY: i32 = 7;

/// Why a device gave no tables.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// The driver of NVIDIA is not installed.
    #[error("there is no NVIDIA driver here (libcuda.so.1 is not found)")]
    NoDriver,
    /// The driver is older than this crate needs.
    #[error("the NVIDIA driver is too old: it has CUDA {}.{}, and 12.0 is needed", found / 1000, found % 1000 / 10)]
    OldDriver {
        /// The version of CUDA that it has, as CUDA counts them: 11040 is 11.4.
        found: i32,
    },
    /// The driver found no device.
    #[error("the NVIDIA driver found no GPU: {0}")]
    NoDevice(String),
    /// There is a device, but the driver does not open it: others use it exclusively, its memory is full, or the driver is not ready.
    #[error("the NVIDIA driver cannot open the GPU: {0}")]
    NotOpened(String),
    /// The device is older than this crate needs.
    #[error("the GPU is too old: {name} has compute capability {}.{}, and {}.0 is needed", found.0, found.1, LEAST_CAPABILITY)]
    OldDevice {
        /// The name of the device.
        name: String,
        /// Its compute capability: the number before the point, and the one after it.
        found: (i32, i32),
    },
    /// The compiler of CUDA is not installed, and no compiled kernels are kept.
    #[error(
        "the compiler of CUDA is not found (libnvrtc.so.12 or later); install it, for example with the package cuda-nvrtc-12-8 of \
         NVIDIA for Debian and Ubuntu, or nvidia-cuda-nvrtc-cu12 of the Python Package Index, and add its folder to LD_LIBRARY_PATH"
    )]
    NoCompiler,
    /// A library has the right name, but is another one.
    #[error(
        "the library {library} is not the one of NVIDIA, or is damaged: it lacks the function {function}"
    )]
    WrongLibrary {
        /// The name of the library.
        library: String,
        /// The function that it lacks.
        function: String,
    },
    /// A library is there, but cannot be loaded: it is cut off, for another processor, or lacks a library that it needs.
    #[error("the library {library} is found, but cannot be loaded: {why}")]
    BrokenLibrary {
        /// The name of the library.
        library: String,
        /// What the loader of the system says.
        why: String,
    },
    /// The library of the driver is a stub, which programs are linked with where there is no driver.
    #[error(
        "the library {library} is a stub of the CUDA toolkit, not the NVIDIA driver (CUDA error {error}); remove the folder of the \
         stub, such as /usr/local/cuda/lib64/stubs, from LD_LIBRARY_PATH"
    )]
    StubLibrary {
        /// The name of the library.
        library: String,
        /// The number of the error by which the stub says so.
        error: u32,
    },
    /// The compiler refused the kernels.
    #[error("the compiler of CUDA refused the kernels: {0}")]
    Compile(String),
    /// Kernels are kept that cannot be used, and they cannot be compiled anew.
    #[error("{compiled}; and the kernels that are kept cannot be used: {kept}")]
    NeitherKernels {
        /// Why those that are kept cannot be used.
        kept: String,
        /// Why none are compiled.
        compiled: Box<GpuError>,
    },
    /// The device has too little memory.
    #[error("the GPU has too little free memory{}", asked_for(*bytes))]
    OutOfMemory {
        /// The number of bytes that were asked for; `None` if the driver needed them itself.
        bytes: Option<usize>,
    },
    /// The threads of a block would share more memory than the device has for them.
    #[error(
        "the GPU has too little shared memory per block: {bytes} bytes are needed for this fabric, and it has {most}"
    )]
    SharedMemory {
        /// The number of bytes that the threads of a block would share.
        bytes: usize,
        /// The number of bytes that they may share.
        most: usize,
    },
    /// A call of the driver failed.
    #[error("the NVIDIA driver failed: {0}")]
    Driver(String),
    /// The fabric cannot be routed.
    #[error(transparent)]
    Route(#[from] RouteError),
}

fn asked_for(bytes: Option<usize>) -> String {
    bytes.map_or(String::new(), |bytes| format!(": {bytes} bytes were asked for"))
}

impl From<NoMemory> for GpuError {
    fn from(error: NoMemory) -> Self {
        GpuError::Route(error.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_devices_are_named() {
        let error = GpuError::OldDevice { name: "Tesla P100".into(), found: (6, 0) };
        let expected =
            "the GPU is too old: Tesla P100 has compute capability 6.0, and 7.0 is needed";
        assert_eq!(error.to_string(), expected);
        let error = GpuError::OldDriver { found: 11_040 }.to_string();
        assert!(error.contains("it has CUDA 11.4, and 12.0 is needed"), "{error}");
    }

    #[test]
    fn messages_name_what_is_known() {
        let full = |bytes| GpuError::OutOfMemory { bytes }.to_string();
        assert_eq!(full(None), "the GPU has too little free memory");
        assert_eq!(full(Some(7)), "the GPU has too little free memory: 7 bytes were asked for");
        let kept = "a file: the file is damaged".into();
        let compiled = Box::new(GpuError::Compile("no".into()));
        let expected = "the compiler of CUDA refused the kernels: no; and the kernels that are kept cannot be used: a file: the file is \
                        damaged";
        assert_eq!(GpuError::NeitherKernels { kept, compiled }.to_string(), expected);
    }
}
