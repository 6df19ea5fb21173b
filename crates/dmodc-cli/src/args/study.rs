//! Commands that run many cases or OpenSM itself: study and opensm.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use dmodc_lab::{ENGINES, SoakKind, SoakLength};
use dmodc_study::engine::EngineName;
use dmodc_study::study::Shard;

#[derive(Debug, Subcommand)]
pub(crate) enum StudyCommand {
    /// Measure everything, or one shard of it. Cells that an earlier run has finished are kept.
    Run(StudyRunArgs),
    /// Report what is measured and what is missing; the answer is no if something is missing.
    Status(StudyArgs),
    /// Merge the tables of all shards, to the same bytes as those of a single run.
    Merge(StudyArgs),
    /// Summarise the merged table: means over throws, and comparisons of engines on equal throws.
    Summary(StudySummaryArgs),
    /// Draw the merged table: for each fabric and each traffic pattern one figure, and one for what changes.
    Plot(StudyPlotArgs),
}

#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    /// The plan: a TOML file; studies/quick.toml explains itself.
    pub(crate) plan: PathBuf,
    /// The folder of the results, instead of NAME.study next to the plan.
    #[arg(short, long, value_name = "FOLDER")]
    pub(crate) output: Option<PathBuf>,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Run and merge write the same for the plan's first engine: NAME-summary.md to read, NAME-summary.csv with \
                  all means, and NAME-versus.csv with every pair of engines over the throws that both have."
)]
pub(crate) struct StudySummaryArgs {
    #[command(flatten)]
    pub(crate) study: StudyArgs,
    /// The engine that is compared with each of the others; by default the plan's first one.
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<EngineName>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Without options, all figures are written: STUDY-FABRIC-PATTERN.svg, or STUDY-FABRIC-switches-PATTERN.svg if the \
                  plan has failed switches after failed cables. Each is also written as PNG if rsvg-convert is installed. \
                  Engines are compared on the draws of faults that all of them have.\n\n\
                  One figure, from a table in a record:\n  \
                  dmodc study plot studies/stable.toml --table studies/record/stable/stable.csv.gz \\\n    \
                  --fabric full --pattern sp --failed cables -o figure.svg"
)]
pub(crate) struct StudyPlotArgs {
    /// The plan: a TOML file; studies/quick.toml explains itself.
    pub(crate) plan: PathBuf,
    /// The folder of the results, instead of NAME.study next to the plan; figures are written into it. Or a file that ends in
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
    /// the forwarding tables that change (moved).
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
    /// Measure only this part of the plan. Without it, the part is taken from the environment of a Slurm array or step,
    /// or of MPI ranks, so that sbatch --array, srun and mpirun need no options.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// The plugin, for OpenSM's engines, if it is neither next to this program nor among the installed libraries.
    #[arg(long, value_name = "FILE")]
    pub(crate) plugin: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum OpensmCommand {
    /// Start ibsim and OpenSM on a fabric, let things happen to it, and report on each.
    #[command(after_help = dmodc_lab::GRAMMAR, after_long_help = format!("{}\n{SOAK}", dmodc_lab::GRAMMAR))]
    Lab(LabArgs),
    /// Ask the plugin to number all destinations anew: when replacements and growth have cost balance, and routes
    /// may move.
    Renumber(RenumberArgs),
}

#[derive(Debug, Args)]
pub(crate) struct RenumberArgs {
    /// The state folder of the plugin, as state_folder in dmodc.conf names it.
    #[arg(long, value_name = "FOLDER", default_value = "/var/lib/dmodc")]
    pub(crate) state: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct LabArgs {
    /// The fabric: a file in any format, or - for standard input.
    #[arg(required_unless_present = "preset", conflicts_with = "preset")]
    pub(crate) fabric: Option<PathBuf>,
    /// A preset instead of a file.
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Option<String>,
    /// The engine: dmodc, or one of OpenSM's own (minhop, updn, dnup, ftree, sssp, dfsssp, lash, nue); or
    /// several, separated by commas: one run after the other.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "dmodc",
        value_parser = clap::builder::PossibleValuesParser::new(ENGINES))]
    pub(crate) engine: Vec<String>,
    /// The file of a script of events (see below), or 'demo'. Without it, only the start is reported.
    #[arg(long, value_name = "SCRIPT")]
    pub(crate) faults: Option<PathBuf>,
    /// Let random events happen instead: a number of them (200), or for a time (90m, 2h). Cables and switches die
    /// and are repaired, hosts go, come back or come late, adapters and switches are replaced, the fabric grows and
    /// is recabled, OpenSM is restarted, killed and handed over, and the disk of the state folder is full or slow.
    /// After each event the tables are compared and followed, and their balance is compared with that of a fresh
    /// numbering (see below).
    #[arg(long, value_name = "LENGTH", conflicts_with_all = ["faults", "unchecked", "engine"], value_parser = length)]
    pub(crate) soak: Option<SoakLength>,
    /// The seed from which the events of --soak are drawn. The same seed gives the same events on the same fabric, as long as the
    /// machine can do the same: a full disk needs root, a slow one a C compiler.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "soak")]
    pub(crate) seed: u64,
    /// With --soak: only these kinds of events, such as adapter,late,new-host.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', requires = "soak")]
    pub(crate) only: Option<Vec<SoakKind>>,
    /// With --soak: write what ibnetdiscover finds and what the switches hold after each event here, as 0000.topo and
    /// 0000.lft, 0001.topo and so on, for dmodc analyze, check and diff.
    #[arg(long, value_name = "FOLDER", requires = "soak")]
    pub(crate) dump: Option<PathBuf>,
    /// With --soak: let the plugin keep routes from a reference that it learns (reference = "learn" in dmodc.conf).
    #[arg(long, value_name = "WHICH", requires = "soak")]
    pub(crate) reference: Option<SoakReference>,
    /// The plugin, if it is neither next to this program nor among the installed libraries.
    #[arg(long, value_name = "FILE")]
    pub(crate) plugin: Option<PathBuf>,
    /// Only take times: tables are neither dumped by OpenSM nor read back and judged, which takes minutes
    /// on fabrics of ten thousand nodes.
    #[arg(long)]
    pub(crate) unchecked: bool,
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SoakReference {
    Learn,
}

/// The rules by which the events of a soak are judged.
const SOAK: &str = "\
With --soak, an event is wrong, and the answer is no, if
  - switches do not hold the tables that dmodc route computes with the orders, and the
    reference, that the plugin saved,
  - a node pair is lost that an up*down* path connects, packets loop or may deadlock, or
    ibtracert goes another way,
  - nothing is at fault, every known host is there, and the worst port of all-to-all traffic,
    or of shifts in the mean, has over 5 % more flows than with a fresh numbering (with over
    700 nodes, of a sample of shifts); growth on leaves that are full may cost more, then the
    plugin's status must report it, and the next event is numbering anew,
  - an entry towards another destination moves for a late host or a replaced adapter or leaf,
  - any entry moves for a restart, or a handover between managers with one state folder,
  - OpenSM ends, or the plugin's status file or log differs from what was found.
Each line has the number of the event, what happened, heavy sweeps, the time until tables were
uploaded, entries that changed, those of them that the event was not about, and the balance
compared with a fresh numbering, in brackets if something is at fault or a host absent.
Each switch gets four more ports than it has, for growth; one host in fifty is off at first.
";

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
