//! How it is measured.

use dmodc::{Kernel, Pgft};

use crate::device::{Device, DeviceName};
use crate::engine::EngineName;

/// How a case is measured.
#[derive(Clone, Debug)]
pub struct BenchSettings {
    /// The engine. The healthy fabric is the reference of `stable`.
    pub engine: EngineName,
    /// Whether the tables are handed out piece by piece and never kept.
    pub stream: bool,
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
    /// Whether the entries that single faults change are also rewritten alone, as the limit of an update.
    pub rewrite: bool,
    /// A PGFT with the same share of faults, which is re-routed in turns with the fabric.
    pub against: Option<Pgft>,
    /// Where tables are computed.
    pub device: Device,
}

impl BenchSettings {
    /// Returns the name of what is measured, for results.
    pub(super) fn name(&self) -> String {
        let device = if self.device.name() == DeviceName::Gpu { "-gpu" } else { "" };
        format!("{}{}{device}", self.engine, if self.stream { "-stream" } else { "" })
    }
}
