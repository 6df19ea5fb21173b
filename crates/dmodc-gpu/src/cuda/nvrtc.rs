//! NVRTC, the compiler of CUDA: a library that is loaded when kernels are compiled.
#![allow(unsafe_code, reason = "NVRTC is a C library")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::{iter, ptr};

use libloading::{Library, Symbol};

use super::library::open_first;
use super::target::Target;
use crate::error::GpuError;

/// What functions of NVRTC return if they succeed.
const SUCCESS: c_int = 0;

/// A program that is being compiled.
type Program = *mut c_void;

type CreateProgram = unsafe extern "C" fn(
    *mut Program,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type CompileProgram = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
type DestroyProgram = unsafe extern "C" fn(*mut Program) -> c_int;
type GetSize = unsafe extern "C" fn(Program, *mut usize) -> c_int;
type GetBytes = unsafe extern "C" fn(Program, *mut c_char) -> c_int;
type GetErrorString = unsafe extern "C" fn(c_int) -> *const c_char;

/// The library, and the name by which it was found.
pub(super) struct Nvrtc {
    /// It stays loaded: the compiler may have left threads and tables that use its code.
    library: ManuallyDrop<Library>,
    name: String,
}

/// The least compute capability of devices that every version of the compiler knows. That of CUDA 13 makes no code for older ones.
const KNOWN_TO_ALL: (i32, i32) = (7, 5);

/// Returns the names of the library, the best one first: the newest compiler whose code the driver takes, or the oldest for a device that
/// newer ones do not know. The name without a version is the last.
fn names(target: Target) -> impl Iterator<Item = String> {
    let mut versions: Vec<i32> = (12..=target.driver_major().max(12)).collect();
    if target.capability >= KNOWN_TO_ALL {
        versions.reverse();
    }
    let names = versions.into_iter().map(|major| format!("libnvrtc.so.{major}"));
    names.chain(iter::once("libnvrtc.so".into()))
}

impl Nvrtc {
    /// Loads the library for a device and a driver.
    ///
    /// # Errors
    /// If no library has any of the names, or none can be loaded.
    pub(super) fn load(target: Target) -> Result<Self, GpuError> {
        let (library, name) = open_first(names(target))?.ok_or(GpuError::NoCompiler)?;
        Ok(Nvrtc { library: ManuallyDrop::new(library), name })
    }

    /// Returns machine code of a source in CUDA C++.
    ///
    /// # Errors
    /// If the library lacks a function, or refuses the source.
    pub(super) fn compile(&self, source: &str, options: &[String]) -> Result<Vec<u8>, GpuError> {
        let c_string =
            |text: &str| CString::new(text).map_err(|error| GpuError::Compile(error.to_string()));
        let options: Vec<CString> =
            options.iter().map(|option| c_string(option)).collect::<Result<_, _>>()?;
        let options: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        let program = self.create(&c_string(source)?)?;
        // SAFETY: here and below, the type is that of the function in nvrtc.h.
        let compile: Symbol<'_, CompileProgram> = unsafe { self.function("nvrtcCompileProgram") }?;
        // SAFETY: the program was just created, and the options live until the end of this function.
        let status = unsafe { compile(program.0, options.len() as c_int, options.as_ptr()) };
        if status != SUCCESS {
            let log = program.bytes("nvrtcGetProgramLogSize", "nvrtcGetProgramLog")?;
            let log = String::from_utf8_lossy(&log);
            let log = log.trim_end_matches('\0').trim();
            return Err(GpuError::Compile(format!("{}: {}: {log}", self.name, self.words(status))));
        }
        program.bytes("nvrtcGetCUBINSize", "nvrtcGetCUBIN")
    }

    fn create(&self, source: &CStr) -> Result<OwnedProgram<'_>, GpuError> {
        // Without this function, a program could not be given back.
        // SAFETY: see above.
        unsafe { self.function::<DestroyProgram>("nvrtcDestroyProgram") }?;
        // SAFETY: see above.
        let create: Symbol<'_, CreateProgram> = unsafe { self.function("nvrtcCreateProgram") }?;
        let (mut program, none) = (ptr::null_mut(), ptr::null());
        // SAFETY: the texts end with a zero byte and live here, there are no headers, and the program is written to a place that lives
        // here.
        let status = unsafe {
            create(&raw mut program, source.as_ptr(), c"dmodc.cu".as_ptr(), 0, none, none)
        };
        self.check(status)?;
        Ok(OwnedProgram(program, self))
    }

    /// Returns a function of the library.
    ///
    /// # Safety
    /// The function of this name must have this type.
    unsafe fn function<T>(&self, name: &str) -> Result<Symbol<'_, T>, GpuError> {
        // SAFETY: the caller promises it.
        unsafe { self.library.get(name) }.map_err(|_| GpuError::WrongLibrary {
            library: self.name.clone(),
            function: name.into(),
        })
    }

    fn check(&self, status: c_int) -> Result<(), GpuError> {
        match status {
            SUCCESS => Ok(()),
            _ => Err(GpuError::Compile(self.words(status))),
        }
    }

    /// Returns what the library says about an error.
    fn words(&self, status: c_int) -> String {
        // SAFETY: see above.
        let words = unsafe { self.function::<GetErrorString>("nvrtcGetErrorString") };
        // SAFETY: the function takes any number.
        let words = words.map_or(ptr::null(), |words| unsafe { words(status) });
        if words.is_null() {
            return format!("error {status} of {}", self.name);
        }
        // SAFETY: the library returns a text that ends with a zero byte and stays.
        unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned()
    }
}

