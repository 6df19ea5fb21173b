//! The launches that judge a batch, and what they count.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::arguments::JudgeArguments;
use super::draws::{DrawKind, DrawPlaces, PatternDraws, draw};
use super::memory::{JudgeMemory, StateBytes};
use super::pool::{Pool, PreparedState};
use super::request::{DevicePattern, JudgeRequest};
use super::tables::JudgeTables;
use crate::error::GpuError;
use crate::kernels::KernelName;
use crate::machine::{Address, LaunchSize, Machine};
use crate::router::GpuRouter;

/// Places of counters: see `kernels/judge.cu`.
pub(super) mod counter {
    pub(in super::super) const LOST: usize = 1;
    pub(in super::super) const CHANGED: usize = 2;
    pub(in super::super) const SET: usize = 3;
    pub(in super::super) const UNSET: usize = 4;
    pub(in super::super) const CHANGED_BLOCKS: usize = 5;
    pub(in super::super) const CHANGED_SWITCHES: usize = 6;
    pub(in super::super) const FORCED: usize = 7;
    pub(in super::super) const FORCED_BLOCKS: usize = 8;
    pub(in super::super) const FORCED_CHANGED: usize = 9;
    pub(in super::super) const FORCED_CHANGED_BLOCKS: usize = 10;
    pub(in super::super) const INVALID: usize = 11;
    pub(in super::super) const MOVED_PAIRS: usize = 12;
    pub(in super::super) const LIVE_CHANGED: usize = 13;
    pub(in super::super) const LIVE_SET: usize = 14;
    pub(in super::super) const LIVE_UNSET: usize = 15;
    pub(in super::super) const LIVE_CHANGED_BLOCKS: usize = 16;
    pub(in super::super) const LIVE_CHANGED_SWITCHES: usize = 17;
    pub(in super::super) const PATTERN_LOST: usize = 18;
}

/// The threads of a block.
const THREADS: u32 = 256;
const WARPS: u32 = THREADS / 32;
const SWEEP_THREADS: u32 = 512;
const SHUFFLE_THREADS: u32 = 128;

/// The words of a pattern before its loads.
const PATTERN_WORDS: usize = 4;

/// The most blocks that count patterns of one state if loads are not in shared memory.
const SCRATCH_BLOCKS: usize = 32;

/// What kernels counted for all states.
pub(super) struct Counted {
    pub(super) counter_count: usize,
    pub(super) counters: Vec<u64>,
    /// The loads of each link; empty if nobody asked.
    pub(super) link_loads: Vec<u32>,
    /// The slots and switches of bundles that do not arrive, by state.
    pub(super) lost: Vec<Vec<u32>>,
    pub(super) result_count: usize,
    /// The greatest load and the lower bound of each permutation.
    pub(super) results: Vec<u32>,
    /// Where the results of each pattern start.
    pub(super) first_results: Vec<usize>,
}

/// A batch on its way through the kernels.
pub(super) struct Batch<'a> {
    pub(super) router: &'a GpuRouter,
    pub(super) tables: &'a JudgeTables,
    pub(super) memory: &'a mut JudgeMemory,
    pub(super) states: &'a [PreparedState],
    /// Where the kept tables are, if they are compared.
    pub(super) kept: Option<Address>,
    /// The time of each kernel, if they are measured.
    pub(super) times: Option<RefCell<Vec<KernelTime>>>,
}

/// How long a kernel ran for a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelTime {
    /// The kernel.
    pub kernel: KernelName,
    /// The time from its start to its end.
    pub time: Duration,
}

