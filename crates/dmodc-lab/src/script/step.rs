//! The event that one line of a script asks for, and the parts of the fabric that it concerns.

use dmodc::fabric::{FindError, Part};
use dmodc::{CableIndex, Degradation, Fabric, LeafRule, Live, Random, Ranking, SwitchIndex};
use dmodc_formats::ReadError;

use super::word::ScriptWord;
use crate::sim::{Sim, is_dead};

/// The two ways to name a cable, for error messages.
pub(super) const CABLE: &str = "a cable: SWITCH/PORT, or SWITCH SWITCH";

/// One event, to parts that the script names (`NamedParts`) or that were found in a fabric (`ScriptParts`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step<W> {
    /// Parts die, or work again.
    Change { what: W, dead: bool },
    /// A cable goes down and up this number of times.
    Flap { what: W, times: u32 },
    /// Everything works again.
    RepairAll,
    /// Nothing happens for this number of seconds.
    Wait(u32),
}

/// Parts of a fabric in the words of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NamedParts {
    /// The cable in a port.
    CableAt(ScriptWord),
    /// The first cable between two switches.
    CableBetween(ScriptWord, ScriptWord),
    Switch(ScriptWord),
    /// All cables of a switch to other switches.
    Uplinks(ScriptWord),
    Drawn(ScriptParts),
}

/// Parts of a fabric, found or to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ScriptParts {
    These(Vec<Part>),
    /// A number of cables between switches, and a seed.
    Cables(usize, u64),
    /// A number of switches that are not leaves, and a seed.
    Switches(usize, u64),
    /// All cables of some leaf to other switches.
    LeafUplinks,
}

impl NamedParts {
    /// Finds the parts that are named.
    pub(super) fn find(&self, fabric: &Fabric, line: u32) -> Result<ScriptParts, ReadError> {
        let wrong = |word: &ScriptWord, message: String| {
            let column = word.column;
            ReadError { line, column, message }
        };
        let unnamed = |word: &ScriptWord, error: FindError| wrong(word, error.to_string());
        let switch = |word: &ScriptWord| {
            fabric.find_switch(&word.text).map_err(|error| unnamed(word, error))
        };
        Ok(ScriptParts::These(match self {
            NamedParts::Drawn(parts) => return Ok(parts.clone()),
            NamedParts::Switch(word) => vec![Part::Switch(switch(word)?)],
            NamedParts::CableAt(word) => {
                let part = fabric.find_part(&word.text);
                match part.map_err(|error| unnamed(word, error))? {
                    Part::Switch(_) => {
                        let message = format!("'{}' is a switch; expected {CABLE}", word.text);
                        return Err(wrong(word, message));
                    }
                    cable @ Part::Cable(_) => vec![cable],
                }
            }
            NamedParts::CableBetween(from, to) => {
                let (a, b) = (switch(from)?, switch(to)?);
                let between = |ends: (SwitchIndex, SwitchIndex)| ends == (a, b) || ends == (b, a);
                let mut cables = cables(fabric, between);
                let none = || format!("no cable joins '{}' and '{}'", from.text, to.text);
                vec![cables.next().ok_or_else(|| wrong(from, none()))?]
            }
            NamedParts::Uplinks(word) => {
                let s = switch(word)?;
                cables(fabric, |ends| ends.0 == s || ends.1 == s).collect()
            }
        }))
    }
}

/// Returns the cables between two switches whose ends satisfy `wanted`.
fn cables(
    fabric: &Fabric,
    wanted: impl Fn((SwitchIndex, SwitchIndex)) -> bool,
) -> impl Iterator<Item = Part> {
    let all = fabric.inter_switch_cables().iter().enumerate();
    let wanted = all.filter(move |(_, cable)| wanted((cable.a.0, cable.b.0)));
    wanted.map(|(at, _)| Part::Cable(CableIndex::new(at)))
}

impl ScriptParts {
    /// Returns the parts. Random ones are drawn among those that work if they are to die, otherwise among the dead.
    pub(crate) fn of(&self, sim: &Sim, dies: bool) -> Result<Vec<Part>, String> {
        let fabric = sim.fabric();
        let can_change = |part: &Part| is_dead(sim.dead(), part) != dies;
        Ok(match self {
            ScriptParts::These(parts) => parts.clone(),
            ScriptParts::Cables(count, seed) => {
                drawn(cables(fabric, |_| true).filter(can_change), *count, *seed)
            }
            ScriptParts::Switches(count, seed) => {
                let leaves = leaves(fabric);
                let others = fabric.switch_indices().filter(|s| !leaves.contains(s));
                drawn(others.map(Part::Switch).filter(can_change), *count, *seed)
            }
            ScriptParts::LeafUplinks => {
                // The leaf of OpenSM itself must stay connected.
                let mut others = leaves(fabric).into_iter().filter(|s| Some(*s) != sim.attached());
                let leaf = others.next_back().ok_or("there is no leaf besides that of OpenSM")?;
                cables(fabric, |ends| ends.0 == leaf || ends.1 == leaf).collect()
            }
        })
    }
}

fn leaves(fabric: &Fabric) -> Vec<SwitchIndex> {
    let healthy = Degradation::none(fabric);
    Ranking::new(Live::new(fabric, &healthy), &LeafRule::Detect).leaves().to_vec()
}

/// Returns `count` of these parts, drawn at random.
fn drawn(parts: impl Iterator<Item = Part>, count: usize, seed: u64) -> Vec<Part> {
    let mut parts: Vec<Part> = parts.collect();
    Random::new(seed, 5).shuffle(&mut parts);
    parts.truncate(count);
    parts
}
