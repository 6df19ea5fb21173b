//! Where two rows of entries differ.

use super::rows::equal;

/// Sets a bit for each place where `old` and `new`, which are as long, differ; says how many.
#[inline(always)]
pub(super) fn portable(old: &[u8], new: &[u8], places: &mut Vec<u64>) -> u64 {
    each_line(old, new, places, |a, b| !equal(a, b))
}

/// The loop, over any way to compare 64 bytes.
#[inline(always)]
pub(super) fn each_line(
    old: &[u8],
    new: &[u8],
    places: &mut Vec<u64>,
    differ: impl Fn(&[u8; 64], &[u8; 64]) -> u64,
) -> u64 {
    assert_eq!(old.len(), new.len(), "rows of one tile are as long");
    places.clear();
    let (lines, rest) = old.as_chunks::<64>();
    let (new_lines, new_rest) = new.as_chunks::<64>();
    places.extend(lines.iter().zip(new_lines).map(|(a, b)| differ(a, b)));
    if !rest.is_empty() {
        let (mut a, mut b) = ([0; 64], [0; 64]);
        a[..rest.len()].copy_from_slice(rest);
        b[..rest.len()].copy_from_slice(new_rest);
        places.push(differ(&a, &b));
    }
    places.iter().map(|word| u64::from(word.count_ones())).sum()
}

#[cfg(test)]
mod tests {
    use crate::kernel::Kernel;
    use crate::random::Random;

    #[test]
    fn every_twin_finds_every_difference() {
        let mut random = Random::new(7, 0);
        for length in [0, 1, 63, 64, 65, 130, 2048] {
            for rarely in [1, 2, 50, 5000] {
                let old: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
                let mut new = old.clone();
                for byte in &mut new {
                    if random.below(rarely) == 0 {
                        *byte = random.below(256) as u8;
                    }
                }
                for kernel in Kernel::all() {
                    let mut places = vec![9];
                    let count = kernel.differ(&old, &new, &mut places);
                    let bit = |at: usize| places[at / 64] >> (at % 64) & 1 == 1;
                    assert!((0..length).all(|at| bit(at) == (old[at] != new[at])));
                    let wanted = (0..length).filter(|&at| old[at] != new[at]).count();
                    assert_eq!(count, wanted as u64);
                }
            }
        }
    }
}
