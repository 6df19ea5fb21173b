//! Numbers that are saved for years: what `route` does with adapters that are replaced and hosts that boot late, and what it says.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::collections::BTreeMap;

use desk::Desk;

/// The entries of a dump: the port of each switch for each port GUID.
fn entries(dump: &str) -> BTreeMap<(String, String), String> {
    let mut switch = String::new();
    let mut entries = BTreeMap::new();
    for line in dump.lines() {
        if let Some((_, guid)) = line.split_once("guid 0x").filter(|_| line.starts_with("Unicast"))
        {
            switch = guid.chars().take(16).collect();
        } else if let Some((_, rest)) = line.split_once("portguid 0x") {
            let port = line.split_whitespace().nth(1).unwrap().to_string();
            entries.insert((switch.clone(), rest.chars().take(16).collect()), port);
        }
    }
    entries
}

/// Removes the cable of a node from a fabric of leaves L1-….
fn switch_off(desk: &Desk, from: &str, to: &str, places: &[&str]) {
    let mut args = vec!["degrade", from, "-o", to];
    for place in places {
        args.extend(["--remove", place]);
    }
    desk.ok(&args);
}

#[test]
fn late_hosts_and_replaced_adapters_fit_and_move_nobody_else() {
    let desk = Desk::new();
    desk.ok(&["generate", "preset", "director-648", "-o", "whole.topo"]);
    switch_off(&desk, "whole.topo", "first.topo", &["L1-3/5", "L1-20/18"]);
    desk.ok(&["route", "first.topo", "-o", "first.lft", "--save-orders", "orders"]);
    let late = ["route", "whole.topo", "--orders", "orders", "-o", "late.lft", "--save-orders"];
    let said = desk.ok(&[&late[..], &["later"]].concat());
    assert!(!said.contains("more even with new numbers"), "{said}");
    let summary = desk.json(0, &["route", "whole.topo", "--orders", "orders", "--json"]);
    let numbers = &summary["numbers"];
    assert_eq!((&numbers["a2a"], &numbers["fresh_a2a"]), (&630.into(), &630.into()));
    assert_eq!((&numbers["sp"], &numbers["noticeable"]), (&1.0.into(), &false.into()));
    let (first, then) = (entries(&desk.read("first.lft")), entries(&desk.read("late.lft")));
    assert!(first.len() > 34_000);
    assert!(first.iter().all(|(entry, port)| then[entry] == *port), "nobody else moves");

    // The adapter in port 7 of the tenth leaf is replaced.
    let whole = desk.read("whole.topo");
    let leaf =
        whole.lines().position(|line| line.contains("\"L1-9\"") && line.starts_with("Switch"));
    let place = whole.lines().skip(leaf.unwrap()).find(|line| line.starts_with("[7]")).unwrap();
    let guid = place.split("\"H-").nth(1).unwrap().split('"').next().unwrap();
    let port_guid = format!("{:016x}", u64::from_str_radix(guid, 16).unwrap() + 1);
    let other = |guid: &str| format!("00dd{}", &guid[4..]);
    let short = |guid: &str| guid.trim_start_matches('0').to_string();
    let mut replaced = whole.clone();
    for old in [guid, &port_guid] {
        replaced = replaced.replace(old, &other(old)).replace(&short(old), &short(&other(old)));
    }
    assert_ne!(replaced, whole);
    desk.write("replaced.topo", &replaced);
    desk.ok(&["route", "replaced.topo", "--orders", "later", "-o", "replaced.lft"]);
    let after = entries(&desk.read("replaced.lft"));
    let mut same = 0;
    for ((switch, to), port) in &then {
        let to = if *to == port_guid { other(to) } else { to.clone() };
        assert_eq!(after.get(&(switch.clone(), to)), Some(port));
        same += 1;
    }
    assert_eq!(same, then.len());
}

/// Numbers that do not fit are used all the same, and the text says what that costs and what can be done about it.
#[test]
fn numbers_that_cost_balance_are_reported() {
    let desk = Desk::new();
    desk.ok(&["generate", "preset", "director-648", "-o", "f.topo"]);
    desk.ok(&["route", "f.topo", "-o", "f.lft", "--save-orders", "orders"]);
    // As the versions before kept them: numbers are positions, and the first node is numbered last.
    let lines: Vec<String> = desk.read("orders").lines().map(String::from).collect();
    let nodes = lines.iter().filter(|line| line.contains(" node "));
    let mut guids: Vec<String> =
        nodes.map(|line| format!("{} node", line.split(' ').next().unwrap())).collect();
    guids.rotate_left(1);
    guids.swap(100, 400);
    desk.write("old", &format!("# dmodc orders 2\n{}\n", guids.join("\n")));
    let said = desk.ok(&["route", "f.topo", "--orders", "old", "-o", "g.lft"]);
    assert!(
        said.contains("routes would be more even with new numbers of destinations: by the engine dmodc, the worst port has"),
        "{said}"
    );
    assert!(said.contains("number anew: use --save-orders without --orders"), "{said}");
    let summary = desk.json(0, &["route", "f.topo", "--orders", "old", "--json"]);
    assert_eq!(summary["numbers"]["noticeable"], true);
    let fresh = desk.json(0, &["route", "f.topo", "--json"]);
    assert_eq!(fresh["numbers"], serde_json::Value::Null, "nothing is kept");
}

#[test]
fn an_order_file_that_was_cut_off_is_refused() {
    let desk = Desk::new();
    desk.figure_1();
    desk.ok(&["route", "f.topo", "-o", "f.lft", "--save-orders", "orders"]);
    let text = desk.read("orders");
    desk.write("orders", &text[..text.len() - 30]);
    let error = desk.error(&["route", "f.topo", "--orders", "orders", "-o", "g.lft"]);
    assert!(error.contains("orders:"), "{error}");
    assert!(!desk.files().contains(&"g.lft".to_string()));
}
