//! The kernels on the CPU: they are compiled by a C++ compiler, and `emulator.cpp` stands in for the device.
#![allow(unsafe_code, reason = "the kernels are C++")]

use std::ffi::{CString, c_char, c_void};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::{env, fs, io};

use dmodc_gpu::{Address, GpuError, KernelName, LaunchSize, Machine, SOURCES, Words};
use libloading::Library;

/// The bytes that the threads of a block may share: those of an H200. The stand-in has as many.
const SHARED_BYTES: usize = 227 << 10;

/// A machine that is no device.
#[derive(Debug)]
pub(crate) struct Emulator(&'static Library);

/// Returns the emulator, or `None` after a line that says what is missing.
pub(crate) fn emulator() -> Option<Arc<dyn Machine>> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let library = LIBRARY.get_or_init(build).as_ref()?;
    Some(Arc::new(Emulator(library)))
}

/// Reports that the tests of this file are skipped on a machine. The line has the form that scripts/test counts. It is written directly
/// to standard error, because the test harness hides the output of tests that pass.
pub(crate) fn skip(machine: &str, why: &str) {
    let _ = writeln!(io::stderr(), "skipped: {}::{machine}: {why}", env!("CARGO_CRATE_NAME"));
}

/// Compiles the kernels, unless a test has done so before: the name of the library follows from what it is made of.
fn build() -> Option<Library> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let kernels = SOURCES.iter().map(|(name, text)| format!("#line 1 \"{name}\"\n{text}\n"));
    let [before, after] = [include_str!("emulator.cpp"), include_str!("launch.cpp")];
    let source = format!("{before}{}{after}", kernels.collect::<String>());
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".into());
    let mut hash = DefaultHasher::new();
    (&source, &compiler).hash(&mut hash);
    let library = folder.join(format!("libemulator-{:016x}.so", hash.finish()));
    if !library.exists() && !compile(&compiler, &source, &library) {
        return None;
    }
    // SAFETY: the library has no code that runs when it is loaded.
    Some(unsafe { Library::new(&library) }.unwrap())
}

/// Compiles a library. Returns whether there is a compiler.
fn compile(compiler: &str, source: &str, library: &Path) -> bool {
    // Other tests may do the same at this moment, so the file is put into its place as a whole.
    let unfinished = library.with_extension(process::id().to_string());
    // The tests may run on another machine than the one that built them.
    fs::create_dir_all(library.parent().unwrap()).unwrap();
    let options =
        ["-O2", "-std=c++17", "-shared", "-fPIC", "-fno-strict-aliasing", "-U_FORTIFY_SOURCE"];
    let quiet = ["-Wno-unknown-pragmas", "-Wno-unused"];
    let run = Command::new(compiler)
        .args(options)
        .args(quiet)
        .args(["-x", "c++", "-", "-o"])
        .arg(&unfinished)
        .stdin(Stdio::piped())
        .spawn();
    let mut run = match run {
        Ok(run) => run,
        Err(error) => {
            skip(
                "on_the_processor",
                &format!("there is no C++ compiler for the kernels ({error})"),
            );
            return false;
        }
    };
    run.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    assert!(run.wait().unwrap().success(), "the kernels do not compile as C++");
    fs::rename(unfinished, library).unwrap();
    true
}

/// One launch at a time: the stand-in has one set of fibers.
static RUNNING: Mutex<()> = Mutex::new(());

type Launch = unsafe extern "C" fn(*const c_void, *const LaunchedSize, *const u64, usize);

type SharedBytes = unsafe extern "C" fn(*const c_char, *const u64) -> usize;

/// A [`LaunchSize`] as the stand-in reads it.
#[repr(C)]
struct LaunchedSize {
    blocks: [u32; 3],
    threads: u32,
    shared_bytes: u32,
}

impl Machine for Emulator {
    fn name(&self) -> &str {
        "emulator"
    }

    fn shared_bytes(&self) -> usize {
        SHARED_BYTES
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
        assert!(size.threads.is_multiple_of(32));
        size.check(SHARED_BYTES)?;
        let _running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
        let LaunchSize { blocks, threads, shared_bytes } = size;
        let function = CString::new(kernel.function()).unwrap();
        // SAFETY: the arguments are those of this kernel.
        let used = unsafe {
            let shared = self.0.get::<SharedBytes>(b"emulator_shared_bytes").unwrap();
            shared(function.as_ptr(), arguments.as_ptr())
        };
        assert!(used == 0 || used == shared_bytes as usize, "{kernel:?}: {used}, {shared_bytes}");
        let size = LaunchedSize { blocks, threads, shared_bytes };
        // SAFETY: every kernel takes one structure by value, whose words these are.
        unsafe {
            let kernel =
                self.0.get::<unsafe extern "C" fn()>(kernel.function().as_bytes()).unwrap();
            let launch = self.0.get::<Launch>(b"emulator_launch").unwrap();
            launch(*kernel as *const c_void, &raw const size, arguments.as_ptr(), arguments.len());
        }
        Ok(())
    }

    fn wait(&self) -> Result<(), GpuError> {
        Ok(())
    }
}
