//! `dmodc info`: a survey report of a fabric.

mod missing;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use dmodc::fabric::Rate;
use dmodc::{
    Dmodc, Doubt, InferredLevel, InferredWhole, Labels, Leaves, LevelSurvey, Live, NotFatTree,
    NotPgft, Preprocessing, RankRule, Routing, RoutingOptions, Survey, SwitchIndex, TooIrregular,
    not_fat_tree, recognise, survey, validity,
};
use dmodc_formats::{Dirt, Format, Planes, Reading};
use serde_json::{Value, json};

use crate::args::InfoArgs;
use crate::expected_risk::AllToAllRisk;
use crate::input::HealthyFabric;
use crate::text::{self, counted, dirt, not_pgft, number, switch};
use crate::{Answer, dividers, expected_risk, inferred, input, output, ranks};

/// Everything that is reported.
struct Info<'a> {
    live: Live<'a>,
    ready: &'a Preprocessing,
    routing: &'a Routing,
    shape: Result<Labels, NotPgft>,
    not_fat_tree: Option<NotFatTree>,
    doubts: &'a [Doubt],
    survey: Survey,
    inferred_whole: Result<InferredWhole, TooIrregular>,
    format: Format,
    dirt: Dirt,
    given_lids: usize,
    planes: Planes,
    /// The risk of all-to-all with the default engine, if it was counted.
    risk: Option<AllToAllRisk>,
}

pub(super) fn run(args: &InfoArgs) -> Result<Answer> {
    let reading = input::reading(&args.fabric)?;
    let Reading { fabric, given_lids, format, dirt, planes, .. } = reading;
    let (fabric, leaves) = input::leaf_rule(&args.leaves, fabric)?;
    let whole = HealthyFabric::new(fabric);
    let live = whole.live();
    let options = RoutingOptions { leaves, ..RoutingOptions::default() };
    let routing = Routing::new(live, &options);
    let inferred_whole = InferredWhole::new(live.fabric, &options.leaves);
    let ready = routing.shape(live);
    let shape = recognise(live, &ready.ranking, &ready.groups, &ready.orders);
    let survey = survey(live, &ready.ranking, &ready.groups);
    let not_fat_tree = match validity(live, &ready, routing.columns()) {
        Ok(found) => {
            let (lost, pairs) = (found.unreachable_leaf_pairs, found.leaf_pairs);
            not_fat_tree(live, &ready.ranking, &survey, lost, pairs)
        }
        // If routes are too long for the engine, nothing follows about the shape.
        Err(_) => not_fat_tree(live, &ready.ranking, &survey, 0, 0),
    };
    let doubts = routing.doubts();
    let risk = expected(live, &routing);
    let (ready, routing) = (&ready, &routing);
    let info = Info {
        live,
        ready,
        routing,
        shape,
        not_fat_tree,
        doubts,
        survey,
        inferred_whole,
        format,
        dirt,
        given_lids,
        planes,
        risk,
    };
    output::print(&if args.json { info.json() } else { info.text() })?;
    Ok(Answer::Yes)
}

/// Routes with the default engine, and counts all-to-all. Returns `None` if the fabric is too large or too irregular.
fn expected(live: Live<'_>, routing: &Routing) -> Option<AllToAllRisk> {
    let columns = routing.columns().len();
    if !AllToAllRisk::is_counted(live.fabric.switches().len(), columns) {
        return None;
    }
    let (tables, _) = routing.route(live, &Dmodc).ok()?;
    AllToAllRisk::new(live, &routing.ranking(live), routing.orders(), &tables)
}

