//! The fabric, leaves and orders that the arguments ask for.

use anyhow::Result;
use dmodc::{Fabric, LeafChoice, LeafRule};
use dmodc_formats::Reading;
use dmodc_study::answers::input;
pub(crate) use dmodc_study::answers::input::{HealthyFabric, OrderChoice};

use crate::args::{FabricArgs, LeafArgs, OrderArgs};
use crate::source::name;
use crate::text;

/// Returns a fabric. Problems of its file are reported on standard error.
pub(crate) fn fabric(args: &FabricArgs) -> Result<Fabric> {
    let reading = reading(args)?;
    for line in text::dirt(&reading.dirt) {
        eprintln!("dmodc: {}: {line}", name(&args.fabric));
    }
    Ok(reading.fabric)
}

/// Returns a fabric, with everything that its reader noticed.
pub(crate) fn reading(args: &FabricArgs) -> Result<Reading> {
    input::reading(&args.fabric, args.strict)
}

/// Returns the fabric with the excluded hosts set aside, and the rule for leaves that the arguments ask for.
pub(crate) fn leaf_rule(args: &LeafArgs, fabric: Fabric) -> Result<(Fabric, LeafRule)> {
    input::leaf_rule(&args.request(), fabric)
}

/// Returns what the arguments say about leaves.
#[cfg_attr(not(feature = "serve"), allow(dead_code, reason = "only 'dmodc serve' asks"))]
pub(crate) fn leaf_choice(args: &LeafArgs) -> Result<LeafChoice> {
    input::leaf_choice(&args.request())
}

/// Returns the orders that the arguments ask for.
pub(crate) fn order(args: &OrderArgs) -> Result<OrderChoice> {
    input::order(&args.request())
}
