//! `dmodc check`: judges forwarding tables.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use dmodc::judge::{self, Channel, Check, Loop, Scope, UndeliveredReason};
use dmodc::{End, Fabric, Live, NodeIndex, Routing, RoutingOptions};
use dmodc_formats::lft::Lft;
use dmodc_study::answers::check::{json, unmatched};

use crate::args::CheckArgs;
use crate::input::{HealthyFabric, OrderChoice};
use crate::text::{counted, end, number, switch, time};
use crate::verdict::{self, HintContext};
use crate::{Answer, input, output, source, table_file};

pub(super) fn run(args: &CheckArgs) -> Result<Answer> {
    let paths = [Some(args.tables.as_path()), args.new.as_deref()];
    let paths = || paths.into_iter().flatten();
    source::only_one_from_stdin(paths().chain([args.fabric.fabric.as_path()]))?;
    let fabric = input::fabric(&args.fabric)?;
    let (fabric, leaves) = input::leaf_rule(&args.leaves, fabric)?;
    let whole = HealthyFabric::new(fabric);
    let live = whole.live();
    let mut dumps = Vec::new();
    for path in paths() {
        let dump = table_file::tables(path, live.fabric, &args.fabric)?;
        table_file::check_fabric(path, &dump, live.fabric)?;
        dumps.push(dump);
    }
    let OrderChoice { destinations, switches, .. } = input::order(&args.order)?;
    let options = RoutingOptions { leaves, destinations, switches, switch_lids: true };
    let routing = Routing::without_measuring(live, &options);
    let ready = routing.preprocess(live);
    let (ranking, orders) = (&ready.ranking, routing.orders());
    let tables = Lft::tables(&dumps.iter().collect::<Vec<_>>(), live.fabric)?;
    let start = Instant::now();
    let check = match &tables[..] {
        [old, new] => judge::check_union(live, ranking, orders, old, new),
        tables => judge::check(live, ranking, orders, &tables[0]),
    };
    let elapsed = start.elapsed();
    // If costs cannot be counted, the rest is reported all the same.
    let coverage = dmodc::validity(live, &ready, routing.columns()).ok();
    let (nodes, delivery) = (&check.nodes, check.nodes.delivery());
    let turns = args.up_down && nodes.up_down_violations > 0;
    if args.json {
        let unmatched = unmatched(&dumps);
        output::print(&json(live.fabric, &check, coverage.as_ref(), &unmatched, elapsed))?;
    } else {
        let mut report = mismatches(live, &dumps, paths());
        report += &text(live, &check, args.union, elapsed);
        report += &coverage.as_ref().map(verdict::validity).unwrap_or_default();
        report += match (nodes.is_sound(), delivery.is_complete()) {
            (false, _) => "verdict: NOT SOUND, because packets can loop or deadlock\n",
            (true, false) => "verdict: sound, but not every pair is delivered\n",
            (true, true) if turns => "verdict: sound, but not every route is up*down*\n",
            (true, true) => "verdict: sound, and every pair is delivered\n",
        };
        if !nodes.is_sound() {
            report += match args.union {
                true => "hint: 'dmodc plan' finds an order of writes in which nothing loops\n",
                false => {
                    "hint: 'dmodc route' computes tables of this fabric that neither loop nor deadlock\n"
                }
            };
        }
        let (leaves, coverage) = (&args.leaves, coverage.as_ref());
        report += &HintContext { live, ranking, leaves, delivery, coverage, dumps: &dumps }.hint();
        output::print(&report)?;
    }
    Ok((nodes.is_sound() && delivery.is_complete() && !turns).into())
}

