//! `dmodc trace`: one route, hop by hop.

use std::fmt::Write as _;

use anyhow::Result;
use dmodc::fabric::Peer;
use dmodc::judge::{Fate, Islands, trace};
use dmodc::{End, Live, PortNumber, SwitchIndex};
use dmodc_formats::lft::Lft;
use serde_json::json;

use crate::args::TraceArgs;
use crate::input::HealthyFabric;
use crate::names::resolve;
use crate::text::{end, switch};
use crate::{Answer, input, output, source, table_file};

pub(super) fn run(args: &TraceArgs) -> Result<Answer> {
    source::only_one_from_stdin([args.fabric.fabric.as_path(), args.tables.as_path()])?;
    let whole = HealthyFabric::new(input::fabric(&args.fabric)?);
    let live = whole.live();
    let fabric = live.fabric;
    let dump = table_file::tables(&args.tables, fabric, &args.fabric)?;
    let tables = &Lft::tables(&[&dump], fabric)?[0];
    let from = resolve(fabric, &args.source)?;
    let to = resolve(fabric, &args.destination)?;
    let start = from.switch(fabric);
    let cut_off = !Islands::new(live).connect(start, to.switch(fabric));
    let columns: Vec<usize> = (0..tables.columns().len())
        .filter(|&c| tables.columns().destinations()[c].end == to)
        .collect();
    let mut text = String::new();
    let mut routes = Vec::new();
    let mut delivered = true;
    for column in columns {
        let lid = tables.columns().destinations()[column].lid;
        let (hops, fate) = trace(live, tables, start, column);
        delivered &= fate == Fate::Delivered;
        let _ = writeln!(text, "from {} to {}, LID {lid}:", end(fabric, from), end(fabric, to));
        for hop in &hops {
            let into = hop.into.map_or(String::new(), |p| format!(" in by port {p},"));
            let out = hop.out.map_or(" no route".into(), |p| format!(" out by port {p}"));
            let _ = writeln!(text, "  {}:{into}{out}", switch(fabric, hop.switch));
        }
        let last = hops[hops.len() - 1];
        let _ = match fate {
            Fate::Delivered => writeln!(text, "delivered"),
            Fate::Lost if cut_off => {
                writeln!(text, "CUT OFF: no working cables connect the two (hint: repair cables)")
            }
            Fate::Lost => writeln!(
                text,
                "LOST: {} (hint: 'dmodc route' computes new tables)",
                why(live, last.switch, last.out)
            ),
            Fate::Loops => {
                let name = &fabric.switch(last.switch).name;
                writeln!(
                    text,
                    "LOOPS: the packet comes back to '{name}' (hint: 'dmodc route' computes new tables)"
                )
            }
        };
        let hops: Vec<_> = hops
            .iter()
            .map(|hop| {
                let s = fabric.switch(hop.switch);
                json!({
                    "guid": s.guid.to_string(),
                    "name": s.name,
                    "in": hop.into.map(|p| p.0),
                    "out": hop.out.map(|p| p.0),
                })
            })
            .collect();
        let fate = match fate {
            Fate::Delivered => "delivered",
            Fate::Lost if cut_off => "cut_off",
            Fate::Lost => "lost",
            Fate::Loops => "loops",
        };
        routes.push(json!({"lid": lid.0, "fate": fate, "hops": hops}));
    }
    if args.json {
        let value = json!({"schema": "dmodc/trace/1", "delivered": delivered, "routes": routes});
        text = format!("{value:#}\n");
    }
    output::print(&text)?;
    Ok(delivered.into())
}

/// Returns why a packet ends at this switch.
fn why(live: Live<'_>, s: SwitchIndex, out: Option<PortNumber>) -> String {
    let Some(port) = out else { return "the last switch has no route to the destination".into() };
    match live.peer(s, port) {
        _ if port == PortNumber::SELF => {
            "the table of the last switch takes the switch itself for the destination".into()
        }
        Peer::Node(n) => {
            let node = end(live.fabric, End::Node(n));
            format!("port {port} of the last switch leads to another node, {node}")
        }
        _ => format!("port {port} of the last switch has no cable"),
    }
}
