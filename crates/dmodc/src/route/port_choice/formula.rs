//! Eqs. (3) and (4): from closer sets to the entries of a row. The choice of Dmodc.

use super::port_cycle::PortCycle;
use super::{RowContext, RowRequest};
use crate::bits::bits;
use crate::group::Side;
use crate::kernel::{Choices, Cycles, Divisor, Spread};
use crate::tables::{NO_ROUTE, Segment};

/// Eqs. (3) and (4) over closer sets.
#[derive(Default)]
pub(crate) struct ByFormula {
    up: Choices,
    down: Choices,
    cycles: Cycles,
    cycle: PortCycle,
}

impl ByFormula {
    /// Writes the requested entries of a row. This may write over the end of a segment, but by at most
    /// [`SLACK`](crate::kernel::SLACK) bytes.
    pub(crate) fn fill(
        &mut self,
        context: RowContext<'_>,
        RowRequest { segments, chained, .. }: RowRequest<'_>,
        row: &mut [u8],
    ) {
        let RowContext { ready, switch: s, kernel, .. } = context;
        self.gather(context);
        let (above, below) = (ready.groups.above(s), ready.groups.below(s));
        let divider = Divisor::new(ready.dividers[s.at()]);
        if give_ports(&mut self.up, &above, segments)
            && give_ports(&mut self.down, &below, segments)
        {
            let spread = Spread { segments, chained, up: &self.up, down: &self.down, divider };
            kernel.spread(&spread, &mut self.cycles, row);
        } else {
            self.fill_exactly([above, below], divider, segments, row);
        }
    }

    /// Writes the entries of some segments of a row, and no other bytes.
    pub(crate) fn patch(&mut self, context: RowContext<'_>, segments: &[Segment], row: &mut [u8]) {
        let RowContext { ready, switch: s, .. } = context;
        self.gather(context);
        let sides = [ready.groups.above(s), ready.groups.below(s)];
        self.fill_exactly(sides, Divisor::new(ready.dividers[s.at()]), segments, row);
    }

    /// Transposes the closer sets, from masks by group to sets by target.
    fn gather(&mut self, RowContext { closer, kernel, .. }: RowContext<'_>) {
        match closer.up_is_uniform {
            true => self.up.take_all(closer.up, closer.through_up.len()),
            false => kernel.gather(&mut self.up, closer.up, &closer.through_up),
        }
        kernel.gather(&mut self.down, closer.down, &closer.through_down);
    }

    /// Writes the entries of some segments, and no other bytes, for groups of any sizes.
    fn fill_exactly(
        &mut self,
        [above, below]: [Side<'_>; 2],
        divider: Divisor,
        segments: &[Segment],
        row: &mut [u8],
    ) {
        let mut last = None;
        for segment in segments {
            let target = segment.target;
            let (choices, side) = if self.up.targets >> target & 1 == 1 {
                (&self.up, &above)
            } else if self.down.targets >> target & 1 == 1 {
                (&self.down, &below)
            } else {
                let (start, length) = (segment.start as usize, segment.length as usize);
                row[start..start + length].fill(NO_ROUTE);
                continue;
            };
            let set = (std::ptr::from_ref(choices), choices.set(target));
            if last != Some(set) {
                let words = set.1.into_iter().enumerate();
                let members =
                    words.flat_map(|(word, set)| bits(set).map(move |bit| word * 64 + bit));
                self.cycle.prepare(members.map(|at| side.extent(at)));
                last = Some(set);
            }
            self.cycle.fill(side.ports, &divider, segment, row);
        }
    }
}

/// Gives the ports of one direction to the kernel. Returns `false` if the kernel cannot choose there: it can if all
/// groups have one port, or if they have equally many and each node has one LID.
#[inline]
fn give_ports(choices: &mut Choices, side: &Side<'_>, segments: &[Segment]) -> bool {
    if choices.targets == 0 {
        return true;
    }
    match side.width() {
        Some(width) if width == 1 || segments.iter().all(|segment| segment.k == 0) => {
            choices.take_ports(width, side.ports.iter().map(|port| port.0));
            true
        }
        _ => false,
    }
}
