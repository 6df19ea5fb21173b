//! What ranks are counted from, as `info` and `route` say it, and as saved orders remember it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::{Desk, FIGURE_1};

const CHAIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/chain-of-leaves.topo");

#[test]
fn info_and_route_name_the_root_and_the_reason() {
    let desk = Desk::new();
    let info = desk.ok(&["info", CHAIN]);
    let at = info.find("ranks are counted from one root, 'east'").unwrap();
    let line = info[at..].lines().nth(1).unwrap();
    assert!(line.starts_with("  This is not a fat tree: "), "{line}");
    assert!(line.contains(" node pairs would have no up*down* route"), "{line}");
    let route = desk.ok(&["route", CHAIN, "-o", "t.lft"]);
    assert!(route.contains(line), "{route}");
    let json = desk.json(0, &["route", CHAIN, "-o", "t.lft", "--json"]);
    assert_eq!(json["rank_rule"]["from"], "one root");
    assert!(json["rank_rule"]["unconnected_from_leaves"].as_u64().unwrap() > 0);
    let check = desk.json(0, &["check", CHAIN, "t.lft", "--up-down", "--json"]);
    assert_eq!((&check["delivered"], &check["lost"]), (&90.into(), &0.into()));

    // Whoever names roots has chosen; a fat tree is ranked from its leaves.
    let guid = json["rank_rule"]["roots"][0].as_str().unwrap().to_string();
    desk.write("roots", &guid);
    let given = desk.json(0, &["info", CHAIN, "--roots", "roots", "--json"]);
    assert_eq!(given["rank_rule"]["from"], "given roots");
    desk.ok(&["generate", "pgft", FIGURE_1, "-o", "f.topo"]);
    assert_eq!(desk.json(0, &["info", "f.topo", "--json"])["rank_rule"]["from"], "leaves");
    assert!(!desk.ok(&["info", "f.topo"]).contains("one root"));
}

#[test]
fn saved_orders_remember_the_root_and_the_leaves() {
    let desk = Desk::new();
    desk.ok(&["convert", CHAIN, "--format", "json", "-o", "whole.json"]);
    desk.ok(&["route", "whole.json", "--save-orders", "chain.orders", "-o", "whole.lft"]);
    let saved = desk.read("chain.orders");
    let roots: Vec<&str> = saved.lines().filter(|line| line.contains(" root ")).collect();
    // Every route of a chain is the only one, whatever the root: the least GUID is the first choice.
    assert!(roots.len() == 5 && roots[0].ends_with(" root east"), "{roots:?}");

    // Without its middle, the chain falls into two parts: the next one of the list is the other's root.
    let middle = roots.iter().find(|line| line.ends_with(" root north")).unwrap();
    let middle = middle.split(' ').next().unwrap();
    desk.ok(&["degrade", "whole.json", "--remove", middle, "-o", "rest.topo"]);
    let again = ["route", "rest.topo", "--orders", "chain.orders", "-o", "rest.lft", "--json"];
    let json = desk.json(1, &again);
    assert_eq!(json["rank_rule"]["from"], "one root");
    assert_eq!(json["rank_rule"]["roots"].as_array().unwrap().len(), 2);
    assert_eq!(json["rank_rule"]["unconnected_from_leaves"], serde_json::Value::Null);

    // Routes that follow saved ranks are judged by them.
    let by_orders = ["check", "rest.topo", "rest.lft", "--orders", "chain.orders", "--json"];
    assert_eq!(desk.json(1, &by_orders)["up_down_violations"], 0);

    // Two leaves alone need no root; the orders say that there was one, and keep who is absent.
    let saves = ["--orders", "chain.orders", "--save-orders", "later.orders", "-o", "rest.lft"];
    desk.code(1, &[&["route", "rest.topo"], &saves[..]].concat());
    let later = desk.read("later.orders");
    // (The names of absent ones are not known any more.)
    let guids = |line: &str| line.split(' ').next().map(String::from);
    let later_roots = later.lines().filter(|line| line.contains(" root ")).map(guids);
    assert!(later_roots.eq(roots.into_iter().map(guids)), "{later}");

    // A fat tree is one for good, whatever becomes of it.
    desk.ok(&["generate", "pgft", FIGURE_1, "-o", "f.topo"]);
    desk.ok(&["route", "f.topo", "--save-orders", "f.orders", "-o", "f.lft"]);
    assert!(desk.read("f.orders").contains("\n# ranks from leaves\n"));
}
