//! Leaves that are cabled to directors: chassis switches with line and spine chips.
//!
//! ```text
//!   spine chips    s0  s1  …      every line chip is cabled to every spine chip of its director
//!                   | ×  |
//!   line chips     l0  l1  …      the cables of a leaf are divided evenly among directors, and spread over line chips
//!                   |    |
//!   leaves         leaf-0  …
//! ```
//!
//! Leaf l has its cables to the line chips l·c, l·c + 1 … (modulo their number) of each director, where c is its
//! number of cables to one director. If c is less than the number of line chips, this is no PGFT: a spine chip has
//! several ways down to a leaf.

use std::fmt;

use super::builder::{FabricBuilder, Vertex};
use super::pgft::{GUID_PREFIX, VENDOR};
use super::{Adapter, AdapterKind, Fabric, GuidOrder, Pgft, Product, Rate, Switch};
use crate::id::{Guid, Lid, PortNumber};
use crate::random::Random;

/// Leaves that are cabled to directors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directors {
    /// The number of leaves.
    pub leaves: u32,
    /// The number of nodes on each leaf.
    pub nodes: u32,
    /// The number of directors.
    pub directors: u32,
    /// The number of line chips of each director.
    pub lines: u32,
    /// The number of spine chips of each director.
    pub spines: u32,
    /// The number of cables of each leaf to all directors together. Parallel cables count once.
    pub cables: u32,
    /// The number of parallel cables in the place of each cable between switches.
    pub parallel: u32,
}

/// Why there is no such fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirectorsError {
    /// Some number is 0.
    Zero,
    /// The cables of a leaf cannot be divided evenly among the directors.
    Uneven,
    /// A switch would need more ports than there can be; the number is how many.
    Ports(u64),
    /// There would be too many devices or cables.
    TooLarge,
}

impl fmt::Display for DirectorsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DirectorsError::Zero => f.write_str("every number must be at least 1"),
            DirectorsError::Uneven => {
                f.write_str("the cables of a leaf must be a multiple of the number of directors")
            }
            DirectorsError::Ports(ports) => {
                write!(
                    f,
                    "a switch would need {ports} ports; at most {} are possible",
                    PortNumber::MAX.0
                )
            }
            DirectorsError::TooLarge => f.write_str("there are too many devices or cables"),
        }
    }
}

impl std::error::Error for DirectorsError {}

impl Directors {
    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.leaves as usize * self.nodes as usize
    }

    /// Returns the number of switches: leaves, line chips and spine chips.
    pub fn switch_count(&self) -> usize {
        let chips = self.directors as usize * (self.lines as usize + self.spines as usize);
        self.leaves as usize + chips
    }

    /// Returns the fabric: nodes leaf by leaf, then leaves, line chips and spine chips. LIDs are given in this order.
    ///
    /// # Errors
    /// If there is no such fabric.
    pub fn fabric(&self, guids: GuidOrder) -> Result<Fabric, DirectorsError> {
        let line_ports = self.check()?;
        let lids = self.node_count() + self.switch_count();
        let first = if lids > Lid::LAST_UNICAST.0 as usize { Lid::FIRST_EXTENDED } else { Lid(1) };
        let mut drawing = Drawing {
            builder: FabricBuilder::new(),
            lids: first.0,
            guids: self.switch_guids(guids),
            switches: vec![],
        };
        let mut node_guids: Vec<u64> = (1..=self.node_count() as u64).collect();
        if let GuidOrder::Shuffled(seed) = guids {
            Random::new(seed, 0).shuffle(&mut node_guids);
        }
        let nodes: Vec<Vertex> =
            node_guids.iter().enumerate().map(|(i, guid)| drawing.node(i, *guid)).collect();
        let leaf_ports = u64::from(self.nodes) + u64::from(self.cables) * u64::from(self.parallel);
        let leaves: Vec<usize> =
            (0..self.leaves).map(|l| drawing.switch(format!("leaf-{l}"), leaf_ports)).collect();
        for (node, i) in nodes.into_iter().zip(0..) {
            let port = drawing.next_port(leaves[i / self.nodes as usize]);
            drawing.builder.cable((node, PortNumber(1)), port, Rate::NDR);
        }
        let spine_ports = u64::from(self.lines) * u64::from(self.parallel);
        let mut chips = |kind: &str, count: u32, ports: u64| -> Vec<Vec<usize>> {
            let mut of_director = |k: u32| {
                let names = (0..count).map(|i| format!("D{k}-{kind}-{i}"));
                names.map(|name| drawing.switch(name, ports)).collect()
            };
            (0..self.directors).map(&mut of_director).collect()
        };
        let lines = chips("line", self.lines, line_ports);
        let spines = chips("spine", self.spines, spine_ports);
        let each = self.cables / self.directors;
        for (l, leaf) in leaves.iter().enumerate() {
            for lines in &lines {
                for j in 0..each as usize {
                    let line = lines[(l * each as usize + j) % lines.len()];
                    drawing.cable(*leaf, line, self.parallel);
                }
            }
        }
        for (lines, spines) in lines.iter().zip(&spines) {
            for line in lines {
                spines.iter().for_each(|spine| drawing.cable(*line, *spine, self.parallel));
            }
        }
        Ok(drawing.builder.finish().expect("directors are consistent by construction"))
    }

    /// Checks all numbers. Returns how many ports a line chip needs.
    fn check(&self) -> Result<u64, DirectorsError> {
        let Directors { leaves, nodes, directors, lines, spines, cables, parallel } = *self;
        let numbers = [leaves, nodes, directors, lines, spines, cables, parallel];
        if numbers.contains(&0) {
            return Err(DirectorsError::Zero);
        }
        if !cables.is_multiple_of(directors) {
            return Err(DirectorsError::Uneven);
        }
        let [leaves, nodes, directors, lines, spines, cables, parallel] = numbers.map(u64::from);
        let between = directors.saturating_mul(lines).saturating_mul(spines);
        let all_cables = leaves.saturating_mul(cables).saturating_add(between);
        let counts = [
            leaves.saturating_mul(nodes),
            leaves.saturating_add(directors.saturating_mul(lines.saturating_add(spines))),
            all_cables.saturating_mul(parallel),
        ];
        if counts.into_iter().any(|count| count > Pgft::MOST) {
            return Err(DirectorsError::TooLarge);
        }
        // The first line chips have one cable more if the cables are no multiple of them.
        let to_leaves = (leaves * (cables / directors)).div_ceil(lines);
        let line_ports = (to_leaves + spines) * parallel;
        let most = line_ports.max(nodes + cables * parallel).max(lines * parallel);
        match most > u64::from(PortNumber::MAX.0) {
            true => Err(DirectorsError::Ports(most)),
            false => Ok(line_ports),
        }
    }

    /// Returns the GUIDs of all switches.
    fn switch_guids(&self, order: GuidOrder) -> Vec<Guid> {
        let levels = [self.leaves, self.directors * self.lines, self.directors * self.spines];
        let mut guids: Vec<Guid> = (1u64..)
            .zip(levels)
            .flat_map(|(level, count)| {
                (1..=u64::from(count)).map(move |i| Guid(GUID_PREFIX | level << 32 | i))
            })
            .collect();
        if let GuidOrder::Shuffled(seed) = order {
            Random::new(seed, 1).shuffle(&mut guids);
        }
        guids
    }
}

