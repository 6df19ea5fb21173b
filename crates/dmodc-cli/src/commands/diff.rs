//! `dmodc diff`: what new tables move.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::Result;
use dmodc::judge::{self, Diff, Forced, TableChanges};
use dmodc::{Fabric, Ranking, Routing, RoutingOptions, SwitchIndex};
use dmodc_formats::lft::Lft;
use dmodc_study::answers::check::unmatched;
use serde_json::{Value, json};

use super::check::mismatches;
use crate::args::DiffArgs;
use crate::input::{HealthyFabric, OrderChoice};
use crate::text::{counted, number, percent, switch, time};
use crate::{Answer, input, output, source, table_file};

/// The number of switches that are named.
const NAMED: usize = 10;

pub(super) fn run(args: &DiffArgs) -> Result<Answer> {
    let paths = [args.old.as_path(), args.new.as_path()];
    source::only_one_from_stdin(paths.into_iter().chain([args.fabric.fabric.as_path()]))?;
    let fabric = input::fabric(&args.fabric)?;
    let (fabric, leaves) = input::leaf_rule(&args.leaves, fabric)?;
    let OrderChoice { destinations, switches, .. } = input::order(&args.order)?;
    let whole = HealthyFabric::new(fabric);
    let live = whole.live();
    let tables = |path| table_file::tables(path, live.fabric, &args.fabric);
    let dumps = [tables(paths[0])?, tables(paths[1])?];
    for (dump, path) in dumps.iter().zip(paths) {
        table_file::check_fabric(path, dump, live.fabric)?;
    }
    let options = RoutingOptions { leaves, destinations, switches, switch_lids: true };
    let routing = Routing::without_measuring(live, &options);
    let ready = routing.preprocess(live);
    let tables = Lft::tables(&[&dumps[0], &dumps[1]], live.fabric)?;
    let start = Instant::now();
    let diff = judge::diff(live, &ready.ranking, &tables[0], &tables[1]);
    // If costs cannot be counted, the rest is reported all the same.
    let forced = judge::forced(live, &ready, &tables[0], &tables[1]).ok();
    let found = DiffReport { fabric: live.fabric, diff, forced, elapsed: start.elapsed() };
    let report = match args.json {
        true => json(&found, &ready.ranking, &dumps),
        false => mismatches(live, &dumps, paths.into_iter()) + &text(&found),
    };
    output::print(&report)?;
    Ok(found.diff.is_empty().into())
}

/// Everything that is reported.
struct DiffReport<'a> {
    fabric: &'a Fabric,
    diff: Diff,
    forced: Option<Forced>,
    elapsed: Duration,
}

fn text(found: &DiffReport<'_>) -> String {
    let DiffReport { fabric, diff, forced, elapsed } = found;
    let TableChanges { entries, set, unset, blocks, switches } = diff.changes;
    let of = &diff.of;
    let share = |part: u64, whole: u64| percent(part as usize, whole as usize);
    if diff.is_empty() {
        let same = format!("all {} are the same", counted(of.entries, "entry"));
        return format!("{same} ({})\nverdict: equal\n", time(*elapsed));
    }
    let mut text = format!(
        "{} of {} differ ({}): {} new, {} removed, {} with another port ({})\n",
        number(entries),
        counted(of.entries, "entry"),
        share(entries, of.entries),
        number(set),
        number(unset),
        number(entries - set - unset),
        time(*elapsed),
    );
    let _ = writeln!(
        text,
        "{} of {} change ({}), in {} of {} ({}); a block has 64 entries",
        number(blocks),
        counted(of.blocks, "block"),
        share(blocks, of.blocks),
        number(switches),
        counted(of.switches, "switch"),
        share(switches, of.switches),
    );
    if let Some(Forced { entries: all, changed_entries: entries, changed_blocks: blocks, .. }) =
        forced
    {
        let _ = writeln!(
            text,
            "of these, {} ({}) and {} ({}) are forced: their old ports no longer lead closer, so every up*down* routing \
             changes them",
            counted(*entries, "entry"),
            share(*entries, of.entries),
            counted(*blocks, "block"),
            share(*blocks, of.blocks),
        );
        if all > entries {
            let _ = writeln!(
                text,
                "{} more cannot stay either, but the new tables keep {}",
                counted(all - entries, "entry"),
                if all - entries == 1 { "it" } else { "them" },
            );
        }
    }
    let _ = writeln!(
        text,
        "{} of {} change their route ({})",
        number(diff.pairs),
        counted(of.pairs, "node pair"),
        share(diff.pairs, of.pairs),
    );
    for level in &diff.levels {
        let name = match level.rank {
            Some(0) => "rank 0 (leaves)".into(),
            Some(rank) => format!("rank {rank}"),
            None => "without a rank".into(),
        };
        let changes = &level.changes;
        let of = counted(level.switches, "switch");
        let _ =
            writeln!(text, "  {name}: {}, {} of {of}", amount(changes), number(changes.switches));
    }
    let most = most(diff);
    text += "switches with the most changes:\n";
    for (s, changes) in &most {
        let _ = writeln!(text, "  {}: {}", switch(fabric, *s), amount(changes));
    }
    let more = diff.switches.len() - most.len();
    if more > 0 {
        let _ = writeln!(text, "  and {}", counted(more, "more switch"));
    }
    text + "verdict: DIFFERENT (hint: 'dmodc plan' finds a safe order for the update)\n"
}

