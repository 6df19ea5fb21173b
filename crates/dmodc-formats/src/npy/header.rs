//! The header of a `.npy` file, format version 1.0: magic, version, the length of what follows, and a Python
//! dictionary that ends in a line end. The entries begin at a multiple of 64 bytes.

use std::io;

use crate::source::ReadAt;

use super::NpyError;

/// The first bytes of every `.npy` file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// The size of magic, version and length.
const FIXED: usize = MAGIC.len() + 4;

/// The shape of an array, and where its entries begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) length: usize,
}

/// Returns the header of an array with these numbers of rows and columns.
pub(super) fn bytes(rows: usize, columns: usize) -> Vec<u8> {
    let mut dictionary =
        format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let padding = 63 - (FIXED + dictionary.len()) % 64;
    dictionary.extend(std::iter::repeat_n(' ', padding));
    dictionary.push('\n');
    let length = dictionary.len() as u16;
    [MAGIC, &[1, 0], &length.to_le_bytes(), dictionary.as_bytes()].concat()
}

/// Reads the header of an array of tables.
pub(super) fn read<S: ReadAt + ?Sized>(array: &S) -> Result<Header, NpyError> {
    let refuse = |what: String| Err(NpyError::Array(what));
    let size = array.length()?;
    let mut fixed = [0; FIXED];
    let there = size.min(FIXED as u64) as usize;
    array.read_at(&mut fixed[..there], 0)?;
    if !fixed.starts_with(MAGIC) {
        return refuse("not a NumPy array: expected it to begin with '\\x93NUMPY'".into());
    }
    if there < FIXED {
        return refuse("the header breaks off".into());
    }
    if fixed[6..8] != [1, 0] {
        return refuse(format!("format version {}.{}; expected 1.0", fixed[6], fixed[7]));
    }
    let length = usize::from(u16::from_le_bytes([fixed[8], fixed[9]]));
    let mut dictionary = vec![0; length];
    match array.read_at(&mut dictionary, FIXED as u64) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return refuse("the header breaks off".into());
        }
        read => read?,
    }
    let text = String::from_utf8_lossy(&dictionary);
    let value = |key: &str| {
        value(&text, key).ok_or_else(|| NpyError::Array(format!("the header has no '{key}'")))
    };
    let (descr, order, shape) = (value("descr")?, value("fortran_order")?, value("shape")?);
    if !["'|u1'", "'u1'", "'<u1'", "'>u1'", "'=u1'"].contains(&descr) {
        return refuse(format!("the entries are of type {descr}; expected bytes, '|u1'"));
    }
    if order != "False" {
        return refuse("the array is in Fortran order; expected C order, switch by switch".into());
    }
    let Some((rows, columns)) = pair(shape) else {
        return refuse(format!("the shape is {shape}; expected (switches, destinations)"));
    };
    let length = FIXED + length;
    let expected = rows.checked_mul(columns).and_then(|entries| entries.checked_add(length));
    match expected.map(|bytes| bytes as u64) {
        Some(bytes) if bytes == size => Ok(Header { rows, columns, length }),
        Some(bytes) if size < bytes => refuse(format!(
            "the file is incomplete: it has {size} bytes, but {rows} × {columns} entries need {bytes}"
        )),
        _ => refuse(format!(
            "the file has {size} bytes, but {rows} × {columns} entries need another number"
        )),
    }
}

/// Returns the value of a key of a Python dictionary: a text in quotes, a tuple, or a word.
fn value<'a>(dictionary: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = dictionary.split_once(&format!("'{key}'"))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let length = match rest.as_bytes().first()? {
        b'(' => rest.find(')')? + 1,
        b'\'' => rest[1..].find('\'')? + 2,
        _ => rest.find([',', '}'])?,
    };
    Some(rest[..length].trim_end())
}

/// Returns the two numbers of a Python tuple.
fn pair(tuple: &str) -> Option<(usize, usize)> {
    let inside = tuple.strip_prefix('(')?.strip_suffix(')')?;
    let inside = inside.trim().strip_suffix(',').unwrap_or(inside);
    let (rows, columns) = inside.split_once(',')?;
    Some((rows.trim().parse().ok()?, columns.trim().parse().ok()?))
}
