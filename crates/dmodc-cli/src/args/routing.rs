//! How a fabric is routed: the arguments of every command that computes forwarding tables.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use dmodc_study::engine::EngineName;

use super::shared::{FabricArgs, LeafArgs, OrderArgs};

/// The reference of the engine stable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReferenceArg {
    /// It is inferred from the fabric.
    Inferred,
    /// It is read from a file.
    File(PathBuf),
}

fn reference_parser() -> impl TypedValueParser<Value = ReferenceArg> {
    PathBufValueParser::new().map(|path| match path.to_str() {
        Some("inferred") => ReferenceArg::Inferred,
        _ => ReferenceArg::File(path),
    })
}

/// A fabric, and how it is routed.
#[derive(Debug, Args)]
pub(crate) struct RoutingArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    /// The routing engine: dmodc, paper, stable, dmodk, random, one of these with +relief after it, or for 'dmodc route'
    /// opensm:NAME. The help of 'dmodc route' explains them.
    #[arg(long, default_value = "dmodc")]
    pub(crate) engine: EngineName,
    /// For --engine stable: the file of the whole fabric before any fault, in any format. Its routes are kept where they
    /// still work. Parts are matched by GUID. The word 'inferred', which is the default, stands for the fabric itself with the
    /// cables that it lacks, compared with its regular shape.
    #[arg(long, value_name = "FABRIC", value_parser = reference_parser())]
    pub(crate) reference: Option<ReferenceArg>,
    /// The seed of the engine random.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) order: OrderArgs,
}
