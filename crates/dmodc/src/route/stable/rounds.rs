//! The destinations of a tile, divided into rounds.

use super::loss_view::LossView;
use super::slot_table::RoundKey;
use crate::kernel::Difference;
use crate::route::port_choice::RowRequest;
use crate::tables::Segment;

/// The segments of a tile, divided into rounds: destinations of one segment with one ⌊q / #R⌋. Each field has an element
/// for each round, so that a loop over rounds can work on several at once. Switches of one rank most often have the same
/// rounds, so this is seldom computed. Only the first LID of each node counts.
/// There are some rounds without destinations at the end, so that their number is a multiple of 8.
#[derive(Default)]
pub(super) struct Rounds {
    key: Option<RoundKey>,
    pub(super) targets: Vec<u8>,
    /// ⌊q / #R⌋.
    pub(super) numbers: Vec<u32>,
    /// The slot of the first destination.
    pub(super) first_slots: Vec<u32>,
    /// Bit i is set if the round has destinations in slot `first_slot` + i.
    pub(super) slots: Vec<u64>,
    /// The number of rounds from that of the target's first destination to this one; the last stretch stands for all
    /// later ones.
    pub(super) stretches: Vec<u8>,
    /// The column of the first destination.
    pub(super) starts: Vec<u32>,
    /// The columns of all destinations, slot by slot.
    spans: Vec<RoundSpan>,
    /// The targets of each eight rounds.
    pub(super) targets_of_eights: Vec<u64>,
    /// Whether each target of the tile has one round, in order.
    pub(super) are_targets: bool,
    /// The greatest of the numbers.
    pub(super) last_number: u32,
}

/// Most often each of the 64 targets of a tile has one or two rounds. Room for them is made at once, because making room again and again
/// takes longer than finding them.
const ROOM: usize = 128;

/// The columns of one round.
#[derive(Default)]
struct RoundSpan {
    end: usize,
    /// The number of destinations in the first slot, if the round has more than one slot.
    first_slot_length: usize,
}

impl Rounds {
    /// Finds the rounds, unless they are known. Returns whether they are new.
    pub(super) fn find(&mut self, key: RoundKey, view: &LossView, request: RowRequest<'_>) -> bool {
        let is_new = self.key != Some(key);
        if is_new {
            self.divide(key, view, request.segments_of_tile().iter());
        }
        is_new
    }

