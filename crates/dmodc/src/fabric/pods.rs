//! Four levels: pods of leaves with a mesh of two levels above them, and cores above the pods.
//!
//! ```text
//!   cores           c0    c1    …         each is cabled to some of the upper switches of every pod
//!                  / |    | \\
//!   upper switches u0  u1  …              every lower switch is cabled to every upper switch of its pod
//!                   | ×  |
//!   lower switches  l0  l1  …             every leaf is cabled to every lower switch of its pod
//!                   | ×  |
//!   leaves         leaf-0  …
//! ```
//!
//! Core c has its cables to the upper switches c·r, c·r + 1 … (modulo their number) of each pod, where r is its reach. So a
//! core has r ways down to a leaf, and each upper switch has as many as there are lower switches: this is no PGFT.

use std::fmt;
use std::str::FromStr;

use super::drawing::Drawing;
use super::numbers::{NumbersError, Written};
use super::{Fabric, GuidOrder};

/// Pods with a mesh inside, below cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pods {
    /// The number of pods.
    pub pods: u32,
    /// The number of leaves in each pod.
    pub leaves: u32,
    /// The number of nodes on each leaf.
    pub nodes: u32,
    /// The number of lower switches in each pod.
    pub lower: u32,
    /// The number of upper switches in each pod.
    pub upper: u32,
    /// The number of cores.
    pub cores: u32,
    /// The number of cables of each core to each pod.
    pub reach: u32,
}

impl Default for Pods {
    /// Returns 4 pods of 8 leaves with 8 nodes, 8 lower and 8 upper switches, and 16 cores with 4 cables to each pod.
    fn default() -> Self {
        Pods { pods: 4, leaves: 8, nodes: 8, lower: 8, upper: 8, cores: 16, reach: 4 }
    }
}

impl Pods {
    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.pods as usize * self.leaves as usize * self.nodes as usize
    }

    /// Returns the number of switches.
    pub fn switch_count(&self) -> usize {
        let Pods { leaves, lower, upper, .. } = *self;
        let pod = leaves as usize + lower as usize + upper as usize;
        self.pods as usize * pod + self.cores as usize
    }

    /// Returns the fabric: nodes leaf by leaf, then leaves, lower switches, upper switches and cores. LIDs are given in this
    /// order.
    ///
    /// # Errors
    /// If there is no such fabric.
    pub fn fabric(&self, guids: GuidOrder) -> Result<Fabric, NumbersError> {
        let [leaf_ports, lower_ports, upper_ports, core_ports] = self.check()?;
        let Pods { pods, leaves, nodes, lower, upper, cores, reach } = *self;
        let levels = [pods * leaves, pods * lower, pods * upper, cores];
        let mut drawing = Drawing::new(self.node_count(), &levels, guids);
        let mut of_pods = |kind: &str, each: u32, ports: u64| -> Vec<Vec<usize>> {
            let mut of_pod =
                |k: u32| drawing.switches((0..each).map(|i| format!("P{k}-{kind}-{i}")), ports);
            (0..pods).map(&mut of_pod).collect()
        };
        let leaf = of_pods("leaf", leaves, leaf_ports);
        let low = of_pods("lower", lower, lower_ports);
        let high = of_pods("upper", upper, upper_ports);
        let core = drawing.switches((0..cores).map(|i| format!("core-{i}")), core_ports);
        drawing.put_nodes(&leaf.concat(), nodes);
        for pod in 0..pods as usize {
            for (below, above) in [(&leaf[pod], &low[pod]), (&low[pod], &high[pod])] {
                for &s in below {
                    above.iter().for_each(|&t| drawing.cable(s, t, 1));
                }
            }
            for (c, &core) in core.iter().enumerate() {
                for j in 0..reach as usize {
                    drawing.cable(high[pod][(c * reach as usize + j) % upper as usize], core, 1);
                }
            }
        }
        Ok(drawing.finish())
    }

    /// Checks all numbers. Returns how many ports the switches of each level need.
    fn check(&self) -> Result<[u64; 4], NumbersError> {
        let Pods { pods, leaves, nodes, lower, upper, cores, reach } = *self;
        let numbers = [pods, leaves, nodes, lower, upper, cores, reach];
        let names = ["pods", "leaves", "nodes", "lower", "upper", "cores", "reach"];
        NumbersError::check_zeros(std::array::from_fn::<_, 7, _>(|at| (names[at], numbers[at])))?;
        if reach > upper {
            return Err(NumbersError::TooManyCables);
        }
        let [pods, leaves, nodes, lower, upper, cores, reach] = numbers.map(u64::from);
        let ports = [
            ("leaf", nodes + lower),
            ("lower switch", leaves + upper),
            ("upper switch", lower + (cores * reach).div_ceil(upper)),
            ("core", pods.saturating_mul(reach)),
        ];
        NumbersError::check_ports(ports)?;
        // All numbers but that of leaves are below the greatest number of ports now, and that is one for lower switches.
        let cables = pods * (leaves * lower + lower * upper + cores * reach);
        let switches = pods * (leaves + lower + upper) + cores;
        NumbersError::check_counts([pods * leaves * nodes, switches, cables])?;
        Ok(ports.map(|(_, ports)| ports))
    }
}

