//! Arguments that several commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use dmodc_study::answers::input::{LeafRequest, OrderRequest};

const LEAVES: &str = "Leaves and ranks (if detection is wrong)";
const ORDERS: &str = "Orders (choice among equally short routes)";

/// A fabric to read. Its format is recognised from its content.
#[derive(Debug, Args)]
pub(crate) struct FabricArgs {
    /// The file that describes the fabric, or '-' for standard input. The format is recognised from the content:
    /// ibnetdiscover text (any mode except -l), an ibsim netlist, a subnet list (.lst), ibdiagnet2.db_csv, or the JSON
    /// that 'dmodc convert' writes.
    pub(crate) fabric: PathBuf,
    /// Stop with an error if any line of an input file is damaged. Without this option, damaged lines are reported
    /// and skipped.
    #[arg(long)]
    pub(crate) strict: bool,
}

/// Which switches are leaves, if detection is wrong.
#[derive(Debug, Args)]
pub(crate) struct LeafArgs {
    /// Count ranks downwards from the switches listed in this file, one GUID in each line, as in OpenSM's
    /// root_guid_file. Without this option, ranks are counted upwards from the leaves. There is one exception: a fabric
    /// that is not a fat tree and would lose pairs is ranked from one root, which 'info' and 'route' name.
    #[arg(long, help_heading = LEAVES, value_name = "FILE", conflicts_with_all = ["leaf_min_nodes", "leaf_name"])]
    pub(crate) roots: Option<PathBuf>,
    /// A switch is a leaf if it has at least this number of nodes.
    #[arg(long, help_heading = LEAVES, value_name = "N", conflicts_with = "leaf_name")]
    pub(crate) leaf_min_nodes: Option<usize>,
    /// A switch is a leaf if its description matches this regular expression.
    #[arg(long, help_heading = LEAVES, value_name = "REGEX")]
    pub(crate) leaf_name: Option<String>,
    /// A host whose description matches this regular expression does not make its switch a leaf; it still gets routes.
    /// A switch whose description matches is never a leaf.
    #[arg(long, help_heading = LEAVES, value_name = "REGEX")]
    pub(crate) exclude: Option<String>,
}

/// The output of a command.
#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Write the result to this file instead of standard output. If anything goes wrong, the file is not changed.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print a summary as JSON instead of text. Without --output, only the summary is written.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A format for fabrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FabricFormat {
    /// The output of ibnetdiscover.
    #[default]
    Ibnetdiscover,
    /// A netlist for the simulator ibsim.
    Ibsim,
    /// Everything that dmodc knows about the fabric, without loss.
    Json,
    /// A Graphviz drawing of the switches.
    Dot,
    /// A graph for NetworkX or Gephi.
    Graphml,
    /// Slurm's topology.conf.
    SlurmConf,
    /// Slurm's topology.yaml.
    SlurmYaml,
    /// Slurm's topology.conf for the plugin topology/block.
    SlurmBlock,
}

/// How destinations are numbered and port groups sorted.
#[derive(Debug, Args)]
pub(crate) struct OrderArgs {
    /// Number the destinations in this order: topological, lid, guid, or file:PATH for an order that was saved. With
    /// types:FILE the nodes are numbered type by type, so that each type is balanced by itself; each line of FILE has a type
    /// and a regular expression for names of nodes. type-regex:REGEX,REGEX… needs no file, and each expression is a type.
    #[arg(long, help_heading = ORDERS, value_name = "ORDER", default_value = "topological", conflicts_with = "orders")]
    pub(crate) destination_order: String,
    /// Sort the port groups of each switch in this order: plane, guid (as in the paper), or file:PATH for an order that
    /// was saved.
    #[arg(long, help_heading = ORDERS, value_name = "ORDER", default_value = "plane", conflicts_with = "orders")]
    pub(crate) switch_order: String,
    /// Use the orders, leaves and ranks in a file that 'dmodc route --save-orders' wrote. This keeps routes in place
    /// after a fault.
    #[arg(long, help_heading = ORDERS, value_name = "FILE")]
    pub(crate) orders: Option<PathBuf>,
}

impl LeafArgs {
    /// Returns what is asked for, as the library takes it.
    pub(crate) fn request(&self) -> LeafRequest {
        let LeafArgs { roots, leaf_min_nodes, leaf_name, exclude } = self;
        LeafRequest {
            roots: roots.clone(),
            min_nodes: *leaf_min_nodes,
            name: leaf_name.clone(),
            exclude: exclude.clone(),
        }
    }
}

impl OrderArgs {
    /// Returns what is asked for, as the library takes it.
    pub(crate) fn request(&self) -> OrderRequest {
        OrderRequest {
            destinations: self.destination_order.clone(),
            switches: self.switch_order.clone(),
            saved: self.orders.clone(),
        }
    }
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
        anyhow::ensure!(
            wanted <= 1,
            "two results cannot both go to standard output: write one of them to a file (--output FILE)"
        );
        Ok(())
    }
}
