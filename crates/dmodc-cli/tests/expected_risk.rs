//! What `info` and `route` print about uneven leaves and all-to-all, and generated fabrics that depart from their shape.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::Desk;

const DEPARTURES: &str = "missing=1%,uneven=25%,service=4,recabled=1";

#[test]
fn balanced_fabrics_have_even_leaves_and_reach_the_bound() {
    let desk = Desk::new();
    for (preset, flows) in [("two-directors-648", "1,278"), ("four-levels", "248")] {
        desk.ok(&["generate", "preset", preset, "-o", "f.topo"]);
        let route = desk.ok(&["route", "f.topo", "-o", "f.lft"]);
        let line =
            format!("all-to-all: the worst port carries {flows} flows, no tables have less\n");
        assert!(route.contains(&line), "{route}");
        assert!(!route.contains("uneven") && !route.contains("uncertain"), "{route}");
        let info = desk.ok(&["info", "f.topo"]);
        let line = line.replace("all-to-all", "all-to-all with the engine dmodc");
        assert!(info.contains(&line) && !info.contains("uneven"), "{info}");
    }
}

#[test]
fn departed_fabrics_have_uneven_leaves() {
    let desk = Desk::new();
    desk.ok(&["generate", "directors", "--departures", DEPARTURES, "--seed", "3", "-o", "f.topo"]);
    let found = desk.json(0, &["route", "f.topo", "-o", "f.lft", "--json"]);
    let leaves = &found["leaf_evenness"];
    assert_eq!((&leaves["even"], &leaves["leaves"]), (&false.into(), &16.into()));
    let crowded = leaves["more_nodes_than_cables"].as_u64().unwrap();
    assert!(crowded > 0 && leaves["most_nodes"].as_u64() > Some(8), "{leaves}");
    let analysis = desk.json(0, &["analyze", "f.topo", "f.lft", "--patterns", "a2a", "--json"]);
    assert_eq!(found["all_to_all"]["max"], analysis["a2a"]["max"]);
    assert_eq!(found["all_to_all"]["bound"], analysis["a2a"]["bound"]);
    let info = desk.json(0, &["info", "f.topo", "--json"]);
    assert_eq!(&info["leaf_evenness"], leaves);
    assert_eq!(info["all_to_all"], found["all_to_all"]);
    let text = desk.ok(&["info", "f.topo"]);
    let line = format!("; {crowded} of 16 leaves ");
    assert!(text.contains("uneven leaves: ") && text.contains(&line), "{text}");
    assert!(text.contains(" × the bound of "), "{text}");
}

/// Where the worst port carries far more than it has to, `route` names the engine that helps, and it does.
#[test]
fn high_risks_come_with_advice_that_helps() {
    let desk = Desk::new();
    desk.ok(&["generate", "preset", "two-directors-648", "-o", "whole.topo"]);
    desk.ok(&["degrade", "whole.topo", "--cables", "5%", "--seed", "2", "-o", "f.topo"]);
    let advice = "  (--engine stable+relief moves single entries off the most loaded ports";
    let risk = |engine: &str, is_advised: bool| {
        let route = ["route", "f.topo", "--engine", engine, "-o", "f.lft"];
        let text = desk.ok(&route);
        assert_eq!(text.contains(advice), is_advised, "{text}");
        desk.json(0, &[&route[..], &["--json"]].concat())["all_to_all"]["max"].as_u64().unwrap()
    };
    assert!(2 * risk("stable+relief", false) < 3 * risk("dmodc", true));
    risk("paper", false);
}

#[test]
fn departures_are_the_same_for_a_seed() {
    let desk = Desk::new();
    let make = |what: &[&str], seed: &str| {
        desk.ok(&[&["generate"], what, &["--departures", DEPARTURES, "--seed", seed]].concat())
    };
    for what in [&["pgft", "2; 4,8; 1,4; 1,1"][..], &["preset", "avakas"], &["pods"]] {
        assert_eq!(make(what, "1"), make(what, "1"));
        assert_ne!(make(what, "1"), make(what, "2"));
        assert!(make(what, "1").contains(&format!("departures {DEPARTURES}, seed 1")));
    }
    let error = desk.error(&["generate", "pods", "--departures", "missing=9999"]);
    assert!(error.contains("--departures: cannot remove 9999 inter-switch cables"), "{error}");
    let error = desk.error(&["generate", "pods", "--departures", "lost=1"]);
    assert!(error.contains("'lost' is not known"), "{error}");
}

const PLAN: &str = r#"
name = "shapes"
draws = 2
engines = ["dmodc", "dmodk"]
patterns = ["a2a"]
[[fabric]]
directors = "leaves=8,spread=strided"
[[fabric]]
name = "pods"
pods = "pods=2,leaves=2,nodes=2,lower=2,upper=2,cores=2,reach=1"
[[fabric]]
name = "away"
file = "away.topo"
optional = true
[[degradation]]
cables = ["0%", "5%"]
"#;

/// An absent optional fabric changes nothing for the others, and a present one is measured.
#[test]
fn plans_have_directors_pods_and_optional_files() {
    let desk = Desk::new();
    desk.write("plan.toml", PLAN);
    let note = desk::text(&desk.run(&["study", "run", "plan.toml"]).stderr);
    let line = "dmodc: fabric 'away' is skipped, because its file is absent: away.topo\n";
    assert!(note.contains(line), "{note}");
    let without = desk.read("shapes.study/shapes.csv");
    assert!(without.contains(
        "leaves=8,nodes=8,directors=2,lines=8,spines=8,cables=8,parallel=1,spread=strided"
    ));
    let summary = desk.read("shapes.study/shapes-summary.md");
    assert!(summary.contains("\n- dmodk refused 3 of 3 draws: "), "{summary}");
    desk.ok(&["generate", "pgft", "2; 2,2; 1,2; 1,1", "-o", "away.topo"]);
    let run = desk.json(0, &["study", "run", "plan.toml", "--output", "with", "--json"]);
    assert_eq!(run["skipped_fabrics"], serde_json::json!([]));
    let with = desk.read("with/shapes.csv");
    let others: Vec<&str> = with.lines().filter(|line| !line.starts_with("shapes,away,")).collect();
    assert_eq!(others, without.lines().collect::<Vec<_>>());
    assert!(with.lines().count() > others.len());
}
