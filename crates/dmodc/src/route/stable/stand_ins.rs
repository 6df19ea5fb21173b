//! Stand-ins: ports that replace a failed port of a group that is still there.

use std::ops::Range;

use super::losses::{PresentGroup, ThinnedGroup};
use crate::group::Side;
use crate::id::PortNumber;
use crate::kernel::{Divisor, SIZES};
use crate::tables::Segment;

/// A port of a thinned group that is not there any more.
pub(super) struct GonePort {
    pub(super) group: usize,
    present: PresentGroup,
    /// The number of ports that the group had, and the index of this one among them.
    width: u8,
    at: u8,
}

/// The entries of a segment, and the slots that they are divided into.
#[derive(Clone, Copy)]
pub(super) struct StandInPlace<'a> {
    pub(super) segment: &'a Segment,
    /// Π, or the divider of the level.
    pub(super) divider: &'a Divisor,
    /// #R.
    pub(super) count: u32,
    /// The divider of ports; `None` for eq. (4).
    pub(super) port_divider: Option<u32>,
}

impl GonePort {
    /// Replaces `gone` by the ports that the groups of one direction of the reference lost. `now` has the groups of the
    /// present: in the same direction, and in the other one.
    pub(super) fn find(
        gone: &mut Vec<GonePort>,
        thinned: &[ThinnedGroup],
        then: Side<'_>,
        now: [Side<'_>; 2],
    ) {
        gone.clear();
        for &ThinnedGroup { group, present } in thinned {
            let were = then.ports_of(group);
            let are = now[usize::from(present.has_turned)].ports_of(present.at);
            let is_gone = |(_, port): &(usize, &PortNumber)| !are.contains(port);
            let width = were.len() as u8;
            gone.extend(were.iter().enumerate().filter(is_gone).map(|(at, _)| GonePort {
                group,
                present,
                width,
                at: at as u8,
            }));
        }
    }

    /// Writes the entries of a segment that had this port, which belongs to slot number `slot`: another port of the group
    /// stands in. A group is asked once in a round, and for the same port again when as many rounds have passed as it had
    /// ports.
    #[inline(always)]
    pub(super) fn write(
        &self,
        now: [Side<'_>; 2],
        slot: u32,
        StandInPlace { segment, divider, count, port_divider }: StandInPlace<'_>,
        row: &mut [u8],
    ) {
        let last = segment.number.saturating_add(segment.length - 1);
        let (first, last) = (divider.divide(segment.number), divider.divide(last));
        let first_round = SIZES[count as usize & 255].divide(first);
        let (k, later) = match segment.k {
            0 => (0, 0),
            k => (u32::from(k) % count, u32::from(k) / count),
        };
        // The place of the slot in its round. (The k-th LID of a node has the k-th slot after that of its first LID.)
        let place = if slot >= k { slot - k } else { slot + count - k };
        let are = now[usize::from(self.present.has_turned)].ports_of(self.present.at);
        let q_of = |round: u32| u64::from(round) * u64::from(count) + u64::from(place);
        let Some(port_divider) = port_divider else {
            let mut round = first_round + self.rounds_until(first_round + later);
            if q_of(round) < first.into() {
                round += u32::from(self.width);
            }
            let step = usize::from(self.width) * count as usize;
            let mut at = SIZES[are.len() & 255].modulo(round + later) as usize;
            let turn = SIZES[are.len() & 255].modulo(self.width.into()) as usize;
            for q in (q_of(round)..=last.into()).step_by(step) {
                write(segment, divider, q, are[at].0, row);
                at += turn;
                at -= if at >= are.len() { are.len() } else { 0 };
            }
            return;
        };
        // The ports of one slot may differ from destination to destination.
        let stand_in = |at: u32| are[SIZES[are.len() & 255].modulo(at) as usize].0;
        let quotients = (q_of(first_round)..=last.into()).step_by(count as usize);
        for q in quotients.filter(|q| *q >= first.into()) {
            for column in columns(segment, divider, q) {
                let d = segment.number + (column as u32 - segment.start);
                let at = d / port_divider + later;
                if at % u32::from(self.width) == u32::from(self.at) {
                    row[column] = stand_in(at);
                }
            }
        }
    }

    /// Returns the number of rounds from this one until the port is asked for.
    #[inline(always)]
    fn rounds_until(&self, round: u32) -> u32 {
        let (own, width) = (u32::from(self.at), u32::from(self.width));
        let at = SIZES[usize::from(self.width)].modulo(round);
        if own >= at { own - at } else { own + width - at }
    }
}

/// Writes one port for the destinations of q.
#[inline(always)]
pub(super) fn write(segment: &Segment, divider: &Divisor, q: u64, port: u8, row: &mut [u8]) {
    if divider.value == 1 {
        row[segment.start as usize + (q - u64::from(segment.number)) as usize] = port;
        return;
    }
    row[columns(segment, divider, q)].fill(port);
}

/// Returns the columns of the destinations of q.
#[inline(always)]
fn columns(segment: &Segment, divider: &Divisor, q: u64) -> Range<usize> {
    let Segment { start, length, number, .. } = *segment;
    let (start, number) = (start as usize, u64::from(number));
    let pi = u64::from(divider.value);
    let from = (q * pi).max(number) - number;
    let to = ((q + 1) * pi).min(number + u64::from(length)) - number;
    start + from as usize..start + to as usize
}
