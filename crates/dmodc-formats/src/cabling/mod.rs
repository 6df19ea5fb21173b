//! Intended cablings: lists of cables that know devices by name, without LIDs and without saying which device is a switch.
//!
//! | format | |
//! |---|---|
//! | the topology file of ibutils (`.topo`) | [`Format::Topology`]: sections of systems with their cables |
//! | CSV | [`Format::Csv`]: one cable per line, columns by name |
//!
//! Both are refused as a whole if a line is wrong. What is intended is written by people, so a mistake should be corrected and not
//! skipped.

mod csv;
mod topology;

use std::collections::HashMap;

use dmodc::advise::compare::{CabledDevice, Cabling, CablingCable, CablingEnd};
use dmodc::{Guid, PortNumber};

use crate::ReadError;
use crate::scan::{hex_number, lines};

/// The formats of intended cablings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The topology file of ibutils.
    Topology,
    /// Comma-separated values.
    Csv,
}

/// Returns the format of a text, judged by its first line that is neither empty nor a comment. That of CSV names its columns.
pub fn detect(text: &[u8]) -> Option<Format> {
    for mut line in lines(text).take(20_000) {
        if line.number() == 1 {
            line.take("\u{feff}");
        }
        line.skip_blanks();
        if line.rest().is_empty() || line.rest()[0] == b'#' {
            continue;
        }
        return if csv::is_header(line) {
            Some(Format::Csv)
        } else if topology::is_section(line) {
            Some(Format::Topology)
        } else {
            None
        };
    }
    None
}

/// Reads an intended cabling.
///
/// # Errors
/// If the text is of neither format, or a line of it is wrong.
pub fn read(text: &[u8]) -> Result<Cabling, ReadError> {
    let cabling = match detect(text) {
        Some(Format::Topology) => topology::read(text)?,
        Some(Format::Csv) => csv::read(text)?,
        None => {
            let message = "this file does not list cables: expected a topology file of ibutils, or CSV with the columns \
                           switch_a,port_a,switch_b,port_b";
            return Err(ReadError { line: 1, column: 1, message: message.into() });
        }
    };
    match cabling.cables.is_empty() {
        true => {
            let message = "the file lists no cable".into();
            Err(ReadError { line: 1, column: 1, message })
        }
        false => Ok(cabling),
    }
}

/// A list that is being read.
#[derive(Default)]
struct NamedCables {
    cabling: Cabling,
    places: HashMap<String, usize>,
    /// The other end of each port, and the line that says so.
    used: HashMap<CablingEnd, (CablingEnd, u32)>,
}

impl NamedCables {
    /// Returns the place of a device.
    fn device(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.cabling.devices.len();
        self.cabling.devices.push(CabledDevice { guid: guid(name), name: name.into(), kind: None });
        self.places.insert(name.into(), place);
        place
    }

    /// Adds a cable. It may be listed again, from either end. Returns what is wrong with it.
    fn cable(&mut self, ends: [CablingEnd; 2], line: u32) -> Result<(), String> {
        let [a, b] = ends;
        let name = |end: CablingEnd| {
            format!("port {} of '{}'", end.port, self.cabling.devices[end.device].name)
        };
        if a == b {
            return Err(format!("{} is cabled to itself", name(a)));
        }
        for (own, other) in [(a, b), (b, a)] {
            if let Some((before, first)) =
                self.used.get(&own).filter(|(before, _)| *before != other)
            {
                return Err(format!(
                    "{} is cabled to {}, but line {first} has it cabled to {}",
                    name(own),
                    name(other),
                    name(*before)
                ));
            }
        }
        if self.used.insert(a, (b, line)).is_none() {
            self.used.insert(b, (a, line));
            self.cabling.cables.push(CablingCable { ends, line });
        }
        Ok(())
    }

    fn finish(self) -> Cabling {
        Cabling { is_list: true, ..self.cabling }
    }
}

/// Returns the port that a text such as `P12` or `12` means.
fn port(text: &str) -> Option<PortNumber> {
    let digits = text.strip_prefix(['P', 'p']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit());
    let number = if is_number { digits.parse::<u8>().ok()? } else { return None };
    (1..=PortNumber::MAX.0).contains(&number).then_some(PortNumber(number))
}

/// Returns the GUID that a name is: `0x` and up to 16 digits, 16 digits, or those after `S-`, `H-` or `R-`.
fn guid(name: &str) -> Option<Guid> {
    let typed = ["S-", "H-", "R-"].iter().find_map(|prefix| name.strip_prefix(prefix));
    let digits = typed.unwrap_or(name);
    let is_guid = digits.starts_with("0x") || digits.starts_with("0X") || digits.len() == 16;
    is_guid.then(|| hex_number(digits.as_bytes()).map(Guid))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_guids_are_recognised() {
        assert_eq!(guid("0x2c9"), Some(Guid(0x2c9)));
        assert_eq!(guid("S-0002c90200001234"), Some(Guid(0x0002_c902_0000_1234)));
        assert_eq!(guid("0002c90200001234"), Some(Guid(0x0002_c902_0000_1234)));
        for name in ["beef", "leaf-12", "0x", "H-1", "0xfffffffffffffffff", ""] {
            assert_eq!(guid(name), None, "{name}");
        }
    }

    #[test]
    fn ports_have_one_number() {
        assert_eq!(port("P7"), Some(PortNumber(7)));
        assert_eq!(port("36"), Some(PortNumber(36)));
        for text in ["P0", "255", "L1/P3", "P", "", "-1", "+1", "P1x"] {
            assert_eq!(port(text), None, "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_recognised() {
        for text in ["", "# nothing\n", "hello\n", "{}", "a,b,c\n", "Switch\t36 \"S-1\"  # x y z\n"]
        {
            assert_eq!(detect(text.as_bytes()), None, "{text}");
            assert!(read(text.as_bytes()).is_err());
        }
    }
}
