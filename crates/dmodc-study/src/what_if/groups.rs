//! Faults that have the same effect.

use std::collections::HashMap;

use dmodc::fabric::{CableEnds, Fabric, Part};
use dmodc::{Ranking, SwitchIndex};

use super::{Faults, NumberedOutcome, Outcome, SeriesNumbers};

/// What kind of part fails: a switch of a rank, or a cable between two ranks. `None` is the rank of a switch that no leaf
/// can be reached from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartKind {
    /// A cable between switches of these ranks, the lower one first.
    Cable(Option<u32>, Option<u32>),
    /// A switch.
    Switch(Option<u32>),
    /// The cable of a node.
    NodeCable,
}

impl PartKind {
    fn new(fabric: &Fabric, ranking: &Ranking, part: Part) -> Self {
        let rank = |s: SwitchIndex| ranking.rank(s);
        match part {
            Part::Switch(s) => PartKind::Switch(rank(s)),
            Part::Cable(c) => match fabric.cable(c) {
                CableEnds::Switches(cable) => {
                    let (a, b) = (rank(cable.a.0), rank(cable.b.0));
                    PartKind::Cable(a.min(b), a.max(b))
                }
                CableEnds::Node(_) => PartKind::NodeCable,
            },
        }
    }
}

/// Everything that faults of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct GroupKey {
    kinds: Vec<PartKind>,
    pairs: [u64; 4],
    all_to_all: [u64; 2],
    series: Vec<SeriesNumbers>,
    changes: [u64; 3],
}

/// Faults of parts of the same kind with the same outcome. (The worst port and the pairs that are named may differ.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultGroup {
    /// The kinds of the parts.
    pub kinds: Vec<PartKind>,
    /// The numbers of the faults, ascending.
    pub faults: Vec<usize>,
    /// The outcome of the first of them.
    pub outcome: Outcome,
}

/// Returns the faults in groups that are alike, the most harmful first: by pairs that arrive no more, then by the risk of
/// all-to-all, then by the series, then by entries that change.
pub fn groups(
    fabric: &Fabric,
    ranking: &Ranking,
    faults: &Faults,
    outcomes: &[NumberedOutcome],
) -> Vec<FaultGroup> {
    let mut places: HashMap<GroupKey, usize> = HashMap::new();
    let mut groups: Vec<FaultGroup> = Vec::new();
    for (at, outcome) in outcomes {
        let parts = faults.get(*at).parts();
        let mut kinds: Vec<PartKind> =
            parts.iter().map(|&part| PartKind::new(fabric, ranking, part)).collect();
        kinds.sort_unstable();
        let key = GroupKey {
            kinds: kinds.clone(),
            pairs: [outcome.delivered, outcome.lost, outcome.cut_off, outcome.pairs],
            all_to_all: [outcome.a2a, outcome.a2a_bound],
            series: outcome.series.clone(),
            changes: [outcome.entries, outcome.blocks, outcome.switches],
        };
        let place = *places.entry(key).or_insert_with(|| {
            groups.push(FaultGroup { kinds, faults: vec![], outcome: outcome.clone() });
            groups.len() - 1
        });
        groups[place].faults.push(*at);
    }
    groups.sort_by(|a, b| {
        b.outcome.harm().cmp(&a.outcome.harm()).then_with(|| a.faults[0].cmp(&b.faults[0]))
    });
    groups
}
