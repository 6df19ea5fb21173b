//! Orders that are saved and read back, and files that are refused.

use super::*;
use dmodc::{Degradation, LevelDividers, LevelRule, Live, Pgft, PortNumber, Routing};

#[test]
fn saved_orders_read_back_the_same() {
    let fabric = "3; 2,2,3; 1,2,2; 1,2,1".parse::<Pgft>().unwrap().fabric(Default::default());
    let healthy = Degradation::none(&fabric);
    let live = Live::new(&fabric, &healthy);
    let saved = Routing::new(live, &Default::default()).orders().save(live);
    let mut text = Vec::new();
    write(&saved, &fabric, &mut text).unwrap();
    assert_eq!(read(&text).unwrap(), saved);
    let remark = [b"# the healthy fabric\n", &text[..]].concat();
    assert_eq!(read(&remark).unwrap(), saved);
}

/// A file that has lost its end is refused, however little is missing.
#[test]
fn files_that_were_cut_off_are_refused() {
    let fabric = "2; 2,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
    let saved = Routing::orders_of(&fabric, &Default::default());
    let mut text = Vec::new();
    write(&saved, &fabric, &mut text).unwrap();
    for length in MAGIC.len() + 1..text.len() - 1 {
        assert!(read(&text[..length]).is_err(), "{length} of {} bytes", text.len());
    }
    assert_eq!(read(&text[..text.len() - 1]), Ok(saved), "only the last line end is missing");
    let earlier = b"# dmodc orders 2\n0x1 node a\n0x2 node b\n";
    assert_eq!(read(earlier).unwrap().nodes, [Guid(1), Guid(2)]);
    let cut = read(&earlier[..earlier.len() - 1]).unwrap_err();
    assert_eq!(
        cut.to_string(),
        "3:1: the end of the file is missing; copy the file again, or save the orders again"
    );
}

#[test]
fn empty_and_unknown_places_and_far_numbers_are_saved() {
    let fabric = "2; 1,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
    let place = |port| SavedPlace { switch: Guid(5), port: PortNumber(port) };
    let saved = SavedOrders {
        nodes: vec![Guid(1), Guid(0), Guid(0), Guid(4), Guid(0)],
        node_places: vec![Some(place(1)), Some(place(2)), None, None, None],
        others: vec![Guid(6)],
        cables: vec![SavedCable(place(3), place(4))],
        ..SavedOrders::default()
    };
    let mut text = Vec::new();
    write(&saved, &fabric, &mut text).unwrap();
    assert_eq!(read(&text).unwrap(), saved, "{}", String::from_utf8_lossy(&text));
}

#[test]
fn the_origin_of_ranks_is_saved_or_left_open() {
    let fabric = "2; 1,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
    for roots in [None, Some(vec![]), Some(vec![Guid(7), Guid(3)])] {
        let saved = SavedOrders { roots, groups: vec![Guid(9)], ..SavedOrders::default() };
        let mut text = Vec::new();
        write(&saved, &fabric, &mut text).unwrap();
        assert_eq!(read(&text).unwrap(), saved);
    }
    // Files of earlier versions and plain lists leave the origin open.
    assert_eq!(read(b"# dmodc orders 1\n0x1 group a\n").unwrap().roots, None);
    assert_eq!(read(b"# ranks from leaves\n0x1\n").unwrap().roots, None);
}

#[test]
fn dividers_are_saved_or_left_open() {
    let fabric = "2; 1,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
    let rule = |group, port| LevelRule { group, port };
    let levels = LevelDividers::new(
        vec![rule(None, None), rule(Some(8), None)],
        vec![rule(None, Some(2)), rule(Some(64), Some(3))],
    );
    for (dividers, line) in [
        (None, None),
        (Some(LevelDividers::default()), Some(PAPER_DIVIDERS)),
        (Some(levels.clone()), Some("# dividers up - 8 down -/2 64/3")),
        (Some(levels.counted_from_root(4)), Some("# dividers up - 8 down -/2 64/3 from root 4")),
    ] {
        let saved = SavedOrders { dividers, groups: vec![Guid(9)], ..SavedOrders::default() };
        let mut text = Vec::new();
        write(&saved, &fabric, &mut text).unwrap();
        assert_eq!(read(&text).unwrap(), saved);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().find(|line| line.contains("dividers")), line);
    }
    let given_roots = vec![Guid(3), Guid(7)];
    let saved = SavedOrders { given_roots, groups: vec![Guid(9)], ..SavedOrders::default() };
    let mut text = Vec::new();
    write(&saved, &fabric, &mut text).unwrap();
    assert_eq!(read(&text).unwrap(), saved);
    // Plain lists leave them open, whatever their comments say.
    assert_eq!(read(b"# dividers up 3 down\n0x1\n").unwrap().dividers, None);
}

