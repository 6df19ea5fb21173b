//! `dmodc convert`: a fabric in another format.

mod simulators;

use anyhow::{Result, bail};
use dmodc::{Degradation, End, Fabric, LeafRule, Lid, Live, Ranking};
use dmodc_formats::{dot, graphml, ibnetdiscover, json, slurm};
use serde_json::{Value, json};

use crate::args::{ConvertArgs, ConvertFormat, FabricFormat, OutputArgs};
use crate::text::{counted, end};
use crate::{Answer, input, output};

pub(super) fn run(args: &ConvertArgs) -> Result<Answer> {
    let format = match args.format {
        ConvertFormat::Fabric(format) => format,
        ConvertFormat::Simulator(format) => return simulators::run(args, format),
    };
    simulators::refuse_routes(args)?;
    let fabric = input::fabric(&args.fabric)?;
    deliver(&fabric, format, &[], &args.output, |summary| {
        summary["schema"] = json!("dmodc/convert/1");
    })?;
    Ok(Answer::Yes)
}

/// Writes a fabric to the output of the arguments, and prints a summary.
pub(super) fn deliver(
    fabric: &Fabric,
    format: FabricFormat,
    comments: &[String],
    args: &OutputArgs,
    summarise: impl FnOnce(&mut Value),
) -> Result<()> {
    args.check(&[])?;
    if args.output.is_some() || !args.json {
        write(fabric, format, comments, args)?;
    }
    summary(fabric, args, summarise)
}

/// Prints what a file that was written holds.
fn summary(fabric: &Fabric, args: &OutputArgs, summarise: impl FnOnce(&mut Value)) -> Result<()> {
    let (nodes, adapters) = fabric.host_counts();
    let inter_switch = fabric.inter_switch_cables().len();
    if args.json {
        let mut summary = json!({
            "nodes": nodes,
            "channel_adapters": adapters,
            "switches": fabric.switches().len(),
            "cables": fabric.cable_count(),
            "inter_switch_cables": inter_switch,
        });
        summarise(&mut summary);
        output::print(&format!("{summary:#}\n"))?;
    } else if let Some(path) = args.output.as_deref().filter(|path| path.to_str() != Some("-")) {
        output::print(&format!(
            "{}: {}, {}, {}\n",
            path.display(),
            counted(nodes, "node"),
            counted(fabric.switches().len(), "switch"),
            counted(inter_switch, "inter-switch cable"),
        ))?;
    }
    Ok(())
}

fn write(
    fabric: &Fabric,
    format: FabricFormat,
    comments: &[String],
    args: &OutputArgs,
) -> Result<()> {
    let mut comments = comments.to_vec();
    if let Err(lid) = fabric.infiniband_lids() {
        let last = Lid::LAST_UNICAST;
        if format == FabricFormat::Ibsim {
            bail!(
                "LID {lid} is beyond {last}, the last unicast LID of InfiniBand, so ibsim cannot simulate this fabric; use \
                 --format ibnetdiscover or json"
            );
        }
        comments.push(format!(
            "LIDs are beyond {last}, the last unicast LID of InfiniBand: dmodc reads them, OpenSM does not."
        ));
    }
    let is_for_slurm = matches!(
        format,
        FabricFormat::SlurmConf | FabricFormat::SlurmYaml | FabricFormat::SlurmBlock
    );
    let ranking = is_for_slurm.then(|| ranking(fabric));
    output::to(args.output.as_deref(), |out| {
        match (format, &ranking) {
            (FabricFormat::SlurmConf, Some(ranking)) => slurm::write_conf(fabric, ranking, out)?,
            (FabricFormat::SlurmBlock, Some(ranking)) => slurm::write_blocks(fabric, ranking, out)?,
            (_, Some(ranking)) => slurm::write_yaml(fabric, ranking, out)?,
            (FabricFormat::Json, _) => json::write(fabric, out)?,
            (FabricFormat::Dot, _) => dot::write(fabric, out)?,
            (FabricFormat::Graphml, _) => graphml::write(fabric, out)?,
            _ => ibnetdiscover::write(fabric, &comments, out)?,
        }
        Ok(())
    })?;
    if let Some(ranking) = &ranking {
        report_left_out(fabric, &slurm::left_out(fabric, ranking));
    }
    Ok(())
}

/// Reports on standard error the nodes that Slurm's files cannot list.
fn report_left_out(fabric: &Fabric, left: &slurm::LeftOutNodes) {
    let why = [
        (&left.unnamed, "without a host name in the description"),
        (&left.unconnected, "on switches without a connection to a leaf"),
    ];
    for (nodes, why) in why {
        if let Some(&first) = nodes.first() {
            let (count, first) = (counted(nodes.len(), "node"), end(fabric, End::Node(first)));
            let verb = if nodes.len() == 1 { "is" } else { "are" };
            eprintln!(
                "dmodc: {count} {why} {verb} left out of the topology of Slurm, such as {first}"
            );
        }
    }
}

fn ranking(fabric: &Fabric) -> Ranking {
    Ranking::new(Live::new(fabric, &Degradation::none(fabric)), &LeafRule::Detect)
}
