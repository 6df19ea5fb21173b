//! Forwarding tables as text: the dump that OpenSM writes and loads (`-R file -U`), what `ibroute` and
//! `dump_lfts` print, and `opensm.fdbs`.
//!
//! A row names its destination by LID and, in a comment, by port GUID. LIDs may have changed since,
//! GUIDs have not, so the GUID decides where there is one. A destination may have several LIDs (LMC);
//! they are told apart by their order.

mod labelled;
mod line;
pub mod naive;
mod names;
mod part;
mod read;
mod repeated;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use labelled::Labelled;
pub use read::{LftError, read, read_by_windows, read_from, read_in_parts};
pub use write::{Writer, write};

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dmodc::{
    Columns, Destination, End, Fabric, ForwardingTables, Guid, Lid, NO_ROUTE, NoMemory, PortNumber,
    SwitchIndex, Tile, parallel,
};

use crate::scan::lines;
use crate::{Dirt, DirtKind, ReadError};
use names::Ends;

/// The most LIDs that one port can have: an LMC is at most 7.
const MOST_LIDS: usize = 128;

/// Tables from a file, matched with a fabric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lft {
    /// The destinations that entries name, each once, in the order in which they are named first.
    keys: Vec<(End, Lid)>,
    /// The ports of each switch by key, [`NO_ROUTE`] where there is none; nothing for a switch without a table.
    rows: Vec<Vec<u8>>,
    /// What was not as it should be.
    pub dirt: Dirt,
    /// Switches of the file that the fabric does not have.
    pub unknown_switches: Vec<Guid>,
    /// Destinations of the file that the fabric does not have: by LID, with the GUID if the file has it.
    pub unknown_destinations: BTreeMap<Lid, Option<Guid>>,
    /// Switches of the fabric that the file has no table for.
    pub missing_switches: Vec<SwitchIndex>,
}

/// Whether this looks like a dump of tables.
pub fn detect(text: &[u8]) -> bool {
    lines(text.strip_prefix(MARK).unwrap_or(text)).take(200).any(|mut line| {
        line.skip_blanks();
        line::HEADERS.iter().any(|header| line.take(header))
    })
}

/// A byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Returns a text without the byte order mark that it may begin with.
fn without_mark<'a>(text: &'a [u8], dirt: &mut Dirt) -> &'a [u8] {
    let Some(rest) = text.strip_prefix(MARK) else { return text };
    let place = ReadError { line: 1, column: 1, message: "a byte order mark".into() };
    dirt.note(DirtKind::ByteOrderMark, place);
    rest
}

/// Completes what was read, or says why it is of no use. `seen` says which switches had a table, and `foreign` what
/// the input is if it is not text of ours.
fn finished(mut lft: Lft, seen: &[bool], foreign: Option<String>) -> Result<Lft, ReadError> {
    if lft.unknown_switches.is_empty() && !seen.contains(&true) {
        let what = foreign.unwrap_or_else(|| "no table is here".into());
        let message = format!("{what}; expected lines such as 'Unicast lids [0-28] of switch …'");
        let nothing = ReadError { line: 1, column: 1, message };
        // A damaged header says more than that nothing is left.
        let damaged = lft.dirt.iter().find(|(kind, _)| *kind == DirtKind::DamagedLine);
        return Err(damaged.map_or(nothing, |(_, found)| found.places[0].clone()));
    }
    for (s, row) in lft.rows.iter_mut().enumerate() {
        match seen[s] {
            true => row.resize(lft.keys.len(), NO_ROUTE),
            false => lft.missing_switches.push(SwitchIndex::new(s)),
        }
    }
    // Columns count the LIDs of a destination, and InfiniBand has no more for one.
    match lft.lids().into_iter().find(|(_, lids)| lids.len() > MOST_LIDS) {
        Some((_, lids)) => {
            let message = format!(
                "one destination has {} LIDs; at most {MOST_LIDS} are possible",
                lids.len()
            );
            Err(ReadError { line: 1, column: 1, message })
        }
        None => Ok(lft),
    }
}

impl Lft {
    /// The LIDs that this dump uses for each destination, ascending.
    fn lids(&self) -> BTreeMap<End, Vec<Lid>> {
        let mut lids: BTreeMap<End, Vec<Lid>> = BTreeMap::new();
        for &(end, lid) in &self.keys {
            lids.entry(end).or_default().push(lid);
        }
        for list in lids.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        lids
    }

    /// The LIDs that each of these dumps uses for each destination: the fabric's own where it uses no others.
    fn told(dumps: &[&Lft], fabric: &Fabric) -> Vec<BTreeMap<End, Vec<Lid>>> {
        let mut told: Vec<BTreeMap<End, Vec<Lid>>> = dumps.iter().map(|dump| dump.lids()).collect();
        for (end, own) in ends(fabric) {
            for lids in told.iter_mut().filter_map(|lids| lids.get_mut(&end)) {
                if lids.iter().all(|lid| own.contains(lid)) {
                    lids.clone_from(&own);
                }
            }
        }
        told
    }

    /// The first destination that another dump knows by other LIDs: what it is, and the first LID here and
    /// there that differs. Entries of such dumps cannot follow each other in one table.
    pub fn renumbered(&self, other: &Lft, fabric: &Fabric) -> Option<(End, Lid, Lid)> {
        let told = Self::told(&[self, other], fabric);
        let both = told[0].iter().filter_map(|(end, here)| Some((end, here, told[1].get(end)?)));
        both.filter(|(_, here, there)| here != there)
            .map(|(&end, here, there)| {
                let differ = here.iter().zip(there).find(|(a, b)| a != b);
                let (a, b) = differ.unwrap_or((&here[here.len() - 1], &there[there.len() - 1]));
                (end, *a, *b)
            })
            .next()
    }

