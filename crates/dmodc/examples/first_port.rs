//! The smallest engine of your own: the first of the ports that keep routes free of deadlock. A router takes it like ours.
//!
//! `cargo run --example first_port`
#![allow(clippy::print_stdout, reason = "an example shows its results")]

use std::sync::Arc;

use dmodc::{
    Coverage, Degradation, Engine, ForwardingTables, Live, Pgft, Preprocessing, RouteError, Router,
    Routing, alternative_ports, validity,
};

#[derive(Debug)]
struct FirstPort;

impl Engine for FirstPort {
    fn name(&self) -> &str {
        "first-port"
    }

    fn route(
        &self,
        live: Live<'_>,
        ready: &Preprocessing,
        tables: &mut ForwardingTables,
    ) -> Result<Coverage, RouteError> {
        let columns = tables.columns().clone();
        for (at, &target) in columns.switches().iter().enumerate() {
            for column in columns.of_switch(at) {
                tables.set(target, column, Some(columns.destinations()[column].port));
            }
            alternative_ports(live, ready, &[target], |s, _, ports| {
                for column in columns.of_switch(at) {
                    tables.set(s, column, ports.first().copied());
                }
            })?;
        }
        Ok(validity(live, ready, &columns)?)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fabric = "2; 4,4; 1,4; 1,1".parse::<Pgft>()?.fabric(Default::default());
    let no_faults = Degradation::none(&fabric);
    let routing = Routing::new(Live::new(&fabric, &no_faults), &Default::default());
    let router = Router::with_engine(Arc::new(FirstPort), Arc::new(fabric), routing, no_faults)?;
    assert!(router.check().nodes.is_deadlock_free());
    let busiest = router.traffic().all_to_all();
    println!(
        "the busiest port carries {} flows; {} would be possible",
        busiest.max(),
        busiest.bound
    );
    Ok(())
}
