//! `dmodc check`: tables of any origin are judged.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::Desk;

#[test]
fn check_finds_lost_pairs_loops_and_cycles_in_anybodys_tables() {
    let desk = Desk::new();
    desk.figure_1();
    let tables = desk.read("f.lft");
    // The first leaf sends node-2 into the void: a port that has no cable.
    desk.write("lost.lft", &tables.replacen("0x0003 005", "0x0003 099", 1));
    let check = desk.json(1, &["check", "f.topo", "lost.lft", "--json"]);
    assert_eq!((&check["lost"], &check["loops"]), (&2.into(), &0.into()));
    assert!(desk.code(1, &["check", "f.topo", "lost.lft"]).contains("'node-2'"));
    let traced = desk.code(1, &["trace", "f.topo", "lost.lft", "node-0", "3"]);
    assert!(traced.contains("\nLOST: port 99 of the last switch has no cable (hint: "), "{traced}");

    // The first spine sends node-0 up instead of down: the core sends it back.
    let spine = tables.find("('L2-0')").unwrap();
    let (head, tail) = tables.split_at(spine);
    desk.write("loop.lft", &format!("{head}{}", tail.replacen("0x0001 001", "0x0001 005", 1)));
    let check = desk.json(1, &["check", "f.topo", "loop.lft", "--json"]);
    assert_eq!(check["deadlock_free"], false);
    assert!(check["loops"].as_u64().unwrap() > 0);
    let report = desk.code(1, &["check", "f.topo", "loop.lft"]);
    assert!(
        report.contains("DEADLOCK possible: packets on 2 channels") && report.contains("'L2-0'"),
        "{report}"
    );
    assert!(
        desk.code(1, &["trace", "f.topo", "loop.lft", "node-11", "node-0"]).contains("\nLOOPS: ")
    );

    // A table is missing, another is a stranger's.
    let renamed = tables.replacen("guid 0x02d0dc0100000001", "guid 0x0000000000000077", 1);
    desk.write("strange.lft", &renamed);
    let report = desk.code(1, &["check", "f.topo", "strange.lft"]);
    assert!(
        report.contains(
            "tables of 1 switch that the fabric does not have, such as 0x0000000000000077"
        )
    );
    assert!(report.contains("no table for 1 switch of the fabric, such as 'L1-0'"), "{report}");
}

/// Two spines and three leaves; a spine that has lost a leaf is made to send down to another leaf, which
/// goes up again: delivered, and no loop, but no up*down* route.
#[test]
fn a_turn_is_no_fault_unless_asked() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "2; 1,3; 1,2; 1,1", "-o", "f.topo"]);
    desk.ok(&["route", "f.topo", "-o", "f.lft"]);
    let tables = desk.read("f.lft");
    // At L2-0, node-0 (LID 1) leaves by port 1 to L1-0; port 2 leads to L1-1, which sends it by L2-1.
    let (head, tail) = tables.split_at(tables.find("('L2-0')").unwrap());
    let turned = tail.replacen("0x0001 001", "0x0001 002", 1);
    let (leaf, rest) = head.split_at(head.find("('L1-1')").unwrap());
    let by_other_spine = rest.replacen("0x0001 002", "0x0001 003", 1);
    desk.write("turn.lft", &format!("{leaf}{by_other_spine}{turned}"));
    let check = desk.json(0, &["check", "f.topo", "turn.lft", "--json"]);
    assert_eq!((&check["delivered"], &check["up_down_violations"]), (&6.into(), &1.into()));
    desk.code(1, &["check", "f.topo", "turn.lft", "--up-down"]);
    desk.ok(&["check", "f.topo", "f.lft", "--up-down"]);
}

#[test]
fn the_union_of_old_and_new_is_judged() {
    let desk = Desk::new();
    desk.figure_1();
    let same = desk.json(0, &["check", "f.topo", "f.lft", "f.lft", "--union", "--json"]);
    assert_eq!(same["delivered"], 132);
    desk.write("half.lft", &desk.read("f.lft").replacen("0x0003 005", "0x0003 099", 1));
    let mixed = desk.json(1, &["check", "f.topo", "f.lft", "half.lft", "--union", "--json"]);
    assert_eq!((&mixed["delivered"], &mixed["lost"]), (&130.into(), &2.into()));
    assert!(desk.error(&["check", "f.topo", "f.lft", "half.lft"]).contains("--union"));
}
