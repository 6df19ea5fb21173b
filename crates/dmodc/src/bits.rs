//! Sets of up to 64 things as the bits of one word.

/// Returns the positions of the set bits of a mask, ascending.
///
/// For example, the mask `0b1010` gives 1 and 3.
#[inline]
pub(crate) fn bits(mut mask: u64) -> impl Iterator<Item = usize> + Clone {
    std::iter::from_fn(move || {
        let bit = mask.trailing_zeros();
        (mask != 0).then(|| {
            mask &= mask - 1;
            bit as usize
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_positions_in_ascending_order() {
        assert_eq!(bits(0).count(), 0);
        assert!(bits(0b1010).eq([1, 3]));
        assert!(bits(u64::MAX).eq(0..64));
        assert!(bits(1 << 63).eq([63]));
    }
}
