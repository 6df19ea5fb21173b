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
//! There may be one more level: pods, in which every leaf is cabled to every middle switch. Then middle switches are cabled to the
//! directors in the place of leaves.
//!
//! A leaf has c cables to each director, and the director has L line chips. Leaf l has its cables to the line chips
//!
//! - l·c, l·c + 1, l·c + 2 … (modulo L) if they are spread [consecutively](Spread::Consecutive),
//! - l, l + ⌊L/c⌋, l + 2·⌊L/c⌋ … (modulo L) if they are [strided](Spread::Strided).
//!
//! If c is less than L, this is no PGFT: a spine chip has several ways down to a leaf.

use std::fmt;
use std::str::FromStr;

use super::drawing::Drawing;
use super::numbers::{NumbersError, Written};
use super::{Fabric, GuidOrder};

/// Leaves that are cabled to directors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directors {
    /// The number of leaves; in each pod, if there are pods.
    pub leaves: u32,
    /// The number of nodes on each leaf.
    pub nodes: u32,
    /// The number of directors.
    pub directors: u32,
    /// The number of line chips of each director.
    pub lines: u32,
    /// The number of spine chips of each director.
    pub spines: u32,
    /// The number of cables of each leaf, or of each middle switch of pods, to all directors together. Parallel cables count once.
    pub cables: u32,
    /// The number of parallel cables in the place of each cable between switches.
    pub parallel: u32,
    /// How these cables are spread over line chips.
    pub spread: Spread,
    /// The number of pods; 0 if leaves are cabled to the directors.
    pub pods: u32,
    /// The number of middle switches of each pod.
    pub middle: u32,
}

/// How the cables of a leaf are spread over the line chips of a director.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spread {
    /// To neighbouring line chips; the next leaf begins after them.
    #[default]
    Consecutive,
    /// To line chips at equal distances, as far apart as possible; the next leaf begins one further.
    Strided,
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Spread::Consecutive => "consecutive",
            Spread::Strided => "strided",
        })
    }
}

impl FromStr for Spread {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Spread::Consecutive, Spread::Strided];
        let known = all.into_iter().find(|spread| spread.to_string() == text);
        known.ok_or_else(|| format!("expected consecutive or strided, not '{text}'"))
    }
}

impl Default for Directors {
    /// Returns 16 leaves with 8 nodes and 8 cables each, to two directors with 8 line chips and 8 spine chips.
    fn default() -> Self {
        Directors {
            leaves: 16,
            nodes: 8,
            directors: 2,
            lines: 8,
            spines: 8,
            cables: 8,
            parallel: 1,
            spread: Spread::Consecutive,
            pods: 0,
            middle: 8,
        }
    }
}

