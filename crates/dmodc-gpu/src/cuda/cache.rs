//! Compiled kernels are kept in a folder, so that they are compiled once for each device and driver.

use std::ffi::OsString;
use std::path::PathBuf;
use std::{env, fs};

/// Where compiled kernels are kept: a file for each source, architecture and driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KernelCache {
    /// `None` if there is no folder for such files; nothing is kept then.
    file: Option<PathBuf>,
}

impl KernelCache {
    /// Returns the place of kernels from this source. `DMODC_GPU_CACHE` names the folder; else it is `dmodc` among the
    /// caches of the user.
    pub(crate) fn new(source: &str, architecture: &str, driver: i32) -> Self {
        let name = format!("kernels-{:016x}-{architecture}-{driver}.cubin", hash(source));
        KernelCache { file: folder(|name| env::var_os(name)).map(|folder| folder.join(name)) }
    }

    /// Returns the kernels that are kept.
    pub(crate) fn load(&self) -> Option<Vec<u8>> {
        fs::read(self.file.as_ref()?).ok()
    }

    /// Keeps kernels. The file appears as a whole.
    ///
    /// # Errors
    /// Why they are not kept. The kernels can be used all the same.
    pub(crate) fn store(&self, kernels: &[u8]) -> Result<(), String> {
        let file = self.file.as_ref().ok_or("neither HOME nor DMODC_GPU_CACHE is set")?;
        let part = file.with_extension(format!("part-{}", std::process::id()));
        let made = file.parent().map_or(Ok(()), fs::create_dir_all);
        let written =
            made.and_then(|()| fs::write(&part, kernels)).and_then(|()| fs::rename(&part, file));
        written.map_err(|error| {
            fs::remove_file(&part).ok();
            format!("{}: {error}", file.display())
        })
    }
}

/// Returns the folder for kernels, from the variables of the environment. A variable that is empty counts as one that is not set.
fn folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    path("DMODC_GPU_CACHE").or_else(|| {
        let caches = path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")));
        Some(caches?.join("dmodc"))
    })
}

/// Returns the FNV-1a hash of a text: it is the same in every version of this program.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_are_not_kept_are_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "no folder").expect("a file");
        let place = KernelCache { file: Some(file.join("kernels")) };
        let why = place.store(b"kernels").expect_err("a file is no folder");
        assert!(why.starts_with(&file.display().to_string()), "{why}");
        let why = KernelCache { file: None }.store(b"kernels").expect_err("there is no folder");
        assert!(why.contains("DMODC_GPU_CACHE"), "{why}");
    }

    #[test]
    fn empty_variables_count_as_not_set() {
        let folder_of = |cache: &str, caches: &str, home: &str| {
            folder(|name| match name {
                "DMODC_GPU_CACHE" => Some(cache.into()),
                "XDG_CACHE_HOME" => Some(caches.into()),
                _ => Some(home.into()),
            })
        };
        assert_eq!(folder_of("/a", "/b", "/c"), Some("/a".into()));
        assert_eq!(folder_of("", "/b", "/c"), Some("/b/dmodc".into()));
        assert_eq!(folder_of("", "", "/c"), Some("/c/.cache/dmodc".into()));
        assert_eq!(folder_of("", "", ""), None);
        assert_eq!(folder(|_| None), None);
    }

    #[test]
    fn kernels_are_kept_by_source_architecture_and_driver() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| KernelCache { file: Some(folder.path().join("sub").join(name)) };
        assert_eq!(place("a").load(), None);
        assert_eq!(place("a").store(b"kernels"), Ok(()));
        assert_eq!(place("a").load().as_deref(), Some(&b"kernels"[..]));
        assert_eq!(place("b").load(), None);
        assert_eq!(fs::read_dir(folder.path().join("sub")).expect("a folder").count(), 1);
        let names = [("x", "sm_90", 13000), ("y", "sm_90", 13000), ("x", "sm_80", 13000)];
        let places = names.map(|(source, sm, driver)| KernelCache::new(source, sm, driver));
        assert!(places[0] != places[1] && places[0] != places[2]);
        assert_eq!(hash(""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash("a"), 0xaf63_dc4c_8601_ec8c);
    }
}
