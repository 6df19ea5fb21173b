//! The words for the fates of node pairs. Each has one meaning wherever it is printed.
//!
//! | word | |
//! |---|---|
//! | *valid* | every pair of leaves with nodes has an up\*down\* route ([`Coverage::is_valid`]) |
//! | *delivered* | node pairs whose packets arrive, over every LID of the destination |
//! | *lost* | node pairs that live cables connect and the tables do not deliver |
//! | *cut off* | node pairs that no live cables connect |
//! | *sound* | no packet loops and the channel dependency graph has no cycle ([`Scope::is_sound`](super::Scope::is_sound)) |
//!
//! Pairs are ordered pairs of live nodes; aggregation nodes do not count. Which pairs are cut off follows from the
//! fabric alone, so the number of pairs that arrive determines how many are lost.

use std::fmt;

use super::walk::{InForce, NextHop};
use crate::fabric::Live;
use crate::id::{NodeIndex, SwitchIndex};
use crate::parallel;
use crate::route::Coverage;
use crate::tables::{End, ForwardingTables};

/// The fates of node pairs: `pairs = delivered + lost + cut_off`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivery {
    /// Ordered pairs of live nodes.
    pub pairs: u64,
    /// Pairs whose packets arrive.
    pub delivered: u64,
    /// Pairs that live cables connect and the tables do not deliver.
    pub lost: u64,
    /// Pairs that no live cables connect.
    pub cut_off: u64,
}

impl Delivery {
    /// Returns the delivery of tables that one of our engines made, by the coverage that it reported. O(#nodes), and
    /// O(#ports) more if a pair is not delivered.
    pub fn of_route(live: Live<'_>, coverage: &Coverage) -> Self {
        let nodes = live.fabric.node_indices();
        let nodes = nodes.filter(|&n| live.node(n) && !live.fabric.is_aggregation(n));
        Self::among(live, nodes, coverage.undelivered_pairs)
    }

    /// Returns the delivery among these live nodes, given how many of their pairs do not arrive.
    ///
    /// # Panics
    /// If fewer pairs do not arrive than are cut off.
    pub fn among(
        live: Live<'_>,
        nodes: impl IntoIterator<Item = NodeIndex>,
        undelivered: u64,
    ) -> Self {
        let mut on_switch = vec![0; live.fabric.switches().len()];
        for n in nodes {
            on_switch[live.fabric.node(n).switch.at()] += 1;
        }
        let ordered_pairs = |nodes: u64| nodes * nodes.saturating_sub(1);
        let pairs = ordered_pairs(on_switch.iter().sum());
        let cut_off = match undelivered {
            0 => 0,
            _ => {
                let connected = Islands::new(live).sums(&on_switch).into_iter().map(ordered_pairs);
                pairs - connected.sum::<u64>()
            }
        };
        assert!(cut_off <= undelivered, "a pair that is cut off does not arrive");
        Delivery { pairs, delivered: pairs - undelivered, lost: undelivered - cut_off, cut_off }
    }

    /// Returns how many pairs do not arrive, for whatever reason.
    pub fn unroutable(&self) -> u64 {
        self.lost + self.cut_off
    }

    /// Returns whether every pair is delivered.
    pub fn is_complete(&self) -> bool {
        self.unroutable() == 0
    }
}

impl fmt::Display for Delivery {
    /// `1,234 of 1,300 node pairs delivered, 60 lost, 6 cut off`: words that are 0 are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.pairs == 1 { "pair" } else { "pairs" };
        let (delivered, pairs) = (Thousands(self.delivered), Thousands(self.pairs));
        write!(f, "{delivered} of {pairs} node {noun} delivered")?;
        for (count, word) in [(self.lost, "lost"), (self.cut_off, "cut off")] {
            if count > 0 {
                write!(f, ", {} {word}", Thousands(count))?;
            }
        }
        Ok(())
    }
}

/// A number with a comma after every third figure.
struct Thousands(u64);

impl fmt::Display for Thousands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 / 1000 {
            0 => write!(f, "{}", self.0),
            above => write!(f, "{},{:03}", Thousands(above), self.0 % 1000),
        }
    }
}

/// The greatest number of examples that are kept.
const NAMED: usize = 8;

