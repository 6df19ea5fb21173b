//! The paper's dividers: eqs. (3) and (4) with Π of each switch, over the same closer sets as Dmodc.

use super::job::RouteJob;
use super::marks::Marks;
use super::port_choice::{ByFormula, JobTile, PortChoice, RowContext, RowRequest};
use crate::cost::{Hops, TileCosts, TooFar};

/// The engine `paper`. Its tables are those of [`Dmodc`](super::Dmodc) wherever levels have the paper's dividers, as on
/// every PGFT.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paper;

impl PortChoice for Paper {
    const NAME: &'static str = "paper";
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
        let dividers = context.ready.paper_dividers(context.switch);
        formula.fill(context, dividers, request, row);
    }
}
