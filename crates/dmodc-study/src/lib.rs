//! Measuring Dmodc.
//!
//! | | |
//! |---|---|
//! | [`analysis`] | congestion risk of tables, pattern by pattern |
//! | [`answers`] | what the commands answer, as types and as JSON |
//! | [`mod@bench`] | how long routing takes, compared with writing the same number of bytes |
//! | [`device`] | where tables are computed: on the processor or on a GPU |
//! | [`engine`] | engines by name |
//! | [`figure`] | charts and histograms as SVG |
//! | [`interrupt`] | removes temporary files when a signal ends the program |
//! | [`mod@journal`] | finished cells on the disk, so that a kill costs little |
//! | [`machine`] | the machine on which was measured |
//! | [`mod@report`] | an analysis as one HTML page |
//! | [`study`] | fabrics × degradations × engines × patterns, over any number of machines |
//! | [`what_if`] | every single or double fault of a fabric |
//!
//! The engine itself has no clock; everything that measures it is here.

pub mod analysis;
pub mod answers;
pub mod bench;
pub mod device;
pub mod engine;
pub mod figure;
mod hash;
pub mod interrupt;
pub mod journal;
pub mod machine;
pub mod report;
pub mod study;
pub mod what_if;
