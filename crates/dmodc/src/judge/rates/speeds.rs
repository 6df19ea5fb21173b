//! The speed of every directed link, and the unit that rates are in.
//!
//! A cable has a link in each direction, and both have the cable's speed. Links are numbered: first all directed ports
//! between switches as in [`Traffic::ports`], then the link from each position's node to its switch, then the link from the
//! switch to the node. With 3 directed ports and 2 positions:
//!
//! ```text
//! 0 1 2      directed ports
//! 3 4        sent by position 0, 1
//! 5 6        received by position 0, 1
//! ```
//!
//! The unit is the speed of one node's cable: that which most nodes have, and of two that equally many have, the faster
//! one. A cable whose speed the fabric does not name counts as one of the unit's speed. If the fabric names no speeds at
//! all, every link has speed 1.

use std::collections::BTreeMap;

use super::super::risk::Traffic;
use crate::fabric::{Fabric, Rate};
use crate::id::{PortNumber, SwitchIndex};

/// The speeds of all directed links that flows of a traffic can use, in units of one node's cable.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpeeds {
    capacities: Vec<f64>,
    ports: usize,
    positions: usize,
    unit: Option<Rate>,
    unknown: usize,
}

impl LinkSpeeds {
    /// Reads the speeds of the cables of a fabric that carry this traffic.
    pub fn new(fabric: &Fabric, traffic: &Traffic<'_>) -> Self {
        let rate = |s: SwitchIndex, p: PortNumber| {
            fabric.port(s, p).map_or(Rate::default(), |port| port.rate)
        };
        let between: Vec<Rate> =
            traffic.ports().iter().map(|port| rate(port.switch, port.port)).collect();
        let of_node = |n| {
            let node = fabric.node(n);
            rate(node.switch, node.switch_port)
        };
        let nodes: Vec<Rate> = traffic.nodes().iter().map(|&n| of_node(n)).collect();
        let unit = commonest(&nodes).or_else(|| commonest(&between));
        let of_unit = unit.and_then(Rate::gigabits);
        let capacity = |rate: &Rate| match (rate.gigabits(), of_unit) {
            (Some(speed), Some(unit)) => speed / unit,
            _ => 1.0,
        };
        let links = || between.iter().chain(&nodes).chain(&nodes);
        LinkSpeeds {
            capacities: links().map(capacity).collect(),
            ports: between.len(),
            positions: nodes.len(),
            unit,
            unknown: links().filter(|rate| rate.is_unknown()).count(),
        }
    }

    /// Returns the speed of every link.
    pub fn capacities(&self) -> &[f64] {
        &self.capacities
    }

    /// Returns the cable whose speed is 1; `None` if the fabric names no speeds.
    pub fn unit(&self) -> Option<Rate> {
        self.unit
    }

    /// Returns how many links have no known speed and count as 1.
    pub fn unknown(&self) -> usize {
        self.unknown
    }

    /// Returns whether all links have the same speed.
    pub fn are_equal(&self) -> bool {
        self.capacities.iter().all(|&capacity| capacity == 1.0)
    }

    /// Returns the link from the node of a position to its switch.
    pub fn sent_by(&self, position: u32) -> u32 {
        self.ports as u32 + position
    }

    /// Returns the link from a switch to the node of a position.
    pub fn received_by(&self, position: u32) -> u32 {
        (self.ports + self.positions) as u32 + position
    }
}

/// Returns the most common of the known rates; of equally common ones, the fastest.
pub fn commonest(rates: &[Rate]) -> Option<Rate> {
    // Speeds are positive, so their bits are in the same order.
    let mut counts: BTreeMap<u64, (usize, Rate)> = BTreeMap::new();
    for &rate in rates {
        if let Some(speed) = rate.gigabits() {
            counts.entry(speed.to_bits()).or_insert((0, rate)).0 += 1;
        }
    }
    counts.into_values().max_by_key(|(count, _)| *count).map(|(_, rate)| rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_is_the_commonest_known_speed() {
        let rate = |text: &str| text.parse::<Rate>().expect("a rate");
        let of = |texts: &[&str]| {
            commonest(&texts.iter().map(|text| rate(text)).collect::<Vec<_>>())
                .map(|rate| rate.to_string())
        };
        assert_eq!(of(&["4xHDR", "4xNDR", "4xNDR", "?????"]), Some("4xNDR".into()));
        assert_eq!(of(&["4xHDR", "4xNDR"]), Some("4xNDR".into()), "the faster of two");
        assert_eq!(of(&["?????", "4x???"]), None);
        assert_eq!(of(&[]), None);
    }
}
