//! The topology file of ibutils and ibdm: a section for each system, which ends at an empty line or where the next one begins.
//!
//! ```text
//! # a comment
//! MSB7800 leaf-1
//!    P1 -4x-25G-> MSB7800 spine-1 P1
//!    P20 -> HCA_1 node17 P1
//! ```
//!
//! The first line of a section is the type of a system and its name, sometimes with `CFG:` and a list of its boards. The indented
//! lines are cables: a port, an arrow with the width and the rate (both optional), the type and name of the other system, and its
//! port. A cable may be in the sections of both systems.
//!
//! What the ports of a chassis are inside is in the `.ibnl` files of ibutils. Without these only systems of one device can be
//! read, whose ports are called `P7` or `7`.

use dmodc::advise::compare::{Cabling, CablingEnd};

use super::{NamedCables, port};
use crate::ReadError;
use crate::scan::{Cursor, lines, printable};

/// Returns whether a line begins a section: two words, and perhaps a configuration.
pub(super) fn is_section(mut line: Cursor<'_>) -> bool {
    let Some([system_type, name]) = words(&mut line) else { return false };
    let is_word = |word: &str| !word.contains(['/', ',', '"', '=', '[', '{']);
    line.skip_blanks();
    is_word(&system_type)
        && is_word(&name)
        && (line.rest().is_empty() || line.rest().starts_with(b"CFG:"))
}

pub(super) fn read(text: &[u8]) -> Result<Cabling, ReadError> {
    let mut cables = NamedCables::default();
    let mut section: Option<usize> = None;
    for mut line in lines(text) {
        if line.number() == 1 {
            line.take("\u{feff}");
        }
        let is_indented = matches!(line.rest().first(), Some(b' ' | b'\t'));
        line.skip_blanks();
        match line.rest().first() {
            None => section = None,
            Some(b'#') => {}
            Some(_) if is_indented && is_cable(line) => {
                let own = section.ok_or_else(|| {
                    line.expected("the type and name of a system before its cables")
                })?;
                cable(&mut cables, own, line)?;
            }
            Some(_) => section = Some(system(&mut cables, line)?),
        }
    }
    Ok(cables.finish())
}

/// Returns whether the second word of a line is an arrow.
fn is_cable(mut line: Cursor<'_>) -> bool {
    words(&mut line).is_some_and(|[_, arrow]: [String; 2]| arrow.starts_with('-'))
}

/// Reads the first line of a section, and returns the place of the system.
fn system(cables: &mut NamedCables, mut line: Cursor<'_>) -> Result<usize, ReadError> {
    if !is_section(line) {
        return Err(line.expected(
            "the type and name of a system, or an indented cable such as 'P1 -> TYPE NAME P2'",
        ));
    }
    let Some([_, name]) = words(&mut line) else {
        return Err(line.expected("the type and name of a system"));
    };
    line.skip_blanks();
    if line.take("CFG:") {
        line.skip_blanks();
        if !line.rest().is_empty() {
            return Err(line.error(format!(
                "'{name}' is a chassis with boards (CFG), which only the .ibnl files of ibutils describe; list its \
                 switches as systems of their own"
            )));
        }
    }
    Ok(cables.device(&name))
}

/// Reads a cable of a section.
fn cable(cables: &mut NamedCables, own: usize, mut line: Cursor<'_>) -> Result<(), ReadError> {
    let whole = line;
    let near = port_at(&mut line, &cables.cabling.devices[own].name)?;
    line.skip_blanks();
    arrow(&mut line)?;
    line.skip_blanks();
    let Some([_, name]) = words(&mut line) else {
        return Err(line.expected("the type and name of the other system"));
    };
    line.skip_blanks();
    let far = port_at(&mut line, &name)?;
    line.skip_blanks();
    if !line.rest().is_empty() && line.rest()[0] != b'#' {
        return Err(line.expected("the end of the line"));
    }
    let device = cables.device(&name);
    let ends = [CablingEnd { device: own, port: near }, CablingEnd { device, port: far }];
    cables.cable(ends, line.number()).map_err(|message| whole.error(message))
}

