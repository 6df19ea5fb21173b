//! Dmodc, the paper's algorithm: eqs. (1) to (4) on the current fabric.

use super::select::PortCycle;
use super::tile::{Selection, route_tiles};
use super::{Coverage, Engine, Preprocessing, RouteError};
use crate::group::Group;
use crate::id::SwitchIndex;
use crate::tables::{ForwardingTables, Run};

/// The engine `dmodc`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dmodc;

impl Engine for Dmodc {
    fn name(&self) -> &'static str {
        "dmodc"
    }

    fn route(
        &self,
        ready: &Preprocessing<'_>,
        tables: &mut ForwardingTables,
    ) -> Result<Coverage, RouteError> {
        Ok(route_tiles::<ByFormula>(ready, tables)?)
    }
}

/// Selection by eqs. (3) and (4) over the current closer set, with the current Π.
#[derive(Default)]
struct ByFormula(PortCycle);

impl Selection for ByFormula {
    fn prepare<'a>(
        &mut self,
        ready: &Preprocessing<'_>,
        s: SwitchIndex,
        closer: impl Iterator<Item = Group<'a>>,
    ) {
        self.0.prepare(closer, ready.dividers[s.at()]);
    }

    #[inline]
    fn fill(&self, run: &Run, out: &mut [u8]) {
        self.0.fill(run, out);
    }
}
