//! Finds what is wrong after an event, with the tables or with the plugin's reports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use dmodc::End;
use dmodc::judge::{Delivery, Scope};
use dmodc::words::counted;

use super::balance::SoakBalance;
use super::event::MustStay;
use super::world::World;
use crate::held::{HeldTables, Traces};
use crate::image::{EntryAddress, TableImage, differences};

/// At quiet events the balance may be this many times that of a fresh numbering.
pub(super) const BALANCED: f64 = 1.05;

/// The tables of the switches, and the destination at each LID.
#[derive(Clone, Default)]
pub(super) struct ObservedTables {
    pub(super) image: TableImage,
    /// The GUID of the port or switch at each LID.
    pub(super) destinations: BTreeMap<usize, u64>,
}

impl ObservedTables {
    pub(super) fn of(held: &HeldTables) -> Self {
        let all = held.tables.columns().destinations().iter();
        let guid = |end: End| match end {
            End::Node(n) => held.fabric.node(n).guid.0,
            End::Switch(s) => held.fabric.switch(s).guid.0,
        };
        let destinations = all.map(|d| (d.lid.0 as usize, guid(d.end))).collect();
        ObservedTables { image: held.image.clone(), destinations }
    }

    /// Returns the entries that moved, of switches and destinations that were there before and are there now, without
    /// the destinations in `except`.
    pub(super) fn moved(&self, now: &ObservedTables, except: &BTreeSet<u64>) -> Vec<EntryAddress> {
        let is_in_both = |EntryAddress { switch, lid }: &EntryAddress| {
            let kept = self.destinations.get(lid);
            let kept = kept.filter(|guid| now.destinations.get(lid) == Some(guid));
            let is_known = self.image.contains_key(switch) && now.image.contains_key(switch);
            is_known && kept.is_some_and(|guid| !except.contains(guid))
        };
        differences(&self.image, &now.image).filter(is_in_both).collect()
    }
}

/// Returns the GUIDs of devices as destinations: a switch's own, and those of an adapter's ports.
pub(super) fn destinations(world: &World, devices: &[usize]) -> BTreeSet<u64> {
    let guids = |&device: &usize| {
        let device = &world.devices[device];
        let own = device.guid.0;
        if device.is_switch() { own..=own } else { own + 1..=own + u64::from(device.ports) }
    };
    devices.iter().flat_map(guids).collect()
}

/// Everything that was measured after an event.
pub(super) struct EventFindings<'a> {
    /// The judgement of `dmodc check` on the tables.
    pub(super) judgement: &'a Scope,
    /// The number of node pairs that no up\*down\* path connects.
    pub(super) roadless: u64,
    pub(super) traces: Traces,
    /// The entries in which switches differ from the tables that `dmodc route` computes.
    pub(super) differing: &'a [EntryAddress],
    /// The balance, if it must be that of a fresh numbering.
    pub(super) quiet: Option<&'a SoakBalance>,
    /// Entries that moved although the event was not about them.
    pub(super) moved: &'a [EntryAddress],
    pub(super) must_stay: &'a MustStay,
    /// A mistake in the plugin's status file or log, if there is one.
    pub(super) misreport: Option<String>,
}

impl EventFindings<'_> {
    /// Returns what is wrong, a sentence each.
    pub(super) fn wrong(self) -> Vec<String> {
        let mut wrong = Vec::new();
        let first = |entries: &[EntryAddress]| {
            entries.first().map_or(String::new(), |EntryAddress { switch, lid }| {
                let count = counted(entries.len(), "entry");
                format!("{count}, such as that of switch 0x{switch:016x} for LID {lid}")
            })
        };
        if !self.differing.is_empty() {
            wrong.push(format!(
                "switches hold OTHER TABLES than 'dmodc route' computes: {}",
                first(self.differing)
            ));
        }
        if !self.judgement.is_sound() {
            wrong.push("the tables are NOT SOUND".into());
        }
        if self.judgement.lost > self.roadless {
            let lost = self.judgement.lost - self.roadless;
            wrong.push(format!("{} LOST", counted(lost, "node pair")));
        }
        let Traces { traced, followed } = self.traces;
        if traced != followed {
            wrong.push(format!(
                "ibtracert takes OTHER ROUTES for {} of {}",
                traced - followed,
                counted(traced as u64, "pair")
            ));
        }
        if let Some(balance) = self.quiet.filter(|balance| balance.ratio() > BALANCED) {
            wrong.push(format!(
                "the BALANCE is lost: the worst port has {} flows of all-to-all and {:.2} of shifts; with new numbers it has {} and {:.2}",
                balance.a2a, balance.sp, balance.a2a_fresh, balance.sp_fresh
            ));
        }
        if !self.moved.is_empty() && *self.must_stay != MustStay::Nothing {
            wrong.push(format!("entries MOVED without a reason: {}", first(self.moved)));
        }
        wrong.extend(self.misreport);
        wrong
    }
}

/// The last run in the plugin's status file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PluginStatus {
    pub(super) nodes: u64,
    pub(super) switches: u64,
    pub(super) cables: u64,
    pub(super) delivery: Delivery,
}

