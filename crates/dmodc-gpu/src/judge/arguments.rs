//! What a kernel of the judge reads and writes: the structure `JudgeArguments` of `kernels/judge.cu`.

use crate::arguments::{Arguments, WORDS};
use crate::machine::Address;

/// The number of words that follow those of [`Arguments`].
const MORE_WORDS: usize = 22;

/// Where the arrays of the judge are. The comments are in `kernels/judge.cu`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JudgeAddresses {
    pub(super) states: Address,
    pub(super) pool: Address,
    pub(super) slot_place: Address,
    pub(super) slot_block: Address,
    pub(super) column_group: Address,
    pub(super) channels: Address,
    pub(super) kept: Address,
    pub(super) flows: Address,
    pub(super) link_loads: Address,
    pub(super) lost: Address,
    pub(super) counters: Address,
    pub(super) touched: Address,
    pub(super) draws: Address,
    pub(super) results: Address,
    pub(super) scratch: Address,
}

/// The numbers of the judge. The comments are in `kernels/judge.cu`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JudgeNumbers {
    pub(super) shift: u32,
    pub(super) group_columns: u32,
    pub(super) slot_words: u32,
    pub(super) block_words: u32,
    pub(super) lost_limit: u32,
    pub(super) counter_count: u32,
    pub(super) draw: u32,
    pub(super) draw_of: u32,
    pub(super) is_shift: bool,
    pub(super) count: u32,
    pub(super) result_count: u32,
    pub(super) first_result: u32,
    pub(super) pattern: u32,
    pub(super) scratch_words: u32,
}

/// The arguments of a launch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JudgeArguments {
    pub(super) router: Arguments,
    pub(super) addresses: JudgeAddresses,
    pub(super) numbers: JudgeNumbers,
}

impl JudgeArguments {
    /// Returns the arguments as the kernels read them.
    pub(super) fn words(&self) -> [u64; WORDS + MORE_WORDS] {
        let (a, n) = (&self.addresses, &self.numbers);
        let addresses = [
            a.states,
            a.pool,
            a.slot_place,
            a.slot_block,
            a.column_group,
            a.channels,
            a.kept,
            a.flows,
            a.link_loads,
            a.lost,
            a.counters,
            a.touched,
            a.draws,
            a.results,
            a.scratch,
        ];
        let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let numbers = [
            pair(n.shift, n.group_columns),
            pair(n.slot_words, n.block_words),
            pair(n.lost_limit, n.counter_count),
            pair(n.draw, n.draw_of),
            pair(u32::from(n.is_shift), n.count),
            pair(n.result_count, n.first_result),
            pair(n.pattern, n.scratch_words),
        ];
        let mut words = [0; WORDS + MORE_WORDS];
        let more = addresses.into_iter().map(|address| address.0).chain(numbers);
        let all = self.router.words().into_iter().chain(more);
        words.iter_mut().zip(all).for_each(|(word, value)| *word = value);
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_word_is_left_out() {
        let numbers = JudgeNumbers { shift: 3, scratch_words: 9, ..JudgeNumbers::default() };
        let arguments = JudgeArguments { numbers, ..JudgeArguments::default() };
        let words = arguments.words();
        assert_eq!((words[WORDS + 15], words[WORDS + 21]), (3, 9 << 32));
    }
}
