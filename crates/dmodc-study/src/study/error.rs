//! Why a study does not go on.

use std::path::PathBuf;

use dmodc_formats::ReadError;

/// Why a study does not go on.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A file cannot be read or written.
    #[error("{0}: {1}")]
    Io(String, std::io::Error),
    /// The plan is wrong.
    #[error("{}:{error}", path.display())]
    Plan {
        /// Its file.
        path: PathBuf,
        /// Its text.
        text: String,
        /// The place, and what is wrong there.
        error: ReadError,
    },
    /// A fabric of the plan is no fabric, or has not what is to die.
    #[error("{0}")]
    Fabric(String),
    /// What is there does not belong together.
    #[error("{0}")]
    Mismatch(String),
    /// A figure cannot be drawn.
    #[error("{0}")]
    Figure(String),
}
