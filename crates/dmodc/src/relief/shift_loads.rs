//! The loads of shifts: how many flows each directed port has in each shift, and how much a move would add.

use super::routes::{PortIndex, RouteTrees};

/// The counts take at most about this many bytes. In larger fabrics only every second, third, … shift is counted.
const MOST_BYTES: usize = 64 << 20;

/// The index of a shift that is not counted.
const UNCOUNTED: u32 = u32::MAX;

/// The loads of shifts by some step: the shifts by 1, 1 + step, 1 + 2 · step …
pub(super) struct ShiftLoads {
    nodes: usize,
    /// The index of each shift, by the distance between positions; `UNCOUNTED` for those that are not counted.
    index: Vec<u32>,
    /// How many shifts are counted.
    shifts: usize,
    /// By port, then shift.
    loads: Vec<u16>,
    /// The greatest load that any port had in each shift, at any time.
    greatest: Vec<u16>,
}

impl ShiftLoads {
    /// Returns the step between the shifts that are counted.
    pub(crate) fn step(nodes: usize, ports: usize) -> usize {
        let room = (MOST_BYTES / 2 / ports.max(1)).max(1);
        nodes.saturating_sub(1).div_ceil(room).max(1)
    }

    pub(super) fn new(trees: &RouteTrees) -> Self {
        let nodes = trees.columns.len();
        let step = Self::step(nodes, trees.port_count());
        let shifts = nodes.saturating_sub(1).div_ceil(step);
        let loads = vec![0; shifts * trees.port_count()];
        let mut index = vec![UNCOUNTED; nodes];
        for (at, k) in (0..).zip((1..nodes).step_by(step)) {
            index[k] = at;
        }
        let mut counts = ShiftLoads { nodes, index, shifts, loads, greatest: vec![0; shifts] };
        let mut ports = vec![];
        for tree in 0..nodes {
            for (s, positions) in trees.positions.iter().enumerate() {
                ports.clear();
                if !positions.is_empty() {
                    trees.route(tree, s as u32, &mut ports);
                }
                counts.add(tree, positions, &ports);
            }
        }
        counts
    }

    /// Returns the index of the shift in which a position sends to another, if it is counted.
    fn shift(&self, from: u32, to: usize) -> Option<usize> {
        let from = from as usize;
        let k = if to >= from { to - from } else { to + self.nodes - from };
        let index = self.index[k];
        (index != UNCOUNTED).then_some(index as usize)
    }

    /// Adds the flows of some positions to a destination, on the ports of their route.
    pub(super) fn add(&mut self, to: usize, positions: &[u32], ports: &[PortIndex]) {
        for shift in positions.iter().filter_map(|&from| self.shift(from, to)).collect::<Vec<_>>() {
            for &port in ports {
                let load = &mut self.loads[port as usize * self.shifts + shift];
                *load += 1;
                self.greatest[shift] = self.greatest[shift].max(*load);
            }
        }
    }

    /// Takes the flows of some positions off the ports of their route.
    pub(super) fn remove(&mut self, to: usize, positions: &[u32], ports: &[PortIndex]) {
        for shift in positions.iter().filter_map(|&from| self.shift(from, to)).collect::<Vec<_>>() {
            for &port in ports {
                self.loads[port as usize * self.shifts + shift] -= 1;
            }
        }
    }

    /// Returns in how many shifts the flows of some positions to a destination would give one of these ports more flows
    /// than any port had. Stops counting at `limit`.
    pub(super) fn harm(
        &self,
        to: usize,
        positions: &[u32],
        ports: &[PortIndex],
        limit: usize,
    ) -> usize {
        let is_harmed = |&shift: &usize| {
            let load = |port: &PortIndex| self.loads[*port as usize * self.shifts + shift];
            ports.iter().any(|port| load(port) >= self.greatest[shift])
        };
        let shifts = positions.iter().filter_map(|&from| self.shift(from, to));
        shifts.filter(is_harmed).take(limit).count()
    }
}
