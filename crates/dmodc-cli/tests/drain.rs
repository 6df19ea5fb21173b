//! `dmodc drain` and `dmodc repair`: answers, files and errors.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use desk::{DMODC, Desk, text};
use serde_json::Value;

const FABRIC: &str = "2; 4,4; 1,3; 1,1";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", FABRIC, "-o", "f.topo"]);
    desk
}

fn parts(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|v| v["part"].as_str().unwrap()).collect()
}

#[test]
fn parts_that_are_safe_together_are_found_in_their_order() {
    let desk = desk();
    desk.write("parts", "# the cables of one leaf\nL1-0/5\n\n  L1-0/6\nL1-0/7\nL1-1/5\n");
    let drain = ["drain", "f.topo", "--parts", "parts", "--json"];
    let answer = desk.json(1, &drain);
    assert_eq!((&answer["exact"], &answer["order_exact"]), (&true.into(), &true.into()));
    assert_eq!((&answer["bound"], &answer["all_safe"]), (&3.into(), &false.into()));
    assert_eq!(answer["safe"].as_array().unwrap().len(), 3);
    let risks: Vec<u64> =
        answer["order"].as_array().unwrap().iter().map(|v| v["a2a"].as_u64().unwrap()).collect();
    assert_eq!(risks, [24, 24, 48], "the last cable of the leaf carries all of its flows");
    let other = &answer["unsafe"][0];
    assert_eq!(
        (&other["when"], &other["exceeded"]["limit"]),
        (&"with_safe".into(), &"lost".into())
    );
    // The limit of all-to-all keeps two cables of the leaf.
    let answer = desk.json(1, &[&drain[..], &["--keep", "a2a=1.1x,sp=2x,rp=3x"]].concat());
    assert_eq!((&answer["bound"], &answer["limits"]["a2a"]), (&2.into(), &26.4.into()));
    assert!(answer["now"]["rp"].is_u64());
    let text = desk.code(1, &[&drain[..4], &["--states", "0"]].concat());
    assert!(text.contains("no safe set is larger; the order is greedy"), "{text}");
    assert!(text.ends_with("verdict: NOT ALL SAFE: 3 of 4 parts can be taken out in this order\n"));
}

#[test]
fn one_part_can_be_asked_about_and_may_be_named_from_both_ends() {
    let desk = desk();
    desk.write("parts", "L1-0/5\nL2-0/1\n");
    let text = desk.ok(&["drain", "f.topo", "--parts", "parts", "--engine", "stable"]);
    assert!(text.contains("1 line names again a part that is listed before"), "{text}");
    assert!(text.ends_with("verdict: safe: the part can be taken out in this order\n"), "{text}");
    // A leaf takes its nodes with it: of 240 pairs, those with one of four nodes.
    desk.write("leaf", "L1-0\n");
    let answer = desk.json(1, &["drain", "f.topo", "--parts", "leaf", "--json"]);
    let leaf = &answer["unsafe"][0];
    assert_eq!((&leaf["certain"], &leaf["exceeded"]["value"]), (&true.into(), &108.0.into()));
    let allowed = ["drain", "f.topo", "--parts", "leaf", "--keep", "lost=108", "--json"];
    assert_eq!(desk.json(0, &allowed)["order"][0]["lost"], 108);
    let limit = desk.code(1, &["drain", "f.topo", "--parts", "leaf", "--keep", "a2a=3"]);
    assert!(limit.contains("the present state itself exceeds a limit: a2a is 24"), "{limit}");
}

