//! Division by multiplication with the reciprocal.
//!
//! ```text
//! ⌊x / n⌋ = ⌊x · ⌈2⁶⁴ / n⌉ / 2⁶⁴⌋     for x and n of 32 bits
//! ```
//!
//! An example: ⌈2⁶⁴ / 3⌉ is a little more than a third of 2⁶⁴. Seven times that is a little more than 2⅓ · 2⁶⁴, whose integer part
//! is 2 = ⌊7 / 3⌋, and whose fraction, a little more than ⅓, times 3 has the integer part 1 = 7 mod 3.

/// A number to divide by, with its reciprocal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Divisor {
    pub(crate) value: u32,
    /// ⌈2⁶⁴ / value⌉, which is exact for dividends of 32 bits; 0 stands for 2⁶⁴.
    reciprocal: u64,
}

impl Divisor {
    pub(crate) const fn new(value: u32) -> Self {
        Divisor { value, reciprocal: (u64::MAX / value as u64).wrapping_add(1) }
    }

    #[inline(always)]
    pub(crate) fn divide(&self, dividend: u32) -> u32 {
        match self.reciprocal {
            0 => dividend,
            reciprocal => ((u128::from(reciprocal) * u128::from(dividend)) >> 64) as u32,
        }
    }

    /// Returns the remainder: the fraction of the quotient, times the divisor.
    #[inline(always)]
    pub(crate) fn modulo(&self, dividend: u32) -> u32 {
        let fraction = self.reciprocal.wrapping_mul(u64::from(dividend));
        ((u128::from(fraction) * u128::from(self.value)) >> 64) as u32
    }
}

/// Divisors up to 255: numbers of ports. (The first one is not used.)
pub(crate) static SIZES: [Divisor; 256] = {
    let mut sizes = [Divisor::new(1); 256];
    let mut n = 1;
    while n < 256 {
        sizes[n] = Divisor::new(n as u32);
        n += 1;
    }
    sizes
};

/// Returns quotient and remainder; the divisor is a number of ports or groups, so at most 255.
#[inline(always)]
pub(crate) fn divide_by_count(dividend: u64, count: u32) -> (u64, u32) {
    match u32::try_from(dividend) {
        Ok(dividend) => {
            let quotient = SIZES[count as usize & 255].divide(dividend);
            (quotient.into(), dividend - quotient * count)
        }
        Err(_) => (dividend / u64::from(count), (dividend % u64::from(count)) as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn reciprocals_divide_exactly() {
        let mut random = Random::new(2, 0);
        let edges = [0, 1, 2, 63, 64, 1 << 16, u32::MAX - 1, u32::MAX];
        for value in (1..=300).chain([1024, 65_537, u32::MAX - 1, u32::MAX]) {
            let divisor = Divisor::new(value);
            let drawn: Vec<u32> = (0..200).map(|_| random.below(1 << 32) as u32).collect();
            let near = [value - 1, value, value.saturating_add(1), u32::MAX / value * value];
            for dividend in edges.into_iter().chain(near).chain(drawn) {
                assert_eq!(divisor.divide(dividend), dividend / value);
                assert_eq!(divisor.modulo(dividend), dividend % value);
                if value < 256 {
                    for wide in [u64::from(dividend), u64::from(dividend) << 20] {
                        let expected = (wide / u64::from(value), (wide % u64::from(value)) as u32);
                        assert_eq!(divide_by_count(wide, value), expected);
                    }
                }
            }
        }
    }
}
