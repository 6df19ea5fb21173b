//! What was routed, for people and for scripts.

use std::fmt::Write as _;
use std::time::Duration;

use dmodc::fabric::{Changes, Counts};
use dmodc::{Coverage, End, NO_ROUTE, SwitchIndex};
use serde_json::{Value, json};

use super::state::State;
use crate::ranks;
use crate::text::{counted, end, number, switch, time};

/// Entries of live switches without a route, by kind of destination.
#[derive(Default)]
pub(super) struct Empty {
    nodes: usize,
    others: usize,
    switches: usize,
    /// The first of each kind: the switch and the destination.
    examples: [Option<(SwitchIndex, End)>; 3],
}

impl Empty {
    /// Counts those among these entries of one switch, each given with its column.
    pub(super) fn add<'a>(
        &mut self,
        state: &State,
        s: SwitchIndex,
        entries: impl Iterator<Item = (usize, &'a u8)>,
    ) {
        let (live, routing) = (state.live(), &state.routing);
        for (column, _) in entries.filter(|(_, entry)| **entry == NO_ROUTE) {
            let end = routing.columns().destinations()[column].end;
            if !end.is_alive(live) {
                continue;
            }
            let (count, kind) = match end {
                End::Node(n) if routing.orders().node_number(n).on_leaf => (&mut self.nodes, 0),
                End::Node(_) => (&mut self.others, 1),
                End::Switch(_) => (&mut self.switches, 2),
            };
            *count += 1;
            self.examples[kind].get_or_insert((s, end));
        }
    }
}

pub(super) struct Summary {
    pub(super) name: &'static str,
    /// Entries that have a route.
    pub(super) routed: usize,
    /// What took the time.
    pub(super) done: &'static str,
    pub(super) coverage: Coverage,
    pub(super) empty: Empty,
    pub(super) connected: Option<usize>,
    pub(super) elapsed: Duration,
}

impl Summary {
    pub(super) fn json(&self, state: &State) -> String {
        let live = state.live();
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
            "reference": state.reference.as_ref().map(|(name, changes)| reference(name, changes)),
            "rank_rule": ranks::json(live, &state.routing.ranking(live), &state.routing),
            "switches": live.switches().count(),
            "destinations": state.destinations(),
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

    pub(super) fn text(&self, state: &State) -> String {
        let live = state.live();
        let mut text = format!(
            "{}: {} × {} {} in {}\n",
            self.name,
            counted(live.switches().count(), "switch"),
            counted(state.destinations(), "destination"),
            self.done,
            time(self.elapsed),
        );
        if let Some((name, changes)) = &state.reference {
            let _ = writeln!(text, "reference {name}: {changes}");
        }
        text += &ranks::text(live, &state.routing.ranking(live), &state.routing);
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
        if let Some(lid) = state.beyond {
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

fn reference(name: &str, changes: &Changes) -> Value {
    let counts = |counts: &Counts| json!({ "switches": counts.switches, "nodes": counts.nodes, "cables": counts.cables });
    json!({
        "file": name,
        "missing": counts(&changes.missing),
        "new": counts(&changes.new),
        "recabled_cables": changes.recabled,
        "moved_nodes": changes.moved,
        "replaced_switches": changes.replaced_switches,
        "replaced_nodes": changes.replaced_nodes,
    })
}
