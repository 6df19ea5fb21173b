//! JSON values that know their place in the text, so that errors have line, column and a name such as `switches[3].lid`.
//!
//! Raw values borrow from the text, so that each knows its place in it and no tree of the whole text is built.

use std::collections::BTreeMap;

use dmodc::{Guid, Lid};
use serde_json::value::RawValue;

use crate::ReadError;

/// A value, and where it stands.
pub(crate) struct JsonValue<'a> {
    text: &'a [u8],
    raw: &'a RawValue,
    /// A name such as `switches[3].lid`; empty for the whole text.
    name: String,
}

/// An object, and its members by name.
pub(crate) struct JsonObject<'a> {
    value: JsonValue<'a>,
    members: BTreeMap<String, &'a RawValue>,
}

/// Opens a JSON text. Returns its members, if the member `schema` is the known one.
///
/// # Errors
/// If the text is not JSON, or of another schema.
pub(crate) fn open<'a>(text: &'a [u8], known: &str) -> Result<JsonObject<'a>, ReadError> {
    let raw: &RawValue = serde_json::from_slice(text).map_err(|e| {
        let message = e.to_string();
        let message = message.rsplit_once(" at line ").map_or(&*message, |(what, _)| what);
        ReadError {
            line: (e.line() as u32).max(1),
            column: (e.column() as u32).max(1),
            message: format!("not JSON: {message}"),
        }
    })?;
    let top = JsonValue { text, raw, name: String::new() }.object()?;
    let schema = top.member("schema")?;
    if schema.string()? != known {
        return Err(schema.expected(&format!("\"{known}\", the only schema known")));
    }
    Ok(top)
}

impl<'a> JsonValue<'a> {
    /// Returns where the value begins in the text.
    pub(crate) fn offset(&self) -> usize {
        self.raw.get().as_ptr() as usize - self.text.as_ptr() as usize
    }

    pub(crate) fn error(&self, message: impl std::fmt::Display) -> ReadError {
        let before = &self.text[..self.offset()];
        let line = memchr::memchr_iter(b'\n', before).count();
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let name = &self.name;
        ReadError {
            line: line as u32 + 1,
            column: (before.len() - start) as u32 + 1,
            message: match name.is_empty() {
                true => message.to_string(),
                false => format!("{name}: {message}"),
            },
        }
    }

    /// Returns an error that says what should stand here, and what does.
    pub(crate) fn expected(&self, what: &str) -> ReadError {
        let found: String = self.raw.get().chars().take(24).collect();
        self.error(format_args!("expected {what}, found {}", crate::scan::printable(&found)))
    }

    pub(crate) fn object(self) -> Result<JsonObject<'a>, ReadError> {
        match serde_json::from_str(self.raw.get()) {
            Ok(members) => Ok(JsonObject { value: self, members }),
            Err(_) => Err(self.expected("an object")),
        }
    }

    /// Calls a function for each element of a list.
    pub(crate) fn each(
        &self,
        mut what: impl FnMut(JsonValue<'a>) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let Ok(elements) = serde_json::from_str::<Vec<&'a RawValue>>(self.raw.get()) else {
            return Err(self.expected("a list"));
        };
        for (at, raw) in elements.into_iter().enumerate() {
            what(JsonValue { text: self.text, raw, name: format!("{}[{at}]", self.name) })?;
        }
        Ok(())
    }

    pub(crate) fn string(&self) -> Result<String, ReadError> {
        serde_json::from_str(self.raw.get()).map_err(|_| self.expected("a text"))
    }

    pub(crate) fn number(&self, least: u32, most: u32) -> Result<u32, ReadError> {
        match serde_json::from_str(self.raw.get()) {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => Err(self.expected(&format!("a number from {least} to {most}"))),
        }
    }

    pub(crate) fn lid(&self) -> Result<Lid, ReadError> {
        self.number(0, u32::MAX / 2).map(Lid)
    }

    pub(crate) fn guid(&self) -> Result<Guid, ReadError> {
        let text = self.string()?;
        let digits = text.strip_prefix("0x").filter(|d| d.bytes().all(|c| c.is_ascii_hexdigit()));
        match digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()) {
            Some(guid) => Ok(Guid(guid)),
            None => Err(self.expected("a GUID such as \"0x0002c90100000001\"")),
        }
    }
}

impl<'a> JsonObject<'a> {
    /// Returns a member that must be there.
    pub(crate) fn member(&self, member: &str) -> Result<JsonValue<'a>, ReadError> {
        let Some(&raw) = self.members.get(member) else {
            return Err(self.error(format_args!("'{member}' is missing")));
        };
        let name = match self.value.name.as_str() {
            "" => member.to_owned(),
            outer => format!("{outer}.{member}"),
        };
        Ok(JsonValue { text: self.value.text, raw, name })
    }

    pub(crate) fn number(&self, member: &str, least: u32, most: u32) -> Result<u32, ReadError> {
        self.member(member)?.number(least, most)
    }

    pub(crate) fn error(&self, message: impl std::fmt::Display) -> ReadError {
        self.value.error(message)
    }
}