#[test]
fn bad_lists_and_limits_are_one_clear_line() {
    let desk = desk();
    desk.ok(&["degrade", "f.topo", "--remove", "L1-0/5", "-o", "g.topo"]);
    for (list, words) in [
        ("L1-0/5\n# next\nL9-9\n", "parts:3: no switch has the name or GUID 'L9-9'"),
        ("L1-0/99\n", "parts:1: port 99 of 'L1-0' has no cable"),
        ("L1-0/x\n", "parts:1: "),
        ("node-0\n", "parts:1: no switch has the name or GUID 'node-0'"),
        ("# nothing\n\n", "parts: this file lists no part"),
        ("", "parts: this file lists no part"),
    ] {
        desk.write("parts", list);
        let error = desk.error(&["drain", "f.topo", "--parts", "parts"]);
        assert!(error.contains(words), "{error}");
    }
    desk.write("parts", "L1-0/6\nL1-0/5\n");
    let stable = ["--engine", "stable", "--reference", "f.topo"];
    let error = desk.error(&[&["drain", "g.topo", "--parts", "parts"], &stable[..]].concat());
    assert!(error.contains("parts:2: 'L1-0/5' is not in service now"), "{error}");
    std::fs::write(desk.path("binary"), b"\xff\xfe\x00").unwrap();
    let error = desk.error(&["drain", "f.topo", "--parts", "binary"]);
    assert!(error.contains("binary: this file is not text in UTF-8"), "{error}");
    for (args, words) in [
        (&["--parts", "absent"][..], "absent: No such file"),
        (&["--parts", "-"], ""),
        (&["--parts", "parts", "--keep", "a2a=fast"], "expected a risk such as 500"),
        (
            &["--parts", "parts", "--keep", "lost=-1"],
            "lost=-1: expected a number of node pairs, which is 0 or more",
        ),
        (&["--parts", "parts", "--shifts", "0"], "0 is not in 1.."),
        (&["--parts", "parts", "--keep", "speed=1"], "there are lost, a2a, sp and rp"),
        (&["--parts", "parts", "--engine", "dmodk"], "routes only regular fat trees"),
        (&["--parts", "parts", "--engine", "opensm:updn"], "runs only inside OpenSM"),
        (&[], "required arguments were not provided: --parts <FILE>"),
    ] {
        let fabric = if args.get(1) == Some(&"-") { "-" } else { "f.topo" };
        let error = desk.error(&[&["drain", fabric], args].concat());
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn repairs_bring_back_pairs_first() {
    let desk = desk();
    let removed = ["L1-0/5", "L1-0/6", "L1-0/7", "L2-1", "L1-3/1"];
    let removed: Vec<&str> = removed.iter().flat_map(|part| ["--remove", part]).collect();
    desk.ok(&[&["degrade", "f.topo", "-o", "g.topo"], &removed[..]].concat());
    let repair = ["repair", "g.topo", "--reference", "f.topo"];
    let answer = desk.json(0, &[&repair[..], &["--json"]].concat());
    // A cable of a dead switch comes back with it, so L1-0 has two dead cables.
    assert_eq!(
        (&answer["dead"], &answer["pairs"], &answer["left"]),
        (&4.into(), &240.into(), &0.into())
    );
    let steps = answer["steps"].as_array().unwrap();
    let lost: Vec<u64> = steps.iter().map(|step| step["lost"].as_u64().unwrap()).collect();
    assert_eq!(answer["now"]["lost"], 4 * 11 * 2 + 30);
    assert_eq!(lost[1..], [0, 0, 0]);
    assert_eq!(steps[3]["a2a"], 24, "as in the whole fabric");
    assert_eq!(steps[1]["kind"], "node cable");

    let files = ["--csv", "r.csv", "--svg", "r.svg", "--steps", "2"];
    let text = desk.ok(&[&repair[..], &files].concat());
    assert!(
        text.starts_with("compared with f.topo: missing 1 switch, 1 node, 6 cables\n"),
        "{text}"
    );
    assert!(text.contains("after 2 repairs, every node pair is delivered\n"), "{text}");
    let csv = desk.read("r.csv");
    assert_eq!(csv.lines().count(), 4);
    assert!(
        csv.starts_with("step,part,name,lost,a2a,a2a_bound,sp,sp_bound,left\n0,,,118,"),
        "{csv}"
    );
    assert!(desk.read("r.svg").contains("What does each repair bring back?"));
    for engine in ["dmodc", "random", "paper", "dmodc+relief", "stable+relief"] {
        let answer = desk.json(0, &[&repair[..], &["--engine", engine, "--json"]].concat());
        assert_eq!(parts(&answer["steps"]).len(), 4, "{engine}");
        assert_eq!(answer["steps"][1]["lost"], 0, "{engine}");
    }
}

#[test]
fn a_fabric_without_differences_needs_no_repair() {
    let desk = desk();
    let text = desk.ok(&["repair", "f.topo", "--reference", "f.topo", "--svg", "r.svg"]);
    assert_eq!(
        text,
        "compared with f.topo: nothing has changed\nnothing is dead: no repair is needed\n"
    );
    assert!(desk.path("r.svg").exists());
}

#[test]
fn bad_references_are_one_clear_line() {
    let desk = desk();
    desk.ok(&["generate", "pgft", "2; 2,2; 1,2; 1,1", "--guids", "shuffled", "-o", "other.topo"]);
    desk.write("broken", "Switch nonsense\n");
    for (args, words) in [
        (&[][..], "required arguments were not provided: --reference <FABRIC>"),
        (&["--reference", "absent"], "absent: No such file"),
        (&["--reference", "broken"], "broken"),
        (&["--reference", "other.topo"], "other.topo: the reference describes another fabric"),
        (&["--reference", "f.topo", "--engine", "opensm:updn"], "runs only inside OpenSM"),
        (&["--reference", "f.topo", "--csv", "-"], "the steps go to standard output"),
        (&["--reference", "f.topo", "--steps", "x"], "--steps"),
    ] {
        let error = desk.error(&[&["repair", "f.topo"], args].concat());
        assert!(error.contains(words), "{error}");
    }
    let error = desk.error(&["repair", "-", "--reference", "-"]);
    assert!(error.contains("only one input can be '-'"), "{error}");
}

/// A signal ends a long search at once, without files.
#[test]
fn a_signal_ends_the_search() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "3; 6,8,8; 1,8,8; 1,1,1", "-o", "f.topo"]);
    desk.ok(&["degrade", "f.topo", "--cables", "40%", "--seed", "1", "-o", "g.topo"]);
    let mut search = Command::new(DMODC)
        .args(["repair", "g.topo", "--reference", "f.topo", "--csv", "r.csv"])
        .current_dir(desk.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    sleep(Duration::from_millis(1500));
    // `kill` is built into every shell, but no program on small machines.
    let pid = search.id().to_string();
    let kill = Command::new("sh").args(["-c", "kill -s INT \"$0\"", &pid]).status().unwrap();
    assert!(kill.success());
    assert_eq!(search.wait().unwrap().signal(), Some(2));
    let output = search.wait_with_output().unwrap();
    assert_eq!(text(&output.stderr), "", "no progress without a terminal");
    assert_eq!(desk.files(), ["f.topo", "g.topo"]);
}

/// A name of a switch may contain a blank and `#`, as those of some vendors do.
#[test]
fn parts_may_have_comments() {
    let desk = desk();
    desk.write("parts", "L1-0/5 # flaps\nL1-0/6\t# this one, too # since May\n");
    let answer = desk.json(0, &["drain", "f.topo", "--parts", "parts", "--json"]);
    assert_eq!(answer["parts"], 2);
    let renamed = desk.read("f.topo").replace("\"L1-1\"", "\"vendor # L1-1\"");
    desk.write("g.topo", &renamed);
    desk.write("parts", "vendor # L1-1/5\nvendor # L1-1/6 # flaps\n");
    let answer = desk.json(0, &["drain", "g.topo", "--parts", "parts", "--json"]);
    assert_eq!(answer["parts"], 2);
    desk.write("parts", "L9-9 # absent\n");
    let error = desk.error(&["drain", "f.topo", "--parts", "parts"]);
    assert!(error.contains("parts:1: no switch has the name or GUID 'L9-9'"), "{error}");
    let error = desk.error(&["repair", "f.topo", "--reference", "f.topo", "--shifts", "0"]);
    assert!(error.contains("0 is not in 1.."), "{error}");
}
