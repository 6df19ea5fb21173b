//! `dmodc order`: the hosts of a job in an order in which their traffic meets least.

mod report;

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use dmodc::advise::Placement;
use dmodc::{ForwardingTables, Rails};
use dmodc_formats::host_order::{write_hostfile, write_rankfile, write_slurm};
use dmodc_formats::lft::Lft;
use dmodc_study::answers::order::{HostList, ListedHosts, OrderReport, measure};

use super::check::mismatches;
use crate::args::{FabricArgs, HostFormat, HostOrderArgs, OutputArgs};
use crate::route_state::{self, Numbers, RouteState, explain};
use crate::{Answer, output, source, table_file};
use report::OrderText;

pub(super) fn run(args: HostOrderArgs) -> Result<Answer> {
    args.output.check(&[])?;
    let is_all = args.hosts.as_os_str() == "all";
    let list_file = (!is_all).then_some(args.hosts.as_path());
    let inputs = [Some(args.routing.fabric.fabric.as_path()), args.tables.as_deref(), list_file];
    source::only_one_from_stdin(inputs.into_iter().flatten())?;
    let HostOrderArgs { routing, tables, hosts: list, choose, skip_unknown, format, slots, output } =
        args;
    ensure!(
        tables.is_none() || routing.reference.is_none(),
        "--reference is for tables that are computed; leave it out, or leave out the file of tables"
    );
    let state = route_state::read(&routing, Numbers::Once)?;
    let (forwarding, tables) = match &tables {
        Some(path) => given_tables(path, &routing.fabric, &state)?,
        None => own_tables(&state)?,
    };
    let live = state.live();
    let ranking = state.routing.ranking(live);
    let placement = Placement::new(live, &ranking, state.routing.orders(), &forwarding);
    let rails = Rails::new(live);
    let listed = match is_all {
        true => ListedHosts::All,
        false => ListedHosts::read(&list)?,
    };
    let list = HostList::new(listed, skip_unknown, live, &rails, &placement)?;
    let report = measure(list, &rails, &placement, choose, tables)?;
    write(&report, format, slots, &output)?;
    Ok((report.order.risk.undelivered == 0).into())
}

/// Reads the tables that were given. Returns them, and what they are in words.
fn given_tables(
    path: &Path,
    fabric: &FabricArgs,
    state: &RouteState,
) -> Result<(ForwardingTables, String)> {
    let live = state.live();
    let dump = table_file::tables(path, live.fabric, fabric)?;
    table_file::check_fabric(path, &dump, live.fabric)?;
    let tables = Lft::tables(&[&dump], live.fabric)?.remove(0);
    output::remark(&mismatches(live, &[dump], [path].into_iter()));
    Ok((tables, source::name(path)))
}

/// Computes tables. Returns them, and what they are in words.
fn own_tables(state: &RouteState) -> Result<(ForwardingTables, String)> {
    let live = state.live();
    let engine = state.engine.as_ref().context(
        "an engine of OpenSM runs only inside OpenSM; write its tables with 'dmodc route', and give that file after the fabric",
    )?;
    let mut tables = state.routing.empty_tables(live)?;
    let ready = state.routing.preprocess(live);
    engine.route(live, &ready, &mut tables).map_err(|error| explain(error, live))?;
    Ok((tables, format!("the engine {}", engine.name())))
}

/// Writes the list and the report.
fn write(
    report: &OrderReport<'_>,
    format: HostFormat,
    slots: Option<u32>,
    args: &OutputArgs,
) -> Result<()> {
    if args.output.is_some() || !args.json {
        let (hosts, ranks) = (&report.hosts, slots.unwrap_or(1));
        output::to(args.output.as_deref(), |out| {
            match format {
                HostFormat::Hostfile => write_hostfile(hosts, slots, out)?,
                HostFormat::Rankfile => write_rankfile(hosts, ranks, out)?,
                HostFormat::Slurm => write_slurm(hosts, ranks, out)?,
                HostFormat::Json => out.write_all(report.json().as_bytes())?,
            }
            Ok(())
        })?;
    }
    let is_in_a_file = args.output.as_deref().is_some_and(|path| path.to_str() != Some("-"));
    match (args.json, is_in_a_file) {
        (true, _) => output::print(&report.json()),
        (false, true) => output::print(&OrderText(report).text()),
        (false, false) => {
            output::remark(&OrderText(report).text());
            Ok(())
        }
    }
}
