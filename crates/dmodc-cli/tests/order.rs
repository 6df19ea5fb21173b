//! `dmodc order`: lists of hosts, reports and errors.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::Desk;
use serde_json::json;

/// A fabric of 32 hosts, 4 on each leaf, and a list in which neighbours are far apart.
fn desk() -> Desk {
    let desk = Desk::new();
    let shape = "2; 4,8; 1,4; 1,1";
    let guids = ["--guids", "shuffled", "--seed", "5", "-o", "f.topo"];
    desk.ok(&[&["generate", "pgft", shape], &guids[..]].concat());
    let list: Vec<String> = (0..32).map(|i| format!("node-{}", i * (i + 1) / 2 % 32)).collect();
    desk.write("job", &list.join("\n"));
    desk
}

fn in_order(names: impl Iterator<Item = usize>) -> Vec<String> {
    names.map(|i| format!("node-{i}")).collect()
}

#[test]
fn every_format_has_the_same_order() {
    let desk = desk();
    let hosts = in_order(0..32);
    let written = |more: &[&str]| desk.ok(&[&["order", "f.topo", "--hosts", "job"], more].concat());
    assert_eq!(written(&[]), hosts.join("\n") + "\n");
    assert!(written(&["--slots", "3"]).starts_with("node-0 slots=3\nnode-1 slots=3\n"));
    let ranks = written(&["--format", "rankfile", "--slots", "2"]);
    assert!(
        ranks.starts_with("rank 0=node-0 slot=0\nrank 1=node-0 slot=1\nrank 2=node-1 slot=0\n")
    );
    assert_eq!(ranks.lines().count(), 64);
    let tasks = written(&["--format", "slurm", "--slots", "2"]);
    assert!(tasks.starts_with("node-0\nnode-0\nnode-1\nnode-1\n"));
    let report = desk.json(0, &["order", "f.topo", "--hosts", "job", "--json"]);
    assert_eq!(report["hosts"], json!(hosts));
    let file = desk.json(0, &["order", "f.topo", "--hosts", "job", "--format", "json"]);
    assert_eq!(file, report);
    // With a file, the report in words goes to standard output; otherwise to standard error.
    let said = written(&["-o", "hostfile"]);
    assert!(said.starts_with("32 hosts of job in fabric order\n"), "{said}");
    assert_eq!(desk.read("hostfile"), hosts.join("\n") + "\n");
    let output = desk.run(&["order", "f.topo", "--hosts", "job"]);
    assert_eq!(desk::text(&output.stderr), said);
}

#[test]
fn risks_are_measured_before_and_after() {
    let desk = desk();
    let report = desk.json(0, &["order", "f.topo", "--hosts", "job", "--json"]);
    assert_eq!((&report["after"]["ring"], &report["after"]["sp"]), (&json!(1), &json!(1.0)));
    assert!(report["before"]["ring"].as_u64().unwrap() > 1, "{report:#}");
    assert_eq!(report["before"]["a2a"], report["after"]["a2a"]);
    // The same numbers as those of `analyze`.
    desk.ok(&["route", "f.topo", "-o", "f.lft"]);
    let patterns = "ring,sp,a2a,recursive-doubling";
    let analyze =
        ["analyze", "f.topo", "f.lft", "--patterns", patterns, "--nodes", "job", "--json"];
    for (key, more) in [("before", &["--listed-order"][..]), ("after", &[])] {
        let found = desk.json(0, &[&analyze[..], more].concat());
        for (pattern, number) in
            [("ring", "max"), ("sp", "mean"), ("a2a", "max"), ("recursive_doubling", "max")]
        {
            assert_eq!(report[key][pattern], found[pattern][number], "{key} {pattern}");
        }
        assert_eq!(report[key]["bounds"]["ring"], found["ring"]["bound"]);
        let bound = &found["recursive_doubling"]["bound"];
        assert_eq!(&report[key]["bounds"]["recursive_doubling"], bound);
    }
    let given = desk.json(0, &["order", "f.topo", "f.lft", "--hosts", "job", "--json"]);
    assert_eq!((&given["after"], &given["tables"]), (&report["after"], &json!("f.lft")));
    let stable = ["--engine", "stable", "--reference", "f.topo"];
    let error = desk.error(&[&["order", "f.topo", "f.lft"], &stable[..]].concat());
    assert!(error.contains("--reference is for tables that are computed"), "{error}");
}

