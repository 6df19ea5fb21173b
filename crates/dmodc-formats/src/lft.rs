//! Forwarding tables as text: the dump that OpenSM writes and loads (`-R file -U`), what `ibroute` and
//! `dump_lfts` print, and `opensm.fdbs`.
//!
//! A row names its destination by LID and, in a comment, by port GUID. LIDs may have changed since,
//! GUIDs have not, so the GUID decides where there is one. A destination may have several LIDs (LMC);
//! they are told apart by their order.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::Arc;

use dmodc::fabric::AdapterKind;
use dmodc::{
    Columns, Destination, End, Fabric, ForwardingTables, Guid, Lid, Live, NO_ROUTE, NoMemory,
    PortNumber, SwitchIndex,
};

use crate::scan::{Cursor, lines, printable};
use crate::{Dirt, DirtKind, ReadError, foreign};

/// What OpenSM's loader reads of a line at the most.
const LONGEST_LINE: usize = 1023;

/// The most LIDs that one port can have: an LMC is at most 7.
const MOST_LIDS: usize = 128;

/// A dump, matched with a fabric.
#[derive(Clone, Debug, Default)]
pub struct Lft {
    /// The destinations that rows name, each once.
    keys: Vec<(End, Lid)>,
    rows: Vec<Row>,
    /// What was not as it should be.
    pub dirt: Dirt,
    /// Switches of the dump that the fabric does not have.
    pub unknown_switches: Vec<Guid>,
    /// Destinations of the dump that the fabric does not have: by LID, with the GUID if it was told.
    pub unknown_destinations: BTreeMap<Lid, Option<Guid>>,
    /// Switches of the fabric that the dump has no table for.
    pub missing_switches: Vec<SwitchIndex>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    switch: SwitchIndex,
    key: u32,
    port: PortNumber,
}

/// How the table of a switch begins: in dumps, and in `opensm.fdbs`.
const HEADERS: [&str; 2] = ["Unicast lids ", "dump_ucast_routes: Switch "];

/// Whether this looks like a dump of tables.
pub fn detect(text: &[u8]) -> bool {
    lines(text).take(200).any(|mut line| {
        line.skip_blanks();
        HEADERS.iter().any(|header| line.take(header))
    })
}

