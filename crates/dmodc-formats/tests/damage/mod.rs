//! Texts and ways to damage them, shared by the tests.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::fs;
use std::path::Path;

use dmodc::Random;
use dmodc_formats::json;

/// Returns the fabrics and tables of all fixtures, and the fabrics as our JSON.
pub(crate) fn corpus() -> Vec<Vec<u8>> {
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

/// Damages a text: changes, removes and doubles bytes, makes numbers huge, and inserts parts of another text.
pub(crate) fn damage(random: &mut Random, text: &mut Vec<u8>, other: &[u8]) {
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
                // Another digit keeps the line readable and makes it wrong.
                if let Some(digit) = text[at..].iter_mut().find(|c| c.is_ascii_digit()) {
                    *digit = b'0' + random.below(10) as u8;
                }
            }
        }
    }
}
