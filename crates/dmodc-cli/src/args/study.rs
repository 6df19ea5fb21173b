//! Commands that run many cases or OpenSM itself: study and opensm.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use dmodc_lab::{ENGINES, SoakKind, SoakLength};
use dmodc_study::device::DeviceName;
use dmodc_study::engine::EngineName;
use dmodc_study::study::Shard;

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// Measure everything that a study plan asks for, or one shard of it.
    ///
    /// A cell is one draw of faults on one fabric, measured with all engines. Cells that an earlier run has finished are kept,
    /// so an interrupted run goes on where it stopped.
    Run(StudyRunArgs),
    /// Show which parts of a study are measured and which are missing.
    Status(StudyArgs),
    /// Join the results of all shards into one table.
    ///
    /// The table has the same bytes as that of a single run. A run without shards needs no merge.
    Merge(StudyArgs),
    /// Summarise a finished study: means, and comparisons of engines.
    ///
    /// Means are taken over all random draws of a degradation. Two engines are compared only on draws that both have measured.
    Summary(StudySummaryArgs),
    /// Draw the figures of a finished study, one for each fabric and question.
    ///
    /// A figure shows how loaded the worst port is with one traffic pattern, or how many entries change, against the amount of
    /// failed cables or switches. Figures are SVG files; PNG files are added if the program rsvg-convert is installed.
    Plot(StudyPlotArgs),
}

#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    /// The plan of the study: a TOML file. The comments in studies/quick.toml explain its lines.
    pub(crate) plan: PathBuf,
    /// Keep the results in this folder instead of NAME.study next to the plan.
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// Print the result as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StudySummaryArgs {
    #[command(flatten)]
    pub(crate) study: StudyArgs,
    /// Compare this engine with each of the others. Without this option, it is the first engine of the plan.
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<EngineName>,
}

