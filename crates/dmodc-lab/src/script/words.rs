//! The words of a line, and the events that they make.

use std::str::FromStr;

use dmodc_formats::ReadError;

use super::{Parts, Step, What};

const EVENTS: &str = "kill PARTS, repair PARTS, repair all, cut SWITCH, cut leaf, flap CABLE TIMES, \
                      flap cable TIMES or wait SECONDS";
const PARTS: &str = "cable CABLE, cables COUNT [seed N], switch SWITCH or switches COUNT [seed N]";
pub(super) const CABLE: &str = "a cable: SWITCH/PORT, or SWITCH SWITCH";

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    /// In bytes, from 1.
    pub(super) column: u32,
    is_quoted: bool,
}

impl Word {
    pub(super) fn as_written(&self) -> String {
        if self.is_quoted { format!("\"{}\"", self.text) } else { self.text.clone() }
    }
}

/// Returns the words of a line, without its comment.
pub(super) fn words(line: &[u8], number: u32) -> Result<Vec<Word>, ReadError> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(blanks) = line[at..].iter().position(|byte| !byte.is_ascii_whitespace()) {
        at += blanks;
        let (column, is_quoted) = (at as u32 + 1, line[at] == b'"');
        let length = match line[at] {
            b'#' => break,
            b'"' => {
                at += 1;
                line[at..].iter().position(|byte| *byte == b'"').ok_or_else(|| ReadError {
                    line: number,
                    column,
                    message: "this name has no closing quotation mark".into(),
                })?
            }
            _ => {
                let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'#';
                line[at..].iter().position(ends).unwrap_or(line.len() - at)
            }
        };
        let text = String::from_utf8_lossy(&line[at..at + length]).into_owned();
        words.push(Word { text, column, is_quoted });
        at += length + usize::from(is_quoted);
    }
    Ok(words)
}

/// Reads the words of a line one after the other.
pub(super) struct Words<'a> {
    words: &'a [Word],
    /// How many are read.
    at: usize,
    line: u32,
}

impl<'a> Words<'a> {
    pub(super) fn new(words: &'a [Word], line: u32) -> Self {
        Words { words, at: 0, line }
    }

    /// Reads the event that all words are.
    pub(super) fn step(mut self) -> Result<Step<What>, ReadError> {
        let step = match self.keyword(EVENTS)? {
            "kill" => Step::Change { what: self.parts()?, dead: true },
            "repair" if self.takes("all") => Step::RepairAll,
            "repair" => Step::Change { what: self.parts()?, dead: false },
            "cut" => {
                let what = match self.takes("leaf") {
                    true => What::Drawn(Parts::LeafUplinks),
                    false => What::Uplinks(self.word("a switch, or leaf")?),
                };
                Step::Change { what, dead: true }
            }
            "flap" => {
                let what = match self.takes("cable") {
                    true => What::Drawn(Parts::Cables(1, 0)),
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

    fn parts(&mut self) -> Result<What, ReadError> {
        Ok(match self.keyword(PARTS)? {
            "cable" => self.cable(0)?,
            "cables" => {
                let (count, seed) = self.draw()?;
                What::Drawn(Parts::Cables(count, seed))
            }
            "switch" => What::Switch(self.word("a switch")?),
            "switches" => {
                let (count, seed) = self.draw()?;
                What::Drawn(Parts::Switches(count, seed))
            }
            _ => return Err(self.expected(self.at - 1, PARTS)),
        })
    }

    /// Reads how many parts are drawn, and the seed.
    fn draw(&mut self) -> Result<(usize, u64), ReadError> {
        let count = self.number("a number of parts")?;
        Ok((count, if self.takes("seed") { self.number("a seed")? } else { 0 }))
    }

    /// Reads a cable, before a number of further words.
    fn cable(&mut self, further: usize) -> Result<What, ReadError> {
        let first = self.word(CABLE)?;
        match self.words.len() > self.at + further {
            true => Ok(What::CableBetween(first, self.word(CABLE)?)),
            false => Ok(What::CableAt(first)),
        }
    }

    /// Reads a word of the language. One in quotation marks is a name.
    fn keyword(&mut self, allowed: &str) -> Result<&'a str, ReadError> {
        let word = self.words.get(self.at).filter(|word| !word.is_quoted);
        let word = word.ok_or_else(|| self.expected(self.at, allowed))?;
        self.at += 1;
        Ok(&word.text)
    }

    /// Reads this word of the language, if it is the next.
    fn takes(&mut self, keyword: &str) -> bool {
        let next = self.words.get(self.at);
        let is_next = next.is_some_and(|word| word.text == keyword && !word.is_quoted);
        self.at += usize::from(is_next);
        is_next
    }

    fn word(&mut self, what: &str) -> Result<Word, ReadError> {
        let word = self.words.get(self.at).ok_or_else(|| self.expected(self.at, what))?;
        self.at += 1;
        Ok(word.clone())
    }

    fn number<N: FromStr>(&mut self, what: &str) -> Result<N, ReadError> {
        let word = self.word(what)?;
        word.text.parse().map_err(|_| self.expected(self.at - 1, what))
    }

    /// The error that something else stands in the place of a word, or nothing.
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
