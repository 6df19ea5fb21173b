//! Dmodc, the paper's algorithm: eqs. (1) to (4) on the current fabric. Where Π does not spread, levels have dividers of
//! their own ([`LevelDividers`](crate::LevelDividers)).

use super::job::RouteJob;
use super::marks::Marks;
use super::port_choice::{ByFormula, JobTile, PortChoice, RowContext, RowRequest};
use crate::cost::{Hops, TileCosts, TooFar};

/// The engine `dmodc`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dmodc;

impl PortChoice for Dmodc {
    const NAME: &'static str = "dmodc";
    /// Costs are all that it needs.
    type TileState = ();
    type JobState = ();
    type Scratch = ByFormula;

    fn prepare(&self, _: &RouteJob<'_>) {}

    fn find_state(&self, _: JobTile<'_, ()>, _: &TileCosts, (): &mut ()) -> Result<(), TooFar> {
        Ok(())
    }

    fn update_state(&self, _: JobTile<'_, ()>, _: &Hops, (): &mut (), _: &Marks, _: &mut Marks) {}

    #[inline]
    fn fill_row(
        &self,
        context: RowContext<'_>,
        (): &(),
        request: RowRequest<'_>,
        formula: &mut ByFormula,
        row: &mut [u8],
    ) {
        let dividers = context.ready.level_dividers(context.switch);
        formula.fill(context, dividers, request, row);
    }
}
