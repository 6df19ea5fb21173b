//! The two orders that Dmodc's arithmetic rests on.
//!
//! *Destination order* numbers the destinations: eqs. (3) and (4) spread consecutive numbers over
//! different ports, so nodes on one leaf should have consecutive numbers. *Switch order* sorts
//! the port groups of every switch; where all switches of a pod see the same spines in the same
//! order, a destination's routes coalesce early. The paper sorts by GUID; real GUIDs are in no
//! topological order, so the default here is the `plane` order, which finds the planes by itself.
//!
//! Both must come from the healthy fabric and be kept: if they were computed anew after a fault, routes would move that
//! the fault did not touch. [`SavedOrders`] carries them from run to run.

mod absent;
mod natural;
mod nested;
mod place;
mod planes;
mod residues;
mod saved;
mod types;

pub use natural::natural_cmp;
pub use saved::{SavedCable, SavedOrders, SavedPlace};
pub use types::NodeTypes;

use std::sync::Arc;

use nested::nested_order;

use crate::fabric::{AdapterKind, Fabric, Live};
use crate::id::{NodeIndex, SwitchIndex};
use crate::level_dividers::LevelDividers;
use crate::rank::{RankRule, Ranking};

/// How destinations are numbered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there are two of them, once a run")]
pub enum DestinationOrder {
    /// By place in the tree: subtree by subtree, leaf by leaf, port by port.
    #[default]
    Topological,
    /// The same for orders that are to last: an empty place keeps a number if a node is expected there.
    Places,
    /// Type by type, and topological among the nodes of each type.
    Types(NodeTypes),
    /// The same for orders that are to last: an empty place keeps a number of the type that is expected there.
    TypedPlaces(NodeTypes),
    /// Ascending base LID.
    Lid,
    /// Ascending port GUID.
    Guid,
    /// By a list: the number is the position in it.
    Saved(SavedOrders),
}

/// How switches, and so the port groups towards them, are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "there are two of them, once a run")]
pub enum SwitchOrder {
    /// Plane by plane, planes by their least GUID.
    #[default]
    Plane,
    /// The same for orders that are to last: planes are in the order that all pods agree on, which a dead switch does not
    /// change, or by their least GUID where pods disagree. Where GUIDs follow the topology, both orders of a whole fabric are the same; with
    /// other GUIDs they may differ.
    AgreedPlane,
    /// By GUID, as the paper does.
    Guid,
    /// By a list.
    Saved(SavedOrders),
}

/// The number of a node among its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DestinationNumber {
    /// Nodes on leaves are numbered apart from all others, so that aggregation nodes and nodes on
    /// spines never disturb the balance.
    pub on_leaf: bool,
    /// `d` in the paper.
    pub number: u32,
}

/// Both orders, applied to a fabric; and its leaves, the rule for ranks and the dividers of levels, which are fixed with them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orders {
    leaves: Vec<SwitchIndex>,
    ranks: RankRule,
    dividers: Arc<LevelDividers>,
    nodes: Vec<DestinationNumber>,
    /// Numbers of places on leaves that no node is in, ascending.
    vacant: Vec<(u32, SavedPlace)>,
    /// If nodes on leaves are numbered type by type: the first number of each type after the first.
    type_starts: Vec<u32>,
    switches: Vec<u32>,
    positions: Vec<u32>,
}