/// Returns the sentences about traffic between nodes, then about all traffic.
pub(super) fn text(live: Live<'_>, check: &Check, union: bool, elapsed: Duration) -> String {
    let fabric = live.fabric;
    let mut text = String::new();
    let mixed = if union { "while old and new tables are mixed: " } else { "" };
    let nodes = &check.nodes;
    let _ = writeln!(text, "{mixed}{} ({})", nodes.delivery(), time(elapsed));
    for (count, what) in [
        (nodes.loops, "with packets in a loop"),
        (nodes.up_down_violations, "with a route that goes up after it went down"),
    ] {
        if count > 0 {
            let _ = writeln!(text, "  {} {what}", counted(count, "pair"));
        }
    }
    for example in &nodes.examples {
        let from = source(fabric, example.from, example.to);
        let fate = match example.why {
            UndeliveredReason::Lost => "is lost",
            UndeliveredReason::Loops => "loops",
            UndeliveredReason::CutOff => "is cut off",
        };
        let _ = writeln!(text, "  {from} to {} {fate}", end(fabric, example.to));
    }
    text += &looping(fabric, nodes, union);
    if nodes.up_down_violations == 0 {
        text += "up*down*: no route goes up after it went down\n";
    }
    text += &deadlock(fabric, nodes);
    let all = &check.everything;
    let _ = writeln!(
        text,
        "traffic to and from switches and aggregation nodes (not part of the verdict): {} of {} delivered, \
         {} lost, {} cut off, {} in a loop, {}",
        number(all.delivered - nodes.delivered),
        counted(all.pairs - nodes.pairs, "pair"),
        number(all.lost - nodes.lost),
        number(all.cut_off - nodes.cut_off),
        number(all.loops - nodes.loops),
        if all.is_deadlock_free() { "no deadlock" } else { "a deadlock is possible" },
    );
    text
}

/// Returns a node on the switch, other than the destination, to name a pair.
fn source(fabric: &Fabric, s: dmodc::SwitchIndex, to: End) -> String {
    let other = |n: &&NodeIndex| !fabric.is_aggregation(**n) && End::Node(**n) != to;
    match fabric.nodes_of(s).iter().find(other) {
        Some(&n) => end(fabric, End::Node(n)),
        None => switch(fabric, s),
    }
}

/// Returns the number of destinations with a loop, and one loop as an example.
fn looping(fabric: &Fabric, scope: &Scope, union: bool) -> String {
    let Some(Loop { to, hops }) = &scope.loop_example else { return String::new() };
    let mut text = format!(
        "LOOP {}: packets to {}, such as {}\n",
        if union { "possible while tables are replaced" } else { "found" },
        counted(scope.loop_destinations, "destination"),
        end(fabric, *to),
    );
    for &(Channel { switch: s, port }, new) in hops {
        let table = match (union, new) {
            (false, _) => "",
            (_, false) => " (old table)",
            (_, true) => " (new table)",
        };
        let _ = writeln!(text, "  {} port {port}{table}", switch(fabric, s));
    }
    text
}

fn deadlock(fabric: &Fabric, scope: &Scope) -> String {
    match &scope.cycle {
        None => "no deadlock: packets cannot wait for each other in a circle\n".into(),
        Some(cycle) => {
            let mut text = format!(
                "DEADLOCK possible: packets on {} can wait for each other in a circle\n",
                counted(cycle.len(), "channel")
            );
            for &Channel { switch: s, port } in cycle {
                let _ = writeln!(text, "  {} port {port}", switch(fabric, s));
            }
            text
        }
    }
}

/// Returns the parts of dumps that do not belong to the fabric, and the switches without a table.
pub(super) fn mismatches<'a>(
    live: Live<'_>,
    dumps: &[Lft],
    paths: impl Iterator<Item = &'a Path>,
) -> String {
    let mut text = String::new();
    for (dump, path) in dumps.iter().zip(paths) {
        let path = path.display();
        if let Some(first) = dump.unknown_switches.first() {
            let count = counted(dump.unknown_switches.len(), "switch");
            let _ = writeln!(
                text,
                "{path}: tables of {count} that the fabric does not have, such as {first}"
            );
        }
        if let Some((lid, guid)) = dump.unknown_destinations.first_key_value() {
            let count = counted(dump.unknown_destinations.len(), "destination");
            let guid = guid.map(|g| format!(" ({g})")).unwrap_or_default();
            let _ = writeln!(
                text,
                "{path}: entries for {count} that the fabric does not have, such as LID {lid}{guid}"
            );
        }
        if let Some(&first) = dump.missing_switches.first() {
            let count = counted(dump.missing_switches.len(), "switch");
            let first = switch(live.fabric, first);
            let _ = writeln!(text, "{path}: no table for {count} of the fabric, such as {first}");
        }
    }
    text
}
