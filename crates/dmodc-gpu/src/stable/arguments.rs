//! What the kernels of `stable` read and write: the structure `StableArguments` of `kernels/stable.cu`.

use crate::arguments::Arguments;
use crate::machine::Address;

/// Where the arrays of the reference are, and those of what states lost. The comments are in `kernels/stable.cu`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReferenceAddresses {
    pub(crate) counts: Address,
    pub(crate) peers: Address,
    pub(crate) dividers: Address,
    pub(crate) firsts: Address,
    pub(crate) ports: Address,
    pub(crate) tables: Address,
    pub(crate) closer_start: Address,
    pub(crate) closer: Address,
    pub(crate) up: Address,
    pub(crate) down: Address,
    pub(crate) uniform: Address,
    pub(crate) is_known: Address,
    pub(crate) sigma: Address,
    pub(crate) first_number: Address,
    pub(crate) piece: Address,
    pub(crate) tile_piece: Address,
    pub(crate) moved: Address,
    pub(crate) harmed: Address,
    pub(crate) kept: Address,
}

/// The arguments of a launch.
pub(crate) struct StableArguments<'a> {
    pub(crate) arguments: &'a Arguments,
    pub(crate) addresses: &'a ReferenceAddresses,
    pub(crate) moved_count: u32,
}

impl StableArguments<'_> {
    /// Returns the arguments as the kernels read them.
    pub(crate) fn words(&self) -> Vec<u64> {
        let a = self.addresses;
        let addresses = [
            a.counts,
            a.peers,
            a.dividers,
            a.firsts,
            a.ports,
            self.arguments.window.whole_tables(a.tables),
            a.closer_start,
            a.closer,
            a.up,
            a.down,
            a.uniform,
            a.is_known,
            a.sigma,
            a.first_number,
            a.piece,
            a.tile_piece,
            a.moved,
            a.harmed,
            a.kept,
        ];
        let mut words = self.arguments.words().to_vec();
        words.extend(addresses.map(|address| address.0));
        words.push(u64::from(self.moved_count));
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{TileWindow, WORDS};

    #[test]
    fn the_words_follow_those_of_all_kernels() {
        let kept = Address(5);
        let addresses = ReferenceAddresses { kept, ..ReferenceAddresses::default() };
        let window = TileWindow { first_tile: 7, ..TileWindow::default() };
        let arguments = Arguments { window, ..Arguments::default() };
        let words =
            StableArguments { arguments: &arguments, addresses: &addresses, moved_count: 9 }
                .words();
        assert_eq!(words.len(), WORDS + 20, "as stable.cu asserts");
        assert_eq!((words[WORDS - 2], words[WORDS]), (7, 0), "the window, and the first address");
        assert_eq!(words[WORDS + 18..], [5, 9]);
    }
}
