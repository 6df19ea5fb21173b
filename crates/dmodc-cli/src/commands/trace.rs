//! `dmodc trace`: one route, hop by hop.

use std::fmt::Write as _;

use anyhow::{Result, anyhow, bail};
use dmodc::fabric::Peer;
use dmodc::judge::{Fate, trace};
use dmodc::{End, Fabric, Guid, Lid, Live, PortNumber, SwitchIndex};
use dmodc_formats::lft::Lft;
use serde_json::json;

use crate::args::TraceArgs;
use crate::input::Whole;
use crate::text::{end, switch};
use crate::{Answer, input, output};

pub(super) fn run(args: &TraceArgs) -> Result<Answer> {
    let whole = Whole::new(input::fabric(&args.fabric)?);
    let live = whole.live();
    let fabric = live.fabric;
    let dump = input::tables(&args.tables, fabric)?;
    let tables = &Lft::tables(&[&dump], fabric)?[0];
    let from = resolve(fabric, &args.source)?;
    let to = resolve(fabric, &args.destination)?;
    let start = from.switch(fabric);
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
        let _ = writeln!(text, "from {} to {} lid {lid}", end(fabric, from), end(fabric, to));
        for hop in &hops {
            let into = hop.into.map_or(String::new(), |p| format!("[{p}] "));
            let out = hop.out.map_or("no route".into(), |p| format!("[{p}]"));
            let _ = writeln!(text, "  {into}{} {out}", switch(fabric, hop.switch));
        }
        let last = hops[hops.len() - 1];
        let _ = match fate {
            Fate::Delivered => writeln!(text, "delivered"),
            Fate::Lost => writeln!(text, "LOST: {}", why(live, last.switch, last.out)),
            Fate::Loops => {
                writeln!(text, "LOOPS: '{}' was passed before", fabric.switch(last.switch).name)
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

/// Why a packet ends at this switch.
fn why(live: Live<'_>, s: SwitchIndex, out: Option<PortNumber>) -> String {
    let Some(port) = out else { return "the table has no route".into() };
    match live.peer(s, port) {
        _ if port == PortNumber::SELF => {
            "the table says the switch itself is the destination".into()
        }
        Peer::Node(n) => format!("port {port} leads to {}", end(live.fabric, End::Node(n))),
        _ => format!("no cable is in port {port}"),
    }
}

/// What a name, GUID or LID means. A name that several have is refused with their GUIDs.
fn resolve(fabric: &Fabric, text: &str) -> Result<End> {
    let mut named: Vec<End> = all(fabric).filter(|&e| e.name(fabric) == text).collect();
    if named.is_empty() {
        // A host's name alone, without that of its adapter.
        let first_word = |e: End| e.name(fabric).split_whitespace().next();
        named =
            fabric.node_indices().map(End::Node).filter(|&e| first_word(e) == Some(text)).collect();
    }
    match named[..] {
        [one] => return Ok(one),
        [] => {}
        _ => {
            let guids: Vec<String> =
                named.iter().take(4).map(|&e| guids(fabric, e)[0].to_string()).collect();
            bail!("{} are called '{text}'; say which: {} …", named.len(), guids.join(", "));
        }
    }
    let text = text.strip_prefix("S-").or(text.strip_prefix("H-")).unwrap_or(text);
    let digits = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let hex = u64::from_str_radix(digits.unwrap_or(text), 16).ok().map(Guid);
    if let Some(found) = hex.and_then(|g| all(fabric).find(|&e| guids(fabric, e).contains(&g))) {
        return Ok(found);
    }
    let lid = match digits {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    lid.and_then(|lid| all(fabric).find(|&e| has_lid(fabric, e, Lid(lid))))
        .ok_or_else(|| anyhow!("the fabric has no node or switch with name, GUID or LID '{text}'"))
}

fn all(fabric: &Fabric) -> impl Iterator<Item = End> {
    let nodes = fabric.node_indices().map(End::Node);
    nodes.chain(fabric.switch_indices().map(End::Switch))
}

/// The GUIDs that mean this end: of a node its port's, then its adapter's.
fn guids(fabric: &Fabric, e: End) -> Vec<Guid> {
    match e {
        End::Node(n) => vec![fabric.node(n).guid, fabric.adapter_of(n).guid],
        End::Switch(s) => vec![fabric.switch(s).guid],
    }
}

fn has_lid(fabric: &Fabric, e: End, lid: Lid) -> bool {
    match e {
        End::Node(n) => {
            let node = fabric.node(n);
            (node.lid.0..node.lid.0 + (1 << node.lmc)).contains(&lid.0)
        }
        End::Switch(s) => fabric.switch(s).lid == lid,
    }
}
