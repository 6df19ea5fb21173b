//! Fabrics with several ways down: leaves that are cabled to directors (chassis switches with line and spine chips).

use dmodc::{Fabric, Random};

use super::Drawing;

/// Leaves that are cabled to directors.
#[derive(Clone, Copy, Debug)]
pub struct Directors {
    pub leaves: usize,
    /// Nodes on each leaf.
    pub nodes: usize,
    pub directors: usize,
    /// Line chips of each director.
    pub lines: usize,
    /// Spine chips of each director; each is cabled to every line chip of its director.
    pub spines: usize,
    /// Cables of each leaf to each director, spread over its line chips.
    pub cables: usize,
    /// How many parallel cables there are in the place of each.
    pub parallel: usize,
}

impl Directors {
    /// 128 nodes: 16 leaves with 8 nodes, and two directors with 8 line chips and 8 spine chips.
    pub const SMALL: Directors = Directors {
        leaves: 16,
        nodes: 8,
        directors: 2,
        lines: 8,
        spines: 8,
        cables: 4,
        parallel: 1,
    };

    /// 512 nodes: 32 leaves with 16 nodes, and two directors with 16 line chips and 16 spine chips.
    pub const LARGE: Directors = Directors {
        leaves: 32,
        nodes: 16,
        directors: 2,
        lines: 16,
        spines: 16,
        cables: 8,
        parallel: 1,
    };

    /// The same with all nodes and cables doubled.
    pub fn doubled(self) -> Self {
        Directors { nodes: 2 * self.nodes, parallel: 2 * self.parallel, ..self }
    }

    /// Any shape of at most 96 nodes.
    pub fn random(random: &mut Random) -> Self {
        let mut from = |least: u64, most: u64| (least + random.below(most - least + 1)) as usize;
        Directors {
            leaves: from(2, 12),
            nodes: from(1, 8),
            directors: from(1, 3),
            lines: from(1, 5),
            spines: from(1, 5),
            cables: from(1, 6),
            parallel: from(1, 2),
        }
    }

    pub fn fabric(self) -> Fabric {
        let mut drawing = Drawing::new();
        let leaves: Vec<usize> =
            (0..self.leaves).map(|l| drawing.switch(&format!("leaf-{l}"))).collect();
        leaves.iter().for_each(|leaf| drawing.nodes(*leaf, self.nodes));
        for k in 0..self.directors {
            let mut chips = |count: usize, kind: &str| -> Vec<usize> {
                (0..count).map(|i| drawing.switch(&format!("director-{k} {kind}-{i}"))).collect()
            };
            let (lines, spines) = (chips(self.lines, "line"), chips(self.spines, "spine"));
            for (l, leaf) in leaves.iter().enumerate() {
                for j in 0..self.cables {
                    let line = lines[(l * self.cables + j) % self.lines];
                    drawing.cable(*leaf, line, self.parallel);
                }
            }
            for line in &lines {
                for spine in &spines {
                    drawing.cable(*line, *spine, self.parallel);
                }
            }
        }
        drawing.finish()
    }
}

/// Four levels: pods of 8 leaves with 8 nodes; in each pod 8 lower switches, cabled to all its leaves, and 8 upper switches,
/// cabled to all its lower ones; 16 cores, each cabled to 4 of the upper switches of each pod.
pub fn four_levels(pods: usize) -> Fabric {
    let mut drawing = Drawing::new();
    let mut level = |kind: &str| -> Vec<usize> {
        (0..8 * pods).map(|i| drawing.switch(&format!("{kind}-{i}"))).collect()
    };
    let (leaves, lower, upper) = (level("leaf"), level("lower"), level("upper"));
    let cores: Vec<usize> = (0..16).map(|i| drawing.switch(&format!("core-{i}"))).collect();
    leaves.iter().for_each(|leaf| drawing.nodes(*leaf, 8));
    for pod in 0..pods {
        for i in 0..8 {
            for j in 0..8 {
                drawing.cable(leaves[8 * pod + i], lower[8 * pod + j], 1);
                drawing.cable(lower[8 * pod + i], upper[8 * pod + j], 1);
            }
        }
        for (c, core) in cores.iter().enumerate() {
            for j in 0..4 {
                drawing.cable(upper[8 * pod + (4 * c + j) % 8], *core, 1);
            }
        }
    }
    drawing.finish()
}
