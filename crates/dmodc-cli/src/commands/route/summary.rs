//! The result of routing, for people and for scripts.

use std::fmt::Write as _;
use std::time::Duration;

use dmodc::advise::NumbersCost;
use dmodc::fabric::{Changes, Counts};
use dmodc::judge::Delivery;
use dmodc::{Coverage, End, Fabric, Live, NO_ROUTE, SwitchIndex};
use serde_json::{Value, json};

use crate::args::RouteArgs;
use crate::expected_risk::AllToAllRisk;
use crate::route_state::{ReferenceRelief, RouteReference, RouteState};
use crate::text::{counted, doubts, end, number, switch, time};
use crate::verdict::{self, HintContext};
use crate::{dividers, expected_risk, inferred, ranks};

/// Preparations that take less are not worth a line.
const NOTICEABLE: Duration = Duration::from_secs(2);

/// Entries of live switches without a route, by kind of destination.
#[derive(Default)]
pub(super) struct EmptyEntries {
    nodes: usize,
    others: usize,
    switches: usize,
    /// The first of each kind: the switch and the destination.
    examples: [Option<(SwitchIndex, End)>; 3],
}

impl EmptyEntries {
    /// Adds the empty entries of one switch; each entry is given with its column.
    pub(super) fn add<'a>(
        &mut self,
        state: &RouteState,
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

pub(super) struct RouteSummary {
    pub(super) name: String,
    /// Entries that have a route.
    pub(super) routed: usize,
    /// What was done in the elapsed time.
    pub(super) done: &'static str,
    pub(super) coverage: Coverage,
    pub(super) delivery: Delivery,
    pub(super) empty: EmptyEntries,
    pub(super) connected: Option<usize>,
    /// The time to read the fabric, and to find its leaves, ranks, orders and dividers; without the relief of a reference.
    pub(super) prepared_in: Duration,
    pub(super) elapsed: Duration,
    /// The part of the elapsed time that relief took, if the engine ends with it.
    pub(super) relief_elapsed: Option<Duration>,
    /// What kept numbers cost, if that was measured.
    pub(super) numbers: Option<NumbersCost>,
    /// The risk of all-to-all, if it was counted.
    pub(super) risk: Option<AllToAllRisk>,
}

impl RouteSummary {
    pub(super) fn json(&self, state: &RouteState) -> String {
        let live = state.live();
        let guid = |s| live.fabric.switch(s).guid.to_string();
        let examples: Vec<_> = self
            .coverage
            .examples
            .iter()
            .map(|&(from, to)| json!({"from": guid(from), "to": guid(to)}))
            .collect();
        let mut summary = json!({
            "schema": "dmodc/route/1",
            "engine": self.name,
            "reference": state.reference.as_ref().map(|used| reference(live.fabric, used)),
            "relief": state.relief.as_ref().map(|ReferenceRelief { relief, elapsed }| json!({
                "entries": relief.moved.len(),
                "before": relief.before,
                "after": relief.after,
                "bound": relief.bound,
                "too_large": relief.is_too_large,
                "relief_ms": elapsed.as_secs_f64() * 1e3,
            })),
            "rank_rule": ranks::json(live, &state.routing),
            "switches": live.switches().count(),
            "destinations": state.destinations(),
            "entries": self.routed,
            "valid": self.coverage.is_valid(),
            "leaf_pairs": self.coverage.leaf_pairs,
            "unreachable_leaf_pairs": self.coverage.unreachable_leaf_pairs,
            "unreachable_examples": examples,
            "uncertain_leaves": state.routing.doubts().iter().map(|d| guid(d.switch)).collect::<Vec<_>>(),
            "empty_entries": {
                "nodes": self.empty.nodes,
                "other_nodes": self.empty.others,
                "switches": self.empty.switches,
            },
            "connected_root_entries": self.connected,
            "numbers": self.numbers.as_ref().map(numbers),
            "leaf_evenness": expected_risk::uneven_json(live, &state.routing.ranking(live)),
            "all_to_all": self.risk.map(AllToAllRisk::json),
            "prepare_ms": self.prepared_in.as_secs_f64() * 1e3,
            "route_ms": self.elapsed.as_secs_f64() * 1e3,
            "relief_ms": self.relief_elapsed.map(|elapsed| elapsed.as_secs_f64() * 1e3),
        });
        if self.uses_level_dividers() {
            dividers::set(&mut summary, &state.routing);
        }
        verdict::set(&mut summary, &self.delivery);
        format!("{summary:#}\n")
    }

    /// Returns whether the engine uses the dividers of levels; others have rules of their own.
    fn uses_level_dividers(&self) -> bool {
        let router = self.name.split('+').next();
        matches!(router, Some("dmodc" | "stable"))
    }

    /// Returns whether this is an engine for users whose entries do not depend on each other. (`random`, `paper` and `dmodk` are
    /// for comparisons.)
    fn is_by_closed_formula(&self) -> bool {
        matches!(self.name.as_str(), "dmodc" | "stable")
    }

