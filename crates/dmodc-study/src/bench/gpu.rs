//! Whole re-routes on a GPU, compared with filling the same memory of the device.
//!
//! A re-route starts with the faults on the host and ends when all tables are in the memory of the device. The tables are compared
//! with those of the engine on the processor, by digest.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use dmodc::{Digest, Dmodc, Engine, RouteError};
use dmodc_gpu::{GpuError, GpuRouter, Machine};
use serde_json::json;

use super::case::BenchError;
use super::session::BenchSession;
use super::times::{RowFields, Times, fields, ms, timed};
use crate::engine::EngineName;

/// What the tables are filled with; no re-route leaves it there.
const FILLING: u8 = 7;

impl BenchSession<'_> {
    /// Measures re-routes on a GPU. Returns the fields of the row.
    pub(super) fn on_gpu(&self, machine: &Arc<dyn Machine>) -> Result<RowFields, BenchError> {
        if self.settings.engine != EngineName::Dmodc || self.settings.stream {
            return Err(BenchError::NotOnGpu(self.settings.name()));
        }
        let start = Instant::now();
        let (fabric, routing) = (self.fabric.clone(), self.routing.clone());
        let mut router = GpuRouter::new(machine.clone(), fabric, routing, 1)?;
        let states = std::slice::from_ref(&self.degraded);
        router.route(states)?;
        let first = start.elapsed();
        let mut times = Times::default();
        for _ in 0..self.settings.rounds {
            let mut done = [Ok(()), Ok(())];
            let fill = || router.fill_tables(FILLING).and_then(|()| router.wait());
            times.memset.push(timed(|| done[0] = fill()));
            let mut route = || router.route(states).and_then(|()| router.wait());
            times.reroute.push(timed(|| done[1] = route()));
            done.into_iter().collect::<Result<(), GpuError>>()?;
        }
        let mut row = times.fields();
        row.append(&mut fields(json!({
            "device": machine.name(),
            "device_table_bytes": router.table_bytes(),
            "first_ms": ms(first),
        })));
        row.append(&mut self.compared_with_processor(router.digests()?[0])?);
        Ok(row)
    }

    /// Compares a digest with that of the engine on the processor, which keeps no tables for that.
    fn compared_with_processor(&self, digest: Digest) -> Result<RowFields, RouteError> {
        let mut expected = None;
        if self.settings.check {
            let sum = Mutex::new(Digest::default());
            let mut ready = self.routing.preprocess(self.live());
            ready.kernel = self.settings.kernel;
            Dmodc.stream_tiles(self.live(), &ready, self.routing.columns(), &|piece| {
                let part = Digest::rows(piece.first, piece.tile, piece.entries);
                let mut sum = sum.lock().unwrap_or_else(PoisonError::into_inner);
                *sum = *sum + part;
            })?;
            expected = Some(sum.into_inner().unwrap_or_else(PoisonError::into_inner));
        }
        Ok(fields(json!({
            "digest": digest.to_string(),
            "reference_digest": expected.map(|digest| digest.to_string()),
            "digest_ok": expected.map(|expected| expected == digest),
            "checked_entries": if expected.is_some() { self.entries() } else { 0 },
        })))
    }
}
