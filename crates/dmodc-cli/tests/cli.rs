//! The binary as users and their scripts meet it: answers, exit codes, errors, files.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::fs;

use serde_json::Value;

use desk::{Desk, FIGURE_1};

#[test]
fn generate_route_check_as_in_the_readme() {
    let desk = Desk::new();
    desk.figure_1();
    assert!(
        desk.ok(&["check", "f.topo", "f.lft"])
            .ends_with("\nverdict: sound, and every pair is delivered\n")
    );
    let check = desk.json(0, &["check", "f.topo", "f.lft", "--up-down", "--json"]);
    assert_eq!(check["schema"], "dmodc/check/2");
    for (key, value) in
        [("pairs", 132), ("delivered", 132), ("lost", 0), ("loops", 0), ("up_down_violations", 0)]
    {
        assert_eq!(check[key], value, "{key}");
    }
    assert_eq!(check["deadlock_free"], true);
    assert_eq!(desk.read("f.lft").matches(" lids dumped\n").count(), 16);
    assert_eq!(desk.files(), ["f.lft", "f.topo"], "no temporary file is left");
}

#[test]
fn info_has_the_keys_that_scripts_rely_on() {
    let desk = Desk::new();
    desk.figure_1();
    let info = desk.json(0, &["info", "f.topo", "--json"]);
    for (key, value) in [
        ("switches", 16),
        ("nodes", 12),
        ("channel_adapters", 12),
        ("aggregation_nodes", 0),
        ("cables", 48),
        ("inter_switch_cables", 36),
        ("levels", 3),
        ("leaves", 6),
    ] {
        assert_eq!(info[key], value, "{key}");
    }
    assert_eq!(info["pgft"], FIGURE_1);
    desk.ok(&["degrade", "f.topo", "--cables", "1", "-o", "g.topo"]);
    let info = desk.json(0, &["info", "g.topo", "--json"]);
    assert_eq!((&info["pgft"], &info["given_lids"]), (&Value::Null, &0.into()));
    desk.write("lidless", &desk.read("f.topo").replace("lid 3 ", "lid 0 "));
    assert!(desk.ok(&["info", "lidless"]).contains("1 port had no usable LID in the file"));
    assert!(desk.ok(&["info", "g.topo"]).contains("not a PGFT (regular fat tree): "));
}

#[test]
fn lids_beyond_infiniband_are_reported() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "2; 250,200; 1,1; 1,1", "-o", "big.topo"]);
    let header: Vec<String> = desk.read("big.topo").lines().take(8).map(str::to_owned).collect();
    assert!(
        header.iter().any(|l| l.contains("beyond 49151, the last unicast LID of InfiniBand")),
        "{header:?}"
    );
    let report = desk.ok(&["route", "big.topo", "-o", "/dev/null"]);
    assert!(report.contains("OpenSM cannot load these tables"), "{report}");
}

#[test]
fn names_guids_and_lids_all_trace() {
    let desk = Desk::new();
    desk.figure_1();
    let expected = desk.ok(&["trace", "f.topo", "f.lft", "node-0", "node-11"]);
    assert!(
        expected.contains("  'L2-1' (0x02d0dc0200000002): in by port 3, out by port 6\n"),
        "{expected}"
    );
    for (from, to) in [
        ("1", "12"),
        ("0x1", "0xc"),
        ("0x02d0dc0000000011", "02d0dc00000000c1"),
        ("0x02d0dc0000000010", "0x2d0dc00000000c0"),
    ] {
        assert_eq!(desk.ok(&["trace", "f.topo", "f.lft", from, to]), expected, "{from} {to}");
    }
    let hops = desk.json(0, &["trace", "f.topo", "f.lft", "L1-0", "L3-3", "--json"]);
    assert_eq!(hops["routes"][0]["hops"].as_array().unwrap().len(), 3);
    // Real nodes are called after their host and adapter.
    let renamed = desk.read("f.topo").replace("\"node-0\"", "\"node-0 mlx5_0\"");
    desk.write("h.topo", &renamed.replace("\"node-1\"", "\"node-0 mlx5_1\""));
    for from in ["node-0 mlx5_0", "0x02d0dc0000000011"] {
        assert!(
            desk.ok(&["trace", "h.topo", "f.lft", from, "node-11"])
                .contains("'L2-1' (0x02d0dc0200000002): in by port 3"),
            "{from}"
        );
    }
    assert!(
        desk.error(&["trace", "h.topo", "f.lft", "node-11", "node-0"])
            .contains("2 nodes or switches have the name 'node-0'")
    );
    let nobody = desk.error(&["trace", "f.topo", "f.lft", "node-0", "node-99"]);
    assert!(nobody.contains("no node or switch with the name, GUID or LID 'node-99'"), "{nobody}");
}

