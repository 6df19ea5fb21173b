//! `dmodc diff` as users and their scripts meet it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::Desk;

/// The paper's fabric with its tables, and the same routed again without one cable.
fn degraded() -> Desk {
    let desk = Desk::new();
    desk.figure_1();
    desk.ok(&["degrade", "f.topo", "--cables", "1", "--seed", "3", "-o", "g.topo"]);
    desk.ok(&["route", "g.topo", "-o", "g.lft"]);
    desk
}

#[test]
fn equal_tables_are_called_equal() {
    let desk = degraded();
    let text = desk.ok(&["diff", "f.topo", "f.lft", "f.lft"]);
    assert!(text.starts_with("all 448 entries are the same ("), "{text}");
    assert!(text.ends_with("\nverdict: equal\n"), "{text}");
    let diff = desk.json(0, &["diff", "f.topo", "f.lft", "f.lft", "--json"]);
    assert_eq!(diff["schema"], "dmodc/diff/1");
    let keys = ["entries", "blocks", "switches", "pairs", "newly_set", "newly_unset"];
    for key in keys.into_iter().chain(["forced_entries", "forced_blocks"]) {
        assert_eq!(diff[key], 0, "{key}");
    }
    assert_eq!(diff["equal"], true);
    assert_eq!((&diff["of"]["entries"], &diff["of"]["pairs"]), (&448.into(), &132.into()));
}

