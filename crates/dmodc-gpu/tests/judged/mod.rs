//! What the judge of the engine says, put together anew from its parts.

use dmodc::judge::risk::{LostPair, Series, Traffic};
use dmodc::judge::{Delivery, TableChanges, diff, forced};
use dmodc::{ForwardingTables, Live, Preprocessing, Routing, validity};
use dmodc_gpu::{DevicePattern, Judgement, PatternLoads, Update};

/// What is judged: a state and its tables.
pub(crate) struct State<'a> {
    pub(crate) live: Live<'a>,
    pub(crate) routing: &'a Routing,
    pub(crate) tables: &'a ForwardingTables,
    pub(crate) kept: Option<&'a ForwardingTables>,
}

impl State<'_> {
    /// Returns the judgement of the engine's judge, without what a device does not count.
    pub(crate) fn expected(&self, patterns: &[DevicePattern], seeds: &[u64]) -> Judgement {
        let ready = self.routing.preprocess(self.live);
        let traffic = Traffic::new(self.live, &ready.ranking, self.routing.orders(), self.tables);
        let mut all_to_all = traffic.all_to_all();
        all_to_all.destinations.clear();
        let series = |series: Series| {
            PatternLoads::Series(Series { worst_by_port: vec![], by_host: vec![], ..series })
        };
        let loads = |(pattern, &seed): (&DevicePattern, &u64)| match *pattern {
            DevicePattern::AllToAll => PatternLoads::Single(all_to_all.clone()),
            DevicePattern::Permutations(count) => series(traffic.permutations(count, seed)),
            DevicePattern::Bisections(count) => series(traffic.bisections(count, seed)),
            DevicePattern::Shifts => series(traffic.shifts(None)),
            DevicePattern::SampledShifts(count) => series(traffic.shifts(Some((count, seed)))),
        };
        let nodes = traffic.nodes().iter().copied();
        let valid = validity(self.live, &ready, self.routing.columns());
        let most = traffic.ports().iter().zip(&all_to_all.by_port);
        let most = most.rev().max_by_key(|(_, load)| **load).filter(|(_, load)| **load > 0);
        Judgement {
            worst: most.map(|(port, _)| *port),
            delivery: Delivery::among(self.live, nodes, all_to_all.undelivered),
            is_valid: valid.ok().map(|found| found.is_valid()),
            patterns: patterns.iter().zip(seeds).map(loads).collect(),
            update: self.kept.map(|kept| self.update(&ready, kept)),
            undelivered: self.undelivered(&traffic, all_to_all.undelivered),
            lost: all_to_all.lost.clone(),
        }
    }

    fn update(&self, ready: &Preprocessing, kept: &ForwardingTables) -> Update {
        let diff = diff(self.live, &ready.ranking, kept, self.tables);
        Update {
            changes: diff.changes,
            live_changes: self.live_changes(kept),
            of: diff.of,
            pairs: diff.pairs,
            forced: forced(self.live, ready, kept, self.tables).ok(),
        }
    }

    /// Compares tables whose entries for dead destinations are the same.
    fn live_changes(&self, kept: &ForwardingTables) -> TableChanges {
        let ranking = self.routing.ranking(self.live);
        let mut without_dead = kept.clone();
        for (column, d) in kept.columns().destinations().iter().enumerate() {
            for s in self.live.fabric.switch_indices().filter(|_| !d.end.is_alive(self.live)) {
                without_dead.set(s, column, self.tables.port(s, column));
            }
        }
        diff(self.live, &ranking, &without_dead, self.tables).changes
    }

    /// Follows every pair of nodes.
    fn undelivered(&self, traffic: &Traffic<'_>, count: u64) -> Vec<LostPair> {
        if count == 0 {
            return vec![];
        }
        let mut lost = vec![];
        for (to, &node) in traffic.nodes().iter().enumerate() {
            let fails =
                |from: &usize| *from != to && !traffic.follow(*from as u32, to as u32, |_| ());
            let home = |from: usize| self.live.fabric.node(traffic.nodes()[from]).switch;
            let mut switches: Vec<_> = (0..traffic.nodes().len()).filter(fails).map(home).collect();
            switches.sort_unstable();
            switches.dedup();
            lost.extend(switches.into_iter().map(|from| LostPair { from, to: node }));
        }
        lost.truncate(8);
        lost
    }
}
