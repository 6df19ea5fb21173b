//! From the source of the kernels to machine code.

use super::nvrtc::Nvrtc;
use super::target::Target;
use crate::error::GpuError;

/// Returns machine code for a device and a driver.
///
/// # Errors
/// If NVRTC is not installed or refuses the source.
pub(super) fn compile(source: &str, target: Target) -> Result<Vec<u8>, GpuError> {
    let architecture = target.architecture();
    let options = [format!("--gpu-architecture={architecture}"), "--std=c++17".into()];
    Nvrtc::load(target)?.compile(source, &options)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use crate::kernels::{KernelName, program};

    /// NVRTC needs no GPU. Where it is not installed, a line says so; it is written directly, because the test harness hides the output
    /// of tests that pass.
    #[test]
    fn the_compiler_of_cuda_accepts_the_kernels() {
        let target = Target { capability: (9, 0), driver: 13_000 };
        let code = match compile(&program(), target) {
            Err(GpuError::NoCompiler) => {
                let name = std::thread::current().name().unwrap_or("a test").to_owned();
                let _ = writeln!(std::io::stderr(), "skipped: {name}: {}", GpuError::NoCompiler);
                return;
            }
            found => found.unwrap_or_else(|error| panic!("{error}")),
        };
        for kernel in KernelName::ALL {
            let section = format!(".text.{}\0", kernel.function());
            let is_there = code.windows(section.len()).any(|bytes| bytes == section.as_bytes());
            assert!(is_there, "the machine code lacks {}", kernel.function());
        }
        let refused = compile("nonsense", target).expect_err("this is no program");
        assert!(refused.to_string().contains("nonsense"), "{refused}");
    }
}
