//! Commands that read and write fabrics: generate, info, convert, degrade.

use clap::{Args, Subcommand, ValueEnum};
use dmodc::{Amount, Pgft};

use super::shared::{FabricArgs, FabricFormat, LeafArgs, OutputArgs};

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    pub(crate) what: Generate,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Generate {
    /// A Parallel Generalised Fat-Tree "h; m1,…,mh; w1,…,wh; p1,…,ph".
    Pgft {
        /// Levels; children, parents and parallel links of each level, such as "3; 2,2,3; 1,2,2; 1,2,1".
        tuple: Pgft,
        #[command(flatten)]
        options: GenerateOptions,
    },
    /// Leaves that are cabled to directors: chassis switches with line and spine chips. Each line chip is cabled to all
    /// spine chips of its director. The cables of a leaf are divided evenly among the directors and spread over line chips.
    Directors {
        #[command(flatten)]
        shape: DirectorsArgs,
        #[command(flatten)]
        options: GenerateOptions,
    },
    /// A named fabric; without a name, the list of all.
    Preset {
        /// Such as director-648 or quantum2-max.
        name: Option<String>,
        #[command(flatten)]
        options: GenerateOptions,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DirectorsArgs {
    /// The number of leaves.
    #[arg(long, default_value_t = 16)]
    pub(crate) leaves: u32,
    /// The number of nodes on each leaf.
    #[arg(long, default_value_t = 8)]
    pub(crate) nodes: u32,
    /// The number of directors.
    #[arg(long, default_value_t = 2)]
    pub(crate) directors: u32,
    /// The number of line chips of each director.
    #[arg(long, default_value_t = 8)]
    pub(crate) lines: u32,
    /// The number of spine chips of each director.
    #[arg(long, default_value_t = 8)]
    pub(crate) spines: u32,
    /// The number of cables of each leaf, to all directors together.
    #[arg(long, default_value_t = 8)]
    pub(crate) cables: u32,
    /// The number of parallel cables in the place of each cable between switches.
    #[arg(long, default_value_t = 1)]
    pub(crate) parallel: u32,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateOptions {
    /// The order of GUIDs: ascending with the topology, or shuffled as in a machine room.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) guids: GuidChoice,
    /// The seed of shuffled GUIDs.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// The format.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: FabricFormat,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum GuidChoice {
    #[default]
    Topological,
    Shuffled,
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    #[command(flatten)]
    pub(crate) leaves: LeafArgs,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// The format to write.
    #[arg(long, value_enum)]
    pub(crate) format: FabricFormat,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DegradeArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// Remove inter-switch cables at random: a count, or a percentage of them.
    #[arg(long, value_name = "COUNT|PERCENT%", default_value = "0")]
    pub(crate) cables: Amount,
    /// Remove switches at random, leaves excepted: a count, or a percentage of them.
    #[arg(long, value_name = "COUNT|PERCENT%", default_value = "0")]
    pub(crate) switches: Amount,
    /// Draw --cables among nodes' own cables, too.
    #[arg(long)]
    pub(crate) any_cable: bool,
    /// Draw --switches among leaves, too.
    #[arg(long)]
    pub(crate) any_switch: bool,
    /// Remove a switch, or with /PORT the cable in that port of a switch or adapter, by name or GUID:
    /// "L1-0", "L1-0/7", "0x0002c90100000001/7". May be given often. A name that several have is refused with
    /// their GUIDs, an unknown one with similar names.
    #[arg(long, value_name = "SWITCH[/PORT]")]
    pub(crate) remove: Vec<String>,
    /// The seed of the draw.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