impl Batch<'_> {
    /// Judges all states that are not skipped.
    pub(super) fn count(&mut self, request: &JudgeRequest<'_>) -> Result<Counted, GpuError> {
        let mut pool = Pool::default();
        pool.add_states(self.states, self.tables);
        let mut draws_end = 0;
        let draws: Vec<PatternDraws> = (0..request.patterns.len())
            .map(|pattern| self.draws(request, pattern, &mut draws_end))
            .collect();
        let places: Vec<DrawPlaces> = draws.iter().map(|draws| draws.store(&mut pool)).collect();
        let mut arguments = self.start(pool, request.patterns)?;
        arguments.addresses.draws =
            self.memory.draws.reserve(self.router.machine(), 2 * draws_end)?;
        self.launch_all(&arguments, request)?;
        let mut first_results = vec![];
        let mut first = 0;
        for (pattern, draws) in draws.iter().enumerate() {
            first_results.push(first);
            let numbers = &mut arguments.numbers;
            (numbers.draw, numbers.draw_of) = (places[pattern].draw, places[pattern].draw_of);
            (numbers.pattern, numbers.first_result) = (pattern as u32, first as u32);
            self.draw(&arguments, draws)?;
            first += self.launch_pattern(arguments, request.patterns[pattern])?;
        }
        self.read(&arguments, request, first_results)
    }

    /// Returns the greatest number of nodes of a state.
    fn most_nodes(&self) -> usize {
        self.states.iter().map(|state| state.shape.nodes().len()).max().unwrap_or(0)
    }

    fn machine(&self) -> &Arc<dyn Machine> {
        self.router.machine()
    }

    /// Returns what a pattern draws for each state.
    fn draws(&self, request: &JudgeRequest<'_>, pattern: usize, end: &mut usize) -> PatternDraws {
        let (kind, count) = match request.patterns[pattern] {
            DevicePattern::Permutations(count) => (DrawKind::Permutations, count),
            DevicePattern::Bisections(count) => (DrawKind::Bisections, count),
            // A state with fewer nodes than others may have fewer shifts. Its last ones are by 0, and their results are not used.
            sampled @ DevicePattern::SampledShifts(_) => {
                (DrawKind::Shifts, result_count(sampled, self.most_nodes()))
            }
            DevicePattern::AllToAll | DevicePattern::Shifts => return PatternDraws::default(),
        };
        let mut draws = PatternDraws::default();
        for (state, seeds) in self.states.iter().zip(request.seeds) {
            let nodes = state.shape.nodes().len();
            draws.add(draw(kind, count, seeds[pattern], nodes), end);
        }
        draws
    }

    /// Makes room, and sends the pool.
    fn start(
        &mut self,
        pool: Pool,
        patterns: &[DevicePattern],
    ) -> Result<JudgeArguments, GpuError> {
        let (machine, states) = (self.router.machine(), self.states.len());
        let bytes = StateBytes::new(self.router.device(), self.tables);
        let nodes = self.most_nodes();
        let results: usize = patterns.iter().map(|pattern| result_count(*pattern, nodes)).sum();
        let mut arguments = JudgeArguments {
            router: self.router.arguments(false),
            addresses: self.tables.addresses,
            numbers: self.tables.numbers,
        };
        arguments.numbers.counter_count = (counter::PATTERN_LOST + patterns.len()) as u32;
        arguments.numbers.result_count = results as u32;
        let counters = 8 * arguments.numbers.counter_count as usize;
        let (memory, to) = (&mut *self.memory, &mut arguments.addresses);
        to.channels = memory.channels.reserve(machine, states * bytes.channels)?;
        to.flows = memory.flows.reserve(machine, states * bytes.flows)?;
        to.link_loads = memory.link_loads.reserve(machine, states * bytes.link_loads)?;
        to.lost = memory.lost.reserve(machine, states * bytes.lost)?;
        to.counters = memory.counters.reserve(machine, states * counters)?;
        to.touched = memory.touched.reserve(machine, states * bytes.touched)?;
        to.results = memory.results.reserve(machine, 8 * states * results)?;
        to.kept = self.kept.unwrap_or_default();
        let (descriptions, words) = pool.bytes();
        to.states = memory.states.reserve(machine, descriptions.len())?;
        to.pool = memory.pool.reserve(machine, words.len())?;
        machine.write(to.states, &descriptions)?;
        machine.write(to.pool, &words)?;
        machine.fill(to.channels, u8::MAX, states * bytes.channels)?;
        machine.fill(to.counters, 0, states * counters)?;
        if self.kept.is_some() {
            machine.fill(to.touched, 0, states * bytes.touched)?;
        }
        Ok(arguments)
    }

    /// Starts everything that does not depend on a pattern.
    fn launch_all(
        &self,
        arguments: &JudgeArguments,
        request: &JudgeRequest<'_>,
    ) -> Result<(), GpuError> {
        let sizes = &arguments.router.sizes;
        let (switches, groups) = (sizes.switches, self.tables.groups);
        let sweep_bytes = self.tables.sweep_bytes(switches as usize);
        // As `update_view` of update.cu: the group of each port, and four sets of blocks of LIDs.
        let update_bytes =
            self.router.closer_shared_bytes() + 2 * 256 + 4 * 4 * arguments.numbers.block_words;
        let sweep = Threads { count: SWEEP_THREADS, shared_bytes: sweep_bytes as u32 };
        let plain = Threads { count: THREADS, shared_bytes: 0 };
        let by_entry = Threads { count: THREADS, shared_bytes: 256 * 4 };
        let update = Threads { count: THREADS, shared_bytes: update_bytes };
        self.launch(KernelName::Channels, switches.div_ceil(WARPS), plain, arguments)?;
        self.launch(KernelName::Update, switches, update, arguments)?;
        if self.kept.is_some() {
            self.launch(KernelName::Moved, groups, sweep, arguments)?;
        }
        self.launch(KernelName::Subtrees, groups, sweep, arguments)?;
        if request.patterns.contains(&DevicePattern::AllToAll) {
            self.launch(KernelName::LinkLoads, switches, by_entry, arguments)?;
        }
        Ok(())
    }

    /// Draws the permutations of a pattern.
    fn draw(&self, arguments: &JudgeArguments, draws: &PatternDraws) -> Result<(), GpuError> {
        let Some(first) = draws.draws.first() else { return Ok(()) };
        let most = draws.draws.iter().map(|draw| draw.nodes).max().unwrap_or(0);
        let shared_bytes = 4 * (most + 1);
        // Shifts are few and not shuffled.
        if shared_bytes > self.tables.limits.shared_bytes || first.kind == DrawKind::Shifts {
            for draw in &draws.draws {
                let to = arguments.addresses.draws.plus(draw.first_byte());
                self.machine().write(to, &draw.on_host())?;
            }
            return Ok(());
        }
        let blocks = [first.count as u32, draws.draws.len() as u32, 1];
        let threads = Threads { count: SHUFFLE_THREADS, shared_bytes: shared_bytes as u32 };
        self.launch_blocks(KernelName::Shuffle, blocks, threads, arguments)
    }

    /// Counts the permutations of a pattern. Returns how many results each state has.
    fn launch_pattern(
        &mut self,
        mut arguments: JudgeArguments,
        pattern: DevicePattern,
    ) -> Result<usize, GpuError> {
        let nodes = self.most_nodes();
        let count = result_count(pattern, nodes);
        if count == 0 {
            return Ok(0);
        }
        arguments.numbers.is_shift = pattern == DevicePattern::Shifts;
        arguments.numbers.count = count as u32;
        let cuts = self.states.iter().map(|state| state.shape.cuts().len()).max().unwrap_or(0);
        let words = arguments.router.sizes.links.div_ceil(2) as usize + cuts;
        let shared_bytes = 4 * (PATTERN_WORDS + words);
        if shared_bytes <= self.tables.limits.shared_bytes {
            // Few blocks fit if they share much, so they have more threads.
            let threads = match shared_bytes {
                0..0x7000 => 256,
                0x7000..0xe000 => 512,
                _ => 1024,
            };
            let threads = Threads { count: threads, shared_bytes: shared_bytes as u32 };
            self.launch(KernelName::PatternLoads, count as u32, threads, &arguments)?;
            return Ok(count);
        }
        let blocks = count.min(SCRATCH_BLOCKS);
        arguments.numbers.scratch_words = words as u32;
        let bytes = 4 * words * blocks * self.states.len();
        arguments.addresses.scratch = self.memory.scratch.reserve(self.router.machine(), bytes)?;
        let threads = Threads { count: 1024, shared_bytes: 4 * PATTERN_WORDS as u32 };
        self.launch(KernelName::PatternLoads, blocks as u32, threads, &arguments)?;
        Ok(count)
    }

    /// Starts a kernel for all states.
    fn launch(
        &self,
        kernel: KernelName,
        blocks: u32,
        threads: Threads,
        arguments: &JudgeArguments,
    ) -> Result<(), GpuError> {
        self.launch_blocks(kernel, [blocks, 1, self.states.len() as u32], threads, arguments)
    }

    fn launch_blocks(
        &self,
        kernel: KernelName,
        blocks: [u32; 3],
        threads: Threads,
        arguments: &JudgeArguments,
    ) -> Result<(), GpuError> {
        if blocks.contains(&0) {
            return Ok(());
        }
        let size =
            LaunchSize { blocks, threads: threads.count, shared_bytes: threads.shared_bytes };
        let Some(times) = &self.times else {
            return self.machine().launch(kernel, size, &arguments.words());
        };
        self.machine().wait()?;
        let start = Instant::now();
        self.machine().launch(kernel, size, &arguments.words())?;
        self.machine().wait()?;
        times.borrow_mut().push(KernelTime { kernel, time: start.elapsed() });
        Ok(())
    }

    /// Reads everything that was counted.
    fn read(
        &self,
        arguments: &JudgeArguments,
        request: &JudgeRequest<'_>,
        first_results: Vec<usize>,
    ) -> Result<Counted, GpuError> {
        let (states, numbers) = (self.states.len(), &arguments.numbers);
        let counter_count = numbers.counter_count as usize;
        let counters = self.memory.counters.read_u64s(states * counter_count)?;
        let mut lost = vec![];
        for state in 0..states {
            let count = counters[state * counter_count + counter::LOST] as usize;
            let count = if count > numbers.lost_limit as usize { 0 } else { count };
            let from = state * numbers.lost_limit as usize * 8;
            let mut bytes = vec![0; 8 * count];
            if count > 0 {
                self.machine().read(arguments.addresses.lost.plus(from), &mut bytes)?;
            }
            let words = bytes.as_chunks::<4>().0.iter();
            lost.push(words.map(|word| u32::from_le_bytes(*word)).collect());
        }
        let has_loads = request.patterns.contains(&DevicePattern::AllToAll);
        let links = if has_loads { arguments.router.sizes.links as usize } else { 0 };
        let result_count = numbers.result_count as usize;
        Ok(Counted {
            counter_count,
            counters,
            link_loads: self.memory.link_loads.read_u32s(states * links)?,
            lost,
            result_count,
            results: self.memory.results.read_u32s(2 * states * result_count)?,
            first_results,
        })
    }
}

