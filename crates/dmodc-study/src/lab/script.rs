//! What happens to a fabric: a line for each event.
//!
//! ```text
//! kill cable L1-0 L2-3        # one cable between two switches, by name or GUID
//! kill cables 60 seed 7       # so many of those between switches, at random
//! kill switch L3-5
//! kill switches 2             # of those that are not leaves
//! cut L1-4                    # all cables of a leaf upwards; "cut leaf" takes any
//! flap L1-0 L2-3 4            # down and up again, four times; "flap cable 4" takes any
//! repair all                  # or the words of a kill
//! wait 2                      # seconds
//! ```

use std::collections::HashMap;
use std::str::FromStr;

use dmodc::fabric::Part;
use dmodc::{CableIndex, Degradation, Fabric, LeafRule, Live, Random, Ranking, SwitchIndex};

use super::Sim;
use super::sim::is_dead;

/// Something to happen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// These die, or work again.
    Change { what: What, dead: bool },
    /// A cable goes down and up so many times.
    Flap { what: What, times: u32 },
    /// Everything works again.
    RepairAll,
    /// Nothing, for so many seconds.
    Wait(u32),
}

/// Parts of a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    Cable(String, String),
    Cables(usize, u64),
    Switch(String),
    Switches(usize, u64),
    /// The cables upwards of a leaf.
    Uplinks(String),
}

/// Events, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    pub(super) steps: Vec<(String, Step)>,
}

/// What is wrong with a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub what: String,
}

impl Script {
    /// What can be seen in a minute: faults of every kind, and their repair.
    pub fn demo() -> Self {
        let text = "kill cables 1 seed 1\nkill switches 1 seed 2\nkill cables 60 seed 3\n\
                    repair all\nflap cable 3\ncut leaf\nrepair all\n";
        text.parse().expect("the demo is a script")
    }
}

impl FromStr for Script {
    type Err = ScriptError;

    fn from_str(text: &str) -> Result<Self, ScriptError> {
        let mut steps = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let words: Vec<&str> =
                line.split('#').next().unwrap_or("").split_whitespace().collect();
            if words.is_empty() {
                continue;
            }
            let step = step(&words).map_err(|what| ScriptError { line: at + 1, what })?;
            steps.push((words.join(" "), step));
        }
        Ok(Script { steps })
    }
}

fn step(words: &[&str]) -> Result<Step, String> {
    let number = |word: &str| -> Result<u32, String> {
        word.parse().map_err(|_| format!("'{word}' is no number"))
    };
    Ok(match *words {
        ["repair", "all"] => Step::RepairAll,
        ["kill", ref rest @ ..] => Step::Change { what: what(rest)?, dead: true },
        ["repair", ref rest @ ..] => Step::Change { what: what(rest)?, dead: false },
        ["cut", leaf] => Step::Change { what: What::Uplinks(leaf.into()), dead: true },
        ["flap", "cable", times] => Step::Flap { what: What::Cables(1, 0), times: number(times)? },
        ["flap", a, b, times] => {
            Step::Flap { what: What::Cable(a.into(), b.into()), times: number(times)? }
        }
        ["wait", seconds] => Step::Wait(number(seconds)?),
        _ => return Err(format!("'{}' is no event", words.join(" "))),
    })
}

fn what(words: &[&str]) -> Result<What, String> {
    let number = |word: &str| -> Result<u64, String> {
        word.parse().map_err(|_| format!("'{word}' is no number"))
    };
    Ok(match *words {
        ["cable", a, b] => What::Cable(a.into(), b.into()),
        ["switch", s] => What::Switch(s.into()),
        ["cables", count] => What::Cables(number(count)? as usize, 0),
        ["cables", count, "seed", seed] => What::Cables(number(count)? as usize, number(seed)?),
        ["switches", count] => What::Switches(number(count)? as usize, 0),
        ["switches", count, "seed", seed] => What::Switches(number(count)? as usize, number(seed)?),
        _ => return Err(format!("'{}' are no parts of a fabric", words.join(" "))),
    })
}