/// A fabric that is being made.
struct Drawing {
    builder: FabricBuilder,
    /// The next LID.
    lids: u32,
    /// The GUIDs of all switches, in the order in which these are made.
    guids: Vec<Guid>,
    /// The switches so far, and the last port of each that is in use.
    switches: Vec<(Vertex, u8)>,
}

impl Drawing {
    fn next_lid(&mut self) -> Lid {
        self.lids += 1;
        Lid(self.lids - 1)
    }

    fn node(&mut self, i: usize, number: u64) -> Vertex {
        let guid = Guid(GUID_PREFIX | number << 4);
        let vertex = self.builder.adapter(Adapter {
            guid,
            ports: 1,
            kind: AdapterKind::Host,
            name: format!("node-{i}").into(),
            product: Product { vendor: VENDOR, device: 1, system: guid },
        });
        let lid = self.next_lid();
        self.builder.end_port(vertex, PortNumber(1), Guid(guid.0 + 1), lid, 0);
        vertex
    }

    fn switch(&mut self, name: String, ports: u64) -> usize {
        let at = self.switches.len();
        let (guid, lid) = (self.guids[at], self.next_lid());
        let vertex = self.builder.switch(Switch {
            guid,
            lid,
            ports: ports as u8,
            name: name.into(),
            product: Product { vendor: VENDOR, device: 2, system: guid },
        });
        self.switches.push((vertex, 0));
        at
    }

    fn next_port(&mut self, s: usize) -> (Vertex, PortNumber) {
        let (vertex, port) = &mut self.switches[s];
        *port += 1;
        (*vertex, PortNumber(*port))
    }

    fn cable(&mut self, a: usize, b: usize, count: u32) {
        for _ in 0..count {
            let (a, b) = (self.next_port(a), self.next_port(b));
            self.builder.cable(a, b, Rate::NDR);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Directors = Directors {
        leaves: 16,
        nodes: 8,
        directors: 2,
        lines: 8,
        spines: 8,
        cables: 8,
        parallel: 1,
    };

    #[test]
    fn all_parts_are_there() {
        for parallel in [1, 3] {
            let shape = Directors { parallel, ..SMALL };
            let fabric = shape.fabric(GuidOrder::Shuffled(3)).unwrap();
            assert_eq!(fabric.nodes().len(), shape.node_count());
            assert_eq!(fabric.switches().len(), shape.switch_count());
            let cables = (16 * 8 + 2 * 8 * 8) * parallel as usize;
            assert_eq!(fabric.inter_switch_cables().len(), cables);
            assert!(fabric.switches().iter().all(|s| u32::from(s.ports) >= 8 * parallel));
        }
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let wrong = [
            (Directors { leaves: 0, ..SMALL }, DirectorsError::Zero),
            (Directors { cables: 7, ..SMALL }, DirectorsError::Uneven),
            (Directors { nodes: 250, ..SMALL }, DirectorsError::Ports(258)),
            (Directors { leaves: u32::MAX, ..SMALL }, DirectorsError::TooLarge),
        ];
        for (shape, error) in wrong {
            assert_eq!(shape.fabric(GuidOrder::Topological).unwrap_err(), error);
        }
    }
}
