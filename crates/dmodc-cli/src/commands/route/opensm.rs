//! `dmodc route --engine opensm:NAME`: the tables of one of OpenSM's own engines, computed by OpenSM itself on a
//! simulated fabric.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use dmodc::judge::{Delivery, Scope, check};
use dmodc::validity;
use dmodc_lab::{OpensmTables, tables_of};
use serde_json::json;

use super::comments;
use crate::args::RouteArgs;
use crate::route_state::RouteState;
use crate::text::counted;
use crate::{Answer, commands, output, table_file, verdict};

/// The time that OpenSM may take, in seconds.
const LONGEST: u64 = 3600;

pub(super) fn route(args: &RouteArgs, state: &RouteState, name: &str) -> Result<Answer> {
    let live = state.live();
    let others = [args.save_orders.is_some(), args.alternatives.is_some(), args.connect_roots];
    ensure!(
        !others.contains(&true) && args.split.is_none(),
        "--save-orders, --alternatives, --connect-roots and --split do not work with engines of OpenSM; leave them out"
    );
    let plugin = commands::opensm::plugin(None)?;
    let OpensmTables { lft: dump, matrices_ms, tables_ms } =
        tables_of(live, name, &plugin, LONGEST)?;
    let tables = dump.with_columns(state.routing.columns(), live.fabric)?;
    let (ranking, orders) = (state.routing.ranking(live), state.routing.orders());
    let judged = check(live, &ranking, orders, &tables).nodes;
    let delivery = judged.delivery();
    refuse_nothing(name, &delivery)?;
    if args.output.output.is_some() || !args.output.json {
        table_file::write(args.output.output.as_deref(), live, &tables, &comments(state))?;
    }
    let unseen = dump.missing_switches.iter().filter(|&&s| live.switch(s)).count();
    if args.output.json {
        let ready = state.routing.preprocess(live);
        let coverage = validity(live, &ready, state.routing.columns()).ok();
        let mut summary = json!({
            "schema": "dmodc/route/1",
            "engine": format!("opensm:{name}"),
            "valid": coverage.map(|coverage| coverage.is_valid()),
            "switches": live.switches().count(),
            "unseen_switches": unseen,
            "destinations": state.destinations(),
            "entries": tables.routed(),
            "sound": judged.is_sound(),
            "hop_tables_ms": matrices_ms,
            "route_ms": tables_ms,
        });
        verdict::set(&mut summary, &delivery);
        output::print(&format!("{summary:#}\n"))?;
    } else {
        let mut text = format!(
            "engine opensm:{name}: tables of {} with {} each, routed inside OpenSM in {tables_ms:.2} ms, \
             after {matrices_ms:.2} ms for hop tables\n",
            counted(live.switches().count(), "switch"),
            counted(state.destinations(), "destination"),
        );
        text += &verdict_text(&judged, unseen);
        if args.output.output.as_deref().is_some_and(|path| path.to_str() != Some("-")) {
            output::print(&text)?;
        } else if !delivery.is_complete() {
            eprint!("{text}");
        }
    }
    Ok(delivery.is_complete().into())
}

/// Refuses tables that deliver no pair although live cables connect some: then something went wrong.
fn refuse_nothing(name: &str, delivery: &Delivery) -> Result<()> {
    ensure!(
        delivery.delivered > 0 || delivery.lost == 0,
        "opensm:{name}: the tables of OpenSM deliver no pair ({delivery}), so they are not written; try another engine"
    );
    Ok(())
}

/// Returns the verdict on the tables in words, and the reason why some switches may have none.
fn verdict_text(judged: &Scope, unseen: usize) -> String {
    let sound = if judged.is_sound() { "sound" } else { "NOT SOUND" };
    let mut text = format!("{}; {sound}\n", judged.delivery());
    if unseen > 0 {
        let _ = writeln!(
            text,
            "OpenSM routes only the part of the fabric that it sits in, here the one with the most nodes: {} of \
             other parts got no tables",
            counted(unseen, "switch")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_deliver_nothing_are_refused() {
        let refused = |delivered, lost, cut_off| {
            let pairs = delivered + lost + cut_off;
            refuse_nothing("updn", &Delivery { pairs, delivered, lost, cut_off })
        };
        let error = refused(0, 12, 0).expect_err("it is refused").to_string();
        assert!(error.contains("opensm:updn: the tables of OpenSM deliver no pair"), "{error}");
        assert!(error.contains("0 of 12 node pairs delivered, 12 lost"), "{error}");
        // Pairs that are cut off are not the engine's fault, and neither is a fabric without pairs.
        for (delivered, lost, cut_off) in [(1, 11, 0), (0, 0, 12), (0, 0, 0)] {
            assert!(refused(delivered, lost, cut_off).is_ok());
        }
    }
}
