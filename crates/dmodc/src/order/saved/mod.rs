//! Orders that outlive a run.
//!
//! | file | |
//! |---|---|
//! | `numbers` | numbers for the destinations of a fabric: by place, by GUID, or as a newcomer |
//! | `newcomers`, `fit` | numbers for nodes that come later, which change nobody else's |
//! | `keep` | what later saves keep of earlier ones |
//! | `leaves` | what saved orders know about leaves |
//! | `replaced` | switches that took the place of others |

mod fit;
mod keep;
mod leaves;
mod newcomers;
mod numbers;
mod replaced;

use std::collections::{HashMap, HashSet};

use super::Orders;
use crate::fabric::{Fabric, Live};
use crate::id::{Guid, PortNumber, SwitchIndex};
use crate::level_dividers::LevelDividers;
use crate::rank::{RankRule, Ranking};

/// A port of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SavedPlace {
    /// The switch.
    pub switch: Guid,
    /// Its port.
    pub port: PortNumber,
}

/// A cable between two switches; the lesser end comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SavedCable(pub SavedPlace, pub SavedPlace);

/// Both orders of a fabric as lists of GUIDs.
///
/// A destination's number is its position in its list. A number belongs to a *place*, the switch port that a node is
/// plugged into: the node that is there has the number, so a replaced adapter takes it over. An absent node keeps its
/// number, since renumbering after one dead leaf would move a third of all entries. A newcomer gets a number that fits
/// its place, and no other number changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedOrders {
    /// Nodes on leaves, by port GUID; 0 stands for a number that no node has.
    pub nodes: Vec<Guid>,
    /// The place of each number of a node on a leaf, as far as it is known.
    pub node_places: Vec<Option<SavedPlace>>,
    /// If nodes on leaves are numbered type by type: the first number of each type after the first, ascending. Newcomers may
    /// have numbers beyond, whatever their type.
    pub type_starts: Vec<u32>,
    /// Nodes elsewhere and aggregation nodes, by port GUID; 0 stands for a number that no node has.
    pub others: Vec<Guid>,
    /// The place of each of their numbers, as far as it is known.
    pub other_places: Vec<Option<SavedPlace>>,
    /// Cables between switches as they were last seen, ascending. A new switch that is cabled as an absent one was takes
    /// its place.
    pub cables: Vec<SavedCable>,
    /// Switches as destinations.
    pub switches: Vec<Guid>,
    /// Switches in switch order.
    pub groups: Vec<Guid>,
    /// The leaves, ascending. Of the other switches listed, none is a leaf. An empty list means that leaves are not
    /// known.
    pub leaves: Vec<Guid>,
    /// The switches that ranks are counted from, as [`RankRule::SingleRoot`] has them; an empty list
    /// stands for ranks from the leaves. `None` if it is not decided yet.
    pub roots: Option<Vec<Guid>>,
    /// The dividers of all levels. `None` if they are not decided yet.
    pub dividers: Option<LevelDividers>,
    /// The roots that were given when the dividers were decided; empty if none were. They must be ascending.
    pub given_roots: Vec<Guid>,
}

impl SavedOrders {
    /// Returns the orders of a plain list of GUIDs, which serves for nodes and switches alike.
    pub fn plain(guids: Vec<Guid>) -> Self {
        SavedOrders {
            nodes: guids.clone(),
            others: guids.clone(),
            switches: guids.clone(),
            groups: guids,
            ..SavedOrders::default()
        }
    }

    /// Returns how many nodes on leaves are known that a fabric does not have.
    pub fn absent_nodes(&self, fabric: &Fabric) -> usize {
        let present: HashSet<Guid> = fabric.nodes().iter().map(|node| node.guid).collect();
        let known = self.nodes.iter().filter(|guid| guid.0 != 0);
        known.filter(|guid| !present.contains(guid)).count()
    }

    /// Returns whether numbers belong to places, so that newcomers get numbers that fit. They do unless the orders are an
    /// empty or a plain list, or were saved by an earlier version.
    pub fn keeps_places(&self) -> bool {
        self.node_places.iter().any(Option::is_some)
    }

    /// Returns what the ranks of a fabric are counted from, if that is decided.
    pub(crate) fn rank_rule(&self, live: Live<'_>) -> Option<RankRule> {
        let roots = self.roots.as_ref()?;
        if roots.is_empty() {
            return Some(RankRule::Leaves);
        }
        let by_guid: HashMap<Guid, SwitchIndex> =
            live.fabric.switch_indices().map(|s| (live.fabric.switch(s).guid, s)).collect();
        let present = roots.iter().filter_map(|guid| by_guid.get(guid).copied());
        Some(RankRule::SingleRoot(present.collect()))
    }

