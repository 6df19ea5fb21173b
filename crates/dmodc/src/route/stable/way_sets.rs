//! The [ways](super::ways_down) of the targets of a tile, as rows look ahead to the switches at their ends.

use std::ops::Range;

use super::losses::LiveWays;
use super::lost_pieces::RoundSets;
use super::rounds::Rounds;
use super::slot_table::RoundKey;
use super::upswitches::FastContext;
use super::ways_down::reached_down;
use crate::group::Side;
use crate::kernel::Choices;
use crate::route::port_choice::RowRequest;

/// A row of a switch that has several ways down.
#[derive(Clone, Copy)]
pub(super) struct WayRow<'a> {
    pub(super) context: FastContext<'a>,
    pub(super) request: RowRequest<'a>,
    pub(super) ways: LiveWays<'a>,
    /// The targets whose entries are perhaps not those of the reference.
    pub(super) rewritten: u64,
}

impl<'a> WayRow<'a> {
    /// Returns the groups below in the reference.
    pub(super) fn below(&self) -> Side<'a> {
        self.context.reference.ready.groups.below(self.context.switch)
    }

    /// Returns whether all groups below are there.
    pub(super) fn has_all(&self) -> bool {
        self.ways.live.count_ones() as usize == self.below().peers.len()
    }

    /// Returns Π and #R.
    pub(super) fn key(&self) -> RoundKey {
        let FastContext { reference, switch, .. } = self.context;
        RoundKey::below(reference, switch, self.ways.ways)
    }
}

/// The rounds of a tile, class by class, and the ways of their targets. Switches with the same switches below have the same, so this is
/// seldom computed.
pub(super) struct WaySets {
    /// What they were found for: a list of switches below, and Π and #R.
    found: Option<(u32, RoundKey)>,
    /// The targets of each class that the rounds were found for. Most often they are the same in all directors.
    class_targets: Vec<u64>,
    /// Another number whenever they are found again.
    pub(super) generation: u64,
    pub(super) rounds: Rounds,
    /// The rounds of each class.
    pub(super) classes: Vec<Range<usize>>,
    /// The ways of each round, whether or not the row still has the cables.
    all: SetsByRound,
    /// The ways that a row still has, if it lost some.
    live: SetsByRound,
    /// Whether `kept` is known; it is 0s otherwise.
    pub(super) knows_kept: bool,
    /// 0s: rows are written as a whole, so it makes no difference what the last update changed.
    no_changes: Vec<u64>,
    by_target: Choices,
    masks: Vec<u64>,
}

#[derive(Default)]
struct SetsByRound {
    /// All ways that lead to the target and, #R bits further up, those whose switches lost nothing.
    ahead: Vec<u64>,
    /// The ways whose switches kept the slot of the round.
    kept: Vec<u64>,
}

impl Default for WaySets {
    fn default() -> Self {
        WaySets {
            found: None,
            class_targets: vec![],
            generation: 0,
            rounds: Rounds::default(),
            classes: vec![],
            all: SetsByRound::default(),
            live: SetsByRound::default(),
            knows_kept: false,
            no_changes: vec![],
            by_target: Choices::one_by_one(),
            masks: vec![],
        }
    }
}

impl WaySets {
    /// Finds the rounds and the ways of a tile, unless they are known from another row.
    pub(super) fn find(&mut self, row: WayRow<'_>) {
        let FastContext { reference, view, switch, .. } = row.context;
        let found = Some((reference.peers_below[switch.at()], row.key()));
        if self.found == found {
            return;
        }
        let known = std::mem::replace(&mut self.found, found);
        self.generation += 1;
        let classes = &row.ways.ways.classes;
        let targets = classes.iter().map(|class| class.targets);
        let has_same_key = known.is_some_and(|(_, key)| key == row.key());
        if !has_same_key || !targets.clone().eq(self.class_targets.iter().copied()) {
            self.class_targets.clear();
            self.class_targets.extend(targets);
            let segments = classes.iter().flat_map(|class| row.request.segments_of(class.targets));
            self.rounds.divide(row.key(), view, segments);
            self.find_classes();
        }
        let count = self.rounds.targets.len();
        self.no_changes.resize(count, 0);
        self.knows_kept = false;
        self.all.kept.clear();
        self.all.kept.resize(count, 0);
        self.find_ahead(row);
    }

