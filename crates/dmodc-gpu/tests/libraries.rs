//! Libraries of CUDA that are missing, broken, wrong or for other devices are reported, and none of them makes a program panic.
//!
//! A process opens the library of the driver once. So each case is a process: this program again, with stand-ins for the libraries, in
//! which only [`open_a_gpu`] does something.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs, io};

use dmodc_gpu::{Cuda, KernelName, LaunchSize, Machine as _};
use tempfile::TempDir;

/// The variable that says that this process is one of a case.
const IS_CASE: &str = "DMODC_GPU_TEST_LIBRARIES";

/// What a process of a case prints before the message, or before the name of the GPU.
const FAILED: &str = "\nfailed: ";
const OPENED: &str = "\nopened: ";

const DRIVER: &str = include_str!("stand_ins/driver.c");
const COMPILER: &str = include_str!("stand_ins/compiler.c");

/// What a process of a case does.
#[test]
fn open_a_gpu() {
    if env::var_os(IS_CASE).is_none() {
        return;
    }
    let line = match Cuda::open() {
        Err(error) => format!("{FAILED}{error}"),
        Ok(gpu) => {
            use_everything(&gpu);
            let name = gpu.name().to_owned();
            drop(gpu);
            format!("{OPENED}{name}")
        }
    };
    writeln!(io::stdout(), "{line}").unwrap();
}

/// Calls everything that a machine does.
fn use_everything(gpu: &Cuda) {
    gpu.memory().unwrap();
    // Large copies take another way than small ones.
    for bytes in [8, 2 << 20] {
        let memory = gpu.allocate(bytes).unwrap();
        let (mut read, written) = (vec![0; bytes], vec![1; bytes]);
        gpu.fill(memory, 7, bytes).unwrap();
        gpu.write(memory, &written).unwrap();
        gpu.read(memory, &mut read).unwrap();
        assert_eq!(read, written);
        gpu.release(memory);
    }
    let size = LaunchSize { blocks: [1; 3], threads: 32, shared_bytes: 64 << 10 };
    gpu.launch(KernelName::Routes, size, &[0; 64]).unwrap();
    gpu.wait().unwrap();
}

/// A folder with libraries, which are found before those of the system.
struct Libraries(TempDir);

impl Libraries {
    /// Returns a folder without libraries; `None` after a line that says so if there is no C compiler.
    fn new() -> Option<Self> {
        let compiler = Command::new("cc").arg("--version").stdout(Stdio::null()).status();
        if let Err(error) = compiler {
            let file = env!("CARGO_CRATE_NAME");
            let why = "there is no C compiler for the libraries";
            // The test harness hides the output of tests that pass.
            let _ = writeln!(io::stderr(), "skipped: {file}::stand_ins: {why} ({error})");
            return None;
        }
        Some(Libraries(tempfile::tempdir().unwrap()))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Compiles a library.
    fn add(&self, name: &str, source: &str, definition: &str) {
        let mut run = Command::new("cc")
            .args(["-shared", "-fPIC", "-w", "-x", "c", "-", "-D", definition, "-o"])
            .arg(self.path().join(name))
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        run.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
        assert!(run.wait().unwrap().success(), "{name} does not compile");
    }

    /// Adds a library of the driver, by the name that is looked for first.
    fn add_driver(&self, source: &str) {
        self.add("libcuda.so", source, "MAJOR=9");
    }

    /// Returns what a process with these libraries prints: one of [`FAILED`] and [`OPENED`], and what follows.
    fn open(&self) -> String {
        let run = Command::new(env::current_exe().unwrap())
            .args(["--exact", "open_a_gpu", "--nocapture"])
            .env("LD_LIBRARY_PATH", self.path())
            .env("DMODC_GPU_CACHE", self.path().join("cache"))
            .env(IS_CASE, "1")
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&run.stdout).into_owned();
        let errors = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{output}{errors}");
        let start = output.find(FAILED).or_else(|| output.find(OPENED)).unwrap();
        output[start..].lines().nth(1).unwrap().to_owned()
    }

    /// Checks the message of an error.
    fn assert_fails(&self, expected: &str) {
        assert_eq!(self.open(), format!("failed: {expected}"));
    }
}

