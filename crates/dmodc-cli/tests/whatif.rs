//! `dmodc whatif` as users and their scripts meet it.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::fs;

use desk::Desk;
use serde_json::Value;

const SMALL: &str = "3; 2,2,3; 1,2,2; 1,2,1";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", SMALL, "-o", "f.topo"]);
    desk
}

fn rows(report: &Value) -> &Vec<Value> {
    report["rows"].as_array().unwrap()
}

/// The same numbers by the other commands: the part is removed, and the rest is routed and judged.
fn by_hand(desk: &Desk, parts: &[&str]) -> [Value; 5] {
    let mut degrade = vec!["degrade", "f.topo", "-o", "g.topo"];
    for part in parts {
        degrade.extend(["--remove", part]);
    }
    desk.ok(&degrade);
    desk.run(&["route", "f.topo", "-o", "f.lft", "--save-orders", "f.orders"]);
    desk.run(&["route", "g.topo", "-o", "g.lft", "--orders", "f.orders"]);
    let run = |args: &[&str]| -> Value {
        let out = desk.run(args);
        serde_json::from_slice(&out.stdout).unwrap()
    };
    let order = ["--orders", "f.orders"];
    let analysis =
        run(&[&["analyze", "g.topo", "g.lft", "--patterns", "a2a,sp", "--json"], &order[..]]
            .concat());
    let check = run(&[&["check", "g.topo", "g.lft", "--json"], &order[..]].concat());
    let diff = run(&[&["diff", "g.topo", "f.lft", "g.lft", "--json"], &order[..]].concat());
    [
        check["lost"].clone(),
        analysis["a2a"]["max"].clone(),
        analysis["sp"]["mean"].clone(),
        diff["entries"].clone(),
        diff["blocks"].clone(),
    ]
}

#[test]
fn every_row_is_what_the_other_commands_find() {
    let desk = desk();
    let args = ["whatif", "f.topo", "--double", "12", "--json"];
    let report = desk.json(0, &args);
    assert_eq!(report["faults"], 36 + 10 + 12);
    let alike: u64 = rows(&report).iter().map(|row| row["alike"].as_u64().unwrap()).sum();
    assert_eq!(alike, 58);
    for row in rows(&report) {
        let parts: Vec<&str> = match row["parts"].as_array() {
            Some(parts) => parts.iter().map(|part| part.as_str().unwrap()).collect(),
            None => vec![row["part"].as_str().unwrap()],
        };
        let expected = by_hand(&desk, &parts);
        let found = ["lost", "a2a", "sp", "entries", "blocks"].map(|key| row[key].clone());
        assert_eq!(found, expected, "{parts:?}");
        assert_eq!(row["alike_parts"].as_array().unwrap().len() as u64, row["alike"]);
    }
}

#[test]
fn the_worst_comes_first_and_lost_pairs_are_named() {
    let desk = desk();
    desk.ok(&[
        "degrade", "f.topo", "--remove", "L1-0/3", "--remove", "L1-0/4", "--remove", "L1-0/5",
        "-o", "g.topo",
    ]);
    let report = desk.json(1, &["whatif", "g.topo", "--fail-on", "lost", "--json"]);
    let worst = &rows(&report)[0];
    assert!(worst["cut_off"].as_u64().unwrap() > 0, "{worst}");
    assert_eq!(worst["undelivered"][0]["to_name"], "node-0");
    let pairs: Vec<u64> = rows(&report)
        .iter()
        .map(|row| row["lost"].as_u64().unwrap() + row["cut_off"].as_u64().unwrap())
        .collect();
    assert!(pairs.is_sorted_by(|a, b| a >= b));
    let text = desk.ok(&["whatif", "g.topo", "--most", "1"]);
    assert!(text.contains("cut off (from the nodes of 'L1-1'"), "{text}");
    assert!(
        text.contains("less harmful group") && text.contains("would interrupt node pairs"),
        "{text}"
    );
    assert!(
        desk.ok(&["whatif", "f.topo"]).ends_with("verdict: no such fault interrupts a node pair\n")
    );
}

