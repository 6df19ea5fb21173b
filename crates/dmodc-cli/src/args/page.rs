//! Arguments of `page`.

use std::path::PathBuf;

use clap::Args;

use super::serve::ServeEngine;
use super::shared::LeafArgs;

#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// The file that describes the fabric, in any format, or '-' for standard input.
    #[arg(required_unless_present = "preset", conflicts_with = "preset")]
    pub(crate) fabric: Option<PathBuf>,
    /// Show this preset instead of a file ('dmodc generate preset' lists them).
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// Stop with an error if any line of the file is damaged. Without this option, damaged lines are reported and skipped.
    #[arg(long)]
    pub(crate) strict: bool,
    /// The engine that routes at first. Another one can be chosen on the page.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) engine: ServeEngine,
    /// Let the page begin with this part failed. A switch is given by its name or GUID: "L1-0". A cable is given by one of its
    /// two ports: "L1-0/7" or "0x0002c90100000001/7". Repeat the option for several parts.
    #[arg(long, value_name = "SWITCH[/PORT]")]
    pub(crate) fail: Vec<String>,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    /// Write the page to this file instead of standard output. If anything goes wrong, the file is not changed.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}
