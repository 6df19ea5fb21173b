//! Measuring Dmodc.
//!
//! | | |
//! |---|---|
//! | [`analysis`] | congestion risk of tables, pattern by pattern |
//! | [`mod@bench`] | how long routing takes, beside the time of writing as many bytes |
//! | [`engine`] | engines by name |
//! | [`figure`] | the runtime figure |
//! | [`interrupt`] | what is done when a signal ends the program |
//! | [`machine`] | what it was measured on |
//! | [`mod@report`] | an analysis as one HTML page |
//! | [`study`] | fabrics × degradations × engines × patterns, over any number of machines |
//!
//! The engine itself has no clock; whoever measures it is here.

pub mod analysis;
pub mod bench;
pub mod engine;
pub mod figure;
pub mod interrupt;
pub mod machine;
pub mod report;
pub mod study;
