//! After each event: whether everything is as it should be.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use dmodc::End;
use dmodc::judge::{Delivery, Scope};

use super::balance::Balance;
use super::life::Stays;
use super::world::World;
use crate::held::{Held, Image, differences};

/// At quiet events the balance may be so many times that of a fresh numbering.
pub(super) const BALANCED: f64 = 1.05;

/// What the switches held, and who was at which LID.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    pub(super) image: Image,
    /// The GUID of the port or switch at each LID.
    pub(super) at: BTreeMap<usize, u64>,
}

impl Snapshot {
    pub(super) fn of(held: &Held) -> Self {
        let destinations = held.tables.columns().destinations().iter();
        let guid = |end: End| match end {
            End::Node(n) => held.fabric.node(n).guid.0,
            End::Switch(s) => held.fabric.switch(s).guid.0,
        };
        let at = destinations.map(|d| (d.lid.0 as usize, guid(d.end))).collect();
        Snapshot { image: held.image.clone(), at }
    }

    /// Returns the entries that moved, of switches and towards destinations that were there before and are now,
    /// without the destinations `but`.
    pub(super) fn moved(&self, now: &Snapshot, but: &BTreeSet<u64>) -> Vec<(u64, usize)> {
        let is_both = |(switch, lid): &(u64, usize)| {
            let kept = self.at.get(lid).filter(|guid| now.at.get(lid) == Some(guid));
            let is_known = self.image.contains_key(switch) && now.image.contains_key(switch);
            is_known && kept.is_some_and(|guid| !but.contains(guid))
        };
        differences(&self.image, &now.image).filter(is_both).collect()
    }
}

/// Returns the GUIDs that stand for devices as destinations: a switch's own, and those of an adapter's ports.
pub(super) fn destinations(world: &World, devices: &[usize]) -> BTreeSet<u64> {
    let guids = |&device: &usize| {
        let device = &world.devices[device];
        let own = device.guid.0;
        if device.is_switch() { own..=own } else { own + 1..=own + u64::from(device.ports) }
    };
    devices.iter().flat_map(guids).collect()
}

/// Everything that was found out about an event.
pub(super) struct Facts<'a> {
    /// What `dmodc check` says of the tables, and on how many pairs `ibtracert` was sent and followed.
    pub(super) judgement: &'a Scope,
    /// Node pairs that no up\*down\* way connects.
    pub(super) roadless: u64,
    pub(super) traced: (usize, usize),
    /// Where switches differ from what `dmodc route` computes.
    pub(super) differ: &'a [(u64, usize)],
    /// The balance, if nothing is at fault and nobody absent.
    pub(super) quiet: Option<&'a Balance>,
    /// Entries that moved and had no reason to.
    pub(super) moved: &'a [(u64, usize)],
    pub(super) stays: &'a Stays,
    /// What the plugin says in its files and its log does not fit, if so.
    pub(super) told: Option<String>,
}

impl Facts<'_> {
    /// Returns what is wrong, a sentence each.
    pub(super) fn wrong(self) -> Vec<String> {
        let mut wrong = Vec::new();
        let first = |entries: &[(u64, usize)]| {
            entries.first().map_or(String::new(), |(switch, lid)| {
                let count = entries.len();
                format!("{count} entries, the first in switch 0x{switch:016x} for LID {lid}")
            })
        };
        if !self.differ.is_empty() {
            wrong.push(format!(
                "switches hold OTHER TABLES than dmodc route: {}",
                first(self.differ)
            ));
        }
        if !self.judgement.is_sound() {
            wrong.push("the tables are NOT SOUND".into());
        }
        if self.judgement.lost > self.roadless {
            let lost = self.judgement.lost - self.roadless;
            wrong.push(format!("{lost} node pairs are LOST"));
        }
        let (traced, followed) = self.traced;
        if traced != followed {
            wrong.push(format!(
                "ibtracert goes OTHER WAYS on {} of {traced} pairs",
                traced - followed
            ));
        }
        if let Some(balance) = self.quiet.filter(|balance| balance.ratio() > BALANCED) {
            wrong.push(format!(
                "the BALANCE is lost: worst ports of A2A {} and of shifts {:.2}, of a fresh numbering {} and {:.2}",
                balance.a2a, balance.sp, balance.a2a_fresh, balance.sp_fresh
            ));
        }
        if !self.moved.is_empty() && *self.stays != Stays::Nothing {
            wrong.push(format!("entries MOVED that had no reason to: {}", first(self.moved)));
        }
        wrong.extend(self.told);
        wrong
    }
}

/// What the plugin's status file says of its last run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) nodes: u64,
    pub(super) switches: u64,
    pub(super) cables: u64,
    pub(super) delivery: Delivery,
}

