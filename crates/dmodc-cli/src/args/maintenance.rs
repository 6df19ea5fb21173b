//! Commands that plan work on a fabric: drain, repair.

use std::path::PathBuf;

use clap::Args;
use dmodc::advise::DrainLimits;
use dmodc_study::engine::EngineName;

use super::routing::{ReferenceArg, RoutingArgs};
use super::shared::{FabricArgs, LeafArgs, OrderArgs};

#[derive(Debug, Args)]
pub(crate) struct DrainArgs {
    #[command(flatten)]
    pub(crate) routing: RoutingArgs,
    /// The file that lists the parts, one in each line: a switch by its name or GUID, or a cable by one of its two ports, such
    /// as "L1-0/7" or "0x0002c90100000001/7". What follows a # at the beginning of a line or after a blank is a comment,
    /// unless it belongs to the name of a switch.
    #[arg(long, value_name = "FILE")]
    pub(crate) parts: PathBuf,
    /// The limits that every state must keep to, separated by commas; they are explained below.
    #[arg(long, value_name = "LIMIT=VALUE,…", default_value = "lost=0")]
    pub(crate) keep: DrainLimits,
    /// Judge states by this number of shifts, drawn at random. If the fabric has no more shifts, all of them are taken.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) shifts: u32,
    /// Judge at most this number of states in an exact search. If there are more, the search is greedy.
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) states: usize,
    /// Print the result as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RepairArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// The file of the whole fabric before any fault, in any format. Parts are matched by GUID.
    #[arg(long, value_name = "FABRIC")]
    pub(crate) reference: PathBuf,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    /// The routing engine: stable keeps the routes of the reference where they still work; dmodc, paper and random are also
    /// possible, each also with +relief after it.
    #[arg(long, default_value = "stable")]
    pub(crate) engine: EngineName,
    /// The seed of the engine random.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
    /// Stop after this number of repairs.
    #[arg(long, value_name = "N")]
    pub(crate) steps: Option<usize>,
    /// Judge states by this number of shifts, drawn at random. If the fabric has no more shifts, all of them are taken.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) shifts: u32,
    /// Print the result as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the steps to this CSV file.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Draw what the repairs bring back into this SVG file.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

impl RepairArgs {
    /// Returns how the fabric is routed.
    pub(crate) fn routing(self) -> RoutingArgs {
        let RepairArgs { fabric, reference, leaves, engine, seed, order, .. } = self;
        let reference = Some(ReferenceArg::File(reference));
        RoutingArgs { fabric, leaves, engine, reference, seed, order }
    }
}
