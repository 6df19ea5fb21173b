//! From what kernels counted to the judgement of a state.

use dmodc::judge::risk::{Loads, LostBundle, Series};
use dmodc::judge::{Delivery, Forced, Sizes, TableChanges};
use dmodc::{Live, SwitchIndex};

use super::batch::{Counted, counter, result_count};
use super::pool::PreparedState;
use super::request::{DevicePattern, Judgement, PatternLoads, Update};
use super::tables::JudgeTables;

/// What kernels counted for one state.
pub(super) struct StateCounts<'a> {
    pub(super) live: Live<'a>,
    pub(super) tables: &'a JudgeTables,
    pub(super) prepared: &'a PreparedState,
    pub(super) counted: &'a Counted,
    pub(super) state: usize,
}

impl StateCounts<'_> {
    fn counter(&self, place: usize) -> u64 {
        self.counted.counters[self.state * self.counted.counter_count + place]
    }

    /// Returns the judgement; `None` if more pairs are lost than the machine lists, and the host has to find them.
    pub(super) fn judgement(
        &self,
        patterns: &[DevicePattern],
        compares: bool,
        columns: usize,
    ) -> Option<Judgement> {
        let shape = &self.prepared.shape;
        if self.counter(counter::LOST) > u64::from(self.tables.numbers.lost_limit) {
            return None;
        }
        let mut lost = self.lost();
        let all_to_all = shape.all_to_all(self.port_loads(), lost.clone());
        lost.sort_unstable();
        let nodes = shape.nodes().iter().copied();
        let loads = (0..).zip(patterns).map(|(at, one)| self.loads(at, *one, &all_to_all));
        let loads: Vec<PatternLoads> = loads.collect();
        Some(Judgement {
            delivery: Delivery::among(self.live, nodes, all_to_all.undelivered),
            is_valid: Some(self.counter(counter::INVALID) == 0),
            worst: loads.iter().find_map(|loads| loads.worst(shape.ports())),
            patterns: loads,
            update: compares.then(|| self.update(columns)),
            lost: all_to_all.lost.clone(),
            undelivered: shape.named(&lost),
        })
    }

    /// Returns the bundles that do not arrive.
    fn lost(&self) -> Vec<LostBundle> {
        let pairs = self.counted.lost[self.state].as_chunks::<2>().0;
        if pairs.is_empty() {
            return vec![];
        }
        let columns = self.prepared.shape.columns();
        let mut positions = vec![0; self.tables.slot_of_column.len()];
        for (position, &column) in (0..).zip(columns) {
            positions[column as usize] = position;
        }
        let bundle = |&[slot, from]: &[u32; 2]| LostBundle {
            to: positions[self.tables.column_of_slot[slot as usize] as usize],
            from: SwitchIndex::new(from as usize),
        };
        pairs.iter().map(bundle).collect()
    }

    /// Returns the loads of all ports; none if they were not asked for.
    fn port_loads(&self) -> Vec<u64> {
        let states = self.counted.counters.len() / self.counted.counter_count;
        let links = self.counted.link_loads.len() / states;
        if links == 0 {
            return vec![];
        }
        let loads = &self.counted.link_loads[self.state * links..][..links];
        let load = |port| u64::from(loads[self.tables.link(port)]);
        self.prepared.shape.ports().iter().map(load).collect()
    }

    fn loads(&self, at: usize, pattern: DevicePattern, all_to_all: &Loads) -> PatternLoads {
        if pattern == DevicePattern::AllToAll {
            return PatternLoads::Single(all_to_all.clone());
        }
        let count = result_count(pattern, self.prepared.shape.nodes().len());
        let first = self.state * self.counted.result_count + self.counted.first_results[at];
        let results = self.counted.results[2 * first..][..2 * count].as_chunks::<2>().0;
        PatternLoads::Series(Series {
            maxima: results.iter().map(|[max, _]| *max).collect(),
            bounds: results.iter().map(|[_, bound]| *bound).collect(),
            worst_by_port: vec![],
            by_host: vec![],
            undelivered: self.counter(counter::PATTERN_LOST + at),
        })
    }

    /// Returns the changes that these counters have.
    fn changes(&self, places: [usize; 5]) -> TableChanges {
        let [entries, set, unset, blocks, switches] = places.map(|place| self.counter(place));
        TableChanges { entries, set, unset, blocks, switches }
    }

    fn update(&self, columns: usize) -> Update {
        let nodes = self.prepared.shape.nodes().len() as u64;
        let switches = self.prepared.live_switches as u64;
        Update {
            changes: self.changes([
                counter::CHANGED,
                counter::SET,
                counter::UNSET,
                counter::CHANGED_BLOCKS,
                counter::CHANGED_SWITCHES,
            ]),
            live_changes: self.changes([
                counter::LIVE_CHANGED,
                counter::LIVE_SET,
                counter::LIVE_UNSET,
                counter::LIVE_CHANGED_BLOCKS,
                counter::LIVE_CHANGED_SWITCHES,
            ]),
            of: Sizes {
                entries: switches * columns as u64,
                blocks: switches * self.tables.lid_blocks as u64,
                switches,
                pairs: nodes * nodes.saturating_sub(1),
            },
            pairs: self.counter(counter::MOVED_PAIRS),
            forced: Some(Forced {
                entries: self.counter(counter::FORCED),
                blocks: self.counter(counter::FORCED_BLOCKS),
                changed_entries: self.counter(counter::FORCED_CHANGED),
                changed_blocks: self.counter(counter::FORCED_CHANGED_BLOCKS),
            }),
        }
    }
}
