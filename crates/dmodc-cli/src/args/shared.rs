//! Arguments that several commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// A fabric to read. Its format is recognised from its content.
#[derive(Debug, Args)]
pub(crate) struct FabricArgs {
    /// The fabric: ibnetdiscover text (any mode but -l), an ibsim netlist, a subnet list (.lst),
    /// ibdiagnet2.db_csv or our JSON.
    pub(crate) fabric: PathBuf,
    /// Refuse a file that is damaged in any way, instead of using what is sound of it.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Which switches are leaves, if detection is wrong.
#[derive(Debug, Args)]
pub(crate) struct LeafArgs {
    /// Count ranks down from these switches (GUIDs, as in OpenSM's root_guid_file). Without this, ranks are
    /// counted up from the leaves. A fabric that is no fat tree and would lose pairs that way is an exception: its
    /// ranks are counted down from one root, which 'info' and 'route' name.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["leaf_min_nodes", "leaf_name"])]
    pub(crate) roots: Option<PathBuf>,
    /// Leaves are the switches with at least this number of nodes.
    #[arg(long, value_name = "N", conflicts_with = "leaf_name")]
    pub(crate) leaf_min_nodes: Option<usize>,
    /// Leaves are the switches whose description matches.
    #[arg(long, value_name = "REGEX")]
    pub(crate) leaf_name: Option<String>,
    /// Hosts whose description matches make no leaf (they are routed to all the same), and switches
    /// whose description matches are none.
    #[arg(long, value_name = "REGEX")]
    pub(crate) exclude: Option<String>,
}

/// The output of a command.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Write to this file (whole or not at all) instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print a summary as JSON. Without --output nothing else is written.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A format for fabrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FabricFormat {
    /// The output of ibnetdiscover.
    #[default]
    Ibnetdiscover,
    /// An ibsim netlist: the same text, if the simulator can hold the fabric.
    Ibsim,
    /// Everything that is known of the fabric; reads back the same.
    Json,
    /// A Graphviz drawing of the switches.
    Dot,
    /// A graph for NetworkX or Gephi.
    Graphml,
    /// Slurm's topology.conf.
    SlurmConf,
    /// Slurm's topology.yaml.
    SlurmYaml,
}

/// How destinations are numbered and port groups sorted.
#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    /// The order in which destinations are numbered: topological, lid, guid, or file:PATH.
    #[arg(long, value_name = "ORDER", default_value = "topological", conflicts_with = "orders")]
    pub(crate) destination_order: String,
    /// The order by which port groups are sorted: plane, guid (the paper's), or file:PATH.
    #[arg(long, value_name = "ORDER", default_value = "plane", conflicts_with = "orders")]
    pub(crate) switch_order: String,
    /// Take both orders, the leaves and what ranks are counted from out of a file that --save-orders wrote.
    #[arg(long, value_name = "FILE")]
    pub(crate) orders: Option<PathBuf>,
}

impl OutputArgs {
    /// Refuses two outputs on standard output.
    pub(crate) fn check(&self, others: &[&Option<PathBuf>]) -> anyhow::Result<()> {
        let is_stdout =
            |path: &&Option<PathBuf>| path.as_deref().is_some_and(|p| p.as_os_str() == "-");
        let product = usize::from(match &self.output {
            None => !self.json,
            output => is_stdout(&output),
        });
        let wanted =
            product + usize::from(self.json) + others.iter().filter(|o| is_stdout(o)).count();
        anyhow::ensure!(wanted <= 1, "only one thing can go to standard output");
        Ok(())
    }
}
