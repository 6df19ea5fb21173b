//! Dmodc, the paper's algorithm: eqs. (1) to (4) on the current fabric.

use super::select::PortCycle;
use super::tile::{Place, Selection, Wanted, Work, route_tiles};
use super::{Coverage, Engine, Preprocessing, RouteError};
use crate::cost::{Costs, Hops, TooFar};
use crate::fabric::Live;
use crate::group::Side;
use crate::kernel::{Choices, Cycles, Divisor, Spread, bits};
use crate::router::Marks;
use crate::tables::{ForwardingTables, NO_ROUTE, Segment, Tile};

/// The engine `dmodc`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dmodc;

impl Engine for Dmodc {
    fn name(&self) -> &'static str {
        "dmodc"
    }

    fn route(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        tables: &mut ForwardingTables,
    ) -> Result<Coverage, RouteError> {
        let columns = tables.columns().clone();
        Ok(route_tiles(self, &Work::new(live, ready, &columns), tables)?)
    }
}

impl Selection for Dmodc {
    /// Costs are all that it needs.
    type View = ();
    type Scratch = ByFormula;

    fn look<C: Costs>(
        &self,
        _: &Work<'_>,
        _: &Tile,
        _: &C,
        (): &mut Self::View,
    ) -> Result<(), TooFar> {
        Ok(())
    }

    fn look_again(
        &self,
        _: (&Work<'_>, &Tile),
        _: &Hops,
        (): &mut Self::View,
        _: &Marks,
        _: &mut Marks,
    ) {
    }

    #[inline]
    fn select(
        &self,
        place: Place<'_>,
        (): &Self::View,
        wanted: Wanted<'_>,
        formula: &mut ByFormula,
        row: &mut [u8],
    ) {
        formula.fill(place, wanted, row);
    }
}

/// Eqs. (3) and (4) over closer sets.
#[derive(Default)]
pub(crate) struct ByFormula {
    up: Choices,
    down: Choices,
    cycles: Cycles,
    cycle: PortCycle,
}

impl ByFormula {
    /// Writes the entries of a row. May write over the end of a segment, but not more than
    /// [`SLACK`](crate::kernel::SLACK) bytes.
    pub(super) fn fill(
        &mut self,
        place: Place<'_>,
        Wanted { segments, chained, .. }: Wanted<'_>,
        row: &mut [u8],
    ) {
        let Place { ready, s, kernel, .. } = place;
        self.gather(place);
        let (above, below) = (ready.groups.above(s), ready.groups.below(s));
        let divider = Divisor::new(ready.dividers[s.at()]);
        if take_ports(&mut self.up, &above, segments)
            && take_ports(&mut self.down, &below, segments)
        {
            let spread = Spread { segments, chained, up: &self.up, down: &self.down, divider };
            kernel.spread(&spread, &mut self.cycles, row);
        } else {
            self.fill_exactly((above, below), divider, segments, row);
        }
    }

    /// Writes the entries of some segments of a row, and nothing beside them.
    pub(super) fn patch(&mut self, place: Place<'_>, segments: &[Segment], row: &mut [u8]) {
        let Place { ready, s, .. } = place;
        self.gather(place);
        let sides = (ready.groups.above(s), ready.groups.below(s));
        self.fill_exactly(sides, Divisor::new(ready.dividers[s.at()]), segments, row);
    }

    fn gather(&mut self, Place { closer, kernel, .. }: Place<'_>) {
        match closer.up_is_uniform {
            true => self.up.take_all(closer.up, closer.through_up.len()),
            false => kernel.gather(&mut self.up, closer.up, &closer.through_up),
        }
        kernel.gather(&mut self.down, closer.down, &closer.through_down);
    }

    /// The same for groups of any sizes.
    fn fill_exactly(
        &mut self,
        (above, below): (Side<'_>, Side<'_>),
        divider: Divisor,
        segments: &[Segment],
        row: &mut [u8],
    ) {
        let mut last = None;
        for segment in segments {
            let target = segment.target;
            let (choices, side) = match () {
                () if self.up.targets >> target & 1 == 1 => (&self.up, &above),
                () if self.down.targets >> target & 1 == 1 => (&self.down, &below),
                () => {
                    let (start, length) = (segment.start as usize, segment.length as usize);
                    row[start..start + length].fill(NO_ROUTE);
                    continue;
                }
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

/// Whether the kernel can choose on this side: all groups have one port, or they have equally many and
/// each node has one LID.
#[inline]
fn take_ports(choices: &mut Choices, side: &Side<'_>, segments: &[Segment]) -> bool {
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
