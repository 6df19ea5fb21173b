//! `dmodc order`: the hosts of a job in an order in which their traffic meets least.

mod hosts;
mod report;

use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use dmodc::advise::{Choice, HostOrder, JobRisk, Placement};
use dmodc::{ForwardingTables, RailHost, Rails};
use dmodc_formats::host_order::{write_hostfile, write_rankfile, write_slurm};
use dmodc_formats::lft::Lft;

use super::check::mismatches;
use crate::args::{FabricArgs, HostFormat, HostOrderArgs, OutputArgs};
use crate::route_state::{Numbers, RouteState, explain};
use crate::{Answer, output, source, table_file};
use hosts::HostList;

/// The result of the command.
pub(super) struct OrderReport<'a> {
    /// The list that was given.
    list: HostList<'a>,
    /// The names of rails.
    rails: &'a [String],
    /// The hosts in their new order.
    hosts: Vec<&'a str>,
    /// The risk of the list as it was given; of its first hosts, if hosts were chosen.
    before: JobRisk,
    order: HostOrder,
    /// The hosts that were chosen, if that was asked for.
    choice: Option<Choice>,
    /// The tables, in words.
    tables: String,
}

pub(super) fn run(args: HostOrderArgs) -> Result<Answer> {
    args.output.check(&[])?;
    let list_file = (!hosts::is_all(&args.hosts)).then_some(args.hosts.as_path());
    let inputs = [Some(args.routing.fabric.fabric.as_path()), args.tables.as_deref(), list_file];
    source::only_one_from_stdin(inputs.into_iter().flatten())?;
    let HostOrderArgs { routing, tables, hosts: list, choose, skip_unknown, format, slots, output } =
        args;
    ensure!(
        tables.is_none() || routing.reference.is_none(),
        "--reference is for tables that are computed; leave it out, or leave out the file of tables"
    );
    let state = RouteState::read(&routing, Numbers::Once)?;
    let (forwarding, tables) = match &tables {
        Some(path) => given_tables(path, &routing.fabric, &state)?,
        None => own_tables(&state)?,
    };
    let live = state.live();
    let ranking = state.routing.ranking(live);
    let placement = Placement::new(live, &ranking, state.routing.orders(), &forwarding);
    let rails = Rails::new(live);
    let list = HostList::read(&list, skip_unknown, live, &rails, &placement)?;
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

/// Chooses hosts if that is asked for, puts them into order, and measures both orders.
fn measure<'a>(
    list: HostList<'a>,
    rails: &'a Rails<'a>,
    placement: &Placement<'_>,
    choose: Option<u32>,
    tables: String,
) -> Result<OrderReport<'a>> {
    let count = choose.map_or(list.hosts.len(), |count| count as usize);
    ensure!(
        count <= list.hosts.len(),
        "--choose asks for {count} hosts, but {} has only {}",
        list.name,
        list.hosts.len()
    );
    let all: Vec<&RailHost<'_>> = rails.hosts.iter().collect();
    let choice = choose.map(|_| placement.choose(&all, &list.hosts, count));
    let first: Vec<&RailHost<'_>> = list.hosts[..count].iter().map(|&at| all[at]).collect();
    let chosen: Vec<&RailHost<'_>> = match &choice {
        Some(choice) => choice.hosts.iter().map(|&at| all[at]).collect(),
        None => first.clone(),
    };
    let order = placement.order(&chosen);
    let hosts = order.order.iter().map(|&at| chosen[at].host.name()).collect();
    let before = placement.risk(&first);
    Ok(OrderReport { list, rails: &rails.names, hosts, before, order, choice, tables })
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
        (false, true) => output::print(&report.text()),
        (false, false) => {
            output::remark(&report.text());
            Ok(())
        }
    }
}