#[test]
fn roots_are_connected_on_request_and_alternatives_written() {
    let desk = Desk::new();
    desk.figure_1();
    let args = ["route", "f.topo", "--connect-roots", "--alternatives", "f.alt", "-o", "r.lft"];
    assert!(desk.ok(&args).contains("54 entries between switches got a shortest path"));
    let check = desk.json(0, &["check", "f.topo", "r.lft", "--json"]);
    assert_eq!(check["everything"]["lost"], 0);
    assert_eq!(check["everything"]["loops"], 0);
    assert!(desk.read("f.alt").contains("0x0003 003 005 004 006 # 0x02d0dc0000000031\n"));
    desk.ok(&["route", "f.topo", "--engine", "dmodk", "-o", "k.lft"]);
    desk.ok(&["route", "f.topo", "-o", "c.lft"]);
    assert_eq!(desk.read("k.lft"), desk.read("c.lft"), "Dmodk and Dmodc agree");
    desk.ok(&["degrade", "f.topo", "--cables", "1", "-o", "g.topo"]);
    let refused = desk.error(&["route", "g.topo", "--engine", "dmodk", "-o", "no.lft"]);
    assert!(refused.contains("without faults, and this is none: 1 cable joins 'L"), "{refused}");
    assert!(!desk.path("no.lft").exists());
}

#[test]
fn threads_do_not_change_a_byte() {
    let desk = Desk::new();
    desk.ok(&["generate", "preset", "director-648", "--guids", "shuffled", "-o", "f.topo"]);
    desk.ok(&["degrade", "f.topo", "--cables", "5%", "--switches", "1", "-o", "g.topo"]);
    for threads in ["1", "2", "5"] {
        desk.ok(&["--threads", threads, "route", "g.topo", "-o", &format!("{threads}.lft")]);
    }
    assert_eq!(desk.read("1.lft"), desk.read("2.lft"));
    assert_eq!(desk.read("1.lft"), desk.read("5.lft"));
}

#[test]
fn leaves_can_be_chosen() {
    let desk = Desk::new();
    desk.figure_1();
    let leaves = |args: &[&str]| desk.json(0, &[&["info", "f.topo", "--json"], args].concat());
    assert_eq!(leaves(&["--leaf-name", "^L1-[0-3]$"])["leaves"], 4);
    assert_eq!(leaves(&["--leaf-min-nodes", "2"])["leaves"], 6);
    assert_eq!(leaves(&["--exclude", "^node-[01]$"])["empty_leaves"].as_array().unwrap().len(), 1);
    assert_eq!(leaves(&["--exclude", "^L1-5$"])["service_switches"].as_array().unwrap().len(), 1);
    let guids: String = (1..=4).map(|i| format!("0x02d0dc030000000{i} # core\n")).collect();
    desk.write("roots", &guids);
    let rooted = leaves(&["--roots", "roots"]);
    assert_eq!(
        (&rooted["levels"], &rooted["switches_per_rank"]),
        (&3.into(), &leaves(&[])["switches_per_rank"])
    );
    desk.ok(&["route", "f.topo", "--roots", "roots", "-o", "r.lft"]);
    desk.ok(&["route", "f.topo", "-o", "d.lft"]);
    assert_eq!(
        desk.read("r.lft"),
        desk.read("d.lft"),
        "on a healthy tree both count the same ranks"
    );
    assert!(
        desk.error(&["info", "f.topo", "--leaf-name", "("]).contains("is not a regular expression")
    );
    assert!(desk.error(&["info", "f.topo", "--leaf-name", "x"]).contains("any switch"));
    desk.write("strangers", "0x1\n");
    assert!(
        desk.error(&["info", "f.topo", "--roots", "strangers"])
            .contains("no GUID in this file belongs to a switch")
    );
}

#[test]
fn help_manual_and_completions_are_there() {
    let desk = Desk::new();
    let help = desk.ok(&["--help"]);
    for command in [
        "demo",
        "generate",
        "info",
        "convert",
        "degrade",
        "route",
        "check",
        "analyze",
        "diff",
        "plan",
        "trace",
        "whatif",
        "repair",
        "drain",
        "compare",
        "order",
        "serve",
        "page",
        "bench",
        "study",
        "opensm",
        "completions",
        "man",
    ] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}\n{help}");
        assert!(desk.ok(&[command, "--help"]).contains("Usage: dmodc "), "{command}");
        assert!(desk.ok(&["man", command]).contains(&format!("dmodc\\-{command}")));
    }
    assert!(help.contains("Exit codes:\n  0  The command succeeded"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(desk.ok(&["completions", shell]).contains("dmodc"));
    }
    desk.ok(&["man", "--dir", "pages"]);
    assert_eq!(fs::read_dir(desk.path("pages")).unwrap().count(), 30 + 9);
    assert!(desk.error(&["man", "nothing"]).contains("there is no command 'nothing'"));
    assert!(desk.ok(&["generate", "preset"]).lines().count() == 18);
    assert!(desk.ok(&["convert", "--help"]).contains("dot"));
}

#[test]
fn the_demo_routes_breaks_and_routes_again() {
    let desk = Desk::new();
    let report = desk.ok(&["demo"]);
    for words in [
        "11,664 nodes, 1,620 switches",
        "136,037,232 of 136,037,232 node pairs delivered",
        "233 cables and 2 switches fail",
        "entries changed",
        "no deadlock",
        "What next",
    ] {
        assert!(report.contains(words), "{words}\n{report}");
    }
    let json = desk.json(0, &["demo", "--json"]);
    assert_eq!(json["degraded"]["valid"], true);
    assert!(json["entries_moved"].as_u64().unwrap() > 0);
}
