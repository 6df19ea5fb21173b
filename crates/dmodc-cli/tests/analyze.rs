//! `dmodc analyze`, run as people run it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::{Desk, FIGURE_1};

/// A fabric with tables; the first node of the second leaf has two names.
fn routed(tuple: &str) -> Desk {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", tuple, "-o", "f.topo"]);
    desk.ok(&["route", "f.topo", "-o", "f.lft"]);
    desk
}

#[test]
fn a_healthy_tree_reaches_its_bounds() {
    let desk = routed("2; 4,8; 1,4; 1,1");
    let found =
        desk.json(0, &["analyze", "f.topo", "f.lft", "--patterns", "a2a,rp:20,sp", "--json"]);
    assert_eq!(found["schema"], "dmodc/analyze/1");
    assert_eq!(found["unroutable_pairs"], 0);
    assert_eq!((&found["a2a"]["max"], &found["a2a"]["bound"]), (&28.into(), &28.into()));
    assert_eq!(found["a2a"]["mean"], 28.0);
    assert_eq!(found["a2a"]["max_min_src_dst"], 4);
    assert_eq!(found["a2a"]["pairs_by_switches"], serde_json::json!([0, 32 * 3, 0, 32 * 28]));
    assert_eq!((&found["sp"]["shifts"], &found["sp"]["max"]), (&31.into(), &1.into()));
    assert_eq!((&found["sp"]["mean"], &found["sp"]["bound"]), (&1.0.into(), &1.into()));
    let rp = &found["rp"];
    assert_eq!(rp["permutations"], 20);
    let of = |key: &str| rp[key].as_u64().unwrap();
    assert!(of("min") <= of("median") && of("median") <= of("max"));
    assert!(of("bound") >= 1 && of("bound") <= of("median"));
    assert_eq!(rp["hosts"]["count"], 32);
    assert_eq!(rp["hosts"]["worst"][0]["rails"], 1);
    let worst = &rp["worst_ports"][0];
    assert_eq!(worst["some_flows"].as_array().unwrap().len() as u64, of("max"));
    let text = desk.ok(&["analyze", "f.topo", "f.lft"]);
    for words in [
        "32 nodes",
        "992 of 992 node pairs delivered\n",
        "1,000 random permutations",
        "all 31 shifts",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn reports_are_written_whole() {
    let desk = routed(FIGURE_1);
    let out = ["--csv", "p.csv", "--svg", "p.svg", "--html", "p.html"];
    desk.ok(&[&["analyze", "f.topo", "f.lft"], &out[..]].concat());
    let csv = std::fs::read_to_string(desk.path("p.csv")).unwrap();
    let head =
        "guid,name,port,peer_guid,peer_name,level,peer_level,a2a,sources,destinations,rp:1000,sp";
    assert_eq!(csv.lines().next(), Some(head));
    assert_eq!(csv.lines().count(), 1 + 2 * (24 + 12), "a row for each directed port");
    let columns = head.split(',').count();
    assert!(csv.lines().all(|line| line.split(',').count() == columns));
    assert!(std::fs::read_to_string(desk.path("p.svg")).unwrap().contains("</svg>"));
    let html = std::fs::read_to_string(desk.path("p.html")).unwrap();
    assert!(html.contains("f.lft") && html.trim_end().ends_with("</html>"));
    desk.error(&["analyze", "f.topo", "f.lft", "--html", "nowhere/p.html"]);
    // A file may be called anything; in SVG some of that would be an error.
    desk.write("odd\u{1b}", "node-0 node-11\n");
    desk.ok(&["analyze", "f.topo", "f.lft", "--patterns", "file:odd\u{1b}", "--svg", "odd.svg"]);
    assert!(!desk.read("odd.svg").contains('\u{1b}'));
    let error = desk.error(&["analyze", "f.topo", "f.lft", "--patterns", "rp:99999999999"]);
    assert!(error.contains("with N from 1 to 10000000"), "{error}");
}

/// A job on some nodes, one node against all, and pairs from a file.
#[test]
fn nodes_and_pairs_come_from_files() {
    let desk = routed("2; 4,8; 1,4; 1,1");
    desk.write("job", "node-[0-3,28-31] # both ends\n");
    let all = ["--patterns", "a2a,sp,one-to-all:node-0,all-to-one:node-31,bisection:5", "--json"];
    let found =
        desk.json(0, &[&["analyze", "f.topo", "f.lft", "--nodes", "job"], &all[..]].concat());
    assert_eq!((&found["nodes"], &found["pairs"]), (&8.into(), &56.into()));
    assert_eq!(found["a2a"]["max"], 4);
    assert_eq!(found["one_to_all"]["max"], 1, "each destination has an uplink of its own");
    assert_eq!(
        (&found["all_to_one"]["max"], &found["all_to_one"]["bound"]),
        (&4.into(), &4.into()),
        "the flows of one leaf to one node stay together"
    );
    assert_eq!(found["bisection"]["bisections"], 5);
    desk.write("pairs", "node-0 node-31\nnode-1 0x20 # its LID\n\nnode-2 node-31\n");
    let found = desk.json(0, &["analyze", "f.topo", "f.lft", "--patterns", "file:pairs", "--json"]);
    assert_eq!(found["file"]["max"], 3, "all three go down to one node");
    assert_eq!(found["file"]["unroutable_flows"], 0);
}

#[test]
fn what_is_not_delivered_is_counted_and_named() {
    let desk = routed("2; 4,8; 1,4; 1,1");
    let text = std::fs::read_to_string(desk.path("f.lft")).unwrap();
    // One switch forgets one node.
    let at = text.find("node-31").unwrap();
    let start = text[..at].rfind('\n').unwrap();
    let end = at + text[at..].find('\n').unwrap();
    desk.write("f.lft", &format!("{}{}", &text[..start], &text[end..]));
    let found = desk.json(1, &["analyze", "f.topo", "f.lft", "--json"]);
    assert_eq!(found["unroutable_pairs"], 4);
    assert_eq!(found["unroutable_examples"][0]["to_name"], "node-31");
    assert_eq!(found["sp"]["unroutable_flows"], 4);
    assert!(desk.code(1, &["analyze", "f.topo", "f.lft"]).contains(" delivered, 4 lost\n"));
}

#[test]
fn what_does_not_belong_is_refused_by_name() {
    let desk = routed(FIGURE_1);
    desk.write("g.topo", &desk.read("f.topo").replace("2d0dc0", "2d0dd0"));
    let error = desk.error(&["analyze", "g.topo", "f.lft"]);
    assert!(error.contains("f.lft: these tables belong to another fabric"), "{error}");
    desk.ok(&["degrade", "f.topo", "--switches", "1", "--seed", "1", "-o", "d.topo"]);
    // Tables of another state are analysed, with or without the option that was once needed for it.
    let found = desk.code(1, &["analyze", "d.topo", "f.lft"]);
    assert!(found.contains("tables of 1 switch that the fabric does not have"), "{found}");
    desk.code(1, &["analyze", "d.topo", "f.lft", "--partial"]);
    for (args, what) in [
        (&["f.topo", "f.lft", "--patterns", "star"][..], "'star' is not a pattern"),
        (&["f.topo", "f.lft", "--patterns", "one-to-all:nobody"], "'nobody'"),
        (&["f.topo", "f.lft", "--patterns", "file:nowhere"], "nowhere: No such file"),
        (&["f.topo", "f.lft", "--nodes", "nowhere"], "nowhere: No such file"),
        (&["f.topo", "f.topo"], "this file describes a fabric; expected forwarding tables"),
        (&["f.lft", "f.lft"], "this file has forwarding tables"),
    ] {
        let error = desk.error(&[&["analyze"], args].concat());
        assert!(error.contains(what), "{args:?}: {error}");
    }
    desk.write("job", "node-0\nnode-1\nnobody\n");
    let error = desk.error(&["analyze", "f.topo", "f.lft", "--nodes", "job"]);
    assert!(error.starts_with("dmodc: job:3: "), "{error}");
    desk.write("job", "node-[0-\n");
    let error = desk.error(&["analyze", "f.topo", "f.lft", "--nodes", "job"]);
    assert!(error.starts_with("dmodc: job:1:"), "{error}");
    desk.write("job", "node-0\n");
    desk.write("pairs", "node-0 node-1\n");
    let args = ["analyze", "f.topo", "f.lft", "--nodes", "job", "--patterns", "file:pairs"];
    let error = desk.error(&args);
    assert!(error.contains("pairs:1: 'node-1' is not in the list of --nodes"), "{error}");
}

/// Judging is measured and compared with the naive way, and both count the same.
#[test]
fn judging_is_measured() {
    let desk = Desk::new();
    let args = ["bench", "analyze", "--pgft", "3; 4,4,8; 1,4,4; 1,1,1", "--rounds", "1", "--json"];
    let found = desk.json(0, &args);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        for key in ["a2a_right", "rp_right", "sp_right"] {
            assert_eq!(row[key], true, "{row}");
        }
        assert!(row["a2a_ratio"].as_f64().unwrap() > 0.0);
    }
    assert!(desk.ok(&args[..6]).contains("the same loads"));
    assert!(desk.error(&["bench", "analyze", "--preset", "nope"]).contains("'nope'"));
}

/// A host with several rails is as slow as the slowest.
#[test]
fn rails_belong_to_their_host() {
    let desk = routed("2; 4,8; 1,4; 1,1");
    let mut text = desk.read("f.topo");
    for (node, name) in [("node-0", "twin mlx5_0"), ("node-4", "twin mlx5_1")] {
        text = text.replace(&format!("\"{node}\""), &format!("\"{name}\""));
    }
    desk.write("f.topo", &text);
    let args = ["analyze", "f.topo", "f.lft", "--patterns", "rp:50"];
    let found = desk.json(0, &[&args[..], &["--json"]].concat());
    assert_eq!(found["rp"]["hosts"]["count"], 31);
    let worst = found["rp"]["hosts"]["worst"].as_array().unwrap();
    let twin =
        worst.iter().find(|host| host["name"] == "twin").expect("two rails are worse than one");
    assert_eq!(twin["rails"], 2);
    assert!(desk.ok(&args).contains("'twin' (2 nodes)"));
    // A pair of hosts is a pair of nodes for each rail.
    desk.write("pairs", "twin twin\n");
    desk.ok(&["analyze", "f.topo", "f.lft", "--patterns", "file:pairs"]);
    desk.write("pairs", "node-8 node-9\ntwin node-8\n");
    let error = desk.error(&["analyze", "f.topo", "f.lft", "--patterns", "file:pairs"]);
    assert!(error.contains("pairs:2: 'twin' has 2 nodes, but 'node-8' has 1 node"), "{error}");
    desk.write("job", "twin node-[8-11]\n");
    let found = desk.json(0, &["analyze", "f.topo", "f.lft", "--nodes", "job", "--json"]);
    assert_eq!(found["nodes"], 6);
}

#[test]
fn one_switch_has_no_port_to_share() {
    let desk = routed("1; 4; 1; 1");
    let text = desk.ok(&["analyze", "f.topo", "f.lft", "--patterns", "a2a,sp"]);
    let none = "no port between switches has to carry any flow\n";
    assert!(text.contains(&format!("  bound 0; {none}")), "{text}");
    assert!(text.contains(&format!("  on average {none}")), "{text}");
}
