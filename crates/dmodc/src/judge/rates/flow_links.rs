//! The links of flows and the flows of links, in two flat arrays.

/// Lists of numbers, one after the other in one array.
#[derive(Clone, Debug, Default)]
pub(super) struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Returns no lists, with room for some.
    pub(super) fn with_capacity(lists: usize, items: usize) -> Self {
        let mut starts = Vec::with_capacity(lists + 1);
        starts.push(0);
        Lists { starts, items: Vec::with_capacity(items) }
    }

    /// Adds a list.
    pub(super) fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        self.items.extend(list);
        self.starts.push(u32::try_from(self.items.len()).expect("fewer than 2^32 links of flows"));
    }

    /// Returns the number of lists.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns a list.
    #[inline]
    pub(super) fn of(&self, list: u32) -> &[u32] {
        let at = list as usize;
        &self.items[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// Returns for each number below `count` the lists that it is in, ascending.
    pub(super) fn turned(&self, count: usize) -> Lists {
        let mut starts = vec![0u32; count + 1];
        for &item in &self.items {
            starts[item as usize + 1] += 1;
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let (mut next, mut items) = (starts.clone(), vec![0; self.items.len()]);
        for list in 0..self.len() as u32 {
            for &item in self.of(list) {
                items[next[item as usize] as usize] = list;
                next[item as usize] += 1;
            }
        }
        Lists { starts, items }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turning_twice_changes_nothing() {
        let mut lists = Lists::with_capacity(3, 6);
        lists.push([2, 5]);
        lists.push([]);
        lists.push([0, 2, 3]);
        let turned = lists.turned(6);
        assert_eq!(
            (0..6).map(|at| turned.of(at)).collect::<Vec<_>>(),
            [&[2][..], &[], &[0, 2], &[2], &[], &[0]]
        );
        let back = turned.turned(3);
        assert!((0..3).all(|at| back.of(at) == lists.of(at)));
    }
}
