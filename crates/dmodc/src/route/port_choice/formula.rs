//! Eqs. (3) and (4): from closer sets to the entries of a row. The choice of Dmodc.

use super::port_cycle::{PortCycle, PortDivisors};
use super::{RowContext, RowRequest};
use crate::bits::bits;
use crate::group::Side;
use crate::kernel::{Choices, Cycles, Divisor, Spread};
use crate::preprocess::{SideDividers, SwitchDividers};
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
        dividers: SwitchDividers,
        RowRequest { segments, chained, .. }: RowRequest<'_>,
        row: &mut [u8],
    ) {
        let RowContext { ready, switch: s, kernel, .. } = context;
        self.gather(context);
        let (above, below) = (ready.groups.above(s), ready.groups.below(s));
        let SwitchDividers { up, down } = dividers;
        if give_ports(&mut self.up, &above, up, segments)
            && give_ports(&mut self.down, &below, down, segments)
        {
            let up_divider = Divisor::new(up.group);
            let down_divider =
                if down.group == up.group { up_divider } else { Divisor::new(down.group) };
            let (up, down) = (&self.up, &self.down);
            let spread = Spread { segments, chained, up, down, up_divider, down_divider };
            kernel.spread(&spread, &mut self.cycles, row);
        } else {
            self.fill_exactly([above, below], dividers, segments, row);
        }
    }

    /// Writes the entries of some segments of a row, and no other bytes.
    pub(crate) fn patch(
        &mut self,
        context: RowContext<'_>,
        dividers: SwitchDividers,
        segments: &[Segment],
        row: &mut [u8],
    ) {
        let RowContext { ready, switch: s, .. } = context;
        self.gather(context);
        let sides = [ready.groups.above(s), ready.groups.below(s)];
        self.fill_exactly(sides, dividers, segments, row);
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
        dividers: SwitchDividers,
        segments: &[Segment],
        row: &mut [u8],
    ) {
        let [up, down] = [dividers.up, dividers.down].map(PortDivisors::new);
        let mut last = None;
        for segment in segments {
            let target = segment.target;
            let (choices, side, divisors) = if self.up.targets >> target & 1 == 1 {
                (&self.up, &above, &up)
            } else if self.down.targets >> target & 1 == 1 {
                (&self.down, &below, &down)
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
            self.cycle.fill(side.ports, divisors, segment, row);
        }
    }
}

/// Gives the ports of one direction to the kernel. Returns `false` if the kernel cannot choose there: it can if all
/// groups have one port, or if they have equally many, ports follow eq. (4) and each node has one LID.
#[inline]
fn give_ports(
    choices: &mut Choices,
    side: &Side<'_>,
    dividers: SideDividers,
    segments: &[Segment],
) -> bool {
    if choices.targets == 0 {
        return true;
    }
    match side.width() {
        Some(width)
            if width == 1
                || dividers.port.is_none() && segments.iter().all(|segment| segment.k == 0) =>
        {
            choices.take_ports(width, side.ports.iter().map(|port| port.0));
            true
        }
        _ => false,
    }
}
