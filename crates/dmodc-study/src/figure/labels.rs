//! Names at the ends of curves, which do not cover each other.

/// Some labels without gaps between them.
struct Block {
    first: usize,
    heights: f64,
    /// The sum over labels of the top that the block would have if the label were where it wants to be.
    wishes: f64,
    count: f64,
}

impl Block {
    fn top(&self) -> f64 {
        self.wishes / self.count
    }
}

/// Returns the centres of labels of these heights, given from above to below the places where they want to be. They are moved as
/// little as possible, stay in their order and between `from` and `to`, and do not cover each other.
pub(super) fn spread(wanted: &[(f64, f64)], from: f64, to: f64) -> Vec<f64> {
    let mut blocks: Vec<Block> = Vec::new();
    for (at, &(centre, height)) in wanted.iter().enumerate() {
        let wishes = centre - height / 2.0;
        blocks.push(Block { first: at, heights: height, wishes, count: 1.0 });
        // Labels that would cover each other become one block, in the middle of their places.
        while let [.., above, below] = &mut blocks[..] {
            if above.top() + above.heights <= below.top() {
                break;
            }
            above.wishes += below.wishes - below.count * above.heights;
            above.heights += below.heights;
            above.count += below.count;
            blocks.pop();
        }
    }
    let mut tops: Vec<f64> = blocks.iter().map(Block::top).collect();
    let mut highest = from;
    for (top, block) in tops.iter_mut().zip(&blocks) {
        *top = top.max(highest);
        highest = *top + block.heights;
    }
    let mut lowest = to;
    for (top, block) in tops.iter_mut().zip(&blocks).rev() {
        *top = top.min(lowest - block.heights);
        lowest = *top;
    }
    let ends = blocks.iter().skip(1).map(|block| block.first).chain([wanted.len()]);
    let mut centres = Vec::with_capacity(wanted.len());
    for ((block, end), mut top) in blocks.iter().zip(ends).zip(tops) {
        for (_, height) in &wanted[block.first..end] {
            centres.push(top + height / 2.0);
            top += height;
        }
    }
    centres
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_cover_each_other() {
        assert_eq!(spread(&[], 0.0, 100.0), [0.0; 0]);
        assert_eq!(spread(&[(10.0, 10.0), (50.0, 10.0)], 0.0, 100.0), [10.0, 50.0]);
        // Two at the same place share it.
        assert_eq!(spread(&[(50.0, 10.0), (50.0, 10.0)], 0.0, 100.0), [45.0, 55.0]);
        // At the edge they are pushed inwards.
        assert_eq!(spread(&[(99.0, 10.0), (100.0, 10.0)], 0.0, 100.0), [85.0, 95.0]);
        assert_eq!(spread(&[(0.0, 10.0), (1.0, 20.0)], 0.0, 100.0), [5.0, 20.0]);
        let many: Vec<(f64, f64)> = (0..7).map(|at| (30.0 + f64::from(at), 18.0)).collect();
        let places = spread(&many, 0.0, 200.0);
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] >= 18.0 - 1e-9), "{places:?}");
    }
}
