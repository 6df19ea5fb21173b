//! Whether the measured tables are right: they are compared with those of the naive oracle.
//!
//! Tables of Dmodc are compared as a whole, by [digest](dmodc::Digest). The oracle of Stable Dmodc is a thousand times
//! slower than the engine. So on large fabrics it computes only the columns of some destination switches: a seeded draw,
//! each column for all switches, compared entry by entry.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use dmodc::oracle::stable::{self, StableOracle, States};
use dmodc::oracle::updown;
use dmodc::{Degradation, Digest, ForwardingTables, Live, NO_ROUTE, Random, SwitchIndex, parallel};
use serde_json::json;

use super::session::BenchSession;
use super::times::{RowFields, fields};
use crate::engine::EngineName;

/// The oracle of Stable Dmodc computes at most about this number of entries, which takes seconds.
const NAIVE_ENTRIES: usize = 400_000;

/// The oracle computes the columns of at least this number of destination switches.
const LEAST: usize = 4;

impl BenchSession<'_> {
    /// Compares tables with those of the oracle.
    pub(super) fn check_tables(&self, tables: &ForwardingTables) -> RowFields {
        if self.settings.engine != EngineName::Stable || !self.settings.check {
            return self.checked(tables.digest());
        }
        let columns = self.routing.columns();
        let all = columns.switches().len();
        let per_switch = (self.entries() / all.max(1)).max(1);
        match (NAIVE_ENTRIES / per_switch).max(LEAST) {
            count if count >= all => self.checked(tables.digest()),
            count => self.sampled(tables, count),
        }
    }

    /// Compares a digest with that of the oracle.
    pub(super) fn checked(&self, digest: Digest) -> RowFields {
        let (orders, columns) = (self.routing.orders(), self.routing.columns());
        let oracle = match self.settings.engine {
            _ if !self.settings.check => None,
            EngineName::Stable => {
                Some(self.with_states(|pair| stable::digest(pair, orders, columns)))
            }
            EngineName::Dmodc | EngineName::Dmodk => {
                let ranking = self.routing.ranking(self.live());
                Some(updown::digest(self.live(), ranking.leaves(), orders, columns))
            }
            EngineName::Paper => {
                let ranking = self.routing.ranking(self.live());
                Some(updown::paper_digest(self.live(), ranking.leaves(), orders, columns))
            }
            // Nobody knows what the others should give.
            _ => None,
        };
        fields(json!({
            "digest": digest.to_string(),
            "reference_digest": oracle.map(|d| d.to_string()),
            "digest_ok": oracle.map(|oracle| oracle == digest),
            "checked_entries": if oracle.is_some() { self.entries() } else { 0 },
        }))
    }

    /// Compares the columns of this number of destination switches.
    fn sampled(&self, tables: &ForwardingTables, count: usize) -> RowFields {
        let columns = self.routing.columns();
        let all = columns.switches().len();
        let mut drawn: Vec<usize> = Random::new(self.case.seed, 3).sample(all, count);
        drawn.sort_unstable();
        let done = AtomicUsize::new(0);
        let compare = |naive: &StableOracle<'_>, at: usize| {
            let entries = naive.entries(columns, at..at + 1);
            let own = columns.of_switch(at);
            let row = |s: usize| &entries[s * own.len()..][..own.len()];
            let is_same = (0..self.fabric.switches().len()).all(|s| {
                let ports = own.clone().map(|column| tables.port(SwitchIndex::new(s), column));
                ports.map(|port| port.map_or(NO_ROUTE, |port| port.0)).eq(row(s).iter().copied())
            });
            (self.settings.on_checked)(done.fetch_add(1, Relaxed) + 1, count);
            (is_same, entries.len())
        };
        let right = self.with_states(|pair| {
            let naive = StableOracle::new(pair, self.routing.orders());
            let compared = parallel::map(drawn, |at| compare(&naive, at));
            compared.into_iter().fold((true, 0), |a, b| (a.0 && b.0, a.1 + b.1))
        });
        fields(json!({
            "digest": tables.digest().to_string(),
            "reference_digest": null,
            "digest_ok": right.0,
            "checked_entries": right.1,
            "checked_destination_switches": count,
        }))
    }

    /// Runs the oracle with the healthy fabric as the reference of the degraded one.
    fn with_states<T>(&self, run: impl FnOnce(States<'_>) -> T) -> T {
        let healthy = Degradation::none(&self.fabric);
        let (then, now) = (Live::new(&self.fabric, &healthy), self.live());
        let (whole, present) = (self.routing.ranking(then), self.routing.ranking(now));
        run(States { then: (then, whole.leaves()), now: (now, present.leaves()) })
    }
}
