//! What differs from state to state and comes from the host: one pool of words, and for each state where its parts are.

use std::collections::HashMap;

use dmodc::judge::risk::TrafficShape;
use dmodc::{Columns, Live, Routing, SwitchIndex};

use super::tables::JudgeTables;
use crate::buffer::bytes_of_u32s;

/// No class, no cut.
const NONE: u32 = u32::MAX;

/// A state as the host prepares it.
pub(super) struct PreparedState {
    pub(super) shape: TrafficShape,
    /// The number of live switches.
    pub(super) live_switches: usize,
    /// The class of each switch: a hop up leads to a higher class.
    classes: Vec<u32>,
    /// Live switches by class, and where each class starts.
    order: Vec<u32>,
    class_starts: Vec<u32>,
    /// The cuts that each switch is in, as kernels read them.
    cuts_of: Vec<u32>,
    /// For each tile, the targets that are leaves with nodes: two words.
    leaves: Vec<u32>,
    has_dead_nodes: bool,
    /// Whether costs are on the machine.
    has_costs: bool,
}

impl PreparedState {
    pub(super) fn new(live: Live<'_>, routing: &Routing, has_costs: bool) -> Self {
        let ranking = routing.ranking(live);
        let shape = TrafficShape::new(live, &ranking, routing.orders(), routing.columns());
        let classes = classes(live, shape.ascending());
        let (order, class_starts) = by_class(&classes, shape.ascending());
        let is_leaf = |s: SwitchIndex| {
            shape.nodes_by_switch()[s.at()] > 0 && live.switch(s) && ranking.is_leaf_with_nodes(s)
        };
        PreparedState {
            live_switches: shape.ascending().len(),
            leaves: target_bits(routing.columns(), is_leaf),
            cuts_of: cuts_of(&shape),
            classes,
            order,
            class_starts,
            has_dead_nodes: live.has_dead_node_cables(),
            has_costs,
            shape,
        }
    }
}

/// Returns the class of each switch: one more than the highest of its neighbours below, or 0.
fn classes(live: Live<'_>, ascending: &[u32]) -> Vec<u32> {
    let mut classes = vec![NONE; live.fabric.switches().len()];
    for &s in ascending {
        let below = live.links(SwitchIndex::new(s as usize)).map(|(_, peer)| classes[peer.at()]);
        let highest = below.filter(|&class| class != NONE).max();
        classes[s as usize] = highest.map_or(0, |class| class + 1);
    }
    classes
}

/// Returns the live switches by class, and where each class starts.
fn by_class(classes: &[u32], ascending: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut order = ascending.to_vec();
    order.sort_by_key(|&s| classes[s as usize]);
    let mut starts = vec![0];
    for class in order.chunk_by(|&a, &b| classes[a as usize] == classes[b as usize]) {
        starts.push(starts[starts.len() - 1] + class.len() as u32);
    }
    (order, starts)
}

/// Returns a bit for each destination switch of each tile, two words for a tile.
fn target_bits(columns: &Columns, is_meant: impl Fn(SwitchIndex) -> bool) -> Vec<u32> {
    let bits = |switches: &[SwitchIndex]| {
        let meant = switches.iter().enumerate().filter(|(_, s)| is_meant(**s));
        meant.fold(0, |bits, (bit, _)| bits | 1u64 << bit)
    };
    let halves = |bits: u64| [bits as u32, (bits >> 32) as u32];
    columns.switches().chunks(dmodc::BLOCK).map(bits).flat_map(halves).collect()
}

/// Returns half the number of levels of cuts, as an even number: kernels read four levels at once.
fn level_pairs(shape: &TrafficShape) -> usize {
    2 * shape.cut_levels().len().div_ceil(4)
}

/// Returns the cuts that each switch is in, 16 bits for each level, two levels in a word.
fn cuts_of(shape: &TrafficShape) -> Vec<u32> {
    let pairs = level_pairs(shape);
    let mut words = vec![NONE; pairs * shape.nodes_by_switch().len()];
    for (level, of) in shape.cut_levels().enumerate() {
        let shift = 16 * (level % 2);
        for (s, cut) in of.iter().enumerate() {
            // No cut is the greatest number in 16 bits, too.
            let word = &mut words[s * pairs + level / 2];
            *word = *word & !(0xffff << shift) | (cut & 0xffff) << shift;
        }
    }
    words
}

/// Where the nodes of a state are in the pool. Most states have the same.
#[derive(Clone, Copy)]
struct NodePlaces {
    places: u32,
    weight: u32,
    counted: u32,
}

/// The pool on its way to a machine.
#[derive(Default)]
pub(super) struct Pool {
    words: Vec<u32>,
    /// The descriptions of the states.
    states: Vec<u32>,
}

impl Pool {
    /// Adds words, and returns where they start: at a multiple of four.
    pub(super) fn add(&mut self, words: &[u32]) -> u32 {
        self.words.resize(self.words.len().next_multiple_of(4), 0);
        let first = self.words.len() as u32;
        self.words.extend_from_slice(words);
        first
    }

    /// Adds all states.
    pub(super) fn add_states(&mut self, states: &[PreparedState], tables: &JudgeTables) {
        let mut known: HashMap<&[u32], NodePlaces> = HashMap::new();
        for state in states {
            let nodes = *known
                .entry(state.shape.columns())
                .or_insert_with(|| self.add_nodes(&state.shape, tables));
            self.add_state(state, nodes);
        }
    }

    fn add_nodes(&mut self, shape: &TrafficShape, tables: &JudgeTables) -> NodePlaces {
        let slot = |&column: &u32| tables.slot_of_column[column as usize];
        let mut counted = vec![0; tables.slot_words];
        for slot in shape.columns().iter().map(slot) {
            counted[slot as usize / 32] |= 1 << (slot % 32);
        }
        let places = shape.columns().iter().map(slot).flat_map(|slot| tables.place(slot));
        NodePlaces {
            places: self.add(&places.collect::<Vec<u32>>()),
            weight: self.add(shape.nodes_by_switch()),
            counted: self.add(&counted),
        }
    }

    /// Adds a state: `JudgedState` of `kernels/judge.cu` has the same layout.
    fn add_state(&mut self, state: &PreparedState, nodes: NodePlaces) {
        let shape = &state.shape;
        let cuts = shape.cuts().iter().flat_map(|cut| [cut.nodes as u32, cut.cables as u32]);
        let cuts: Vec<u32> = cuts.collect();
        let words = [
            shape.nodes().len() as u32,
            nodes.places,
            nodes.weight,
            nodes.counted,
            self.add(&state.classes),
            self.add(&state.order),
            self.add(&state.class_starts),
            state.class_starts.len() as u32 - 1,
            self.add(&state.cuts_of),
            level_pairs(shape) as u32,
            self.add(&cuts),
            shape.cuts().len() as u32,
            self.add(&state.leaves),
            u32::from(state.has_dead_nodes),
            u32::from(state.has_costs),
            0,
        ];
        self.states.extend(words);
    }

    /// Returns the bytes of the descriptions, and then of the pool.
    pub(super) fn bytes(self) -> (Vec<u8>, Vec<u8>) {
        (bytes_of_u32s(self.states), bytes_of_u32s(self.words))
    }
}
