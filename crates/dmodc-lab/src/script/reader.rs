//! Reads the event of a line from its words.

use std::str::FromStr;

use dmodc_formats::ReadError;

use super::step::{CABLE, NamedParts, ScriptParts, Step};
use super::word::ScriptWord;

const EVENTS: &str = "kill PARTS, repair PARTS, repair all, cut SWITCH, cut leaf, flap CABLE TIMES, \
                      flap cable TIMES or wait SECONDS";
const PARTS: &str = "cable CABLE, cables COUNT [seed N], switch SWITCH or switches COUNT [seed N]";

/// Reads the words of a line one after the other.
pub(super) struct WordReader<'a> {
    words: &'a [ScriptWord],
    /// The number of words that are read.
    at: usize,
    line: u32,
}

impl<'a> WordReader<'a> {
    pub(super) fn new(words: &'a [ScriptWord], line: u32) -> Self {
        WordReader { words, at: 0, line }
    }

    /// Reads the event. It must use up all words.
    pub(super) fn step(mut self) -> Result<Step<NamedParts>, ReadError> {
        let step = match self.keyword(EVENTS)? {
            "kill" => Step::Change { what: self.parts()?, dead: true },
            "repair" if self.takes("all") => Step::RepairAll,
            "repair" => Step::Change { what: self.parts()?, dead: false },
            "cut" => {
                let what = match self.takes("leaf") {
                    true => NamedParts::Drawn(ScriptParts::LeafUplinks),
                    false => NamedParts::Uplinks(self.word("a switch, or leaf")?),
                };
                Step::Change { what, dead: true }
            }
            "flap" => {
                let what = match self.takes("cable") {
                    true => NamedParts::Drawn(ScriptParts::Cables(1, 0)),
                    false => self.cable(1)?,
                };
                Step::Flap { what, times: self.number("a number of times")? }
            }
            "wait" => Step::Wait(self.number("a number of seconds")?),
            _ => return Err(self.expected(self.at - 1, EVENTS)),
        };
        match self.at == self.words.len() {
            true => Ok(step),
            false => Err(self.expected(self.at, "the end of the line")),
        }
    }

    fn parts(&mut self) -> Result<NamedParts, ReadError> {
        Ok(match self.keyword(PARTS)? {
            "cable" => self.cable(0)?,
            "cables" => {
                let (count, seed) = self.draw()?;
                NamedParts::Drawn(ScriptParts::Cables(count, seed))
            }
            "switch" => NamedParts::Switch(self.word("a switch")?),
            "switches" => {
                let (count, seed) = self.draw()?;
                NamedParts::Drawn(ScriptParts::Switches(count, seed))
            }
            _ => return Err(self.expected(self.at - 1, PARTS)),
        })
    }

    /// Reads the number of parts that are drawn, and the seed.
    fn draw(&mut self) -> Result<(usize, u64), ReadError> {
        let count = self.number("a number of parts")?;
        Ok((count, if self.takes("seed") { self.number("a seed")? } else { 0 }))
    }

    /// Reads a cable that is followed by this number of further words.
    fn cable(&mut self, further: usize) -> Result<NamedParts, ReadError> {
        let first = self.word(CABLE)?;
        match self.words.len() > self.at + further {
            true => Ok(NamedParts::CableBetween(first, self.word(CABLE)?)),
            false => Ok(NamedParts::CableAt(first)),
        }
    }

    /// Reads a keyword. A word in quotation marks is a name, never a keyword.
    fn keyword(&mut self, allowed: &str) -> Result<&'a str, ReadError> {
        let word = self.words.get(self.at).filter(|word| !word.is_quoted);
        let word = word.ok_or_else(|| self.expected(self.at, allowed))?;
        self.at += 1;
        Ok(&word.text)
    }

    /// Reads this keyword if it is the next word, and returns whether it was.
    fn takes(&mut self, keyword: &str) -> bool {
        let next = self.words.get(self.at);
        let is_next = next.is_some_and(|word| word.text == keyword && !word.is_quoted);
        self.at += usize::from(is_next);
        is_next
    }

    fn word(&mut self, what: &str) -> Result<ScriptWord, ReadError> {
        let word = self.words.get(self.at).ok_or_else(|| self.expected(self.at, what))?;
        self.at += 1;
        Ok(word.clone())
    }

    fn number<N: FromStr>(&mut self, what: &str) -> Result<N, ReadError> {
        let word = self.word(what)?;
        word.text.parse().map_err(|_| self.expected(self.at - 1, what))
    }

    /// Returns the error that the word at this place is wrong or missing.
    fn expected(&self, at: usize, what: &str) -> ReadError {
        let (column, message) = match (self.words.get(at), self.words.last()) {
            (Some(word), _) => (word.column, format!("expected {what}, not '{}'", word.text)),
            (None, Some(last)) => {
                let length = last.as_written().len() as u32;
                (last.column + length, format!("expected {what}"))
            }
            (None, None) => (1, format!("expected {what}")),
        };
        ReadError { line: self.line, column, message }
    }
}
