//! Arrays of tables: what is written reads back, and what is damaged is refused by name.

use super::*;
use crate::lft::{self, Lft};
use dmodc::{Degradation, Dmodc, Fabric, ForwardingTables, Live, Pgft, Routing};

fn fabric(tuple: &str) -> Fabric {
    tuple.parse::<Pgft>().unwrap().fabric(Default::default())
}

fn figure_1() -> Fabric {
    fabric("3; 2,2,3; 1,2,2; 1,2,1")
}

fn route(fabric: &Fabric) -> ForwardingTables {
    let healthy = Degradation::none(fabric);
    let live = Live::new(fabric, &healthy);
    Routing::new(live, &Default::default()).route(live, &Dmodc).unwrap().0
}

/// Returns the array and its labels.
fn written(fabric: &Fabric) -> (Vec<u8>, String) {
    let healthy = Degradation::none(fabric);
    let (mut array, mut labels) = (Vec::new(), Vec::new());
    let found = write(Live::new(fabric, &healthy), &route(fabric), &mut array).unwrap();
    found.write(&mut labels).unwrap();
    (array, String::from_utf8(labels).unwrap())
}

fn error(array: &[u8], labels: &str, fabric: &Fabric) -> String {
    read(array, labels.as_bytes(), fabric).unwrap_err().to_string()
}

/// Returns the tables of a dump with the same entries.
fn dumped(tables: &ForwardingTables, of: &Fabric, fabric: &Fabric) -> Lft {
    let healthy = Degradation::none(of);
    let mut text = Vec::new();
    lft::write(Live::new(of, &healthy), tables, &[], &mut text).unwrap();
    lft::read(&text, fabric).unwrap()
}

#[test]
fn an_array_reads_back_as_the_dump_does() {
    let fabric = figure_1();
    let (array, labels) = written(&fabric);
    assert_eq!(array.len(), 128 + 16 * 28);
    assert!(
        array.starts_with(b"\x93NUMPY\x01\x00\x76\x00{'descr': '|u1', 'fortran_order': False, ")
    );
    assert_eq!(array[127], b'\n');
    let found = read(&array[..], labels.as_bytes(), &fabric).unwrap();
    let tables = route(&fabric);
    let columns = tables.columns();
    assert!(found.with_columns(columns, &fabric).unwrap() == tables);
    // Rows are switches, columns are LIDs from 1 on.
    let by_lid = columns.by_lid();
    for s in fabric.switch_indices() {
        let row = &array[128 + 28 * s.at()..][..28];
        let expected = by_lid.iter().map(|&c| tables.port(s, c).map_or(255, |port| port.0));
        assert!(expected.eq(row.iter().copied()));
    }
    let dumped = dumped(&tables, &fabric, &fabric);
    let both = [&found, &dumped].map(|lft| Lft::tables(&[lft], &fabric).unwrap().remove(0));
    assert!(both[0] == both[1]);
}

#[test]
fn another_state_of_the_fabric_is_matched_as_a_dump_is() {
    let whole = figure_1();
    let (array, labels) = written(&whole);
    // A dead cable changes no digest, a dead spine and a dead leaf with its nodes do.
    for removed in [vec![9], vec![9, 0]] {
        let mut dead = Degradation::none(&whole);
        for s in removed {
            dead.set_switch(dmodc::SwitchIndex::new(s), true);
        }
        let rest = whole.without(&dead);
        let found = read(&array[..], labels.as_bytes(), &rest).unwrap();
        let dumped = dumped(&route(&whole), &whole, &rest);
        assert_eq!(found.unknown_switches, dumped.unknown_switches);
        assert_eq!(found.unknown_destinations, dumped.unknown_destinations);
        assert!(!found.unknown_switches.is_empty() && found.missing_switches.is_empty());
        let both = [&found, &dumped].map(|lft| Lft::tables(&[lft], &rest).unwrap().remove(0));
        assert!(both[0] == both[1]);
        // The other way round: tables of the degraded fabric are read for the whole one.
        let (array, labels) = written(&rest);
        let found = read(&array[..], labels.as_bytes(), &whole).unwrap();
        assert_eq!(found.missing_switches.len(), whole.switches().len() - rest.switches().len());
    }
}

#[test]
fn another_fabric_is_refused_with_numbers() {
    let (array, labels) = written(&figure_1());
    for other in ["3; 2,2,4; 1,2,2; 1,2,1", "2; 2,3; 1,2; 1,1", "3; 4,4,4; 1,4,4; 1,1,1"] {
        let message = error(&array, &labels, &fabric(other));
        assert!(message.starts_with("these tables belong to another fabric (digest "), "{message}");
        assert!(message.contains("): of 16 and "), "{message}");
    }
}