#[test]
fn the_first_numbers_of_types_are_saved() {
    let fabric = "2; 1,2; 1,2; 1,1".parse::<Pgft>().unwrap().fabric(Default::default());
    for (type_starts, line) in [
        (vec![], None),
        (vec![0], Some("# types from 0")),
        (vec![3, 3, 12], Some("# types from 3 3 12")),
    ] {
        let saved = SavedOrders { type_starts, groups: vec![Guid(9)], ..SavedOrders::default() };
        let mut text = Vec::new();
        write(&saved, &fabric, &mut text).unwrap();
        assert_eq!(read(&text).unwrap(), saved);
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().find(|line| line.contains("types")), line);
    }
    assert!(read(b"# types from 3\n0x1\n").unwrap().type_starts.is_empty());
}

#[test]
fn plain_lists_are_read_and_nonsense_is_refused() {
    let list = read(b"# roots\n0x02 spine one\n\n  3 # a comment\n").unwrap();
    assert_eq!(list, SavedOrders::plain(vec![Guid(2), Guid(3)]));
    for (text, message) in [
        ("", "1:1: the file lists no GUID"),
        ("0x1\nspine\n", "2:1: expected a GUID, found 'spine'"),
        ("0x1g\n", "1:4: expected a blank after the GUID"),
        ("# dmodc orders 4\n0x1 node a\n", "1:1: expected '# dmodc orders 3', 2 or 1, the"),
        (
            "# dmodc orders 1\n0x1 host a\n",
            "2:5: expected 'node', 'other', 'switch', 'group', 'leaf', 'root' or 'cable'",
        ),
        ("# dmodc orders 3\n0x1 node a\n", "2:10: expected a number from 0 to"),
        ("# dmodc orders 3\n0x1 node 4294967295 -\n", "2:10: expected a number from 0 to"),
        ("# dmodc orders 3\n0x1 node 0 leaf\n", "2:12: expected a place: GUID/PORT, or '-'"),
        ("# dmodc orders 3\n0x1 node 0 0x2/0 a\n", "2:16: expected a port from 1 to 254"),
        (
            "# dmodc orders 3\n0x1 node 0 -\n0x2 node 0 -\n# end 2\n",
            "3:10: the number 0 is given twice",
        ),
        ("# dmodc orders 3\n# dividers 8\n", "2:12: expected 'up', found '8'"),
        ("# dmodc orders 3\n# dividers up 0 down\n", "2:15: expected a divider from 1 to"),
        ("# dmodc orders 3\n# dividers up 8x down\n", "2:16: expected a blank after the"),
        ("# dmodc orders 3\n# dividers up 8\n", "2:16: expected 'down', found the end of"),
        (
            "# dmodc orders 3\n# dividers up down x\n",
            "2:20: expected a divider, '-', or 'from root'",
        ),
        ("# dmodc orders 3\n# given roots 0x1 7y\n", "2:20: expected a blank after the GUID"),
        (
            "# dmodc orders 3\n# types from 3 x\n",
            "2:16: expected the first number of a type from 3",
        ),
        (
            "# dmodc orders 3\n# types from 3 2\n",
            "2:16: expected the first number of a type from 3",
        ),
        ("# dmodc orders 3\n# types from \n", "2:14: expected the first number of a type from 0"),
        ("# dmodc orders 3\n# end 0\n0x1 node 0 -\n", "3:1: the file has lines after its end"),
        (
            "# dmodc orders 3\n0x1 node 0 -\n# end 2\n",
            "3:7: 2 lines were written, but the file has 1",
        ),
    ] {
        let found = read(text.as_bytes()).unwrap_err().to_string();
        assert!(found.starts_with(message), "{text:?}: {found}");
    }
}
