//! The patterns of `dmodc analyze` and its jobs, run as people run them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::Desk;
use serde_json::Value;

/// 32 nodes on 8 leaves with 2 cables up each, so that routes share ports.
const SMALL: &str = "2; 4,8; 1,2; 1,1";

fn routed(tuple: &str) -> Desk {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", tuple, "-o", "f.topo"]);
    desk.ok(&["route", "f.topo", "-o", "f.lft"]);
    desk
}

fn analyze(desk: &Desk, more: &[&str]) -> Value {
    desk.json(0, &[&["analyze", "f.topo", "f.lft", "--json"], more].concat())
}

fn numbers(found: &Value) -> [&Value; 4] {
    ["max", "mean", "median", "min"].map(|key| &found[key])
}

/// The same flows under two names have the same risk, whatever way they are counted.
#[test]
fn equal_flows_have_equal_risk() {
    let desk = routed(SMALL);
    let found = analyze(
        &desk,
        &["--patterns", "sp,a2a,a2a:phases,a2a:phases:31,recursive-doubling,halving"],
    );
    assert_eq!(numbers(&found["a2a:phases"]), numbers(&found["sp"]));
    assert_eq!(found["a2a:phases"]["steps"], 31);
    assert_eq!(found["a2a:phases:31"]["max"], found["a2a"]["max"]);
    assert_eq!(found["a2a:phases:31"]["bound"], found["a2a"]["bound"]);
    assert_eq!(numbers(&found["halving"]), numbers(&found["recursive_doubling"]));
    let [up, down] = ["recursive_doubling", "halving"].map(|key| {
        found[key]["by_step"].as_array().unwrap().iter().map(|step| step["distance"].clone())
    });
    assert!(up.rev().eq(down));
}

/// A pattern equals the list of its pairs.
#[test]
fn patterns_are_lists_of_pairs() {
    let desk = routed(SMALL);
    let pairs = |pairs: &mut dyn Iterator<Item = (u32, u32)>| -> String {
        pairs.map(|(from, to)| format!("node-{from} node-{to}\n")).collect()
    };
    let tree = (1..32).flat_map(|child: u32| [(child, (child - 1) / 2), ((child - 1) / 2, child)]);
    let grid = (0..32u32).flat_map(|at| {
        let (x, y) = (at % 4, at / 4);
        let place = |x: u32, y: u32| x % 4 + 4 * (y % 8);
        [place(x + 1, y), place(x + 3, y), place(x, y + 1), place(x, y + 7)].map(|to| (at, to))
    });
    let is_storage = |n: u32| n >= 30;
    let writes = (0..30u32).flat_map(|from| [30, 31].map(|to| (from, to)));
    assert!((0..32).filter(|&n| is_storage(n)).count() == 2);
    desk.write("tree", &pairs(&mut tree.clone()));
    desk.write("grid", &pairs(&mut grid.clone()));
    desk.write("writes", &pairs(&mut writes.clone()));
    let patterns = "tree,file:tree,neighbours:4x8,file:grid,storage:node-3[01],file:writes";
    let found = analyze(&desk, &["--patterns", patterns]);
    for (pattern, file) in [("tree", "file:tree"), ("neighbours", "file:grid")] {
        for key in ["max", "mean", "bound", "worst_ports", "histogram"] {
            assert_eq!(found[pattern][key], found[file][key], "{pattern} {key}");
        }
    }
    let steps = found["storage"]["by_step"].as_array().unwrap();
    assert_eq!(steps[0]["max"], found["file:writes"]["max"]);
    assert_eq!((&steps[0]["step"], &steps[1]["step"]), (&"write".into(), &"read".into()));
}

/// Adapters of one host do not send to each other in a ring: each rail has its own.
#[test]
fn every_rail_has_its_own_ring() {
    let desk = Desk::new();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/rails");
    let [fabric, tables] = ["fabric.topo", "tables.lft"].map(|file| format!("{fixtures}/{file}"));
    let flows = |pattern: &str| {
        let args = ["analyze", &fabric, &tables, "--patterns", pattern, "--rates", "--json"];
        desk.json(0, &args)
    };
    let found = flows("ring");
    assert!(found["ring"]["rates"]["flows"].as_u64().unwrap() > 0);
    // Every adapter of a rail with at least two adapters sends once.
    assert_eq!(found["ring"]["rates"]["flows"], found["nodes"]);
}

