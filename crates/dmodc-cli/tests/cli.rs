//! The binary as users and their scripts meet it: answers, exit codes, errors, files.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::fs;
use std::process::Command;

use serde_json::Value;

use desk::{DMODC, Desk, FIGURE_1, text};

#[test]
fn generate_route_check_as_in_the_readme() {
    let desk = Desk::new();
    desk.figure_1();
    assert!(desk.ok(&["check", "f.topo", "f.lft"]).ends_with("sound\n"));
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
fn info_tells_the_keys_scripts_rely_on() {
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
    assert!(desk.ok(&["info", "lidless"]).contains("LIDs were given to 1 port without one"));
    assert!(desk.ok(&["info", "g.topo"]).contains("not a PGFT: "));
}

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
    assert!(report.contains("no route from the nodes of 'L1-"), "{report}");
    let routed = desk.json(1, &["route", "h.topo", "--json"]);
    assert_eq!(routed["unreachable_leaf_pairs"], 18);
    let check = desk.json(1, &["check", "h.topo", "h.lft", "--json"]);
    // Leaves 0 and 1 have two nodes each, and reach nobody but their own.
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
    assert!(wrong("L2-1/99").contains("no cable is in port 99 of 'L2-1'"));
    desk.write("twins.topo", &desk.read("f.topo").replace("\"L2-1\"", "\"L2-0\""));
    let several = desk.error(&["degrade", "twins.topo", "--remove", "L2-0"]);
    let both = "say which by GUID: 0x02d0dc0200000001, 0x02d0dc0200000002";
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
    assert!(help.contains("flap CABLE TIMES") && help.contains("PARTS are"), "{help}");
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
    assert!(traced.ends_with("LOST: no cable is in port 99\n"), "{traced}");

    // The first spine sends node-0 up instead of down: the core sends it back.
    let spine = tables.find("('L2-0')").unwrap();
    let (head, tail) = tables.split_at(spine);
    desk.write("loop.lft", &format!("{head}{}", tail.replacen("0x0001 001", "0x0001 005", 1)));
    let check = desk.json(1, &["check", "f.topo", "loop.lft", "--json"]);
    assert_eq!(check["deadlock_free"], false);
    assert!(check["loops"].as_u64().unwrap() > 0);
    let report = desk.code(1, &["check", "f.topo", "loop.lft"]);
    assert!(
        report.contains("DEADLOCK possible: 2 channels") && report.contains("'L2-0'"),
        "{report}"
    );
    assert!(
        desk.code(1, &["trace", "f.topo", "loop.lft", "node-11", "node-0"]).contains("\nLOOPS: ")
    );

    // A table is missing, another is a stranger's.
    let renamed = tables.replacen("guid 0x02d0dc0100000001", "guid 0x0000000000000077", 1);
    desk.write("strange.lft", &renamed);
    let report = desk.code(1, &["check", "f.topo", "strange.lft"]);
    assert!(report.contains("1 switch not in the fabric, the first is 0x0000000000000077"));
    assert!(report.contains("no table for 1 switch, the first is 'L1-0'"), "{report}");
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
fn lids_beyond_infiniband_are_told() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "2; 250,200; 1,1; 1,1", "-o", "big.topo"]);
    let header: Vec<String> = desk.read("big.topo").lines().take(8).map(str::to_owned).collect();
    assert!(
        header.iter().any(|l| l.contains("beyond InfiniBand's last unicast LID 49151")),
        "{header:?}"
    );
    let report = desk.ok(&["route", "big.topo", "-o", "/dev/null"]);
    assert!(report.contains("OpenSM cannot load these tables"), "{report}");
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

#[test]
fn names_guids_and_lids_all_trace() {
    let desk = Desk::new();
    desk.figure_1();
    let expected = desk.ok(&["trace", "f.topo", "f.lft", "node-0", "node-11"]);
    assert!(expected.contains("  [3] 'L2-1' (0x02d0dc0200000002) [6]\n"), "{expected}");
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
            desk.ok(&["trace", "h.topo", "f.lft", from, "node-11"]).contains("[3] 'L2-1'"),
            "{from}"
        );
    }
    assert!(
        desk.error(&["trace", "h.topo", "f.lft", "node-11", "node-0"])
            .contains("2 are called 'node-0'")
    );
    let nobody = desk.error(&["trace", "f.topo", "f.lft", "node-0", "node-99"]);
    assert!(nobody.contains("no node or switch with name, GUID or LID 'node-99'"), "{nobody}");
}

