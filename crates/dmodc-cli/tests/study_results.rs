//! Summaries and figures of a study.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::fs;
use std::process::Command;

use desk::study::{PLAN, desk, table, with_slow_engines};
use desk::text;
use serde_json::Value;

/// Returns the arguments that draw the plan, and more.
fn plot_args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["study", "plot", "plan.toml"], more].concat()
}

/// The fabrics of the plan, in the names of files.
const FABRICS: [&str; 2] = ["3-2-2-3-1-2-2-1-2-1", "from-a-file"];

#[test]
fn figures_are_drawn_from_the_merged_table() {
    let desk = desk();
    let error = desk.error(&["study", "plot", "plan.toml"]);
    assert!(error.contains("the study is not finished"), "{error}");
    desk.ok(&["study", "run", "plan.toml"]);
    let said = desk.ok(&["study", "plot", "plan.toml"]);
    for fabric in FABRICS {
        for sweep in ["", "-cables-1-switches", "-switches"] {
            for question in ["a2a", "rp", "sp", "sp-4", "bisection", "moved"] {
                let name = format!("small.study/small-{fabric}{sweep}-{question}");
                assert!(said.contains(&format!("{name}.svg\n")), "{name}: {said}");
                let svg = desk.read(&format!("{name}.svg"));
                is_well_formed(&svg);
                for word in ["dmodc", "random", "Drawn by: dmodc study plot plan.toml", "Mean of 3"]
                {
                    assert!(svg.contains(word), "{name}: {word}");
                }
                if said.contains(&format!("{name}.png")) {
                    let png = fs::read(desk.path(&format!("{name}.png"))).unwrap();
                    assert!(png.starts_with(b"\x89PNG"));
                }
            }
        }
    }
    let shifts = desk.read("small.study/small-from-a-file-sp.svg");
    for words in [
        "Shifts: how loaded is the worst port when cables fail?",
        "Fabric “from a file”: 16 nodes, 6 switches.",
        "lower bound",
        ">failed cables between switches</text>",
    ] {
        assert!(shifts.contains(words), "{words}: {shifts}");
    }
    assert!(desk.read("small.study/small-from-a-file-moved.svg").contains("that must change"));
}

#[test]
fn one_figure_is_drawn_into_a_file() {
    let desk = desk();
    desk.ok(&["study", "run", "plan.toml"]);
    let one = ["--fabric", "from a file", "--pattern", "rp", "--failed", "cables", "-o", "f.svg"];
    assert_eq!(desk.ok(&plot_args(&one)), "f.svg\n");
    let svg = desk.read("f.svg");
    is_well_formed(&svg);
    assert!(svg.contains("--fabric &quot;from a file&quot; --pattern rp"), "{svg}");
    // The same figure as among all the others, and the same again.
    desk.ok(&plot_args(&[]));
    let body = |svg: &str| svg.split_once("</metadata>").unwrap().1.to_string();
    assert_eq!(body(&svg), body(&desk.read("small.study/small-from-a-file-rp.svg")));
    desk.ok(&plot_args(&one));
    assert_eq!(svg, desk.read("f.svg"));
    // From a compressed table, with fewer engines: random has a curve, dmodc has none.
    let table = desk.path("small.study/small.csv");
    assert!(Command::new("gzip").arg("-k").arg(&table).status().unwrap().success());
    let few = ["--engines", "random", "--table", "small.study/small.csv.gz"];
    desk.ok(&plot_args(&[&one[..], &few].concat()));
    let svg = desk.read("f.svg");
    assert!(svg.contains("<title>random, 5 %: ") && !svg.contains("<title>dmodc, 5 %: "), "{svg}");
    // A table may be drawn into any folder.
    desk.ok(&plot_args(&["--table", "small.study/small.csv.gz", "--pattern", "sp", "-o", "drawn"]));
    assert!(desk.read("drawn/small-from-a-file-sp.svg").contains("</svg>"));

    let error = |more: &[&str]| desk.error(&plot_args(more));
    let many = error(&["--pattern", "sp", "--failed", "cables", "-o", "f.svg"]);
    assert!(many.contains("f.svg has room for one figure, and 2 are meant"), "{many}");
    assert!(error(&["--fabric", "x"]).contains("no fabric of the study is called 'x'"));
    assert!(error(&["--pattern", "x"]).contains("a2a, rp:5, sp, sp:4, bisection:2, moved"));
    assert!(error(&["--engines", "ftree"]).contains("no engine of the study is called 'ftree'"));
    assert!(error(&["--failed", "x"]).contains("cables, cables-1-switches, switches"));
    assert!(error(&["--table", "none.csv.gz"]).contains("none.csv.gz"));
}

/// Engines that take part in some draws only are compared on these.
#[test]
fn figures_have_the_draws_that_all_engines_have() {
    let desk = desk();
    desk.write("plan.toml", &with_slow_engines());
    desk.ok(&["study", "run", "plan.toml", "-o", "slow"]);
    let plot = ["study", "plot", "plan.toml", "-o", "slow", "--pattern", "sp"];
    desk.ok(&plot);
    let svg = desk.read("slow/small-3-2-2-3-1-2-2-1-2-1-sp.svg");
    assert!(svg.contains("One random draw of faults"), "{svg}");
    desk.ok(&[&plot[..], &["--engines", "dmodc,random"]].concat());
    let svg = desk.read("slow/small-3-2-2-3-1-2-2-1-2-1-sp.svg");
    assert!(svg.contains("Mean of 2 random draws of faults"), "{svg}");
    // On the larger fabric, random takes no part.
    let svg = desk.read("slow/small-from-a-file-sp.svg");
    assert!(svg.contains("Mean of 3 random draws of faults") && !svg.contains("random, "), "{svg}");
}

/// Checks that every element is closed by its own name, and that texts contain no bare signs.
#[track_caller]
fn is_well_formed(svg: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = svg;
    while let Some((text, after)) = rest.split_once('<') {
        assert!(!text.contains('>') || open.last() == Some(&"style"), "{text}");
        let entities = text.split('&').skip(1);
        for entity in entities {
            let known = ["amp;", "lt;", "gt;", "quot;"];
            assert!(known.iter().any(|name| entity.starts_with(name)), "{text}");
        }
        let (tag, after) = after.split_once('>').unwrap();
        rest = after;
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name), "{tag}"),
            None if tag.ends_with('/') => {}
            None => open.push(tag.split([' ', '\n']).next().unwrap()),
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
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
    let svg = desk.read("small.study/small-a-b-i-a2a.svg");
    is_well_formed(&svg);
    assert!(svg.contains("a,&quot;b&quot; &lt;i&gt;") && !svg.contains('\u{1b}'), "{svg}");
}
