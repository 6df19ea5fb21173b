//! Rows of the reference. Every row of `stable` begins as one.

use super::reference_tile::RowNumber;
use crate::route::port_choice::{ALL, ByFormula, RowContext, RowRequest};

/// Writes rows of the reference, and keeps the last one. Neighbouring leaves have the same row if they are cabled alike, and
/// so have the spine chips of a director. So the next row is most often a copy.
///
/// It must be used for one tile only, as part of the scratch of a `RowMaker` is: the tile is not compared.
#[derive(Default)]
pub(super) struct ReferenceRows {
    pub(super) formula: ByFormula,
    /// The number of the last complete row; `None` if no row is kept.
    number: Option<RowNumber>,
    row: Vec<u8>,
}

impl ReferenceRows {
    /// Writes the requested entries of a row if they are those of the last row, and returns whether they are.
    #[inline]
    pub(super) fn copy(&self, number: RowNumber, request: RowRequest<'_>, row: &mut [u8]) -> bool {
        let is_last = request.targets == ALL && self.number == Some(number);
        if is_last {
            row.copy_from_slice(&self.row);
        }
        is_last
    }

    /// Writes the requested entries of a row, from the state and the closer sets of the reference.
    pub(super) fn fill(
        &mut self,
        number: RowNumber,
        context: RowContext<'_>,
        request: RowRequest<'_>,
        row: &mut [u8],
    ) {
        if self.copy(number, request, row) {
            return;
        }
        let dividers = context.ready.level_dividers(context.switch);
        self.formula.fill(context, dividers, request, row);
        if request.targets == ALL {
            self.number = Some(number);
            self.row.clear();
            self.row.extend_from_slice(row);
        }
    }
}