impl Info<'_> {
    fn leaves(&self) -> &Leaves {
        self.ready.ranking.found()
    }

    /// Returns why this is no fat tree: because of its shape, or because routes would lose pairs.
    fn not_fat_tree_because(&self) -> Option<String> {
        let by_routes = || self.routing.unconnected().map(|why| ranks::oddity(why.oddity).into());
        self.not_fat_tree.as_ref().map(text::not_fat_tree).or_else(by_routes)
    }

    /// Returns what was inferred about the cables from a rank to the next.
    fn inferred(&self, rank: usize) -> Option<&InferredLevel> {
        self.inferred_whole.as_ref().ok()?.levels.get(rank)
    }

    fn unranked(&self) -> usize {
        let ranked: usize = self.survey.levels.iter().map(|level| level.switches).sum();
        self.live.fabric.switches().len() - ranked
    }

    fn json(&self) -> String {
        let fabric = self.live.fabric;
        let guids = |list: &[SwitchIndex]| -> Vec<String> {
            list.iter().map(|&s| fabric.switch(s).guid.to_string()).collect()
        };
        let rates = |rates: &[(Rate, usize)]| -> BTreeMap<String, usize> {
            rates.iter().map(|(rate, count)| (rate.to_string(), *count)).collect()
        };
        let (nodes, adapters) = fabric.host_counts();
        let levels = self.survey.levels.iter().enumerate();
        let levels: Vec<Value> =
            levels.map(|(rank, level)| level_json(level, self.inferred(rank))).collect();
        let dirt: BTreeMap<&str, Value> = self
            .dirt
            .iter()
            .map(|(kind, found)| {
                let lines: Vec<u32> = found.places.iter().map(|place| place.line).collect();
                (kind.name(), json!({"count": found.count, "first_lines": lines}))
            })
            .collect();
        let rails: BTreeMap<String, usize> = self
            .survey
            .hosts_by_rails
            .iter()
            .map(|(rails, hosts)| (rails.to_string(), *hosts))
            .collect();
        let mut info = json!({
            "schema": "dmodc/info/1",
            "format": self.format.name(),
            "dirt": dirt,
            "switches": fabric.switches().len(),
            "nodes": nodes,
            "channel_adapters": adapters,
            "aggregation_nodes": fabric.adapters().len() - adapters,
            "cables": fabric.cable_count(),
            "inter_switch_cables": fabric.inter_switch_cables().len(),
            "levels": self.ready.ranking.levels(),
            "leaves": self.leaves().all.len(),
            "switches_per_rank": self.survey.levels.iter().map(|l| l.switches).collect::<Vec<_>>(),
            "unranked_switches": self.unranked(),
            "empty_leaves": guids(&self.leaves().empty),
            "service_switches": guids(&self.leaves().service),
            "uncertain_leaves": self.doubts.iter().map(|doubt| self.doubt_json(doubt)).collect::<Vec<_>>(),
            "fat_tree": self.not_fat_tree_because().is_none(),
            "not_fat_tree_because": self.not_fat_tree_because(),
            "pgft": self.shape.as_ref().ok().map(|labels| labels.pgft.to_string()),
            "not_pgft_because": self.shape.as_ref().err().map(|why| not_pgft(fabric, why)),
            "ranks": levels,
            "inferred_whole": inferred::json(fabric, &self.inferred_whole),
            "rank_rule": ranks::json(self.live, self.routing),
            "equal_rank_pairs": self.survey.equal_ranks.len(),
            "hosts_by_nodes": rails,
            "node_cable_rates": rates(&self.survey.node_rates),
            "inter_switch_rates": rates(&self.survey.switch_rates),
            "leaf_evenness": expected_risk::uneven_json(self.live, &self.ready.ranking),
            "all_to_all": self.risk.map(AllToAllRisk::json),
            "given_lids": self.given_lids,
        });
        dividers::set(&mut info, self.routing);
        if !self.planes.is_empty() {
            let ports = self.planes.ports().map(|(plane, ports)| (plane.to_string(), ports));
            info["planes"] = json!(ports.collect::<BTreeMap<_, _>>());
        }
        format!("{info:#}\n")
    }

    fn doubt_json(&self, doubt: &Doubt) -> Value {
        json!({
            "guid": self.live.fabric.switch(doubt.switch).guid.to_string(),
            "leaf": doubt.is_leaf,
            "why": doubt.why.to_string(),
        })
    }

    fn text(&self) -> String {
        let fabric = self.live.fabric;
        let (nodes, adapters) = fabric.host_counts();
        let aggregation = fabric.adapters().len() - adapters;
        let mut text = format!(
            "{}, {}, {} ({} between switches); format of the file: {}\n",
            counted(nodes, "node"),
            counted(fabric.switches().len(), "switch"),
            counted(fabric.cable_count(), "cable"),
            number(fabric.inter_switch_cables().len()),
            self.format.name(),
        );
        if adapters != nodes {
            let _ = writeln!(text, "{}", counted(adapters, "channel adapter"));
        }
        if aggregation > 0 {
            let count = counted(aggregation, "aggregation node");
            let (verb, they) =
                if aggregation == 1 { ("gets", "it does") } else { ("get", "they do") };
            let _ = writeln!(
                text,
                "{count}, which {verb} routes; {they} not count as nodes and do not make a switch a leaf",
            );
        }
        self.shape_text(&mut text);
        self.levels_text(&mut text);
        self.hosts_text(&mut text);
        self.planes_text(&mut text);
        if self.given_lids > 0 {
            let count = counted(self.given_lids, "port");
            let chosen = if self.given_lids == 1 { "a LID for it" } else { "LIDs for them" };
            let _ = writeln!(text, "{count} had no usable LID in the file; dmodc chose {chosen}");
        }
        for line in dirt(&self.dirt) {
            let _ = writeln!(text, "{line}");
        }
        text
    }

    /// Adds the planes, if the file contains them.
    fn planes_text(&self, text: &mut String) {
        if !self.planes.is_empty() {
            let list: Vec<String> = self
                .planes
                .ports()
                .map(|(plane, ports)| format!("{} in plane {plane}", counted(ports, "port")))
                .collect();
            let count = counted(list.len(), "plane");
            let _ = writeln!(text, "{count} in the file: {}", list.join(", "));
        }
    }

    fn shape_text(&self, text: &mut String) {
        if let Some(why) = &self.not_fat_tree {
            let _ = writeln!(text, "\nnot a fat tree: {}", text::not_fat_tree(why));
        }
        let _ = match &self.shape {
            Ok(labels) => writeln!(text, "\nPGFT({}), a regular fat tree", labels.pgft),
            Err(reason) => writeln!(
                text,
                "\nnot a PGFT (regular fat tree): {}\n  Dmodc routes irregular fabrics, too.",
                not_pgft(self.live.fabric, reason)
            ),
        };
    }

    /// Adds the levels from the top down, each with its missing cables.
    fn levels_text(&self, text: &mut String) {
        let fabric = self.live.fabric;
        text.push_str(&ranks::text(self.live, self.routing));
        text.push_str(&dividers::text(self.routing));
        if self.inferred_whole.is_err() {
            let _ = writeln!(text, "inferred whole: {}", inferred::text(&self.inferred_whole));
        }
        for (rank, level) in self.survey.levels.iter().enumerate().rev() {
            let is_lowest = rank == 0 && *self.ready.ranking.rule() == RankRule::Leaves;
            let what = if is_lowest { " (leaves)" } else { "" };
            let _ = write!(text, "  rank {rank}: {}{what}", counted(level.switches, "switch"));
            if let Some(ratio) = level.oversubscription() {
                let (down, up) = (counted(level.down_cables, "cable"), number(level.up_cables));
                let _ = write!(text, ", {down} down and {up} up ({ratio:.2} : 1)");
            }
            text.push('\n');
            missing::text(text, level, self.inferred(rank), |s| switch(fabric, s));
        }
        if self.unranked() > 0 {
            let count = counted(self.unranked(), "switch");
            let _ = writeln!(
                text,
                "  no rank: {count} without a connection to a leaf (hint: check the cables, or dump the fabric again)"
            );
        }
        let Leaves { empty, service, .. } = self.leaves();
        let not_a_leaf = match service.len() {
            1 => "with nodes that does not count as a leaf",
            _ => "with nodes that do not count as leaves",
        };
        for (list, noun, what) in
            [(empty, "leaf", "without a node"), (service, "switch", not_a_leaf)]
        {
            if !list.is_empty() {
                let names = list.iter().map(|&s| switch(fabric, s));
                let (count, names) = (counted(list.len(), noun), missing::first(names, list.len()));
                let _ = writeln!(text, "{count} {what}: {names}");
            }
        }
        for line in text::doubts(fabric, self.doubts) {
            let _ = writeln!(text, "{line}");
        }
        text.push_str(&expected_risk::uneven_text(self.live, &self.ready.ranking));
        if let Some(risk) = self.risk {
            text.push_str(&risk.text(" with the engine dmodc"));
        }
        let equal = &self.survey.equal_ranks;
        if !equal.is_empty() {
            let pairs = equal
                .iter()
                .map(|&(a, b)| format!("{} - {}", switch(fabric, a), switch(fabric, b)));
            let count = counted(equal.len(), "pair");
            let names = missing::first(pairs, equal.len());
            let _ = writeln!(text, "cables between switches of the same rank: {count}: {names}");
        }
    }

    fn hosts_text(&self, text: &mut String) {
        let rails = &self.survey.hosts_by_rails;
        if rails.keys().any(|&nodes| nodes > 1) {
            let list: Vec<String> = rails
                .iter()
                .rev()
                .map(|(&nodes, &hosts)| {
                    format!("{} with {}", counted(hosts, "host"), counted(nodes, "node"))
                })
                .collect();
            let _ =
                writeln!(text, "hosts, by the first word of the node names: {}", list.join(", "));
        }
        for (rates, what) in [
            (&self.survey.node_rates, "nodes"),
            (&self.survey.switch_rates, "cables between switches"),
        ] {
            let list: Vec<String> = rates
                .iter()
                .rev()
                .map(|(rate, count)| format!("{} at {}", number(*count), rate_text(*rate)))
                .collect();
            if !list.is_empty() {
                let _ = writeln!(text, "{what}: {}", list.join(", "));
            }
        }
    }
}

/// Returns a rate, and says so if the file does not give it.
fn rate_text(rate: Rate) -> String {
    match rate.to_string() {
        text if text.chars().all(|c| c == '?') => "an unknown rate".into(),
        text if text.contains('?') => format!("an unknown rate ({text})"),
        text => text,
    }
}

fn level_json(level: &LevelSurvey, inferred: Option<&InferredLevel>) -> Value {
    json!({
        "switches": level.switches,
        "down_cables": level.down_cables,
        "up_cables": level.up_cables,
        "oversubscription": level.oversubscription(),
        "usual_upswitches": level.usual_upswitches,
        "usual_parallel_cables": level.usual_parallel,
        "missing_cables": inferred.map_or(0, InferredLevel::added_cables),
        "pairs_with_fewer_cables": level.fewer_cables.len(),
        "switches_with_fewer_upswitches": level.fewer_upswitches.len(),
    })
}