#[test]
fn jobs_are_judged_alone_and_together() {
    let desk = routed(SMALL);
    desk.write("one", "all a2a node-[0-31]\n");
    let one = analyze(&desk, &["--jobs", "one", "--patterns", "a2a"]);
    let job = &one["jobs"]["jobs"][0];
    assert_eq!(
        (&job["alone"]["max"], &job["together"]["max"]),
        (&one["a2a"]["max"], &one["a2a"]["max"])
    );
    assert_eq!(
        (&one["jobs"]["max"], &one["jobs"]["bound"]),
        (&one["a2a"]["max"], &one["a2a"]["bound"])
    );
    desk.write("two", "x ring node-[0-15] # half\n\ny a2a:phases:2 node-[8-23],node-30\n");
    let two = analyze(&desk, &["--jobs", "two", "--rates"]);
    assert!(two["a2a"].is_null(), "patterns only where they are asked for");
    let jobs = two["jobs"]["jobs"].as_array().unwrap();
    assert_eq!((&jobs[0]["nodes"], &jobs[1]["nodes"]), (&16.into(), &17.into()));
    assert_eq!(two["jobs"]["steps"], 8);
    for job in jobs {
        let [alone, together] = ["alone", "together"].map(|key| &job[key]);
        assert!(together["max"].as_u64() >= alone["max"].as_u64());
        let rate = |of: &Value| of["rates"]["mean"].as_f64().unwrap();
        assert!(rate(together) <= rate(alone) + 1e-9);
        let flows = job["worst_port"]["flows"].as_array().unwrap().iter();
        let sum: u64 = flows.map(|flows| flows["flows"].as_u64().unwrap()).sum();
        assert_eq!(Some(sum), together["max"].as_u64());
    }
    let text = desk.ok(&["analyze", "f.topo", "f.lft", "--jobs", "two"]);
    assert!(text.contains("x: ring of 16 nodes; alone risk 1"), "{text}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let desk = routed("3; 4,4,4; 1,4,2; 1,1,1");
    desk.write("jobs", "a incast:5 node-[0-40]\nb rp:20 node-[20-63]\nc bisection:7 node-[3-60]\n");
    let patterns = "tree,halving,a2a:phases:3,neighbours:4x4x4,incast:7,storage:node-.*3$";
    let args = ["analyze", "f.topo", "f.lft", "--rates", "--jobs", "jobs", "--patterns", patterns];
    let run = |threads: &str| analyze(&desk, &[&args[3..], &["--threads", threads]].concat());
    let (mut one, mut many) = (run("1"), run("64"));
    for found in [&mut one, &mut many] {
        found.as_object_mut().unwrap().remove("analyze_ms");
    }
    assert_eq!(one, many);
}

#[test]
fn what_does_not_fit_is_refused() {
    let desk = routed(SMALL);
    let refused = |args: &[&str], words: &[&str]| {
        let error = desk.error(&[&["analyze", "f.topo", "f.lft"], args].concat());
        assert!(words.iter().all(|words| error.contains(words)), "{error}");
    };
    refused(&["--patterns", "neighbours:4x4x4"], &["needs 64 nodes, but there are 32"]);
    refused(&["--patterns", "storage:oss"], &["matches none of the nodes"]);
    refused(&["--patterns", "storage:node"], &["matches all of the nodes"]);
    refused(
        &["--patterns", "storage:("],
        &["'storage:(': ", "expected a regular expression without a comma"],
    );
    refused(&["--jobs", "jobs", "--html", "jobs.html"], &["cannot be used with"]);
    refused(&["--patterns", "tree:3"], &["'tree:3' is not a pattern", "incast:K"]);
    for (text, words) in [
        ("", "the file lists no job"),
        ("a\n", "jobs:1:"),
        ("\na ring\n", "jobs:2:"),
        ("a ring node-1\na tree node-2\n", "job 'a' is in line 1, too"),
        ("a what node-1\n", "'what' is not a pattern"),
        ("a file:x node-1\n", "file:x is not a pattern of a job"),
        ("a ring node-1\nb ring node-99\n", "jobs:2: "),
        ("a neighbours:4x4 node-[1-8]\n", "needs 16 nodes, but there are 8"),
    ] {
        desk.write("jobs", text);
        refused(&["--jobs", "jobs"], &[words]);
    }
}