impl fmt::Display for Pods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Pods { pods, leaves, nodes, lower, upper, cores, reach } = self;
        write!(
            f,
            "pods={pods},leaves={leaves},nodes={nodes},lower={lower},upper={upper},cores={cores},reach={reach}"
        )
    }
}

impl FromStr for Pods {
    type Err = NumbersError;

    /// Reads `pods=4,leaves=8,nodes=8,lower=8,upper=8,cores=16,reach=4`. What is left out is as in the
    /// [default](Pods::default).
    fn from_str(text: &str) -> Result<Self, NumbersError> {
        let mut shape = Pods::default();
        for written in Written::all(text) {
            let written = written?;
            let number = match written.name {
                "pods" => &mut shape.pods,
                "leaves" => &mut shape.leaves,
                "nodes" => &mut shape.nodes,
                "lower" => &mut shape.lower,
                "upper" => &mut shape.upper,
                "cores" => &mut shape.cores,
                "reach" => &mut shape.reach,
                _ => {
                    return Err(
                        written.unknown("pods, leaves, nodes, lower, upper, cores and reach")
                    );
                }
            };
            *number = written.value()?;
        }
        shape.check()?;
        Ok(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_are_there() {
        for pods in [4, 8, 16] {
            let shape = Pods { pods, ..Pods::default() };
            let fabric = shape.fabric(GuidOrder::Topological).unwrap();
            assert_eq!(fabric.nodes().len(), 64 * pods as usize);
            assert_eq!(fabric.switches().len(), 24 * pods as usize + 16);
            assert_eq!(fabric.inter_switch_cables().len(), (64 + 64 + 64) * pods as usize);
            assert_eq!(shape.to_string().parse(), Ok(shape));
        }
        let odd =
            "pods=3,leaves=5,nodes=2,lower=3,upper=7,cores=4,reach=3".parse::<Pods>().unwrap();
        let fabric = odd.fabric(GuidOrder::Shuffled(2)).unwrap();
        assert_eq!(fabric.inter_switch_cables().len(), 3 * (15 + 21 + 12));
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let wrong = [
            (Pods { cores: 0, ..Pods::default() }, NumbersError::Zero("cores")),
            (Pods { reach: 9, ..Pods::default() }, NumbersError::TooManyCables),
            (
                Pods { pods: 64, ..Pods::default() },
                NumbersError::Ports { switch: "core", ports: 256 },
            ),
        ];
        for (shape, error) in wrong {
            assert_eq!(shape.fabric(GuidOrder::Topological).unwrap_err(), error);
        }
    }
}
