//! Reading tables from an array.

use std::io;

use dmodc::{Digest, Fabric, parallel};

use super::error::NpyError;
use super::{ArrayLabels, digest, header};
use crate::lft::{LabelledTables, Lft};
use crate::source::ReadAt;

/// Returns whether these bytes begin a NumPy array.
pub fn detect(bytes: &[u8]) -> bool {
    bytes.starts_with(header::MAGIC)
}

/// Reads an array of tables with its labels, and matches it with a fabric.
///
/// # Errors
/// If the array or its labels are damaged or do not belong together, or if they are of another fabric.
pub fn read<S: ReadAt + ?Sized>(
    array: &S,
    labels: &[u8],
    fabric: &Fabric,
) -> Result<Lft, NpyError> {
    let labels = ArrayLabels::read(labels).map_err(NpyError::Labels)?;
    let header = header::read(array)?;
    let shape = (labels.switches.len(), labels.destinations.len());
    if shape != (header.rows, header.columns) {
        return Err(NpyError::Array(format!(
            "the array has {} × {} entries, but its labels list {} switches and {} destinations; are the two files from one run?",
            header.rows, header.columns, shape.0, shape.1
        )));
    }
    is_of(&labels, fabric)?;
    let mut tables = LabelledTables::new(&labels.destinations, fabric);
    let known = tables.known();
    let (width, length) = (header.columns, header.length);
    let row = |buffer: &mut Vec<u8>, at: usize| -> io::Result<(Digest, Vec<u8>)> {
        buffer.resize(width, 0);
        array.read_at(buffer, (length + at * width) as u64)?;
        let own = match known.len() == width {
            true => std::mem::take(buffer),
            false => known.iter().map(|&column| buffer[column]).collect(),
        };
        let digest = digest(at, if known.len() == width { &own } else { buffer });
        Ok((digest, own))
    };
    let rows: io::Result<Vec<(Digest, Vec<u8>)>> =
        parallel::map_with(0..header.rows, Vec::new, row).into_iter().collect();
    let mut all = labels.lists();
    for (guid, (digest, row)) in labels.switches.iter().zip(rows?) {
        all = all + digest;
        tables.add(*guid, row);
    }
    if all.to_string() != labels.digest {
        return Err(NpyError::Array(format!(
            "the array does not fit its labels (its digest is {all}, but the labels have {}); the two files are not from one \
             run, or one is damaged",
            labels.digest
        )));
    }
    tables.finish().map_err(|error| NpyError::Array(error.message))
}

/// Refuses the tables of another fabric.
fn is_of(labels: &ArrayLabels, fabric: &Fabric) -> Result<(), NpyError> {
    let own = ArrayLabels::of(fabric);
    let (here, there) = (labels.fabric(), own.fabric());
    if here == there {
        return Ok(());
    }
    let shared = labels.shared_switches(&own);
    let (rows, switches) = (labels.switches.len(), own.switches.len());
    match 2 * shared >= rows.max(switches) {
        true => Ok(()),
        false => Err(NpyError::Array(format!(
            "these tables belong to another fabric (digest {here}, not {there}): of {rows} and {switches} switches, only \
             {shared} have the same GUID and LID"
        ))),
    }
}
