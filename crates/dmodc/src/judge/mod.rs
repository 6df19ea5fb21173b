//! Judging tables.
