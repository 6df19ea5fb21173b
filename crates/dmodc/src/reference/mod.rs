//! Slow transcriptions.