#[test]
fn roots_are_connected_on_request_and_alternatives_written() {
    let desk = Desk::new();
    desk.figure_1();
    let args = ["route", "f.topo", "--connect-roots", "--alternatives", "f.alt", "-o", "r.lft"];
    assert!(desk.ok(&args).contains("54 entries towards switches filled by shortest path"));
    let check = desk.json(0, &["check", "f.topo", "r.lft", "--json"]);
    assert_eq!(check["everything"]["lost"], 0);
    assert_eq!(check["everything"]["loops"], 0);
    assert!(desk.read("f.alt").contains("0x0003 003 005 004 006 # 0x02d0dc0000000031\n"));
    desk.ok(&["route", "f.topo", "--engine", "dmodk", "-o", "k.lft"]);
    desk.ok(&["route", "f.topo", "-o", "c.lft"]);
    assert_eq!(desk.read("k.lft"), desk.read("c.lft"), "Dmodk and Dmodc agree");
    desk.ok(&["degrade", "f.topo", "--cables", "1", "-o", "g.topo"]);
    let refused = desk.error(&["route", "g.topo", "--engine", "dmodk", "-o", "no.lft"]);
    assert!(refused.contains("Dmodk routes healthy PGFTs only: 'L"), "{refused}");
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
fn bad_arguments_get_one_clear_line_and_exit_2() {
    let desk = Desk::new();
    desk.figure_1();
    let pgft = |tuple: &str| desk.error(&["generate", "pgft", tuple, "-o", "out"]);
    assert!(pgft("3; 2,2; 1,2; 1,2").contains("needs 3 numbers each"));
    assert!(pgft("2; 0,2; 1,2; 1,2").contains("at least 1"));
    assert!(pgft("2; 2,2; 2,2; 1,2").contains("w1 and p1 must be 1"));
    assert!(pgft("2; 2,2; 1,2; 3,2").contains("w1 and p1 must be 1"));
    assert!(pgft("2; 200,9; 1,60; 1,1").contains("260 ports; at most 254"));
    assert!(pgft("4; 250,250,250,250; 1,1,1,1; 1,1,1,1").contains("more than 16777216"));
    assert!(pgft("2; 99999999999,2; 1,2; 1,2").contains("is not a PGFT tuple"));
    assert!(pgft("nonsense").contains("is not a PGFT tuple"));
    let unknown = desk.error(&["generate", "preset", "summit"]);
    assert!(
        unknown.contains("there is no preset 'summit'; there are paper-figure-1, "),
        "{unknown}"
    );
    assert!(desk.error(&["degrade", "f.topo", "--cables", "37"]).contains("there are 36"));
    assert!(desk.error(&["degrade", "f.topo", "--cables", "101%"]).contains("neither a count nor"));
    let unknown = desk.error(&["degrade", "f.topo", "--remove", "0x5"]);
    assert!(unknown.contains("no switch has the name or GUID '0x5'"), "{unknown}");
    assert!(
        desk.error(&["route", "f.topo", "--destination-order", "x"]).contains("topological, lid")
    );
    assert!(desk.error(&["route", "f.topo", "--switch-order", "x"]).contains("plane, guid or"));
    assert!(desk.error(&["frobnicate"]).contains("unrecognized subcommand"));
    assert!(desk.error(&["rout", "f.topo"]).contains("'route'"), "a tip is kept");
    for (args, words) in [
        (&[][..], ["Commands:", "route", "Start with 'dmodc demo'"]),
        (&["study"], ["Commands:", "run", "status"]),
        (&["opensm"], ["Commands:", "lab", "Usage: dmodc opensm"]),
        (&["generate"], ["Commands:", "pgft", "preset"]),
    ] {
        let output = desk.run(args);
        let help = desk::text(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}: {help}");
        assert!(words.iter().all(|words| help.contains(words)), "{args:?}: {help}");
    }
    assert!(desk.error(&["route"]).contains("required arguments were not provided: <FABRIC>"));
    let all = ["degrade", "f.topo", "--switches", "100%", "--any-switch"];
    assert!(desk.error(&all).contains("no switch would be left"));
    for args in
        [&["--json", "-o", "-"][..], &["--save-orders", "-"], &["--json", "--alternatives", "-"]]
    {
        let error = desk.error(&[&["route", "f.topo"], args].concat());
        assert!(error.contains("only one thing can go to standard output"), "{error}");
    }
    assert!(desk.error(&["--threads", "0", "demo"]).contains("--threads"));
    assert_eq!(desk.files(), ["f.lft", "f.topo"]);
}

#[test]
fn bad_files_get_one_clear_line_and_exit_2() {
    let desk = Desk::new();
    desk.figure_1();
    fs::create_dir(desk.path("folder")).unwrap();
    desk.write("empty", "");
    desk.write("broken", &desk.read("f.topo").replacen("[1]", "[one]", 1));
    desk.write("blank", " \n\t\r\n");
    desk.write("comments", "# nothing\n# here\n");
    desk.write("package.json", "{\n  \"name\": \"something else\"\n}\n");
    fs::write(desk.path("f.gz"), b"\x1f\x8b\x08\0\0\0\0\0").unwrap();
    fs::write(desk.path("binary"), b"\x7fELF\x02\x01\0\0\0").unwrap();
    fs::write(desk.path("utf16"), b"\xff\xfe#\0\n\0").unwrap();
    desk.write("one-sided", &desk.read("f.topo").replacen("[3]\t\"S-", "[7]\t\"S-", 1));
    for (args, message) in [
        (&["info", "nowhere"][..], "dmodc: nowhere: No such file or directory"),
        (&["info", "folder"], "dmodc: folder: Is a directory"),
        (&["info", "empty"], "dmodc: empty:1:1: the input is empty; expected ibnetdiscover text"),
        (
            &["route", "blank"],
            "dmodc: blank:1:1: the input is empty: it has only blank lines; expected ib",
        ),
        (
            &["info", "comments"],
            "dmodc: comments:1:1: the input is empty: it has only comments; expected",
        ),
        (
            &["info", "package.json"],
            "dmodc: package.json:1:1: the input looks like JSON, but has no",
        ),
        (&["info", "f.gz"], "dmodc: f.gz:1:1: the input is compressed by gzip; unpack it first"),
        (&["check", "f.topo", "f.gz"], "dmodc: f.gz:1:1: the input is compressed by gzip; unpack"),
        (&["info", "binary"], "dmodc: binary:1:1: the input is binary, not text; expected"),
        (
            &["check", "f.topo", "binary"],
            "dmodc: binary:1:1: the input is binary, not text; expected",
        ),
        (&["info", "utf16"], "dmodc: utf16:1:1: the input is UTF-16 text; convert it first"),
        (
            &["check", "f.topo", "comments"],
            "dmodc: comments:1:1: the input is empty: it has only comm",
        ),
        (
            &["info", "broken", "--strict"],
            "dmodc: broken:11:2: expected a port number from 1 to 254, found 'one]",
        ),
        (&["route", "one-sided", "--strict"], "dmodc: one-sided:"),
        (&["info", "f.lft"], "dmodc: f.lft: these are forwarding tables; expected a fabric"),
        (
            &["check", "f.topo", "f.topo"],
            "dmodc: f.topo: this is a fabric; expected forwarding tables",
        ),
        (&["check", "f.topo", "empty"], "dmodc: empty:1:1: the input is empty; expected"),
        (&["route", "f.topo", "--orders", "f.lft"], "dmodc: f.lft:1:1: expected a GUID"),
        (&["route", "f.topo", "-o", "folder"], "dmodc: folder: is a directory"),
        (
            &["route", "f.topo", "-o", "no/where"],
            "dmodc: no/where: No such file or directory (os error 2)\n",
        ),
        (
            &["convert", "f.topo", "--format", "dot", "-o", "/dev/full"],
            "dmodc: /dev/full: No space left",
        ),
    ] {
        let found = desk.error(args);
        assert!(found.starts_with(message), "{args:?}: {found}");
    }
    let big = ["generate", "preset", "quantum2-max", "--format", "ibsim", "-o", "big.net"];
    assert!(desk.error(&big).contains("ibsim cannot hold this fabric"));
    let files =
        ["binary", "blank", "broken", "comments", "empty", "f.gz", "f.lft", "f.topo", "folder"];
    let more = ["one-sided", "package.json", "utf16"];
    assert_eq!(desk.files(), [&files[..], &more].concat(), "nothing was left behind");
}

/// Slurm's files list hosts alone, and say what they cannot list.
#[test]
fn adapters_without_a_host_are_left_out_of_slurm_and_reported() {
    let desk = Desk::new();
    desk.figure_1();
    let named = desk.read("f.topo");
    let model = "\"MT4129 ConnectX7   Mellanox Technologies\"";
    let text = named.replace("\"node-3\"", model).replace("\"node-4\"", model);
    desk.write("f.topo", &text.replace("\"node-11\"", "\"localhost HCA-6\""));
    for format in ["slurm-conf", "slurm-yaml"] {
        let output = desk.run(&["convert", "f.topo", "--format", format]);
        let (out, err) = (desk::text(&output.stdout), desk::text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{err}");
        assert!(!out.contains("MT4129") && !out.contains("localhost"), "{out}");
        assert!(
            out.contains("node-2") && out.contains("node-5") && out.contains("node-10"),
            "{out}"
        );
        let said = "dmodc: 3 nodes whose description names no host are left out of Slurm's topology, such as 'MT4129";
        assert!(err.starts_with(said), "{err}");
    }
    desk.write("f.topo", &named);
    let output = desk.run(&["convert", "f.topo", "--format", "slurm-conf"]);
    assert_eq!(desk::text(&output.stderr), "", "nothing is left out of a fabric of named hosts");
}

/// Adapters without the name of a host are hosts of their own, in `info` and `analyze` alike.
#[test]
fn adapters_of_one_model_are_no_host() {
    let desk = Desk::new();
    desk.figure_1();
    let model = "\"MT4129 ConnectX7   Mellanox Technologies\"";
    let mut text = desk.read("f.topo");
    for node in 0..4 {
        text = text.replace(&format!("\"node-{node}\""), model);
    }
    desk.write("g.topo", &text);
    let info = desk.json(0, &["info", "g.topo", "--json"]);
    assert_eq!(info["hosts_by_nodes"], serde_json::json!({"1": 12}));
    let args = ["analyze", "g.topo", "f.lft", "--patterns", "rp:10", "--html", "p.html", "--json"];
    let found = desk.json(0, &args);
    assert_eq!(found["rp"]["hosts"]["count"], 12);
    let page = desk.read("p.html");
    let named = |guid: &str| page.contains(&format!("<small>{guid} · LID "));
    assert!(named("0x02d0dc0100000001"), "switches have their GUIDs");
    assert_eq!(page.matches("Mellanox Technologies</span> <small>0x").count(), 4);
}

#[test]
fn what_is_sound_of_a_damaged_file_is_used_and_the_rest_is_told() {
    let desk = Desk::new();
    desk.figure_1();
    desk.write("broken", &desk.read("f.topo").replacen("[3]\t\"S-", "[three]\t\"S-", 1));
    let output = desk.run(&["route", "broken", "-o", "b.lft"]);
    assert_eq!(output.status.code(), Some(0));
    let warnings = text(&output.stderr);
    assert!(warnings.contains("broken: damaged lines (skipped): 1; line "), "{warnings}");
    assert!(
        warnings.contains("cable ends that the other end does not confirm (left out): 1; line "),
        "{warnings}"
    );
    assert_eq!(desk.json(0, &["check", "broken", "b.lft", "--json"])["delivered"], 132);
    let info = desk.json(0, &["info", "broken", "--json"]);
    assert_eq!(info["dirt"]["damaged_lines"]["count"], 1);
    assert_eq!(info["inter_switch_cables"], 35);
    let refused = desk.error(&["info", "broken", "--strict"]);
    assert!(refused.lines().count() == 3 && refused.ends_with("|  ^\n"), "{refused}");
}

#[test]
fn leaves_can_be_told() {
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
    assert!(desk.error(&["info", "f.topo", "--leaf-name", "("]).contains("no regular expression"));
    assert!(desk.error(&["info", "f.topo", "--leaf-name", "x"]).contains("no switch"));
    desk.write("strangers", "0x1\n");
    assert!(
        desk.error(&["info", "f.topo", "--roots", "strangers"]).contains("none of these GUIDs")
    );
}

#[test]
fn strange_files_are_refused_at_once() {
    let desk = Desk::new();
    desk.write("script", "#!/bin/sh\necho hello\n");
    let noise: Vec<u8> = {
        let mut random = dmodc::Random::new(1, 1);
        (0..1 << 20).map(|_| random.below(256) as u8).collect()
    };
    fs::write(desk.path("noise"), noise).unwrap();
    fs::File::create(desk.path("sparse")).unwrap().set_len(1 << 30).unwrap();
    for (name, what) in [
        ("script", "not a fabric: expected"),
        ("noise", "the input is binary, not text; expected"),
        ("sparse", "the input is binary, not text; expected"),
    ] {
        assert!(desk.error(&["info", name]).contains(&format!(":1:1: {what}")), "{name}");
    }
}

/// A disk that fills up while writing: the old file stays, nothing is left beside it.
#[test]
fn a_failed_write_leaves_the_old_file() {
    let desk = Desk::new();
    desk.write("f.topo", "precious\n");
    // Ignoring SIGXFSZ turns the file size limit into a write error, as a full disk gives.
    let script = "trap '' XFSZ; ulimit -f 8; \"$0\" generate preset director-648 -o f.topo";
    let output = Command::new("bash")
        .args(["-c", script, DMODC])
        .current_dir(desk.folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let error = text(&output.stderr);
    assert!(
        error.starts_with("dmodc: f.topo: File too large") && error.lines().count() == 1,
        "{error}"
    );
    assert_eq!(desk.read("f.topo"), "precious\n");
    assert_eq!(desk.files(), ["f.topo"]);
}

#[test]
fn a_reader_that_goes_away_is_no_failure_but_a_full_one_is() {
    let desk = Desk::new();
    let shell = |script: &str| {
        let output = Command::new("bash")
            .args(["-c", script, DMODC])
            .current_dir(desk.folder.path())
            .output()
            .unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let head = "set -o pipefail; \"$0\" generate preset director-648 | head -n 1";
    assert_eq!(shell(head), (Some(0), "#\n".into(), String::new()));
    let (code, _, error) = shell("\"$0\" generate preset avakas > /dev/full");
    assert_eq!(code, Some(2));
    assert!(error.starts_with("dmodc: standard output: No space left"), "{error}");
    // Everything also goes through pipes.
    let pipe = format!(
        "set -o pipefail; \"$0\" generate pgft '{FIGURE_1}' | \"$0\" degrade - --cables 3 > g.topo \
         && \"$0\" route - < g.topo | \"$0\" check g.topo -"
    );
    let (code, report, _) = shell(&pipe);
    assert_eq!(code, Some(0), "{report}");
    assert!(report.ends_with("sound\n"));
}

#[test]
fn links_and_permissions_are_respected() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let desk = Desk::new();
    desk.write("real", "old");
    fs::set_permissions(desk.path("real"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real", desk.path("link")).unwrap();
    desk.ok(&["generate", "pgft", FIGURE_1, "-o", "link"]);
    assert!(fs::symlink_metadata(desk.path("link")).unwrap().is_symlink());
    assert!(desk.read("real").contains("PGFT(3; 2,2,3"));
    assert_eq!(fs::metadata(desk.path("real")).unwrap().permissions().mode() & 0o777, 0o640);
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
    assert!(help.contains("Exit codes: 0 yes or done, 1 the answer is no"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(desk.ok(&["completions", shell]).contains("dmodc"));
    }
    desk.ok(&["man", "--dir", "pages"]);
    assert_eq!(fs::read_dir(desk.path("pages")).unwrap().count(), 21 + 6);
    assert!(desk.error(&["man", "nothing"]).contains("there is no command 'nothing'"));
    assert!(desk.ok(&["generate", "preset"]).lines().count() == 11);
    assert!(desk.ok(&["convert", "--help"]).contains("dot"));
}

#[test]
fn the_demo_routes_breaks_and_routes_again() {
    let desk = Desk::new();
    let report = desk.ok(&["demo"]);
    for words in [
        "11,664 nodes, 1,620 switches",
        "136,037,232 of 136,037,232 node pairs delivered",
        "233 cables and 2 switches die",
        "entries moved",
        "no deadlock",
        "What next",
    ] {
        assert!(report.contains(words), "{words}\n{report}");
    }
    let json = desk.json(0, &["demo", "--json"]);
    assert_eq!(json["degraded"]["valid"], true);
    assert!(json["entries_moved"].as_u64().unwrap() > 0);
}

/// A file for each switch: together they are the one file.
#[test]
fn route_splits_by_switch() {
    let desk = Desk::new();
    desk.figure_1();
    let orders = ["--destination-order", "lid", "--switch-order", "guid"];
    let split =
        |folder: &'static str| [&["route", "f.topo", "--split", folder], &orders[..]].concat();
    fs::create_dir(desk.path("empty")).unwrap();
    for folder in ["new", "empty"] {
        assert!(desk.ok(&split(folder)).contains("valid: all 30 leaf pairs"));
        let mut parts: Vec<_> = fs::read_dir(desk.path(folder))
            .unwrap()
            .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
            .collect();
        assert_eq!(parts.len(), 16);
        let whole = desk.read("f.lft");
        // The files come in no order; the one file has the same tables.
        parts.sort_by_key(|part| whole.find(part.lines().next().unwrap()));
        assert_eq!(parts.concat(), whole);
    }
    let json = desk.json(0, &[&split("other")[..], &["--json"]].concat());
    let whole = desk.json(0, &["route", "f.topo", "--json"]);
    for key in ["switches", "destinations", "entries", "leaf_pairs", "empty_entries"] {
        assert_eq!(json[key], whole[key], "{key}");
    }
    let before = desk.files();
    assert!(desk.error(&split("new")).contains("new: there is something in this folder"));
    assert!(desk.error(&split("f.topo")).contains("f.topo: Not a directory"));
    assert!(desk.error(&split("a/b")).contains("a: No such file"));
    let dmodk = [&split("k")[..], &["--engine", "dmodk"]].concat();
    assert!(desk.error(&dmodk).contains("--engine dmodc and stable alone"));
    assert_eq!(desk.files(), before, "nothing is left");
}

/// What can be wrong before any other program is started.
#[test]
fn opensm_is_asked_for_with_clear_words() {
    let desk = Desk::new();
    desk.figure_1();
    let error = desk.error(&["route", "f.topo", "--engine", "opensm:best"]);
    assert!(error.contains("minhop, updn, dnup, ftree"), "{error}");
    let error = desk.error(&["route", "f.topo", "--engine", "opensm:ftree", "--connect-roots"]);
    assert!(error.contains("--connect-roots"), "{error}");
    let lab = |args: &[&str]| desk.error(&[&["opensm", "lab"], args].concat());
    assert!(lab(&[]).contains("FABRIC"));
    assert!(lab(&["f.topo", "--preset", "avakas"]).contains("--preset"));
    assert!(lab(&["--preset", "nope"]).contains("there is no preset 'nope'"));
    assert!(lab(&["f.topo", "--engine", "best"]).contains("best"));
    assert!(lab(&["f.topo", "--faults", "nowhere"]).contains("nowhere: No such file"));
    desk.write("script", "kill cables 3\nkill everything\n");
    let error = lab(&["f.topo", "--faults", "script"]);
    assert!(error.contains("script:2:6: expected cable CABLE, cables COUNT"), "{error}");
    assert!(lab(&["f.lft"]).contains("these are forwarding tables"));
    let error = desk.error(&["bench", "--engine", "opensm:ftree"]);
    assert!(error.contains("--with-opensm"), "{error}");
}
