//! Why a study does not go on.

use std::path::PathBuf;

use dmodc_formats::ReadError;

use crate::journal::JournalError;

/// Why a study does not go on.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A file cannot be read or written.
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
    /// There is a mistake in the plan.
    #[error("{}:{error}", path.display())]
    Plan {
        /// The file of the plan.
        path: PathBuf,
        /// The text of the plan.
        text: String,
        /// The mistake, with its line and column.
        error: ReadError,
    },
    /// A fabric of the plan cannot be read, or has fewer parts than shall die.
    #[error("{0}")]
    Fabric(String),
    /// Files do not belong together.
    #[error("{0}")]
    Mismatch(String),
    /// The GPU failed, or has too little memory.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Gpu(#[from] dmodc_gpu::GpuError),
    /// A figure cannot be drawn.
    #[error("{0}")]
    Figure(String),
}

impl From<JournalError> for StudyError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::Io(path, error) => StudyError::Io(path, error),
            JournalError::Mismatch(what) => StudyError::Mismatch(what),
        }
    }
}
