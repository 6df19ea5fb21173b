//! Libraries of CUDA are looked for when they are needed. This file says which one is opened, and why none is.
//!
//! `cudarc` opens the library of the driver by itself, by the same names in the same order, and panics if there is none, or if it
//! lacks a function that is called. So the library is opened here first, and looked through.
#![allow(unsafe_code, reason = "libraries of CUDA are C libraries")]

use cudarc::driver::{DriverError, sys};
use libloading::{Error, Library};

use super::{driver, words};
use crate::error::GpuError;

/// The functions that are called before the version of the driver is known.
const FIRST_FUNCTIONS: [&str; 3] = ["cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString"];

/// All other functions of the driver that this crate calls, or `cudarc` for it. The tests run with a driver that has no others.
const FUNCTIONS: [&str; 25] = [
    "cuInit",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuStreamCreate",
    "cuStreamSynchronize",
    "cuStreamDestroy_v2",
    "cuModuleLoadData",
    "cuModuleGetFunction",
    "cuModuleUnload",
    "cuFuncSetAttribute",
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemFreeHost",
    "cuMemGetInfo_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemsetD8Async",
];

/// Opens the first of these libraries that can be loaded. Returns it with its name; `None` if there is none.
///
/// # Errors
/// If none can be loaded, although one is there.
pub(super) fn open_first(
    names: impl IntoIterator<Item = String>,
) -> Result<Option<(Library, String)>, GpuError> {
    let mut broken = None;
    for name in names {
        // SAFETY: libraries of CUDA may be loaded at any time; what they do then has no effect on this program.
        match unsafe { Library::new(&name) } {
            Ok(library) => return Ok(Some((library, name))),
            Err(error) => broken = broken.or_else(|| why_broken(&name, &error)),
        }
    }
    broken.map_or(Ok(None), Err)
}

/// Returns why a library cannot be loaded although it is there; `None` if it is not there.
fn why_broken(name: &str, error: &Error) -> Option<GpuError> {
    let Error::DlOpen { source } = error else { return None };
    let why = source.to_string();
    // A file that is not there is named before the reason. It may also be a library that this one needs.
    let is_missing = why.contains(&format!("{name}: ")) && why.contains("No such file");
    (!is_missing).then(|| GpuError::BrokenLibrary { library: name.into(), why })
}

/// The library of the driver, which `cudarc` has opened.
pub(super) struct DriverLibrary {
    library: &'static Library,
    name: String,
}

impl DriverLibrary {
    /// Opens the library.
    ///
    /// # Errors
    /// If there is no library of the driver, or none can be loaded.
    pub(super) fn open() -> Result<Self, GpuError> {
        let names = ["cuda", "nvcuda"].into_iter().flat_map(cudarc::get_lib_name_candidates);
        let (_opened, name) = open_first(names)?.ok_or(GpuError::NoDriver)?;
        // SAFETY: as in `open_first`. The library was opened just now, so this does not panic.
        let library = unsafe { sys::culib() };
        Ok(DriverLibrary { library, name })
    }

    /// Returns the version of CUDA that the driver has.
    ///
    /// # Errors
    /// If the library is another one, or the driver fails.
    pub(super) fn version(&self) -> Result<i32, GpuError> {
        self.check(&FIRST_FUNCTIONS)?;
        let mut version = 0;
        // SAFETY: the version is written to a number that lives here. This call needs no device.
        let found = unsafe { sys::cuDriverGetVersion(&raw mut version) }.result();
        found.map(|()| version).map_err(|error| self.stub(error).unwrap_or_else(|| driver(error)))
    }

    /// Checks that the library has every function that is called.
    ///
    /// # Errors
    /// If it lacks one.
    pub(super) fn check_functions(&self) -> Result<(), GpuError> {
        self.check(&FUNCTIONS)
    }

    fn check(&self, functions: &[&str]) -> Result<(), GpuError> {
        let lacks = |function: &&&str| {
            // SAFETY: the function is not called.
            unsafe { self.library.get::<unsafe extern "C" fn()>(**function) }.is_err()
        };
        match functions.iter().find(lacks) {
            None => Ok(()),
            Some(&function) => Err(GpuError::WrongLibrary {
                library: self.name.clone(),
                function: function.into(),
            }),
        }
    }

    /// Returns why a GPU is not opened: there is none, or there is one that cannot be used now.
    pub(super) fn not_opened(&self, error: DriverError) -> GpuError {
        use sys::CUresult::{CUDA_ERROR_INVALID_DEVICE, CUDA_ERROR_NO_DEVICE};
        self.stub(error).unwrap_or_else(|| match error.0 {
            CUDA_ERROR_NO_DEVICE | CUDA_ERROR_INVALID_DEVICE => GpuError::NoDevice(words(error)),
            _ => GpuError::NotOpened(words(error)),
        })
    }

    /// Returns that the library is a stub, if the error says so. Programs are linked with stubs, which hide the driver if their folder
    /// is searched.
    fn stub(&self, error: DriverError) -> Option<GpuError> {
        let is_stub = error.0 == sys::CUresult::CUDA_ERROR_STUB_LIBRARY;
        is_stub.then(|| GpuError::StubLibrary { library: self.name.clone(), error: error.0 as u32 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_that_is_opened_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let name_in = |name: &str| folder.path().join(name).display().to_string();
        let [missing, broken] = ["missing.so", "broken.so"].map(name_in);
        std::fs::write(&broken, "").expect("a file");
        let name_of = |names: &[&String]| {
            let opened = open_first(names.iter().map(ToString::to_string));
            opened.map(|opened| opened.map(|(_, name)| name))
        };
        // Every program on Linux has this library.
        let present = "libc.so.6".to_owned();
        assert_eq!(name_of(&[&missing, &broken, &present]), Ok(Some(present)));
        assert_eq!(name_of(&[&missing]), Ok(None));
        let found = name_of(&[&missing, &broken]);
        let Err(GpuError::BrokenLibrary { library, why }) = found else { panic!("{found:?}") };
        assert_eq!(library, broken);
        assert!(why.contains(&broken), "{why}");
    }
}
