//! Timing: rounds in turns with `memset`, medians, and the fields of results.

use std::time::{Duration, Instant};

use dmodc::{ForwardingTables, parallel};
use serde_json::{Value, json};

/// A part of a row of results.
pub(super) type RowFields = serde_json::Map<String, Value>;

/// Times of re-routes and of `memset`, taken in turns.
#[derive(Default)]
pub(super) struct Times {
    pub(super) reroute: Vec<Duration>,
    pub(super) memset: Vec<Duration>,
}

impl Times {
    pub(super) fn fields(&self) -> RowFields {
        let (reroute, memset) = (median(&self.reroute), median(&self.memset));
        let all = |times: &[Duration]| times.iter().copied().map(ms).collect::<Vec<f64>>();
        fields(json!({
            "reroute_ms": ms(reroute),
            "memset_ms": ms(memset),
            "ratio": reroute.as_secs_f64() / memset.as_secs_f64(),
            "reroute_ms_all": all(&self.reroute),
            "memset_ms_all": all(&self.memset),
        }))
    }
}

pub(super) fn fields(object: Value) -> RowFields {
    match object {
        Value::Object(fields) => fields,
        _ => RowFields::new(),
    }
}

/// Overwrites all entries of the tables, with all threads.
pub(super) fn memset(tables: &mut ForwardingTables) {
    fill(tables.tiles_mut().into_iter().map(|(_, entries)| entries));
}

pub(super) fn fill<'a>(bytes: impl Iterator<Item = &'a mut [u8]> + Send) {
    let parts = bytes.flat_map(|bytes| bytes.chunks_mut(4 << 20));
    parallel::for_each(parts, |part| part.fill(7));
}

pub(super) fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

/// Returns the median time of this number of rounds.
pub(super) fn repeated(rounds: usize, mut run: impl FnMut()) -> Duration {
    median(&(0..rounds).map(|_| timed(&mut run)).collect::<Vec<_>>())
}

/// Returns the median; of an even number of times the greater of the two in the middle.
pub(super) fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

pub(super) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_the_middle() {
        let times = [5, 1, 3].map(Duration::from_millis);
        assert_eq!(median(&times), Duration::from_millis(3));
        assert_eq!(median(&[]), Duration::ZERO);
    }
}
