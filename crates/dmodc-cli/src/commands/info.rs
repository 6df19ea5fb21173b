//! `dmodc info`: what a fabric is.

use anyhow::Result;
use dmodc::{Labels, NotPgft, Routing, RoutingOptions, recognise};
use dmodc_formats::Reading;
use serde_json::json;

use crate::args::InfoArgs;
use crate::input::Whole;
use crate::text::{counted, number};
use crate::{Answer, input, output};

pub(super) fn run(args: &InfoArgs) -> Result<Answer> {
    let Reading { fabric, given_lids, format, dirt } = input::reading(&args.fabric)?;
    let whole = Whole::new(fabric);
    let live = whole.live();
    let fabric = live.fabric;
    let ready = Routing::new(live, &RoutingOptions::default()).preprocess(live);
    let shape: Result<Labels, NotPgft> =
        recognise(live, &ready.ranking, &ready.groups, &ready.orders);
    let (nodes, adapters) = fabric.host_counts();
    let aggregation = fabric.adapters().len() - adapters;
    let per_rank: Vec<usize> = ready.ranking.by_rank().iter().map(Vec::len).collect();
    let unranked = fabric.switches().len() - per_rank.iter().sum::<usize>();
    if args.json {
        let info = json!({
            "schema": "dmodc/info/1",
            "switches": fabric.switches().len(),
            "nodes": nodes,
            "channel_adapters": adapters,
            "aggregation_nodes": aggregation,
            "cables": fabric.cable_count(),
            "inter_switch_cables": fabric.inter_switch_cables().len(),
            "levels": ready.ranking.levels(),
            "leaves": ready.ranking.leaves().len(),
            "switches_per_rank": per_rank,
            "unranked_switches": unranked,
            "given_lids": given_lids,
            "format": format.name(),
            "dirt": dirt.iter().map(|(k, f)| (k.name(), f.count)).collect::<std::collections::BTreeMap<_, _>>(),
            "pgft": shape.as_ref().ok().map(|labels| labels.pgft.to_string()),
            "not_pgft_because": shape.as_ref().err().map(|reason| reason.describe(live)),
        });
        output::print(&format!("{info:#}\n"))?;
        return Ok(Answer::Yes);
    }
    let mut text = format!(
        "{}, {}, {} ({} between switches)\n",
        counted(nodes, "node"),
        counted(fabric.switches().len(), "switch"),
        counted(fabric.cable_count(), "cable"),
        number(fabric.inter_switch_cables().len()),
    );
    if adapters != nodes || aggregation > 0 {
        text += &format!(
            "{}, {}\n",
            counted(adapters, "channel adapter"),
            counted(aggregation, "aggregation node")
        );
    }
    for (rank, count) in per_rank.iter().enumerate().rev() {
        let what = if rank == 0 { " (leaves)" } else { "" };
        text += &format!("  rank {rank}: {}{what}\n", counted(*count, "switch"));
    }
    if unranked > 0 {
        text += &format!("  connected to no leaf: {}\n", counted(unranked, "switch"));
    }
    if given_lids > 0 {
        let ports = counted(given_lids, "port");
        text += &format!("{ports} had no LID of their own and were given one\n");
    }
    text += &match &shape {
        Ok(labels) => format!("PGFT({})\n", labels.pgft),
        Err(reason) => format!("not a PGFT: {}\n", reason.describe(live)),
    };
    output::print(&text)?;
    Ok(Answer::Yes)
}