    /// Finds the rounds of some segments, in this order.
    pub(super) fn divide<'s>(
        &mut self,
        key: RoundKey,
        view: &LossView,
        segments: impl Iterator<Item = &'s Segment>,
    ) {
        self.key = Some(key);
        self.targets.clear();
        self.spans.clear();
        self.stretches.clear();
        self.slots.clear();
        for words in [&mut self.numbers, &mut self.first_slots, &mut self.starts] {
            words.clear();
        }
        self.reserve(ROOM);
        segments.filter(|segment| segment.k == 0).for_each(|segment| self.push(key, view, segment));
        self.are_targets =
            self.targets.iter().enumerate().all(|(at, target)| at == usize::from(*target));
        self.last_number = self.numbers.iter().copied().max().unwrap_or(0);
        self.fill_up();
        let (eights, _) = self.targets.as_chunks::<8>();
        let of_eight = |eight: &[u8; 8]| eight.iter().fold(0, |all, target| all | 1 << target);
        self.targets_of_eights.clear();
        self.targets_of_eights.extend(eights.iter().map(of_eight));
    }

    /// Adds the rounds of a segment.
    #[inline]
    fn push(&mut self, RoundKey { pi, groups }: RoundKey, view: &LossView, segment: &Segment) {
        let first = view.spans[usize::from(segment.target)].first / pi / groups;
        let (mut number, end) = (segment.number, segment.number.saturating_add(segment.length));
        let mut q = number / pi;
        let (mut round, mut first_slot) = (q / groups, q % groups);
        // Only the first round begins within a slot, or after the first one, and only the last may end before its last slot.
        let mut first_slot_length = pi - number % pi;
        while number < end {
            let all = ((round + 1) * groups).saturating_mul(pi);
            let next = all.min(end);
            let slots = if all <= end { groups - first_slot } else { (end - 1) / pi - q + 1 };
            let column = |of: u32| segment.start + (of - segment.number);
            let stretch = round.saturating_sub(first) as usize;
            self.targets.push(segment.target);
            self.numbers.push(round);
            self.first_slots.push(first_slot);
            self.slots.push(u64::MAX >> (64 - slots));
            self.stretches.push(stretch.min(view.kept_slots.len() - 1) as u8);
            self.starts.push(column(number));
            let end = column(next) as usize;
            self.spans.push(RoundSpan { end, first_slot_length: first_slot_length as usize });
            (number, round, first_slot, first_slot_length) = (next, round + 1, 0, pi);
            q = round * groups;
        }
    }

    /// Makes room for more rounds.
    fn reserve(&mut self, rounds: usize) {
        self.targets.reserve(rounds);
        self.spans.reserve(rounds);
        self.stretches.reserve(rounds);
        self.slots.reserve(rounds);
        for words in [&mut self.numbers, &mut self.first_slots, &mut self.starts] {
            words.reserve(rounds);
        }
    }

    /// Adds rounds without destinations until the number of rounds is a multiple of 8.
    fn fill_up(&mut self) {
        let count = self.targets.len().next_multiple_of(8);
        let last_target = self.targets.last().copied().unwrap_or(0);
        self.targets.resize(count, last_target);
        self.stretches.resize(count, 0);
        self.slots.resize(count, 0);
        for words in [&mut self.numbers, &mut self.first_slots, &mut self.starts] {
            words.resize(count, 0);
        }
        self.spans.resize_with(count, RoundSpan::default);
    }

    /// Returns the entries of a slot, counted from the first slot of a round.
    #[inline(always)]
    fn entries<'r>(&self, round: usize, slot: usize, row: &'r mut [u8]) -> &'r mut [u8] {
        let RoundSpan { end, first_slot_length } = self.spans[round];
        let pi = self.key.map_or(1, |key| key.pi as usize);
        let start = self.starts[round] as usize;
        let start_of = |slot: usize| match slot {
            0 => start,
            _ => (start + first_slot_length + (slot - 1) * pi).min(end),
        };
        &mut row[start_of(slot)..start_of(slot + 1)]
    }

    /// Writes one port for all destinations of a slot.
    #[inline(always)]
    pub(super) fn write(&self, round: usize, slot: usize, port: u8, row: &mut [u8]) {
        fill(self.entries(round, slot, row), port);
    }

    /// Writes one port for all destinations of a slot, and adds what that changes to `difference`.
    #[inline(always)]
    pub(super) fn patch(
        &self,
        round: usize,
        slot: usize,
        port: u8,
        row: &mut [u8],
        difference: &mut Difference,
    ) {
        let entries = self.entries(round, slot, row);
        let differing = entries.iter().filter(|entry| **entry != port).count();
        if differing > 0 {
            fill(entries, port);
            difference.entries += differing as u64;
            difference.targets |= 1 << (self.targets[round] & 63);
        }
    }
}

/// Fills some entries with one port. There are few, so that a function for any number of bytes would take longer: here the last
/// bytes that are written at once may overlap those before.
#[inline(always)]
fn fill(entries: &mut [u8], port: u8) {
    match entries.len() {
        16.. => {
            let (sixteens, _) = entries.as_chunks_mut::<16>();
            sixteens.iter_mut().for_each(|sixteen| *sixteen = [port; 16]);
            fill_ends::<16>(entries, port);
        }
        8.. => fill_ends::<8>(entries, port),
        4.. => fill_ends::<4>(entries, port),
        _ => entries.iter_mut().for_each(|entry| *entry = port),
    }
}

/// Fills the first N entries and the last N.
#[inline(always)]
fn fill_ends<const N: usize>(entries: &mut [u8], port: u8) {
    if let Some(first) = entries.first_chunk_mut() {
        *first = [port; N];
    }
    if let Some(last) = entries.last_chunk_mut() {
        *last = [port; N];
    }
}

/// Returns the elements in eights. There are no others: [`Rounds`] sees to that.
#[inline(always)]
pub(super) fn eights<T>(all: &[T]) -> &[[T; 8]] {
    all.as_chunks().0
}

/// Returns the elements in eights, to be written.
#[inline(always)]
pub(super) fn eights_mut<T>(all: &mut [T]) -> &mut [[T; 8]] {
    all.as_chunks_mut().0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any number of entries: those before and after them stay.
    #[test]
    fn as_many_entries_are_filled_as_there_are() {
        for length in 0..100 {
            for start in [0, 1, 7] {
                let mut row = [3; 120];
                fill(&mut row[start..start + length], 9);
                let is_filled = |at: usize| (start..start + length).contains(&at);
                let wanted: Vec<u8> =
                    (0..120).map(|at| if is_filled(at) { 9 } else { 3 }).collect();
                assert_eq!(row[..], wanted, "{length} from {start}");
            }
        }
    }
}