impl Orders {
    /// Numbers and sorts a fabric. All levels have the paper's dividers. O(#ports + #nodes log #nodes).
    pub fn new(
        live: Live<'_>,
        ranking: &Ranking,
        destinations: &DestinationOrder,
        switches: &SwitchOrder,
    ) -> Self {
        let plane = plane_order(live, ranking);
        let sequence = match switches {
            SwitchOrder::Plane => plane.clone(),
            SwitchOrder::AgreedPlane => match planes::agreed_keys(live, ranking) {
                Some(keys) => plane_order_by(live, ranking, |s| keys[s.at()]),
                None => plane.clone(),
            },
            SwitchOrder::Guid => {
                let mut all: Vec<SwitchIndex> = live.fabric.switch_indices().collect();
                all.sort_by_key(|&s| live.fabric.switch(s).guid);
                all
            }
            SwitchOrder::Saved(saved) => saved.switch_order(live, ranking, &plane),
        };
        let positions = positions(&sequence);
        let topological = Topological::new(live, ranking, &plane);
        let (mut vacant, mut type_starts) = (vec![], vec![]);
        let mut by_saved = |saved: &SavedOrders, keeps_places: bool| {
            let numbers = saved.numbers(live, ranking, &topological, keeps_places);
            vacant = numbers.vacant;
            vacant.sort_unstable();
            (numbers.nodes, numbers.switches)
        };
        let (nodes, switches) = match destinations {
            DestinationOrder::Topological => topological.number(live, ranking),
            DestinationOrder::Places => by_saved(&SavedOrders::default(), true),
            DestinationOrder::Types(types) => {
                let (nodes, switches) =
                    topological.by_type(types, live.fabric).number(live, ranking);
                type_starts = types.starts_of(live, &nodes);
                (nodes, switches)
            }
            DestinationOrder::TypedPlaces(types) => {
                let (mut nodes, switches) = by_saved(&SavedOrders::default(), true);
                type_starts = types.renumber(live.fabric, &mut nodes, &mut vacant);
                vacant.sort_unstable();
                (nodes, switches)
            }
            DestinationOrder::Lid => sorted_numbers(
                live,
                ranking,
                |n| u64::from(live.fabric.node(n).lid.0),
                |s| u64::from(live.fabric.switch(s).lid.0),
            ),
            DestinationOrder::Guid => sorted_numbers(
                live,
                ranking,
                |n| live.fabric.node(n).guid.0,
                |s| live.fabric.switch(s).guid.0,
            ),
            DestinationOrder::Saved(saved) => {
                type_starts.clone_from(&saved.type_starts);
                by_saved(saved, saved.keeps_places())
            }
        };
        let (leaves, ranks) = (ranking.leaves().to_vec(), ranking.rule().clone());
        let dividers = Arc::default();
        Orders { leaves, ranks, dividers, nodes, vacant, type_starts, switches, positions }
    }

    /// Returns the number of a node.
    #[inline]
    pub fn node_number(&self, n: NodeIndex) -> DestinationNumber {
        self.nodes[n.at()]
    }

    /// Returns the types of nodes on leaves by which they are numbered: those that their numbers have now, or `None` if
    /// there is one type only.
    pub(crate) fn node_types(&self) -> Option<NodeTypes> {
        if self.type_starts.is_empty() {
            return None;
        }
        let starts = &self.type_starts;
        let kind = |n: &DestinationNumber| starts.partition_point(|&start| start <= n.number);
        let types: Vec<u32> = self.nodes.iter().map(|n| kind(n) as u32).collect();
        let names = (0..=starts.len()).map(|kind| kind.to_string()).collect();
        Some(NodeTypes::new(names, "by number", move |_, n| types[n.at()]))
    }

    /// Returns the number of a switch as a destination. Switches are numbered apart from nodes.
    #[inline]
    pub fn switch_number(&self, s: SwitchIndex) -> u32 {
        self.switches[s.at()]
    }

    /// Returns the position of a switch in switch order.
    #[inline]
    pub fn position(&self, s: SwitchIndex) -> u32 {
        self.positions[s.at()]
    }

    /// Returns the same orders for ranks that are counted from something else.
    pub(crate) fn with_rank_rule(self, ranks: RankRule) -> Self {
        Orders { ranks, ..self }
    }

    /// Returns what ranks are counted from, in this and every later state of the fabric.
    pub fn rank_rule(&self) -> &RankRule {
        &self.ranks
    }

    /// Returns the same orders with other dividers of levels.
    pub(crate) fn with_level_dividers(self, dividers: LevelDividers) -> Self {
        Orders { dividers: Arc::new(dividers), ..self }
    }

    /// Returns the dividers of all levels, in this and every later state of the fabric.
    #[inline]
    pub fn level_dividers(&self) -> &LevelDividers {
        &self.dividers
    }

