//! Computes tables that are too large for memory, row by row.
//!
//! `cargo run --release --example stream`
#![allow(clippy::print_stdout, reason = "an example shows its results")]

use dmodc::{Degradation, Dmodc, Live, NO_ROUTE, Pgft, RouteError, Routing, stream_switches};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fabric = "3; 8,8,16; 1,8,8; 1,1,1".parse::<Pgft>()?.fabric(Default::default());
    let no_faults = Degradation::none(&fabric);
    let live = Live::new(&fabric, &no_faults);
    let routing = Routing::new(live, &Default::default());
    let ready = routing.preprocess(live);

    let mut routed = 0;
    let coverage = stream_switches(&Dmodc, live, &ready, routing.columns(), |_switch, row| {
        // A real program would write the row to a file, or to the switch.
        routed += row.iter().filter(|entry| **entry != NO_ROUTE).count();
        Ok::<(), RouteError>(())
    })?;
    println!("{routed} entries for {} switches", fabric.switches().len());
    assert!(coverage.is_valid());
    Ok(())
}