    /// Finds the rounds of each class.
    fn find_classes(&mut self) {
        let mut first = 0;
        self.classes.clear();
        for targets in &self.class_targets {
            let of_class = |target: &&u8| targets >> (**target & 63) & 1 == 1;
            let length = self.rounds.targets[first..].iter().take_while(of_class).count();
            self.classes.push(first..first + length);
            first += length;
        }
    }

    /// Finds the ways that lead to each target, and those whose switches lost nothing.
    fn find_ahead(&mut self, row: WayRow<'_>) {
        let FastContext { ready, view, hops, .. } = row.context;
        let (ways, peers) = (row.ways.ways, row.below().peers);
        let WaySets { masks, by_target, rounds, all, .. } = self;
        masks.clear();
        masks.resize(2 * ways.count, 0);
        let (reached, unharmed) = masks.split_at_mut(ways.count);
        ways.find(reached, |group| reached_down(hops, peers[group]));
        let is_unharmed = |group: usize| !view.harmed[peers[group].at()];
        ways.find(unharmed, |group| reached_down(hops, peers[group]) & is_unharmed(group));
        ready.kernel.gather(by_target, ways.all_targets(), masks);
        let words = by_target.first_words();
        all.ahead.clear();
        all.ahead.extend(rounds.targets.iter().map(|target| words[usize::from(target & 63)]));
    }

    /// Finds the ways whose switches kept the slot of each round.
    pub(super) fn find_kept(&mut self, row: WayRow<'_>) {
        let FastContext { ready, view, hops, .. } = row.context;
        let (ways, peers) = (row.ways.ways, row.below().peers);
        let WaySets { masks, by_target, rounds, all, .. } = self;
        masks.clear();
        masks.resize(ways.count, 0);
        for (stretch, kept_slots) in view.kept_slots.iter().enumerate() {
            let kept = |group: usize| kept_slots[peers[group].at()];
            ways.find(masks, |group| reached_down(hops, peers[group]) & kept(group));
            ready.kernel.gather(by_target, ways.all_targets(), masks);
            let words = by_target.first_words();
            let places = rounds.targets.iter().zip(&rounds.stretches).zip(&mut all.kept);
            for ((target, _), kept) in places.filter(|((_, of), _)| usize::from(**of) == stretch) {
                *kept = words[usize::from(target & 63)];
            }
        }
        self.knows_kept = true;
    }

    /// Returns the ways that a row has.
    pub(super) fn of_row(&mut self, row: WayRow<'_>) -> (&Rounds, RoundSets<'_>) {
        let has_all = row.has_all();
        if !has_all {
            self.leave_out_lost(row);
        }
        let SetsByRound { ahead, kept } = if has_all { &self.all } else { &self.live };
        let no_changes = &self.no_changes[..ahead.len()];
        let sets = RoundSets {
            all: ahead,
            unharmed: ahead,
            shift: row.ways.ways.count as u32,
            kept,
            unharmed_changes: no_changes,
            kept_changes: no_changes,
        };
        (&self.rounds, sets)
    }

    /// Finds the sets without the ways that a row lost itself.
    fn leave_out_lost(&mut self, row: WayRow<'_>) {
        let LiveWays { ways, live } = row.ways;
        let WaySets { all, live: of_row, classes, .. } = self;
        for words in [&mut of_row.ahead, &mut of_row.kept] {
            words.resize(all.ahead.len(), 0);
        }
        row.context.ready.kernel.run(
            #[inline(always)]
            || {
                for (class, range) in ways.classes.iter().zip(classes) {
                    let live = class.ways(live);
                    let both = live | live << (ways.count & 63);
                    keep(&all.ahead[range.clone()], both, &mut of_row.ahead[range.clone()]);
                    keep(&all.kept[range.clone()], live, &mut of_row.kept[range.clone()]);
                }
            },
        );
    }
}

/// Writes sets without the ways that are not in `live`.
#[inline(always)]
fn keep(from: &[u64], live: u64, to: &mut [u64]) {
    to.iter_mut().zip(from).for_each(|(to, set)| *to = set & live);
}
