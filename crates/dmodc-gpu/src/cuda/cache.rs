//! Compiled kernels are kept in a folder, so that they are compiled once for each device and driver.

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
        let given = env::var_os("DMODC_GPU_CACHE").map(PathBuf::from);
        let caches = || {
            let of_user = env::var_os("XDG_CACHE_HOME").filter(|folder| !folder.is_empty());
            let in_home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
            Some(of_user.map(PathBuf::from).or_else(in_home)?.join("dmodc"))
        };
        let name = format!("kernels-{:016x}-{architecture}-{driver}.cubin", hash(source));
        KernelCache { file: given.or_else(caches).map(|folder| folder.join(name)) }
    }

    /// Returns the kernels that are kept.
    pub(crate) fn load(&self) -> Option<Vec<u8>> {
        fs::read(self.file.as_ref()?).ok()
    }

    /// Keeps kernels. It is no error if that fails, since they can be compiled again. The file appears as a whole.
    pub(crate) fn store(&self, kernels: &[u8]) {
        let Some(file) = &self.file else { return };
        let part = file.with_extension(format!("part-{}", std::process::id()));
        let folder = file.parent().map(fs::create_dir_all);
        let is_written =
            folder.is_some_and(|made| made.is_ok()) && fs::write(&part, kernels).is_ok();
        if !is_written || fs::rename(&part, file).is_err() {
            fs::remove_file(&part).ok();
        }
    }
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
    fn kernels_are_kept_by_source_architecture_and_driver() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = |name: &str| KernelCache { file: Some(folder.path().join("sub").join(name)) };
        assert_eq!(place("a").load(), None);
        place("a").store(b"kernels");
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
