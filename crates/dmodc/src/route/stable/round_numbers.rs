//! Sets of groups and numbers of rounds in as few bits as possible, because a processor does more of them at once then.

use std::ops::{BitAnd, BitOr, BitXor, Not};

/// How sets of slots or groups are kept, and how numbers are divided.
pub(super) trait Numbers {
    /// A bit for each slot or group.
    type Set: Copy
        + PartialEq
        + Not<Output = Self::Set>
        + BitAnd<Output = Self::Set>
        + BitOr<Output = Self::Set>
        + BitXor<Output = Self::Set>;

    /// Returns the set that a word has. Bits that do not fit are left out.
    fn set(word: u64) -> Self::Set;

    /// Returns the word of a set.
    fn word(set: Self::Set) -> u64;

    fn count(set: Self::Set) -> u32;

    /// Returns the members from a slot on, as counted from there.
    fn from_slot(set: Self::Set, slot: u32) -> Self::Set;

    /// Returns the members before a slot.
    fn before_slot(set: Self::Set, slot: u32) -> Self::Set;

    /// Returns the set, or nothing if the condition holds.
    fn unless(condition: bool, set: Self::Set) -> Self::Set;

    /// Divides `number` · `times` + `more` by n. Returns anything for n = 0.
    fn place(number: u32, times: u32, more: u32, n: u32) -> Division;
}

/// A quotient and a remainder.
pub(super) struct Division {
    pub(super) quotient: u32,
    pub(super) remainder: u32,
}

/// Floating-point numbers of 32 bits have all integers up to twice this number, and no others from here on.
pub(super) const SMALL: u64 = 1 << 23;

/// At most 32 groups, and dividends below [`SMALL`].
pub(super) struct Small32;

/// At most 64 groups, and dividends below [`SMALL`].
pub(super) struct Small64;

/// At most 64 groups, and any dividends.
pub(super) struct Any64;

/// Implements [`Numbers`] for sets of a type.
macro_rules! numbers {
    ($name:ident, $set:ty, $place:expr) => {
        impl Numbers for $name {
            type Set = $set;

            #[inline(always)]
            fn set(word: u64) -> $set {
                word as $set
            }

            #[inline(always)]
            fn word(set: $set) -> u64 {
                set.into()
            }

            #[inline(always)]
            fn count(set: $set) -> u32 {
                set.count_ones()
            }

            #[inline(always)]
            fn from_slot(set: $set, slot: u32) -> $set {
                set >> (slot & (<$set>::BITS - 1))
            }

            #[inline(always)]
            fn before_slot(set: $set, slot: u32) -> $set {
                set & ((1 << (slot & (<$set>::BITS - 1))) - 1)
            }

            #[inline(always)]
            fn unless(condition: bool, set: $set) -> $set {
                set & <$set>::from(!condition).wrapping_neg()
            }

            #[inline(always)]
            fn place(number: u32, times: u32, more: u32, n: u32) -> Division {
                $place(number, times, more, n)
            }
        }
    };
}

numbers!(Small32, u32, place_small);
numbers!(Small64, u64, place_small);
numbers!(Any64, u64, place_any);

/// [`Numbers::place`] for dividends below [`SMALL`].
#[inline(always)]
pub(super) fn place_small(number: u32, times: u32, more: u32, n: u32) -> Division {
    divide_small(number.wrapping_mul(times).wrapping_add(more), n)
}

/// [`Numbers::place`] for any dividends.
#[inline(always)]
pub(super) fn place_any(number: u32, times: u32, more: u32, n: u32) -> Division {
    divide_any(u64::from(number) * u64::from(times) + u64::from(more), n)
}

/// Divides x, which is below [`SMALL`], by n. Returns anything for n = 0. It divides floating-point numbers, because processors
/// divide many of these at once. The sum of a quotient and `SMALL` has an integer in its low bits: the quotient, rounded to the
/// nearest. If that is one too many, the remainder is negative.
#[inline(always)]
pub(super) fn divide_small(x: u32, n: u32) -> Division {
    const BASE: f32 = SMALL as f32;
    let (x, n) = (x as i32, n as i32);
    let nearest = (x as f32 / n as f32 + BASE).to_bits().wrapping_sub(BASE.to_bits()) as i32;
    let rest = x.wrapping_sub(nearest.wrapping_mul(n));
    let too_many = rest >> 31;
    Division {
        quotient: nearest.wrapping_add(too_many) as u32,
        remainder: rest.wrapping_add(too_many & n) as u32,
    }
}

/// Divides any x by n. Returns anything for n = 0.
fn divide_any(x: u64, n: u32) -> Division {
    let n = u64::from(n.max(1));
    // The quotient is only used for groups of several ports, and there numbers of destinations are below 2³¹.
    Division { quotient: (x / n) as u32, remainder: (x % n) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisions_are_exact() {
        const END: u32 = SMALL as u32;
        let edges = [0, 1, 63, 64, 65, 1 << 20, END - 2, END - 1];
        for n in 1..=64 {
            let near = [n - 1, n, END / n * n - 1];
            for x in edges.into_iter().chain(near) {
                let Division { quotient, remainder } = divide_small(x, n);
                assert_eq!((quotient, remainder), (x / n, x % n), "{x} by {n}");
                let Division { quotient, remainder } = Any64::place(x / 7, 7, x % 7, n);
                assert_eq!((quotient, remainder), (x / n, x % n), "{x} by {n}");
            }
        }
    }

    /// Whatever the number of bits, sets are the same.
    #[test]
    fn narrow_sets_are_as_wide_ones() {
        for set in [0, 1, 0x8000_0001, 0xffff_ffff, 0x0f0f_1234_u32] {
            let wide = u64::from(set);
            for slot in 0..32 {
                assert_eq!(Small32::from_slot(set, slot), Small64::from_slot(wide, slot) as u32);
                assert_eq!(
                    Small32::before_slot(set, slot),
                    Small64::before_slot(wide, slot) as u32
                );
            }
            assert_eq!(Small32::word(Small32::unless(false, set)), wide);
            assert_eq!(Small32::unless(true, set), 0);
        }
    }
}
