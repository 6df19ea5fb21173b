//! Cables as comma-separated values, one in each line.
//!
//! ```text
//! switch_a,port_a,switch_b,port_b
//! leaf-1,1,spine-1,1
//! 0x0002c90000000010,P20,node17,1
//! ```
//!
//! Columns are found by their names, in any order: one end is `switch_a` or `device_a` or `node_a` or `name_a` and `port_a`, the
//! other one the same with `b`. Other columns are skipped, and so are empty lines and lines that begin with `#`. A value in
//! double quotes may have commas; a quote in it is written twice.

use dmodc::advise::compare::{Cabling, CablingEnd};

use super::{NamedCables, port};
use crate::ReadError;
use crate::scan::{Cursor, lines, printable};

/// The names of the columns of devices, without the end.
const DEVICE: [&str; 6] = ["switch", "device", "node", "host", "name", "guid"];

/// The places of the columns of one end.
struct EndColumns {
    device: usize,
    port: usize,
}

/// A value, and the byte of the line at which it begins.
struct Field {
    value: String,
    at: usize,
}

/// Returns whether a line names the columns of both ends.
pub(super) fn is_header(line: Cursor<'_>) -> bool {
    fields(line).is_ok_and(|fields| columns(&fields).is_some())
}

pub(super) fn read(text: &[u8]) -> Result<Cabling, ReadError> {
    let mut cables = NamedCables::default();
    let mut header: Option<[EndColumns; 2]> = None;
    for mut line in lines(text) {
        if line.number() == 1 {
            line.take("\u{feff}");
        }
        let mut start = line;
        start.skip_blanks();
        if start.rest().is_empty() || start.rest()[0] == b'#' {
            continue;
        }
        let row = fields(line)?;
        match &header {
            None => {
                let found = columns(&row);
                header = Some(found.ok_or_else(|| {
                    line.expected("the names of columns: switch_a,port_a,switch_b,port_b")
                })?);
            }
            Some(columns) => {
                let [a, b] =
                    [&columns[0], &columns[1]].map(|column| end(&mut cables, line, &row, column));
                cables.cable([a?, b?], line.number()).map_err(|message| line.error(message))?;
            }
        }
    }
    Ok(cables.finish())
}

/// Returns one end of the cable of a row.
fn end(
    cables: &mut NamedCables,
    line: Cursor<'_>,
    row: &[Field],
    columns: &EndColumns,
) -> Result<CablingEnd, ReadError> {
    let field = |at: usize, what: &str| {
        let field = row.get(at).filter(|field| !field.value.is_empty());
        field.ok_or_else(|| line.error(format!("the line has no {what} in column {}", at + 1)))
    };
    let device = field(columns.device, "device")?;
    let number = field(columns.port, "port")?;
    let mut place = line;
    place.skip(number.at);
    let number = port(&number.value).ok_or_else(|| {
        place.error(format!(
            "expected a port from 1 to 254 of '{}', found '{}'",
            printable(&device.value),
            printable(&number.value)
        ))
    })?;
    Ok(CablingEnd { device: cables.device(&device.value), port: number })
}

/// Returns the columns of both ends, if the header has them.
fn columns(header: &[Field]) -> Option<[EndColumns; 2]> {
    let names: Vec<String> = header
        .iter()
        .map(|field| field.value.to_ascii_lowercase().replace([' ', '-', '_'], ""))
        .collect();
    let find = |name: String| names.iter().position(|other| *other == name);
    let end = |letter: char, digit: char| {
        let device = DEVICE.iter().find_map(|word| {
            find(format!("{word}{letter}")).or_else(|| find(format!("{word}{digit}")))
        })?;
        let port = find(format!("port{letter}")).or_else(|| find(format!("port{digit}")))?;
        Some(EndColumns { device, port })
    };
    Some([end('a', '1')?, end('b', '2')?])
}

/// Returns the values of a line, without blanks around them.
fn fields(line: Cursor<'_>) -> Result<Vec<Field>, ReadError> {
    let text = String::from_utf8_lossy(line.rest()).into_owned();
    let mut fields = vec![];
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let blanks = rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        let start = at + blanks;
        let (value, length) = match rest.strip_prefix('"') {
            Some(inside) => {
                let (value, length) = quoted(inside)
                    .ok_or_else(|| line.error("a value in quotes has no closing quote"))?;
                (value, length + 1)
            }
            None => {
                let length = rest.find(',').unwrap_or(rest.len());
                (rest[..length].trim_end().to_owned(), length)
            }
        };
        fields.push(Field { value, at: start });
        let after = rest[length..].trim_start();
        match after.strip_prefix(',') {
            Some(next) => at = text.len() - next.len(),
            None if after.is_empty() => return Ok(fields),
            None => return Err(line.error("expected a comma after a value in quotes")),
        }
    }
}

/// Returns a value up to its closing quote, and the length with that quote.
fn quoted(inside: &str) -> Option<(String, usize)> {
    let mut value = String::new();
    let mut letters = inside.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' if letters.peek().is_some_and(|(_, next)| *next == '"') => {
                letters.next();
                value.push('"');
            }
            '"' => return Some((value, at + 1)),
            letter => value.push(letter),
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_name() {
        let text = "\u{feff}# cables\nlength,Port B,Switch B,port_a,switch_a\n3 m,1,\"spine, \"\"one\"\"\",P2, leaf-1 \n\n,2,node17,3,leaf-1\r\n";
        let cabling = read(text.as_bytes()).unwrap();
        let names: Vec<&str> = cabling.devices.iter().map(|d| &*d.name).collect();
        assert_eq!(names, ["leaf-1", "spine, \"one\"", "node17"]);
        let ports: Vec<[u8; 2]> =
            cabling.cables.iter().map(|cable| cable.ends.map(|end| end.port.0)).collect();
        assert_eq!(ports, [[2, 1], [3, 2]]);
        assert!(cabling.is_list);
    }

    #[test]
    fn wrong_lines_are_named() {
        let header = "switch_a,port_a,switch_b,port_b\n";
        for (row, what) in [
            ("s1,1,s2\n", "no port in column 4"),
            (",1,s2,1\n", "no device in column 1"),
            ("s1,0,s2,1\n", "found '0'"),
            ("s1,300,s2,1\n", "found '300'"),
            ("s1,1,s1,P1\n", "cabled to itself"),
            ("\"s1,1,s2,1\n", "no closing quote"),
            ("\"s1\"x,1,s2,1\n", "expected a comma"),
        ] {
            let error = read(format!("{header}{row}").as_bytes()).unwrap_err();
            assert_eq!(error.line, 2, "{row}: {error}");
            assert!(error.message.contains(what), "{row}: {error}");
        }
        let twice = format!("{header}s1,1,s2,1\ns2,1,s1,1\ns1,1,s2,2\n");
        let error = read(twice.as_bytes()).unwrap_err();
        assert_eq!(error.line, 4, "{error}");
        assert!(error.message.contains("line 2"), "{error}");
    }
}
