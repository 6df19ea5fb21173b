//! No bytes make a reader panic, and whatever fabric comes out of them keeps our promises.
//!
//! Every fixture is damaged in thousands of ways by seed: a bounded run of what `fuzz/run` does for
//! as long as wanted.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;

use dmodc::judge::check;
use dmodc::{Degradation, Dmodc, Fabric, Live, Pgft, Random, Routing, RoutingOptions, SwitchOrder};
use dmodc_formats::{json, lft, orders};

/// The fabrics and tables of all fixtures, and the fabrics as our JSON.
fn corpus() -> Vec<Vec<u8>> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut paths = vec![];
    for folder in fs::read_dir(fixtures).unwrap() {
        let folder = folder.unwrap().path();
        if folder.is_dir() {
            paths.extend(fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()));
        }
    }
    paths.retain(|path| !path.ends_with("info.json") && !path.ends_with("drawing.txt"));
    paths.sort();
    assert!(paths.len() > 50);
    let mut corpus: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    let fabrics: Vec<_> = corpus.iter().filter_map(|text| dmodc_formats::read(text).ok()).collect();
    for reading in fabrics {
        let mut text = Vec::new();
        json::write(&reading.fabric, &mut text).unwrap();
        corpus.push(text);
    }
    corpus
}

/// Damages a text: bytes changed, taken out, doubled, numbers made huge, parts of another spliced in.
fn damage(random: &mut Random, text: &mut Vec<u8>, other: &[u8]) {
    const NASTY: [&[u8]; 12] = [
        b"\"",
        b"[",
        b"]",
        b"(",
        b"\n",
        b"\0",
        b"\xff",
        b"0x",
        b"99999999999999999999",
        b"255",
        b"65535",
        b"-1",
    ];
    for _ in 0..1 + random.below(6) {
        if text.is_empty() {
            return;
        }
        let length = text.len() as u64;
        let (a, b) = (random.below(length) as usize, random.below(length) as usize);
        let (at, end) = (a.min(b), a.max(b));
        match random.below(7) {
            0 => text[at] = random.below(256) as u8,
            1 => text.truncate(at),
            2 => drop(text.drain(at..end.min(at + 200))),
            3 => {
                let part = text[at..end.min(at + 400)].to_vec();
                text.splice(end..end, part);
            }
            4 => {
                let nasty = NASTY[random.below(NASTY.len() as u64) as usize];
                text.splice(at..at, nasty.iter().copied());
            }
            5 if !other.is_empty() => {
                let from = random.below(other.len() as u64) as usize;
                let part = other[from..other.len().min(from + 300)].to_vec();
                text.splice(at..at, part);
            }
            _ => {
                // A digit for a digit keeps the line readable and makes it lie.
                if let Some(digit) = text[at..].iter_mut().find(|c| c.is_ascii_digit()) {
                    *digit = b'0' + random.below(10) as u8;
                }
            }
        }
    }
}

/// Routes and judges whatever was read: never a loop, a turn or a cycle.
fn assert_sound(fabric: &Fabric, seed: u64) {
    let healthy = Degradation::none(fabric);
    let live = Live::new(fabric, &healthy);
    let routing = Routing::new(live, &RoutingOptions::default());
    let Ok((tables, _)) = routing.route(live, &Dmodc) else { return };
    let judged = check(live, &routing.ranking(live), routing.orders(), &tables);
    for scope in [&judged.nodes, &judged.everything] {
        assert_eq!((scope.loops, scope.up_down_violations), (0, 0), "seed {seed}");
        assert!(scope.is_deadlock_free(), "seed {seed}");
    }
}

#[test]
fn damaged_texts_are_read_or_refused_and_routed_soundly() {
    let corpus = corpus();
    let figure_1 = "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
    let healthy = Degradation::none(&figure_1);
    let live = Live::new(&figure_1, &healthy);
    let (mut fabrics, mut tables) = (0, 0);
    for seed in 0..6000 {
        let mut random = Random::new(seed, 5);
        let mut pick = || &corpus[random.below(corpus.len() as u64) as usize];
        let (mut text, other) = (pick().clone(), pick());
        damage(&mut random, &mut text, other);
        if let Ok(reading) = dmodc_formats::read(&text) {
            fabrics += 1;
            assert_sound(&reading.fabric, seed);
            let mut written = Vec::new();
            json::write(&reading.fabric, &mut written).unwrap();
            assert_eq!(json::read(&written).as_ref(), Ok(&reading.fabric), "seed {seed}");
        }
        if let Ok(dump) = lft::read(&text, &figure_1) {
            tables += 1;
            let routing = Routing::new(live, &RoutingOptions::default());
            let table = &lft::Lft::tables(&[&dump], &figure_1).unwrap()[0];
            check(live, &routing.ranking(live), routing.orders(), table);
        }
        if let Ok(saved) = orders::read(&text) {
            let switches = SwitchOrder::Saved(saved);
            let options = RoutingOptions { switches, ..RoutingOptions::default() };
            Routing::new(live, &options).route(live, &Dmodc).unwrap();
        }
    }
    assert!(fabrics > 1000 && tables > 500, "{fabrics} fabrics, {tables} tables");
}
