//! Nodes numbered type by type: what `route` does with types, what analyses find, and what is said about wrong ones.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::{Desk, text};

/// Writes a fabric of 12 leaves with 6 nodes each, of which the first is a storage node, and a list of the nodes of two leaves
/// and all storage nodes.
fn storage_fabric(desk: &Desk) {
    desk.ok(&["generate", "pgft", "2; 6,12; 1,6; 1,1", "-o", "plain.topo"]);
    let mut fabric = desk.read("plain.topo");
    let mut job: Vec<String> = (0..12).map(|n| format!("node-{n}")).collect();
    for n in (0..72).step_by(6) {
        fabric = fabric.replace(&format!("\"node-{n}\""), &format!("\"oss-{n}\""));
        fabric = fabric.replace(&format!("\"node-{n} "), &format!("\"oss-{n} "));
        job.retain(|name| *name != format!("node-{n}"));
        job.push(format!("oss-{n}"));
    }
    desk.write("s.topo", &fabric);
    desk.write("job", &job.join("\n"));
    desk.write("types", "# nodes\nstorage ^oss-\n");
}

/// Returns the risk of the job's writes to storage, and their bound.
fn write_risk(desk: &Desk, tables: &str) -> (u64, u64) {
    let args = ["--nodes", "job", "--patterns", "storage:^oss", "--json"];
    let found = desk.json(0, &[&["analyze", "s.topo", tables], &args[..]].concat());
    let step = &found["storage"]["by_step"][0];
    assert_eq!(step["step"], "write");
    (step["max"].as_u64().unwrap(), step["bound"].as_u64().unwrap())
}

#[test]
fn a_job_reaches_the_bound_of_its_writes_only_with_types() {
    let desk = Desk::new();
    storage_fabric(&desk);
    desk.ok(&["route", "s.topo", "-o", "plain.lft"]);
    let file = ["--destination-order", "types:types"];
    let list = ["--destination-order", "type-regex:^oss-"];
    desk.ok(&[&["route", "s.topo", "-o", "typed.lft"], &file[..]].concat());
    let (risk, bound) = write_risk(&desk, "plain.lft");
    assert_eq!((risk, bound), (5 * 11, 10), "one uplink of a leaf has all flows to 11 others");
    assert_eq!(write_risk(&desk, "typed.lft"), (bound, bound));
    desk.ok(&[&["route", "s.topo", "-o", "listed.lft"], &list[..]].concat());
    assert_eq!(desk.read("listed.lft"), desk.read("typed.lft"));
    desk.ok(&[&["check", "s.topo", "typed.lft"], &file[..]].concat());
}

#[test]
fn saved_orders_keep_types_and_nobody_advises_to_give_them_up() {
    let desk = Desk::new();
    storage_fabric(&desk);
    let typed = ["--destination-order", "types:types", "--save-orders", "orders"];
    let said = desk.ok(&[&["route", "s.topo", "-o", "typed.lft"], &typed[..]].concat());
    assert!(!said.contains("more even with new numbers"), "{said}");
    assert!(desk.read("orders").contains("\n# types from 12\n"));
    let again = ["--orders", "orders", "--save-orders", "later"];
    let said = desk.ok(&[&["route", "s.topo", "-o", "again.lft"], &again[..]].concat());
    assert!(!said.contains("more even with new numbers"), "{said}");
    assert_eq!(desk.read("again.lft"), desk.read("typed.lft"));
    assert_eq!(desk.read("later"), desk.read("orders"));
    // After a fault, and with the engine stable, the same types are kept.
    desk.ok(&["degrade", "s.topo", "--remove", "L1-3", "-o", "t.topo"]);
    desk.ok(&[&["route", "t.topo", "-o", "t.lft"], &again[..]].concat());
    let numbers = |file: &str| -> Vec<String> {
        let is_number = |line: &&str| line.contains(" node ") || line.starts_with("# types");
        let words = |line: &str| line.split(' ').take(4).collect::<Vec<_>>().join(" ");
        desk.read(file).lines().filter(is_number).map(words).collect()
    };
    assert_eq!(numbers("later").len(), 73);
    assert_eq!(numbers("later"), numbers("orders"), "the absent leaf is still known");
    let stable = ["--engine", "stable", "--reference", "s.topo", "-o", "stable.lft"];
    desk.ok(&[&["route", "t.topo"], &stable[..], &typed[..2]].concat());
    desk.ok(&["diff", "t.topo", "typed.lft", "stable.lft"]);
    let stable = ["--engine", "stable", "-o", "whole.lft"];
    desk.ok(&[&["route", "s.topo"], &stable[..], &typed[..2]].concat());
    assert_eq!(desk.read("whole.lft"), desk.read("typed.lft"));
}

#[test]
fn wrong_types_are_named_with_file_and_line() {
    let desk = Desk::new();
    storage_fabric(&desk);
    let error = |order: &str| desk.error(&["route", "s.topo", "--destination-order", order]);
    assert!(error("types:nothing").contains("nothing: "));
    for (text, message) in [
        ("", "bad:1:1: the file names no type; expected a type and a regular expression"),
        ("storage ^oss\nlogin\n", "bad:2:6: expected a regular expression after the type"),
        ("\nstorage (oss\n", "bad:2:9: '(oss' is not a regular expression: "),
        ("others x\n", "bad:1:1: the type 'others' is of nodes that no line matches"),
    ] {
        desk.write("bad", text);
        assert!(error("types:bad").contains(message), "{}", error("types:bad"));
    }
    assert!(error("type-regex:^oss,(").contains("--destination-order: '(' is not a regular"));
    assert!(error("type-regex:").contains("'' has an empty expression"));
    let conflict = ["route", "s.topo", "--orders", "x", "--destination-order", "types:types"];
    assert!(desk.error(&conflict).contains("cannot be used with"));
}

#[test]
fn types_without_nodes_are_reported() {
    let desk = Desk::new();
    storage_fabric(&desk);
    desk.write("types", "storage ^oss-\nlogin ^login\ngpu ^gpu\nlogin ^front\n");
    let route = ["route", "s.topo", "-o", "typed.lft", "--destination-order", "types:types"];
    let output = desk.run(&route);
    assert!(output.status.success());
    let said = text(&output.stderr);
    assert_eq!(
        said,
        "dmodc: --destination-order: no node has the type 'login'\n\
         dmodc: --destination-order: no node has the type 'gpu'\n"
    );
}