#[test]
fn all_hosts_are_the_default() {
    let desk = desk();
    let all = desk.ok(&["order", "f.topo"]);
    assert_eq!(all.lines().count(), 32);
    assert_eq!(all, desk.ok(&["order", "f.topo", "--hosts", "all"]));
    // An adapter without the name of a host is reported and left out.
    let named = desk.read("f.topo");
    let text = named.replace("\"node-3\"", "\"MT4129 ConnectX7   Mellanox Technologies\"");
    desk.write("g.topo", &text.replace("\"node-7\"", "\"0x0002c90300a1b2c3\""));
    let report = desk.json(0, &["order", "g.topo", "--json"]);
    assert_eq!(report["hosts"].as_array().unwrap().len(), 30);
    assert_eq!(report["left_out"].as_array().unwrap().len(), 2);
    let reason = report["left_out"][0]["reason"].as_str().unwrap();
    let why = "the description of its adapter names no host (adapter 0x02d0dc0000000110, at port 4 of 'L1-1' (";
    assert!(reason.starts_with(why), "{reason}");
    for format in ["slurm-conf", "slurm-yaml", "slurm-block"] {
        let output = desk.run(&["convert", "g.topo", "--format", format]);
        let (out, err) = (desk::text(&output.stdout), desk::text(&output.stderr));
        assert!(!out.contains("MT4129") && !out.contains("0002c90300a1b2c3"), "{out}");
        assert!(err.starts_with("dmodc: 2 nodes without a host name"), "{err}");
    }
}

#[test]
fn hosts_that_cannot_take_part_are_named_with_their_line() {
    let desk = desk();
    let order = |list: &str| {
        desk.write("list", list);
        desk.error(&["order", "f.topo", "--hosts", "list"])
    };
    for (list, expected) in [
        ("node-1\nnode-99\n", "dmodc: list:2: the fabric has no node or switch with the name"),
        (
            "node-1 node-2\n\nnode-1\n",
            "dmodc: list:3: 'node-1': it is listed twice, first in line 1",
        ),
        ("node-1\nL1-0\n", "dmodc: list:2: 'L1-0' is not a node, but a switch"),
        ("node-[1-", "dmodc: list:1:"),
        ("", "dmodc: list:1:1: the file lists no host"),
    ] {
        let error = order(list);
        assert!(error.starts_with(expected), "{error}");
    }
    desk.write("list", "node-5\nnode-99 node-5\nnode-4\n");
    let args = ["order", "f.topo", "--hosts", "list", "--skip-unknown", "--json"];
    let report = desk.json(0, &args);
    assert_eq!(report["hosts"], json!(["node-4", "node-5"]));
    let lines: Vec<&serde_json::Value> =
        report["left_out"].as_array().unwrap().iter().map(|host| &host["line"]).collect();
    assert_eq!(lines, [2, 2]);
    desk.write("list", "node-99\n");
    let error = desk.error(&args[..5]);
    assert!(error.contains("list has no host that can take part"), "{error}");
    let error = desk.error(&["order", "f.topo", "--choose", "33"]);
    assert!(error.contains("--choose asks for 33 hosts, but the fabric has only 32"), "{error}");
}

/// A reference knows hosts that are dead now, and a leaf without cables cuts its hosts off.
#[test]
fn dead_and_cut_off_hosts_are_errors() {
    let desk = desk();
    let leaf = "L1-2";
    let up: Vec<String> = (5..=8).map(|port| format!("{leaf}/{port}")).collect();
    let mut degrade = vec!["degrade", "f.topo", "-o", "g.topo", "--remove", "L1-0"];
    up.iter().for_each(|part| degrade.extend(["--remove", part]));
    desk.ok(&degrade);
    let stable = ["--engine", "stable", "--reference", "f.topo"];
    desk.write("list", "node-[4-7]\nnode-0\n");
    let error = desk.error(&[&["order", "g.topo", "--hosts", "list"], &stable[..]].concat());
    assert!(error.starts_with("dmodc: list:2: 'node-0': all its links are dead"), "{error}");
    desk.write("list", "node-[4-7]\nnode-8\n");
    let error = desk.error(&["order", "g.topo", "--hosts", "list"]);
    assert!(error.starts_with("dmodc: list:2: 'node-8': no live cables lead from it"), "{error}");
    let report = desk.json(0, &["order", "g.topo", "--json"]);
    assert_eq!(report["left_out"].as_array().unwrap().len(), 4);
    assert_eq!(report["hosts"][0], "node-4");
}

