//! An engine into a digest: the tables are never kept.

use std::sync::Mutex;

use dmodc::{Digest, Engine};
use serde_json::json;

use super::case::BenchError;
use super::session::BenchSession;
use super::times::{RowFields, Times, fields, fill, timed};
use crate::machine;

impl BenchSession<'_> {
    /// Measures streaming. Returns the fields of the row.
    pub(super) fn stream(&self, engine: &dyn Engine) -> Result<RowFields, BenchError> {
        let live = self.live();
        let mut times = Times::default();
        let mut digest = Digest::default();
        // The limit is the same number of bytes, written again and again into a buffer that fits into no cache.
        let mut limit = vec![0u8; self.entries().min(256 << 20)];
        for _ in 0..self.settings.rounds {
            times.memset.push(timed(|| {
                let mut left = self.entries();
                while left > 0 {
                    let now = left.min(limit.len());
                    fill([&mut limit[..now]].into_iter());
                    left -= now;
                }
            }));
            let sum = Mutex::new(Digest::default());
            let mut streamed = Ok(Default::default());
            times.reroute.push(timed(|| {
                let mut ready = self.routing.preprocess(live);
                ready.kernel = self.settings.kernel;
                streamed = engine.stream_tiles(live, &ready, self.routing.columns(), &|piece| {
                    let part = Digest::rows(piece.first, piece.tile, piece.entries);
                    if let Ok(mut sum) = sum.lock() {
                        *sum = *sum + part;
                    }
                });
            }));
            streamed?;
            digest = sum.into_inner().unwrap_or_default();
        }
        let peak = self.peak_extra(limit.len());
        drop(limit);
        let mut row = times.fields();
        let resident = machine::peak();
        row.append(&mut fields(json!({ "peak_extra_bytes": peak, "peak_bytes": resident })));
        row.append(&mut self.checked(digest));
        Ok(row)
    }
}