impl What {
    /// The parts that are meant; random ones among those that are alive.
    pub(super) fn parts(&self, sim: &Sim) -> Result<Vec<Part>, String> {
        let (fabric, dead) = (sim.fabric(), sim.dead());
        let mut names: HashMap<String, SwitchIndex> = HashMap::new();
        for s in fabric.switch_indices() {
            names.insert(fabric.switch(s).name.to_string(), s);
            names.insert(fabric.switch(s).guid.to_string(), s);
        }
        let find =
            |name: &str| names.get(name).copied().ok_or(format!("there is no switch '{name}'"));
        let is_alive = |part: &Part| !is_dead(dead, part);
        Ok(match self {
            What::Switch(name) => vec![Part::Switch(find(name)?)],
            What::Cable(a, b) => {
                let (a, b) = (find(a)?, find(b)?);
                let cables = fabric.inter_switch_cables().iter().enumerate();
                let mut between = cables.filter(|(_, cable)| {
                    let ends = (cable.a.0, cable.b.0);
                    ends == (a, b) || ends == (b, a)
                });
                let (at, _) = between.next().ok_or("no cable joins these switches")?;
                vec![Part::Cable(CableIndex::new(at))]
            }
            What::Cables(count, seed) => {
                let all = (0..fabric.inter_switch_cables().len()).map(CableIndex::new);
                some(all.map(Part::Cable).filter(is_alive).collect(), *count, *seed)
            }
            What::Switches(count, seed) => {
                let leaves = leaves(fabric);
                let others = fabric.switch_indices().filter(|s| !leaves.contains(s));
                some(others.map(Part::Switch).filter(is_alive).collect(), *count, *seed)
            }
            What::Uplinks(name) => {
                let leaf = match name.as_str() {
                    // Not the one that OpenSM itself hangs on.
                    "leaf" => {
                        let others = leaves(fabric).into_iter();
                        let mut others = others.filter(|s| Some(*s) != sim.attached());
                        others.next_back().ok_or("there is no other leaf")?
                    }
                    name => find(name)?,
                };
                let cables = fabric.inter_switch_cables().iter().enumerate();
                let of = cables.filter(|(_, cable)| cable.a.0 == leaf || cable.b.0 == leaf);
                of.map(|(at, _)| Part::Cable(CableIndex::new(at))).collect()
            }
        })
    }
}

fn leaves(fabric: &Fabric) -> Vec<SwitchIndex> {
    let healthy = Degradation::none(fabric);
    Ranking::new(Live::new(fabric, &healthy), &LeafRule::Detect).leaves().to_vec()
}

/// So many of these, at random.
fn some(mut parts: Vec<Part>, count: usize, seed: u64) -> Vec<Part> {
    Random::new(seed, 5).shuffle(&mut parts);
    parts.truncate(count);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_events() {
        let script: Script =
            "\n# nothing\nkill cable a b # one\nwait 2\nrepair all".parse().unwrap();
        let names: Vec<&str> = script.steps.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["kill cable a b", "wait 2", "repair all"]);
        let cable = What::Cable("a".into(), "b".into());
        assert_eq!(script.steps[0].1, Step::Change { what: cable, dead: true });
        assert_eq!(Script::demo().steps.len(), 7);
    }

    #[test]
    fn what_is_no_event_is_told_with_its_line() {
        for (text, line, what) in [
            ("kill", 1, "are no parts"),
            ("\nkill cables many", 2, "'many' is no number"),
            ("repair all\nexplode", 2, "'explode' is no event"),
            ("flap a b", 1, "is no event"),
        ] {
            let error = text.parse::<Script>().unwrap_err();
            assert_eq!(error.line, line);
            assert!(error.what.contains(what), "{error}");
        }
    }
}