    /// Returns the dividers of all levels, if they go with ranks that are counted by this rule. Dividers that were decided for given roots
    /// go with the same ones, or with all that the fabric still has of them: the rest may be dead.
    pub(crate) fn dividers_for(&self, fabric: &Fabric, rule: &RankRule) -> Option<&LevelDividers> {
        let fit = match rule {
            RankRule::Leaves | RankRule::SingleRoot(_) => self.given_roots.is_empty(),
            RankRule::GivenRoots(now) => {
                let was_given =
                    |s: SwitchIndex| self.given_roots.binary_search(&fabric.switch(s).guid).is_ok();
                let mut present = fabric.switch_indices().filter(|&s| was_given(s));
                !now.is_empty()
                    && now.iter().all(|&s| was_given(s))
                    && present.all(|s| now.contains(&s))
            }
        };
        self.dividers.as_ref().filter(|_| fit)
    }

    /// Returns the orders of a fabric as lists.
    pub(super) fn of(orders: &Orders, live: Live<'_>) -> Self {
        let fabric = live.fabric;
        let places = |on_leaf| {
            let listed = fabric.node_indices().filter_map(|n| {
                let number = orders.node_number(n);
                let place = numbers::place_of(live, n);
                (number.on_leaf == on_leaf).then_some((number.number, fabric.node(n).guid, place))
            });
            let vacant = orders.vacant.iter().filter(|_| on_leaf);
            let vacant = vacant.map(|&(number, place)| (number, Guid(0), place));
            let all: Vec<(u32, Guid, SavedPlace)> = listed.chain(vacant).collect();
            let guids = by_number(all.iter().map(|&(number, guid, _)| (number, guid)));
            let mut places = vec![None; guids.len()];
            for (number, _, place) in all {
                places[number as usize] = Some(place);
            }
            (guids, places)
        };
        let (nodes, node_places) = places(true);
        let (others, other_places) = places(false);
        let mut cables: Vec<SavedCable> = fabric
            .inter_switch_cables()
            .iter()
            .map(|cable| {
                let [a, b] = [cable.a, cable.b]
                    .map(|(s, port)| SavedPlace { switch: fabric.switch(s).guid, port });
                SavedCable(a.min(b), a.max(b))
            })
            .collect();
        cables.sort_unstable();
        let switches = |number: fn(&Orders, SwitchIndex) -> u32| {
            by_number(fabric.switch_indices().map(|s| (number(orders, s), fabric.switch(s).guid)))
        };
        let roots = match orders.rank_rule() {
            RankRule::Leaves => Some(vec![]),
            RankRule::GivenRoots(_) => None,
            RankRule::SingleRoot(roots) => {
                Some(roots.iter().map(|&s| fabric.switch(s).guid).collect())
            }
        };
        let mut given_roots: Vec<Guid> = match orders.rank_rule() {
            RankRule::GivenRoots(given) => given.iter().map(|&s| fabric.switch(s).guid).collect(),
            RankRule::Leaves | RankRule::SingleRoot(_) => vec![],
        };
        given_roots.sort_unstable();
        given_roots.dedup();
        // An empty list of given roots could not be told from none.
        let are_given = matches!(orders.rank_rule(), RankRule::GivenRoots(_));
        let is_known = !are_given || !given_roots.is_empty();
        let dividers = is_known.then(|| orders.level_dividers().clone());
        let mut leaves: Vec<Guid> = orders.leaves.iter().map(|&s| fabric.switch(s).guid).collect();
        leaves.sort_unstable();
        SavedOrders {
            roots,
            dividers,
            given_roots,
            leaves,
            nodes,
            node_places,
            type_starts: orders.type_starts.clone(),
            others,
            other_places,
            cables,
            switches: switches(Orders::switch_number),
            groups: switches(Orders::position),
        }
    }

    /// Returns the switches of a fabric, sorted as saved. An unknown switch follows those of its rank, or of the nearest
    /// rank below that has any.
    pub(super) fn switch_order(
        &self,
        live: Live<'_>,
        ranking: &Ranking,
        plane: &[SwitchIndex],
    ) -> Vec<SwitchIndex> {
        let saved = positions(&self.groups);
        let place = |s: SwitchIndex| saved.get(&live.fabric.switch(s).guid).copied();
        // Plane order goes rank by rank, so an unknown switch follows the last known one so far.
        let mut last_of_rank: HashMap<u32, u32> = HashMap::new();
        for &s in plane {
            if let Some(place) = place(s) {
                let last = last_of_rank.entry(ranking.sort_rank(s)).or_insert(place);
                *last = place.max(*last);
            }
        }
        let mut anchor = None;
        let mut keyed: Vec<(Option<u32>, bool, SwitchIndex)> = Vec::with_capacity(plane.len());
        for &s in plane {
            anchor = last_of_rank.get(&ranking.sort_rank(s)).copied().or(anchor);
            keyed.push(match place(s) {
                Some(place) => (Some(place), false, s),
                None => (anchor, true, s),
            });
        }
        keyed.sort_by_key(|&(place, unknown, _)| (place, unknown));
        keyed.into_iter().map(|(_, _, s)| s).collect()
    }
}

