//! The C programs, by themselves and under valgrind.

use std::fs;

use crate::header;
use crate::workshop::{Program, Recipe, STRICT, folder, has};

fn example(text: &str) {
    assert!(text.contains("entries changed\nswitch 0x"), "{text}");
    assert!(text.ends_with("6 of 6 pairs are delivered\n"), "{text}");
}

#[test]
fn the_example_works() {
    let test = "the_example_works";
    if !has("cc", test) {
        return;
    }
    let program = Program::new("examples/reroute.c");
    example(&program.run(&[]));
    if has("valgrind", test) {
        example(&program.run_checked(&[]));
    }
}

#[test]
fn every_function_works() {
    if has("cc", "every_function_works") {
        Program::new("tests/c/every_function.c").run(&[]);
    }
}

/// Every function of the header is called by the program that says so, and by the one with random arguments.
#[test]
fn every_function_is_called() {
    for file in ["every_function.c", "fuzz.c"] {
        let text = fs::read_to_string(folder().join("tests/c").join(file)).unwrap()
            + &fs::read_to_string(folder().join("tests/c/check.h")).unwrap();
        for function in header::functions() {
            assert!(text.contains(&format!("{function}(")), "{file} does not call {function}");
        }
    }
}

/// C and C++ agree with Rust on the sizes of records.
#[test]
fn records_have_their_sizes() {
    use dmodc_engine::error::DmodcStatus;
    use dmodc_engine::records::*;
    let sizes = [
        size_of::<DmodcStatus>(),
        size_of::<DmodcSwitch>(),
        size_of::<DmodcAdapter>(),
        size_of::<DmodcEndPort>(),
        size_of::<DmodcCable>(),
        size_of::<DmodcNode>(),
        size_of::<DmodcCounts>(),
        size_of::<DmodcChange>(),
        size_of::<DmodcEntry>(),
        size_of::<DmodcWrite>(),
        size_of::<DmodcVerdict>(),
        size_of::<DmodcCheck>(),
    ];
    // These numbers are part of the interface: they never change.
    assert_eq!(sizes, [4, 16, 16, 24, 24, 32, 16, 16, 8, 16, 40, 64]);
    let test = "records_have_their_sizes";
    let printed = sizes.map(|size| size.to_string()).join(" ") + "\n";
    let libraries = ["-ldmodc-engine"];
    let plus = ["-x", "c++", "-std=c++11", "-Wall", "-Wextra", "-Werror", "-pedantic"];
    for (compiler, options) in [("cc", &STRICT[..]), ("c++", &plus)] {
        if has(compiler, test) {
            let recipe = Recipe { compiler, options, libraries: &libraries };
            let program = Program::with("tests/c/sizes.c", compiler, recipe);
            assert_eq!(program.run(&[]), printed);
        }
    }
}

#[test]
fn sixty_four_threads_agree() {
    if has("cc", "sixty_four_threads_agree") {
        Program::new("tests/c/threads.c").run(&[]);
    }
}

#[test]
fn a_lack_of_memory_is_an_error() {
    if has("cc", "a_lack_of_memory_is_an_error") {
        Program::new("tests/c/memory.c").run(&[]);
    }
}

#[test]
fn random_calls_give_errors_and_nothing_worse() {
    if has("cc", "random_calls_give_errors_and_nothing_worse") {
        let program = Program::new("tests/c/fuzz.c");
        for seed in 1..=8 {
            program.run(&[&seed.to_string(), "30000"]);
        }
    }
}

/// The same programs under valgrind.
#[test]
fn valgrind_finds_nothing() {
    let test = "valgrind_finds_nothing";
    if !has("cc", test) || !has("valgrind", test) {
        return;
    }
    Program::new("tests/c/every_function.c").run_checked(&[]);
    Program::new("tests/c/threads.c").run_checked(&["1", "without-a-child"]);
    Program::new("tests/c/fuzz.c").run_checked(&["9", "5000"]);
}
