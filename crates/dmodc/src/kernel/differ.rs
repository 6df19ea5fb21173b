//! Where two rows of entries differ: how many entries, and for which targets.
//!
//! ```text
//! entries = the number of positions at which the rows differ
//! targets = a bit for each target that has such a position
//! ```
//!
//! Entries become bits, 64 to a word; the bits of one target are a *field*. Whether a field has any bit set is found for
//! all fields of a word at once: its bits without the last one, plus as many ones, carry into the last one exactly if some
//! bit is set, and never further.
//!
//! An example: two targets with three and five entries, so the fields are the bits 0 to 2 and 3 to 7. The rows differ at the
//! positions 1 and 6: the word is `0b0100_0010`. In the first field, the bits without the last one are `0b10`; plus `0b11`
//! this is `0b101`: the last bit of the field, bit 2, is set. So the first target differs, and likewise the second.

use std::ops::Range;

use super::rows::equal;
use crate::bits::bits;

/// The fields of a row, word by word. A field that goes over the end of a word has two parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields {
    /// The last bits of fields, or of their parts.
    ends: Vec<u64>,
    /// Which field the first part in a word belongs to.
    first: Vec<u8>,
}

impl Fields {
    /// Returns fields that follow each other from the start of a row: at most 64, none of them empty.
    pub(crate) fn new(spans: impl Iterator<Item = Range<usize>>) -> Self {
        let mut fields = Fields::default();
        for (field, span) in spans.enumerate() {
            for word in span.start / 64..=(span.end - 1) / 64 {
                if word == fields.ends.len() {
                    fields.ends.push(0);
                    fields.first.push(field as u8);
                }
                let last = (span.end - 1).min(word * 64 + 63);
                fields.ends[word] |= 1 << (last % 64);
            }
        }
        fields
    }
}

/// What differs between two rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// How many entries.
    pub(crate) entries: u64,
    /// A bit for each target with such an entry.
    pub(crate) targets: u64,
}

impl Difference {
    /// Adds entries of a target: a bit for each.
    #[inline(always)]
    pub(crate) fn add(&mut self, entries: u64, target: u8) {
        self.entries += u64::from(entries.count_ones());
        self.targets |= 1 << (target & 63);
    }
}

/// How 64 bytes are compared and bits are picked. (A trait, so that [`rows`] is compiled for each
/// processor.)
pub(super) trait Compare {
    /// Returns a mask: bit `i` is set if byte `i` differs.
    fn differ(a: &[u8; 64], b: &[u8; 64]) -> u64;

    /// Does the same with 32 bytes.
    fn differ_32(a: &[u8; 32], b: &[u8; 32]) -> u32;

    /// Returns the bits of `word` that `mask` has, moved together.
    fn pick(word: u64, mask: u64) -> u64;
}

pub(super) struct Portable;

impl Compare for Portable {
    #[inline(always)]
    fn differ(a: &[u8; 64], b: &[u8; 64]) -> u64 {
        !equal(a, b)
    }

    #[inline(always)]
    fn differ_32(a: &[u8; 32], b: &[u8; 32]) -> u32 {
        let pairs = a.iter().zip(b).enumerate();
        pairs.fold(0, |all, (at, (a, b))| all | u32::from(a != b) << at)
    }

    #[inline(always)]
    fn pick(word: u64, mask: u64) -> u64 {
        bits(mask).enumerate().fold(0, |all, (to, from)| all | (word >> from & 1) << to)
    }
}

/// Returns the difference between `old` and `new`, which have the same length.
#[inline(always)]
pub(super) fn rows<C: Compare>(old: &[u8], new: &[u8], fields: &Fields) -> Difference {
    assert_eq!(old.len(), new.len(), "rows of one tile have the same length");
    let mut difference = Difference::default();
    let (lines, rest) = old.as_chunks::<64>();
    let (new_lines, new_rest) = new.as_chunks::<64>();
    let mut count = |word: u64, ends: u64, first: u8| {
        difference.entries += u64::from(word.count_ones());
        let any = ((word & !ends).wrapping_add(!ends) | word) & ends;
        difference.targets |= C::pick(any, ends) << first;
    };
    let of_words = fields.ends.iter().zip(&fields.first);
    for ((old, new), (&ends, &first)) in lines.iter().zip(new_lines).zip(of_words) {
        count(C::differ(old, new), ends, first);
    }
    if !rest.is_empty() {
        let (mut a, mut b) = ([0; 64], [0; 64]);
        a[..rest.len()].copy_from_slice(rest);
        b[..rest.len()].copy_from_slice(new_rest);
        let at = lines.len();
        count(C::differ(&a, &b), fields.ends[at], fields.first[at]);
    }
    difference
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::random::Random;

    #[test]
    fn every_twin_finds_every_difference() {
        let mut random = Random::new(7, 0);
        for longest in [1, 3, 24, 64, 65, 200] {
            for rarely in [1, 2, 50, 500, 100_000] {
                let mut spans = Vec::new();
                let mut length = 0;
                for _ in 0..1 + random.below(64) {
                    let end = length + 1 + random.below(longest) as usize;
                    spans.push(length..end);
                    length = end;
                }
                let old: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
                let mut new = old.clone();
                for byte in &mut new {
                    if random.below(rarely) == 0 {
                        *byte = random.below(256) as u8;
                    }
                }
                let differs = |at: usize| old[at] != new[at];
                let of_spans = spans.iter().enumerate();
                let expected = Difference {
                    entries: (0..length).filter(|&at| differs(at)).count() as u64,
                    targets: of_spans.fold(0, |all, (bit, span)| {
                        all | u64::from(span.clone().any(differs)) << bit
                    }),
                };
                let fields = Fields::new(spans.iter().cloned());
                for kernel in Kernel::all() {
                    assert_eq!(kernel.differ(&old, &new, &fields), expected, "{}", kernel.name());
                }
            }
        }
    }
}
