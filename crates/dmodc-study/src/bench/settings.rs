//! How it is measured.

use dmodc::Kernel;

/// The algorithm that is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// Dmodc, kept by a [`Router`](dmodc::Router).
    #[default]
    Dmodc,
    /// Stable Dmodc, kept by a [`Router`](dmodc::Router), with the healthy fabric as its reference.
    Stable,
    /// Dmodk, which only knows healthy PGFTs.
    Dmodk,
    /// Dmodc into a digest: the tables are never kept.
    Stream,
}

impl Algorithm {
    /// Returns its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::Dmodc => "dmodc",
            Algorithm::Stable => "stable",
            Algorithm::Dmodk => "dmodk",
            Algorithm::Stream => "dmodc-stream",
        }
    }
}

/// How a case is measured.
#[derive(Clone, Copy, Debug)]
pub struct BenchSettings {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The number of rounds; the median counts.
    pub rounds: usize,
    /// The form of the inner loops.
    pub kernel: Kernel,
    /// Whether tables are compared with those of the naive oracle, which takes longer than everything else.
    pub check: bool,
    /// Called while the comparison goes on, with the number of destination switches that are done and of all.
    pub on_checked: fn(usize, usize),
    /// The number of faults and repairs that are also measured in one step; `None` for none.
    pub changes: Option<usize>,
}
