//! Where runs of different lengths start in one flat array.

/// Returns where each of consecutive runs of the given lengths starts, and where the last one ends.
pub(super) fn starts(lengths: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut sum = 0u32;
    std::iter::once(0)
        .chain(lengths.map(|n| {
            sum = sum.checked_add(n).expect("a fabric has fewer than 2^32 ports");
            sum
        }))
        .collect()
}