impl PluginStatus {
    /// Reads the status file. Returns `None` if there is none, or the last run failed.
    pub(super) fn read(path: &std::path::Path) -> Option<Self> {
        let status: serde_json::Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        let number = |name: &str| status["last"][name].as_u64();
        let delivery = Delivery {
            pairs: number("pairs")?,
            delivered: number("delivered")?,
            lost: number("lost")?,
            cut_off: number("cut_off")?,
        };
        Some(PluginStatus {
            nodes: number("nodes")?,
            switches: number("switches")?,
            cables: number("cables")?,
            delivery,
        })
    }

    /// Returns the status that the plugin should report for a fabric and the judgement on its tables.
    pub(super) fn expected(held: &HeldTables, judgement: &Scope) -> Self {
        PluginStatus {
            nodes: held.fabric.nodes().len() as u64,
            switches: held.fabric.switches().len() as u64,
            cables: held.fabric.inter_switch_cables().len() as u64,
            delivery: judgement.delivery(),
        }
    }

    /// Returns whether both are about fabrics of the same size.
    pub(super) fn has_same_fabric(&self, other: &PluginStatus) -> bool {
        let sizes = |status: &PluginStatus| (status.nodes, status.switches, status.cables);
        sizes(self) == sizes(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAIR: SoakBalance =
        SoakBalance { a2a: 100, a2a_fresh: 100, sp: 2.0, sp_fresh: 2.0, sampled_shifts: None };

    fn findings<'a>(judgement: &'a Scope, balance: &'a SoakBalance) -> EventFindings<'a> {
        EventFindings {
            judgement,
            roadless: 0,
            traces: Traces { traced: 6, followed: 6 },
            differing: &[],
            quiet: Some(balance),
            moved: &[],
            must_stay: &MustStay::Everything,
            misreport: None,
        }
    }

    #[test]
    fn whatever_is_wrong_is_reported_and_nothing_else() {
        let fine = Scope { pairs: 12, delivered: 10, cut_off: 2, ..Scope::default() };
        assert_eq!(findings(&fine, &FAIR).wrong(), [""; 0]);
        let one = |findings: EventFindings<'_>, words: &str| {
            let wrong = findings.wrong();
            assert!(wrong.len() == 1 && wrong[0].contains(words), "{wrong:?}");
        };
        let entry = |switch, lid| EntryAddress { switch, lid };
        let entries = &[entry(0xabc, 17), entry(0xabd, 1)];
        let place = "2 entries, such as that of switch 0x0000000000000abc for LID 17";
        one(EventFindings { differing: entries, ..findings(&fine, &FAIR) }, place);
        one(EventFindings { moved: entries, ..findings(&fine, &FAIR) }, place);
        one(
            EventFindings { traces: Traces { traced: 6, followed: 4 }, ..findings(&fine, &FAIR) },
            "OTHER ROUTES for 2 of 6",
        );
        one(EventFindings { misreport: Some("so".into()), ..findings(&fine, &FAIR) }, "so");
        let lost = Scope { lost: 3, ..fine.clone() };
        one(findings(&lost, &FAIR), "3 node pairs LOST");
        assert_eq!(EventFindings { roadless: 3, ..findings(&lost, &FAIR) }.wrong(), [""; 0]);
        let loops = Scope { loops: 1, ..fine.clone() };
        one(findings(&loops, &FAIR), "NOT SOUND");
        for uneven in [SoakBalance { a2a: 106, ..FAIR }, SoakBalance { sp: 2.2, ..FAIR }] {
            one(findings(&fine, &uneven), "BALANCE");
            let findings = findings(&fine, &uneven);
            assert_eq!(
                EventFindings { quiet: None, ..findings }.wrong(),
                [""; 0],
                "only at quiet events"
            );
        }
        let even = SoakBalance { a2a: 105, sp: 1.0, ..FAIR };
        let grown = EventFindings {
            moved: entries,
            must_stay: &MustStay::Nothing,
            ..findings(&fine, &even)
        };
        assert_eq!(grown.wrong(), [""; 0]);
    }

    /// An entry counts as moved only if the same switch and the same destination at its LID are in both.
    #[test]
    fn only_what_stayed_in_its_place_can_have_moved() {
        let entry = |switch, lid| EntryAddress { switch, lid };
        let observed = |rows: &[(u64, [u8; 4])], at: &[(usize, u64)]| ObservedTables {
            image: rows.iter().map(|(guid, row)| (*guid, row.to_vec())).collect(),
            destinations: at.iter().copied().collect(),
        };
        let before =
            observed(&[(7, [9, 1, 2, 3]), (8, [9, 1, 1, 1])], &[(1, 71), (2, 72), (3, 73)]);
        let after = observed(&[(7, [9, 4, 5, 6]), (9, [9, 2, 2, 2])], &[(1, 71), (2, 99), (3, 73)]);
        assert_eq!(before.moved(&after, &BTreeSet::new()), [entry(7, 1), entry(7, 3)]);
        assert_eq!(before.moved(&after, &BTreeSet::from([73])), [entry(7, 1)]);
    }
}
