//! Parts that die and are removed, and orders that outlive a fault.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::Desk;

#[test]
fn degrade_lists_what_it_removed_and_route_says_what_is_cut_off() {
    let desk = Desk::new();
    desk.figure_1();
    let args = ["degrade", "f.topo", "--cables", "10%", "--switches", "1", "--seed", "7"];
    let summary = desk.json(0, &[&args[..], &["-o", "g.topo", "--json"]].concat());
    let removed = summary["removed"].as_array().unwrap();
    assert_eq!(removed.len(), 4 + 1, "10 % of 36 cables are 4");
    let header = desk.read("g.topo");
    for r in removed.iter().filter(|r| r["kind"] == "cable") {
        let (guid, port) = (r["a"]["guid"].as_str().unwrap(), r["a"]["port"].as_u64().unwrap());
        assert!(header.contains(&format!("# removed cable {guid}/{port} ")));
    }
    let again = desk.json(0, &[&args[..], &["--json"]].concat());
    assert_eq!(again, summary, "a seed means the same faults");

    // Cut the first leaf off: both its spines go.
    let spines = ["0x02d0dc0200000001", "0x02d0dc0200000002"];
    desk.ok(&["degrade", "f.topo", "--remove", spines[0], "--remove", spines[1], "-o", "h.topo"]);
    let report = desk.code(1, &["route", "h.topo", "-o", "h.lft"]);
    assert!(report.contains("INVALID: 18 of 30 leaf pairs"), "{report}");
    assert!(report.contains("no up*down* route from leaf 'L1-"), "{report}");
    let routed = desk.json(1, &["route", "h.topo", "--json"]);
    assert_eq!(routed["unreachable_leaf_pairs"], 18);
    let check = desk.json(1, &["check", "h.topo", "h.lft", "--json"]);
    // Leaves 0 and 1 have two nodes each, and reach only their own.
    assert_eq!(check["cut_off"], 132 - (8 * 7 + 2 * 2));
    assert_eq!(check["lost"], 0);
    assert_eq!(routed["cut_off"], check["cut_off"]);
    assert_eq!(check["deadlock_free"], true);

    let port = "0x02d0dc0100000001/1";
    let cut = desk.json(0, &["degrade", "f.topo", "--remove", port, "--json"]);
    assert_eq!((&cut["nodes_cut_off"], &cut["nodes"]), (&1.into(), &11.into()));
}

#[test]
fn parts_are_removed_by_name() {
    let desk = Desk::new();
    desk.figure_1();
    desk.ok(&["degrade", "f.topo", "--remove", "L2-1", "--remove", "L1-0/1", "-o", "g.topo"]);
    let guids = ["--remove", "0x02d0dc0200000002", "--remove", "0x02d0dc0100000001/1"];
    desk.ok(&[&["degrade", "f.topo", "-o", "h.topo"], &guids[..]].concat());
    assert_eq!(desk.read("g.topo"), desk.read("h.topo"));
    let wrong = |name: &str| desk.error(&["degrade", "f.topo", "--remove", name]);
    let unknown = wrong("L2-9/3");
    assert!(
        unknown.contains("no switch has the name or GUID 'L2-9'; the most similar"),
        "{unknown}"
    );
    assert!(unknown.contains("'L2-0', 'L2-1'"), "{unknown}");
    assert!(wrong("L2-1/99").contains("port 99 of 'L2-1' has no cable"));
    desk.write("twins.topo", &desk.read("f.topo").replace("\"L2-1\"", "\"L2-0\""));
    let several = desk.error(&["degrade", "twins.topo", "--remove", "L2-0"]);
    let both = "give one of their GUIDs: 0x02d0dc0200000001, 0x02d0dc0200000002";
    assert!(several.contains(both), "{several}");
}

#[test]
fn a_wrong_script_of_faults_is_refused_before_anything_is_started() {
    let desk = Desk::new();
    desk.figure_1();
    let wrong = |text: &str| {
        desk.write("faults", text);
        desk.error(&["opensm", "lab", "f.topo", "--faults", "faults"])
    };
    let event = wrong("kill cables 1\n  explode L1-0\n");
    assert!(event.contains("faults:2:3: expected kill PARTS, repair PARTS, repair all"), "{event}");
    assert!(event.contains("2 |   explode L1-0\n  |   ^"), "{event}");
    let name = wrong("kill switch L2-9\n");
    assert!(name.contains("faults:1:13: no switch has the name or GUID 'L2-9'"), "{name}");
    assert!(name.contains("'L2-0'"), "{name}");
    let help = desk.ok(&["opensm", "lab", "--help"]);
    assert!(help.contains("flap CABLE TIMES") && help.contains("PARTS is one of these"), "{help}");
}

#[test]
fn saved_orders_keep_what_a_fault_does_not_touch() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "3; 4,4,4; 1,4,4; 1,1,1", "--guids", "shuffled", "-o", "f.topo"]);
    desk.ok(&["route", "f.topo", "-o", "f.lft", "--save-orders", "orders"]);
    // A whole leaf dies: every number behind it would change.
    let leaf =
        desk.read("orders").lines().find(|l| l.contains(" group L1-3")).unwrap()[..18].to_owned();
    desk.ok(&["degrade", "f.topo", "--remove", &leaf, "-o", "g.topo"]);
    desk.ok(&[
        "route",
        "g.topo",
        "--orders",
        "orders",
        "-o",
        "kept.lft",
        "--save-orders",
        "orders-2",
    ]);
    desk.ok(&["route", "g.topo", "-o", "anew.lft"]);
    let entries = |name: &str| -> Vec<String> {
        let text = desk.read(name);
        let mut table = String::new();
        text.lines()
            .filter_map(|line| match line.starts_with("0x") {
                true => Some(format!("{table} {line}")),
                false => {
                    table = line.split(" guid ").nth(1).unwrap_or_default().into();
                    None
                }
            })
            .collect()
    };
    let before = entries("f.lft");
    let moved = |name| entries(name).iter().filter(|e| !before.contains(e)).count();
    assert_eq!(moved("kept.lft"), 0, "a dead leaf moves nobody else");
    assert!(moved("anew.lft") > 100);
    assert_eq!(desk.read("orders-2").lines().count(), desk.read("orders").lines().count());
    desk.ok(&["route", "f.topo", "--orders", "orders-2", "-o", "back.lft"]);
    assert_eq!(desk.read("back.lft"), desk.read("f.lft"), "the leaf is back in its place");
    let file = ["--destination-order", "file:orders", "--switch-order", "file:orders"];
    desk.ok(&[&["route", "g.topo", "-o", "same.lft"], &file[..]].concat());
    assert_eq!(desk.read("same.lft"), desk.read("kept.lft"));
}
