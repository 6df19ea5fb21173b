//! `dmodc route`: forwarding tables for a fabric.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use dmodc::{
    Columns, Coverage, Dmodc, Dmodk, End, Engine, Live, NO_ROUTE, PortNumber, Preprocessing,
    RandomPorts, Reference, RouteError, Routing, RoutingOptions, Stable, SwitchIndex,
    connect_roots, stream_switches,
};
use dmodc_formats::lft::Lft;
use dmodc_formats::{alternatives, lft, orders};
use dmodc_study::lab;
use serde_json::json;

use crate::args::{EngineName, RouteArgs};
use crate::input::Whole;
use crate::text::{counted, end, not_pgft, number, switch, time};
use crate::{Answer, input, output};

pub(super) fn run(args: &RouteArgs) -> Result<Answer> {
    args.output.check(&[&args.save_orders, &args.alternatives])?;
    let mut fabric = input::fabric(&args.fabric)?;
    let leaves = input::leaf_rule(&args.leaves, &mut fabric)?;
    let whole = Whole::new(fabric);
    let live = whole.live();
    let (destinations, switches, saved) = input::order(&args.order)?;
    let options = RoutingOptions { leaves, destinations, switches, switch_lids: true };
    if let EngineName::Opensm(name) = &args.engine {
        return by_opensm(args, live, name);
    }
    let routing = Routing::new(live, &options);
    let summary = match &args.split {
        Some(folder) => split(args, live, &routing, folder)?,
        None => together(args, live, &routing)?,
    };
    if let Some(path) = &args.save_orders {
        let mut now = routing.orders().save(live);
        if let Some(earlier) = saved {
            now.keep_absent(&earlier);
        }
        output::to(Some(path), |out| Ok(orders::write(&now, live.fabric, out)?))?;
    }
    let to_a_file = args.output.output.as_deref().is_some_and(|path| path.to_str() != Some("-"));
    if args.output.json {
        output::print(&summary.json(live))?;
    } else if to_a_file || args.split.is_some() {
        output::print(&summary.text(live))?;
    } else if !summary.coverage.is_valid() {
        eprint!("{}", summary.text(live));
    }
    Ok(summary.coverage.is_valid().into())
}

/// All tables in memory, then in one file.
fn together(args: &RouteArgs, live: Live<'_>, routing: &Routing) -> Result<Summary> {
    let engine: &dyn Engine = match args.engine {
        EngineName::Dmodk => &Dmodk,
        EngineName::Random => &RandomPorts { seed: args.seed },
        EngineName::Dmodc | EngineName::Opensm(_) => &Dmodc,
        EngineName::Stable => &Stable { reference: Arc::new(Reference::new(routing, live)) },
    };
    let mut tables = routing.empty_tables(live)?;
    let start = Instant::now();
    let ready = routing.preprocess(live);
    let coverage = engine.route(live, &ready, &mut tables).map_err(|error| explain(error, live))?;
    let elapsed = start.elapsed();
    let connected = match args.connect_roots {
        true => Some(connect_roots(live, &ready, &mut tables)),
        false => None,
    };
    if args.output.output.is_some() || !args.output.json {
        output::to(args.output.output.as_deref(), |out| {
            Ok(lft::write(live.fabric, &tables, &comments(live), out)?)
        })?;
    }
    if let Some(path) = &args.alternatives {
        output::to(Some(path), |out| {
            Ok(alternatives::write(live, &ready, tables.columns(), out)?)
        })?;
    }
    let mut empty = Empty::default();
    for tile in tables.columns().tiles() {
        for s in live.switches() {
            let entries = tables.row(s, &tile);
            empty.add(&ready, tables.columns(), s, tile.columns.clone().zip(entries));
        }
    }
    Ok(Summary {
        name: engine.name(),
        switches: tables.switch_count(),
        destinations: tables.columns().len(),
        routed: tables.routed(),
        done: "routed",
        coverage,
        empty,
        connected,
        elapsed,
    })
}

/// The longest that OpenSM may take, in seconds.
const LONGEST: u64 = 3600;