/// The threads of a block, and what they share.
#[derive(Clone, Copy)]
struct Threads {
    count: u32,
    shared_bytes: u32,
}

/// Returns how many results a pattern has among this number of nodes.
pub(super) fn result_count(pattern: DevicePattern, nodes: usize) -> usize {
    match pattern {
        DevicePattern::AllToAll => 0,
        DevicePattern::Permutations(count) | DevicePattern::Bisections(count) => count,
        DevicePattern::SampledShifts(count) => count.min(nodes.saturating_sub(1)),
        DevicePattern::Shifts => nodes.saturating_sub(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::defined;

    #[test]
    fn kernels_have_the_same_counters() {
        for (name, place) in [
            ("LOST", counter::LOST),
            ("CHANGED", counter::CHANGED),
            ("SET", counter::SET),
            ("UNSET", counter::UNSET),
            ("CHANGED_BLOCKS", counter::CHANGED_BLOCKS),
            ("CHANGED_SWITCHES", counter::CHANGED_SWITCHES),
            ("FORCED", counter::FORCED),
            ("FORCED_BLOCKS", counter::FORCED_BLOCKS),
            ("FORCED_CHANGED", counter::FORCED_CHANGED),
            ("FORCED_CHANGED_BLOCKS", counter::FORCED_CHANGED_BLOCKS),
            ("INVALID", counter::INVALID),
            ("MOVED_PAIRS", counter::MOVED_PAIRS),
            ("LIVE_CHANGED", counter::LIVE_CHANGED),
            ("LIVE_SET", counter::LIVE_SET),
            ("LIVE_UNSET", counter::LIVE_UNSET),
            ("LIVE_CHANGED_BLOCKS", counter::LIVE_CHANGED_BLOCKS),
            ("LIVE_CHANGED_SWITCHES", counter::LIVE_CHANGED_SWITCHES),
            ("PATTERN_LOST", counter::PATTERN_LOST),
        ] {
            assert_eq!(defined(name), place as u64, "{name}");
        }
    }
}