/// Returns the fates of all pairs of these live nodes, and the first switches and nodes with a pair that does not arrive.
/// A pair counts as delivered if it is over every LID of its destination, as in [`check`](super::check()). This is for
/// some nodes alone, and finds no loops and deadlocks. O(#columns × #switches).
///
/// # Panics
/// If the tables have rows for another number of switches.
pub fn delivery(
    live: Live<'_>,
    tables: &ForwardingTables,
    nodes: &[NodeIndex],
) -> (Delivery, Vec<(SwitchIndex, NodeIndex)>) {
    let switches = live.fabric.switches().len();
    assert_eq!(tables.switch_count(), switches, "tables of another fabric");
    let mut sources = vec![0u64; switches];
    let mut columns: Vec<Vec<usize>> = vec![vec![]; live.fabric.nodes().len()];
    for &n in nodes {
        sources[live.fabric.node(n).switch.at()] += 1;
    }
    for (column, d) in tables.columns().destinations().iter().enumerate() {
        if let End::Node(n) = d.end {
            columns[n.at()].push(column);
        }
    }
    let in_force = InForce { live, tables: &[tables] };
    let of_some = |some: &[NodeIndex]| {
        let (mut undelivered, mut named) = (0, vec![]);
        let (mut arrives, mut path) = (vec![None; switches], vec![]);
        for &n in some {
            let mut all = vec![true; switches];
            for &column in &columns[n.at()] {
                arrives.fill(None);
                for s in live.switches().filter(|s| sources[s.at()] > 0) {
                    all[s.at()] &= follow(&in_force, s, column, &mut arrives, &mut path);
                }
            }
            for s in live.switches().filter(|s| !all[s.at()] && sources[s.at()] > 0) {
                undelivered += sources[s.at()] - u64::from(s == live.fabric.node(n).switch);
                named.push((s, n));
            }
            named.truncate(NAMED);
        }
        (undelivered, named)
    };
    let parts: Vec<(u64, Vec<(SwitchIndex, NodeIndex)>)> = parallel::map(nodes.chunks(64), of_some);
    let undelivered = parts.iter().map(|part| part.0).sum();
    let named = parts.into_iter().flat_map(|part| part.1).take(NAMED).collect();
    (Delivery::among(live, nodes.iter().copied(), undelivered), named)
}

/// Returns whether packets from a switch arrive, and notes the same for all switches that they pass.
fn follow(
    in_force: &InForce<'_>,
    from: SwitchIndex,
    column: usize,
    arrives: &mut [Option<bool>],
    path: &mut Vec<SwitchIndex>,
) -> bool {
    let d = &in_force.tables[0].columns().destinations()[column];
    path.clear();
    let mut at = from;
    let found = loop {
        if let Some(known) = arrives[at.at()] {
            break known;
        }
        // Until more is known, whoever comes back here loops.
        arrives[at.at()] = Some(false);
        path.push(at);
        match in_force.next(0, at, column, d) {
            NextHop::Delivered => break true,
            NextHop::Lost => break false,
            NextHop::Switch { to, .. } => at = to,
        }
    };
    for s in path.iter() {
        arrives[s.at()] = Some(found);
    }
    found
}

/// The connected parts of the live fabric: a number for each switch, equal for switches that live cables connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Islands {
    of_switch: Vec<u32>,
    count: usize,
}

/// The island of dead switches: none.
const NOWHERE: u32 = u32::MAX;

impl Islands {
    /// Finds the islands of a fabric. O(#ports).
    pub fn new(live: Live<'_>) -> Self {
        let parts = live.parts();
        let mut of_switch = vec![NOWHERE; live.fabric.switches().len()];
        for (number, part) in (0..).zip(&parts) {
            for s in part {
                of_switch[s.at()] = number;
            }
        }
        Islands { of_switch, count: parts.len() }
    }

    /// Returns whether live cables connect two switches.
    pub fn connect(&self, a: SwitchIndex, b: SwitchIndex) -> bool {
        let (a, b) = (self.of_switch[a.at()], self.of_switch[b.at()]);
        a == b && a != NOWHERE
    }

    /// Returns one sum for each island: that of the numbers of its switches.
    pub fn sums(&self, of_switch: &[u64]) -> Vec<u64> {
        let mut sums = vec![0; self.count];
        for (&island, &number) in self.of_switch.iter().zip(of_switch) {
            if island != NOWHERE {
                sums[island as usize] += number;
            }
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_zero_are_left_out() {
        let of = |pairs, lost, cut_off| {
            let delivery = Delivery { pairs, delivered: pairs - lost - cut_off, lost, cut_off };
            delivery.to_string()
        };
        assert_eq!(of(132, 0, 0), "132 of 132 node pairs delivered");
        assert_eq!(
            of(1_234_567, 1000, 0),
            "1,233,567 of 1,234,567 node pairs delivered, 1,000 lost"
        );
        assert_eq!(of(2, 0, 2), "0 of 2 node pairs delivered, 2 cut off");
        assert_eq!(of(30, 4, 6), "20 of 30 node pairs delivered, 4 lost, 6 cut off");
        assert_eq!(of(0, 0, 0), "0 of 0 node pairs delivered");
    }
}
