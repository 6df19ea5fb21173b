//! What later saves keep of earlier ones: numbers, places and cables of what is absent.

use std::collections::{HashMap, HashSet};

use super::{SavedCable, SavedOrders, SavedPlace, positions};
use crate::fabric::Joined;
use crate::id::Guid;

impl SavedOrders {
    /// Takes over from an earlier save everything that is absent now, each in its position, so that it is known when it
    /// returns.
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
            // Whether a switch that is present is a leaf was decided anew.
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
        if self.type_starts.is_empty() {
            self.type_starts.clone_from(&earlier.type_starts);
        }
        if self.dividers.is_none() {
            self.dividers.clone_from(&earlier.dividers);
            self.given_roots.clone_from(&earlier.given_roots);
        } else if self.given_roots_are_of(earlier) && self.dividers == earlier.dividers {
            // A root that is absent, and so not given now, may return.
            self.given_roots.extend(&earlier.given_roots);
            self.given_roots.sort_unstable();
            self.given_roots.dedup();
        }
    }

    /// Returns whether roots were given, and earlier ones alone.
    fn given_roots_are_of(&self, earlier: &SavedOrders) -> bool {
        let known = |root: &Guid| earlier.given_roots.binary_search(root).is_ok();
        !self.given_roots.is_empty() && self.given_roots.iter().all(known)
    }

    /// Keeps earlier cables whose ports are free now.
    fn keep_cables(&mut self, earlier: &[SavedCable]) {
        let in_use: HashSet<SavedPlace> =
            self.cables.iter().flat_map(|SavedCable(a, b)| [*a, *b]).collect();
        let is_absent = |SavedCable(a, b): &&SavedCable| !in_use.contains(a) && !in_use.contains(b);
        self.cables.extend(earlier.iter().filter(is_absent).copied().collect::<Vec<_>>());
        self.cables.sort_unstable();
    }

    /// Gives the positions of GUIDs in all lists to other GUIDs: `renamed` maps the former to the latter. A GUID that has
    /// a position of its own keeps it.
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
        let SavedOrders { nodes, others, switches, groups, leaves, roots, given_roots, .. } = self;
        let lists = [nodes, others, switches, groups, &mut *leaves, &mut *given_roots];
        for list in lists.into_iter().chain(roots) {
            let known: HashSet<Guid> = list.iter().copied().collect();
            for guid in list.iter_mut() {
                if let Some(other) = renamed.get(guid).filter(|other| !known.contains(other)) {
                    *guid = *other;
                }
            }
        }
        leaves.sort_unstable();
        given_roots.sort_unstable();
    }
}

/// Fills numbers that no present node has with the nodes that had them, and places that are not known with the earlier
/// ones. A node that has moved to another place leaves the number to the place.
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

/// Fills numbers that no present switch has with the switches that had them.
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

/// Returns the earlier sequence, with each newcomer right after the one that it follows in the present sequence: merging
/// 1, 2, 3, 4 with 9, 2, 8, 4, 7 gives 9, 1, 2, 8, 3, 4, 7.
pub(super) fn merge(earlier: &[Guid], present: &[Guid]) -> Vec<Guid> {
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

impl Joined {
    /// Gives replacements the places in orders of the reference that belong to those whom they replace.
    pub fn hand_over(&self, orders: &mut SavedOrders) {
        orders.rename(&self.renamed);
    }
}
