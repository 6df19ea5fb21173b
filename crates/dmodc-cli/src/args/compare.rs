//! The command compare.

use std::path::PathBuf;

use clap::Args;

use super::shared::{FabricArgs, LeafArgs};

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// The intended fabric: a fabric in any format, a topology file of ibutils (.topo), or a CSV file of cables. Without this
    /// option, the cables between switches are compared with the regular shape of the fabric itself.
    #[arg(long, value_name = "INTENDED")]
    pub(crate) with: Option<PathBuf>,
    /// Judge at most this number of steps: what each brings in node pairs and congestion risk. Each takes about as long as
    /// routing the fabric twice. With 0, nothing is judged, and small repairs come first.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) judge: usize,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    /// Print the result as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the steps to this CSV file, one in each line.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
}
