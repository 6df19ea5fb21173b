//! Reads a fabric, routes it, kills a cable by its name, re-routes, and judges the result.
//!
//! `cargo run --example reroute`
#![allow(clippy::print_stdout, reason = "an example shows its results")]

use dmodc::{Change, Router};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dump = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/clean/fabric.topo");
    let fabric = dmodc_formats::read(&std::fs::read(dump)?)?.fabric;
    let mut router = Router::of(fabric)?;

    let cable = router.fabric().find_part("leaf-0/3")?;
    let delta = router.apply(&[Change::Dies(cable)])?;

    let verdict = router.check().nodes;
    assert!(verdict.is_sound() && verdict.is_deadlock_free());
    println!("{}, {} entries changed", verdict.delivery(), delta.entry_count());
    println!(
        "the busiest port carries {} flows of all-to-all",
        router.traffic().all_to_all().max()
    );
    Ok(())
}