impl Status {
    /// Reads it; `None` if there is none, or it tells of a failure.
    pub(super) fn read(path: &std::path::Path) -> Option<Self> {
        let status: serde_json::Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        let number = |name: &str| status["last"][name].as_u64();
        let delivery = Delivery {
            pairs: number("pairs")?,
            delivered: number("delivered")?,
            lost: number("lost")?,
            cut_off: number("cut_off")?,
        };
        Some(Status {
            nodes: number("nodes")?,
            switches: number("switches")?,
            cables: number("cables")?,
            delivery,
        })
    }

    /// Returns what it should say of a fabric and the judgement on its tables.
    pub(super) fn expected(held: &Held, judgement: &Scope) -> Self {
        Status {
            nodes: held.fabric.nodes().len() as u64,
            switches: held.fabric.switches().len() as u64,
            cables: held.fabric.inter_switch_cables().len() as u64,
            delivery: judgement.delivery(),
        }
    }

    /// Whether both are of the same fabric.
    pub(super) fn is_of_the_same(&self, other: &Status) -> bool {
        let sizes = |status: &Status| (status.nodes, status.switches, status.cables);
        sizes(self) == sizes(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAIR: Balance =
        Balance { a2a: 100, a2a_fresh: 100, sp: 2.0, sp_fresh: 2.0, sampled_shifts: None };

    fn facts<'a>(judgement: &'a Scope, balance: &'a Balance) -> Facts<'a> {
        Facts {
            judgement,
            roadless: 0,
            traced: (6, 6),
            differ: &[],
            quiet: Some(balance),
            moved: &[],
            stays: &Stays::Everything,
            told: None,
        }
    }

    #[test]
    fn whatever_is_wrong_is_said_and_nothing_else() {
        let fine = Scope { pairs: 12, delivered: 10, cut_off: 2, ..Scope::default() };
        assert_eq!(facts(&fine, &FAIR).wrong(), [""; 0]);
        let one = |facts: Facts<'_>, words: &str| {
            let wrong = facts.wrong();
            assert!(wrong.len() == 1 && wrong[0].contains(words), "{wrong:?}");
        };
        let entries = &[(0xabc, 17), (0xabd, 1)];
        let place = "2 entries, the first in switch 0x0000000000000abc for LID 17";
        one(Facts { differ: entries, ..facts(&fine, &FAIR) }, place);
        one(Facts { moved: entries, ..facts(&fine, &FAIR) }, place);
        one(Facts { traced: (6, 4), ..facts(&fine, &FAIR) }, "OTHER WAYS on 2 of 6");
        one(Facts { told: Some("so".into()), ..facts(&fine, &FAIR) }, "so");
        let lost = Scope { lost: 3, ..fine.clone() };
        one(facts(&lost, &FAIR), "3 node pairs are LOST");
        assert_eq!(Facts { roadless: 3, ..facts(&lost, &FAIR) }.wrong(), [""; 0]);
        let loops = Scope { loops: 1, ..fine.clone() };
        one(facts(&loops, &FAIR), "NOT SOUND");
        for uneven in [Balance { a2a: 106, ..FAIR }, Balance { sp: 2.2, ..FAIR }] {
            one(facts(&fine, &uneven), "BALANCE");
            let facts = facts(&fine, &uneven);
            assert_eq!(Facts { quiet: None, ..facts }.wrong(), [""; 0], "only at quiet events");
        }
        let even = Balance { a2a: 105, sp: 1.0, ..FAIR };
        let grown = Facts { moved: entries, stays: &Stays::Nothing, ..facts(&fine, &even) };
        assert_eq!(grown.wrong(), [""; 0]);
    }

    /// Of what moved, only what both know counts: the same switch, and the same destination at the same LID.
    #[test]
    fn only_what_stayed_in_its_place_can_have_moved() {
        let snapshot = |rows: &[(u64, [u8; 4])], at: &[(usize, u64)]| Snapshot {
            image: rows.iter().map(|(guid, row)| (*guid, row.to_vec())).collect(),
            at: at.iter().copied().collect(),
        };
        let before =
            snapshot(&[(7, [9, 1, 2, 3]), (8, [9, 1, 1, 1])], &[(1, 71), (2, 72), (3, 73)]);
        let after = snapshot(&[(7, [9, 4, 5, 6]), (9, [9, 2, 2, 2])], &[(1, 71), (2, 99), (3, 73)]);
        assert_eq!(before.moved(&after, &BTreeSet::new()), [(7, 1), (7, 3)]);
        assert_eq!(before.moved(&after, &BTreeSet::from([73])), [(7, 1)]);
    }
}
