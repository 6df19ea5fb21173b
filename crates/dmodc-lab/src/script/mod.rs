//! What happens to a fabric: a line for each event. [`GRAMMAR`] is the language.
//!
//! A script is read in two steps. [`Script::read`] knows the words alone; [`Script::resolve`] finds the parts
//! of a fabric that are named, before anything is started. Both report line, column and what is allowed.

mod words;

use dmodc::fabric::{NameError, Part, Target};
use dmodc::{CableIndex, Degradation, Fabric, LeafRule, Live, Random, Ranking, SwitchIndex};
use dmodc_formats::ReadError;

use super::Sim;
use super::sim::is_dead;
use words::{CABLE, Word, Words, words};

/// The language of scripts, for help texts.
pub const GRAMMAR: &str = "\
A script has one event in each line; '#' begins a comment.

  kill PARTS             parts die
  repair PARTS           dead parts work again
  repair all             everything works again
  cut SWITCH             all cables of a switch to other switches die
  cut leaf               likewise, for some leaf
  flap CABLE TIMES       a cable goes down and up again, so many times
  flap cable TIMES       likewise, for some cable
  wait SECONDS           nothing happens

PARTS are
  cable CABLE            one cable
  cables COUNT [seed N]  random cables between switches
  switch SWITCH          one switch, with all its cables
  switches COUNT [seed N]  random switches that are not leaves
Random parts are drawn among those that work to kill them, among the dead ones to repair them.

CABLE is SWITCH/PORT, or SWITCH SWITCH for the first cable between two switches.
SWITCH is a name or a GUID; a name with blanks or '#' stands in double quotes.
";

/// Something to happen, to parts that are named (`What`) or known (`Parts`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step<W> {
    /// These die, or work again.
    Change { what: W, dead: bool },
    /// A cable goes down and up so many times.
    Flap { what: W, times: u32 },
    /// Everything works again.
    RepairAll,
    /// Nothing, for so many seconds.
    Wait(u32),
}

/// Parts of a fabric as a script names them.
#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// The cable in a port.
    CableAt(Word),
    /// The first cable between two switches.
    CableBetween(Word, Word),
    Switch(Word),
    /// All cables of a switch to other switches.
    Uplinks(Word),
    Drawn(Parts),
}

/// Parts of a fabric, found or to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Parts {
    These(Vec<Part>),
    /// A number of cables between switches, and a seed.
    Cables(usize, u64),
    /// A number of switches that are not leaves, and a seed.
    Switches(usize, u64),
    /// All cables upwards of a leaf.
    LeafUplinks,
}

/// A line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    number: u32,
    /// The event in its own words.
    event: String,
    step: Step<What>,
}

/// Events, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    lines: Vec<Line>,
}

impl Script {
    /// What can be seen in a minute: faults of every kind, and their repair.
    pub fn demo() -> Self {
        let text = "kill cables 1 seed 1\nkill switches 1 seed 2\nkill cables 60 seed 3\n\
                    repair all\nflap cable 3\ncut leaf\nrepair all\n";
        Script::read(text.as_bytes()).expect("the demo is a script")
    }

    /// Reads a script.
    ///
    /// # Errors
    /// The first word that is not as it should be, and what is allowed in its place.
    pub fn read(text: &[u8]) -> Result<Self, ReadError> {
        let mut lines = Vec::new();
        for (line, number) in text.split(|byte| *byte == b'\n').zip(1..) {
            let words = words(line, number)?;
            let event: Vec<String> = words.iter().map(Word::as_written).collect();
            if !event.is_empty() {
                let step = Words::new(&words, number).step()?;
                lines.push(Line { number, event: event.join(" "), step });
            }
        }
        Ok(Script { lines })
    }

    /// Returns each event in its own words, with the parts of this fabric that it names.
    ///
    /// # Errors
    /// The first name that means no part of the fabric, or several, with similar names or GUIDs.
    pub(super) fn resolve(&self, fabric: &Fabric) -> Result<Vec<(String, Step<Parts>)>, ReadError> {
        let resolved = |line: &Line| {
            let what = |what: &What| what.find(fabric, line.number);
            let step = match &line.step {
                Step::Change { what: named, dead } => {
                    Step::Change { what: what(named)?, dead: *dead }
                }
                Step::Flap { what: named, times } => {
                    Step::Flap { what: what(named)?, times: *times }
                }
                Step::RepairAll => Step::RepairAll,
                Step::Wait(seconds) => Step::Wait(*seconds),
            };
            Ok((line.event.clone(), step))
        };
        self.lines.iter().map(resolved).collect()
    }