/// Returns the position of each GUID in a list, the first one if it is listed twice.
fn positions(list: &[Guid]) -> HashMap<Guid, u32> {
    let mut positions = HashMap::with_capacity(list.len());
    for (at, &guid) in list.iter().enumerate() {
        positions.entry(guid).or_insert(at as u32);
    }
    positions
}

/// Returns GUIDs by their numbers. A number that nobody has (left by an absent one) is kept as GUID 0.
fn by_number(numbered: impl Iterator<Item = (u32, Guid)>) -> Vec<Guid> {
    let mut numbered: Vec<(u32, Guid)> = numbered.collect();
    numbered.sort_unstable();
    let length = numbered.last().map_or(0, |&(number, _)| number as usize + 1);
    let mut list = vec![Guid(0); length];
    for (number, guid) in numbered {
        list[number as usize] = guid;
    }
    list
}

#[cfg(test)]
mod tests {
    use super::keep::merge;
    use super::*;
    use crate::{Degradation, DestinationOrder, Fabric, GuidOrder, Pgft, SwitchOrder};

    fn fabric() -> Fabric {
        let pgft: Pgft = "3; 2,2,3; 1,2,2; 1,2,1".parse().unwrap();
        pgft.fabric(GuidOrder::Shuffled(4))
    }

    fn orders(fabric: &Fabric, d: &DestinationOrder, s: &SwitchOrder) -> Orders {
        let healthy = Degradation::none(fabric);
        let live = Live::new(fabric, &healthy);
        Orders::new(live, &Ranking::new(live, &Default::default()), d, s)
    }

    fn save(fabric: &Fabric) -> SavedOrders {
        let healthy = Degradation::none(fabric);
        let orders = orders(fabric, &DestinationOrder::default(), &SwitchOrder::default());
        orders.save(Live::new(fabric, &healthy))
    }

    #[test]
    fn given_back_to_the_same_fabric_nothing_changes() {
        let fabric = fabric();
        let saved = save(&fabric);
        let again = orders(
            &fabric,
            &DestinationOrder::Saved(saved.clone()),
            &SwitchOrder::Saved(saved.clone()),
        );
        assert_eq!(again, orders(&fabric, &Default::default(), &Default::default()));
    }

    #[test]
    fn absent_ones_keep_their_number_and_unknown_ones_follow() {
        let fabric = fabric();
        let mut saved = save(&fabric);
        let mut d = Degradation::none(&fabric);
        d.set_switch(SwitchIndex::new(1), true);
        let degraded = fabric.without(&d);
        let destinations = DestinationOrder::Saved(saved.clone());
        let switches = SwitchOrder::Saved(saved.clone());
        let before = orders(&fabric, &destinations, &switches);
        let after = orders(&degraded, &destinations, &switches);
        for n in degraded.node_indices() {
            let guid = degraded.node(n).guid;
            let whole = fabric.node_indices().find(|&m| fabric.node(m).guid == guid).unwrap();
            assert_eq!(after.node_number(n), before.node_number(whole));
        }
        // A leaf, a spine and nodes that the list does not know.
        let (unknown_leaf, unknown_spine) = (SwitchIndex::new(0), SwitchIndex::new(6));
        for s in [unknown_leaf, unknown_spine] {
            saved.groups.retain(|&g| g != fabric.switch(s).guid);
        }
        saved.nodes.truncate(10);
        let partial =
            orders(&fabric, &DestinationOrder::Saved(saved.clone()), &SwitchOrder::Saved(saved));
        let mut kept = after.save(Live::new(&degraded, &Degradation::none(&degraded)));
        kept.keep_absent(&save(&fabric));
        assert_eq!(kept, save(&fabric), "the dead leaf and its nodes are still known");
        let g = |list: &[u64]| list.iter().copied().map(Guid).collect::<Vec<_>>();
        assert_eq!(merge(&g(&[1, 2, 3, 4]), &g(&[9, 2, 8, 4, 7])), g(&[9, 1, 2, 8, 3, 4, 7]));
        assert_eq!(partial.node_number(crate::NodeIndex::new(11)).number, 11);
        assert_eq!(partial.position(unknown_leaf), 5, "after the other leaves");
        assert_eq!(partial.position(unknown_spine), 11, "after the other spines");
    }
}
