//! Measures whole re-routes on the GPU of this machine: `reroute PRESET [CABLES% SWITCHES% [ROUNDS [STATES]]]`.
//!
//! STATES degradations with different seeds are routed in one batch; the default is one. A re-route starts from a degradation on the host and ends when all tables are in device memory. The time of filling the same memory
//! with one byte stands next to it. The digest of the tables is compared with the engine's on the CPU.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dmodc::{
    Amount, Degradation, Digest, Dmodc, Draw, Engine, Fabric, Live, Preset, Routing, RoutingOptions,
};
use dmodc_gpu::{Cuda, GpuRouter};

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |at: usize, usual: &str| words.get(at).map_or(usual.to_owned(), Clone::clone);
    let preset = Preset::named(&word(0, "rlft-36")).ok_or("there is no such preset")?;
    let [cables, switches] = [word(1, "0").parse()?, word(2, "0").parse()?].map(Amount::Percent);
    let rounds: usize = word(3, "50").parse()?;
    let fabric = Arc::new(preset.shape().fabric(Default::default())?);
    let draw = |seed| Draw { cables, switches, any_cable: false, any_switch: false, seed };
    let seeds = 1..=word(4, "1").parse()?;
    let states =
        seeds.map(|seed| draw(seed).degradation(&fabric)).collect::<Result<Vec<_>, _>>()?;
    let healthy = Degradation::none(&fabric);
    let options = RoutingOptions { switch_lids: false, ..RoutingOptions::default() };
    let routing = Routing::new(Live::new(&fabric, &healthy), &options);

    let start = Instant::now();
    let gpu = Arc::new(Cuda::open()?);
    let opened = start.elapsed();
    let mut router = GpuRouter::new(gpu.clone(), fabric.clone(), routing.clone(), states.len())?;
    let (mut routes, mut fills) = (vec![], vec![]);
    for _ in 0..rounds {
        fills.push(timed(|| router.fill_tables(0).and_then(|()| router.wait()))?);
        routes.push(timed(|| router.route(&states).and_then(|()| router.wait()))?);
    }
    let digests = router.digests()?;
    // The first and the last are compared.
    let mut is_right = true;
    for at in [0, states.len() - 1] {
        is_right &= digests[at] == on_cpu(&fabric, &routing, &states[at])?;
    }
    let [route, fill] = [routes, fills].map(median);
    let ms = |time: Duration| time.as_secs_f64() * 1e3 / states.len() as f64;
    println!(
        "{} {}% {}%, {} states: {:.4} ms each, memset {:.4} ms, ratio {:.2}, {} bytes, opened in {:.0} ms, digest {} {}",
        preset.name,
        word(1, "0"),
        word(2, "0"),
        states.len(),
        ms(route),
        ms(fill),
        route.as_secs_f64() / fill.as_secs_f64(),
        router.table_bytes(),
        opened.as_secs_f64() * 1e3,
        digests[0],
        if is_right { "right" } else { "WRONG" },
    );
    Ok(())
}

fn on_cpu(
    fabric: &Fabric,
    routing: &Routing,
    degradation: &Degradation,
) -> Result<Digest, Box<dyn Error>> {
    let live = Live::new(fabric, degradation);
    let sum = Mutex::new(Digest::default());
    Dmodc.stream_tiles(live, &routing.preprocess(live), routing.columns(), &|piece| {
        let part = Digest::rows(piece.first, piece.tile, piece.entries);
        let mut sum = sum.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        *sum = *sum + part;
    })?;
    Ok(sum.into_inner()?)
}

fn timed<E>(work: impl FnOnce() -> Result<(), E>) -> Result<Duration, E> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}