    /// Checks that a fabric has all the parts that are named.
    ///
    /// # Errors
    /// The first name that means no part of the fabric, or several, with similar names or GUIDs.
    pub fn check(&self, fabric: &Fabric) -> Result<(), ReadError> {
        self.resolve(fabric).map(|_| ())
    }
}

impl What {
    /// Finds the parts that are named.
    fn find(&self, fabric: &Fabric, line: u32) -> Result<Parts, ReadError> {
        let wrong = |word: &Word, message: String| {
            let column = word.column;
            ReadError { line, column, message }
        };
        let unnamed = |word: &Word, error: NameError| wrong(word, error.to_string());
        let switch =
            |word: &Word| fabric.switch_called(&word.text).map_err(|error| unnamed(word, error));
        Ok(Parts::These(match self {
            What::Drawn(parts) => return Ok(parts.clone()),
            What::Switch(word) => vec![Part::Switch(switch(word)?)],
            What::CableAt(word) => {
                let part = Target::from(&*word.text).find(fabric);
                match part.map_err(|error| unnamed(word, error))? {
                    Part::Switch(_) => {
                        let message = format!("'{}' is a switch; expected {CABLE}", word.text);
                        return Err(wrong(word, message));
                    }
                    cable @ Part::Cable(_) => vec![cable],
                }
            }
            What::CableBetween(from, to) => {
                let (a, b) = (switch(from)?, switch(to)?);
                let between = |ends: (SwitchIndex, SwitchIndex)| ends == (a, b) || ends == (b, a);
                let mut cables = cables(fabric, between);
                let none = || format!("no cable joins '{}' and '{}'", from.text, to.text);
                vec![cables.next().ok_or_else(|| wrong(from, none()))?]
            }
            What::Uplinks(word) => {
                let s = switch(word)?;
                cables(fabric, |ends| ends.0 == s || ends.1 == s).collect()
            }
        }))
    }
}

/// The cables between two switches for which this holds.
fn cables(
    fabric: &Fabric,
    wanted: impl Fn((SwitchIndex, SwitchIndex)) -> bool,
) -> impl Iterator<Item = Part> {
    let all = fabric.inter_switch_cables().iter().enumerate();
    let wanted = all.filter(move |(_, cable)| wanted((cable.a.0, cable.b.0)));
    wanted.map(|(at, _)| Part::Cable(CableIndex::new(at)))
}

impl Parts {
    /// Returns the parts. Random ones are drawn among those that work if they are to die, else among the dead.
    pub(super) fn of(&self, sim: &Sim, dies: bool) -> Result<Vec<Part>, String> {
        let fabric = sim.fabric();
        let can_change = |part: &Part| is_dead(sim.dead(), part) != dies;
        Ok(match self {
            Parts::These(parts) => parts.clone(),
            Parts::Cables(count, seed) => {
                drawn(cables(fabric, |_| true).filter(can_change), *count, *seed)
            }
            Parts::Switches(count, seed) => {
                let leaves = leaves(fabric);
                let others = fabric.switch_indices().filter(|s| !leaves.contains(s));
                drawn(others.map(Part::Switch).filter(can_change), *count, *seed)
            }
            Parts::LeafUplinks => {
                // Not the one that OpenSM itself hangs on.
                let mut others = leaves(fabric).into_iter().filter(|s| Some(*s) != sim.attached());
                let leaf = others.next_back().ok_or("there is no other leaf")?;
                cables(fabric, |ends| ends.0 == leaf || ends.1 == leaf).collect()
            }
        })
    }
}

fn leaves(fabric: &Fabric) -> Vec<SwitchIndex> {
    let healthy = Degradation::none(fabric);
    Ranking::new(Live::new(fabric, &healthy), &LeafRule::Detect).leaves().to_vec()
}

