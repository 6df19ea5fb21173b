//! The plugin's library: where it is, and whether the plugin is in it.
//!
//! The library builds on every machine, but without OpenSM's headers there is no plugin in it. OpenSM loads such a
//! library without complaint and then has no engine `dmodc`. So we look before OpenSM is started.

use std::fs;
use std::path::{Path, PathBuf};

use super::LabError;

/// What the library is called.
const NAME: &str = "libdmodc.so";

/// The symbol that OpenSM looks for in a plugin, as the library's table of names has it.
const SYMBOL: &[u8] = b"\0osm_event_plugin\0";

/// Returns the library next to this program, or else the installed one. A library that has the plugin is preferred
/// to one that has not; if there is none at all, the path is where one is expected.
pub fn find_plugin(program: &Path) -> PathBuf {
    let beside = program.with_file_name(NAME);
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let installed = folders.map(|folder| folder.path().join(NAME)).filter(|path| path.is_file());
    let mut found = std::iter::once(beside.clone()).chain(installed);
    found.find(|path| check_plugin(path).is_ok()).unwrap_or(beside)
}

/// Checks that a library is there and has the plugin.
///
/// # Errors
/// If it is not there, cannot be read, or was built without OpenSM's headers.
pub fn check_plugin(path: &Path) -> Result<(), LabError> {
    if !path.is_file() {
        return Err(LabError::NoPlugin(path.into()));
    }
    let library =
        fs::read(path).map_err(|error| LabError::Io(path.display().to_string(), error))?;
    match library.windows(SYMBOL.len()).any(|bytes| bytes == SYMBOL) {
        true => Ok(()),
        false => Err(LabError::EmptyPlugin(path.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_without_the_plugin_is_recognised() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("dmodc");
        let library = folder.path().join(NAME);
        let why = |path: &Path| check_plugin(path).expect_err("there is no plugin").to_string();
        let told = why(&library);
        assert!(told.starts_with(&format!("there is no {}", library.display())), "{told}");
        // A name that only begins or ends like the symbol is another one.
        for text in [&b""[..], b"\x7fELF\0my_osm_event_plugin\0osm_event_plugins\0"] {
            fs::write(&library, text).expect("it is written");
            let told = why(&library);
            assert!(told.contains("was built without OpenSM's headers"), "{told}");
            assert!(told.contains("apt-get install libopensm-dev libibumad-dev"), "{told}");
        }
        fs::write(&library, b"\x7fELF\0first\0osm_event_plugin\0last\0").expect("it is written");
        assert!(check_plugin(&library).is_ok());
        assert_eq!(find_plugin(&program), library);
    }
}