/// The tables of one of OpenSM's own engines, computed by OpenSM itself on a simulated fabric.
fn by_opensm(args: &RouteArgs, live: Live<'_>, name: &str) -> Result<Answer> {
    let others = [args.save_orders.is_some(), args.alternatives.is_some(), args.connect_roots];
    ensure!(
        !others.contains(&true) && args.split.is_none(),
        "OpenSM's engines have no --save-orders, --alternatives, --connect-roots or --split"
    );
    let plugin = super::opensm::plugin(None)?;
    let (dump, [matrices, tables]) = lab::tables_of(live.fabric, name, &plugin, LONGEST)?;
    let mut dumped = Lft::tables(&[&dump], live.fabric)?;
    let routed = dumped.remove(0);
    if args.output.output.is_some() || !args.output.json {
        output::to(args.output.output.as_deref(), |out| {
            Ok(lft::write(live.fabric, &routed, &comments(live), out)?)
        })?;
    }
    if args.output.json {
        let summary = json!({
            "schema": "dmodc/route/1",
            "engine": format!("opensm:{name}"),
            "switches": routed.switch_count(),
            "destinations": routed.columns().len(),
            "entries": routed.routed(),
            "hop_tables_ms": matrices,
            "route_ms": tables,
        });
        output::print(&format!("{summary:#}\n"))?;
    } else if args.output.output.as_deref().is_some_and(|path| path.to_str() != Some("-")) {
        output::print(&format!(
            "opensm:{name}: {} × {} routed inside OpenSM in {tables:.2} ms, after {matrices:.2} ms for hop \
             tables\n",
            counted(routed.switch_count(), "switch"),
            counted(routed.columns().len(), "destination"),
        ))?;
    }
    Ok(Answer::Yes)
}

