//! `dmodc route`: forwarding tables for a fabric.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use dmodc::{
    Coverage, Dmodc, Dmodk, End, Engine, ForwardingTables, Live, NO_ROUTE, Preprocessing,
    RouteError, Routing, RoutingOptions, SwitchIndex, connect_roots,
};
use dmodc_formats::{alternatives, lft, orders};
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
    let engine: &dyn Engine = match args.engine {
        EngineName::Dmodc => &Dmodc,
        EngineName::Dmodk => &Dmodk,
    };
    let routing = Routing::new(live, &options);
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
        let mut comments = vec![];
        if live.fabric.infiniband_lids().is_err() {
            comments.push("LIDs are beyond InfiniBand's range: OpenSM cannot load this.".into());
        }
        output::to(args.output.output.as_deref(), |out| {
            Ok(lft::write(live.fabric, &tables, &comments, out)?)
        })?;
    }
    if let Some(path) = &args.save_orders {
        let mut now = routing.orders().save(live);
        if let Some(earlier) = saved {
            now.keep_absent(&earlier);
        }
        output::to(Some(path), |out| Ok(orders::write(&now, live.fabric, out)?))?;
    }
    if let Some(path) = &args.alternatives {
        output::to(Some(path), |out| {
            Ok(alternatives::write(live, &ready, tables.columns(), out)?)
        })?;
    }
    let empty = Empty::count(live, &ready, &tables);
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
struct Empty {
    nodes: usize,
    others: usize,
    switches: usize,
    /// The first of each kind: the switch and the destination.
    examples: [Option<(SwitchIndex, End)>; 3],
}

impl Empty {
    fn count(live: Live<'_>, ready: &Preprocessing, tables: &ForwardingTables) -> Self {
        let mut empty = Empty { nodes: 0, others: 0, switches: 0, examples: [None; 3] };
        let columns = tables.columns();
        for tile in columns.tiles() {
            for s in live.switches() {
                let row = tables.row(s, &tile).iter().zip(tile.columns.clone());
                for (_, column) in row.filter(|(entry, _)| **entry == NO_ROUTE) {
                    let end = columns.destinations()[column].end;
                    let (count, kind) = match end {
                        End::Node(n) if ready.orders.node_number(n).on_leaf => {
                            (&mut empty.nodes, 0)
                        }
                        End::Node(_) => (&mut empty.others, 1),
                        End::Switch(_) => (&mut empty.switches, 2),
                    };
                    *count += 1;
                    empty.examples[kind].get_or_insert((s, end));
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
