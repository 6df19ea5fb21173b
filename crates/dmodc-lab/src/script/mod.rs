//! Scripts of faults and repairs: a line for each event. [`GRAMMAR`] describes the language.
//!
//! A script is read in two steps. [`Script::read`] knows only the words; [`Script::resolve`] finds the parts
//! of a fabric that are named, before anything is started. Both report line, column and what is allowed.

mod reader;
mod step;
mod word;

pub(crate) use step::{ScriptParts, Step};

use dmodc::Fabric;
use dmodc_formats::ReadError;

use self::reader::WordReader;
use self::step::NamedParts;
use self::word::{ScriptWord, words};

/// The language of scripts, for help texts.
pub const GRAMMAR: &str = "\
A script has one event in each line; '#' begins a comment.

  kill PARTS             these parts fail
  repair PARTS           these failed parts work again
  repair all             all failed parts work again
  cut SWITCH             all cables from a switch to other switches fail
  cut leaf               the same for a leaf that the lab chooses
  flap CABLE TIMES       a cable fails and works again, TIMES times
  flap cable TIMES       the same for a cable that the lab chooses
  wait SECONDS           nothing happens for this time

PARTS is one of these:
  cable CABLE            one cable
  cables COUNT [seed N]  random cables between switches
  switch SWITCH          one switch, with all its cables
  switches COUNT [seed N]  random switches that are not leaves
'kill' draws random parts among those that work, 'repair' among those that have failed.

CABLE is SWITCH/PORT, or SWITCH SWITCH for the first cable between two switches.
SWITCH is a name or a GUID. Put a name with blanks or '#' into double quotes.
";

/// A line of a script, as read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ScriptLine {
    number: u32,
    /// The event in the words of the script.
    event: String,
    step: Step<NamedParts>,
}

/// A line of a script, with parts of a fabric.
pub(crate) struct ResolvedLine {
    /// The event in the words of the script.
    pub(crate) event: String,
    pub(crate) step: Step<ScriptParts>,
}

/// A list of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    lines: Vec<ScriptLine>,
}

impl Script {
    /// Returns the script of the demonstration, which takes a minute: faults of every kind, and their repair.
    pub fn demo() -> Self {
        let text = "kill cables 1 seed 1\nkill switches 1 seed 2\nkill cables 60 seed 3\n\
                    repair all\nflap cable 3\ncut leaf\nrepair all\n";
        Script::read(text.as_bytes()).expect("the demo is a script")
    }

    /// Reads a script.
    ///
    /// # Errors
    /// Names the first wrong word, and what is allowed in its place.
    pub fn read(text: &[u8]) -> Result<Self, ReadError> {
        let mut lines = Vec::new();
        for (line, number) in text.split(|byte| *byte == b'\n').zip(1..) {
            let words = words(line, number)?;
            let event: Vec<String> = words.iter().map(ScriptWord::as_written).collect();
            if !event.is_empty() {
                let step = WordReader::new(&words, number).step()?;
                lines.push(ScriptLine { number, event: event.join(" "), step });
            }
        }
        Ok(Script { lines })
    }

    /// Finds the parts of a fabric that the events name.
    ///
    /// # Errors
    /// Reports the first name that means no part of the fabric, or several, with similar names or GUIDs.
    pub(crate) fn resolve(&self, fabric: &Fabric) -> Result<Vec<ResolvedLine>, ReadError> {
        let resolved = |line: &ScriptLine| {
            let what = |what: &NamedParts| what.find(fabric, line.number);
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
            Ok(ResolvedLine { event: line.event.clone(), step })
        };
        self.lines.iter().map(resolved).collect()
    }

    /// Checks that a fabric has all the parts that are named.
    ///
    /// # Errors
    /// Reports the first name that means no part of the fabric, or several, with similar names or GUIDs.
    pub fn check(&self, fabric: &Fabric) -> Result<(), ReadError> {
        self.resolve(fabric).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::fabric::Part;
    use dmodc::{CableIndex, Pgft};

    fn fabric() -> Fabric {
        "2; 2,2; 1,2; 1,2".parse::<Pgft>().unwrap().fabric(Default::default())
    }

    /// Returns line, column and message of the error, whether it is in the words or in the names.
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
        let names: Vec<&str> = steps.iter().map(|line| line.event.as_str()).collect();
        assert_eq!(
            names,
            ["kill cable L1-0 \"L2-0\"", "wait 2", "repair all", "kill cable L1-0/6"]
        );
        let cable = |at| ScriptParts::These(vec![Part::Cable(CableIndex::new(at))]);
        assert_eq!(steps[0].step, Step::Change { what: cable(0), dead: true });
        assert_eq!(steps[1].step, Step::Wait(2));
        assert_eq!(steps[3].step, Step::Change { what: cable(3), dead: true });
        assert_eq!(Script::demo().lines.len(), 7);
    }

    /// Every line of the grammar is read, and one more word is an error.
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
            ("kill cable L1-0/9", 1, 12, "port 9 of 'L1-0' has no cable"),
            ("kill switch \"a b\"", 1, 13, "no switch has the name or GUID 'a b'"),
        ] {
            let found = wrong(text);
            assert_eq!((found.0, found.1), (line, column), "{text}: {}", found.2);
            assert!(found.2.contains(what), "{text}: {}", found.2);
        }
    }
}