/// Returns numbers of entries and blocks, in words.
fn amount(changes: &TableChanges) -> String {
    let entries = counted(changes.entries, "entry");
    format!("{entries}, {}", counted(changes.blocks, "block"))
}

/// Returns the switches with the most differing entries.
fn most(diff: &Diff) -> Vec<(SwitchIndex, TableChanges)> {
    let mut most = diff.switches.clone();
    most.sort_by_key(|(s, changes)| (Reverse(changes.entries), *s));
    most.truncate(NAMED);
    most
}

fn json(found: &DiffReport<'_>, ranking: &Ranking, dumps: &[Lft]) -> String {
    let DiffReport { fabric, diff, forced, elapsed } = found;
    let of = &diff.of;
    let share = |part: u64, whole: u64| 100.0 * part as f64 / whole.max(1) as f64;
    let level = |rank: Option<u32>| rank.map(|rank| rank + 1);
    let levels = diff.levels.iter().map(|l| {
        let mut value = numbers(&l.changes);
        value["level"] = json!(level(l.rank));
        value["of_switches"] = json!(l.switches);
        value
    });
    let most = most(diff).into_iter().map(|(s, changes)| {
        let mut value = numbers(&changes);
        value["guid"] = json!(fabric.switch(s).guid.to_string());
        value["name"] = json!(fabric.switch(s).name);
        value["level"] = json!(level(ranking.rank(s)));
        value
    });
    let mut value = numbers(&diff.changes);
    value["schema"] = json!("dmodc/diff/1");
    value["equal"] = json!(diff.is_empty());
    value["pairs"] = json!(diff.pairs);
    value["forced_entries"] = json!(forced.map(|forced| forced.changed_entries));
    value["forced_blocks"] = json!(forced.map(|forced| forced.changed_blocks));
    value["kept_forced_entries"] =
        json!(forced.map(|forced| forced.entries - forced.changed_entries));
    value["of"] = json!({
        "entries": of.entries,
        "blocks": of.blocks,
        "switches": of.switches,
        "pairs": of.pairs,
    });
    value["percent"] = json!({
        "entries": share(diff.changes.entries, of.entries),
        "blocks": share(diff.changes.blocks, of.blocks),
        "switches": share(diff.changes.switches, of.switches),
        "pairs": share(diff.pairs, of.pairs),
        "forced_entries": forced.map(|forced| share(forced.changed_entries, of.entries)),
        "forced_blocks": forced.map(|forced| share(forced.changed_blocks, of.blocks)),
    });
    value["levels"] = levels.collect();
    value["most"] = most.collect();
    value["diff_ms"] = json!(elapsed.as_secs_f64() * 1e3);
    value["unmatched"] = unmatched(dumps);
    format!("{value:#}\n")
}

fn numbers(changes: &TableChanges) -> Value {
    json!({
        "entries": changes.entries,
        "newly_set": changes.set,
        "newly_unset": changes.unset,
        "blocks": changes.blocks,
        "switches": changes.switches,
    })
}
