//! The judgement of one state by the judge of the engine, for the few states that no kernel judges: nodes with several LIDs, very many
//! nodes, or very many lost pairs. Where costs are bytes, only what follows from costs is found here.

use std::collections::BTreeSet;

use dmodc::judge::risk::{LostBundle, LostPair, Series, Traffic, TrafficShape};
use dmodc::judge::{Blocks, Delivery, TableChanges, diff, forced};
use dmodc::{ForwardingTables, Live, Preprocessing, Routing, validity};

use super::request::{DevicePattern, Judgement, PatternLoads, Update};

/// A state whose tables are in the memory of the host.
pub(super) struct HostJudge<'a> {
    pub(super) live: Live<'a>,
    pub(super) routing: &'a Routing,
    pub(super) tables: &'a ForwardingTables,
    /// The tables that they are compared with, if they are.
    pub(super) kept: Option<&'a ForwardingTables>,
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
        let loads: Vec<PatternLoads> = patterns.iter().zip(seeds).map(loads).collect();
        Judgement {
            delivery,
            worst: loads.iter().find_map(|loads| loads.worst(traffic.ports())),
            is_valid: self.is_valid(&ready),
            patterns: loads,
            update: self.kept.map(|kept| self.update(&ready, kept)),
            undelivered: self.undelivered(&ready, &traffic, all_to_all.undelivered),
            lost: all_to_all.lost,
        }
    }

    /// Adds to a judgement what follows from costs.
    pub(super) fn complete(&self, judgement: Judgement) -> Judgement {
        let ready = self.routing.preprocess(self.live);
        let complete = |update: Update| {
            let kept = self.kept.expect("an update is one of the kept tables");
            Update { forced: forced(self.live, &ready, kept, self.tables).ok(), ..update }
        };
        Judgement {
            is_valid: self.is_valid(&ready),
            update: judgement.update.map(complete),
            ..judgement
        }
    }

    fn is_valid(&self, ready: &Preprocessing) -> Option<bool> {
        let found = validity(self.live, ready, self.routing.columns());
        found.ok().map(|found| found.is_valid())
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

    /// Returns the changes on live switches for destinations that are alive.
    fn live_changes(&self, kept: &ForwardingTables) -> TableChanges {
        let (columns, blocks) = (kept.columns(), Blocks::new(kept.columns()));
        let mut changes = TableChanges::default();
        for s in self.live.switches() {
            let mut sent = BTreeSet::new();
            for (column, d) in columns.destinations().iter().enumerate() {
                let (old, new) = (kept.port(s, column), self.tables.port(s, column));
                if old != new && d.end.is_alive(self.live) {
                    changes.entries += 1;
                    changes.set += u64::from(old.is_none());
                    changes.unset += u64::from(new.is_none());
                    sent.insert(blocks.of_column[column]);
                }
            }
            changes.blocks += sent.len() as u64;
            changes.switches += u64::from(!sent.is_empty());
        }
        changes
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