#[test]
fn damaged_arrays_are_refused() {
    let fabric = figure_1();
    let (array, labels) = written(&fabric);
    let changed = |from: &str, to: &str| {
        assert_eq!(from.len(), to.len());
        let at = memchr::memmem::find(&array, from.as_bytes()).unwrap();
        let mut array = array.clone();
        array[at..at + to.len()].copy_from_slice(to.as_bytes());
        array
    };
    let mut flipped = array.clone();
    flipped[300] ^= 1;
    let mut version = array.clone();
    version[6] = 2;
    for (array, expected) in [
        (
            array[..array.len() - 1].to_vec(),
            "the file is incomplete: it has 575 bytes, but 16 × 28",
        ),
        ([&array[..], b"x"].concat(), "the file has 577 bytes, but 16 × 28"),
        (array[..60].to_vec(), "the header breaks off"),
        (array[..8].to_vec(), "the header breaks off"),
        (vec![], "not a NumPy array"),
        (changed("NUMPY", "NUMPI"), "not a NumPy array"),
        (version, "format version 2.0; expected 1.0"),
        (changed("False", "True "), "the array is in Fortran order"),
        (changed("|u1", "|i1"), "the entries are of type '|i1'; expected bytes"),
        (changed("(16, 28)", "(448,)  "), "the shape is (448,); expected (switches, destinations)"),
        (changed("(16, 28)", "(28, 16)"), "the array has 28 × 16 entries, but its labels list 16"),
        (changed("'shape'", "'shade'"), "the header has no 'shape'"),
        (flipped, "the array does not fit its labels"),
    ] {
        let message = error(&array, &labels, &fabric);
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn damaged_labels_are_refused() {
    let fabric = figure_1();
    let (array, labels) = written(&fabric);
    let digest = labels.split("\"digest\": \"").nth(1).unwrap()[..16].to_owned();
    let leaf = fabric.switches()[0].guid.to_string();
    for (from, to, expected) in [
        ("dmodc/tables/1", "dmodc/tables/2", "2:11: schema: expected \"dmodc/tables/1\""),
        ("]\n}", "]\n", ": not JSON: EOF"),
        ("\"lids\"", "\"lide\"", "1:1: 'lids' is missing"),
        ("\"lids\": [1, ", "\"lids\": [", "guids: 28 of them, and 27 lids"),
        ("\"lids\": [1, ", "\"lids\": [1.5, ", "lids[0]: expected a number"),
        ("\"no_route\": 255", "\"no_route\": 254", "no_route: expected a number from 255 to 255"),
        (&*format!("[\"{leaf}\", "), "[\"leaf\", ", "switches[0]: expected a GUID"),
        (&*format!("[\"{leaf}\", "), "[\"0x77\", ", "fabric: the switches and destinations have"),
        (&*digest, "0123456789abcdef", "the array does not fit its labels"),
    ] {
        let changed = labels.replacen(from, to, 1);
        assert_ne!(changed, labels, "{from}");
        let message = error(&array, &changed, &fabric);
        assert!(message.contains(expected), "{message}");
    }
    // The labels are of tables of the same shape, from another run.
    let shuffled = labels.replacen("\"lids\": [1, 2,", "\"lids\": [2, 1,", 1);
    let message = error(&array, &shuffled, &fabric);
    assert!(message.contains("have another digest"), "{message}");
}

/// If a byte of either file changes, the result is an error or the same tables.
#[test]
fn no_changed_byte_goes_unnoticed() {
    let fabric = figure_1();
    let (array, labels) = written(&fabric);
    let labels = labels.into_bytes();
    let whole = read(&array[..], &labels, &fabric).unwrap();
    let mut read_anyway = 0;
    for (of_array, length) in [(true, array.len()), (false, labels.len())] {
        for at in 0..length {
            let (mut array, mut labels) = (array.clone(), labels.clone());
            let byte = if of_array { &mut array[at] } else { &mut labels[at] };
            *byte = if *byte == b' ' { b'\t' } else { byte.wrapping_add(1) };
            if let Ok(found) = read(&array[..], &labels, &fabric) {
                assert_eq!(found, whole, "byte {at}, array {of_array}");
                read_anyway += 1;
            }
        }
    }
    // Blanks that became tabs.
    assert!((1..300).contains(&read_anyway), "{read_anyway}");
}
