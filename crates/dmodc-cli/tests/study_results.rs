//! Summaries and figures of a study.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::fs;

use desk::study::{PLAN, desk, table, with_slow_engines};
use desk::text;
use serde_json::Value;

#[test]
fn figures_are_drawn_from_the_merged_table() {
    let desk = desk();
    let error = desk.error(&["study", "plot", "plan.toml"]);
    assert!(error.contains("the study is not finished"), "{error}");
    desk.ok(&["study", "run", "plan.toml"]);
    let said = desk.ok(&["study", "plot", "plan.toml"]);
    for kind in ["risk", "update", "validity"] {
        // Cables alone and switches alone share a figure.
        for sweep in ["", "-cables-1-switches"] {
            let name = format!("small.study/small-{kind}{sweep}");
            assert!(said.contains(&format!("{name}.svg")), "{said}");
            let svg = desk.read(&format!("{name}.svg"));
            for word in ["<svg", "dmodc", "dmodk", "random", "from a file: 16 nodes, 6 switches"] {
                assert!(svg.contains(word), "{name}: {word}");
            }
            if said.contains(&format!("{name}.png")) {
                assert!(
                    fs::read(desk.path(&format!("{name}.png"))).unwrap().starts_with(b"\x89PNG")
                );
            }
        }
    }
    let risk = desk.read("small.study/small-risk.svg");
    for words in ["lower bound", "dead cables between switches\n", "dead switches\n"] {
        assert!(risk.contains(words), "{words}");
    }
    assert!(desk.read("small.study/small-update.svg").contains("could not stay"));
    // The names of engines with fewer trials say so.
    desk.write("plan.toml", &with_slow_engines());
    desk.ok(&["study", "run", "plan.toml", "-o", "slow"]);
    desk.ok(&["study", "plot", "plan.toml", "-o", "slow"]);
    let risk = desk.read("slow/small-risk.svg");
    assert!(risk.contains("random (2 throws)") && risk.contains("dmodk (1 throw)"));
}

#[test]
fn a_summary_compares_engines_on_equal_throws() {
    let desk = desk();
    let error = desk.error(&["study", "summary", "plan.toml"]);
    assert!(error.contains("the study is not finished"), "{error}");
    desk.write("plan.toml", &with_slow_engines());
    let said = desk.ok(&["study", "run", "plan.toml"]);
    assert!(said.contains("\nsummary: small.study/small-summary.md\n"), "{said}");
    for shard in ["1/2", "2/2"] {
        desk.ok(&["study", "run", "plan.toml", "-o", "shards", "--shard", shard]);
    }
    desk.ok(&["study", "merge", "plan.toml", "-o", "shards"]);
    for file in ["small-summary.md", "small-summary.csv", "small-versus.csv"] {
        assert_eq!(desk.read(&format!("shards/{file}")), desk.read(&format!("small.study/{file}")));
    }
    assert_eq!(
        desk.ok(&["study", "summary", "plan.toml"]),
        desk.read("small.study/small-summary.md")
    );
    let text = desk.ok(&["study", "summary", "plan.toml", "--engine", "random"]);
    assert!(text.contains("### Does random have the lowest value of all engines?"), "{text}");
    let error = desk.error(&["study", "summary", "plan.toml", "--engine", "opensm:ftree"]);
    assert!(
        error.contains("the study has no engine 'opensm:ftree'; its engines are dmodc, "),
        "{error}"
    );

    // The means of the table, again by hand: both engines over the two trials that random has.
    let rows = table(&desk.read("small.study/small.csv"));
    let mean = |engine: &str, column: &str, throws: u32| {
        let is_meant = |row: &&std::collections::HashMap<String, String>| {
            row["fabric"] == "figure 1"
                && (row["cables_asked"].as_str(), row["switches_asked"].as_str()) == ("5%", "1")
                && (row["engine"].as_str(), row["pattern"].as_str()) == (engine, "sp")
                && row["throw"].parse::<u32>().unwrap() <= throws
        };
        let values: Vec<f64> =
            rows.iter().filter(is_meant).map(|row| row[column].parse().unwrap()).collect();
        assert_eq!(values.len(), throws as usize);
        values.iter().sum::<f64>() / f64::from(throws)
    };
    let json = desk.json(0, &["study", "summary", "plan.toml", "--json"]);
    assert_eq!(
        (&json["schema"], &json["engine"]),
        (&"dmodc/study-summary/1".into(), &"dmodc".into())
    );
    let of = |list: &str, keys: &[(&str, &str)]| -> Value {
        let is_it = |record: &&Value| keys.iter().all(|(key, value)| record[*key] == *value);
        let list = json[list].as_array().unwrap();
        list.iter().find(is_it).unwrap_or_else(|| panic!("{keys:?}")).clone()
    };
    let place = [
        ("fabric", "3; 2,2,3; 1,2,2; 1,2,1"),
        ("cables_asked", "5%"),
        ("switches_asked", "1"),
        ("engine", "dmodc"),
    ];
    let close = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-9;
    let all = of("means", &place);
    assert!(all["throws"] == 3.0 && all["refused"] == 0.0, "{all}");
    assert!(close(&all["sp_mean"], mean("dmodc", "mean", 3)), "{all}");
    assert!(close(&all["sp_max_least"], mean("dmodc", "bound", 3)), "{all}");
    let both = of("versus", &[&place[..], &[("peer", "random"), ("measure", "sp_mean")]].concat());
    assert_eq!(both["throws"], 2.0);
    assert!(close(&both["engine_mean"], mean("dmodc", "mean", 2)), "{both}");
    assert!(close(&both["peer_mean"], mean("random", "mean", 2)), "{both}");
}

/// Fabrics may have any names, and their files may be damaged.
#[test]
fn odd_names_are_drawn_and_dirt_is_reported() {
    let desk = desk();
    desk.write("f.topo", &desk.read("f.topo").replace('\n', "\r\n"));
    let odd = "name = \"a,\\\"b\\\"\\n<i>\\u001b\"";
    desk.write("plan.toml", &PLAN.replace("name = \"from a file\"", odd));
    let output = desk.run(&["study", "run", "plan.toml"]);
    let err = text(&output.stderr);
    assert!(output.status.success(), "{err}");
    assert!(err.contains("f.topo: lines with Windows line ends (CR LF)"), "{err}");
    assert!(desk.read("small.study/small.csv").contains("\"a,\"\"b\"\" <i> \""));
    desk.ok(&["study", "plot", "plan.toml"]);
    let svg = desk.read("small.study/small-risk.svg");
    assert!(svg.contains("&lt;i&gt;") && !svg.contains('\u{1b}'), "{svg}");
}