    /// The tables of these dumps, all with the same columns: one for each LID of each destination.
    /// Where a dump uses the fabric's own LIDs, those are the columns, and one without any row is a
    /// destination that nobody reaches. Where LIDs have changed since, a dump's own k-th LID of a
    /// destination is its k-th column.
    ///
    /// # Errors
    /// If they do not fit into memory.
    pub fn tables(dumps: &[&Lft], fabric: &Fabric) -> Result<Vec<ForwardingTables>, NoMemory> {
        let told = Self::told(dumps, fabric);
        let mut destinations: Vec<Destination> = Vec::new();
        for (end, own) in ends(fabric) {
            let (switch, port) = match end {
                End::Node(n) => (fabric.node(n).switch, fabric.node(n).switch_port),
                End::Switch(s) => (s, PortNumber::SELF),
            };
            // The dump with the most LIDs for a destination says how many columns it has.
            let most = told.iter().filter_map(|lids| lids.get(&end)).max_by_key(|lids| lids.len());
            destinations.extend(
                most.unwrap_or(&own).iter().zip(0..).map(|(&lid, k)| Destination {
                    lid,
                    end,
                    switch,
                    port,
                    number: 0,
                    k,
                }),
            );
        }
        destinations.sort_by_key(|d| d.switch);
        let columns = Arc::new(Columns::of(destinations));
        let places: HashMap<(End, u8), usize> =
            columns.destinations().iter().zip(0..).map(|(d, at)| ((d.end, d.k), at)).collect();
        let column = |lids: &BTreeMap<End, Vec<Lid>>, (end, lid): (End, Lid)| {
            let k = lids[&end].iter().position(|&l| l == lid).expect("its own list has it");
            places[&(end, k as u8)]
        };
        let fill = |(dump, lids): (&&Lft, &BTreeMap<End, Vec<Lid>>)| {
            let mut of_column = vec![None; columns.len()];
            for (key, &meant) in dump.keys.iter().enumerate() {
                of_column[column(lids, meant)] = Some(key);
            }
            dump.filled(&columns, &of_column)
        };
        dumps.iter().zip(&told).map(fill).collect()
    }

    /// Returns the tables with these columns. A destination whose LIDs in the dump are LIDs of its columns is matched by
    /// LID; where they are others, its k-th LID in the dump belongs to its k-th column. What the dump does not have
    /// has no route.
    ///
    /// # Errors
    /// If they do not fit into memory.
    pub fn with_columns(
        &self,
        columns: &Arc<Columns>,
        fabric: &Fabric,
    ) -> Result<ForwardingTables, NoMemory> {
        let places: HashMap<(End, Lid), usize> = self.keys.iter().copied().zip(0..).collect();
        let mut own: HashMap<End, Vec<Lid>> = HashMap::new();
        for d in columns.destinations() {
            own.entry(d.end).or_default().push(d.lid);
        }
        let lids = self.lids();
        let place = |d: &Destination| {
            let theirs = lids.get(&d.end)?;
            let same = theirs.iter().all(|lid| own[&d.end].contains(lid));
            let lid = if same { d.lid } else { *theirs.get(usize::from(d.k))? };
            places.get(&(d.end, lid)).copied()
        };
        let of_column: Vec<Option<usize>> = columns.destinations().iter().map(place).collect();
        debug_assert_eq!(self.rows.len(), fabric.switches().len());
        self.filled(columns, &of_column)
    }

    /// The tables with these columns, each filled from the key that it has, if it has one.
    fn filled(
        &self,
        columns: &Arc<Columns>,
        of_column: &[Option<usize>],
    ) -> Result<ForwardingTables, NoMemory> {
        let mut tables = ForwardingTables::new(columns.clone(), self.rows.len())?;
        let fill = |(tile, entries): (Tile, &mut [u8])| {
            let runs = runs(&of_column[tile.columns.clone()]);
            let rows = entries.chunks_exact_mut(tile.columns.len());
            for (from, to) in self.rows.iter().zip(rows).filter(|(from, _)| !from.is_empty()) {
                for &Run { column, key, length } in &runs {
                    to[column..column + length].copy_from_slice(&from[key..key + length]);
                }
            }
        };
        parallel::for_each(tables.tiles_mut(), fill);
        Ok(tables)
    }
}

/// Columns whose keys follow each other.
struct Run {
    column: usize,
    key: usize,
    length: usize,
}

fn runs(of_column: &[Option<usize>]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (column, key) in of_column.iter().enumerate() {
        let Some(key) = *key else { continue };
        match runs.last_mut() {
            Some(run) if run.column + run.length == column && run.key + run.length == key => {
                run.length += 1;
            }
            _ => runs.push(Run { column, key, length: 1 }),
        }
    }
    runs
}

/// Every destination of a fabric, with the LIDs it has there.
pub(crate) fn ends(fabric: &Fabric) -> impl Iterator<Item = (End, Vec<Lid>)> {
    let nodes = fabric.node_indices().map(|n| {
        let node = fabric.node(n);
        (End::Node(n), (0..1 << node.lmc).map(|k| Lid(node.lid.0 + k)).collect())
    });
    let switches = fabric.switch_indices().map(|s| (End::Switch(s), vec![fabric.switch(s).lid]));
    nodes.chain(switches)
}
