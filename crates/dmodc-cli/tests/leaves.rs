//! What the commands say about leaves: where nothing is left, where it is uncertain, and what is no fat tree.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

fn run(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_dmodc")).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    folder.join(name).join("fabric.topo").display().to_string()
}

/// A fabric as JSON: how many nodes each switch has, and the cables between switches.
fn fabric(nodes: &[usize], cables: &[(usize, usize)]) -> String {
    let guid = |s: usize| format!("0x{:016x}", 0x100 + s);
    let mut next = vec![0; nodes.len()];
    let mut port = |s: usize| {
        next[s] += 1;
        next[s]
    };
    let product = r#""vendor":0,"device":0,"system":"0x0""#;
    let switches = nodes.iter().enumerate().map(|(s, _)| {
        format!(r#"{{"guid":"{}","lid":{},"ports":64,"name":"s{s}",{product}}}"#, guid(s), 1000 + s)
    });
    let (mut adapters, mut list) = (vec![], vec![]);
    for (s, &count) in nodes.iter().enumerate() {
        for _ in 0..count {
            let (own, lid) = (0x10_0000 + 0x10 * adapters.len(), 1 + adapters.len());
            adapters.push(format!(
                r#"{{"guid":"0x{own:016x}","ports":1,"kind":"host","name":"n{lid}",{product},"end_ports":[{{"port":1,"guid":"0x{:016x}","lid":{lid},"lmc":0}}]}}"#,
                own + 1
            ));
            list.push(format!(
                r#"{{"a":{{"guid":"{}","port":{}}},"b":{{"guid":"0x{own:016x}","port":1}},"rate":"4xNDR"}}"#,
                guid(s),
                port(s)
            ));
        }
    }
    for &(a, b) in cables {
        list.push(format!(
            r#"{{"a":{{"guid":"{}","port":{}}},"b":{{"guid":"{}","port":{}}},"rate":"4xNDR"}}"#,
            guid(a),
            port(a),
            guid(b),
            port(b)
        ));
    }
    format!(
        r#"{{"schema":"dmodc/fabric/1","switches":[{}],"adapters":[{}],"cables":[{}]}}"#,
        switches.collect::<Vec<_>>().join(","),
        adapters.join(","),
        list.join(",")
    )
}

#[test]
fn an_option_that_leaves_no_leaf_is_an_error() {
    let file = fixture("clean");
    for (option, value, says) in [
        ("--leaf-min-nodes", "100", "--leaf-min-nodes is too large"),
        ("--leaf-name", "no such name", "--leaf-name does not match the description of any switch"),
        ("--exclude", ".", "--exclude matches too much"),
    ] {
        for command in ["info", "route"] {
            let (code, _, error) = run(&[command, &file, option, value]);
            assert_eq!(code, 2, "{command} {option}");
            assert!(error.contains(says), "{error}");
        }
    }
}

#[test]
fn a_torus_is_no_fat_tree_and_a_tree_is_one() {
    let desk = tempfile::tempdir().unwrap();
    let path = desk.path().join("torus.json").display().to_string();
    let around = |i: usize| {
        let (x, y) = (i % 4, i / 4);
        [(i, y * 4 + (x + 1) % 4), (i, (y + 1) % 4 * 4 + x)]
    };
    let cables: Vec<(usize, usize)> = (0..16).flat_map(around).collect();
    std::fs::write(&path, fabric(&[2; 16], &cables)).unwrap();
    let (code, text, _) = run(&["info", &path]);
    assert_eq!(code, 0);
    assert!(
        text.contains("not a fat tree: 32 of 32 inter-switch cables join two leaves"),
        "{text}"
    );
    // The same with nodes on every other switch: no cable joins leaves.
    let mut nodes = [0; 16];
    (0..16).filter(|i| (i % 4 + i / 4) % 2 == 0).for_each(|i| nodes[i] = 2);
    nodes[0] = 3;
    std::fs::write(&path, fabric(&nodes, &cables)).unwrap();
    let info: Value = serde_json::from_str(&run(&["info", &path, "--json"]).1).unwrap();
    assert_eq!(info["levels"], 2);
    let info: Value = serde_json::from_str(&run(&["info", &fixture("clean"), "--json"]).1).unwrap();
    assert_eq!((&info["fat_tree"], &info["not_fat_tree_because"]), (&true.into(), &Value::Null));
}

/// Four leaves with four nodes, three spines, of which one has three service nodes.
#[test]
fn what_is_uncertain_is_said_with_the_options_that_decide() {
    let desk = tempfile::tempdir().unwrap();
    let path = desk.path().join("service.json").display().to_string();
    let cables: Vec<(usize, usize)> = (0..4).flat_map(|l| [(l, 4), (l, 5), (l, 6)]).collect();
    std::fs::write(&path, fabric(&[4, 4, 4, 4, 3, 0, 0], &cables)).unwrap();
    let (_, info, _) = run(&["info", &path]);
    let says = "uncertain: 1 switch does not count as a leaf, but may be one: 's4'";
    assert!(info.contains(says) && info.contains("--leaf-name"), "{info}");
    let (code, _, error) = run(&["route", &path]);
    assert_eq!(code, 0);
    assert!(error.contains(says), "{error}");
    // An option decides, and nothing is uncertain then.
    let (_, info, _) = run(&["info", &path, "--leaf-name", "s[0-3]"]);
    assert!(!info.contains("uncertain"), "{info}");
}

/// A leaf that has lost nodes and cables is what the saved orders say, not what is left of it.
#[test]
fn saved_orders_know_the_leaves() {
    let desk = tempfile::tempdir().unwrap();
    let file = |name: &str| desk.path().join(name).display().to_string();
    let (whole, damaged, orders) = (file("whole.json"), file("damaged.json"), file("orders"));
    let all: Vec<(usize, usize)> = (0..4).flat_map(|l| (4..8).map(move |s| (l, s))).collect();
    let cores: Vec<(usize, usize)> = (4..8).map(|s| (s, s + 4)).collect();
    std::fs::write(
        &whole,
        fabric(
            &[4; 4].into_iter().chain([0; 8]).collect::<Vec<_>>(),
            &[all.clone(), cores.clone()].concat(),
        ),
    )
    .unwrap();
    // Leaf 3 has no nodes any more, and one cable.
    let left: Vec<(usize, usize)> =
        all.into_iter().filter(|c| c.0 != 3 || c.1 == 4).chain(cores).collect();
    std::fs::write(&damaged, fabric(&[4, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0], &left)).unwrap();
    assert_eq!(run(&["route", &whole, "--save-orders", &orders, "-o", &file("x.lft")]).0, 0);
    let saved = std::fs::read_to_string(&orders).unwrap();
    assert!(saved.starts_with("# dmodc orders 3\n"), "{saved}");
    assert_eq!(saved.lines().filter(|line| line.contains(" leaf ")).count(), 4);
    let again = file("again");
    let (code, _, error) = run(&[
        "route",
        &damaged,
        "--orders",
        &orders,
        "--save-orders",
        &again,
        "-o",
        &file("y.lft"),
    ]);
    assert_eq!(code, 0, "{error}");
    let saved = std::fs::read_to_string(&again).unwrap();
    assert!(saved.contains("0x0000000000000103 leaf s3"), "{saved}");
}
