//! Writing tables as an array.

use std::io::{self, Write};

use dmodc::{Digest, ForwardingTables, Live, SwitchIndex, Tile, parallel};

use super::{ArrayLabels, digest, header};

/// The number of rows that are put together before they are written.
const ROWS: usize = 256;

/// Writes the entries of live switches towards live destinations as an array. Returns its labels.
///
/// # Errors
/// The error of the writer.
pub fn write(
    live: Live<'_>,
    tables: &ForwardingTables,
    out: &mut impl Write,
) -> io::Result<ArrayLabels> {
    let (fabric, columns) = (live.fabric, tables.columns());
    let mut by_lid = columns.by_lid();
    by_lid.retain(|&c| columns.destinations()[c].end.is_alive(live));
    let label = |&c: &usize| {
        let d = &columns.destinations()[c];
        (d.lid, d.end.guid(fabric))
    };
    let switches: Vec<SwitchIndex> = live.switches().collect();
    let mut labels = ArrayLabels {
        switches: switches.iter().map(|&s| fabric.switch(s).guid).collect(),
        destinations: by_lid.iter().map(label).collect(),
        digest: String::new(),
    };
    let mut place = vec![None; columns.len()];
    for (at, &column) in by_lid.iter().enumerate() {
        place[column] = Some(at);
    }
    let tiles: Vec<Tile> = columns.tiles().collect();
    let fill = |s: SwitchIndex, row: &mut [u8]| {
        for tile in &tiles {
            for (&entry, place) in tables.row(s, tile).iter().zip(&place[tile.columns.clone()]) {
                if let Some(at) = *place {
                    row[at] = entry;
                }
            }
        }
    };
    out.write_all(&header::bytes(switches.len(), by_lid.len()))?;
    let width = by_lid.len();
    let mut all: Digest = labels.lists();
    let mut buffer = vec![0; ROWS.min(switches.len()) * width];
    for (batch, some) in switches.chunks(ROWS).enumerate() {
        let buffer = &mut buffer[..some.len() * width];
        let rows = buffer.chunks_exact_mut(width.max(1)).zip(some).enumerate();
        let digests = parallel::map(rows, |(at, (row, &s))| {
            fill(s, row);
            digest(batch * ROWS + at, row)
        });
        all = all + digests.into_iter().sum();
        out.write_all(buffer)?;
    }
    labels.digest = all.to_string();
    Ok(labels)
}
