//! The events of a soak: their kinds, actions, and the entries that they must not move.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SoakKind {
    /// OpenSM is started for the first time.
    Start,
    /// A cable between switches dies.
    Cable,
    /// Many cables between switches die at once.
    Flood,
    /// A switch that is no leaf dies.
    Spine,
    /// A leaf dies.
    Leaf,
    /// All cables of a leaf to other switches die.
    Cut,
    /// Some dead cables work again.
    Repair,
    /// Everything works again, and every host is back.
    RepairAll,
    /// A cable goes down and up again, several times.
    Flap,
    /// Hosts are switched off.
    Away,
    /// Hosts that were switched off are switched on again.
    Back,
    /// Hosts that were off from the start are switched on.
    Late,
    /// An adapter is replaced: the new one has the same port of the leaf and another GUID.
    Adapter,
    /// A leaf is replaced: the new one has the same cables and another GUID.
    ReplacedLeaf,
    /// A switch that is no leaf is replaced.
    ReplacedSpine,
    /// A leaf with hosts is added.
    NewLeaf,
    /// A host is added to a leaf.
    NewHost,
    /// Two cables of a switch are swapped, or one is moved to a free port.
    Recable,
    /// OpenSM is ended and started again.
    Restart,
    /// OpenSM is killed and started again.
    Kill,
    /// OpenSM is killed, and another one takes over.
    Handover,
    /// The first OpenSM is started again, and takes over.
    Handback,
    /// The disk of the state folder is full while something happens.
    FullDisk,
    /// The disk of the state folder is slow while something happens.
    SlowDisk,
    /// The operator lets everything be numbered anew, because growth has cost balance. This kind is never drawn.
    Renumber,
}

impl fmt::Display for SoakKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl FromStr for SoakKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || WEIGHTS.iter().map(|(kind, _)| kind.to_string());
        let found = WEIGHTS.iter().map(|(kind, _)| *kind).find(|kind| kind.to_string() == text);
        found.ok_or_else(|| {
            let names: Vec<String> = names().collect();
            format!("expected one of {}, not '{text}'", names.join(", "))
        })
    }
}

/// The action of an event, besides changing the fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Nothing.
    Nothing,
    /// A cable goes down and up this number of times.
    Flap {
        cable: usize,
        times: u32,
    },
    Restart,
    /// OpenSM is killed this number of milliseconds after a heavy sweep was asked for.
    Kill {
        after: u64,
    },
    /// Another manager takes over, with the same state folder or with one of its own.
    Handover {
        is_shared: bool,
    },
    Handback,
    FullDisk,
    SlowDisk,
    Renumber,
}

/// The entries that an event must not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MustStay {
    Nothing,
    /// All entries, because the same files give the same tables.
    Everything,
    /// The entries of all destinations but these devices.
    AllBut(Vec<usize>),
}

/// An event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SoakEvent {
    pub(super) kind: SoakKind,
    /// The event in words.
    pub(super) name: String,
    pub(super) action: Action,
    pub(super) must_stay: MustStay,
}

impl SoakEvent {
    /// Returns the event of a kind that needs no action and moves whatever it moves.
    pub(super) fn plain(kind: SoakKind, name: String) -> Self {
        SoakEvent { kind, name, action: Action::Nothing, must_stay: MustStay::Nothing }
    }

    /// Returns the first event: OpenSM is started.
    pub(super) fn start() -> Self {
        SoakEvent::plain(SoakKind::Start, "start".into())
    }

    /// Returns the event by which an operator reacts when the plugin reports that the numbers in use cost balance.
    pub(super) fn renumber() -> Self {
        let event = SoakEvent::plain(SoakKind::Renumber, "numbered anew".into());
        SoakEvent { action: Action::Renumber, ..event }
    }

    /// Returns whether a device comes for which no place was kept.
    pub(super) fn is_growth(&self) -> bool {
        matches!(self.kind, SoakKind::NewHost | SoakKind::NewLeaf)
    }

    /// Returns whether late hosts may come: hosts that were expected from the start and never seen.
    pub(super) fn brings_late_hosts(&self) -> bool {
        matches!(self.kind, SoakKind::Late | SoakKind::FullDisk | SoakKind::SlowDisk)
    }
}

/// What this machine can do, and which manager is in charge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Capabilities {
    pub(super) can_fill_disk: bool,
    pub(super) can_slow_disk: bool,
    /// Whether the second manager is in charge.
    pub(super) second_is_in_charge: bool,
}

/// The weight with which each kind is drawn, where it is possible.
pub(super) const WEIGHTS: [(SoakKind, u64); 23] = [
    (SoakKind::Cable, 8),
    (SoakKind::Flood, 4),
    (SoakKind::Spine, 4),
    (SoakKind::Leaf, 3),
    (SoakKind::Cut, 3),
    (SoakKind::Repair, 6),
    (SoakKind::RepairAll, 24),
    (SoakKind::Flap, 4),
    (SoakKind::Away, 6),
    (SoakKind::Back, 6),
    (SoakKind::Late, 9),
    (SoakKind::Adapter, 9),
    (SoakKind::ReplacedLeaf, 4),
    (SoakKind::ReplacedSpine, 4),
    (SoakKind::NewLeaf, 2),
    (SoakKind::NewHost, 4),
    (SoakKind::Recable, 5),
    (SoakKind::Restart, 4),
    (SoakKind::Kill, 6),
    (SoakKind::Handover, 5),
    (SoakKind::Handback, 10),
    (SoakKind::FullDisk, 3),
    (SoakKind::SlowDisk, 3),
];