/// A program, which is destroyed when it is dropped.
struct OwnedProgram<'a>(Program, &'a Nvrtc);

impl OwnedProgram<'_> {
    /// Returns bytes of the program, by the function for their number and the function for themselves.
    fn bytes(&self, size_function: &str, bytes_function: &str) -> Result<Vec<u8>, GpuError> {
        let OwnedProgram(program, nvrtc) = *self;
        let mut size = 0;
        // SAFETY: the functions that are asked for have these types.
        let get_size: Symbol<'_, GetSize> = unsafe { nvrtc.function(size_function) }?;
        // SAFETY: the program exists, and the number is written to a place that lives here.
        nvrtc.check(unsafe { get_size(program, &raw mut size) })?;
        let mut bytes = vec![0u8; size];
        // SAFETY: as above.
        let get: Symbol<'_, GetBytes> = unsafe { nvrtc.function(bytes_function) }?;
        // SAFETY: the buffer has the size that the library asked for.
        nvrtc.check(unsafe { get(program, bytes.as_mut_ptr().cast()) })?;
        Ok(bytes)
    }
}

impl Drop for OwnedProgram<'_> {
    fn drop(&mut self) {
        // SAFETY: see above.
        if let Ok(destroy) = unsafe { self.1.function::<DestroyProgram>("nvrtcDestroyProgram") } {
            // SAFETY: nobody uses the program after this. An error cannot be mended here.
            let _ = unsafe { destroy(&raw mut self.0) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_library_is_tried_first() {
        let names_of =
            |capability, driver| names(Target { capability, driver }).collect::<Vec<_>>();
        let newest_first = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"];
        let oldest_first = ["libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so"];
        assert_eq!(names_of((9, 0), 13_000), newest_first);
        assert_eq!(names_of((7, 5), 13_000), newest_first);
        assert_eq!(names_of((7, 2), 13_000), oldest_first);
        assert_eq!(names_of((7, 0), 13_000), oldest_first);
        for capability in [(7, 0), (9, 0)] {
            assert_eq!(names_of(capability, 12_080), ["libnvrtc.so.12", "libnvrtc.so"]);
        }
    }

    #[test]
    fn a_wrong_library_is_named() {
        let name = "libc.so.6";
        // SAFETY: this library is loaded already.
        let library = unsafe { Library::new(name) }.expect("every program has it");
        let wrong = Nvrtc { library: ManuallyDrop::new(library), name: name.into() };
        let expected =
            GpuError::WrongLibrary { library: name.into(), function: "nvrtcDestroyProgram".into() };
        assert_eq!(wrong.compile("", &[]), Err(expected));
    }
}
