//! Measuring Dmodc.
//!
//! | | |
//! |---|---|
//! | [`analysis`] | congestion risk of tables, pattern by pattern |
//! | [`mod@bench`] | how long routing takes, beside the time of writing as many bytes |
//! | [`figure`] | the runtime figure |
//! | [`lab`] | OpenSM on a simulated fabric, with faults |
//! | [`machine`] | what it was measured on |
//!
//! The engine itself has no clock; whoever measures it is here.

pub mod analysis;
pub mod bench;
pub mod figure;
pub mod lab;
pub mod machine;
