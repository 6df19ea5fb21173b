//! Why a question has no answer.

use std::fmt;

/// Why a question has no answer, or a change was not made. Every text is a sentence for the person who asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The question is wrong: a parameter is missing, unknown or no number.
    Invalid(String),
    /// Nothing is called so.
    NotFound(String),
    /// The question is right, but the fabric or the engine does not allow it now.
    Conflict(String),
    /// The answer was given up, because nobody waits for it any more.
    Cancelled,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Invalid(text) | Problem::NotFound(text) | Problem::Conflict(text) => {
                f.write_str(text)
            }
            Problem::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl std::error::Error for Problem {}
