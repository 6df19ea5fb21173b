//! The library of our plugin: where it is, and whether it contains the plugin.
//!
//! The library builds on every machine, but without OpenSM's headers there is no plugin in it. OpenSM loads such a
//! library without complaint and then has no engine `dmodc`. So we look before OpenSM is started.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::LabError;

/// The file name of the library.
const NAME: &str = "libdmodc.so";

/// The symbol that OpenSM looks for in a plugin, as it stands in the library's table of names.
const SYMBOL: &[u8] = b"\0osm_event_plugin\0";

/// Returns the library next to this program, or else the installed one. A library that contains the plugin is preferred
/// to one that does not; if there is none at all, returns the path where one is expected.
pub fn find_plugin(program: &Path) -> PathBuf {
    let sibling = program.with_file_name(NAME);
    let folders = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let installed = folders.map(|folder| folder.path().join(NAME)).filter(|path| path.is_file());
    let mut found = std::iter::once(sibling.clone()).chain(installed);
    found.find(|path| check_plugin(path).is_ok()).unwrap_or(sibling)
}

/// Checks that a library exists and contains the plugin.
///
/// # Errors
/// If it does not exist, cannot be read, or was built without OpenSM's headers.
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
        let error = |path: &Path| check_plugin(path).expect_err("there is no plugin").to_string();
        let message = error(&library);
        assert!(
            message.starts_with(&format!("there is no plugin {}", library.display())),
            "{message}"
        );
        // A name that only begins or ends like the symbol is another one.
        for text in [&b""[..], b"\x7fELF\0my_osm_event_plugin\0osm_event_plugins\0"] {
            fs::write(&library, text).expect("it is written");
            let message = error(&library);
            assert!(message.contains("was built without OpenSM's headers"), "{message}");
            assert!(message.contains("apt-get install libopensm-dev libibumad-dev"), "{message}");
        }
        fs::write(&library, b"\x7fELF\0first\0osm_event_plugin\0last\0").expect("it is written");
        assert!(check_plugin(&library).is_ok());
        assert_eq!(find_plugin(&program), library);
    }
}
