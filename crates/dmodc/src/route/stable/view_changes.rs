//! What one update changed in a view. A row whose own closer sets stay has to choose again only where the groups that it looks
//! ahead to change.

use super::STRETCHES;
use crate::id::SwitchIndex;

/// What changed for one switch: a bit for each target whose bit in the view is another one now.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ViewChange {
    /// Changes of `LossView::harmed`.
    pub(super) harmed: u64,
    /// Changes of `LossView::kept_slots`, by stretch.
    pub(super) kept_slots: [u64; STRETCHES],
}

impl ViewChange {
    /// Returns the targets for which something changed.
    pub(super) fn targets(&self) -> u64 {
        self.kept_slots.iter().fold(self.harmed, |all, kept| all | kept)
    }
}

/// The switches for which something changed. They are noted in ascending order.
#[derive(Clone, Debug, Default)]
pub(super) struct ViewChanges {
    noted: Vec<NotedChange>,
    /// A bit for each switch that is noted.
    switches: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct NotedChange {
    switch: SwitchIndex,
    change: ViewChange,
}

impl ViewChanges {
    /// Forgets all changes.
    pub(super) fn clear(&mut self, switches: usize) {
        self.noted.clear();
        self.switches.clear();
        self.switches.resize(switches.div_ceil(64), 0);
    }

    /// Notes the change of a switch. Returns the targets for which something changed.
    pub(super) fn note(&mut self, switch: SwitchIndex, change: ViewChange) -> u64 {
        let targets = change.targets();
        if targets != 0 {
            self.noted.push(NotedChange { switch, change });
            self.switches[switch.at() / 64] |= 1 << (switch.at() % 64);
        }
        targets
    }

    /// Returns whether nothing changed.
    pub(super) fn is_empty(&self) -> bool {
        self.noted.is_empty()
    }

    /// Returns what changed for a switch, or `None` if nothing did.
    #[inline(always)]
    pub(super) fn of(&self, switch: SwitchIndex) -> Option<&ViewChange> {
        if self.switches[switch.at() / 64] >> (switch.at() % 64) & 1 == 0 {
            return None;
        }
        let at = self.noted.binary_search_by_key(&switch, |noted| noted.switch);
        at.ok().map(|at| &self.noted[at].change)
    }
}
