//! Scanning a line of text with a cursor that knows its place, so that errors have line and column.

use crate::ReadError;
use dmodc::Guid;

/// A line being read.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    line: &'a [u8],
    at: usize,
    number: u32,
    carriage_return: bool,
    last: bool,
}

/// Returns all lines with their numbers and without their ends (LF or CR LF).
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = Cursor<'_>> {
    let mut rest = Some(text);
    let mut number = 0;
    std::iter::from_fn(move || {
        number += 1;
        let (line, after) = first_line(rest?, number);
        rest = after;
        Some(line)
    })
}

/// Returns the first line of a text, and what follows its line end, if it has one.
pub(crate) fn first_line(text: &[u8], number: u32) -> (Cursor<'_>, Option<&[u8]>) {
    let (line, after) = match memchr::memchr(b'\n', text) {
        Some(end) => (&text[..end], Some(&text[end + 1..])),
        None => (text, None),
    };
    let (line, carriage_return) = match line.strip_suffix(b"\r") {
        Some(line) => (line, true),
        None => (line, false),
    };
    (Cursor { line, at: 0, number, carriage_return, last: after.is_none() }, after)
}

impl<'a> Cursor<'a> {
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Returns whether the line ended in CR LF.
    pub(crate) fn had_carriage_return(&self) -> bool {
        self.carriage_return
    }

    /// Returns whether the text ends with this line and without a line end.
    pub(crate) fn is_last(&self) -> bool {
        self.last
    }

    /// Returns the rest of the line.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.line[self.at..]
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> ReadError {
        ReadError { line: self.number, column: self.at as u32 + 1, message: message.into() }
    }

    /// Returns an error that says what should stand here, and what does.
    pub(crate) fn expected(&self, what: &str) -> ReadError {
        let found = String::from_utf8_lossy(self.rest());
        let found = printable(&found.chars().take(24).collect::<String>());
        match found.is_empty() {
            true => self.error(format!("expected {what}, found the end of the line")),
            false => self.error(format!("expected {what}, found '{found}'")),
        }
    }

    pub(crate) fn skip_blanks(&mut self) {
        let blanks = self.rest().iter().take_while(|c| matches!(c, b' ' | b'\t')).count();
        self.at += blanks;
    }

    /// Goes on by this number of bytes, or to the end.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.line.len());
    }

    /// Takes a prefix. Returns whether it stands here.
    pub(crate) fn take(&mut self, prefix: &str) -> bool {
        let here = self.rest().starts_with(prefix.as_bytes());
        if here {
            self.at += prefix.len();
        }
        here
    }

    /// Takes a prefix that must stand here.
    pub(crate) fn expect(&mut self, prefix: &str) -> Result<(), ReadError> {
        match self.take(prefix) {
            true => Ok(()),
            false => Err(self.expected(&format!("'{prefix}'"))),
        }
    }

    /// Goes to the end of the next occurrence of a text. Returns whether there is one.
    pub(crate) fn find(&mut self, text: &str) -> bool {
        let found = memchr::memmem::find(self.rest(), text.as_bytes());
        if let Some(at) = found {
            self.at += at + text.len();
        }
        found.is_some()
    }

    /// Takes a decimal number from `least` to `most`.
    pub(crate) fn decimal(&mut self, what: &str, least: u32, most: u32) -> Result<u32, ReadError> {
        let digits = self.rest().iter().take_while(|c| c.is_ascii_digit()).count();
        let number = std::str::from_utf8(&self.rest()[..digits]).ok().and_then(|d| d.parse().ok());
        match number {
            Some(number) if (least..=most).contains(&number) => {
                self.at += digits;
                Ok(number)
            }
            _ => Err(self.expected(&format!("{what} from {least} to {most}"))),
        }
    }

    /// Takes a hexadecimal number, with or without `0x`.
    pub(crate) fn hex(&mut self, what: &str) -> Result<u64, ReadError> {
        let mut ahead = *self;
        if !ahead.take("0x") {
            ahead.take("0X");
        }
        let digits = ahead.rest().iter().take_while(|c| c.is_ascii_hexdigit()).count();
        if !(1..=16).contains(&digits) {
            return Err(self.expected(what));
        }
        let value = ahead.rest()[..digits].iter().fold(0, |value, &c| {
            let digit = (c as char).to_digit(16).expect("only hexadecimal digits were counted");
            value << 4 | u64::from(digit)
        });
        ahead.at += digits;
        *self = ahead;
        Ok(value)
    }

    pub(crate) fn guid(&mut self) -> Result<Guid, ReadError> {
        self.hex("a GUID").map(Guid)
    }

    /// Takes a text in quotes, up to the next quote.
    pub(crate) fn quoted(&mut self, what: &str) -> Result<&'a [u8], ReadError> {
        let inside = self.rest().strip_prefix(b"\"").and_then(|rest| {
            let end = memchr::memchr(b'"', rest)?;
            Some(&rest[..end])
        });
        let inside = inside.ok_or_else(|| self.expected(what))?;
        self.at += inside.len() + 2;
        Ok(inside)
    }

    /// Takes a text in parentheses, if one stands here.
    pub(crate) fn parenthesised(&mut self) -> Option<&'a [u8]> {
        let rest = self.rest().strip_prefix(b"(")?;
        let end = memchr::memchr(b')', rest)?;
        self.at += end + 2;
        Some(&rest[..end])
    }

    /// Takes a description in quotes. Quotes inside are not escaped, so it reaches to the last quote of the line.
    pub(crate) fn description(&mut self) -> Result<String, ReadError> {
        let rest = self.rest();
        match (rest.first(), rest.iter().rposition(|&c| c == b'"')) {
            (Some(b'"'), Some(last)) if last > 0 => {
                self.at += last + 1;
                Ok(String::from_utf8_lossy(&rest[1..last]).into_owned())
            }
            _ => Err(self.expected("a description in quotes")),
        }
    }

    /// Takes a word: everything up to the next blank.
    pub(crate) fn word(&mut self) -> &'a [u8] {
        let rest = self.rest();
        let end = rest.iter().position(|c| matches!(c, b' ' | b'\t')).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }
}

/// Returns the value of a text that is a hexadecimal number and nothing else.
pub(crate) fn hex_number(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.strip_prefix("0x").or(text.strip_prefix("0X")).unwrap_or(text);
    match digits.bytes().all(|c| c.is_ascii_hexdigit()) {
        true => u64::from_str_radix(digits, 16).ok(),
        false => None,
    }
}

/// Returns a description as a line of text may hold it: control characters become blanks.
pub fn printable(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