/// Returns a number of these, at random.
fn drawn(parts: impl Iterator<Item = Part>, count: usize, seed: u64) -> Vec<Part> {
    let mut parts: Vec<Part> = parts.collect();
    Random::new(seed, 5).shuffle(&mut parts);
    parts.truncate(count);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::Pgft;

    fn fabric() -> Fabric {
        "2; 2,2; 1,2; 1,2".parse::<Pgft>().unwrap().fabric(Default::default())
    }

    /// The line, the column and what is wrong, whether with the words or with the names.
    fn wrong(text: &str) -> (u32, u32, String) {
        let read = Script::read(text.as_bytes());
        let error = read.and_then(|script| script.check(&fabric())).unwrap_err();
        (error.line, error.column, error.message)
    }

    #[test]
    fn lines_are_events() {
        let text = b"\r\n# nothing\nkill cable L1-0 \"L2-0\"# one\nwait 2\nrepair all\r\nkill cable L1-0/6";
        let script = Script::read(text).unwrap();
        let steps = script.resolve(&fabric()).unwrap();
        let names: Vec<&str> = steps.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(
            names,
            ["kill cable L1-0 \"L2-0\"", "wait 2", "repair all", "kill cable L1-0/6"]
        );
        let cable = |at| Parts::These(vec![Part::Cable(CableIndex::new(at))]);
        assert_eq!(steps[0].1, Step::Change { what: cable(0), dead: true });
        assert_eq!(steps[1].1, Step::Wait(2));
        assert_eq!(steps[3].1, Step::Change { what: cable(3), dead: true });
        assert_eq!(Script::demo().lines.len(), 7);
    }

    /// Every line of the grammar is read, and every word of it that is left out is missed.
    #[test]
    fn the_grammar_is_what_is_read() {
        let events = [
            "kill cable L1-0/5",
            "kill cable L1-0 L2-0",
            "repair cable L1-0/5",
            "kill cables 3",
            "repair cables 3 seed 7",
            "kill switch L2-1",
            "kill switches 2",
            "repair switches 2 seed 1",
            "repair all",
            "cut L1-1",
            "cut leaf",
            "flap L1-0/5 2",
            "flap L1-0 L2-0 2",
            "flap cable 4",
            "wait 1",
        ];
        for event in events {
            let read = Script::read(event.as_bytes()).unwrap();
            assert_eq!(read.check(&fabric()), Ok(()), "{event}");
            let keyword = event.split(' ').next().unwrap();
            assert!(GRAMMAR.contains(&format!("\n  {keyword} ")), "{event}");
            assert_eq!(wrong(&format!("{event} x")).0, 1, "{event} takes no more words");
        }
    }

    #[test]
    fn what_is_wrong_has_a_line_a_column_and_what_is_allowed() {
        for (text, line, column, what) in [
            ("kill", 1, 5, "expected cable CABLE, cables COUNT [seed N], switch SWITCH or"),
            ("\nkill  cables many", 2, 14, "expected a number of parts, not 'many'"),
            ("repair all\n explode", 2, 2, "expected kill PARTS, repair PARTS, repair all, cut"),
            ("kill node n1", 1, 6, "switches COUNT [seed N], not 'node'"),
            ("flap L1-0/5", 1, 12, "expected a number of times"),
            ("repair all now", 1, 12, "expected the end of the line, not 'now'"),
            ("wait -1", 1, 6, "expected a number of seconds, not '-1'"),
            ("cut", 1, 4, "expected a switch, or leaf"),
            ("cut \"L1", 1, 5, "this name has no closing quotation mark"),
            ("\"kill\" all", 1, 1, "expected kill PARTS"),
            ("kill cable L1-0 L9-0", 1, 17, "the most similar names are 'L1-0', 'L2-0'"),
            ("kill cable L1-0 L1-1", 1, 12, "no cable joins 'L1-0' and 'L1-1'"),
            ("kill cable L1-0", 1, 12, "'L1-0' is a switch; expected a cable: SWITCH/PORT, or"),
            ("kill cable L1-0/9", 1, 12, "no cable is in port 9 of 'L1-0'"),
            ("kill switch \"a b\"", 1, 13, "no switch has the name or GUID 'a b'"),
        ] {
            let found = wrong(text);
            assert_eq!((found.0, found.1), (line, column), "{text}: {}", found.2);
            assert!(found.2.contains(what), "{text}: {}", found.2);
        }
    }
}