/// The tables of each switch as they come, in a file of its own. The folder is there once all are.
fn split(args: &RouteArgs, live: Live<'_>, routing: &Routing, folder: &Path) -> Result<Summary> {
    ensure!(args.engine == EngineName::Dmodc, "--split is there for --engine dmodc alone");
    let columns = routing.columns();
    let mut writer = lft::Writer::new(live.fabric, columns);
    let (mut empty, mut routed) = (Empty::default(), 0);
    let start = Instant::now();
    let ready = routing.preprocess(live);
    let coverage = output::to_folder(folder, |folder| {
        stream_switches(live, &ready, columns, |s, entries| -> Result<()> {
            if live.switch(s) {
                empty.add(&ready, columns, s, (0..).zip(entries));
            }
            routed += entries.iter().filter(|entry| **entry != NO_ROUTE).count();
            let port = |column: usize| {
                (entries[column] != NO_ROUTE).then_some(PortNumber(entries[column]))
            };
            let path = folder.join(format!("{}.lft", live.fabric.switch(s).guid));
            let file = File::create(&path).with_context(|| path.display().to_string())?;
            let mut out = BufWriter::new(file);
            for comment in comments(live) {
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
    Ok(Summary {
        name: Dmodc.name(),
        switches: live.fabric.switches().len(),
        destinations: columns.len(),
        routed,
        done: "routed and written",
        coverage,
        empty,
        connected: None,
        elapsed: start.elapsed(),
    })
}

/// What a reader of the tables should know.
fn comments(live: Live<'_>) -> Vec<String> {
    let beyond = "LIDs are beyond InfiniBand's range: OpenSM cannot load this.";
    live.fabric.infiniband_lids().err().map(|_| beyond.into()).into_iter().collect()
}

/// A refusal, with the witness by name.
fn explain(error: RouteError, live: Live<'_>) -> anyhow::Error {
    match &error {
        RouteError::NotPgft(reason) => {
            let reason = not_pgft(live.fabric, reason);
            anyhow::anyhow!("Dmodk routes healthy PGFTs only: {reason}")
        }
        RouteError::NoMemory(_) => error.into(),
        RouteError::TooFar(far) => {
            let from = switch(live.fabric, far.from);
            Err::<(), _>(error).context(from).expect_err("it is an error")
        }
    }
}

/// Entries of live switches without a route, by kind of destination.
#[derive(Default)]
struct Empty {
    nodes: usize,
    others: usize,
    switches: usize,
    /// The first of each kind: the switch and the destination.
    examples: [Option<(SwitchIndex, End)>; 3],
}

impl Empty {
    /// Counts those among these entries of one switch, each given with its column.
    fn add<'a>(
        &mut self,
        ready: &Preprocessing,
        columns: &Columns,
        s: SwitchIndex,
        entries: impl Iterator<Item = (usize, &'a u8)>,
    ) {
        for (column, _) in entries.filter(|(_, entry)| **entry == NO_ROUTE) {
            let end = columns.destinations()[column].end;
            let (count, kind) = match end {
                End::Node(n) if ready.orders.node_number(n).on_leaf => (&mut self.nodes, 0),
                End::Node(_) => (&mut self.others, 1),
                End::Switch(_) => (&mut self.switches, 2),
            };
            *count += 1;
            self.examples[kind].get_or_insert((s, end));
        }
    }
}

struct Summary {
    name: &'static str,
    switches: usize,
    destinations: usize,
    /// Entries that have a route.
    routed: usize,
    /// What took the time.
    done: &'static str,
    coverage: Coverage,
    empty: Empty,
    connected: Option<usize>,
    elapsed: Duration,
}

impl Summary {
    fn json(&self, live: Live<'_>) -> String {
        let guid = |s| live.fabric.switch(s).guid.to_string();
        let examples: Vec<_> = self
            .coverage
            .examples
            .iter()
            .map(|&(from, to)| json!({"from": guid(from), "to": guid(to)}))
            .collect();
        let summary = json!({
            "schema": "dmodc/route/1",
            "engine": self.name,
            "switches": self.switches,
            "destinations": self.destinations,
            "entries": self.routed,
            "valid": self.coverage.is_valid(),
            "leaf_pairs": self.coverage.leaf_pairs,
            "unreachable_leaf_pairs": self.coverage.unreachable_leaf_pairs,
            "unreachable_examples": examples,
            "empty_entries": {
                "nodes": self.empty.nodes,
                "other_nodes": self.empty.others,
                "switches": self.empty.switches,
            },
            "connected_root_entries": self.connected,
            "route_ms": self.elapsed.as_secs_f64() * 1e3,
        });
        format!("{summary:#}\n")
    }

    fn text(&self, live: Live<'_>) -> String {
        let mut text = format!(
            "{}: {} × {} {} in {}\n",
            self.name,
            counted(self.switches, "switch"),
            counted(self.destinations, "destination"),
            self.done,
            time(self.elapsed),
        );
        let pairs = self.coverage.leaf_pairs;
        text += &match self.coverage.unreachable_leaf_pairs {
            0 if pairs == 0 => "valid: there are no two leaves to connect\n".into(),
            0 => format!("valid: all {} leaf pairs are connected\n", number(pairs)),
            lost => format!(
                "INVALID: {} of {} leaf pairs have no up*down* route\n",
                number(lost),
                number(pairs)
            ),
        };
        for &(from, to) in &self.coverage.examples {
            let (from, to) = (switch(live.fabric, from), switch(live.fabric, to));
            let _ = writeln!(text, "  no route from {from} to {to}");
        }
        let counts = [self.empty.nodes, self.empty.others, self.empty.switches];
        let kinds = ["nodes", "aggregation nodes and nodes not on leaves", "switches"];
        for ((count, kind), example) in counts.iter().zip(kinds).zip(self.empty.examples) {
            if let Some((from, to)) = example {
                let hint = match (kind, self.connected) {
                    ("switches", None) => " (--connect-roots fills them)",
                    _ => "",
                };
                let (from, to) = (switch(live.fabric, from), end(live.fabric, to));
                let _ = writeln!(
                    text,
                    "{} towards {kind} without an up*down* route{hint}, such as from {from} to {to}",
                    entries(*count)
                );
            }
        }
        if let Some(filled) = self.connected {
            let what = "towards switches filled by shortest path, outside the deadlock guarantee";
            let _ = writeln!(text, "{} {what}", entries(filled));
        }
        if let Err(lid) = live.fabric.infiniband_lids() {
            let _ = writeln!(
                text,
                "LID {lid} is beyond InfiniBand's range: OpenSM cannot load these tables"
            );
        }
        text
    }
}

fn entries(count: usize) -> String {
    format!("{} {}", number(count), if count == 1 { "entry" } else { "entries" })
}
