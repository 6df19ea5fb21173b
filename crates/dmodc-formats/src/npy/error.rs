//! Why an array was not read.

use std::io;

use crate::ReadError;

/// Why an array was not read.
#[derive(Debug, thiserror::Error)]
pub enum NpyError {
    /// The array could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The array is wrong, or does not fit its labels.
    #[error("{0}")]
    Array(String),
    /// The labels are wrong.
    #[error(transparent)]
    Labels(ReadError),
}
