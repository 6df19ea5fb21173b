//! `dmodc convert --format simgrid`, `codes` and `loggopsim`: a fabric with the routes of its tables, for simulators.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use dmodc::NodeIndex;
use dmodc_formats::lft::Lft;
use dmodc_formats::simulators::codes::{self, CodesFabric, CodesTables};
use dmodc_formats::simulators::{RouteCounts, RoutedFabric, loggopsim, simgrid};
use serde_json::json;

use crate::args::{ConvertArgs, SimulatorFormat};
use crate::input::HealthyFabric;
use crate::names::NodeNames;
use crate::text::{counted, number};
use crate::{Answer, input, output, source, table_file};

/// The most nodes of a platform with the routes of all pairs. Its file has about 250 bytes for each of a million routes.
const MOST_NODES: usize = 1024;

/// Refuses arguments that only formats with routes can use.
pub(super) fn refuse_routes(args: &ConvertArgs) -> Result<()> {
    if args.tables.is_some() {
        bail!(
            "this format has no routes, so it cannot hold tables; leave the tables out, or use --format simgrid, codes or \
             loggopsim"
        );
    }
    if args.pairs.is_some() {
        bail!("--pairs chooses routes, and only --format simgrid lists routes by pair");
    }
    Ok(())
}

pub(super) fn run(args: &ConvertArgs, format: SimulatorFormat) -> Result<Answer> {
    let Some(path) = args.tables.as_deref() else {
        bail!(
            "this format has routes, so it needs forwarding tables: dmodc convert FABRIC TABLES --format FORMAT ('dmodc route \
             FABRIC -o TABLES' computes them)"
        );
    };
    if args.pairs.is_some() && format != SimulatorFormat::Simgrid {
        bail!("--pairs chooses routes, and only --format simgrid lists routes by pair");
    }
    let inputs = [args.fabric.fabric.as_path(), path].into_iter().chain(args.pairs.as_deref());
    source::only_one_from_stdin(inputs)?;
    args.output.check(&[])?;
    let whole = HealthyFabric::new(input::fabric(&args.fabric)?);
    let live = whole.live();
    let dump = table_file::tables(path, live.fabric, &args.fabric)?;
    table_file::check_fabric(path, &dump, live.fabric)?;
    let tables = &Lft::tables(&[&dump], live.fabric)?[0];
    let routed = RoutedFabric { live, tables };
    let counts = match format {
        SimulatorFormat::Simgrid => platform(args, routed)?,
        SimulatorFormat::Codes => codes_folder(args, routed)?,
        SimulatorFormat::Loggopsim => {
            let ranks = routed.nodes();
            written(args, |mut out| Ok(loggopsim::write(routed, &ranks, &mut out)?))?
        }
    };
    if counts.left_out > 0 {
        let (pairs, have) = match counts.left_out {
            1 => ("pair", "has"),
            _ => ("pairs", "have"),
        };
        eprintln!(
            "dmodc: {} {pairs} of nodes {have} no route and {} left out; 'dmodc check' shows why",
            number(counts.left_out as usize),
            if counts.left_out == 1 { "is" } else { "are" },
        );
    }
    super::summary(live.fabric, &args.output, |summary| {
        summary["schema"] = json!("dmodc/convert/1");
        summary["routes"] = json!(counts.routes);
        summary["left_out_pairs"] = json!(counts.left_out);
    })?;
    Ok(Answer::Yes)
}

/// Lets `write` write to the output of the arguments, or to nowhere if only a summary is asked for.
fn written<W>(args: &ConvertArgs, write: W) -> Result<RouteCounts>
where
    W: FnOnce(&mut dyn Write) -> Result<RouteCounts>,
{
    if args.output.output.is_none() && args.output.json {
        return write(&mut io::sink());
    }
    let mut counts = RouteCounts::default();
    output::to(args.output.output.as_deref(), |out| {
        counts = write(out)?;
        Ok(())
    })?;
    Ok(counts)
}

fn platform(args: &ConvertArgs, routed: RoutedFabric<'_>) -> Result<RouteCounts> {
    let Some(path) = args.pairs.as_deref() else {
        let nodes = routed.nodes().len();
        if nodes > MOST_NODES {
            bail!(
                "a platform with the routes of all pairs of {} would have {} routes; at most {} nodes are possible, or give \
                 the pairs that send with --pairs FILE",
                counted(nodes, "node"),
                number(nodes * (nodes - 1)),
                number(MOST_NODES)
            );
        }
        return written(args, |mut out| Ok(simgrid::write(routed, &mut out)?));
    };
    let names = NodeNames::new(routed.live.fabric);
    let pairs: Vec<(NodeIndex, NodeIndex)> =
        names.pairs(path)?.iter().map(|pair| (pair.from, pair.to)).collect();
    written(args, |mut out| Ok(simgrid::write_pairs(routed, &pairs, &mut out)?))
}

fn codes_folder(args: &ConvertArgs, routed: RoutedFabric<'_>) -> Result<RouteCounts> {
    let shape = CodesFabric::recognise(routed.live.fabric)
        .with_context(|| source::name(&args.fabric.fabric))?;
    let tables = CodesTables::new(routed, &shape);
    let Some(folder) = args.output.output.as_deref() else {
        return match args.output.json {
            true => Ok(tables.counts),
            false => {
                bail!("CODES reads a file for each switch; name a new folder with --output FOLDER")
            }
        };
    };
    if folder == Path::new("-") {
        bail!("CODES reads a file for each switch; name a new folder with --output FOLDER");
    }
    let folder_name = folder.display().to_string();
    output::to_folder(folder, |folder| {
        for s in routed.live.fabric.switch_indices() {
            file(folder, &tables.file_name(s), |out| tables.write(s, out))?;
        }
        file(folder, "fattree.conf", |out| codes::write_parameters(&shape, &folder_name, out))?;
        file(folder, "terminals", |out| codes::write_terminals(routed, &shape, out))
    })?;
    Ok(tables.counts)
}

fn file(
    folder: &Path,
    name: &str,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<()> {
    let path = folder.join(name);
    let mut out = BufWriter::new(File::create(&path).with_context(|| name.to_owned())?);
    write(&mut out).and_then(|()| out.flush()).with_context(|| name.to_owned())
}