/// Reads a dump of the tables of a fabric. Lines that are not of the format are noted and skipped.
///
/// # Errors
/// If there is no table in it.
pub fn read(text: &[u8], fabric: &Fabric) -> Result<Lft, ReadError> {
    let mut keys = Keys::new(fabric);
    let mut lft = Lft::default();
    // The table being read, if there is one, and its switch, if the fabric knows it.
    let mut switch: Option<Option<SwitchIndex>> = None;
    let mut seen = vec![false; fabric.switches().len()];
    let mut tables = 0;
    for mut line in lines(text) {
        line.skip_blanks();
        if line.rest().starts_with(b"0x") {
            let Some(switch) = switch else {
                let place = line.expected("'Unicast lids … of switch …' before the entries");
                lft.dirt.note(DirtKind::DamagedLine, place);
                continue;
            };
            let (lid, port, guid) = match row(line) {
                Ok(row) => row,
                Err(place) => {
                    let kind =
                        if line.is_last() { DirtKind::Truncated } else { DirtKind::DamagedLine };
                    lft.dirt.note(kind, place);
                    continue;
                }
            };
            match (keys.find(lid, guid), switch) {
                (None, _) => {
                    lft.unknown_destinations.insert(lid, guid);
                }
                (Some(key), Some(switch)) if port.0 != NO_ROUTE => {
                    lft.rows.push(Row { switch, key, port });
                }
                _ => {}
            }
        } else if let Some(guid) = header(line) {
            let guid = match guid {
                Ok(guid) => guid,
                Err(place) => {
                    // Whose entries follow is not known; they are passed over with it.
                    lft.dirt.note(DirtKind::DamagedLine, place);
                    switch = None;
                    continue;
                }
            };
            tables += 1;
            keys.next_in_table = 0;
            let index = keys.known.switch(guid);
            match index {
                Some(s) => seen[s.at()] = true,
                None => lft.unknown_switches.push(guid),
            }
            switch = Some(index);
        } else if !is_heading(line) {
            let place = line.expected("a table header or an entry such as '0x0001 001'");
            lft.dirt.note(DirtKind::ForeignLine, place);
        }
    }
    if tables == 0 {
        let what = foreign(text).unwrap_or_else(|| "no table is here".into());
        let message = format!("{what}; expected lines such as 'Unicast lids [0-28] of switch …'");
        let nothing = ReadError { line: 1, column: 1, message };
        // A damaged header says more than that nothing is left.
        let damaged = lft.dirt.iter().find(|(kind, _)| *kind == DirtKind::DamagedLine);
        return Err(damaged.map_or(nothing, |(_, found)| found.places[0].clone()));
    }
    lft.missing_switches = fabric.switch_indices().filter(|s| !seen[s.at()]).collect();
    lft.keys = keys.list;
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

/// What the fabric knows destinations by.
struct Known {
    by_guid: HashMap<Guid, End>,
    by_lid: HashMap<Lid, End>,
}

impl Known {
    fn new(fabric: &Fabric) -> Self {
        let mut known = Known { by_guid: HashMap::new(), by_lid: HashMap::new() };
        for (end, lids) in ends(fabric) {
            known.by_guid.insert(end.guid(fabric), end);
            known.by_lid.extend(lids.into_iter().map(|lid| (lid, end)));
        }
        known
    }

    fn switch(&self, guid: Guid) -> Option<SwitchIndex> {
        match self.by_guid.get(&guid) {
            Some(&End::Switch(s)) => Some(s),
            _ => None,
        }
    }
}

/// The destinations that rows have named so far. The tables of all switches list the same ones in the
/// same order, so the one that followed last time is looked at first.
struct Keys {
    known: Known,
    list: Vec<(End, Lid)>,
    names: Vec<(Lid, Option<Guid>)>,
    places: HashMap<(Lid, Option<Guid>), u32>,
    next_in_table: usize,
}

impl Keys {
    fn new(fabric: &Fabric) -> Self {
        Keys {
            known: Known::new(fabric),
            list: Vec::new(),
            names: Vec::new(),
            places: HashMap::new(),
            next_in_table: 0,
        }
    }

    /// The place of a destination in the list, if the fabric knows it.
    fn find(&mut self, lid: Lid, guid: Option<Guid>) -> Option<u32> {
        let name = (lid, guid);
        let key = match self.names.get(self.next_in_table) == Some(&name) {
            true => self.next_in_table as u32,
            false => match self.places.get(&name) {
                Some(&key) => key,
                None => self.insert(name)?,
            },
        };
        self.next_in_table = key as usize + 1;
        Some(key)
    }

    fn insert(&mut self, name: (Lid, Option<Guid>)) -> Option<u32> {
        let end = match name.1 {
            Some(guid) => self.known.by_guid.get(&guid),
            None => self.known.by_lid.get(&name.0),
        };
        let key = self.list.len() as u32;
        self.list.push((*end?, name.0));
        self.names.push(name);
        self.places.insert(name, key);
        Some(key)
    }
}

/// `Unicast lids [0-28] of switch Lid 2 guid 0x0002c90100000001 ('L1-0'):` or
/// `dump_ucast_routes: Switch 0x0002c90100000001`; `None` for a line that is neither.
fn header(mut line: Cursor<'_>) -> Option<Result<Guid, ReadError>> {
    if line.take(HEADERS[1]) {
        return Some(line.guid());
    }
    if !line.take(HEADERS[0]) {
        return None;
    }
    Some(match line.find(" guid ") {
        true => line.guid(),
        false => Err(line.expected("the switch's ' guid 0x…'")),
    })
}

/// Lines that carry nothing: comments, headings of columns, counts, and the warning that
/// `dump_lfts` prints about its own age.
fn is_heading(line: Cursor<'_>) -> bool {
    let rest = line.rest();
    rest.is_empty()
        || rest.starts_with(b"#")
        || rest.starts_with(b"Lid  Out")
        || rest.starts_with(b"Port ")
        || rest.starts_with(b"LID    : Port")
        || rest.starts_with(b"*** WARNING ***")
        || rest.trim_ascii_end().ends_with(b"lids dumped")
}

/// `0x0001 001 # Channel Adapter portguid 0x0002c90000000011: 'nic0'`
fn row(mut line: Cursor<'_>) -> Result<(Lid, PortNumber, Option<Guid>), ReadError> {
    let start = line;
    let lid = match u32::try_from(line.hex("a LID such as 0x0001")?) {
        Ok(lid) => Lid(lid),
        Err(_) => return Err(start.expected("a LID of at most 32 bits")),
    };
    if !line.take(" ") {
        return Err(line.expected("a blank and a port"));
    }
    // The form of opensm.fdbs: `0x0001 : 005  : 05   : yes`, or UNREACHABLE.
    if line.take(": ") {
        line.skip_blanks();
        if line.take("UNREACHABLE") {
            return Ok((lid, PortNumber(NO_ROUTE), None));
        }
    }
    let port = PortNumber(line.decimal("a port", 0, 255)? as u8);
    let guid = match line.find("portguid ") {
        true => Some(line.guid()?),
        false => None,
    };
    Ok((lid, port, guid))
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
            let of_key: Vec<usize> = dump.keys.iter().map(|&key| column(lids, key)).collect();
            let mut tables = ForwardingTables::new(columns.clone(), fabric.switches().len())?;
            for row in &dump.rows {
                tables.set(row.switch, of_key[row.key as usize], Some(row.port));
            }
            Ok(tables)
        };
        dumps.iter().zip(&told).map(fill).collect()
    }

    /// The tables with these columns. Destinations are matched by what they are and by LID; what the dump
    /// does not tell has no route.
    ///
    /// # Errors
    /// If they do not fit into memory.
    pub fn with_columns(
        &self,
        columns: &Arc<Columns>,
        fabric: &Fabric,
    ) -> Result<ForwardingTables, NoMemory> {
        let places: HashMap<(End, Lid), usize> =
            columns.destinations().iter().zip(0..).map(|(d, at)| ((d.end, d.lid), at)).collect();
        let of_key: Vec<Option<usize>> =
            self.keys.iter().map(|key| places.get(key).copied()).collect();
        let mut tables = ForwardingTables::new(columns.clone(), fabric.switches().len())?;
        for row in &self.rows {
            if let Some(column) = of_key[row.key as usize] {
                tables.set(row.switch, column, Some(row.port));
            }
        }
        Ok(tables)
    }
}

