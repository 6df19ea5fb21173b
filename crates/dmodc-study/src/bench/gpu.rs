//! Whole re-routes on a GPU, compared with filling the same memory of the device.
//!
//! A re-route starts with the faults on the host and ends when all tables are in the memory of the device. A stream ends when the host
//! has their digest; the tables are never in memory as a whole. The tables are compared with those of the engine on the processor, by
//! digest.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use dmodc::{Degradation, Digest, Engine, RouteError};
use dmodc_gpu::{GpuError, GpuRouter, GpuStream, Machine};
use serde_json::json;

use super::case::BenchError;
use super::session::BenchSession;
use super::times::{RowFields, Times, fields, ms, timed};
use crate::gpu_engine::GpuInputs;

/// What the tables are filled with; no re-route leaves it there.
const FILLING: u8 = 7;

/// The bytes of a window of a stream. In a fabric of 746,496 nodes, a tile has 0.12 GB, and kernels take 32 tiles at once.
const WINDOW_BYTES: usize = 4 << 30;

/// What is measured.
enum Measured {
    Tables(GpuRouter),
    Stream(GpuStream),
}

impl Measured {
    /// Fills the memory of the tables. A stream has memory for one window only, which is filled once for each window, with the bytes
    /// that this window has. So the same number of bytes is written as for whole tables.
    fn fill(&self) -> Result<(), GpuError> {
        match self {
            Measured::Tables(router) => router.fill_tables(FILLING).and_then(|()| router.wait()),
            Measured::Stream(stream) => stream.fill_windows(FILLING).and_then(|()| stream.wait()),
        }
    }

    /// Routes one state, and waits until that is done. A stream also computes the digest.
    fn route(&mut self, state: &Degradation) -> Result<(), GpuError> {
        let states = std::slice::from_ref(state);
        match self {
            Measured::Tables(router) => router.route(states).and_then(|()| router.wait()),
            Measured::Stream(stream) => stream.digests(states).map(drop),
        }
    }

    /// Returns the digest of a state that was routed before.
    fn digest(&mut self, state: &Degradation) -> Result<Digest, GpuError> {
        Ok(match self {
            Measured::Tables(router) => router.digests()?[0],
            Measured::Stream(stream) => stream.digests(std::slice::from_ref(state))?[0],
        })
    }

    /// Returns the bytes of tables that are in memory at the same time.
    fn bytes(&self) -> usize {
        match self {
            Measured::Tables(router) => router.table_bytes(),
            Measured::Stream(stream) => stream.window_bytes(),
        }
    }

    /// Returns the number of windows that use this memory one after the other.
    fn windows(&self) -> usize {
        match self {
            Measured::Tables(_) => 1,
            Measured::Stream(stream) => stream.windows(),
        }
    }
}

impl BenchSession<'_> {
    /// Measures re-routes on a GPU. Returns the fields of the row.
    pub(super) fn on_gpu(&self, machine: &Arc<dyn Machine>) -> Result<RowFields, BenchError> {
        let engine = self.engine()?;
        let start = Instant::now();
        let mut measured = self.on_machine(machine, &*engine)?;
        measured.route(&self.degraded)?;
        let first = start.elapsed();
        let mut times = Times::default();
        for _ in 0..self.settings.rounds {
            let mut done = [Ok(()), Ok(())];
            times.memset.push(timed(|| done[0] = measured.fill()));
            times.reroute.push(timed(|| done[1] = measured.route(&self.degraded)));
            done.into_iter().collect::<Result<(), GpuError>>()?;
        }
        let mut row = times.fields();
        row.append(&mut fields(json!({
            "device": machine.name(),
            "device_table_bytes": measured.bytes(),
            "device_windows": measured.windows(),
            "first_ms": ms(first),
        })));
        let digest = measured.digest(&self.degraded)?;
        row.append(&mut self.compared_with_processor(&*engine, digest)?);
        Ok(row)
    }

    /// Puts the fabric on the GPU.
    fn on_machine(
        &self,
        machine: &Arc<dyn Machine>,
        engine: &dyn Engine,
    ) -> Result<Measured, BenchError> {
        let (fabric, routing) = (&self.fabric, &self.routing);
        let inputs = GpuInputs { machine, fabric, routing, capacity: 1 };
        let measured = match self.settings.stream {
            true => inputs.stream(engine, WINDOW_BYTES)?.map(Measured::Stream),
            false => inputs.router(engine)?.map(Measured::Tables),
        };
        measured.ok_or_else(|| BenchError::NotOnGpu(self.settings.engine.to_string()))
    }

    /// Compares a digest with that of the engine on the processor, which keeps no tables for that.
    fn compared_with_processor(
        &self,
        engine: &dyn Engine,
        digest: Digest,
    ) -> Result<RowFields, RouteError> {
        let mut expected = None;
        if self.settings.check {
            let sum = Mutex::new(Digest::default());
            let mut ready = self.routing.preprocess(self.live());
            ready.kernel = self.settings.kernel;
            engine.stream_tiles(self.live(), &ready, self.routing.columns(), &|piece| {
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