    /// Returns both orders as lists of GUIDs, to be applied to later fabrics.
    pub fn save(&self, live: Live<'_>) -> SavedOrders {
        SavedOrders::of(self, live)
    }
}

/// Returns the inverse of a sequence: the position of each switch in it.
fn positions(sequence: &[SwitchIndex]) -> Vec<u32> {
    let mut positions = vec![0; sequence.len()];
    for (at, s) in sequence.iter().enumerate() {
        positions[s.at()] = at as u32;
    }
    positions
}

/// Returns the switches by rank, then by plane: for k = 1, 2 … by the component that a switch lies in once all ranks
/// below k are removed, components by their least GUID; then by its own GUID. On a healthy PGFT with any GUIDs all pods
/// see their planes in one order. Switches without a rank come last, by GUID.
fn plane_order(live: Live<'_>, ranking: &Ranking) -> Vec<SwitchIndex> {
    plane_order_by(live, ranking, |s| live.fabric.switch(s).guid.0)
}

/// Returns the same order with planes sorted by any key instead of GUIDs.
fn plane_order_by(
    live: Live<'_>,
    ranking: &Ranking,
    key: impl Fn(SwitchIndex) -> u64,
) -> Vec<SwitchIndex> {
    // Rank 0 never joins: leaves lie in no plane, and are sorted by GUID.
    let stages: Vec<Vec<SwitchIndex>> = ranking.by_rank().into_iter().skip(1).rev().collect();
    let mut order = nested_order(live, &stages, &[], |s| Some(key(s)));
    let in_no_plane = |s: &SwitchIndex| ranking.rank(*s).is_none_or(|rank| rank == 0);
    let mut rest: Vec<SwitchIndex> = live.fabric.switch_indices().filter(in_no_plane).collect();
    rest.sort_by_key(|&s| live.fabric.switch(s).guid);
    order.extend(rest);
    order.sort_by_key(|&s| ranking.sort_rank(s));
    order
}

/// The tree as people draw it, from left to right.
struct Topological {
    /// All nodes: by the position of their switch, then by port.
    nodes: Vec<NodeIndex>,
    /// All switches: the leaves from left to right, then the others in plane order.
    switches: Vec<SwitchIndex>,
}

impl Topological {
    fn new(live: Live<'_>, ranking: &Ranking, plane: &[SwitchIndex]) -> Self {
        let mut leaves = ranking.leaves().to_vec();
        leaves.sort_by(|&a, &b| {
            let (a, b) = (live.fabric.switch(a), live.fabric.switch(b));
            natural_cmp(&a.name, &b.name).then(a.guid.cmp(&b.guid))
        });
        let mut by_name = vec![None; live.fabric.switches().len()];
        for (at, leaf) in leaves.iter().enumerate() {
            by_name[leaf.at()] = Some(at as u64);
        }
        // The top rank never joins: without it, the components are the subtrees. Leaves of the top
        // rank are subtrees of their own.
        let mut stages = ranking.by_rank();
        let top = stages.pop().unwrap_or_default();
        let mut switches = nested_order(live, &stages, &top, |s| by_name[s.at()]);
        // Leaves that the roots do not reach have no rank, and are in no subtree.
        let in_no_subtree =
            |s: &SwitchIndex| by_name[s.at()].is_none() || ranking.rank(*s).is_none();
        let others = plane.iter().copied().filter(in_no_subtree);
        switches.extend(others);
        let nodes = switches.iter().flat_map(|&s| live.fabric.nodes_of(s)).copied().collect();
        Topological { nodes, switches }
    }

    /// Returns the same with the nodes of each type together.
    fn by_type(&self, types: &NodeTypes, fabric: &Fabric) -> Self {
        let mut nodes = self.nodes.clone();
        types.sort(fabric, &mut nodes);
        Topological { nodes, switches: self.switches.clone() }
    }

    fn number(&self, live: Live<'_>, ranking: &Ranking) -> (Vec<DestinationNumber>, Vec<u32>) {
        (number_nodes(live, ranking, &self.nodes), positions(&self.switches))
    }
}

