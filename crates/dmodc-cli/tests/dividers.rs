//! Measured dividers on the command line: what `route` and `info` print about them, and what tables they give.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::{Desk, FIGURE_1};

const LINE: &str = "dividers were measured for rank 2 going down: 1 (128 of 240 pairs of leaves have several ways down); \
                    other levels have the paper's\n";

fn directors() -> Desk {
    let desk = Desk::new();
    desk.ok(&["generate", "directors", "-o", "f.topo"]);
    desk
}

/// The worst port of all-to-all, and the mean over shifts.
fn worst_ports(desk: &Desk, tables: &str) -> (u64, f64) {
    let found = desk.json(0, &["analyze", "f.topo", tables, "--patterns", "a2a,sp", "--json"]);
    (found["a2a"]["max"].as_u64().unwrap(), found["sp"]["mean"].as_f64().unwrap())
}

#[test]
fn directors_reach_their_bound() {
    let desk = directors();
    assert!(desk.ok(&["route", "f.topo", "-o", "f.lft"]).contains(LINE));
    assert_eq!(worst_ports(&desk, "f.lft"), (120, 1.0));
    let paper = desk.ok(&["route", "f.topo", "--engine", "paper", "-o", "p.lft"]);
    assert!(!paper.contains("dividers"), "{paper}");
    assert_eq!(worst_ports(&desk, "p.lft").0, 312);
    let stable = desk.ok(&["route", "f.topo", "--engine", "stable", "-o", "s.lft"]);
    assert!(stable.contains(LINE));
    assert_eq!(worst_ports(&desk, "s.lft"), (120, 1.0));
    assert!(desk.ok(&["info", "f.topo"]).contains(LINE));
    let info = desk.json(0, &["info", "f.topo", "--json"]);
    assert_eq!(info["dividers"]["down"][2]["group"], 1);
    assert_eq!(info["dividers"]["leaf_pairs"], 240);
}

#[test]
fn order_files_keep_the_dividers() {
    let desk = directors();
    desk.ok(&["route", "f.topo", "--save-orders", "f.orders", "-o", "f.lft"]);
    let orders = std::fs::read_to_string(desk.path("f.orders")).unwrap();
    assert!(orders.contains("\n# dividers up down - - 1\n"), "{orders}");
    desk.ok(&["degrade", "f.topo", "--cables", "5%", "--seed", "1", "-o", "g.topo"]);
    let text = desk.ok(&["route", "g.topo", "--orders", "f.orders", "-o", "g.lft"]);
    let line = "dividers were measured for rank 2 going down: 1 (as decided for the reference or saved with the orders); ";
    assert!(text.contains(line), "{text}");
}

/// Where ranks are counted from roots, levels are named by their distance from the roots.
#[test]
fn given_roots_are_kept_with_the_dividers() {
    let desk = directors();
    let fabric = std::fs::read_to_string(desk.path("f.topo")).unwrap();
    let spines = fabric.lines().filter(|line| line.contains("spine") && line.starts_with("Switch"));
    let guids: Vec<&str> = spines.filter_map(|line| line.split('"').nth(1)).collect();
    assert!(!guids.is_empty());
    let listed = |guids: &[&str]| -> String {
        guids.iter().map(|guid| format!("{}\n", guid.replace("S-", "0x"))).collect()
    };
    desk.write("roots", &listed(&guids));
    desk.write("fewer", &listed(&guids[1..]));
    let text =
        desk.ok(&["route", "f.topo", "--roots", "roots", "--save-orders", "o", "-o", "f.lft"]);
    assert!(text.contains("dividers were measured for roots going down: 1 (128 of 240"), "{text}");
    let orders = std::fs::read_to_string(desk.path("o")).unwrap();
    assert!(orders.contains("\n# dividers up down - - 1 from root 3\n"), "{orders}");
    assert!(orders.contains("\n# given roots 0x"), "{orders}");
    let again = |exit_code, roots| {
        let args = ["route", "f.topo", "--roots", roots, "--orders", "o", "-o", "g.lft", "--json"];
        desk.json(exit_code, &args)
    };
    let dividers = &again(0, "roots")["dividers"];
    assert_eq!(dividers["levels_from_root"], 3);
    assert!(dividers["leaf_pairs"].is_null(), "they are not measured again");
    assert!(
        !again(0, "fewer")["dividers"]["leaf_pairs"].is_null(),
        "the first root is still there"
    );
    desk.write("others", &format!("{}{}", listed(&guids), leaf_of(&fabric)));
    // A root among the leaves leaves pairs without a route.
    assert!(!again(1, "others")["dividers"]["leaf_pairs"].is_null());
}

/// The GUID of the first leaf.
fn leaf_of(fabric: &str) -> String {
    let line = fabric.lines().find(|line| line.starts_with("Switch") && line.contains("leaf"));
    line.and_then(|line| line.split('"').nth(1)).unwrap().replace("S-", "0x")
}

#[test]
fn fat_trees_have_the_papers_dividers() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", FIGURE_1, "-o", "f.topo"]);
    let text = desk.ok(&["route", "f.topo", "--save-orders", "f.orders", "-o", "f.lft"]);
    assert!(!text.contains("dividers"), "{text}");
    assert!(!desk.ok(&["info", "f.topo"]).contains("dividers"));
    assert!(desk.json(0, &["info", "f.topo", "--json"])["dividers"].is_null());
    let orders = std::fs::read_to_string(desk.path("f.orders")).unwrap();
    assert!(orders.contains("\n# dividers as in the paper\n"), "{orders}");
    desk.ok(&["route", "f.topo", "--engine", "paper", "-o", "p.lft"]);
    desk.ok(&["diff", "f.topo", "f.lft", "p.lft"]);
}

#[test]
fn impossible_directors_are_refused() {
    let desk = Desk::new();
    let error = desk.error(&["generate", "directors", "--cables", "7"]);
    assert!(
        error.contains("a leaf has 7 cables, which cannot be divided evenly among 2 directors"),
        "{error}"
    );
}