impl Directors {
    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.leaf_count() as usize * self.nodes as usize
    }

    /// Returns the number of switches: leaves, middle switches, line chips and spine chips.
    pub fn switch_count(&self) -> usize {
        let chips = self.directors as usize * (self.lines as usize + self.spines as usize);
        let middle = if self.pods > 0 { self.cabled_count() } else { 0 };
        (self.leaf_count() + middle) as usize + chips
    }

    /// Returns the number of all leaves.
    fn leaf_count(&self) -> u64 {
        u64::from(self.leaves) * u64::from(self.pods.max(1))
    }

    /// Returns the number of switches that are cabled to the directors: leaves, or middle switches of pods.
    fn cabled_count(&self) -> u64 {
        u64::from(self.pods) * u64::from(self.middle)
            + if self.pods > 0 { 0 } else { self.leaf_count() }
    }

    /// Returns the fabric: nodes leaf by leaf, then leaves, middle switches, line chips and spine chips. LIDs are given in this order.
    ///
    /// # Errors
    /// If there is no such fabric.
    pub fn fabric(&self, guids: GuidOrder) -> Result<Fabric, NumbersError> {
        let line_ports = self.check()?;
        let middle = if self.pods > 0 { vec![self.pods * self.middle] } else { vec![] };
        let chips = [self.directors * self.lines, self.directors * self.spines];
        let levels = [&[self.leaf_count() as u32], &middle[..], &chips].concat();
        let mut drawing = Drawing::new(self.node_count(), &levels, guids);
        let cabled = self.draw_leaves(&mut drawing);
        let spine_ports = u64::from(self.lines) * u64::from(self.parallel);
        let mut chips = |kind: &str, count: u32, ports: u64| -> Vec<Vec<usize>> {
            let mut of_director =
                |k: u32| drawing.switches((0..count).map(|i| format!("D{k}-{kind}-{i}")), ports);
            (0..self.directors).map(&mut of_director).collect()
        };
        let lines = chips("line", self.lines, line_ports);
        let spines = chips("spine", self.spines, spine_ports);
        for (l, below) in (0..).zip(&cabled) {
            for lines in &lines {
                for j in 0..self.each() {
                    drawing.cable(*below, lines[self.line(l, j)], self.parallel);
                }
            }
        }
        for (lines, spines) in lines.iter().zip(&spines) {
            for line in lines {
                spines.iter().for_each(|spine| drawing.cable(*line, *spine, self.parallel));
            }
        }
        Ok(drawing.finish())
    }

    /// Draws the leaves with their nodes, and pods. Returns the switches that are to be cabled to the directors.
    fn draw_leaves(&self, drawing: &mut Drawing) -> Vec<usize> {
        let [nodes, cables, parallel] = [self.nodes, self.cables, self.parallel].map(u64::from);
        if self.pods == 0 {
            let names = (0..self.leaves).map(|l| format!("leaf-{l}"));
            let leaves = drawing.switches(names, nodes + cables * parallel);
            drawing.put_nodes(&leaves, self.nodes);
            return leaves;
        }
        let mut of_pods = |kind: &str, count: u32, ports: u64| -> Vec<Vec<usize>> {
            let of_pod =
                |p: u32| drawing.switches((0..count).map(|i| format!("P{p}-{kind}-{i}")), ports);
            (0..self.pods).map(of_pod).collect()
        };
        let leaves = of_pods("leaf", self.leaves, nodes + u64::from(self.middle) * parallel);
        let middle_ports = (u64::from(self.leaves) + cables) * parallel;
        let middle = of_pods("middle", self.middle, middle_ports);
        drawing.put_nodes(&leaves.concat(), self.nodes);
        for (leaves, middle) in leaves.iter().zip(&middle) {
            for leaf in leaves {
                middle.iter().for_each(|above| drawing.cable(*leaf, *above, self.parallel));
            }
        }
        middle.concat()
    }

    /// Returns the number of cables of a leaf to each director.
    fn each(&self) -> u64 {
        u64::from(self.cables / self.directors)
    }

    /// Returns the line chip of the j-th cable of a leaf to a director.
    fn line(&self, leaf: u64, j: u64) -> usize {
        let (lines, each) = (u64::from(self.lines), self.each());
        let line = match self.spread {
            Spread::Consecutive => leaf * each + j,
            Spread::Strided => leaf + j * (lines / each).max(1),
        };
        (line % lines) as usize
    }

    /// Checks all numbers. Returns how many ports a line chip needs.
    fn check(&self) -> Result<u64, NumbersError> {
        let Directors { leaves, nodes, directors, lines, spines, cables, parallel, .. } = *self;
        let numbers = [leaves, nodes, directors, lines, spines, cables, parallel];
        let names = ["leaves", "nodes", "directors", "lines", "spines", "cables", "parallel"];
        NumbersError::check_zeros(std::array::from_fn::<_, 7, _>(|at| (names[at], numbers[at])))?;
        if self.pods > 0 {
            NumbersError::check_zeros([("middle", self.middle)])?;
        }
        if !cables.is_multiple_of(directors) {
            return Err(NumbersError::UnevenDirectors { cables, directors });
        }
        let [leaves, nodes, directors, lines, spines, cables, parallel] = numbers.map(u64::from);
        let [pods, middle] = [self.pods, self.middle].map(u64::from);
        let (all_leaves, cabled) = (self.leaf_count(), self.cabled_count());
        let inside = pods.saturating_mul(leaves).saturating_mul(middle);
        let between = directors.saturating_mul(lines).saturating_mul(spines).saturating_add(inside);
        let all_cables = cabled.saturating_mul(cables).saturating_add(between);
        NumbersError::check_counts([
            all_leaves.saturating_mul(nodes),
            all_leaves
                .saturating_add(pods.saturating_mul(middle))
                .saturating_add(directors.saturating_mul(lines.saturating_add(spines))),
            all_cables.saturating_mul(parallel),
        ])?;
        let mut to_leaves = vec![0u64; self.lines as usize];
        for l in 0..cabled {
            (0..self.each()).for_each(|j| to_leaves[self.line(l, j)] += 1);
        }
        let line_ports = (to_leaves.into_iter().max().unwrap_or(0) + spines) * parallel;
        let [leaf_ports, middle_ports] = match pods {
            0 => [nodes + cables * parallel, 0],
            _ => [nodes + middle * parallel, (leaves + cables) * parallel],
        };
        NumbersError::check_ports([
            ("line chip", line_ports),
            ("leaf", leaf_ports),
            ("middle switch", middle_ports),
            ("spine chip", lines * parallel),
        ])?;
        Ok(line_ports)
    }
}

impl fmt::Display for Directors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let &Directors {
            leaves, nodes, directors, lines, spines, cables, parallel, spread, ..
        } = self;
        write!(
            f,
            "leaves={leaves},nodes={nodes},directors={directors},lines={lines},spines={spines},cables={cables},\
             parallel={parallel},spread={spread}"
        )?;
        match self.pods {
            0 => Ok(()),
            pods => write!(f, ",pods={pods},middle={}", self.middle),
        }
    }
}

impl FromStr for Directors {
    type Err = NumbersError;