/// Pairs that the tables lose make the answer no; the list is written all the same.
#[test]
fn lost_pairs_are_reported() {
    let desk = desk();
    desk.ok(&["route", "f.topo", "-o", "f.lft"]);
    let tables = desk.read("f.lft");
    let line = tables.lines().find(|line| line.contains("node-3'")).unwrap();
    desk.write("lost.lft", &tables.replacen(&format!("{line}\n"), "", 1));
    let said = desk.code(1, &["order", "f.topo", "lost.lft", "--hosts", "job", "-o", "hostfile"]);
    assert!(said.contains("NOT DELIVERED: "), "{said}");
    assert_eq!(desk.read("hostfile").lines().count(), 32);
}

#[test]
fn hosts_are_chosen_in_whole_leaves() {
    let desk = desk();
    desk.write("idle", "node-[1-3,5-12,20-23]");
    let report = desk.json(0, &["order", "f.topo", "--hosts", "idle", "--choose", "8", "--json"]);
    assert_eq!(report["hosts"], json!(in_order((8..12).chain(20..24))));
    assert_eq!(report["choice"]["shared_ports"], 0);
    assert_eq!((&report["choice"]["best"], &report["listed"]), (&json!(true), &json!(15)));
    let said = desk.ok(&["order", "f.topo", "--hosts", "idle", "--choose", "7", "-o", "hostfile"]);
    assert!(
        said.starts_with("7 hosts of 15 of idle chosen, in fabric order\nthey share "),
        "{said}"
    );
}

/// Hosts with two adapters are listed once, and both rails are measured.
#[test]
fn hosts_with_several_rails_are_listed_once() {
    let desk = Desk::new();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/rails/fabric.topo");
    let report = desk.json(0, &["order", root, "--json"]);
    assert_eq!(report["hosts"], json!(["host0", "host1", "host2"]));
    assert_eq!(report["rails"], json!(["mlx5_0", "mlx5_1"]));
    let text = std::fs::read_to_string(root).unwrap().replace("host2 mlx5_1", "other mlx5_1");
    desk.write("g.topo", &text);
    desk.write("list", "host[0-2]");
    let error = desk.error(&["order", "g.topo", "--hosts", "list"]);
    assert!(error.contains("list:1: 'host2': it has no link on rail mlx5_1"), "{error}");
}

#[test]
fn host_files_of_open_mpi_are_read() {
    let desk = desk();
    desk.write(
        "hostfile",
        "# the job\nnode-9 slots=4\nnode-1:4\nnode-5 slots=2 max_slots=8 # spare\n",
    );
    let hosts = desk.ok(&["order", "f.topo", "--hosts", "hostfile"]);
    assert_eq!(hosts, "node-1\nnode-5\nnode-9\n");
    desk.write("hostfile", "node-9 slots=x\n");
    let error = desk.error(&["order", "f.topo", "--hosts", "hostfile"]);
    assert!(error.contains("hostfile:1:15: expected a number of slots"), "{error}");
}

/// Nobody knows which of two equal halves is meant.
#[test]
fn equal_halves_are_an_error() {
    let desk = desk();
    let up: Vec<String> = (5..=8).map(|port| format!("L1-2/{port}")).collect();
    let mut degrade = vec!["degrade", "f.topo", "-o", "g.topo"];
    up.iter().for_each(|part| degrade.extend(["--remove", part]));
    desk.ok(&degrade);
    desk.write("list", "node-4 node-5\nnode-8 node-9\n");
    for skips in [&[][..], &["--skip-unknown"]] {
        let error = desk.error(&[&["order", "g.topo", "--hosts", "list"], skips].concat());
        assert!(error.contains("several parts of the same size"), "{error}");
    }
    // One host more decides.
    desk.write("list", "node-4 node-5 node-6\nnode-8 node-9\n");
    let hosts = desk.ok(&["order", "g.topo", "--hosts", "list", "--skip-unknown"]);
    assert_eq!(hosts, "node-4\nnode-5\nnode-6\n");
}

#[test]
fn hosts_without_a_name_are_named_by_guid_and_port() {
    let desk = desk();
    desk.ok(&["convert", "f.topo", "--format", "json", "-o", "f.json"]);
    let mut fabric: serde_json::Value = serde_json::from_str(&desk.read("f.json")).unwrap();
    for adapter in fabric["adapters"].as_array_mut().unwrap() {
        adapter["name"] = json!("MT4129 ConnectX7 Mellanox Technologies");
    }
    desk.write("f.json", &fabric.to_string());
    let error = desk.error(&["order", "f.json"]);
    assert!(error.contains("no host that can take part: 32 hosts are left out; "), "{error}");
    let why = "the description of its adapter names no host (adapter 0x02d0dc";
    assert!(error.contains(why) && error.contains(", at port "), "{error}");
}
