//! `dmodc convert`: a fabric in another format.

use anyhow::{Result, bail};
use dmodc::{Degradation, Fabric, LeafRule, Lid, Live, Ranking};
use dmodc_formats::{dot, graphml, ibnetdiscover, json, slurm};
use serde_json::{Value, json};

use crate::args::{ConvertArgs, Format, OutputArgs};
use crate::text::counted;
use crate::{Answer, input, output};

pub(super) fn run(args: &ConvertArgs) -> Result<Answer> {
    let fabric = input::fabric(&args.fabric)?;
    deliver(&fabric, args.format, &[], &args.output, |summary| {
        summary["schema"] = json!("dmodc/convert/1");
    })?;
    Ok(Answer::Yes)
}

/// Writes a fabric where the arguments say, and tells about it.
pub(super) fn deliver(
    fabric: &Fabric,
    format: Format,
    comments: &[String],
    args: &OutputArgs,
    summarise: impl FnOnce(&mut Value),
) -> Result<()> {
    args.check(&[])?;
    if args.output.is_some() || !args.json {
        write(fabric, format, comments, args)?;
    }
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

fn write(fabric: &Fabric, format: Format, comments: &[String], args: &OutputArgs) -> Result<()> {
    let mut comments = comments.to_vec();
    if let Err(lid) = fabric.infiniband_lids() {
        let last = Lid::LAST_UNICAST;
        if format == Format::Ibsim {
            bail!(
                "LID {lid} is beyond InfiniBand's last unicast LID {last}: ibsim cannot hold this fabric"
            );
        }
        comments.push(format!(
            "LIDs are beyond InfiniBand's last unicast LID {last}: dmodc reads them, OpenSM does not."
        ));
    }
    output::to(args.output.as_deref(), |out| {
        match format {
            Format::Ibnetdiscover | Format::Ibsim => ibnetdiscover::write(fabric, &comments, out)?,
            Format::Json => json::write(fabric, out)?,
            Format::Dot => dot::write(fabric, out)?,
            Format::Graphml => graphml::write(fabric, out)?,
            Format::SlurmConf => slurm::write_conf(fabric, &ranking(fabric), out)?,
            Format::SlurmYaml => slurm::write_yaml(fabric, &ranking(fabric), out)?,
        }
        Ok(())
    })
}

fn ranking(fabric: &Fabric) -> Ranking {
    Ranking::new(Live::new(fabric, &Degradation::none(fabric)), &LeafRule::Detect)
}