/// Every destination of a fabric, with the LIDs it has there.
fn ends(fabric: &Fabric) -> impl Iterator<Item = (End, Vec<Lid>)> {
    let nodes = fabric.node_indices().map(|n| {
        let node = fabric.node(n);
        (End::Node(n), (0..1 << node.lmc).map(|k| Lid(node.lid.0 + k)).collect())
    });
    let switches = fabric.switch_indices().map(|s| (End::Switch(s), vec![fabric.switch(s).lid]));
    nodes.chain(switches)
}

/// Writes tables as OpenSM dumps and loads them: live switches by index, entries by LID; what has no route
/// is left out, and so is what is dead.
///
/// # Errors
/// What the writer says.
pub fn write(
    live: Live<'_>,
    tables: &ForwardingTables,
    comments: &[String],
    out: &mut impl Write,
) -> io::Result<()> {
    for comment in comments {
        writeln!(out, "# {}", printable(comment))?;
    }
    let mut writer = Writer::new(live, tables.columns());
    for s in live.switches() {
        writer.write(s, |column| tables.port(s, column), out)?;
    }
    Ok(())
}

/// Writes the tables of one switch after the other.
pub struct Writer<'a> {
    fabric: &'a Fabric,
    /// A row is `0x0001 ` + port + what follows; the two outer parts are the same at every switch.
    parts: Vec<(usize, String, String)>,
    /// The greatest LID.
    last: u32,
    ports: Vec<String>,
    text: Vec<u8>,
}

impl<'a> Writer<'a> {
    /// For tables with these columns, as far as they are alive.
    pub fn new(live: Live<'a>, columns: &Columns) -> Self {
        let fabric = live.fabric;
        let mut by_lid = columns.by_lid();
        by_lid.retain(|&c| columns.destinations()[c].end.is_alive(live));
        let last = by_lid.last().map_or(0, |&c| columns.destinations()[c].lid.0);
        let part = |column: usize| {
            let d = &columns.destinations()[column];
            (column, format!("0x{:04x} ", d.lid.0), comment(fabric, d.end))
        };
        Writer {
            fabric,
            parts: by_lid.into_iter().map(part).collect(),
            last,
            ports: (0..=255).map(|port| format!("{port:03}")).collect(),
            text: vec![],
        }
    }

    /// Writes the table of one switch, whose ports by column are told.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(
        &mut self,
        s: SwitchIndex,
        port: impl Fn(usize) -> Option<PortNumber>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let switch = self.fabric.switch(s);
        let (name, text) = (shortened(&switch.name), &mut self.text);
        text.clear();
        writeln!(
            text,
            "Unicast lids [0-{}] of switch Lid {} guid {} ('{name}'):",
            self.last, switch.lid, switch.guid
        )?;
        let mut dumped = 0;
        for (column, head, tail) in &self.parts {
            if let Some(port) = port(*column) {
                text.extend_from_slice(head.as_bytes());
                text.extend_from_slice(self.ports[usize::from(port.0)].as_bytes());
                text.extend_from_slice(tail.as_bytes());
                dumped += 1;
            }
        }
        writeln!(text, "{dumped} lids dumped")?;
        out.write_all(text)
    }
}

