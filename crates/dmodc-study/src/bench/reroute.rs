//! Whole re-routes by a router, with everything that is compared with them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dmodc::fabric::{Part, Shape};
use dmodc::{
    Change, Degradation, Engine, ForwardingTables, RouteError, Router, dividers, parallel, validity,
};
use serde_json::{Value, json};

use super::case::{BenchCase, BenchError};
use super::incremental::Victims;
use super::session::BenchSession;
use super::times::{RowFields, Times, fields, median, memset, ms, repeated, timed};
use crate::engine::EngineName;
use crate::machine;

impl BenchSession<'_> {
    /// Measures a router: whole re-routes, single faults, and many changes at once.
    pub(super) fn router(&self, engine: Arc<dyn Engine>) -> Result<RowFields, BenchError> {
        let start = Instant::now();
        let (fabric, routing) = (self.fabric.clone(), self.routing.clone());
        let mut router = Router::with_engine(engine, fabric, routing, self.degraded.clone())?;
        let first = start.elapsed();
        router.use_kernel(self.settings.kernel);
        // Everything that is measured later runs once before, to find the peak of memory and to warm up.
        let Victims { cables, switches } = self.victims();
        for part in cables.iter().chain(&switches).take(1) {
            router.apply(&[Change::Dies(*part)])?;
            router.apply(&[Change::Recovers(*part)])?;
        }
        router.reroute(&self.degraded)?;
        let peak = self.peak_extra(self.entries());
        let resident = machine::peak();

        let mut limit = self.routing.empty_tables(self.live())?;
        let mut times = Times::default();
        for _ in 0..self.settings.rounds {
            times.memset.push(timed(|| memset(&mut limit)));
            let mut rerouted = Ok(());
            times.reroute.push(timed(|| rerouted = router.reroute(&self.degraded)));
            rerouted?;
        }
        let gain = self.gain(&mut limit, || router.reroute(&self.degraded))?;
        drop(limit);
        let compared = self.compared_with_dmodc(&mut router, &cables)?;
        let against = self.compared_with_pgft(&mut router)?;
        let reroute = median(&times.reroute);
        let cable = self.apply_each(&mut router, &cables)?;
        let switch = self.apply_each(&mut router, &switches)?;

        let mut row = times.fields();
        row.append(&mut fields(json!({
            "first_ms": ms(first),
            "apply_cable_ms": cable.map(ms),
            "apply_cable_ratio": cable.map(|t| t.as_secs_f64() / reroute.as_secs_f64()),
            "apply_switch_ms": switch.map(ms),
            "apply_switch_ratio": switch.map(|t| t.as_secs_f64() / reroute.as_secs_f64()),
            "peak_extra_bytes": peak,
            "peak_bytes": resident,
        })));
        row.append(&mut self.split(reroute)?);
        row.append(&mut compared.map_or_else(RowFields::new, fields));
        row.append(&mut against.map_or_else(RowFields::new, fields));
        row.append(&mut gain.map_or_else(RowFields::new, fields));
        row.append(&mut self.check_tables(router.tables()));
        if self.settings.rewrite {
            row.append(&mut self.rewrite_each(&mut router, &cables, "cable")?);
            row.append(&mut self.rewrite_each(&mut router, &switches, "switch")?);
        }
        if let Some(changes) = self.settings.changes {
            row.append(&mut self.many_changes(&mut router, changes)?);
        }
        Ok(row)
    }

    /// Compares Stable Dmodc with Dmodc: whole re-routes in turns, and single faults. Returns `None` for other
    /// algorithms.
    fn compared_with_dmodc(
        &self,
        router: &mut Router,
        cables: &[Part],
    ) -> Result<Option<Value>, RouteError> {
        if self.settings.engine != EngineName::Stable {
            return Ok(None);
        }
        let (fabric, routing) = (self.fabric.clone(), self.routing.clone());
        let mut plain = Router::new(fabric, routing, self.degraded.clone())?;
        plain.use_kernel(self.settings.kernel);
        let turns = [(&mut *router, &self.degraded), (&mut plain, &self.degraded)];
        let [ours, theirs] = self.in_turns(turns)?;
        let over = |a: Duration, b: Duration| a.as_secs_f64() / b.as_secs_f64();
        let applied = [self.apply_each(router, cables)?, self.apply_each(&mut plain, cables)?];
        let applied = applied[0].zip(applied[1]).map(|(ours, theirs)| over(ours, theirs));
        Ok(Some(json!({
            "dmodc_ms": ms(theirs),
            "over_dmodc": over(ours, theirs),
            "apply_cable_over_dmodc": applied,
        })))
    }

    /// Compares the fabric with a PGFT that has the same share of faults: whole re-routes by the same engine, in turns. Returns
    /// `None` if nobody asked for it.
    fn compared_with_pgft(&self, router: &mut Router) -> Result<Option<Value>, BenchError> {
        let Some(pgft) = &self.settings.against else { return Ok(None) };
        let shape = Shape::Pgft(pgft.clone());
        let case = BenchCase { name: pgft.to_string(), shape, ..self.case.clone() };
        let session = BenchSession::new(&case, self.settings)?;
        let (fabric, routing) = (session.fabric.clone(), session.routing.clone());
        let faults = session.degraded.clone();
        let mut other = Router::with_engine(session.engine()?, fabric, routing, faults)?;
        other.use_kernel(self.settings.kernel);
        let turns = [(router, &self.degraded), (&mut other, &session.degraded)];
        let [ours, theirs] = self.in_turns(turns)?;
        Ok(Some(json!({
            "against": pgft.to_string(),
            "against_nodes": session.fabric.nodes().len(),
            "against_switches": session.fabric.switches().len(),
            "against_ms": ms(theirs),
            "over_against": ours.as_secs_f64() / theirs.as_secs_f64(),
        })))
    }

    /// Re-routes two fabrics in turns, each under its faults. Returns the median time of each.
    fn in_turns(
        &self,
        mut routers: [(&mut Router, &Degradation); 2],
    ) -> Result<[Duration; 2], RouteError> {
        let mut times = [vec![], vec![]];
        for _ in 0..self.settings.rounds {
            for ((router, faults), times) in routers.iter_mut().zip(&mut times) {
                let mut rerouted = Ok(());
                times.push(timed(|| rerouted = router.reroute(faults)));
                rerouted?;
            }
        }
        Ok(times.map(|times| median(&times)))
    }

    /// Splits the time of a re-route into stages that can be run alone, and the rest.
    fn split(&self, reroute: Duration) -> Result<RowFields, RouteError> {
        let live = self.live();
        let rounds = self.settings.rounds;
        let preprocess = repeated(rounds, || drop(self.routing.preprocess(live)));
        let ready = self.routing.preprocess(live);
        let divide = repeated(rounds, || drop(dividers(&ready.groups, &ready.ranking)));
        let mut valid = Ok(Default::default());
        let cost = repeated(rounds, || valid = validity(live, &ready, self.routing.columns()));
        valid?;
        let preprocess = preprocess.saturating_sub(divide);
        let route = reroute.saturating_sub(preprocess + divide + cost);
        Ok(fields(json!({
            "preprocess_ms": ms(preprocess),
            "divider_ms": ms(divide),
            "cost_ms": ms(cost),
            "route_ms": ms(route),
        })))
    }

    /// Measures how many times faster all threads are than one, for re-routes and for `memset`. Returns `None` if there
    /// is only one thread.
    fn gain(
        &self,
        limit: &mut ForwardingTables,
        mut reroute: impl FnMut() -> Result<(), RouteError> + Send,
    ) -> Result<Option<Value>, RouteError> {
        if parallel::threads() == 1 {
            return Ok(None);
        }
        let Ok(alone) = rayon::ThreadPoolBuilder::new().num_threads(1).build() else {
            return Ok(None);
        };
        let (mut one, mut all) = (Times::default(), Times::default());
        for _ in 0..self.settings.rounds {
            let mut rerouted = [Ok(()), Ok(())];
            one.memset.push(alone.install(|| timed(|| memset(limit))));
            one.reroute.push(alone.install(|| timed(|| rerouted[0] = reroute())));
            all.memset.push(timed(|| memset(limit)));
            all.reroute.push(timed(|| rerouted[1] = reroute()));
            for each in rerouted {
                each?;
            }
        }
        let ratio = |one: &[Duration], all: &[Duration]| {
            median(one).as_secs_f64() / median(all).as_secs_f64()
        };
        let (reroute, memset) =
            (ratio(&one.reroute, &all.reroute), ratio(&one.memset, &all.memset));
        Ok(Some(json!({
            "reroute_ms_1_thread": ms(median(&one.reroute)),
            "memset_ms_1_thread": ms(median(&one.memset)),
            "thread_gain": reroute,
            "memset_gain": memset,
            "gain_ratio": reroute / memset,
        })))
    }
}
