//! Tables of dumps with the columns of a fabric: which LID of a dump belongs to which column.
//!
//! LIDs may have changed between a dump and the fabric, or between two dumps. A destination whose LIDs in the dump are
//! LIDs that it has is matched by LID. Otherwise its LIDs are matched by their order: the k-th LID of the dump belongs
//! to its k-th column.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use dmodc::{
    Columns, Destination, End, Fabric, ForwardingTables, Guid, Lid, Live, NO_ROUTE, NoMemory,
    PortNumber, SwitchIndex, Tile, parallel,
};

use super::{Lft, ends};

/// The LIDs of each destination, ascending.
type LidsByDestination = BTreeMap<End, Vec<Lid>>;

impl Lft {
    /// Returns the LIDs that this dump uses for each destination.
    pub(super) fn lids(&self) -> LidsByDestination {
        let mut lids = LidsByDestination::new();
        for &(end, lid) in &self.keys {
            lids.entry(end).or_default().push(lid);
        }
        for list in lids.values_mut() {
            list.sort_unstable();
            list.dedup();
        }
        lids
    }

    /// Returns the LIDs that each of these dumps uses for each destination. If a dump uses only LIDs that the fabric has
    /// for a destination, these are all LIDs of the fabric.
    fn lids_of_all(dumps: &[&Lft], fabric: &Fabric) -> Vec<LidsByDestination> {
        let mut all: Vec<LidsByDestination> = dumps.iter().map(|dump| dump.lids()).collect();
        for (end, own) in ends(fabric) {
            for lids in all.iter_mut().filter_map(|lids| lids.get_mut(&end)) {
                if lids.iter().all(|lid| own.contains(lid)) {
                    lids.clone_from(&own);
                }
            }
        }
        all
    }

    /// Returns the first destination for which another dump uses other LIDs, with the first LID here and there that
    /// differs. Entries of such dumps cannot follow each other in one table.
    pub fn renumbered(&self, other: &Lft, fabric: &Fabric) -> Option<(End, Lid, Lid)> {
        let all = Self::lids_of_all(&[self, other], fabric);
        let both = all[0].iter().filter_map(|(end, here)| Some((end, here, all[1].get(end)?)));
        both.filter(|(_, here, there)| here != there)
            .map(|(&end, here, there)| {
                let differ = here.iter().zip(there).find(|(a, b)| a != b);
                let (a, b) = differ.unwrap_or((&here[here.len() - 1], &there[there.len() - 1]));
                (end, *a, *b)
            })
            .next()
    }

    /// Returns the tables of these dumps, all with the same columns: one for each LID of each destination. If a dump uses
    /// the LIDs of the fabric, these are the columns, and a column without any entry is a destination that nobody
    /// reaches.
    ///
    /// # Errors
    /// If they do not fit into memory.
    pub fn tables(dumps: &[&Lft], fabric: &Fabric) -> Result<Vec<ForwardingTables>, NoMemory> {
        let all = Self::lids_of_all(dumps, fabric);
        let columns = Arc::new(common_columns(&all, fabric));
        let places: HashMap<(End, u8), usize> =
            columns.destinations().iter().zip(0..).map(|(d, at)| ((d.end, d.k), at)).collect();
        let column = |lids: &LidsByDestination, (end, lid): (End, Lid)| {
            let k = lids[&end].iter().position(|&l| l == lid).expect("its own list has it");
            places[&(end, k as u8)]
        };
        let fill = |(dump, lids): (&&Lft, &LidsByDestination)| {
            let mut key_of_column = vec![None; columns.len()];
            for (key, &destination) in dump.keys.iter().enumerate() {
                key_of_column[column(lids, destination)] = Some(key);
            }
            dump.filled(&columns, &key_of_column)
        };
        dumps.iter().zip(&all).map(fill).collect()
    }

    /// Returns the tables with these columns. Columns that the dump does not have have no route.
    ///
    /// # Errors
    /// If they do not fit into memory.
    pub fn with_columns(
        &self,
        columns: &Arc<Columns>,
        fabric: &Fabric,
    ) -> Result<ForwardingTables, NoMemory> {
        let keys: HashMap<(End, Lid), usize> = self.keys.iter().copied().zip(0..).collect();
        let mut own: HashMap<End, Vec<Lid>> = HashMap::new();
        for d in columns.destinations() {
            own.entry(d.end).or_default().push(d.lid);
        }
        let lids = self.lids();
        let key_of = |d: &Destination| {
            let theirs = lids.get(&d.end)?;
            let are_own = theirs.iter().all(|lid| own[&d.end].contains(lid));
            let lid = if are_own { d.lid } else { *theirs.get(usize::from(d.k))? };
            keys.get(&(d.end, lid)).copied()
        };
        let key_of_column: Vec<Option<usize>> = columns.destinations().iter().map(key_of).collect();
        debug_assert_eq!(self.rows.len(), fabric.switches().len());
        self.filled(columns, &key_of_column)
    }

