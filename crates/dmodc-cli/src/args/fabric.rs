//! Commands that read and write fabrics: generate, info, convert, degrade.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, Subcommand, ValueEnum};
use dmodc::fabric::{Directors, Pods, Spread};
use dmodc::{Amount, Departures, Pgft};

use super::shared::{FabricArgs, FabricFormat, LeafArgs, OutputArgs};

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    pub(crate) what: Generate,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Generate {
    /// Write any fat tree of the PGFT family, described by four lists of numbers.
    ///
    /// PGFT stands for Parallel Generalised Fat-Tree. The tuple "h; m1,…,mh; w1,…,wh; p1,…,ph" gives the number of levels,
    /// then for each level the children of a switch, the parents of the part below, and the parallel cables between the
    /// two.
    Pgft {
        /// The tuple: levels; children; parents; parallel cables. Example: "3; 2,2,3; 1,2,2; 1,2,1".
        tuple: Pgft,
        #[command(flatten)]
        options: GenerateOptions,
    },
    /// Write a fabric of leaves that are cabled to director switches.
    ///
    /// A director is a chassis with line chips and spine chips. Each line chip is cabled to all spine chips of its director. The
    /// cables of a leaf are divided evenly among the directors and spread over their line chips.
    Directors {
        #[command(flatten)]
        shape: DirectorsArgs,
        #[command(flatten)]
        options: GenerateOptions,
    },
    /// Write a fabric of four levels: pods with a mesh of two levels above their leaves, below cores.
    ///
    /// Each leaf is cabled to all lower switches of its pod, and these to all its upper switches. Each core is cabled to some of
    /// the upper switches of every pod.
    Pods {
        #[command(flatten)]
        shape: PodsArgs,
        #[command(flatten)]
        options: GenerateOptions,
    },
    /// Write a fabric that dmodc knows by name, or list the names.
    ///
    /// Each preset is a fat tree of the size of a real product or machine.
    Preset {
        /// The name of the preset, such as director-648. Leave it out to list all presets with their sizes.
        name: Option<String>,
        #[command(flatten)]
        options: GenerateOptions,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DirectorsArgs {
    /// The number of leaves; in each pod, if there are pods.
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
    /// The number of cables of each leaf, or of each middle switch of pods, to all directors together.
    #[arg(long, default_value_t = 8)]
    pub(crate) cables: u32,
    /// The number of parallel cables in the place of each cable between switches.
    #[arg(long, default_value_t = 1)]
    pub(crate) parallel: u32,
    /// Spread the cables of a leaf over neighbouring line chips (consecutive), or over line chips at equal distances
    /// (strided).
    #[arg(long, value_enum, default_value_t)]
    pub(crate) spread: SpreadChoice,
    /// Put another level below the directors: this number of pods, in which every leaf is cabled to every middle switch. Middle
    /// switches are then cabled to the directors, and leaves are not.
    #[arg(long, default_value_t = 0)]
    pub(crate) pods: u32,
    /// The number of middle switches in each pod.
    #[arg(long, default_value_t = 8)]
    pub(crate) middle: u32,
}

impl DirectorsArgs {
    /// Returns the shape.
    pub(crate) fn shape(&self) -> Directors {
        let &DirectorsArgs { leaves, nodes, directors, lines, spines, cables, parallel, .. } = self;
        let spread = match self.spread {
            SpreadChoice::Consecutive => Spread::Consecutive,
            SpreadChoice::Strided => Spread::Strided,
        };
        let (pods, middle) = (self.pods, self.middle);
        Directors {
            leaves,
            nodes,
            directors,
            lines,
            spines,
            cables,
            parallel,
            spread,
            pods,
            middle,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum SpreadChoice {
    #[default]
    Consecutive,
    Strided,
}

#[derive(Debug, Args)]
pub(crate) struct PodsArgs {
    /// The number of pods.
    #[arg(long, default_value_t = 4)]
    pub(crate) pods: u32,
    /// The number of leaves in each pod.
    #[arg(long, default_value_t = 8)]
    pub(crate) leaves: u32,
    /// The number of nodes on each leaf.
    #[arg(long, default_value_t = 8)]
    pub(crate) nodes: u32,
    /// The number of lower switches in each pod.
    #[arg(long, default_value_t = 8)]
    pub(crate) lower: u32,
    /// The number of upper switches in each pod.
    #[arg(long, default_value_t = 8)]
    pub(crate) upper: u32,
    /// The number of cores.
    #[arg(long, default_value_t = 16)]
    pub(crate) cores: u32,
    /// The number of cables of each core to each pod.
    #[arg(long, default_value_t = 4)]
    pub(crate) reach: u32,
}

impl PodsArgs {
    /// Returns the shape.
    pub(crate) fn shape(&self) -> Pods {
        let &PodsArgs { pods, leaves, nodes, lower, upper, cores, reach } = self;
        Pods { pods, leaves, nodes, lower, upper, cores, reach }
    }
}

#[derive(Debug, Args)]
pub(crate) struct GenerateOptions {
    /// Give GUIDs that follow the topology, or shuffled GUIDs as in a real machine room.
    #[arg(long, value_enum, default_value_t)]
    pub(crate) guids: GuidChoice,
    /// Let the fabric depart from its regular shape at random. With missing=1%, cables between switches are missing. With
    /// uneven=25%, leaves have some of their nodes on another leaf. With service=4, nodes are added on spines. With recabled=1,
    /// a pair of cables has its upper ends exchanged. Separate several of these by commas.
    #[arg(long, value_name = "KIND=AMOUNT,…")]
    pub(crate) departures: Option<Departures>,
    /// The seed for shuffled GUIDs and for departures. The same seed gives the same fabric.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// The format of the file.
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
    /// Print the result as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// The forwarding tables, for formats of simulators, which hold routes: a dump of OpenSM, dump_lfts.sh, ibroute or
    /// 'dmodc route', or an array (FILE.npy).
    pub(crate) tables: Option<PathBuf>,
    /// The format to write.
    #[arg(long, value_enum)]
    pub(crate) format: ConvertFormat,
    /// With --format simgrid: write only the routes of the pairs in this file, one 'source destination' in each line. Without
    /// it, all pairs have a route, which is possible for up to 1,024 nodes.
    #[arg(long, value_name = "FILE")]
    pub(crate) pairs: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// A format that 'dmodc convert' writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConvertFormat {
    /// A fabric alone.
    Fabric(FabricFormat),
    /// A fabric with routes.
    Simulator(SimulatorFormat),
}

/// A format of a simulator: a fabric with routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SimulatorFormat {
    /// A platform of SimGrid. It needs tables.
    Simgrid,
    /// A folder of tables for the fat-tree model of CODES. It needs tables.
    Codes,
    /// A network of LogGOPSim. It needs tables.
    Loggopsim,
}

impl ValueEnum for ConvertFormat {
    fn value_variants<'a>() -> &'a [Self] {
        use {FabricFormat as F, SimulatorFormat as S};
        &[
            ConvertFormat::Fabric(F::Ibnetdiscover),
            ConvertFormat::Fabric(F::Ibsim),
            ConvertFormat::Fabric(F::Json),
            ConvertFormat::Fabric(F::Dot),
            ConvertFormat::Fabric(F::Graphml),
            ConvertFormat::Fabric(F::SlurmConf),
            ConvertFormat::Fabric(F::SlurmYaml),
            ConvertFormat::Fabric(F::SlurmBlock),
            ConvertFormat::Simulator(S::Simgrid),
            ConvertFormat::Simulator(S::Codes),
            ConvertFormat::Simulator(S::Loggopsim),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            ConvertFormat::Fabric(format) => format.to_possible_value(),
            ConvertFormat::Simulator(format) => format.to_possible_value(),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DegradeArgs {
    #[command(flatten)]
    pub(crate) fabric: FabricArgs,
    /// Remove this number of cables between switches, drawn at random: a count such as 5, or a percentage such as 1%.
    #[arg(long, value_name = "COUNT|PERCENT%", default_value = "0")]
    pub(crate) cables: Amount,
    /// Remove this number of switches, drawn at random among the switches that are not leaves: a count or a percentage.
    #[arg(long, value_name = "COUNT|PERCENT%", default_value = "0")]
    pub(crate) switches: Amount,
    /// Let --cables also remove cables between a node and its switch.
    #[arg(long)]
    pub(crate) any_cable: bool,
    /// Let --switches also remove leaves.
    #[arg(long)]
    pub(crate) any_switch: bool,
    /// Remove one named part. A switch is given by its name or GUID: "L1-0". A cable is given by one of its two ports:
    /// "L1-0/7" or "0x0002c90100000001/7". Repeat the option to remove several parts.
    #[arg(long, value_name = "SWITCH[/PORT]")]
    pub(crate) remove: Vec<String>,
    /// The seed of the random draw. The same seed removes the same parts.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
