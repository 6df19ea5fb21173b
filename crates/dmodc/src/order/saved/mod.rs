//! Orders that outlive a run.

mod newcomers;
mod numbers;
mod replaced;

use std::collections::{HashMap, HashSet};

use super::{Orders, counts};
use crate::fabric::{Fabric, Live};
use crate::id::{Guid, PortNumber, SwitchIndex};
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
/// A destination's number is its position in its list. A number belongs to a *place*, the switch port that a node is plugged into:
/// whoever is there has it, so a replaced adapter takes it over. Whoever is absent keeps it: renumbering after one dead
/// leaf would move a third of all entries. A newcomer gets a number that fits its place, and nobody else's changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedOrders {
    /// Nodes on leaves, by port GUID; 0 stands for nobody.
    pub nodes: Vec<Guid>,
    /// The place of each number of a node on a leaf, as far as it is known.
    pub node_places: Vec<Option<SavedPlace>>,
    /// Nodes elsewhere and aggregation nodes, by port GUID; 0 stands for nobody.
    pub others: Vec<Guid>,
    /// The place of each of their numbers, as far as it is known.
    pub other_places: Vec<Option<SavedPlace>>,
    /// Cables between switches as they were last seen, ascending. Who is cabled as an absent switch was takes its place.
    pub cables: Vec<SavedCable>,
    /// Switches as destinations.
    pub switches: Vec<Guid>,
    /// Switches in switch order.
    pub groups: Vec<Guid>,
    /// The leaves, ascending. Of the other switches listed, none is a leaf; an empty list says nothing.
    pub leaves: Vec<Guid>,
    /// The switches that ranks are counted from, as [`RankRule::SingleRoot`] has them; an empty list
    /// stands for ranks from the leaves. `None` if it is not decided yet.
    pub roots: Option<Vec<Guid>>,
}

impl SavedOrders {
    /// A plain list of GUIDs, where one list serves for everything that can be looked up in it.
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

    /// Whether numbers belong to places, so that newcomers get numbers that fit. It is so unless the orders are an empty or a plain list,
    /// or were saved by an earlier version.
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

    /// Takes over from an earlier save what is absent now, each in its place, so that it is known
    /// when it returns.
    pub fn keep_absent(&mut self, earlier: &SavedOrders) {
        let present = self.switches.clone();
        keep_places(&mut self.nodes, &mut self.node_places, &earlier.nodes, &earlier.node_places);
        keep_places(
            &mut self.others,
            &mut self.other_places,
            &earlier.others,
            &earlier.other_places,
        );
        keep_numbers(&mut self.switches, &earlier.switches);
        self.keep_cables(&earlier.cables);
        self.groups = merge(&earlier.groups, &self.groups);
        if !earlier.leaves.is_empty() {
            // A switch that is there now is what it is now.
            let now: HashSet<Guid> = present.iter().copied().collect();
            let absent: Vec<Guid> =
                earlier.leaves.iter().copied().filter(|leaf| !now.contains(leaf)).collect();
            self.leaves.extend(absent);
            self.leaves.sort_unstable();
        }
        if let Some(now) = &mut self.roots
            && let Some(earlier) = &earlier.roots
        {
            *now = merge(earlier, now);
        } else if self.roots.is_none() {
            self.roots.clone_from(&earlier.roots);
        }
    }

    /// Keeps earlier cables whose ports are free now.
    fn keep_cables(&mut self, earlier: &[SavedCable]) {
        let in_use: HashSet<SavedPlace> =
            self.cables.iter().flat_map(|SavedCable(a, b)| [*a, *b]).collect();
        let is_absent = |SavedCable(a, b): &&SavedCable| !in_use.contains(a) && !in_use.contains(b);
        self.cables.extend(earlier.iter().filter(is_absent).copied().collect::<Vec<_>>());
        self.cables.sort_unstable();
    }

