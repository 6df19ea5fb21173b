//! The functions that C calls: all unsafe code of this crate. Panics end here.
//!
//! Objects are numbers (see `handles`), so the only pointers are texts, records and buffers of the caller. Each is checked for null
//! and for alignment (`pointers`), and its length comes with it, or it ends with a zero byte. The rest is up to the caller, and the
//! header says so once for all functions: a pointer that is not null points to what its type says.
#![expect(unsafe_code, reason = "C has pointers")]
#![expect(
    clippy::missing_safety_doc,
    reason = "the rules for pointers stand at the top of the header"
)]

pub mod builder;
pub mod delta;
pub mod fabric;
pub mod library;
mod pointers;
pub mod router;
pub mod settings;
pub mod tables;
