//! The judgement of one state by the judge of the engine, for the few states that no kernel judges: nodes with several LIDs, costs as
//! bytes, very many nodes, or very many lost pairs.

use dmodc::judge::risk::{LostBundle, LostPair, Series, Traffic, TrafficShape};
use dmodc::judge::{Delivery, diff, forced};
use dmodc::{ForwardingTables, Live, Preprocessing, Routing, validity};

use super::request::{DevicePattern, Judgement, PatternLoads, Update, worst_port};

/// A state whose tables are in the memory of the host.
pub(super) struct HostJudge<'a> {
    pub(super) live: Live<'a>,
    pub(super) routing: &'a Routing,
    pub(super) tables: &'a ForwardingTables,
    /// The tables that they are compared with, if they are.
    pub(super) kept: Option<&'a ForwardingTables>,
    /// Whether a change counts only if its destination is alive.
    pub(super) only_live: bool,
}

impl HostJudge<'_> {
    /// Judges the state. `seeds` are those of the patterns.
    pub(super) fn judge(&self, patterns: &[DevicePattern], seeds: &[u64]) -> Judgement {
        let (live, routing) = (self.live, self.routing);
        let ready = routing.preprocess(live);
        let traffic = Traffic::new(live, &ready.ranking, routing.orders(), self.tables);
        let mut all_to_all = traffic.all_to_all();
        all_to_all.destinations.clear();
        let nodes = traffic.nodes().iter().copied();
        let delivery = Delivery::among(live, nodes, all_to_all.undelivered);
        let series = |series| PatternLoads::Series(without_details(series));
        let loads = |(pattern, &seed): (&DevicePattern, &u64)| match *pattern {
            DevicePattern::AllToAll => PatternLoads::Single(all_to_all.clone()),
            DevicePattern::Permutations(count) => series(traffic.permutations(count, seed)),
            DevicePattern::Bisections(count) => series(traffic.bisections(count, seed)),
            DevicePattern::Shifts => series(traffic.shifts(None)),
            DevicePattern::SampledShifts(count) => series(traffic.shifts(Some((count, seed)))),
        };
        let has_all = patterns.contains(&DevicePattern::AllToAll);
        let worst = if has_all { worst_port(traffic.ports(), &all_to_all) } else { None };
        Judgement {
            delivery,
            is_valid: validity(live, &ready, routing.columns()).ok().map(|found| found.is_valid()),
            patterns: patterns.iter().zip(seeds).map(loads).collect(),
            update: self.kept.map(|kept| self.update(&ready, kept)),
            undelivered: self.undelivered(&ready, &traffic, all_to_all.undelivered),
            worst,
            lost: all_to_all.lost,
        }
    }

    fn update(&self, ready: &Preprocessing, kept: &ForwardingTables) -> Update {
        let diff_of = |old, new| diff(self.live, &ready.ranking, old, new);
        let diff = diff_of(kept, self.tables);
        let changes = match self.only_live {
            true => diff_of(kept, &self.living(kept)).changes,
            false => diff.changes,
        };
        Update {
            changes,
            of: diff.of,
            pairs: diff.pairs,
            forced: forced(self.live, ready, kept, self.tables).ok(),
        }
    }

    /// Returns the tables with the kept entries for destinations that are dead.
    fn living(&self, kept: &ForwardingTables) -> ForwardingTables {
        let mut living = self.tables.clone();
        let destinations = self.routing.columns().destinations();
        for ((tile, entries), (_, old)) in living.tiles_mut().into_iter().zip(kept.tiles()) {
            let width = tile.columns.len().max(1);
            let ends = &destinations[tile.columns.clone()];
            let dead = (0..ends.len()).filter(|&at| !ends[at].end.is_alive(self.live));
            for at in dead.collect::<Vec<usize>>() {
                let rows = entries.chunks_exact_mut(width).zip(old.chunks_exact(width));
                rows.for_each(|(row, old)| row[at] = old[at]);
            }
        }
        living
    }

    /// Returns the first pairs that are not delivered, by position.
    fn undelivered(
        &self,
        ready: &Preprocessing,
        traffic: &Traffic<'_>,
        count: u64,
    ) -> Vec<LostPair> {
        if count == 0 {
            return vec![];
        }
        let (live, orders) = (self.live, self.routing.orders());
        let shape = TrafficShape::new(live, &ready.ranking, orders, self.routing.columns());
        let home = |position: u32| live.fabric.node(shape.nodes()[position as usize]).switch;
        // One position of each switch stands for all.
        let mut senders: Vec<Option<u32>> = vec![None; live.fabric.switches().len()];
        for position in (0..shape.nodes().len() as u32).rev() {
            senders[home(position).at()] = Some(position);
        }
        let mut lost = vec![];
        for to in 0..shape.nodes().len() as u32 {
            for from in live.switches() {
                let others = shape.nodes_by_switch()[from.at()] - u32::from(from == home(to));
                if let Some(sender) = senders[from.at()].filter(|_| others > 0)
                    && !traffic.follow(sender, to, |_| ())
                {
                    lost.push(LostBundle { to, from });
                }
            }
            let named = shape.named(&lost);
            if named.len() < lost.len() {
                return named;
            }
        }
        shape.named(&lost)
    }
}

/// Leaves out what a device does not count.
fn without_details(series: Series) -> Series {
    Series { worst_by_port: vec![], by_host: vec![], ..series }
}