/// Takes the port of a system.
fn port_at(line: &mut Cursor<'_>, system: &str) -> Result<dmodc::PortNumber, ReadError> {
    let before = *line;
    let word = String::from_utf8_lossy(line.word()).into_owned();
    port(&word).ok_or_else(|| {
        if word.is_empty() {
            return before.expected("a port such as P1");
        }
        before.error(format!(
            "'{}' of '{}' is no port of a single switch or adapter, as P1 or 1 would be; the ports of a chassis are described in \
             the .ibnl files of ibutils only",
            printable(&word),
            printable(system)
        ))
    })
}

/// Takes `->`, `-4x->`, `-25G->` or `-4x-25G->`.
fn arrow(line: &mut Cursor<'_>) -> Result<(), ReadError> {
    let before = *line;
    let word = String::from_utf8_lossy(line.word()).into_owned();
    let wrong = || before.expected("an arrow such as -4x-25G->");
    let inside =
        word.strip_prefix('-').and_then(|rest| rest.strip_suffix('>')).ok_or_else(wrong)?;
    let mut parts = inside.strip_suffix('-').unwrap_or(inside).split('-');
    let is_of = |part: &str, units: [char; 2]| {
        let number = part.strip_suffix(units);
        number.is_some_and(|n| !n.is_empty() && n.bytes().all(|c| c.is_ascii_digit() || c == b'.'))
    };
    let is_right = match (parts.next().unwrap_or(""), parts.next(), parts.next()) {
        ("", None, _) => true,
        (one, None, _) => is_of(one, ['x', 'X']) || is_of(one, ['G', 'g']),
        (width, Some(rate), None) => is_of(width, ['x', 'X']) && is_of(rate, ['G', 'g']),
        _ => false,
    };
    if is_right { Ok(()) } else { Err(wrong()) }
}

/// Takes two words.
fn words(line: &mut Cursor<'_>) -> Option<[String; 2]> {
    let mut word = || {
        line.skip_blanks();
        let word = line.word();
        (!word.is_empty()).then(|| String::from_utf8_lossy(word).into_owned())
    };
    Some([word()?, word()?])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn cables_of_both_sections_are_one() {
        let text = "# two switches\nSW36 s1\n\tP1 -4x-25G-> SW36 s2 P2\n  P3 -> HCA node1 P1\n\nSW36 s2\n P2 -4x-> SW36 s1 1 # again\n  4 -2.5G-> SW36 s1 P4\r\n";
        let cabling = read(text.as_bytes()).unwrap();
        let names: Vec<&str> = cabling.devices.iter().map(|d| &*d.name).collect();
        assert_eq!(names, ["s1", "s2", "node1"]);
        let lines: Vec<u32> = cabling.cables.iter().map(|cable| cable.line).collect();
        assert_eq!(lines, [3, 4, 8]);
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, line, what) in [
            ("SW s1\n L1/P1 -> SW s2 P1\n", 2, "'L1/P1' of 's1' is no port"),
            ("SW s1\n P1 -> SW s2 S3-P1\n", 2, "'S3-P1' of 's2' is no port"),
            ("SW s1 CFG: leaf1=R\n", 1, "'s1' is a chassis"),
            (
                "SW s1\n P1 -> SW s2 P1\n P1 -> SW s3 P1\n",
                3,
                "line 2 has it cabled to port 1 of 's2'",
            ),
            ("SW s1\n P1 -> SW s1 P1\n", 2, "cabled to itself"),
            ("SW s1\n\n P1 -> SW s2 P1\n", 3, "before its cables"),
            ("SW s1\n P1 -4y-> SW s2 P1\n", 2, "an arrow"),
            ("SW s1\n P1 -> SW s2\n", 2, "a port such as P1"),
            ("SW s1\n P1 -> SW s2 P1 more\n", 2, "the end of the line"),
            ("SW s1\n P1 -> SW\n", 2, "the type and name of the other system"),
            ("SW s1\nfrom s1 to s2 by cable\n", 2, "the type and name of a system"),
        ] {
            let error = read(text.as_bytes()).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.message.contains(what), "{text}: {error}");
        }
    }
}
