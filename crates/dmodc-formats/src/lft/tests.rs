//! Examples of dumps and their meaning.

use super::*;
use dmodc::{Degradation, Dmodc, ForwardingTables, Live, NodeIndex, Pgft, Routing};

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

/// Returns all entries by switch, end and k, so that tables with different columns can be compared.
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
fn tables_read_back_the_same() {
    let fabric = figure_1();
    let tables = route(&fabric);
    let text = written(&fabric, &tables);
    assert!(text.lines().all(|line| line.len() < 1024));
    let lft = read(text.as_bytes(), &fabric).unwrap();
    assert!(lft.unknown_switches.is_empty() && lft.unknown_destinations.is_empty());
    assert_eq!(entries(&Lft::tables(&[&lft], &fabric).unwrap()[0]), entries(&tables));
    // In the text of ibroute, and where LIDs have changed, GUIDs decide.
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
    let missing = tables.columns().destinations().iter().position(|d| d.lid == Lid(101)).unwrap();
    assert!(fabric.switch_indices().all(|s| tables.port(s, missing).is_none()));
}

/// A dump that ends anywhere: no entry is another one than in the whole dump, and a remark says that something is missing.
#[test]
fn a_dump_that_breaks_off_is_noticed() {
    let fabric = figure_1();
    let tables = route(&fabric);
    let text = written(&fabric, &tables);
    let whole = entries(&tables);
    // The last table and the end of the one before.
    for end in text.len() - 2200..text.len() {
        let lft = read(&text.as_bytes()[..end], &fabric).unwrap();
        assert_eq!(lft, naive::read(&text.as_bytes()[..end], &fabric).unwrap(), "{end} bytes");
        let is_complete = end + 1 == text.len();
        assert_eq!(
            lft.dirt.is_empty() && lft.missing_switches.is_empty(),
            is_complete,
            "{end} bytes"
        );
        for (entry, port) in entries(&Lft::tables(&[&lft], &fabric).unwrap()[0]) {
            assert_eq!(whole.get(&entry), Some(&port), "{end} bytes");
        }
    }
}

#[test]
fn the_last_line_needs_no_line_end() {
    let fabric = figure_1();
    let text = written(&fabric, &route(&fabric));
    let lines: Vec<&str> = text.lines().filter(|line| !line.ends_with("lids dumped")).collect();
    let lft = read(lines.join("\n").as_bytes(), &fabric).unwrap();
    assert!(lft.dirt.is_empty(), "{:?}", lft.dirt);
    assert_eq!(entries(&Lft::tables(&[&lft], &fabric).unwrap()[0]), entries(&route(&fabric)));
}

/// Two dumps in one file: the later table of a switch is used, and this is reported.
#[test]
fn switches_with_two_tables_are_reported() {
    let fabric = figure_1();
    let text = written(&fabric, &route(&fabric));
    let other = text.replace(" 003 ", " 004 ");
    let twice = format!("{other}{text}");
    let lft = read(twice.as_bytes(), &fabric).unwrap();
    assert_eq!(lft, naive::read(twice.as_bytes(), &fabric).unwrap());
    let (kind, found) = lft.dirt.iter().next().unwrap();
    assert_eq!((kind, found.count), (DirtKind::RepeatedTable, 16));
    assert_eq!(found.places[0].line as usize, text.lines().count() + 1);
    assert_eq!(entries(&Lft::tables(&[&lft], &fabric).unwrap()[0]), entries(&route(&fabric)));
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
    assert_eq!(error, "1:1: one destination has 300 LIDs, but at most 128 are possible");
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
        ("hello", "1:1: the file has no forwarding table; expected lines"),
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

/// If the LIDs of a dump differ from those of the fabric, GUIDs and the order of LIDs decide.
#[test]
fn given_columns_are_filled_whatever_the_lids_of_a_dump() {
    let fabric = figure_1();
    let tables = route(&fabric);
    let text = written(&fabric, &tables);
    for dump in
        [text.clone(), text.replace("\n0x001c", "\n0x0040"), text.replace("\n0x00", "\n0x01")]
    {
        let lft = read(dump.as_bytes(), &fabric).unwrap();
        let filled = lft.with_columns(tables.columns(), &fabric).unwrap();
        assert!(filled == tables, "{} entries differ", filled.differing(&tables));
    }
}

/// Tables that are not written look as if they were, on a healthy fabric and on one that lost a switch and cables.
#[test]
fn tables_look_as_if_they_were_read() {
    let whole = figure_1();
    let mut dead = Degradation::none(&whole);
    for part in ["L2-0", "L1-0/4", "L3-1/2"] {
        dead.remove(&whole, part).unwrap();
    }
    for dead in [Degradation::none(&whole), dead] {
        let (live, present) = (Live::new(&whole, &dead), whole.without(&dead));
        let tables = Routing::new(live, &Default::default()).route(live, &Dmodc).unwrap().0;
        let mut text = Vec::new();
        write(live, &tables, &[], &mut text).unwrap();
        let read = read(&text, &present).unwrap();
        let expected = Lft::tables(&[&read], &present).unwrap().remove(0);
        assert_eq!(as_if_read(live, &tables, &present).unwrap(), expected);
    }
}
