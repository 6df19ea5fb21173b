//! The machines that kernels are tested on, and the presets.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::io::Write as _;
use std::sync::{Arc, OnceLock};

use dmodc::Preset;
use dmodc::fabric::PRESETS;
use dmodc_gpu::{Cuda, Machine};

use super::emulator;

/// Of larger presets, two states are routed at once and not three.
pub(crate) const MOST_ENTRIES_OF_THREE: usize = 600 << 20;

/// Returns the machines that there are, and the number of seeds for each.
pub(crate) fn machines(seeds: u64) -> Vec<(Arc<dyn Machine>, u64)> {
    static GPU: OnceLock<Option<Arc<dyn Machine>>> = OnceLock::new();
    let gpu = GPU.get_or_init(|| match Cuda::open() {
        Ok(gpu) => Some(Arc::new(gpu)),
        Err(error) => {
            let is_wanted = std::env::var_os("DMODC_GPU_REQUIRED").is_some();
            assert!(!is_wanted, "{error}");
            emulator::skip("on_a_gpu", &error.to_string());
            None
        }
    });
    let on_gpu = std::env::var("DMODC_GPU_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let emulated = emulator::emulator().map(|machine| (machine, seeds));
    let gpu = gpu.clone().map(|machine| (machine, on_gpu.unwrap_or(20 * seeds)));
    emulated.into_iter().chain(gpu).collect()
}

/// Returns the presets whose healthy tables have at most this number of entries. A line names those that are left out.
pub(crate) fn presets_up_to(machine: &dyn Machine, entries: usize) -> Vec<&'static Preset> {
    let (taken, left_out): (Vec<&Preset>, Vec<&Preset>) =
        PRESETS.iter().partition(|preset| entries_of(preset) <= entries);
    let names: Vec<&str> = left_out.iter().map(|preset| preset.name).collect();
    if !names.is_empty() {
        let file = env!("CARGO_CRATE_NAME");
        let line =
            format!("{file}::presets on {}: too large: {}", machine.name(), names.join(", "));
        // The test harness hides the output of tests that pass.
        let _ = writeln!(std::io::stderr(), "{line}");
    }
    taken
}

/// Returns the number of entries of the healthy tables of a preset.
pub(crate) fn entries_of(preset: &Preset) -> usize {
    let shape = preset.shape();
    shape.node_count() * shape.switch_count()
}
