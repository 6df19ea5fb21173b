//! The machines that kernels are tested on.

use std::sync::{Arc, OnceLock};

use dmodc_gpu::{Cuda, Machine};

use super::emulator;

/// Returns the machines that there are, and the number of seeds for each.
pub(crate) fn machines(seeds: u64) -> Vec<(Arc<dyn Machine>, u64)> {
    static GPU: OnceLock<Option<Arc<dyn Machine>>> = OnceLock::new();
    let gpu = GPU.get_or_init(|| match Cuda::open() {
        Ok(gpu) => Some(Arc::new(gpu)),
        Err(error) => {
            let is_wanted = std::env::var_os("DMODC_GPU_REQUIRED").is_some();
            assert!(!is_wanted, "{error}");
            eprintln!("skipped on a GPU: {error}");
            None
        }
    });
    let on_gpu = std::env::var("DMODC_GPU_SEEDS").ok().and_then(|seeds| seeds.parse().ok());
    let emulated = emulator::emulator().map(|machine| (machine, seeds));
    let gpu = gpu.clone().map(|machine| (machine, on_gpu.unwrap_or(20 * seeds)));
    emulated.into_iter().chain(gpu).collect()
}
