//! Measures whole re-routes on the GPU of this machine: `reroute PRESET [CABLES% SWITCHES% [ROUNDS]]`.
//!
//! A re-route starts from a degradation on the host and ends when all tables are in device memory. The time of filling the same memory
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
    let draw = Draw { cables, switches, any_cable: false, any_switch: false, seed: 1 };
    let degradation = draw.degradation(&fabric)?;
    let healthy = Degradation::none(&fabric);
    let options = RoutingOptions { switch_lids: false, ..RoutingOptions::default() };
    let routing = Routing::new(Live::new(&fabric, &healthy), &options);

    let start = Instant::now();
    let gpu = Arc::new(Cuda::open()?);
    let opened = start.elapsed();
    let mut router = GpuRouter::new(gpu.clone(), fabric.clone(), routing.clone(), 1)?;
    let states = [degradation];
    let (mut routes, mut fills) = (vec![], vec![]);
    for _ in 0..rounds {
        fills.push(timed(|| router.fill_tables(0).and_then(|()| router.wait()))?);
        routes.push(timed(|| router.route(&states).and_then(|()| router.wait()))?);
    }
    let digest = router.digests()?[0];
    let [route, fill] = [routes, fills].map(median);
    println!(
        "{} {} {}% {}%: route {:.3} ms, memset {:.3} ms, ratio {:.2}, {} bytes, opened in {:.0} ms, digest {digest} {}",
        preset.name,
        words.get(4).map_or("", String::as_str),
        word(1, "0"),
        word(2, "0"),
        route.as_secs_f64() * 1e3,
        fill.as_secs_f64() * 1e3,
        route.as_secs_f64() / fill.as_secs_f64(),
        router.table_bytes(),
        opened.as_secs_f64() * 1e3,
        if digest == on_cpu(&fabric, &routing, &states[0])? { "right" } else { "WRONG" },
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
