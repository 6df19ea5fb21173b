//! Where the switches of a fabric are drawn.
//!
//! Ranks are rows: leaves at the bottom, the top rank above everything. Within a row the order follows the shape of the
//! fabric, so that the picture of a fat tree looks like a tree:
//!
//! 1. Leaves stand side by side in the order of their destinations: in topological order, leaves that share
//!    upswitches are neighbours. Every leaf is one unit wide.
//! 2. A switch of rank r belongs to a *subtree*: its connected part of the fabric without the ranks above r. It stands
//!    above the leaves of its subtree; the switches of one subtree and rank share that width evenly, in switch order.
//! 3. Switches of one rank side by side are *groups*, which the page can draw as one box: below the top the switches of one
//!    subtree (a pod), and where all of a rank are in one subtree those of one *plane*, the connected part of the fabric
//!    without the ranks below r. A large group is cut into runs.
//!
//! Example: PGFT(3; 2,2,3; 1,2,2; 1,2,1) has six leaves at x = 0.5 … 5.5. The three pods have two switches of rank 1 each,
//! at 0.5 and 1.5, 2.5 and 3.5, 4.5 and 5.5. The four top switches are in two planes: at 0.75, 2.25 and at 3.75, 5.25.

use std::collections::BTreeMap;

use dmodc::{Degradation, Fabric, Live, Ranking, Routing, SwitchIndex};

/// A run of switches of one rank side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct LayoutGroup {
    /// The rank; `None` for switches that no leaf can be reached from.
    pub rank: Option<u32>,
    /// The left end.
    pub left: f64,
    /// The right end.
    pub right: f64,
    /// How many switches there are.
    pub count: usize,
    /// What it is, for people.
    pub label: String,
}

/// The place of every switch.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The number of ranks.
    pub levels: u32,
    /// The rank of each switch: its row.
    pub ranks: Vec<Option<u32>>,
    /// Where each switch stands, in units of one leaf.
    pub x: Vec<f64>,
    /// The group of each switch.
    pub group: Vec<u32>,
    /// The groups.
    pub groups: Vec<LayoutGroup>,
}

/// Larger groups are cut into runs.
const LARGE_GROUP: usize = 48;

/// The greatest length of a run.
const RUN: usize = 32;

impl Layout {
    /// Lays out a whole fabric: faults do not move switches. O(#ports × ranks).
    pub fn new(fabric: &Fabric, routing: &Routing) -> Self {
        let whole = Degradation::none(fabric);
        let live = Live::new(fabric, &whole);
        let ranking = routing.ranking(live);
        let switches = fabric.switches().len();
        let mut layout = Layout {
            levels: ranking.levels(),
            ranks: fabric.switch_indices().map(|s| ranking.rank(s)).collect(),
            x: vec![0.0; switches],
            group: vec![0; switches],
            groups: vec![],
        };
        let rows = rows(fabric, routing, &ranking);
        let leaf_units = rows.first().map_or(1, Vec::len).max(1) as f64;
        let mut leaf_x: Vec<Option<f64>> = vec![None; switches];
        for (rank, row) in (0..).zip(&rows) {
            let subtrees = Parts::of(live, |s| ranking.rank(s).is_some_and(|other| other <= rank));
            if rank == 0 {
                for (at, &s) in row.iter().enumerate() {
                    layout.x[s.at()] = at as f64 + 0.5;
                    leaf_x[s.at()] = Some(at as f64 + 0.5);
                }
            } else {
                layout.place_row(row, &subtrees, &leaf_x, leaf_units);
            }
            layout.group_row(live, &ranking, rank, row, &subtrees);
        }
        layout.place_unranked(leaf_units);
        layout
    }

