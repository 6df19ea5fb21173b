//! Measuring Dmodc.
//!
//! | | |
//! |---|---|
//! | [`mod@bench`] | how long routing takes, beside the time of writing as many bytes |
//! | [`figure`] | the runtime figure |
//! | [`machine`] | what it was measured on |
//!
//! The engine itself has no clock; whoever measures it is here.

pub mod bench;
pub mod figure;
pub mod machine;