#[test]
fn what_differs_is_counted_by_level_and_named() {
    let desk = degraded();
    let diff = desk.json(1, &["diff", "g.topo", "f.lft", "g.lft", "--json"]);
    let number = |value: &serde_json::Value| value.as_u64().unwrap();
    let entries = number(&diff["entries"]);
    assert!(entries > 0 && number(&diff["pairs"]) > 0 && diff["equal"] == false);
    // All 28 LIDs lie in one block.
    assert_eq!(diff["blocks"], diff["switches"]);
    for key in ["entries", "blocks", "switches", "newly_set", "newly_unset"] {
        let levels = diff["levels"].as_array().unwrap();
        assert_eq!(levels.iter().map(|level| number(&level[key])).sum::<u64>(), number(&diff[key]));
    }
    assert_eq!(diff["levels"].as_array().unwrap().len(), 3);
    let most = diff["most"].as_array().unwrap();
    assert!(most.windows(2).all(|two| number(&two[0]["entries"]) >= number(&two[1]["entries"])));
    let percent = diff["percent"]["entries"].as_f64().unwrap();
    assert!((percent - 100.0 * entries as f64 / 448.0).abs() < 1e-9);

    // The dead cable's entries could not stay; what is routed anew can.
    let forced = number(&diff["forced_entries"]);
    assert!(forced > 0 && forced <= entries && number(&diff["forced_blocks"]) > 0);
    let percent = diff["percent"]["forced_entries"].as_f64().unwrap();
    assert!((percent - 100.0 * forced as f64 / 448.0).abs() < 1e-9);
    let stays = desk.json(0, &["diff", "g.topo", "g.lft", "g.lft", "--json"]);
    assert_eq!((&stays["forced_entries"], &stays["forced_blocks"]), (&0.into(), &0.into()));

    let text = desk.code(1, &["diff", "g.topo", "f.lft", "g.lft"]);
    assert!(text.starts_with(&format!("{entries} of 448 entries differ (")), "{text}");
    assert!(text.contains(&format!("\nof these, {forced} entries (")), "{text}");
    let name = most[0]["name"].as_str().unwrap();
    for part in [
        "change their route",
        "\n  rank 0 (leaves): ",
        "\n  rank 2: ",
        "\nverdict: DIFFERENT",
        name,
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // The other way round as many differ; what was newly set is newly unset.
    let back = desk.json(1, &["diff", "g.topo", "g.lft", "f.lft", "--json"]);
    assert_eq!((&back["entries"], &back["pairs"]), (&diff["entries"], &diff["pairs"]));
    assert_eq!(back["newly_set"], diff["newly_unset"]);
}

#[test]
fn one_entry_left_out_is_newly_unset_and_moves_who_passes_it() {
    let desk = Desk::new();
    desk.figure_1();
    let text = desk.read("f.lft");
    let row = text.lines().find(|line| line.starts_with("0x")).unwrap();
    desk.write("g.lft", &text.replacen(&format!("{row}\n"), "", 1));
    let diff = desk.json(1, &["diff", "f.topo", "f.lft", "g.lft", "--json"]);
    for (key, value) in [("entries", 1), ("newly_unset", 1), ("blocks", 1), ("switches", 1)] {
        assert_eq!(diff[key], value, "{key}");
    }
    let text = desk.code(1, &["diff", "f.topo", "f.lft", "g.lft"]);
    assert!(text.contains("1 of 448 entries differ (0.22 %): 0 new, 1 removed"), "{text}");
    assert!(text.contains("1 of 16 blocks change (6.25 %), in 1 of 16 switches"));
}

#[test]
fn tables_of_another_fabric_are_reported_and_rubbish_is_refused() {
    let desk = degraded();
    desk.ok(&["degrade", "f.topo", "--switches", "1", "-o", "h.topo"]);
    desk.ok(&["route", "h.topo", "-o", "h.lft"]);
    let text = desk.code(1, &["diff", "h.topo", "f.lft", "h.lft"]);
    assert!(
        text.starts_with("f.lft: tables of 1 switch that the fabric does not have, such as 0x"),
        "{text}"
    );
    let diff = desk.json(1, &["diff", "h.topo", "f.lft", "h.lft", "--json"]);
    assert_eq!(diff["unmatched"][0]["unknown_switches"], 1);
    assert_eq!(diff["unmatched"][1]["unknown_switches"], 0);
    let text = desk.code(1, &["diff", "f.topo", "f.lft", "h.lft"]);
    assert!(text.contains("h.lft: no table for 1 switch of the fabric, such as "), "{text}");
    assert!(
        desk.error(&["diff", "f.topo", "f.lft", "f.topo"]).contains("this file describes a fabric")
    );
    assert!(desk.error(&["diff", "f.topo", "f.lft", "absent"]).contains("absent"));
    desk.write("other.lft", &desk.read("f.lft").replace(" guid 0x02d0dc", " guid 0x0bad00"));
    let error = desk.error(&["diff", "f.topo", "f.lft", "other.lft"]);
    assert!(
        error.contains("other.lft: these tables belong to another fabric")
            && error.contains("0x0bad00"),
        "{error}"
    );
    desk.write("noise", "nothing\n");
    assert!(
        desk.error(&["diff", "f.topo", "noise", "f.lft"])
            .contains("the file has no forwarding table")
    );
    assert_eq!(desk.run(&["diff", "f.topo", "f.lft"]).status.code(), Some(2));
}

/// Tables that were never changed after a fault keep entries that cannot stay. These are no part of what differs.
#[test]
fn forced_entries_that_stay_are_no_part_of_the_changes() {
    let desk = degraded();
    let whole = desk.json(1, &["diff", "g.topo", "f.lft", "g.lft", "--json"]);
    let forced = whole["forced_entries"].as_u64().unwrap();
    assert_eq!(whole["kept_forced_entries"], 0);
    // The same tables twice, on a fabric that does not allow them any more.
    let same = desk.json(0, &["diff", "g.topo", "f.lft", "f.lft", "--json"]);
    assert_eq!((&same["entries"], &same["forced_entries"]), (&0.into(), &0.into()));
    assert_eq!(same["kept_forced_entries"].as_u64(), Some(forced));
    // The tables of the whole fabric with one entry changed.
    let lft = desk.read("f.lft");
    assert!(lft.contains("\n0x0001 001 "));
    desk.write("h.lft", &lft.replacen("\n0x0001 001 ", "\n0x0001 002 ", 1));
    let diff = desk.json(1, &["diff", "g.topo", "f.lft", "h.lft", "--json"]);
    assert_eq!(diff["entries"], 1);
    assert!(diff["forced_entries"].as_u64() <= Some(1));
    let text = desk.code(1, &["diff", "g.topo", "f.lft", "h.lft"]);
    assert!(text.contains("more cannot stay either, but the new tables keep"), "{text}");
}