    /// Places the switches of a rank above the leaves of their subtrees.
    fn place_row(
        &mut self,
        row: &[SwitchIndex],
        subtrees: &Parts,
        leaf_x: &[Option<f64>],
        leaf_units: f64,
    ) {
        let mut spans: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for (s, x) in leaf_x.iter().enumerate().filter_map(|(s, x)| x.map(|x| (s, x))) {
            if let Some(subtree) = subtrees.of[s] {
                let span = spans.entry(subtree).or_insert((x - 0.5, x + 0.5));
                *span = (span.0.min(x - 0.5), span.1.max(x + 0.5));
            }
        }
        let mut members: BTreeMap<u32, Vec<SwitchIndex>> = BTreeMap::new();
        for &s in row {
            members.entry(subtrees.of[s.at()].unwrap_or(u32::MAX)).or_default().push(s);
        }
        for (subtree, members) in members {
            let (left, right) = spans.get(&subtree).copied().unwrap_or((0.0, leaf_units));
            let each = (right - left) / members.len() as f64;
            for (at, s) in members.iter().enumerate() {
                self.x[s.at()] = left + (at as f64 + 0.5) * each;
            }
        }
    }

    /// Groups the switches of a rank.
    fn group_row(
        &mut self,
        live: Live<'_>,
        ranking: &Ranking,
        rank: u32,
        row: &[SwitchIndex],
        subtrees: &Parts,
    ) {
        // A leaf is a subtree of its own; leaves are grouped by the subtrees of the next rank.
        let next = (rank == 0)
            .then(|| Parts::of(live, |s| ranking.rank(s).is_some_and(|other| other <= 1)));
        let pods = next.as_ref().unwrap_or(subtrees);
        let first = row.first().map(|s| pods.of[s.at()]);
        let are_pods = row.iter().any(|s| Some(pods.of[s.at()]) != first);
        let planes = (!are_pods && rank > 0)
            .then(|| Parts::of(live, |s| ranking.rank(s).is_some_and(|other| other >= 1)));
        let (parts, word) = match &planes {
            Some(planes) => (planes, "plane"),
            None => (pods, "pod"),
        };
        let mut sorted = row.to_vec();
        sorted.sort_by(|a, b| self.x[a.at()].total_cmp(&self.x[b.at()]));
        let mut runs: Vec<Vec<SwitchIndex>> = Vec::new();
        let mut last = None;
        for s in sorted {
            let part = parts.of[s.at()];
            match runs.last_mut() {
                Some(run) if last == Some(part) => run.push(s),
                _ => runs.push(vec![s]),
            }
            last = Some(part);
        }
        let name = if runs.len() == 1 { row_name(rank, self.levels) } else { word };
        for (number, run) in (1..).zip(&runs) {
            let pieces = if run.len() > LARGE_GROUP { run.len().div_ceil(RUN) } else { 1 };
            let each = run.len().div_ceil(pieces);
            for (piece, members) in (1..).zip(run.chunks(each)) {
                let mut label = match runs.len() {
                    1 => name.to_owned(),
                    _ => format!("{name} {number}"),
                };
                if pieces > 1 {
                    label = format!("{label}, part {piece} of {pieces}");
                }
                self.add_group(Some(rank), members, label);
            }
        }
    }

    fn add_group(&mut self, rank: Option<u32>, members: &[SwitchIndex], label: String) {
        let (Some(first), Some(last)) = (members.first(), members.last()) else { return };
        let gap = match members.len() {
            1 => 1.0,
            count => (self.x[last.at()] - self.x[first.at()]) / (count - 1) as f64,
        };
        for s in members {
            self.group[s.at()] = self.groups.len() as u32;
        }
        self.groups.push(LayoutGroup {
            rank,
            left: self.x[first.at()] - gap / 2.0,
            right: self.x[last.at()] + gap / 2.0,
            count: members.len(),
            label,
        });
    }

    /// Places the switches that have no rank in a row of their own.
    fn place_unranked(&mut self, leaf_units: f64) {
        let without: Vec<SwitchIndex> = (0..self.ranks.len())
            .filter(|&s| self.ranks[s].is_none())
            .map(SwitchIndex::new)
            .collect();
        let each = leaf_units / without.len().max(1) as f64;
        for (at, s) in without.iter().enumerate() {
            self.x[s.at()] = (at as f64 + 0.5) * each;
        }
        self.add_group(None, &without, "without a leaf".into());
    }
}

