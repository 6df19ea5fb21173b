//! A square of 64 × 64 bits, mirrored at its diagonal.
//!
//! An example of size two: the words `[0b11, 0b01]` are the rows (1, 1) and (1, 0), the lowest bit first; mirrored they are
//! the same. `[0b10, 0b10]`, the rows (0, 1) and (0, 1), become (0, 0) and (1, 1): `[0b00, 0b11]`.

/// Bit `i` of word `j` becomes bit `j` of word `i`.
///
/// Halves change places in the whole, then quarters in both halves, and so on: six rounds.
#[inline(always)]
pub(super) fn transpose(words: &mut [u64; 64]) {
    round::<32>(words, 0x0000_0000_ffff_ffff);
    round::<16>(words, 0x0000_ffff_0000_ffff);
    round::<8>(words, 0x00ff_00ff_00ff_00ff);
    round::<4>(words, 0x0f0f_0f0f_0f0f_0f0f);
    round::<2>(words, 0x3333_3333_3333_3333);
    round::<1>(words, 0x5555_5555_5555_5555);
}

/// In each square of 2·H bits the upper right and the lower left quarter change places.
#[inline(always)]
fn round<const H: usize>(words: &mut [u64; 64], low: u64) {
    let mut at = 0;
    while at < 64 {
        for i in at..at + H {
            let (a, b) = (words[i], words[i + H]);
            let moving = ((a >> H) ^ b) & low;
            words[i] = a ^ (moving << H);
            words[i + H] = b ^ moving;
        }
        at += 2 * H;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn every_bit_goes_to_its_mirror_place() {
        let mut random = Random::new(5, 0);
        for _ in 0..20 {
            let words: [u64; 64] = std::array::from_fn(|_| random.below(u64::MAX));
            let mut mirrored = words;
            transpose(&mut mirrored);
            for (i, row) in mirrored.iter().enumerate() {
                for (j, word) in words.iter().enumerate() {
                    assert_eq!(row >> j & 1, word >> i & 1);
                }
            }
        }
    }
}
