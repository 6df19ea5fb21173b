//! The verdict on the tables that the switches hold.

use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

use dmodc::judge::{Delivery, Scope};
use dmodc::words::counted;
use serde::Serialize;

use crate::held::Traces;
use crate::image::TableImage;

/// The verdict on the tables that the switches hold after an event.
#[derive(Clone, Debug, Serialize)]
pub struct TableVerdict {
    /// The number of entries that differ from those before the event.
    pub entries_changed: usize,
    /// The number of node pairs.
    pub pairs: u64,
    /// Node pairs that are delivered.
    pub delivered: u64,
    /// Node pairs that live cables connect and the tables do not deliver.
    pub lost: u64,
    /// Node pairs that no live cables connect, and pairs with a node that OpenSM does not see.
    pub cut_off: u64,
    /// Whether no packet loops and the channel dependency graph has no cycle.
    pub sound: bool,
    /// Whether the channel dependency graph has no cycle.
    pub deadlock_free: bool,
    /// A digest of the tables.
    pub digest: u64,
    /// Whether `dmodc route` computes the same tables for the present fabric; only known for Dmodc.
    pub as_offline: Option<bool>,
    /// The number of pairs on which `ibtracert` was run; its packets are forwarded by the switches.
    pub traced: usize,
    /// The number of these pairs on which it took the ports of the tables.
    pub followed: usize,
}

impl TableVerdict {
    /// Returns the verdict with the numbers of a judgement. `pairs` counts all pairs of live nodes: OpenSM does not
    /// see what is cut off from it, so those pairs are not among the judged ones.
    pub(crate) fn new(judgement: &Scope, pairs: u64, traces: Traces) -> Self {
        let unseen = pairs.saturating_sub(judgement.pairs);
        TableVerdict {
            entries_changed: 0,
            pairs: judgement.pairs + unseen,
            delivered: judgement.delivered,
            lost: judgement.lost,
            cut_off: judgement.cut_off + unseen,
            sound: judgement.is_sound(),
            deadlock_free: judgement.is_deadlock_free(),
            digest: 0,
            as_offline: None,
            traced: traces.traced,
            followed: traces.followed,
        }
    }

    /// Returns how many pairs are delivered, lost and cut off.
    pub fn delivery(&self) -> Delivery {
        let TableVerdict { pairs, delivered, lost, cut_off, .. } = *self;
        Delivery { pairs, delivered, lost, cut_off }
    }

    /// Returns whether nothing is wrong with the tables. Pairs that a fault cuts off are not wrong.
    pub(crate) fn is_right(&self) -> bool {
        self.sound
            && self.lost == 0
            && self.as_offline != Some(false)
            && self.followed == self.traced
    }
}

impl fmt::Display for TableVerdict {
    /// Uses the words of `dmodc check`, and adds what only a lab can see.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.as_offline {
            Some(false) => "OTHER TABLES than 'dmodc route'; ",
            Some(true) => "the tables of 'dmodc route'; ",
            None => "",
        })?;
        f.write_str(match (self.sound, self.deadlock_free) {
            (true, _) => "sound, ",
            (false, true) => "NOT SOUND (packets loop), ",
            (false, false) => "NOT SOUND (a deadlock is possible), ",
        })?;
        match self.delivery() {
            all if all.is_complete() => f.write_str("every pair delivered")?,
            some => write!(f, "{some}")?,
        }
        match self.traced - self.followed {
            0 => Ok(()),
            other => {
                write!(
                    f,
                    "; ibtracert takes OTHER ROUTES for {other} of {}",
                    counted(self.traced as u64, "pair")
                )
            }
        }
    }
}

/// Returns a digest of tables.
pub(crate) fn digest(image: &TableImage) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(image)
}
