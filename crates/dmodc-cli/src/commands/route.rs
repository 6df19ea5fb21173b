//! `dmodc route`: forwarding tables for a fabric.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dmodc::{
    Coverage, Dmodc, Dmodk, End, Engine, ForwardingTables, Live, NO_ROUTE, Preprocessing,
    RouteError, Routing, RoutingOptions, connect_roots,
};
use dmodc_formats::{alternatives, lft, orders};
use serde_json::json;

use crate::args::{EngineName, RouteArgs};
use crate::input::Whole;
use crate::text::{counted, number, switch, time};
use crate::{Answer, input, output};

pub(super) fn run(args: &RouteArgs) -> Result<Answer> {
    let whole = Whole::new(input::fabric(&args.fabric)?);
    let live = whole.live();
    let (destinations, switches, saved) = input::order(&args.order)?;
    let options = RoutingOptions { destinations, switches, switch_lids: true };
    let engine: &dyn Engine = match args.engine {
        EngineName::Dmodc => &Dmodc,
        EngineName::Dmodk => &Dmodk,
    };
    let routing = Routing::new(live, &options);
    let mut tables = routing.empty_tables(live);
    let start = Instant::now();
    let ready = routing.preprocess(live);
    let coverage = engine.route(&ready, &mut tables).map_err(|error| explain(error, live))?;
    let elapsed = start.elapsed();
    let connected = match args.connect_roots {
        true => Some(connect_roots(&ready, &mut tables)),
        false => None,
    };
    if let Some(path) = &args.save_orders {
        let mut now = routing.orders().save(live);
        if let Some(earlier) = saved {
            now.keep_absent(&earlier);
        }
        output::to(Some(path), |out| Ok(orders::write(&now, live.fabric, out)?))?;
    }
    if let Some(path) = &args.alternatives {
        output::to(Some(path), |out| Ok(alternatives::write(&ready, tables.columns(), out)?))?;
    }
    if args.output.output.is_some() || !args.output.json {
        let mut comments = vec![];
        if live.fabric.infiniband_lids().is_err() {
            comments.push("LIDs are beyond InfiniBand's range: OpenSM cannot load this.".into());
        }
        output::to(args.output.output.as_deref(), |out| {
            Ok(lft::write(live.fabric, &tables, &comments, out)?)
        })?;
    }
    let empty = Empty::count(&ready, &tables);
    let summary = Summary {
        name: engine.name(),
        tables: &tables,
        coverage: &coverage,
        empty,
        connected,
        elapsed,
    };
    if args.output.json {
        output::print(&summary.json(live))?;
    } else if args.output.output.as_deref().is_some_and(|path| path.to_str() != Some("-")) {
        output::print(&summary.text(live))?;
    } else if !coverage.is_valid() {
        eprint!("{}", summary.text(live));
    }
    Ok(coverage.is_valid().into())
}

/// A refusal, with the witness by name.
fn explain(error: RouteError, live: Live<'_>) -> anyhow::Error {
    match &error {
        RouteError::NotPgft(reason) => {
            let reason = reason.describe(live);
            anyhow::anyhow!("Dmodk routes healthy PGFTs only: {reason}")
        }
        RouteError::TooFar(far) => {
            let from = switch(live.fabric, far.from);
            Err::<(), _>(error).context(from).expect_err("it is an error")
        }
    }
}

/// Entries of live switches without a route, by kind of destination.
struct Empty {
    nodes: usize,
    others: usize,
    switches: usize,
}

impl Empty {
    fn count(ready: &Preprocessing<'_>, tables: &ForwardingTables) -> Self {
        let mut empty = Empty { nodes: 0, others: 0, switches: 0 };
        let columns = tables.columns();
        for tile in columns.tiles() {
            for s in ready.live.switches() {
                let row = tables.row(s, &tile).iter().zip(tile.columns.clone());
                for (_, column) in row.filter(|(entry, _)| **entry == NO_ROUTE) {
                    match columns.destinations()[column].end {
                        End::Switch(_) => empty.switches += 1,
                        End::Node(n) if ready.orders.node_number(n).on_leaf => empty.nodes += 1,
                        End::Node(_) => empty.others += 1,
                    }
                }
            }
        }
        empty
    }
}

struct Summary<'a> {
    name: &'static str,
    tables: &'a ForwardingTables,
    coverage: &'a Coverage,
    empty: Empty,
    connected: Option<usize>,
    elapsed: Duration,
}

impl Summary<'_> {
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
            "switches": self.tables.switch_count(),
            "destinations": self.tables.columns().len(),
            "entries": self.tables.routed(),
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
            "{}: {} × {} routed in {}\n",
            self.name,
            counted(self.tables.switch_count(), "switch"),
            counted(self.tables.columns().len(), "destination"),
            time(self.elapsed),
        );
        let pairs = self.coverage.leaf_pairs;
        text += &match self.coverage.unreachable_leaf_pairs {
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
        let Empty { nodes, others, switches } = self.empty;
        if nodes > 0 {
            let _ = writeln!(
                text,
                "{} towards nodes have no up*down* route",
                counted(nodes, "switch entrie")
            );
        }
        if others > 0 {
            let what = "towards aggregation nodes and nodes not on leaves";
            let _ = writeln!(text, "{} {what} have no up*down* route", counted(others, "entrie"));
        }
        match self.connected {
            Some(filled) => {
                let what = "filled by shortest path, outside the deadlock guarantee";
                let _ = writeln!(text, "{} {what}", counted(filled, "switch-to-switch entrie"));
            }
            None if switches > 0 => {
                let what = "have no up*down* route (--connect-roots fills them)";
                let _ = writeln!(text, "{} {what}", counted(switches, "switch-to-switch entrie"));
            }
            None => {}
        }
        text
    }
}