#[derive(Debug, Args)]
pub(crate) struct StudyPlotArgs {
    /// The plan, a TOML file. studies/quick.toml is an example with comments.
    pub(crate) plan: PathBuf,
    /// The folder of the results, instead of NAME.study next to the plan. Figures are written into it. Or a file that ends in
    /// .svg, for exactly one figure.
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Read this table instead of the merged table in the folder of the results; it may be compressed with gzip (.gz).
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,
    /// Draw only this fabric of the plan.
    #[arg(long, value_name = "NAME")]
    pub(crate) fabric: Option<String>,
    /// Draw only this question: the load of the worst port with a traffic pattern (a2a, rp or sp), or the entries of
    /// the forwarding tables that change (moved). If the study has rates, rp-rate is the mean rate of the flows of rp. If a
    /// degradation has at least 1,000 draws, rp-rare shows how loaded the worst port is once in N draws.
    #[arg(long, value_name = "NAME")]
    pub(crate) pattern: Option<String>,
    /// Draw only what happens when cables fail, or when switches fail.
    #[arg(long, value_name = "cables|switches")]
    pub(crate) failed: Option<String>,
    /// Draw only these engines, in this order. Without slow engines, there are more draws to compare.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) engines: Vec<String>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StudyRunArgs {
    #[command(flatten)]
    pub(crate) study: StudyArgs,
    /// Measure only part I of N parts of the plan, such as 3/8. Under Slurm (sbatch --array, srun) and MPI (mpirun) this
    /// option is not needed: the part is taken from the environment.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Where cells are measured: cpu, gpu, or auto, which is the GPU of this machine if there is one. The rows are the same. The
    /// GPU routes with the engines dmodc and stable, and judges the tables of all engines.
    #[arg(long, value_name = "DEVICE", default_value_t = DeviceName::Cpu)]
    pub(crate) device: DeviceName,
    /// The file libdmodc.so, which OpenSM's engines need. Give it if it is neither next to dmodc nor installed.
    #[arg(long, value_name = "FILE")]
    pub(crate) plugin: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OpensmCommand {
    /// Run OpenSM on a simulated fabric, break parts of it, and check the tables.
    ///
    /// The lab starts the simulator ibsim and OpenSM with a routing engine. After each event it waits until OpenSM has uploaded
    /// its tables, reads them back from the simulated switches and checks them. It needs no InfiniBand hardware.
    Lab(LabArgs),
    /// Ask the plugin in a running OpenSM to number all destinations anew.
    ///
    /// The plugin keeps the numbers of destinations, so that routes stay in place. After many replacements, new numbers may
    /// balance better; the log of OpenSM says so. Renumbering moves most routes.
    Renumber(RenumberArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RenumberArgs {
    /// The state folder of the plugin: state_folder in dmodc.conf, or the folder that the log of OpenSM names.
    #[arg(long, value_name = "FOLDER", default_value = "/var/lib/dmodc")]
    pub(crate) state: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    /// The file that describes the fabric, in any format, or '-' for standard input.
    #[arg(required_unless_present = "preset", conflicts_with = "preset")]
    pub(crate) fabric: Option<PathBuf>,
    /// Use this preset instead of a file ('dmodc generate preset' lists them).
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// The routing engine: dmodc or one of OpenSM's own. Several engines, separated by commas, run one after the other.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "dmodc",
        value_parser = clap::builder::PossibleValuesParser::new(ENGINES))]
    pub(crate) engine: Vec<String>,
    /// Play the events in this script, or the word 'demo' for a built-in script. The language is explained below. Without
    /// this option, OpenSM only starts.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) faults: Option<PathBuf>,
    /// Play random events instead of a script: a number of them (200), or as many as fit into a time (90m, 2h). Events
    /// and rules are explained below.
    #[arg(long, value_name = "LENGTH", conflicts_with_all = ["faults", "unchecked", "engine"], value_parser = length)]
    pub(crate) soak: Option<SoakLength>,
    /// With --soak: the seed of the random events. The same seed gives the same events on the same fabric and machine. (A
    /// full disk can only be simulated by root, and a slow disk needs a C compiler.)
    #[arg(long, value_name = "N", default_value_t = 1, requires = "soak")]
    pub(crate) seed: u64,
    /// With --soak: draw only these kinds of events, separated by commas, such as adapter,late,new-host.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', requires = "soak")]
    pub(crate) only: Option<Vec<SoakKind>>,
    /// With --soak: after each event, write the fabric and the tables of the switches into this folder, as 0000.topo and
    /// 0000.lft, 0001.topo and 0001.lft and so on. Other commands of dmodc read these files.
    #[arg(long, value_name = "FOLDER", requires = "soak")]
    pub(crate) dump: Option<PathBuf>,
    /// With --soak: let the plugin learn a reference and keep its routes (reference = "learn" in dmodc.conf).
    #[arg(long, value_name = "WHICH", requires = "soak")]
    pub(crate) reference: Option<SoakReference>,
    /// The file libdmodc.so. Give it if it is neither next to dmodc nor installed.
    #[arg(long, value_name = "FILE")]
    pub(crate) plugin: Option<PathBuf>,
    /// Only measure times; do not read the tables back and check them. The check takes minutes on fabrics of ten thousand
    /// nodes.
    #[arg(long)]
    pub(crate) unchecked: bool,
    /// Print the result as JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SoakReference {
    Learn,
}

/// Reads a number of events, or a time in hours, minutes or seconds.
fn length(text: &str) -> Result<SoakLength, String> {
    let wanted =
        || format!("expected a number of events, or a time such as 90m or 2h, not '{text}'");
    let (number, unit) = match text.strip_suffix(['h', 'm', 's']) {
        Some(number) => (number, text.as_bytes()[text.len() - 1]),
        None => (text, 0),
    };
    let count: u64 = number.parse().map_err(|_| wanted())?;
    let seconds = |each: u64| count.checked_mul(each).map(Duration::from_secs).ok_or_else(wanted);
    Ok(match unit {
        b'h' => SoakLength::Time(seconds(3600)?),
        b'm' => SoakLength::Time(seconds(60)?),
        b's' => SoakLength::Time(seconds(1)?),
        _ => SoakLength::Events(usize::try_from(count).map_err(|_| wanted())?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_soak_is_read() {
        assert_eq!(length("200"), Ok(SoakLength::Events(200)));
        let minutes = |minutes: u64| Ok(SoakLength::Time(Duration::from_secs(60 * minutes)));
        assert_eq!(length("2h"), minutes(120));
        assert_eq!(length("90m"), minutes(90));
        assert_eq!(length("60s"), minutes(1));
        for text in
            ["", "h", "2 h", "-1", "1.5h", "2d", "99999999999999999999", "9999999999999999h"]
        {
            let error = length(text).unwrap_err();
            assert!(error.starts_with("expected a number of events, or a time"), "{error}");
        }
    }
}
