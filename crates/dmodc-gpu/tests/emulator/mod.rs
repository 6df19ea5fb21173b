//! The kernels on the CPU: they are compiled by a C++ compiler, and `emulator.cpp` stands in for the device.
#![allow(unsafe_code, reason = "the kernels are C++")]

use std::ffi::c_void;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::{env, fs};

use dmodc_gpu::{Address, GpuError, KernelName, LaunchSize, Machine, SOURCES, Words};
use libloading::Library;

/// A machine that is no device.
#[derive(Debug)]
pub(crate) struct Emulator(&'static Library);

/// Returns the emulator, or `None` after a line that says what is missing.
pub(crate) fn emulator() -> Option<Arc<dyn Machine>> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let library = LIBRARY.get_or_init(build).as_ref()?;
    Some(Arc::new(Emulator(library)))
}

fn build() -> Option<Library> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("emulator-{}", std::process::id());
    let (source, library) =
        (folder.join(format!("{name}.cpp")), folder.join(format!("lib{name}.so")));
    let kernels = SOURCES.iter().map(|(name, text)| format!("#line 1 \"{name}\"\n{text}\n"));
    let [before, after] = [include_str!("emulator.cpp"), include_str!("launch.cpp")];
    fs::write(&source, format!("{before}{}{after}", kernels.collect::<String>())).unwrap();
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".into());
    let options =
        ["-O2", "-std=c++17", "-shared", "-fPIC", "-fno-strict-aliasing", "-U_FORTIFY_SOURCE"];
    let quiet = ["-Wno-unknown-pragmas", "-Wno-unused"];
    let run = Command::new(compiler)
        .args(options)
        .args(quiet)
        .arg(&source)
        .arg("-o")
        .arg(&library)
        .status();
    match run {
        Ok(status) => assert!(status.success(), "the kernels do not compile as C++"),
        Err(error) => {
            eprintln!("skipped: there is no C++ compiler for the kernels ({error})");
            return None;
        }
    }
    // SAFETY: the library has no code that runs when it is loaded.
    let loaded = unsafe { Library::new(&library) }.unwrap();
    fs::remove_file(source).ok();
    fs::remove_file(library).ok();
    Some(loaded)
}

/// One launch at a time: the stand-in has one set of fibers.
static RUNNING: Mutex<()> = Mutex::new(());

type Launch = unsafe extern "C" fn(*const c_void, *const u32, u32, *const Words);

impl Machine for Emulator {
    fn name(&self) -> &str {
        "emulator"
    }

    fn allocate(&self, bytes: usize) -> Result<Address, GpuError> {
        // SAFETY: the signature is the one of emulator.cpp, here and below.
        let memory = unsafe {
            let allocate =
                self.0.get::<unsafe extern "C" fn(usize) -> *mut c_void>(b"emulator_allocate");
            allocate.unwrap()(bytes)
        };
        Ok(Address(memory as u64))
    }

    fn release(&self, address: Address) {
        // SAFETY: the address is from `allocate`.
        unsafe {
            let release = self.0.get::<unsafe extern "C" fn(*mut c_void)>(b"emulator_release");
            release.unwrap()(address.0 as *mut c_void);
        }
    }

    fn write(&self, to: Address, bytes: &[u8]) -> Result<(), GpuError> {
        // SAFETY: the memory is large enough, or the guards around it are found broken later.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.0 as *mut u8, bytes.len()) };
        Ok(())
    }

    fn read(&self, from: Address, bytes: &mut [u8]) -> Result<(), GpuError> {
        // SAFETY: as for `write`.
        unsafe {
            std::ptr::copy_nonoverlapping(from.0 as *const u8, bytes.as_mut_ptr(), bytes.len());
        };
        Ok(())
    }

    fn fill(&self, at: Address, value: u8, bytes: usize) -> Result<(), GpuError> {
        // SAFETY: as for `write`.
        unsafe { std::ptr::write_bytes(at.0 as *mut u8, value, bytes) };
        Ok(())
    }

    fn launch(
        &self,
        kernel: KernelName,
        size: LaunchSize,
        arguments: &Words,
    ) -> Result<(), GpuError> {
        assert!(size.shared_bytes <= 112 << 10 && size.threads.is_multiple_of(32));
        let _running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: every kernel has the signature that the launch expects, and `Words` has the layout of its argument.
        unsafe {
            let kernel =
                self.0.get::<unsafe extern "C" fn()>(kernel.function().as_bytes()).unwrap();
            let launch = self.0.get::<Launch>(b"emulator_launch").unwrap();
            launch(*kernel as *const c_void, size.blocks.as_ptr(), size.threads, arguments);
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), GpuError> {
        Ok(())
    }
}
