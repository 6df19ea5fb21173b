//! `dmodc route`: forwarding tables for a fabric.

mod opensm;
mod summary;

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dmodc::advise::NumbersCost;
use dmodc::judge::Delivery;
use dmodc::relief::{Thoroughness, relieve};
use dmodc::{ForwardingTables, NO_ROUTE, PortNumber, RouteError, connect_roots, stream_switches};
use dmodc_formats::{alternatives, lft, orders};

use crate::args::{EngineName, RouteArgs};
use crate::expected_risk::AllToAllRisk;
use crate::route_state::{self, Numbers, RouteState, explain};
use crate::text::doubts;
use crate::{Answer, output, table_file};
use summary::{EmptyEntries, RouteSummary};

pub(super) fn run(args: &RouteArgs) -> Result<Answer> {
    args.output.check(&[&args.save_orders, &args.alternatives])?;
    let numbers = if args.save_orders.is_some() { Numbers::Last } else { Numbers::Once };
    let start = Instant::now();
    let state = route_state::read(&args.routing, numbers)?;
    let relieved_in = state.relief.as_ref().map_or(Duration::ZERO, |relief| relief.elapsed);
    let prepared_in = start.elapsed().saturating_sub(relieved_in);
    let live = state.live();
    if let EngineName::Opensm(name) = &args.routing.engine {
        return opensm::route(args, &state, name);
    }
    let summary = match &args.split {
        Some(folder) => split(args, &state, prepared_in, folder)?,
        None => together(args, &state, prepared_in)?,
    };
    if let Some(path) = &args.save_orders {
        let now = state.orders();
        output::to(Some(path), |out| Ok(orders::write(&now, live.fabric, out)?))?;
    }
    let to_a_file = args.output.output.as_deref().is_some_and(|path| path.to_str() != Some("-"));
    if args.output.json {
        output::print(&summary.json(&state))?;
    } else if to_a_file || args.split.is_some() {
        output::print(&summary.text(args, &state))?;
    } else if !summary.delivery.is_complete() {
        eprint!("{}", summary.text(args, &state));
    } else {
        for line in doubts(live.fabric, state.routing.doubts()) {
            eprintln!("{line}");
        }
    }
    Ok(summary.delivery.is_complete().into())
}

/// Computes all tables in memory, and writes them into one file.
fn together(args: &RouteArgs, state: &RouteState, prepared_in: Duration) -> Result<RouteSummary> {
    let (live, routing) = (state.live(), &state.routing);
    let engine = state
        .engine
        .as_ref()
        .context("an engine of OpenSM runs only inside OpenSM; use 'dmodc opensm lab'")?;
    let mut tables = routing.empty_tables(live).context(
        "write one file for each switch instead (--split FOLDER), which needs little memory",
    )?;
    let start = Instant::now();
    let ready = routing.preprocess(live);
    let router = engine.before_relief().unwrap_or(engine);
    let coverage = router.route(live, &ready, &mut tables).map_err(|error| explain(error, live))?;
    let routed_by = start.elapsed();
    if engine.before_relief().is_some() {
        relieve(live, &ready, &mut tables, Thoroughness::Full)
            .map_err(|error| explain(error.into(), live))?;
    }
    let elapsed = start.elapsed();
    let connected = match args.connect_roots {
        true => Some(connect_roots(live, &ready, &mut tables)),
        false => None,
    };
    if args.output.output.is_some() || !args.output.json {
        table_file::write(args.output.output.as_deref(), live, &tables, &comments(state))?;
    }
    if let Some(path) = &args.alternatives {
        output::to(Some(path), |out| {
            Ok(alternatives::write(live, &ready, tables.columns(), out)?)
        })?;
    }
    let mut empty = EmptyEntries::default();
    for tile in tables.columns().tiles() {
        for s in live.switches() {
            empty.add(state, s, tile.columns.clone().zip(tables.row(s, &tile)));
        }
    }
    Ok(RouteSummary {
        name: engine.name().into(),
        routed: tables.routed(),
        done: "routed",
        delivery: Delivery::of_route(live, &coverage),
        coverage,
        empty,
        connected,
        prepared_in,
        elapsed,
        relief_elapsed: engine.before_relief().map(|_| elapsed - routed_by),
        numbers: numbers_cost(args, state, &tables)?,
        risk: AllToAllRisk::new(live, &ready.ranking, routing.orders(), &tables),
    })
}

/// With more entries than this, computing and judging two more sets of tables would take too long.
const MEASURED: usize = 1 << 26;

/// Returns what kept numbers cost; `None` if no numbers are kept, or the fabric is too large to measure it.
fn numbers_cost(
    args: &RouteArgs,
    state: &RouteState,
    tables: &ForwardingTables,
) -> Result<Option<NumbersCost>> {
    let entries = tables.switch_count() * tables.columns().len();
    let is_measured =
        (state.has_saved_numbers() || args.save_orders.is_some()) && entries <= MEASURED;
    Ok(is_measured.then(|| NumbersCost::new(state.live(), &state.routing)).transpose()?)
}

/// Writes the table of each switch into a file of its own as soon as it is computed. The folder appears when all are
/// written.
fn split(
    args: &RouteArgs,
    state: &RouteState,
    prepared_in: Duration,
    folder: &Path,
) -> Result<RouteSummary> {
    let (live, columns) = (state.live(), state.routing.columns());
    let can_stream = matches!(args.routing.engine, EngineName::Dmodc | EngineName::Stable);
    let engine = state.engine.as_ref().filter(|_| can_stream);
    let engine = engine
        .context("--split works only with --engine dmodc or stable; use --output FILE instead")?;
    let mut writer = lft::LftWriter::new(live, columns);
    let (mut empty, mut routed) = (EmptyEntries::default(), 0);
    let start = Instant::now();
    let ready = state.routing.preprocess(live);
    let coverage = output::to_folder(folder, |folder| {
        stream_switches(&**engine, live, &ready, columns, |s, entries| -> Result<()> {
            if !live.switch(s) {
                return Ok(());
            }
            empty.add(state, s, (0..).zip(entries));
            routed += entries.iter().filter(|entry| **entry != NO_ROUTE).count();
            let port = |column: usize| {
                (entries[column] != NO_ROUTE).then_some(PortNumber(entries[column]))
            };
            let path = folder.join(format!("{}.lft", live.fabric.switch(s).guid));
            let file = File::create(&path).with_context(|| path.display().to_string())?;
            let mut out = BufWriter::new(file);
            for comment in comments(state) {
                writeln!(out, "# {comment}")?;
            }
            writer.write(s, port, &mut out)?;
            out.flush().with_context(|| path.display().to_string())
        })
    })
    .map_err(|error| match error.downcast::<RouteError>() {
        Ok(error) => explain(error, live),
        Err(error) => error,
    })?;
    Ok(RouteSummary {
        name: engine.name().into(),
        routed,
        done: "routed and written",
        delivery: Delivery::of_route(live, &coverage),
        coverage,
        empty,
        connected: None,
        prepared_in,
        elapsed: start.elapsed(),
        relief_elapsed: None,
        numbers: None,
        // The tables are not kept in memory.
        risk: None,
    })
}

/// Returns comments for readers of the tables.
fn comments(state: &RouteState) -> Vec<String> {
    table_file::comments(state.beyond)
}