#[test]
fn shards_together_are_the_whole_and_a_journal_is_continued() {
    let desk = desk();
    let all = ["whatif", "f.topo", "--double", "300", "--patterns", "a2a,rp:5,sp:4"];
    let whole = desk.ok(&[&all[..], &["--csv", "all.csv"]].concat());
    for shard in ["1/3", "2/3", "3/3"] {
        let journal = format!("{}.journal", &shard[..1]);
        desk.ok(&[&all[..], &["--shard", shard, "--journal", &journal]].concat());
    }
    let journals = ["--merge", "1.journal", "2.journal", "3.journal"];
    let merged = desk.ok(&[&all[..], &["--csv", "merged.csv"], &journals].concat());
    assert_eq!(fs::read(desk.path("all.csv")).unwrap(), fs::read(desk.path("merged.csv")).unwrap());
    let lines = |text: &str| text.lines().skip(1).map(String::from).collect::<Vec<_>>();
    assert_eq!(lines(&whole), lines(&merged));
    let error = desk.error(&[&all[..], &journals[..3]].concat());
    assert!(error.contains("the journals lack"), "{error}");
    // A journal whose end is torn off is continued.
    let journal = fs::read(desk.path("2.journal")).unwrap();
    fs::write(desk.path("2.journal"), &journal[..journal.len() - 9]).unwrap();
    desk.ok(&[&all[..], &["--shard", "2/3", "--journal", "2.journal"]].concat());
    assert_eq!(fs::read(desk.path("2.journal")).unwrap(), journal);
    // A journal of something else is refused, and stays as it is.
    let error = desk.error(&["whatif", "f.topo", "--journal", "2.journal"]);
    assert!(error.contains("2.journal: this file belongs to another survey"), "{error}");
    assert_eq!(fs::read(desk.path("2.journal")).unwrap(), journal);
    fs::write(desk.path("noise"), "hello\nworld\n").unwrap();
    assert!(
        desk.error(&["whatif", "f.topo", "--journal", "noise"])
            .contains("noise:1: this is not a journal")
    );
}

#[test]
fn the_page_and_wrong_arguments() {
    let desk = desk();
    desk.ok(&["whatif", "f.topo", "--html", "page.html"]);
    let page = fs::read_to_string(desk.path("page.html")).unwrap();
    assert!(page.contains("What every fault would do") && page.contains("<svg"), "{page}");
    for (args, words) in [
        (vec!["--double", "0"], "expected 'all' or a number"),
        (vec!["--patterns", "bisection:3"], "whatif counts the patterns a2a, sp, sp:N and rp:N"),
        (vec!["--patterns", "sp,sp:3"], "names 'sp' twice"),
        (vec!["--engine", "opensm:updn"], "runs only inside OpenSM"),
        (vec!["--shard", "1/2"], "--journal"),
        (vec!["--merge", "absent"], "the journals lack 46 of 46 faults"),
    ] {
        let error = desk.error(&[&["whatif", "f.topo"], &args[..]].concat());
        assert!(error.contains(words), "{args:?}: {error}");
    }
}

#[test]
fn the_benchmark_compares_with_the_beginning() {
    let desk = Desk::new();
    let bench = desk.json(0, &["bench", "whatif", "--pgft", SMALL, "--dead", "0/0,5/0", "--json"]);
    for row in bench["rows"].as_array().unwrap() {
        assert_eq!(row["right"], true, "{row}");
        assert!(row["compared"].as_u64().unwrap() == 20, "{row}");
    }
}

#[test]
fn dmodk_cannot_try_faults() {
    let desk = desk();
    let error = desk.error(&["whatif", "f.topo", "--engine", "dmodk"]);
    assert_eq!(
        error,
        "dmodc: the engine dmodk routes only regular fat trees (PGFTs) without faults, so it cannot try any fault; use \
         --engine dmodc\n"
    );
}

/// Other commands report the median of random permutations, so the mean is called one.
#[test]
fn the_mean_of_random_permutations_is_called_so() {
    let shown = desk().ok(&["whatif", "f.topo", "--patterns", "rp:10"]);
    assert!(shown.contains("; rp:10 mean "), "{shown}");
}