    /// Gives positions in all lists to others: from the GUIDs that have them now to those that shall. Whoever
    /// has a position of its own keeps it.
    pub(crate) fn rename(&mut self, renamed: &HashMap<Guid, Guid>) {
        if renamed.is_empty() {
            return;
        }
        let places = self.node_places.iter_mut().chain(&mut self.other_places).flatten();
        let ends = self.cables.iter_mut().flat_map(|SavedCable(a, b)| [a, b]);
        for place in places.chain(ends) {
            if let Some(other) = renamed.get(&place.switch) {
                place.switch = *other;
            }
        }
        for cable in &mut self.cables {
            *cable = SavedCable(cable.0.min(cable.1), cable.0.max(cable.1));
        }
        self.cables.sort_unstable();
        let SavedOrders { nodes, others, switches, groups, leaves, roots, .. } = self;
        let lists = [nodes, others, switches, groups, &mut *leaves];
        for list in lists.into_iter().chain(roots) {
            let known: HashSet<Guid> = list.iter().copied().collect();
            for guid in list.iter_mut() {
                if let Some(other) = renamed.get(guid).filter(|other| !known.contains(other)) {
                    *guid = *other;
                }
            }
        }
        leaves.sort_unstable();
    }

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
            RankRule::GivenRoots => None,
            RankRule::SingleRoot(roots) => {
                Some(roots.iter().map(|&s| fabric.switch(s).guid).collect())
            }
        };
        let mut leaves: Vec<Guid> = orders.leaves.iter().map(|&s| fabric.switch(s).guid).collect();
        leaves.sort_unstable();
        SavedOrders {
            roots,
            leaves,
            nodes,
            node_places,
            others,
            other_places,
            cables,
            switches: switches(Orders::switch_number),
            groups: switches(Orders::position),
        }
    }

    /// What is known of each switch of a fabric: that it is a leaf, that it is none, or nothing.
    ///
    /// A fabric that has only lost something since is what it was. One that has grown (more than one node of
    /// eight is not listed) may have been saved while most hosts were off, and what was decided then may
    /// be wrong: a leaf of then stays one only if it has few nodes and is cabled to nobody with many. A
    /// switch that was no leaf may have become one: nothing is known of it if it has more than half as many
    /// nodes that are not listed as any switch has nodes.
    ///
    /// Files of the first version list no leaves. There a switch was a leaf if nodes that were numbered
    /// as those on leaves are on it now, and none if only nodes are that were numbered apart.
    pub(crate) fn known_leaves(&self, live: Live<'_>) -> Vec<Option<bool>> {
        let set = |list: &[Guid]| list.iter().copied().collect::<HashSet<Guid>>();
        let (leaves, switches) = (set(&self.leaves), set(&self.switches));
        let (on_leaves, elsewhere) = (set(&self.nodes), set(&self.others));
        let nodes: Vec<Nodes> = live
            .fabric
            .switch_indices()
            .map(|s| Nodes::of(live, s, &on_leaves, &elsewhere))
            .collect();
        let sum = |count: fn(&Nodes) -> usize| nodes.iter().map(count).sum::<usize>();
        let has_grown = 8 * sum(|nodes| nodes.new) > sum(Nodes::all);
        let most = nodes.iter().map(Nodes::all).max().unwrap_or(0);
        let is_crowded = |s: SwitchIndex| 2 * nodes[s.at()].all() > most;
        let known = |s: SwitchIndex| {
            let guid = live.fabric.switch(s).guid;
            let nodes = &nodes[s.at()];
            let was_leaf = match self.leaves.is_empty() {
                true => match (nodes.on_leaves > 0, nodes.elsewhere > 0) {
                    (true, false) => Some(true),
                    (false, true) => Some(false),
                    _ => None,
                },
                false if leaves.contains(&guid) => Some(true),
                false if 2 * nodes.new > most || !switches.contains(&guid) => None,
                false => Some(false),
            };
            let stays = !has_grown
                || was_leaf == Some(true)
                    && !is_crowded(s)
                    && !live.links(s).any(|(_, peer)| is_crowded(peer));
            was_leaf.filter(|_| stays)
        };
        live.fabric.switch_indices().map(known).collect()
    }

    /// Sorts a fabric's switches as saved; an unknown one follows after those of its rank, or of the
    /// nearest rank below that has any.
    pub(super) fn switch_order(
        &self,
        live: Live<'_>,
        ranking: &Ranking,
        plane: &[SwitchIndex],
    ) -> Vec<SwitchIndex> {
        let saved = positions(&self.groups);
        let place = |s: SwitchIndex| saved.get(&live.fabric.switch(s).guid).copied();
        // Plane order goes rank by rank, so the last known switch so far tells where to follow.
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

/// How many nodes of a switch, aggregation nodes aside, are listed, and where.
struct Nodes {
    on_leaves: usize,
    elsewhere: usize,
    new: usize,
}

impl Nodes {
    fn of(
        live: Live<'_>,
        s: SwitchIndex,
        on_leaves: &HashSet<Guid>,
        elsewhere: &HashSet<Guid>,
    ) -> Self {
        let mut found = Nodes { on_leaves: 0, elsewhere: 0, new: 0 };
        for n in live.nodes(s).filter(|&n| counts(live, n)) {
            let guids = [live.fabric.node(n).guid, live.fabric.adapter_of(n).guid];
            let is_in = |list: &HashSet<Guid>| guids.iter().any(|guid| list.contains(guid));
            match (is_in(on_leaves), is_in(elsewhere)) {
                (true, false) => found.on_leaves += 1,
                (false, true) => found.elsewhere += 1,
                // A plain list has every node as both.
                (true, true) => {}
                (false, false) => found.new += 1,
            }
        }
        found
    }

    fn all(&self) -> usize {
        self.on_leaves + self.elsewhere + self.new
    }
}

/// The position of each GUID in a list; the first where it stands twice.
fn positions(list: &[Guid]) -> HashMap<Guid, u32> {
    let mut positions = HashMap::with_capacity(list.len());
    for (at, &guid) in list.iter().enumerate() {
        positions.entry(guid).or_insert(at as u32);
    }
    positions
}

/// Fills numbers that nobody has now with who had them, and the places that are not known now. Whoever has moved to another
/// place leaves the number to the place.
fn keep_places(
    guids: &mut Vec<Guid>,
    places: &mut Vec<Option<SavedPlace>>,
    earlier: &[Guid],
    earlier_places: &[Option<SavedPlace>],
) {
    let present: HashSet<Guid> = guids.iter().copied().collect();
    let length = guids.len().max(earlier.len());
    guids.resize(length, Guid(0));
    places.resize(length, None);
    for (number, &guid) in earlier.iter().enumerate() {
        let place = earlier_places.get(number).copied().flatten();
        if guids[number].0 == 0 && (place.is_none() || !present.contains(&guid)) {
            guids[number] = guid;
        }
        places[number] = places[number].or(place);
    }
    if places.iter().all(Option::is_none) {
        places.clear();
    }
}

/// Fills numbers that nobody has now with who had them.
fn keep_numbers(list: &mut Vec<Guid>, earlier: &[Guid]) {
    if list.len() < earlier.len() {
        list.resize(earlier.len(), Guid(0));
    }
    for (now, &before) in list.iter_mut().zip(earlier) {
        if now.0 == 0 {
            *now = before;
        }
    }
}

/// The earlier sequence, with each newcomer right after whom it follows in the present one.
fn merge(earlier: &[Guid], present: &[Guid]) -> Vec<Guid> {
    let known = positions(earlier);
    let mut after: HashMap<Option<Guid>, Vec<Guid>> = HashMap::new();
    let mut anchor = None;
    for &guid in present {
        match known.contains_key(&guid) {
            true => anchor = Some(guid),
            false => after.entry(anchor).or_default().push(guid),
        }
    }
    let mut merged = after.remove(&None).unwrap_or_default();
    for &guid in earlier {
        merged.push(guid);
        merged.extend(after.remove(&Some(guid)).unwrap_or_default());
    }
    merged
}

/// GUIDs by their numbers. A number that nobody has (left by an absent one) is kept as GUID 0.
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