    /// Reads `leaves=16,nodes=8,directors=2,lines=8,spines=8,cables=8,parallel=1,spread=consecutive,pods=0,middle=8`. What is left
    /// out is as in the [default](Directors::default).
    fn from_str(text: &str) -> Result<Self, NumbersError> {
        let mut shape = Directors::default();
        for written in Written::all(text) {
            let written = written?;
            let number = match written.name {
                "leaves" => &mut shape.leaves,
                "nodes" => &mut shape.nodes,
                "directors" => &mut shape.directors,
                "lines" => &mut shape.lines,
                "spines" => &mut shape.spines,
                "cables" => &mut shape.cables,
                "parallel" => &mut shape.parallel,
                "pods" => &mut shape.pods,
                "middle" => &mut shape.middle,
                "spread" => {
                    shape.spread = written.value()?;
                    continue;
                }
                _ => {
                    return Err(written.unknown(
                        "leaves, nodes, directors, lines, spines, cables, parallel, spread, pods and middle",
                    ));
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
        for parallel in [1, 3] {
            for spread in [Spread::Consecutive, Spread::Strided] {
                let shape = Directors { parallel, spread, ..Directors::default() };
                let fabric = shape.fabric(GuidOrder::Shuffled(3)).unwrap();
                assert_eq!(fabric.nodes().len(), shape.node_count());
                assert_eq!(fabric.switches().len(), shape.switch_count());
                let cables = (16 * 8 + 2 * 8 * 8) * parallel as usize;
                assert_eq!(fabric.inter_switch_cables().len(), cables);
                assert!(fabric.switches().iter().all(|s| u32::from(s.ports) == 16 * parallel
                    || u32::from(s.ports) == 8 * parallel
                    || u32::from(s.ports) == 8 + 8 * parallel));
            }
        }
    }

    #[test]
    fn pods_are_between_leaves_and_directors() {
        for parallel in [1, 2] {
            let shape =
                Directors { pods: 4, leaves: 3, middle: 5, parallel, ..Directors::default() };
            let fabric = shape.fabric(GuidOrder::Topological).unwrap();
            assert_eq!((fabric.nodes().len(), shape.node_count()), (96, 96));
            assert_eq!((fabric.switches().len(), shape.switch_count()), (64, 64));
            let cables = (4 * 3 * 5 + 20 * 8 + 2 * 8 * 8) * parallel as usize;
            assert_eq!(fabric.inter_switch_cables().len(), cables);
            assert_eq!(shape.to_string().parse(), Ok(shape));
        }
        let wrong = Directors { pods: 2, middle: 0, ..Directors::default() };
        assert_eq!(wrong.fabric(GuidOrder::Topological).unwrap_err(), NumbersError::Zero("middle"));
    }

    #[test]
    fn cables_are_spread_as_asked() {
        let shape = |spread| Directors { lines: 10, spread, ..Directors::default() };
        let lines =
            |spread, leaf| -> Vec<usize> { (0..4).map(|j| shape(spread).line(leaf, j)).collect() };
        assert_eq!(lines(Spread::Consecutive, 2), [8, 9, 0, 1]);
        assert_eq!(lines(Spread::Strided, 2), [2, 4, 6, 8]);
        assert_eq!(lines(Spread::Strided, 7), [7, 9, 1, 3]);
        for spread in [Spread::Consecutive, Spread::Strided] {
            for cables in (2..=20).step_by(2) {
                let shape = Directors { cables, ..shape(spread) };
                let mut lines: Vec<usize> = (0..shape.each()).map(|j| shape.line(3, j)).collect();
                lines.sort_unstable();
                lines.dedup();
                assert_eq!(lines.len(), shape.each() as usize, "{spread}, {cables}: each once");
                assert!(shape.fabric(GuidOrder::Topological).is_ok());
            }
        }
    }

    #[test]
    fn impossible_numbers_are_refused() {
        let wrong = [
            (Directors { leaves: 0, ..Directors::default() }, NumbersError::Zero("leaves")),
            (
                Directors { cables: 7, ..Directors::default() },
                NumbersError::UnevenDirectors { cables: 7, directors: 2 },
            ),
            (
                Directors { nodes: 250, ..Directors::default() },
                NumbersError::Ports { switch: "leaf", ports: 258 },
            ),
            (Directors { leaves: u32::MAX, ..Directors::default() }, NumbersError::TooLarge),
        ];
        for (shape, error) in wrong {
            assert_eq!(shape.fabric(GuidOrder::Topological).unwrap_err(), error);
        }
    }

    #[test]
    fn the_notation_comes_back() {
        let shape = Directors { leaves: 80, spread: Spread::Strided, ..Directors::default() };
        assert_eq!(shape.to_string().parse(), Ok(shape));
        assert_eq!("".parse(), Ok(Directors::default()));
        assert_eq!(" leaves=80 , spread=strided ".parse(), Ok(shape));
        for (wrong, why) in [
            ("leaves", "'leaves' has no value"),
            ("leafs=3", "'leafs' is not known"),
            ("leaves=x", "leaves=x"),
            ("spread=wide", "expected consecutive or strided"),
            ("leaves=3,leaves=4", "'leaves' is there twice"),
            ("nodes=250", "258 ports"),
        ] {
            let error = wrong.parse::<Directors>().unwrap_err().to_string();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }
}
