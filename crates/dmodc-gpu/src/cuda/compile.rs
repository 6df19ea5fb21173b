//! From the source of the kernels to machine code, by NVRTC.
#![allow(unsafe_code, reason = "NVRTC is a C library")]

use std::ffi::{CStr, CString, c_char};

use cudarc::nvrtc::{result, sys};

use crate::error::GpuError;

/// Returns machine code for an architecture, such as `sm_90`.
///
/// # Errors
/// If NVRTC is not installed or refuses the source.
pub(crate) fn compile(source: &str, architecture: &str) -> Result<Vec<u8>, GpuError> {
    // SAFETY: looking for a library has no other effect.
    if !unsafe { sys::is_culib_present() } {
        return Err(GpuError::NoCompiler);
    }
    let failed = |why: String| GpuError::Compile(why);
    let text = CString::new(source).map_err(|error| failed(error.to_string()))?;
    let program = result::create_program(&text, Some(c"dmodc.cu"))
        .map_err(|error| failed(format!("{error:?}")))?;
    let options = [format!("--gpu-architecture={architecture}"), "--std=c++17".into()];
    // SAFETY: the program was just created, and is destroyed once, at the end.
    let compiled = unsafe { result::compile_program(program, &options) };
    let code = match compiled {
        Ok(()) => machine_code(program),
        Err(error) => Err(failed(format!("{error:?}: {}", log(program)))),
    };
    // SAFETY: nobody uses the program after this.
    unsafe { result::destroy_program(program) }.map_err(|error| failed(format!("{error:?}")))?;
    code
}

fn machine_code(program: sys::nvrtcProgram) -> Result<Vec<u8>, GpuError> {
    let mut size = 0;
    let failed = |error: result::NvrtcError| GpuError::Compile(format!("{error:?}"));
    // SAFETY: the program is compiled, and the size is written to a number that lives here.
    unsafe { sys::nvrtcGetCUBINSize(program, &raw mut size) }.result().map_err(failed)?;
    let mut code = vec![0u8; size];
    // SAFETY: the buffer has the size that the library asked for.
    unsafe { sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast::<c_char>()) }
        .result()
        .map_err(failed)?;
    Ok(code)
}

/// Returns what the compiler says.
fn log(program: sys::nvrtcProgram) -> String {
    // SAFETY: the program exists.
    let Ok(log) = (unsafe { result::get_program_log(program) }) else { return String::new() };
    let bytes: Vec<u8> = log.into_iter().map(|byte| byte as u8).collect();
    CStr::from_bytes_until_nul(&bytes)
        .map_or_else(|_| String::new(), |text| text.to_string_lossy().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::program;

    /// NVRTC needs no GPU. Where it is not installed, a line says so.
    #[test]
    fn the_compiler_of_cuda_accepts_the_kernels() {
        match compile(&program(), "sm_90") {
            Err(GpuError::NoCompiler) => eprintln!("skipped: {}", GpuError::NoCompiler),
            found => assert!(found.is_ok_and(|code| !code.is_empty())),
        }
    }
}