/// Returns the names of the functions of the driver, and the lines of the source that define them.
fn functions() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = DRIVER.lines().filter(|line| line.starts_with("int cu"));
    lines.map(|line| (&line[4..line.find('(').unwrap()], line))
}

#[test]
fn a_driver_needs_the_functions_that_are_called_and_no_others() {
    let Some(libraries) = Libraries::new() else { return };
    libraries.add("libnvrtc.so.13", COMPILER, "STATUS=0");
    libraries.add_driver(DRIVER);
    assert_eq!(libraries.open(), "opened: a stand-in");
    for (name, line) in functions() {
        libraries.add_driver(&DRIVER.replace(line, ""));
        libraries.assert_fails(&format!(
            "the library libcuda.so is not the one of NVIDIA, or is damaged: it lacks the function {name}"
        ));
    }
}

#[test]
fn stubs_are_named() {
    let Some(libraries) = Libraries::new() else { return };
    let stubs = functions().map(|(name, _)| format!("int {name}() {{ return 34; }}\n"));
    libraries.add_driver(&stubs.collect::<String>());
    libraries.assert_fails(
        "the library libcuda.so is a stub of the CUDA toolkit, not the NVIDIA driver (CUDA error 34); remove the folder of the stub, \
         such as /usr/local/cuda/lib64/stubs, from LD_LIBRARY_PATH",
    );
}

/// A driver may be older than the program that asks it.
#[test]
fn errors_that_the_driver_does_not_know_have_a_number() {
    let Some(libraries) = Libraries::new() else { return };
    let fails = |function: &str, status: u32| {
        let (_, line) = functions().find(|(name, _)| *name == function).unwrap();
        (line, format!("int {function}() {{ return {status}; }}"))
    };
    let (line, failing) = fails("cuInit", 802);
    let source = DRIVER.replace(line, &failing);
    libraries.add_driver(&source);
    libraries.assert_fails(
        "the NVIDIA driver cannot open the GPU: an error (CUDA_ERROR_OF_THE_STAND_IN)",
    );
    let (line, failing) = fails("cuGetErrorName", 1);
    libraries.add_driver(&source.replace(line, &failing));
    libraries.assert_fails("the NVIDIA driver cannot open the GPU: CUDA error 802");
}

#[test]
fn libraries_that_cannot_be_loaded_are_found() {
    let Some(libraries) = Libraries::new() else { return };
    for bytes in [&b""[..], b"\x7fELF", &[b' '; 300]] {
        // On a machine with a GPU, the second name would be found in the system.
        for name in ["libcuda.so", "libcuda.so.1"] {
            fs::write(libraries.path().join(name), bytes).unwrap();
        }
        let found = libraries.open();
        let start = "failed: the library libcuda.so is found, but cannot be loaded: ";
        assert!(found.starts_with(start), "{found}");
    }
    libraries.add_driver(DRIVER);
    fs::write(libraries.path().join("libnvrtc.so.13"), "").unwrap();
    fs::write(libraries.path().join("libnvrtc.so.12"), "").unwrap();
    fs::write(libraries.path().join("libnvrtc.so"), "").unwrap();
    let found = libraries.open();
    let start = "failed: the library libnvrtc.so.13 is found, but cannot be loaded: ";
    assert!(found.starts_with(start), "{found}");
}

/// The compiler of CUDA 13 makes no code for GPUs of compute capability 7.0.
#[test]
fn old_gpus_have_the_old_compiler() {
    let Some(libraries) = Libraries::new() else { return };
    libraries.add("libnvrtc.so.12", COMPILER, "STATUS=0");
    libraries.add("libnvrtc.so.13", COMPILER, "STATUS=5");
    libraries.add("libcuda.so", DRIVER, "MAJOR=9");
    libraries.assert_fails(
        "the compiler of CUDA refused the kernels: libnvrtc.so.13: NVRTC_ERROR_OF_THE_STAND_IN: a log",
    );
    libraries.add("libcuda.so", DRIVER, "MAJOR=7");
    assert_eq!(libraries.open(), "opened: a stand-in");
}
