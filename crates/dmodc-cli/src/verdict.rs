//! A verdict in words and numbers, the same for every command, and hints if pairs are not delivered.
//!
//! The words are those of [`dmodc::judge`]: valid, delivered, lost, cut off, sound.

use std::fmt::Write as _;

use dmodc::judge::Delivery;
use dmodc::{Coverage, Live, Ranking};
use dmodc_formats::lft::Lft;
pub(crate) use dmodc_study::answers::check::set_delivery as set;

use crate::args::LeafArgs;
use crate::text::{counted, number, switch};

/// Returns a line that says whether every leaf reaches every other.
pub(crate) fn validity(coverage: &Coverage) -> String {
    let pairs = coverage.leaf_pairs;
    match coverage.unreachable_leaf_pairs {
        0 if pairs == 0 => {
            "valid: fewer than two leaves have nodes, so there is nothing to connect\n".into()
        }
        0 => {
            format!("valid: all {} have an up*down* route\n", counted(pairs, "leaf pair"))
        }
        lost => format!(
            "INVALID: {} of {} have no up*down* route\n",
            number(lost),
            counted(pairs, "leaf pair")
        ),
    }
}

/// Everything on which a hint depends.
pub(crate) struct HintContext<'a> {
    pub(crate) live: Live<'a>,
    pub(crate) ranking: &'a Ranking,
    pub(crate) leaves: &'a LeafArgs,
    pub(crate) delivery: Delivery,
    /// The pairs that up*down* routes on this fabric reach.
    pub(crate) coverage: Option<&'a Coverage>,
    /// The files of the tables, if they come from files.
    pub(crate) dumps: &'a [Lft],
}

impl HintContext<'_> {
    /// Returns hints, one line for each cause; an empty string if every pair is delivered.
    pub(crate) fn hint(&self) -> String {
        let mut text = String::new();
        let mut add = |hint: String| {
            let _ = writeln!(text, "hint: {hint}");
        };
        if self.delivery.lost > 0 {
            add(match self.cause_in_files() {
                Some(cause) => cause,
                None => self.cause_in_ranks(),
            });
        }
        if self.has_other_levels() {
            add("these tables deliver pairs that have no up*down* route by the levels found here; if 'dmodc route' made them with a \
                 reference or other options, let it save its orders (--save-orders FILE), and give them here (--orders FILE)"
                .into());
        }
        if self.delivery.cut_off > 0 {
            add("no working cables connect the pairs that are cut off; repair cables, or dump the fabric again if \
                 parts are missing from the file"
                .into());
        }
        text
    }

    /// Returns whether tables from a file deliver more than up*down* routes can with the ranks in use, so that they were made with others.
    fn has_other_levels(&self) -> bool {
        let most = self.coverage.map(|coverage| Delivery::of_route(self.live, coverage));
        let is_beyond = |most: Delivery| {
            most.pairs == self.delivery.pairs && most.delivered < self.delivery.delivered
        };
        !self.dumps.is_empty() && most.is_some_and(is_beyond)
    }

    /// Returns why tables from a file lose pairs that other tables would deliver.
    fn cause_in_files(&self) -> Option<String> {
        let missing: usize = self.dumps.iter().map(|dump| dump.missing_switches.len()).sum();
        if missing > 0 {
            let missing = counted(missing, "switch");
            return Some(format!(
                "the file of tables has none for {missing} of the fabric; dump the tables of all switches"
            ));
        }
        let best = Delivery::of_route(self.live, self.coverage?);
        // If only some nodes were judged, numbers of pairs cannot be compared.
        let gained = match best.pairs == self.delivery.pairs {
            true => best.delivered.saturating_sub(self.delivery.delivered),
            false if best.is_complete() => self.delivery.lost,
            false => 0,
        };
        if self.dumps.is_empty() || gained == 0 {
            return None;
        }
        let earlier = self
            .dumps
            .iter()
            .any(|dump| !dump.unknown_switches.is_empty() || !dump.unknown_destinations.is_empty());
        let why = match earlier {
            true => "these tables were made for another state of the fabric; ",
            false => "",
        };
        let gained = counted(gained, "more pair");
        Some(format!("{why}new tables from 'dmodc route' would deliver {gained}"))
    }

    /// Returns why no up*down* routes deliver all pairs, whatever the tables.
    fn cause_in_ranks(&self) -> String {
        let fabric = self.live.fabric;
        let service = &self.ranking.found().service;
        let examples = self.coverage.map_or(&[][..], |coverage| &coverage.examples);
        let mut ends = examples.iter().flat_map(|&(from, to)| [from, to]);
        if self.coverage.is_some_and(Coverage::is_valid)
            && let Some(first) = ends.find(|s| !self.ranking.is_leaf(*s))
        {
            let first = switch(fabric, first);
            return format!(
                "each of these pairs has a node on a switch that is not a leaf, such as {first}; --roots FILE with \
                 the GUID of one top switch connects them, but traffic is spread less evenly"
            );
        }
        if self.leaves.roots.is_some() {
            return "with these roots, some pairs have no up*down* route; --roots FILE with the GUID of a single \
                    switch connects every pair that cables connect"
                .into();
        }
        match service.first() {
            Some(&first) => {
                let first = switch(fabric, first);
                format!(
                    "{first} has nodes, but does not count as a leaf; say which switches are leaves with \
                     --leaf-name REGEX or --leaf-min-nodes N, or which are the top switches with --roots FILE"
                )
            }
            None => "with ranks counted from the leaves, some pairs have no up*down* route; --roots FILE with the \
                     GUID of one switch connects every pair that cables connect, and --leaf-name REGEX corrects \
                     wrong leaves"
                .into(),
        }
    }
}