    pub(super) fn text(&self, args: &RouteArgs, state: &RouteState) -> String {
        let live = state.live();
        let mut text = format!(
            "engine {}: tables of {} with {} each, {} in {}{}\n",
            self.name,
            counted(live.switches().count(), "switch"),
            counted(state.destinations(), "destination"),
            self.done,
            time(self.elapsed),
            self.relief_elapsed.map_or(String::new(), |elapsed| format!(
                ", of which relief took {}",
                time(elapsed)
            )),
        );
        if self.prepared_in >= NOTICEABLE {
            let _ = writeln!(
                text,
                "preparation took {}: reading the fabric, and choosing leaves, ranks, orders and dividers",
                time(self.prepared_in)
            );
        }
        let _ = match &state.reference {
            None => Ok(()),
            Some(RouteReference::File(name, changes)) => {
                writeln!(text, "reference {name}: {changes}")
            }
            Some(RouteReference::Inferred(whole)) => {
                let plain = if whole.is_err() { "; these are the tables of dmodc" } else { "" };
                writeln!(text, "reference inferred: {}{plain}", inferred::text(whole))
            }
        };
        let moved = |of: &&ReferenceRelief| !of.relief.moved.is_empty();
        if let Some(ReferenceRelief { relief, elapsed }) = state.relief.as_ref().filter(moved) {
            let _ = writeln!(
                text,
                "relief of the reference: {} moved off the ports with the most flows of all-to-all; the worst port carries {} \
                 (before: {}); this took {}",
                entries(relief.moved.len()),
                number(relief.after),
                number(relief.before),
                time(*elapsed),
            );
        }
        text += &ranks::text(live, &state.routing);
        if self.uses_level_dividers() {
            text += &dividers::text(&state.routing);
        }
        text += &verdict::validity(&self.coverage);
        let _ = writeln!(text, "{}", self.delivery);
        text += &expected_risk::uneven_text(live, &state.routing.ranking(live));
        if let Some(risk) = self.risk {
            text += &risk.text("");
            if risk.is_high() && self.is_by_closed_formula() && self.delivery.is_complete() {
                text += "  (--engine stable+relief moves single entries off the most loaded ports; it takes longer)\n";
            }
        }
        if !self.coverage.examples.is_empty() {
            let ranking = state.routing.ranking(live);
            let named = |s: SwitchIndex| {
                let kind = if ranking.is_leaf(s) { "leaf" } else { "switch" };
                format!("{kind} {}", switch(live.fabric, s))
            };
            for &(from, to) in &self.coverage.examples {
                let _ = writeln!(text, "  no up*down* route from {} to {}", named(from), named(to));
            }
        }
        text += &self.unset(live);
        if let Some(filled) = self.connected {
            let _ = writeln!(
                text,
                "{} between switches got a shortest path, which the guarantee against deadlock does not cover",
                entries(filled)
            );
        }
        for line in doubts(live.fabric, state.routing.doubts()) {
            let _ = writeln!(text, "{line}");
        }
        if let Some(cost) = self.numbers.filter(NumbersCost::is_noticeable) {
            let advice = match state.absent_nodes() {
                0 if !state.has_saved_numbers() => {
                    "note: saved numbers leave room for nodes that may be added to leaves, and this is its price; routes without \
                     --save-orders do not pay it"
                        .into()
                }
                0 if args.routing.reference.is_some() => {
                    "hint: when most routes may move, take the present fabric as the new reference".into()
                }
                0 => "hint: when most routes may move, number anew: use --save-orders without --orders".into(),
                count => format!(
                    "note: {} in the orders {} absent now; the balance may improve when nodes return",
                    counted(count, "node"),
                    if count == 1 { "is" } else { "are" }
                ),
            };
            let _ = writeln!(text, "{cost}\n{advice}");
        }
        if let Some(lid) = state.beyond {
            let _ = writeln!(
                text,
                "LID {lid} is beyond the range of InfiniBand; OpenSM cannot load these tables"
            );
        }
        let situation = HintContext {
            live,
            ranking: &state.routing.ranking(live),
            leaves: &args.routing.leaves,
            delivery: self.delivery,
            coverage: Some(&self.coverage),
            dumps: &[],
        };
        text + &situation.hint()
    }

    /// Returns a text about entries that stay unset. If every pair is delivered, they do not matter, and one line is enough.
    fn unset(&self, live: Live<'_>) -> String {
        let EmptyEntries { nodes, others, switches, examples } = &self.empty;
        let option = switches > &0 && self.connected.is_none();
        let hint = |which: &str| match option {
            true => format!(" (--connect-roots fills {which})"),
            false => String::new(),
        };
        let all = nodes + others + switches;
        if self.delivery.is_complete() {
            return match all {
                0 => String::new(),
                _ => {
                    let (count, hint) = (entries(all), hint("those between switches"));
                    let verb = if all == 1 { "has" } else { "have" };
                    format!("{count} {verb} no route, but no node pair needs them{hint}\n")
                }
            };
        }
        let mut text = String::new();
        let kinds = [(*nodes, "to nodes"), (*others, "to nodes on switches that are not leaves")];
        for ((count, kind), example) in kinds.into_iter().zip(examples) {
            if let Some((from, to)) = *example {
                let (from, to) = (switch(live.fabric, from), end(live.fabric, to));
                let count = entries(count);
                let _ = writeln!(text, "{count} {kind} without a route, such as at {from} to {to}");
            }
        }
        if *switches > 0 {
            let (count, hint) = (entries(*switches), hint("them"));
            let _ = writeln!(text, "{count} between switches without a route{hint}");
        }
        text
    }
}

fn entries(count: usize) -> String {
    counted(count, "entry")
}

fn numbers(cost: &NumbersCost) -> Value {
    json!({
        "a2a": cost.all_to_all,
        "fresh_a2a": cost.fresh_all_to_all,
        "sp": cost.shifts,
        "fresh_sp": cost.fresh_shifts,
        "ratio": cost.ratio(),
        "noticeable": cost.is_noticeable(),
    })
}

fn reference(fabric: &Fabric, reference: &RouteReference) -> Value {
    match reference {
        RouteReference::File(name, changes) => by_file(name, changes),
        RouteReference::Inferred(whole) => json!({"inferred": inferred::json(fabric, whole)}),
    }
}

fn by_file(name: &str, changes: &Changes) -> Value {
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
