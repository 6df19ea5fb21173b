//! Arguments of `page`.

use std::path::PathBuf;

use clap::Args;

use super::serve::ShownArgs;
use super::shared::LeafArgs;

#[derive(Debug, Args)]
pub(crate) struct PageArgs {
    /// The file that describes the fabric, in any format, or '-' for standard input.
    #[arg(required_unless_present = "preset", conflicts_with = "preset")]
    pub(crate) fabric: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
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
