//! Compiled kernels are kept in a folder, so that they are compiled once for each device and driver.
//!
//! A file begins with [`MARK`], the number of bytes of the kernels, and their hash, both as 8 bytes, the lowest first. The driver does
//! not check machine code, so a file that was cut off or has changed must not reach it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fmt, fs};

/// The first bytes of a file.
const MARK: &[u8; 16] = b"dmodc kernels 1\n";

/// Where compiled kernels are kept: a file for each source, architecture and driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KernelCache {
    /// `None` if there is no folder for such files; nothing is kept then.
    file: Option<PathBuf>,
}

impl fmt::Display for KernelCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.file {
            Some(file) => file.display().fmt(f),
            None => f.write_str("no folder"),
        }
    }
}

impl KernelCache {
    /// Returns the place of kernels from this source. `DMODC_GPU_CACHE` names the folder; else it is `dmodc` among the
    /// caches of the user.
    pub(crate) fn new(source: &str, architecture: &str, driver: i32) -> Self {
        let hash = hash(source.as_bytes());
        let name = format!("kernels-{hash:016x}-{architecture}-{driver}.bin");
        KernelCache { file: folder(|name| env::var_os(name)).map(|folder| folder.join(name)) }
    }

    /// Returns the kernels that are kept; `None` if there are none.
    ///
    /// # Errors
    /// Why they cannot be used: the file cannot be read, or it is not as it was written.
    pub(crate) fn load(&self) -> Result<Option<Vec<u8>>, String> {
        let Some(file) = &self.file else { return Ok(None) };
        match fs::read(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(format!("{}: {error}", file.display())),
            Ok(bytes) => {
                let kernels = bytes
                    .get(HEADER_BYTES..)
                    .filter(|kernels| bytes[..HEADER_BYTES] == header(kernels));
                let damaged = || format!("{}: the file is damaged", file.display());
                kernels.map(|kernels| Some(kernels.to_vec())).ok_or_else(damaged)
            }
        }
    }

    /// Keeps kernels. The file appears as a whole.
    ///
    /// # Errors
    /// Why they are not kept. The kernels can be used all the same.
    pub(crate) fn store(&self, kernels: &[u8]) -> Result<(), String> {
        /// Threads may store at the same time.
        static STORED: AtomicU32 = AtomicU32::new(0);
        let file = self.file.as_ref().ok_or("neither HOME nor DMODC_GPU_CACHE is set")?;
        let number = STORED.fetch_add(1, Ordering::Relaxed);
        let part = file.with_extension(format!("part-{}-{number}", std::process::id()));
        let made = file.parent().map_or(Ok(()), fs::create_dir_all);
        let written =
            made.and_then(|()| write(&part, kernels)).and_then(|()| fs::rename(&part, file));
        written.map_err(|error| {
            fs::remove_file(&part).ok();
            format!("{}: {error}", file.display())
        })
    }
}

/// The bytes of a file before the kernels.
const HEADER_BYTES: usize = MARK.len() + 16;

/// Returns the bytes of a file before these kernels.
fn header(kernels: &[u8]) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    let numbers = [kernels.len() as u64, hash(kernels)];
    header[..MARK.len()].copy_from_slice(MARK);
    header[MARK.len()..].copy_from_slice(numbers.map(u64::to_le_bytes).as_flattened());
    header
}

/// Writes kernels with their header. They are on the disk before the file gets its name, so that it is whole after a crash, too.
fn write(path: &Path, kernels: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(&header(kernels))?;
    file.write_all(kernels)?;
    file.sync_all()
}

/// Returns the folder for kernels, from the variables of the environment. A variable that is empty counts as one that is not set.
fn folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    path("DMODC_GPU_CACHE").or_else(|| {
        let caches = path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")));
        Some(caches?.join("dmodc"))
    })
}

/// Returns the FNV-1a hash of some bytes: it is the same in every version of this program. A byte that changes always changes it,
/// because each step gives different results for different numbers.
fn hash(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
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

    /// Every file that is not as it was written is refused, and written again.
    #[test]
    fn damaged_files_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("kernels");
        let place = KernelCache { file: Some(file.clone()) };
        assert_eq!(place.store(b"kernels"), Ok(()));
        let whole = fs::read(&file).expect("it was written");
        let mut damaged: Vec<Vec<u8>> = (0..whole.len()).map(|end| whole[..end].to_vec()).collect();
        damaged.push([&whole[..], b"s"].concat());
        damaged.extend((0..8 * whole.len()).map(|bit| {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            flipped
        }));
        for bytes in damaged {
            fs::write(&file, &bytes).expect("a file");
            let why = place.load().expect_err("it is damaged");
            assert_eq!(why, format!("{}: the file is damaged", file.display()), "{bytes:?}");
        }
        assert_eq!(place.store(b"kernels"), Ok(()));
        assert_eq!(place.load(), Ok(Some(b"kernels".to_vec())));
        let unreadable = KernelCache { file: Some(folder.path().to_owned()) };
        unreadable.load().expect_err("a folder is no file");
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
        assert_eq!(place("a").load(), Ok(None));
        assert_eq!(place("a").store(b"kernels"), Ok(()));
        assert_eq!(place("a").load(), Ok(Some(b"kernels".to_vec())));
        assert_eq!(place("b").load(), Ok(None));
        assert_eq!(fs::read_dir(folder.path().join("sub")).expect("a folder").count(), 1);
        let names = [("x", "sm_90", 13000), ("y", "sm_90", 13000), ("x", "sm_80", 13000)];
        let places = names.map(|(source, sm, driver)| KernelCache::new(source, sm, driver));
        assert!(places[0] != places[1] && places[0] != places[2]);
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"a"), 0xaf63_dc4c_8601_ec8c);
    }
}
