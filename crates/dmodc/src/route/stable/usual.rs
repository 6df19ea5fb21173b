//! The lost entries of most rows, by words alone.
//!
//! As a rule all groups above have one port, all of them were closer to all targets above, and what is there
//! now was there before. Then groups keep their numbers of the reference: a closer set of the present is
//! a word with some bits less, and the lost slots are the missing ones.

use super::losses::Losses;
use super::mend::{Mender, divide, write};
use super::select::Ahead;
use super::set;
use super::{Reference, STRETCHES};
use crate::group::Side;
use crate::kernel::{Divisor, SIZES};
use crate::route::tile::{Place, Wanted};

/// The displaced targets above one switch, with groups numbered as in the reference.
#[derive(Default)]
pub(super) struct Usual {
    /// For each group: the targets that it is still closer to.
    staying: Vec<u64>,
    ahead: Ahead,
}

/// The targets of a switch that can be mended this way, if any.
pub(super) fn targets(
    reference: &Reference,
    place: Place<'_>,
    losses: &Losses,
    others: u64,
) -> u64 {
    let above = reference.ready.groups.above(place.s);
    let was = &losses.was;
    let is_usual = losses.up.has_all
        && losses.up.thin.is_empty()
        && above.peers.len() <= 64
        && above.ports.len() == above.peers.len()
        && was.through_up.iter().all(|mask| *mask == was.up);
    if is_usual { was.up & place.closer.up & !others } else { 0 }
}

impl Usual {
    /// Writes the lost entries of these targets. Does what [`Mender::mend`] does.
    pub(super) fn mend(
        &mut self,
        mender: &Mender<'_>,
        losses: &Losses,
        wanted: Wanted<'_>,
        row: &mut [u8],
    ) {
        let (kernel, targets) = (mender.place.kernel, mender.harmed);
        let side = mender.reference.ready.groups.above(mender.place.s);
        self.staying.clear();
        self.staying.extend(losses.up.targets.iter().map(|lost| targets & !lost));
        self.ahead.gather(kernel, (side, targets, &self.staying), mender.view);
        kernel.run(
            #[inline(always)]
            || self.spread(mender, &side, wanted, row),
        );
    }

    #[inline(always)]
    fn spread(&mut self, mender: &Mender<'_>, side: &Side<'_>, wanted: Wanted<'_>, row: &mut [u8]) {
        let Mender { reference, place, view, harmed } = mender;
        let sigma = u64::from(reference.places[place.s.at()]);
        let divider = Divisor::new(reference.ready.dividers[place.s.at()]);
        let count = side.peers.len() as u32;
        let (slots, all_slots) = (&SIZES[count as usize], u64::MAX >> (64 - count));
        let (mut ports, mut members) = ([0; 64], [0; 72]);
        ports.iter_mut().zip(side.ports).for_each(|(to, port)| *to = port.0);
        for segment in wanted.of(*harmed) {
            let target = segment.target;
            let lost = all_slots & !self.ahead.all::<1>(target).0[0];
            let last = divider.divide(segment.number + (segment.length - 1));
            let mut q = divider.divide(segment.number);
            let mut round = slots.divide(q);
            let mut slot = q - round * count;
            loop {
                // The slots from here to the end of the round, or of the segment.
                let length = (count - slot).min(last - q + 1);
                let before = lost & ((1 << slot) - 1);
                let mut here = (lost ^ before) & (u64::MAX >> (64 - (slot + length)));
                if here != 0 {
                    let from = match self.ahead.unharmed::<1>(target) {
                        Some(unharmed) => unharmed,
                        None => {
                            let first = view.spans[usize::from(target & 63)].0;
                            let stretch = round - slots.divide(divider.divide(first));
                            let stretch = (stretch as usize).min(STRETCHES - 1);
                            let kept = (side, &self.staying[..], &view.kept[stretch][..]);
                            self.ahead.that_kept(place.kernel, kept, target, stretch)
                        }
                    };
                    let x = u64::from(round) * u64::from(lost.count_ones())
                        + u64::from(before.count_ones())
                        + sigma;
                    let groups = set::list(from.0[0], &mut members);
                    let (_, mut at) = divide(x, groups);
                    while here != 0 {
                        let port = ports[usize::from(members[at as usize & 63] & 63)];
                        let lost = here.trailing_zeros();
                        here &= here - 1;
                        write(segment, &divider, u64::from(q + lost - slot), port, row);
                        at = if at + 1 == groups { 0 } else { at + 1 };
                    }
                }
                if last - q < length {
                    break;
                }
                (q, round, slot) = (q + length, round + 1, 0);
            }
        }
    }
}
