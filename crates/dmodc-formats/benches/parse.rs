//! Reading a fabric of 100,000 nodes: `cargo bench --bench parse -- [PRESET]`.
//!
//! The text is written to a file; reading that file alone is the yardstick, parsing it on one core the
//! measurement. The fabric that comes out must equal the one that went in.
#![allow(clippy::print_stdout, reason = "its report is its purpose")]

use std::time::{Duration, Instant};

use dmodc::Preset;
use dmodc_formats::{ibnetdiscover, read};

const ROUNDS: usize = 7;

fn main() {
    let name = std::env::args().skip(1).find(|a| !a.starts_with('-'));
    let name = name.as_deref().unwrap_or("x800-100k");
    let preset = Preset::named(name).unwrap_or_else(|| panic!("there is no preset '{name}'"));
    let fabric = preset.pgft().fabric(Default::default());
    let mut text = Vec::new();
    ibnetdiscover::write(&fabric, &[], &mut text).expect("memory takes it");
    let path = std::env::temp_dir().join(format!("dmodc-parse-{}.topo", std::process::id()));
    std::fs::write(&path, &text).expect("the temporary folder takes the file");
    let file = median(|| drop(std::fs::read(&path).expect("it was just written")));
    std::fs::remove_file(&path).expect("it is ours");
    let parse = median(|| drop(read(&text).expect("it was just written")));
    let found = read(&text).expect("it was just written");
    assert!(found.fabric == fabric && found.dirt.is_empty(), "another fabric came out");
    let megabytes = text.len() as f64 / 1e6;
    println!(
        "{name}: {} nodes, {megabytes:.0} MB of text, one core, median of {ROUNDS}; the fabric is equal",
        fabric.nodes().len()
    );
    let (file, parse) = (file.as_secs_f64(), parse.as_secs_f64());
    println!("reading the file {:>8.1} ms {:>8.0} MB/s", file * 1e3, megabytes / file);
    println!("parsing it       {:>8.1} ms {:>8.0} MB/s", parse * 1e3, megabytes / parse);
    println!("ratio            {:>8.2}", parse / file);
}

fn median(mut run: impl FnMut()) -> Duration {
    run();
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}
