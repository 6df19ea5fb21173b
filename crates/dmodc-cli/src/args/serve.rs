//! Arguments of `serve`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::shared::LeafArgs;

const FOLLOWING: &str = "Following a live fabric";
const KEEPING: &str = "History";
const ACCESS: &str = "Address and access";

/// An engine that the page offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ServeEngine {
    /// The paper's algorithm, for any fabric.
    #[default]
    Dmodc,
    /// Dmodc that keeps the routes of the reference.
    Stable,
    /// Dmodc with the paper's dividers everywhere.
    Paper,
    /// Ports drawn at random.
    Random,
    /// The closed form, for whole PGFTs only.
    Dmodk,
}

/// What `serve` and `page` have in common: what is shown at first.
#[derive(Debug, Args)]
pub(crate) struct ShownArgs {
    /// Show this preset instead of a file ('dmodc generate preset' lists them).
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// Stop with an error if any line of the file is damaged. Without this option, damaged lines are reported and skipped.
    #[arg(long)]
    pub(crate) strict: bool,
    /// The engine that routes at first. Another one can be chosen on the page.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) engine: ServeEngine,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The file that describes the fabric, in any format, or '-' for standard input. With --follow-command or --follow-file it
    /// is the whole fabric, and may be left out: then the first reading is.
    #[arg(required_unless_present_any = ["preset", "follow_command", "follow_file"], conflicts_with = "preset")]
    pub(crate) fabric: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
    /// For the engine stable: the file of the whole fabric before any fault, in any format. Without this option, the reference
    /// is the fabric with the cables that it lacks, compared with its regular shape.
    #[arg(long, value_name = "FABRIC")]
    pub(crate) reference: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    /// The port to listen at. 0 is any free port; the first line of the output has the address.
    #[arg(long, help_heading = ACCESS, default_value_t = 7474)]
    pub(crate) port: u16,
    /// The address to listen at. Any other than a loopback address needs a token.
    #[arg(long, help_heading = ACCESS, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) listen: IpAddr,
    /// Ask for the token in this file: its first line, of at least 16 characters. The environment variable DMODC_TOKEN has
    /// the same effect.
    #[arg(long, help_heading = ACCESS, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Keep events and scenarios in this file. The word 'none' keeps them in memory. Without this option the file is in the
    /// folder dmodc of $XDG_STATE_HOME (or of ~/.local/state), and its name belongs to the fabric.
    #[arg(long, help_heading = KEEPING, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,
    /// Remove events after this number of days.
    #[arg(long, help_heading = KEEPING, value_name = "DAYS", default_value_t = 90, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub(crate) history_days: u32,
    /// Remove the oldest events if all have more than this number of megabytes.
    #[arg(long, help_heading = KEEPING, value_name = "MB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) history_megabytes: u32,
    /// Run this command again and again, and take what it prints for the present fabric; for example "ibnetdiscover". Nothing
    /// can be broken on the page then.
    #[arg(long, help_heading = FOLLOWING, value_name = "COMMAND", conflicts_with_all = ["follow_file", "follow_events", "preset"])]
    pub(crate) follow_command: Option<String>,
    /// Read this file again and again, and take it for the present fabric.
    #[arg(long, help_heading = FOLLOWING, value_name = "FILE", conflicts_with_all = ["follow_events", "preset"])]
    pub(crate) follow_file: Option<PathBuf>,
    /// Follow the event file of the plugin for OpenSM (event_file in dmodc.conf).
    #[arg(long, help_heading = FOLLOWING, value_name = "FILE", requires = "fabric")]
    pub(crate) follow_events: Option<PathBuf>,
    /// With --follow-events: also show how the plugin is doing, from its status file (status_file in dmodc.conf).
    #[arg(long, help_heading = FOLLOWING, value_name = "FILE", requires = "follow_events")]
    pub(crate) follow_status: Option<PathBuf>,
    /// Read every this number of seconds.
    #[arg(long, help_heading = FOLLOWING, value_name = "SECONDS", default_value_t = 10.0)]
    pub(crate) every: f64,
}
