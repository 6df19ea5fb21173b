//! Histograms and percentiles.

/// A range of numbers, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Bin {
    /// The least number.
    pub from: u64,
    /// The greatest number.
    pub to: u64,
    /// How many numbers are in the range.
    pub count: u64,
}

/// Returns the numbers in at most `most` bins of equal width, from the least number to the greatest.
///
/// # Panics
/// If `most` is 0.
pub fn histogram(values: impl Iterator<Item = u64> + Clone, most: u64) -> Vec<Bin> {
    assert!(most > 0, "a histogram has bins");
    let (Some(least), Some(greatest)) = (values.clone().min(), values.clone().max()) else {
        return Vec::new();
    };
    let width = (greatest - least + 1).div_ceil(most);
    let count = (greatest - least) / width + 1;
    let bin = |i| {
        let from = least + i * width;
        Bin { from, to: from + width - 1, count: 0 }
    };
    let mut bins: Vec<Bin> = (0..count).map(bin).collect();
    for value in values {
        bins[((value - least) / width) as usize].count += 1;
    }
    bins
}

/// Returns the percentile of sorted numbers, by nearest rank.
pub fn percentile(sorted: &[u64], percent: f64) -> u64 {
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).or(sorted.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_all() {
        let values = [3u64, 3, 4, 9, 12];
        let bins = histogram(values.into_iter(), 4);
        assert_eq!(bins.iter().map(|bin| bin.count).collect::<Vec<_>>(), [3, 0, 1, 1]);
        assert_eq!((bins[0].from, bins[0].to, bins[3].from), (3, 5, 12));
        assert_eq!(histogram([7u64, 7].into_iter(), 10), [Bin { from: 7, to: 7, count: 2 }]);
        assert!(histogram(std::iter::empty(), 3).is_empty());
        let sorted = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
        let of = |percent| percentile(&sorted, percent);
        assert_eq!((of(0.0), of(50.0), of(90.0), of(99.0), of(100.0)), (1, 5, 9, 10, 10));
        assert_eq!(percentile(&[], 50.0), 0);
    }
}
