//! Why the lab does not work.

use std::path::PathBuf;

/// Why the lab does not work.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// Programs are not installed.
    #[error(
        "the lab needs programs that are not installed: {programs}; on Debian, install them with 'apt-get install {packages}'"
    )]
    Missing {
        /// Their names.
        programs: String,
        /// The Debian packages that have them.
        packages: String,
    },
    /// A program could not be started, or read, or written to.
    #[error("{0}: {1}")]
    Io(String, #[source] std::io::Error),
    /// A program ended too early, or printed something unexpected.
    #[error("{0}")]
    Failed(String),
    /// Nothing happened for too long.
    #[error("{0} took longer than {1} s")]
    TimedOut(String, u64),
    /// OpenSM did not use the engine that was asked for.
    #[error("OpenSM could not route with the engine {engine}: {log}")]
    OtherEngine {
        /// The engine that was asked for.
        engine: String,
        /// The reason from OpenSM's log.
        log: String,
    },
    /// There is no library of the plugin.
    #[error(
        "there is no plugin {0}, which the lab loads into OpenSM; install the package dmodc-opensm, name the file with \
         --plugin, or build it with 'cargo build --release -p dmodc-opensm' (on Debian this needs libopensm-dev and \
         libibumad-dev)"
    )]
    NoPlugin(PathBuf),
    /// The library does not contain the plugin.
    #[error(
        "{0} was built without OpenSM's headers, so it does not contain the plugin; install the headers (on Debian: \
         apt-get install libopensm-dev libibumad-dev), then build it again with 'cargo build --release -p dmodc-opensm'"
    )]
    EmptyPlugin(PathBuf),
    /// The fabric is too large for LIDs of InfiniBand.
    #[error(
        "LID {0} is beyond the range of InfiniBand, so OpenSM cannot route this fabric; use a smaller fabric"
    )]
    TooLarge(dmodc::Lid),
    /// Tables do not fit into memory, or cannot be computed.
    #[error(transparent)]
    Route(#[from] dmodc::RouteError),
}