/// ` # Channel Adapter portguid 0x0002c90000000011: 'nic0'` and the end of the line.
fn comment(fabric: &Fabric, end: End) -> String {
    let kind = match end {
        End::Node(n) if fabric.adapter_of(n).kind == AdapterKind::Router => "Router",
        End::Node(_) => "Channel Adapter",
        End::Switch(_) => "Switch",
    };
    let (guid, name) = (end.guid(fabric), end.name(fabric));
    format!(" # {kind} portguid {guid}: '{}'\n", shortened(name))
}

/// A name that leaves room in a line that OpenSM reads.
fn shortened(name: &str) -> String {
    let mut name = printable(name);
    let mut end = name.len().min(LONGEST_LINE - 123);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name.truncate(end);
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::{Degradation, Dmodc, NodeIndex, Pgft, Routing};

    fn figure_1() -> Fabric {
        "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default())
    }

    fn route(fabric: &Fabric) -> ForwardingTables {
        let healthy = Degradation::none(fabric);
        let live = Live::new(fabric, &healthy);
        Routing::new(live, &Default::default()).route(live, &Dmodc).unwrap().0
    }

    fn written(fabric: &Fabric, tables: &ForwardingTables) -> String {
        let mut text = Vec::new();
        let healthy = Degradation::none(fabric);
        write(Live::new(fabric, &healthy), tables, &[], &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    /// All entries by switch, end and k: tables with other columns can be compared so.
    fn entries(tables: &ForwardingTables) -> BTreeMap<(usize, End, u8), u8> {
        let mut entries = BTreeMap::new();
        for s in 0..tables.switch_count() {
            for (column, d) in tables.columns().destinations().iter().enumerate() {
                if let Some(port) = tables.port(SwitchIndex::new(s), column) {
                    entries.insert((s, d.end, d.k), port.0);
                }
            }
        }
        entries
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let fabric = figure_1();
        let tables = route(&fabric);
        let text = written(&fabric, &tables);
        assert!(text.lines().all(|line| line.len() < 1024));
        let lft = read(text.as_bytes(), &fabric).unwrap();
        assert!(lft.unknown_switches.is_empty() && lft.unknown_destinations.is_empty());
        assert_eq!(entries(&Lft::tables(&[&lft], &fabric).unwrap()[0]), entries(&tables));
        // The text of ibroute, and LIDs that have changed: GUIDs decide.
        let ibroute = text
            .replace(" # ", " : (")
            .replace("lids [0-28]", "lids [0x0-0x1c]")
            .replace("28 lids dumped", "28 valid lids dumped ")
            .replace("\n0x00", "\n0x01")
            .replacen("):\n", "):\n  Lid  Out   Destination\n       Port     Info \n", 1);
        let lft = read(ibroute.as_bytes(), &fabric).unwrap();
        assert_eq!(entries(&Lft::tables(&[&lft], &fabric).unwrap()[0]), entries(&tables));
        // Without GUIDs, LIDs decide.
        let bare: String =
            text.lines().map(|l| format!("{} \n", l.split(" # ").next().unwrap())).collect();
        let lft = read(bare.as_bytes(), &fabric).unwrap();
        assert_eq!(entries(&Lft::tables(&[&lft], &fabric).unwrap()[0]), entries(&tables));
    }

    #[test]
    fn several_lids_of_a_node_are_columns_of_their_own() {
        let fabric = figure_1();
        let guid = fabric.node(NodeIndex::new(0)).guid;
        let leaf = fabric.switches()[0].guid;
        let dump = |first: u32| {
            format!(
                "Unicast lids [0-9] of switch Lid 2 guid {leaf} ('L1-0'):\n\
                 0x{:04x} 001 # Channel Adapter portguid {guid}: 'node-0'\n\
                 0x{:04x} 003 # Channel Adapter portguid {guid}: 'node-0'\n2 lids dumped\n",
                first,
                first + 1
            )
        };
        let (a, b) = (dump(4), dump(40));
        let (a, b) = (read(a.as_bytes(), &fabric).unwrap(), read(b.as_bytes(), &fabric).unwrap());
        let tables = Lft::tables(&[&a, &b], &fabric).unwrap();
        assert_eq!(tables[0].columns().len(), 29);
        assert_eq!(entries(&tables[0]), entries(&tables[1]));
        assert_eq!(entries(&tables[0]).into_values().collect::<Vec<_>>(), [1, 3]);
        assert_eq!(a.missing_switches.len(), 15);
    }

    #[test]
    fn a_lid_of_the_fabric_without_rows_is_a_column_all_the_same() {
        let mut text = Vec::new();
        crate::ibnetdiscover::write(&figure_1(), &[], &mut text).unwrap();
        let text = String::from_utf8(text).unwrap().replacen("lid 1 lmc 0", "lid 100 lmc 2", 1);
        let fabric = crate::read(text.as_bytes()).unwrap().fabric;
        let tables = route(&fabric);
        let dump: String = written(&fabric, &tables)
            .lines()
            .filter(|line| !line.starts_with("0x0065 "))
            .map(|line| format!("{line}\n"))
            .collect();
        let lft = read(dump.as_bytes(), &fabric).unwrap();
        let tables = &Lft::tables(&[&lft], &fabric).unwrap()[0];
        assert_eq!(tables.columns().len(), 12 + 3 + 16);
        let missing =
            tables.columns().destinations().iter().position(|d| d.lid == Lid(101)).unwrap();
        assert!(fabric.switch_indices().all(|s| tables.port(s, missing).is_none()));
    }

    #[test]
    fn fdbs_are_read() {
        let fabric = figure_1();
        let leaf = fabric.switches()[0].guid;
        let text = format!(
            "dump_ucast_routes: Switch {leaf}\nLID    : Port : Hops : Optimal\n\
             0x0001 : 001  : 01   : yes\n0x000B : 006  : 05   : yes\n0x000C : UNREACHABLE\n"
        );
        let lft = read(text.as_bytes(), &fabric).unwrap();
        assert!(lft.dirt.is_empty(), "{:?}", lft.dirt);
        let ports: Vec<u8> =
            entries(&Lft::tables(&[&lft], &fabric).unwrap()[0]).into_values().collect();
        assert_eq!(ports, [1, 6]);
    }

    #[test]
    fn more_lids_than_one_port_can_have_are_refused() {
        let fabric = figure_1();
        let guid = fabric.node(NodeIndex::new(0)).guid;
        let mut text = format!("Unicast lids of Lid 1 guid {} :\n", fabric.switches()[0].guid);
        for lid in 1..=300 {
            text += &format!("0x{lid:04x} 001 # portguid {guid}: 'x'\n");
        }
        let error = read(text.as_bytes(), &fabric).unwrap_err().to_string();
        assert_eq!(error, "1:1: one destination has 300 LIDs; at most 128 are possible");
    }

    #[test]
    fn strangers_are_listed_and_nonsense_is_refused() {
        let fabric = figure_1();
        let text = "Unicast lids [0-9] of switch Lid 2 guid 0x77 ('x'):\n\
                    0x0001 001 # Channel Adapter portguid 0x99: 'x'\n0x0900 001 \n";
        let lft = read(text.as_bytes(), &fabric).unwrap();
        assert_eq!(lft.unknown_switches, [Guid(0x77)]);
        let strangers: Vec<_> = lft.unknown_destinations.into_iter().collect();
        assert_eq!(strangers, [(Lid(1), Some(Guid(0x99))), (Lid(0x900), None)]);
        for (text, message) in [
            ("", "1:1: the input is empty; expected lines"),
            ("hello", "1:1: no table is here; expected lines"),
            ("0x0001 001 \n", "1:1: expected 'Unicast lids"),
            ("Unicast lids [0-9] of switch Lid 2\n", "1:14: expected the switch's ' guid 0x…'"),
        ] {
            let found = read(text.as_bytes(), &fabric).unwrap_err().to_string();
            assert!(found.starts_with(message), "{text:?}: {found}");
        }
        for (line, message) in [
            ("0x0001 256 \n", "2:8: expected a port from 0 to 255"),
            ("0x0001\n", "2:7: expected a blank and a port"),
            ("ibroute: iberror: failed\n", "2:1: expected a table header or an entry"),
            ("0x123456789 1 \n", "2:1: expected a LID of at most 32 bits"),
            ("0x00", "2:5: expected a blank and a port"),
        ] {
            let text = format!("Unicast lids of Lid 1 guid 0x77 \n{line}");
            let dirt = read(text.as_bytes(), &fabric).unwrap().dirt;
            let found = dirt.first().unwrap().to_string();
            assert!(found.starts_with(message), "{text:?}: {found}");
        }
    }
}