/// Returns whether a node is numbered among those on leaves.
fn on_leaf(live: Live<'_>, ranking: &Ranking, n: NodeIndex) -> bool {
    ranking.is_leaf(live.fabric.node(n).switch) && counts(live, n)
}

/// Returns whether a node counts where leaves are looked for.
fn counts(live: Live<'_>, n: NodeIndex) -> bool {
    matches!(live.fabric.adapter_of(n).kind, AdapterKind::Host | AdapterKind::Router)
}

/// Returns numbers 0, 1, 2 … for the nodes of both kinds, in this order; dead nodes follow at the end.
fn number_nodes(live: Live<'_>, ranking: &Ranking, order: &[NodeIndex]) -> Vec<DestinationNumber> {
    let mut numbers = vec![DestinationNumber { on_leaf: false, number: 0 }; order.len()];
    let mut next = [0; 2];
    let (alive, dead): (Vec<NodeIndex>, Vec<NodeIndex>) =
        order.iter().partition(|&&n| live.node(n));
    for n in alive.into_iter().chain(dead) {
        let on_leaf = on_leaf(live, ranking, n);
        let counter = &mut next[usize::from(on_leaf)];
        numbers[n.at()] = DestinationNumber { on_leaf, number: *counter };
        *counter += 1;
    }
    numbers
}

/// Returns the numbers of nodes and switches, sorted by keys.
fn sorted_numbers(
    live: Live<'_>,
    ranking: &Ranking,
    node_key: impl Fn(NodeIndex) -> u64,
    switch_key: impl Fn(SwitchIndex) -> u64,
) -> (Vec<DestinationNumber>, Vec<u32>) {
    let mut nodes: Vec<NodeIndex> = live.fabric.node_indices().collect();
    nodes.sort_by_key(|&n| node_key(n));
    let mut switches: Vec<SwitchIndex> = live.fabric.switch_indices().collect();
    switches.sort_by_key(|&s| (!live.switch(s), switch_key(s)));
    (number_nodes(live, ranking, &nodes), positions(&switches))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Degradation, GuidOrder, Pgft};

    fn orders(fabric: &Fabric, d: &DestinationOrder, s: &SwitchOrder) -> Orders {
        let healthy = Degradation::none(fabric);
        let live = Live::new(fabric, &healthy);
        Orders::new(live, &Ranking::new(live, &Default::default()), d, s)
    }

    #[test]
    fn topological_order_is_the_generators_whatever_the_guids() {
        let pgft: Pgft = "3; 2,11,3; 1,2,2; 1,2,1".parse().unwrap();
        for guids in [GuidOrder::Topological, GuidOrder::Shuffled(1), GuidOrder::Shuffled(2)] {
            let fabric = pgft.fabric(guids);
            for d in [DestinationOrder::Topological, DestinationOrder::Lid] {
                let orders = orders(&fabric, &d, &SwitchOrder::Plane);
                assert!(fabric.node_indices().all(|n| {
                    orders.node_number(n)
                        == DestinationNumber { on_leaf: true, number: n.at() as u32 }
                }));
            }
        }
    }

    #[test]
    fn plane_order_aligns_the_planes_of_all_pods() {
        let pgft: Pgft = "3; 2,3,4; 1,3,2; 1,1,1".parse().unwrap();
        let fabric = pgft.fabric(GuidOrder::Shuffled(9));
        let orders = orders(&fabric, &DestinationOrder::Guid, &SwitchOrder::Plane);
        let spine = |pod: usize, plane: usize| {
            SwitchIndex::new(pgft.count(1) + pgft.index(2, &[0, plane as u32, pod as u32]))
        };
        let planes_by_position = |pod: usize| {
            let mut planes: Vec<usize> = (0..3).collect();
            planes.sort_by_key(|&plane| orders.position(spine(pod, plane)));
            planes
        };
        for pod in 1..4 {
            assert_eq!(planes_by_position(pod), planes_by_position(0));
        }
    }
}
