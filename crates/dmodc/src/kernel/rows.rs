//! Costs as bytes: the steps of Procedure 1 for 64 destination switches at once.
//!
//! A [`CostRow`] holds the costs of one switch to 64 destination switches, one byte each: a cache line. 255 is infinite. The
//! loops are written so that the compiler turns them into vector code.
//!
//! An example with two destinations: a switch has the costs 5 and ∞, its neighbour 3 and 7. [`relax`] gives
//! min(5, 3 + 1) = 4 and min(∞, 7 + 1) = 8.

/// One byte for each of 64 destination switches.
pub(crate) type CostRow = [u8; 64];

/// The cost of what cannot be reached.
pub(crate) const INFINITE: u8 = u8::MAX;

/// A row of nothing but infinite costs.
pub(crate) const UNREACHED: CostRow = [INFINITE; 64];

/// `to = min(to, from + 1)`: one hop more. Infinity stays infinite.
#[inline]
pub(crate) fn relax(to: &mut CostRow, from: &CostRow) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = (*to).min(from.saturating_add(1));
    }
}

/// Where `mask` has a bit, `to` keeps its byte; elsewhere it takes `from`'s.
#[inline]
pub(crate) fn keep(to: &mut CostRow, from: &CostRow, mask: u64) {
    for (at, (to, from)) in to.iter_mut().zip(from).enumerate() {
        // All ones where the byte is kept.
        let kept = (mask >> at & 1) as u8 * u8::MAX;
        *to = *to & kept | *from & !kept;
    }
}

/// Returns the row with every byte less one: one hop nearer. (A byte of 0 wraps to 255; masks exclude it.)
#[inline]
pub(crate) fn one_less(row: &CostRow) -> CostRow {
    row.map(|cost| cost.wrapping_sub(1))
}

/// Returns a mask: bit `i` is set if byte `i` of both rows is the same.
#[inline]
pub(crate) fn equal(a: &CostRow, b: &CostRow) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let (a, _) = a.as_chunks::<8>();
    let (b, _) = b.as_chunks::<8>();
    let mut mask = 0;
    for (at, (a, b)) in a.iter().zip(b).enumerate() {
        let differing = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        // The top bit of each byte is set where the byte is zero, without carries between bytes.
        let same = !(((differing & LOW) + LOW) | differing | LOW);
        // Multiplying gathers the eight top bits into one byte.
        let bits = (same >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        mask |= bits << (8 * at);
    }
    mask
}

/// Returns a mask: bit `i` is set if byte `i` is finite.
#[inline]
pub(crate) fn finite(row: &CostRow) -> u64 {
    !equal(row, &UNREACHED)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn row(random: &mut Random, values: u64) -> CostRow {
        // Few different values, so that equal bytes are common; the extremes are among them.
        std::array::from_fn(|_| match random.below(values) {
            0 => 255,
            1 => 254,
            2 => 0,
            3 => 128,
            4 => 127,
            n => n as u8,
        })
    }

    #[test]
    fn loops_equal_their_definitions() {
        let mut random = Random::new(3, 0);
        for values in [1, 2, 3, 5, 7, 30, 255] {
            for _ in 0..200 {
                let (a, b) = (row(&mut random, values), row(&mut random, values));
                let mask = random.below(u64::MAX);
                let mut relaxed = a;
                relax(&mut relaxed, &b);
                let mut kept = a;
                keep(&mut kept, &b, mask);
                let (equal, finite) = (equal(&a, &b), finite(&a));
                for i in 0..64 {
                    let one_more = if b[i] == 255 { 255 } else { b[i] + 1 };
                    assert_eq!(relaxed[i], a[i].min(one_more));
                    assert_eq!(kept[i], if mask >> i & 1 == 1 { a[i] } else { b[i] });
                    assert_eq!(equal >> i & 1 == 1, a[i] == b[i]);
                    assert_eq!(finite >> i & 1 == 1, a[i] != 255);
                }
            }
        }
    }
}
