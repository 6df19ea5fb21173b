//! From the source of the kernels to machine code.

use super::nvrtc::Nvrtc;
use crate::error::GpuError;

/// Returns machine code for an architecture, such as `sm_90`, and a driver with this major version of CUDA.
///
/// # Errors
/// If NVRTC is not installed or refuses the source.
pub(crate) fn compile(
    source: &str,
    architecture: &str,
    driver_major: i32,
) -> Result<Vec<u8>, GpuError> {
    let options = [format!("--gpu-architecture={architecture}"), "--std=c++17".into()];
    Nvrtc::load(driver_major)?.compile(source, &options)
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
        let code = match compile(&program(), "sm_90", 13) {
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
        let refused = compile("nonsense", "sm_90", 13).expect_err("this is no program");
        assert!(refused.to_string().contains("nonsense"), "{refused}");
    }
}
