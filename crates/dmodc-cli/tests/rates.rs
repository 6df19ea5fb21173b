//! `dmodc analyze --rates`, studies with rates and `dmodc bench rates`, run as people run them.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::Desk;
use serde_json::Value;

/// 32 nodes on 8 leaves, 4 spines.
const SMALL: &str = "2; 4,8; 1,4; 1,1";

fn routed(tuple: &str) -> Desk {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", tuple, "-o", "f.topo"]);
    desk.ok(&["route", "f.topo", "-o", "f.lft"]);
    desk
}

#[track_caller]
fn assert_close(found: &Value, expected: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
}

/// The worked example of the book.
#[test]
fn what_slow_flows_leave_is_used() {
    let desk = routed(SMALL);
    desk.write("pairs", "node-0 node-4\nnode-1 node-8\nnode-12 node-8\nnode-16 node-8\n");
    let args = ["analyze", "f.topo", "f.lft", "--rates", "--patterns", "file:pairs"];
    let found = desk.json(0, &[&args[..], &["--json"]].concat());
    let rates = &found["file"]["rates"];
    assert_eq!((&rates["flows"], &rates["undelivered"]), (&4.into(), &0.into()));
    assert_close(&rates["mean"], (2.0 + 3.0) / 12.0);
    assert_close(&rates["min"], 1.0 / 3.0);
    assert_close(&rates["p1"], 1.0 / 3.0);
    assert_close(&rates["completion"], 3.0);
    assert_close(&rates["mean_completion"], (1.5 + 9.0) / 4.0);
    assert_eq!(
        (&found["link_speeds"]["unit"], &found["link_speeds"]["unit_gbps"]),
        (&"4xNDR".into(), &400.0.into())
    );
    let text = desk.ok(&args);
    for words in [
        "rates: 1 is the speed of a node's cable, 4xNDR (400 Gb/s of data)",
        "mean 0.4167",
        "the mean is 2.625",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let plain = desk.json(0, &["analyze", "f.topo", "f.lft", "--patterns", "file:pairs", "--json"]);
    assert!(plain["link_speeds"].is_null() && plain["file"]["rates"].is_null());
}

#[test]
fn every_pattern_has_rates() {
    let desk = routed(SMALL);
    let patterns =
        "a2a,rp:9,sp,bisection:9,ring,recursive-doubling,one-to-all:node-3,all-to-one:node-3";
    let args =
        ["analyze", "f.topo", "f.lft", "--rates", "--patterns", patterns, "--html", "r.html"];
    let found = desk.json(0, &[&args[..], &["--json"]].concat());
    for key in ["a2a", "one_to_all", "all_to_one"] {
        // The cable of a node is shared by its 31 flows.
        assert_close(&found[key]["rates"]["mean"], 1.0 / 31.0);
        assert_close(&found[key]["rates"]["completion"], 31.0);
    }
    assert_close(&found["sp"]["rates"]["min"], 1.0);
    assert_close(&found["ring"]["rates"]["completion"], 1.0);
    let doubling = &found["recursive_doubling"]["rates"];
    let steps: Vec<f64> = doubling["by_step"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["completion"].as_f64().unwrap())
        .collect();
    assert_eq!(steps.len(), 5);
    assert_close(&doubling["completion"], steps.iter().sum());
    let bisection = &found["bisection"]["rates"];
    assert_eq!(bisection["effective_bisection_bandwidth"], bisection["mean"]);
    assert!(found["rp"]["rates"]["mean"].as_f64().unwrap() > 0.4);
    assert!(desk.read("r.html").contains("<h3>Fair rates</h3>"));
    // The same bytes with any number of threads; only the time differs.
    let without_time = |threads: &str| {
        let mut found = desk.json(0, &[&args[..], &["--json", "--threads", threads]].concat());
        found["analyze_ms"] = Value::Null;
        found.to_string()
    };
    assert_eq!(without_time("1"), without_time("7"));
}

#[test]
fn slower_cables_and_lost_flows_count() {
    let desk = routed(SMALL);
    let slow = desk.read("f.topo").replace("4xNDR", "4xHDR").replacen("4xHDR", "4xNDR", 1);
    desk.write("mixed.topo", &slow);
    let found =
        desk.json(0, &["analyze", "mixed.topo", "f.lft", "--rates", "--patterns", "sp", "--json"]);
    assert_eq!(found["link_speeds"]["unit"], "4xHDR");
    let unnamed: String = desk.read("f.topo").replace("4xNDR", "");
    desk.write("unnamed.topo", &unnamed);
    let args = ["analyze", "unnamed.topo", "f.lft", "--rates", "--patterns", "sp"];
    let text = desk.ok(&args);
    assert!(text.contains("the fabric names no speeds, so every cable has speed 1"), "{text}");
    // Without a leaf's cables, its flows to other leaves do not arrive, and the others keep their rates.
    desk.ok(&["degrade", "f.topo", "--remove", "0x02d0dc0200000001", "-o", "g.topo"]);
    let found =
        desk.json(1, &["analyze", "g.topo", "f.lft", "--rates", "--patterns", "rp:5", "--json"]);
    let rates = &found["rp"]["rates"];
    assert!(rates["undelivered"].as_u64().unwrap() > 0);
    assert_eq!(rates["undelivered"], found["rp"]["unroutable_flows"]);
    assert!(rates["flows"].as_u64().unwrap() > 0);
}

#[test]
fn too_many_flows_at_once_are_refused() {
    let desk = routed("2; 33,63; 1,1; 1,1");
    let error = desk.error(&["analyze", "f.topo", "f.lft", "--rates", "--patterns", "a2a"]);
    assert!(error.contains("a2a has 4320162 flows at the same time"), "{error}");
    let plan = "name = \"big\"\ndraws = 1\nrates = true\nengines = [\"dmodc\"]\npatterns = [\"a2a\"]\n\
         [[fabric]]\nfile = \"f.topo\"\n[[degradation]]\ncables = [0]\n";
    desk.write("big.toml", plan);
    let error = desk.error(&["study", "run", "big.toml"]);
    assert!(error.contains("big.toml: fabric 'f': a2a has"), "{error}");
}

/// A plan with rates has more columns, and the others are those of the plan without.
#[test]
fn rates_are_columns_of_a_study() {
    let desk = Desk::new();
    let plan = "draws = 2\nengines = [\"dmodc\", \"random\", \"dmodk\"]\npatterns = [\"rp:20\", \"bisection:5\"]\n\
         [[fabric]]\npgft = \"2; 4,8; 1,4; 1,1\"\n[[degradation]]\ncables = [0, \"10%\"]\n";
    desk.write("plain.toml", &format!("name = \"study\"\n{plan}"));
    desk.write("rates.toml", &format!("name = \"study\"\nrates = true\n{plan}"));
    for (plan, folder) in [("plain.toml", "plain"), ("rates.toml", "rates")] {
        desk.ok(&["study", "run", plan, "-o", folder]);
    }
    let (plain, rates) = (desk.read("plain/study.csv"), desk.read("rates/study.csv"));
    assert_eq!(plain.lines().count(), rates.lines().count());
    for (plain, rates) in plain.lines().zip(rates.lines()) {
        let more = rates.strip_prefix(plain).expect("the first columns are the same");
        assert_eq!(more.matches(',').count(), 5, "{rates}");
    }
    assert!(
        rates
            .lines()
            .next()
            .unwrap()
            .ends_with(",mean_rate,p1_rate,min_rate,completion,mean_completion")
    );
    let means = desk.read("rates/study-summary.csv");
    assert!(
        means.contains("rp_20_mean_rate,rp_20_mean_completion,bisection_5_mean_rate"),
        "{means}"
    );
    let summary = desk.ok(&["study", "summary", "rates.toml", "-o", "rates"]);
    assert!(
        summary.contains("the best value of all engines") && summary.contains("rp:20 mean rate"),
        "{summary}"
    );
    assert!(!desk.read("plain/study-summary.md").contains("rate"));
    desk.ok(&["study", "plot", "rates.toml", "-o", "rates"]);
}

#[test]
fn the_benchmark_compares_with_plain_filling() {
    let desk = Desk::new();
    let args = [
        "bench",
        "rates",
        "--pgft",
        SMALL,
        "--dead",
        "5/0",
        "--permutations",
        "5",
        "--compare",
        "2",
    ];
    let text = desk.ok(&args);
    assert!(text.contains("5 permutations in") && text.contains("the same rates"), "{text}");
    let row = desk.json(0, &[&args[..], &["--json", "--record", "r"]].concat())["rows"][0].clone();
    assert_eq!((&row["rates_right"], &row["compared"]), (&true.into(), &2.into()));
    assert!(desk.read("r/record.json").contains("dmodc/bench-rates/1"));
}