fn row_name(rank: u32, levels: u32) -> &'static str {
    match rank {
        0 => "leaves",
        _ if rank + 1 == levels => "top switches",
        _ => "middle switches",
    }
}

/// Returns the switches by rank: leaves by their least destination, others in switch order.
fn rows(fabric: &Fabric, routing: &Routing, ranking: &Ranking) -> Vec<Vec<SwitchIndex>> {
    let orders = routing.orders();
    let least = |s: &SwitchIndex| {
        let numbers = fabric.nodes_of(*s).iter().map(|&n| orders.node_number(n));
        numbers.filter(|number| number.on_leaf).map(|number| number.number).min()
    };
    let mut rows = ranking.by_rank();
    for (rank, row) in rows.iter_mut().enumerate() {
        match rank {
            // Leaves without nodes have no number; they come last, in switch order.
            0 => row.sort_by_key(|s| (least(s).unwrap_or(u32::MAX), orders.position(*s))),
            _ => row.sort_by_key(|s| orders.position(*s)),
        }
    }
    rows
}

/// The connected parts of some switches of a fabric.
struct Parts {
    /// The number of the part of each switch; `None` for switches that do not count.
    of: Vec<Option<u32>>,
}

impl Parts {
    fn of(live: Live<'_>, counts: impl Fn(SwitchIndex) -> bool) -> Self {
        let mut of: Vec<Option<u32>> = vec![None; live.fabric.switches().len()];
        let mut next = 0;
        for start in live.switches() {
            if of[start.at()].is_some() || !counts(start) {
                continue;
            }
            of[start.at()] = Some(next);
            let mut open = vec![start];
            while let Some(s) = open.pop() {
                for (_, peer) in live.links(s) {
                    if of[peer.at()].is_none() && counts(peer) {
                        of[peer.at()] = Some(next);
                        open.push(peer);
                    }
                }
            }
            next += 1;
        }
        Parts { of }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::{Pgft, RoutingOptions};

    fn layout(pgft: &str) -> (Fabric, Layout) {
        let fabric = pgft.parse::<Pgft>().expect("a PGFT").fabric(Default::default());
        let whole = Degradation::none(&fabric);
        let routing = Routing::new(Live::new(&fabric, &whole), &RoutingOptions::default());
        let layout = Layout::new(&fabric, &routing);
        (fabric, layout)
    }

    #[test]
    fn a_tree_looks_like_a_tree() {
        let (fabric, layout) = layout("3; 2,2,3; 1,2,2; 1,2,1");
        let x = |name: &str| layout.x[fabric.find_switch(name).expect("a switch").at()];
        assert_eq!([x("L1-0"), x("L1-5")], [0.5, 5.5]);
        let mut middle: Vec<f64> = (0..6).map(|i| x(&format!("L2-{i}"))).collect();
        middle.sort_by(f64::total_cmp);
        assert_eq!(middle, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]);
        let labels: Vec<&str> = layout.groups.iter().map(|group| group.label.as_str()).collect();
        assert_eq!(
            labels,
            ["pod 1", "pod 2", "pod 3", "pod 1", "pod 2", "pod 3", "plane 1", "plane 2"]
        );
        assert_eq!(layout.groups.iter().map(|group| group.count).sum::<usize>(), 16);
    }

    #[test]
    fn every_switch_is_in_a_group_and_no_two_share_a_place() {
        for pgft in ["2; 4,8; 1,4; 1,1", "3; 6,6,12; 1,6,6; 1,1,1", "4; 2,2,2,2; 1,2,2,2; 1,1,1,1"]
        {
            let (fabric, layout) = layout(pgft);
            for s in 0..fabric.switches().len() {
                let group = &layout.groups[layout.group[s] as usize];
                assert!(group.left < layout.x[s] && layout.x[s] < group.right, "{pgft} {s}");
                assert_eq!(group.rank, layout.ranks[s]);
            }
            let mut places: Vec<(Option<u32>, u64)> = (0..fabric.switches().len())
                .map(|s| (layout.ranks[s], layout.x[s].to_bits()))
                .collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), fabric.switches().len(), "{pgft}");
        }
    }
}
