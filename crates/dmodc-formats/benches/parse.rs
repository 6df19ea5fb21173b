//! Reading large files: `cargo bench --bench parse -- [fabric|tables] [PRESET]`.
//!
//! `fabric`: the text of a fabric is written to a file. The time to read that file is compared with the time to parse it
//! on one core. The fabric that is read must equal the one that was written.
//!
//! `tables`: a dump of about half a gigabyte is written to a file. The time to count its lines, window by window and with
//! the same threads, is compared with the times to read the tables from the file, from memory, and with the naive twin
//! on one core. The tables that are read must equal those that were written and those of the twin.
#![allow(clippy::print_stdout, reason = "its report is its purpose")]

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use dmodc::{
    Degradation, Dmodc, Fabric, ForwardingTables, Live, Preset, Routing, SwitchIndex, parallel,
};
use dmodc_formats::lft;
use dmodc_formats::source::FrontToBack;
use dmodc_formats::{ibnetdiscover, read};

const ROUNDS: usize = 7;

/// The size of a dump, in bytes, at which no further switch is added.
const DUMP_SIZE: usize = 512 << 20;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let what = |name: &str| words.is_empty() || words[0] == name || !is_part(&words[0]);
    let named = words.iter().find(|word| !is_part(word)).map(String::as_str);
    if what("fabric") {
        fabric(named.unwrap_or("x800-100k"));
    }
    if what("tables") {
        tables(named.unwrap_or("rlft-36"));
    }
}

fn is_part(word: &str) -> bool {
    ["fabric", "tables"].contains(&word)
}

fn preset(name: &str) -> Fabric {
    let preset = Preset::named(name).unwrap_or_else(|| panic!("there is no preset '{name}'"));
    preset.shape().fabric(Default::default()).expect("a test makes every preset")
}

fn fabric(name: &str) {
    let fabric = preset(name);
    let mut text = Vec::new();
    ibnetdiscover::write(&fabric, &[], &mut text).expect("memory takes it");
    let path = TemporaryFile::new(&text);
    let file = median(|| drop(std::fs::read(&path.0).expect("it was just written")));
    let parse = median(|| drop(read(&text).expect("it was just written")));
    let found = read(&text).expect("it was just written");
    assert!(found.fabric == fabric && found.dirt.is_empty(), "the fabric that was read differs");
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

fn tables(name: &str) {
    let fabric = preset(name);
    let healthy = Degradation::none(&fabric);
    let live = Live::new(&fabric, &healthy);
    let (routed, _) = Routing::new(live, &Default::default()).route(live, &Dmodc).expect("it fits");
    let (text, switches) = dump(live, &routed);
    let path = TemporaryFile::new(&text);
    let file = File::open(&path.0).expect("it was just written");
    let from_front = || FrontToBack::new(&file).expect("it has a length");
    let read = || lft::read_from(&mut from_front(), &fabric).expect("it was just written");
    let count = median(|| assert!(lines(&mut from_front()) > 0));
    let parse = median(|| drop(read()));
    let memory = median(|| drop(lft::read(&text, &fabric)));
    let start = Instant::now();
    let naive = lft::naive::read(&text, &fabric).expect("it was just written");
    let sequential = start.elapsed();
    let found = read();
    assert!(found == naive && found.dirt.is_empty(), "the twins differ");
    let columns = routed.columns();
    let back = found.with_columns(columns, &fabric).expect("it fits");
    let rows = columns.tiles().flat_map(|tile| switches.iter().map(move |&s| (s, tile.clone())));
    for (s, tile) in rows {
        assert!(back.row(s, &tile) == routed.row(s, &tile), "the tables that were read differ");
    }
    let megabytes = text.len() as f64 / 1e6;
    println!(
        "{name}: tables of {} switches, {megabytes:.0} MB of text, {} threads, median of {ROUNDS}; the tables are equal",
        switches.len(),
        parallel::threads()
    );
    for (what, time) in [
        ("counting its lines", count),
        ("reading the tables", parse),
        ("... from memory", memory),
        ("naive, one core", sequential),
    ] {
        let (time, count) = (time.as_secs_f64(), count.as_secs_f64());
        println!(
            "{what:<18} {:>8.1} ms {:>8.0} MB/s  ratio {:>6.2}",
            time * 1e3,
            megabytes / time,
            time / count
        );
    }
    println!("as fast as naive   {:>8.2} ×", sequential.as_secs_f64() / parse.as_secs_f64());
}

/// Returns the dump of as many switches as fit into [`DUMP_SIZE`], and these switches.
fn dump(live: Live<'_>, tables: &ForwardingTables) -> (Vec<u8>, Vec<SwitchIndex>) {
    let mut writer = lft::LftWriter::new(live, tables.columns());
    let (mut text, mut switches) = (Vec::new(), Vec::new());
    for s in live.switches() {
        writer.write(s, |column| tables.port(s, column), &mut text).expect("memory takes it");
        switches.push(s);
        if text.len() > DUMP_SIZE {
            break;
        }
    }
    (text, switches)
}

/// Returns the number of lines, counted window by window with all threads.
fn lines(source: &mut impl Read) -> usize {
    let mut window = vec![0; 64 << 20];
    let mut count = 0;
    loop {
        let length = source.read(&mut window).expect("it was just written");
        if length == 0 {
            return count;
        }
        let lines = |piece: &[u8]| memchr::memchr_iter(b'\n', piece).count();
        count += parallel::map(window[..length].chunks(1 << 20), lines).iter().sum::<usize>();
    }
}

struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(text: &[u8]) -> Self {
        let path = std::env::temp_dir().join(format!("dmodc-parse-{}", std::process::id()));
        std::fs::write(&path, text).expect("the temporary folder takes the file");
        TemporaryFile(path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
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