    /// Returns the tables with these columns, each filled from its key, if it has one.
    fn filled(
        &self,
        columns: &Arc<Columns>,
        key_of_column: &[Option<usize>],
    ) -> Result<ForwardingTables, NoMemory> {
        let mut tables = ForwardingTables::new(columns.clone(), self.rows.len())?;
        let fill = |(tile, entries): (Tile, &mut [u8])| {
            let runs = column_runs(&key_of_column[tile.columns.clone()]);
            let rows = entries.chunks_exact_mut(tile.columns.len());
            for (from, to) in self.rows.iter().zip(rows).filter(|(from, _)| !from.is_empty()) {
                for &ColumnRun { column, key, length } in &runs {
                    to[column..column + length].copy_from_slice(&from[key..key + length]);
                }
            }
        };
        parallel::for_each(tables.tiles_mut(), fill);
        Ok(tables)
    }
}

/// Returns tables in the form that they would have if they were written to a file and read again with `present`, without
/// writing them: the columns are those of [`Lft::tables`], and dead parts have no entries. `live` is the fabric of the tables;
/// it may have more parts than the present one, which are matched by GUID.
///
/// # Errors
/// If they do not fit into memory.
pub fn as_if_read(
    live: Live<'_>,
    tables: &ForwardingTables,
    present: &Fabric,
) -> Result<ForwardingTables, NoMemory> {
    let whole = live.fabric;
    let columns = Arc::new(common_columns(&[], present));
    let guid_of = |end: End, fabric: &Fabric| match end {
        End::Node(_) => (true, end.guid(fabric)),
        End::Switch(_) => (false, end.guid(fabric)),
    };
    let mut places: HashMap<((bool, Guid), u8), usize> = HashMap::new();
    for (at, d) in tables.columns().destinations().iter().enumerate() {
        if d.end.is_alive(live) {
            places.insert((guid_of(d.end, whole), d.k), at);
        }
    }
    let place = |d: &Destination| places.get(&(guid_of(d.end, present), d.k)).copied();
    let from: Vec<Option<usize>> = columns.destinations().iter().map(place).collect();
    let rows: HashMap<Guid, SwitchIndex> =
        live.switches().map(|s| (whole.switch(s).guid, s)).collect();
    let rows: Vec<Option<SwitchIndex>> =
        present.switches().iter().map(|switch| rows.get(&switch.guid).copied()).collect();
    let mut read = ForwardingTables::new(columns, rows.len())?;
    parallel::for_each(read.tiles_mut(), |(tile, entries): (Tile, &mut [u8])| {
        for (row, s) in entries.chunks_exact_mut(tile.columns.len()).zip(&rows) {
            let Some(s) = *s else { continue };
            for (entry, from) in row.iter_mut().zip(&from[tile.columns.clone()]) {
                let port = from.and_then(|column| tables.port(s, column));
                *entry = port.map_or(NO_ROUTE, |port| port.0);
            }
        }
    });
    Ok(read)
}

/// Returns columns that serve all dumps. The dump with the most LIDs for a destination decides how many columns it has.
fn common_columns(all: &[LidsByDestination], fabric: &Fabric) -> Columns {
    let mut destinations: Vec<Destination> = Vec::new();
    for (end, own) in ends(fabric) {
        let (switch, port) = match end {
            End::Node(n) => (fabric.node(n).switch, fabric.node(n).switch_port),
            End::Switch(s) => (s, PortNumber::SELF),
        };
        let most = all.iter().filter_map(|lids| lids.get(&end)).max_by_key(|lids| lids.len());
        let numbered = most.unwrap_or(&own).iter().zip(0..);
        destinations.extend(numbered.map(|(&lid, k)| Destination {
            lid,
            end,
            switch,
            port,
            number: 0,
            k,
        }));
    }
    destinations.sort_by_key(|d| d.switch);
    Columns::of(destinations)
}

/// Adjacent columns whose keys are adjacent, too, so that they are copied at once.
struct ColumnRun {
    column: usize,
    key: usize,
    length: usize,
}

fn column_runs(key_of_column: &[Option<usize>]) -> Vec<ColumnRun> {
    let mut runs: Vec<ColumnRun> = Vec::new();
    for (column, key) in key_of_column.iter().enumerate() {
        let Some(key) = *key else { continue };
        match runs.last_mut() {
            Some(run) if run.column + run.length == column && run.key + run.length == key => {
                run.length += 1;
            }
            _ => runs.push(ColumnRun { column, key, length: 1 }),
        }
    }
    runs
}
