//! The reader of tables on all cores gives the same as its naive twin: the same entries, the same unknown destinations and
//! the same dirt in the same places, for every cut of the text and every kind of damage.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod damage;

use std::io::{self, Read};

use dmodc::{Degradation, Dmodc, Fabric, Live, Pgft, Random, Routing};
use dmodc_formats::lft::{self, Lft, LftError};

use damage::damage;

fn figure_1() -> Fabric {
    "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default())
}

/// Returns the tables of a fabric in every dialect, without damage.
fn dialects(fabric: &Fabric) -> Vec<Vec<u8>> {
    let healthy = Degradation::none(fabric);
    let live = Live::new(fabric, &healthy);
    let (tables, _) = Routing::new(live, &Default::default()).route(live, &Dmodc).unwrap();
    let mut dump = Vec::new();
    let comments = ["two comments".into(), "before the first table".into()];
    lft::write(live, &tables, &comments, &mut dump).unwrap();
    let dump = String::from_utf8(dump).unwrap();
    let ibroute = dump
        .replace(" # ", " : (")
        .replace("'\n", "')\n")
        .replace("):\n", "):\n  Lid  Out   Destination\n       Port     Info \n")
        .replace(" lids dumped", " valid lids dumped ");
    let bare: String =
        dump.lines().map(|line| format!("{} \n", line.split(" # ").next().unwrap())).collect();
    let crlf = dump.replace('\n', "\r\n");
    let marked = format!("\u{feff}{}", dump.trim_start_matches(|c| c != 'U'));
    vec![dump, ibroute, bare, crlf, marked, fdbs(fabric)].into_iter().map(Into::into).collect()
}

/// Returns tables as in `opensm.fdbs`, which lists all LIDs, even those that nobody has, and the hops to each.
fn fdbs(fabric: &Fabric) -> String {
    let mut text = String::new();
    for (at, switch) in fabric.switches().iter().enumerate() {
        text +=
            &format!("dump_ucast_routes: Switch {}\nLID    : Port : Hops : Optimal\n", switch.guid);
        for lid in 1..40 {
            text += &match (lid + at) % 9 {
                0 => format!("0x{lid:04X} : UNREACHABLE\n"),
                rest => format!("0x{lid:04X} : {:03}  : {:02}   : yes\n", lid % 7, rest),
            };
        }
    }
    text
}

/// A source that returns at most `.1` bytes at a time.
struct Trickle<'a>(&'a [u8], usize);

impl Read for Trickle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = buffer.len().min(self.1);
        self.0.read(&mut buffer[..most])
    }
}

fn assert_twins(text: &[u8], fabric: &Fabric, hint: &str) -> bool {
    let naive = lft::naive::read(text, fabric);
    for part in [1, 700, 1 << 20] {
        assert_eq!(lft::read_in_parts(text, fabric, part), naive, "{hint}, parts of {part}");
    }
    for (window, trickle) in [(1, 1000), (3000, 77)] {
        let read = lft::read_by_windows(&mut Trickle(text, trickle), fabric, window);
        let read: Result<Lft, _> = read.map_err(|error| match error {
            LftError::Text(error) => error,
            LftError::Io(error) => panic!("{hint}: {error}"),
        });
        assert_eq!(read, naive, "{hint}, windows of {window}");
    }
    naive.is_ok_and(|lft| lft.dirt.is_empty())
}

#[test]
fn clean_dumps_of_every_dialect_read_alike_wherever_they_are_cut() {
    let fabric = figure_1();
    for (at, text) in dialects(&fabric).iter().enumerate() {
        let clean = assert_twins(text, &fabric, &format!("dialect {at}"));
        assert_eq!(clean, at != 4, "dialect {at} has no dirt but for a byte order mark");
    }
}

/// Removes, doubles, swaps and cuts lines, and changes comments. Most lines stay readable.
fn shuffle_lines(random: &mut Random, text: &mut Vec<u8>) {
    let mut lines: Vec<Vec<u8>> = text.split_inclusive(|&c| c == b'\n').map(Vec::from).collect();
    for _ in 0..1 + random.below(12) {
        let pick = |random: &mut Random| random.below(lines.len() as u64) as usize;
        let (a, b) = (pick(random), pick(random));
        match random.below(6) {
            0 => drop(lines.remove(a)),
            1 => lines.insert(b, lines[a].clone()),
            2 => lines.swap(a, b),
            3 => {
                let line = &mut lines[a];
                line.truncate(11.min(line.len()));
                line.push(b'\n');
            }
            4 => lines[a].splice(0..0, *b" \t").for_each(drop),
            _ => {
                // The GUID of another line after the LID of this one.
                let tail = lines[b].get(10..).unwrap_or(b"\n").to_vec();
                let head = 10.min(lines[a].len());
                lines[a].truncate(head);
                lines[a].extend(tail);
            }
        }
    }
    *text = lines.concat();
}

#[test]
fn damaged_dumps_read_alike_wherever_they_are_cut() {
    let fabric = figure_1();
    let dialects = dialects(&fabric);
    let mut dirty = 0;
    for seed in 0..1200 {
        let mut random = Random::new(seed, 9);
        let mut pick = || &dialects[random.below(dialects.len() as u64) as usize];
        let (mut text, other) = (pick().clone(), pick());
        match random.below(3) {
            0 => damage(&mut random, &mut text, other),
            1 => shuffle_lines(&mut random, &mut text),
            _ => {
                text.extend_from_slice(other);
                shuffle_lines(&mut random, &mut text);
                damage(&mut random, &mut text, other);
            }
        }
        dirty += usize::from(!assert_twins(&text, &fabric, &format!("seed {seed}")));
    }
    assert!(dirty > 600, "{dirty} dumps were damaged");
}

/// Tables of a larger fabric, of which the reader knows a part, have many unknown destinations.
#[test]
fn unknown_destinations_read_alike() {
    let larger = "3; 2,2,4; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
    let fabric = figure_1();
    for (at, text) in dialects(&larger).iter().enumerate() {
        assert_twins(text, &fabric, &format!("dialect {at}"));
        let read = lft::read_in_parts(text, &fabric, 1).unwrap();
        assert!(!read.unknown_switches.is_empty() && !read.unknown_destinations.is_empty());
    }
}
