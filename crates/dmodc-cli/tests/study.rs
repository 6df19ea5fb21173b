//! `dmodc study`: the same bytes however the work is cut, interrupted or spread.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use desk::{DMODC, Desk, skip, text};
use serde_json::Value;

const PLAN: &str = r#"
name = "small"
seed = 3
throws = 3
engines = ["dmodc", "dmodk", "random"]
patterns = ["a2a", "rp:5", "sp", "sp:4", "bisection:2"]
[[fabric]]
pgft = "3; 2,2,3; 1,2,2; 1,2,1"
[[fabric]]
name = "from a file"
file = "f.topo"
[[degradation]]
cables = ["0%", "5%", 4]
switches = [0, 1]
"#;

/// The same with two engines that take part in some cells only: the first fabric has 12 nodes, the second 16.
fn with_slow_engines() -> String {
    let slow = "[[slow]]\nengines = [\"random\"]\nthrows = 2\nnodes = 12\n\
                [[slow]]\nengines = [\"dmodk\"]\nthrows = 1\n[[degradation]]";
    PLAN.replace(", \"dmodk\", \"random\"", "").replace("[[degradation]]", slow)
}

/// Cells of the plan: per fabric one healthy one, and three throws of each of five degradations.
const CELLS: usize = 2 * (1 + 5 * 3);

/// A desk with the plan and its fabric.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "2; 4,4; 1,2; 1,2", "-o", "f.topo"]);
    desk.write("plan.toml", PLAN);
    desk
}

/// The rows of a table, each as its values by column.
fn table(csv: &str) -> Vec<std::collections::HashMap<String, String>> {
    // The only field with commas is the first fabric's name, which is quoted.
    let mut lines = csv.lines().map(|line| line.replace("\"3; 2,2,3; 1,2,2; 1,2,1\"", "figure 1"));
    let header: Vec<String> = lines.next().unwrap().split(',').map(Into::into).collect();
    let row = |line: String| header.iter().cloned().zip(line.split(',').map(Into::into)).collect();
    lines.map(row).collect()
}

#[test]
fn a_run_has_a_row_for_every_measurement_with_all_its_seeds() {
    let desk = desk();
    let said = desk.ok(&["study", "run", "plan.toml"]);
    assert!(said.contains(&format!("small: {CELLS} cells measured")), "{said}");
    let csv = desk.read("small.study/small.csv");
    let rows = table(&csv);
    assert_eq!(rows.len(), CELLS * 3 * 5);
    let refused = rows.iter().filter(|row| !row["refused"].is_empty()).count();
    assert!(said.contains(&format!("\ndmodk has no figures in {refused} rows: ")), "{said}");
    for row in &rows {
        assert_eq!(row["study"], "small");
        // Dmodk knows PGFTs alone; a tree of two levels without one of its roots still is one.
        let is_refused = !row["refused"].is_empty();
        let is_broken = row["fabric"] == "figure 1" && row["cables_dead"] != "0";
        assert!(!is_refused || row["engine"] == "dmodk", "{row:?}");
        assert!(is_refused || row["engine"] != "dmodk" || !is_broken, "{row:?}");
        assert_eq!(row["max"].is_empty(), is_refused, "{row:?}");
        assert_eq!(row["engine_seed"].is_empty(), row["engine"] != "random");
        let is_drawn = ["rp:5", "sp:4", "bisection:2"].contains(&row["pattern"].as_str());
        assert_eq!(!row["pattern_seed"].is_empty(), is_drawn);
        assert!(row["throw_seed"].parse::<u64>().unwrap() < 1 << 53);
        if !is_refused {
            let number = |column: &str| row[column].parse::<f64>().unwrap();
            assert!(number("max") >= number("bound"), "{row:?}");
            assert_eq!(row["valid"] == "true", row["unroutable_pairs"] == "0");
            assert!(number("entries_moved") <= number("entries_total"));
            // All these engines route along the closer sets.
            assert!(number("entries_forced") <= number("entries_moved"), "{row:?}");
            assert!(number("blocks_forced") <= number("blocks_moved"), "{row:?}");
        }
    }
    // Five per cent of the 32 or 16 cables between switches; four; one switch.
    let dead = |fabric: &str, asked: &str| -> String {
        let row = rows.iter().find(|row| row["fabric"] == fabric && row["cables_asked"] == asked);
        row.unwrap()["cables_dead"].clone()
    };
    assert_eq!((dead("figure 1", "5%"), dead("from a file", "5%")), ("2".into(), "1".into()));
    assert_eq!((dead("figure 1", "4"), dead("from a file", "4")), ("4".into(), "4".into()));
    // The faults of a throw can be made again by hand.
    let throw = rows
        .iter()
        .find(|row| row["fabric"] == "from a file" && row["cables_asked"] == "4")
        .unwrap();
    let args =
        ["degrade", "f.topo", "--cables", "4", "--seed", &throw["throw_seed"], "-o", "g.topo"];
    desk.ok(&args);
    let json = desk.json(0, &["route", "g.topo", "--json"]);
    assert_eq!(json["valid"].to_string(), throw["valid"]);
    let meta: Value = serde_json::from_str(&desk.read("small.study/small.meta.json")).unwrap();
    assert_eq!((&meta["schema"], &meta["seed"]), (&"dmodc/study/2".into(), &3.into()));
    assert_eq!(meta["rows"], CELLS * 15);
    assert!(
        meta["plan_hash"].as_str().unwrap().len() == 32 && meta["versions"]["dmodc"].is_string()
    );
    // Comments are no part of the plan; running again measures nothing.
    desk.write("plan.toml", &format!("# The same.\n{PLAN}"));
    assert!(
        desk.ok(&["study", "run", "plan.toml"])
            .contains(&format!("{CELLS} of them by an earlier run"))
    );
    assert_eq!(desk.read("small.study/small.csv"), csv);
}

#[test]
fn shards_merge_to_the_bytes_of_one_process() {
    let desk = desk();
    desk.ok(&["study", "run", "plan.toml", "--threads", "1"]);
    for shard in ["3/3", "1/3"] {
        desk.ok(&["study", "run", "plan.toml", "-o", "shards", "--shard", shard]);
    }
    let status = desk.code(1, &["study", "status", "plan.toml", "-o", "shards"]);
    assert!(
        status.contains("hole: shard 2/3: run 'dmodc study run plan.toml -o shards --shard 2/3'\n"),
        "{status}"
    );
    let error = desk.error(&["study", "merge", "plan.toml", "-o", "shards"]);
    assert!(error.contains("11 of 32 cells are missing"), "{error}");
    // The last one is told by its environment.
    let mut last = Command::new(DMODC);
    last.args(["study", "run", "plan.toml", "-o", "shards"]).current_dir(desk.folder.path());
    last.env("SLURM_ARRAY_TASK_ID", "1").env("SLURM_ARRAY_TASK_COUNT", "3");
    let said = text(&last.output().unwrap().stdout);
    assert!(said.contains("shard 2/3: (told by SLURM_ARRAY_TASK_ID)"), "{said}");
    let status = desk.json(0, &["study", "status", "plan.toml", "-o", "shards", "--json"]);
    assert_eq!(status["holes"].as_array().unwrap().len(), 0);
    assert_eq!(status["shards"], serde_json::json!(["1/3", "2/3", "3/3"]));
    desk.ok(&["study", "merge", "plan.toml", "-o", "shards"]);
    for file in ["small.csv", "small.meta.json"] {
        assert_eq!(desk.read(&format!("shards/{file}")), desk.read(&format!("small.study/{file}")));
    }
    let names: Vec<String> = fs::read_dir(desk.path("shards"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(names.iter().all(|name| !name.ends_with(".part") && !name.ends_with(".journal")));
    assert!(names.contains(&"shard-0002-of-0003.csv".to_string()), "{names:?}");
}

#[test]
fn slow_engines_take_part_in_their_cells_only_and_everything_else_is_the_same() {
    let desk = desk();
    desk.ok(&["study", "run", "plan.toml", "-o", "all"]);
    desk.write("plan.toml", &with_slow_engines());
    desk.ok(&["study", "run", "plan.toml", "--threads", "1"]);
    let csv = desk.read("small.study/small.csv");
    for row in table(&csv) {
        let throw: u32 = row["throw"].parse().unwrap();
        match row["engine"].as_str() {
            "random" => assert!(throw <= 2 && row["fabric"] == "figure 1", "{row:?}"),
            "dmodk" => assert!(throw <= 1, "{row:?}"),
            _ => {}
        }
    }
    // Five patterns. Dmodc: all cells; random: the first fabric; dmodk: one throw.
    let healthy_and = |throws: usize| 1 + 5 * throws;
    let rows = 5 * (CELLS + healthy_and(2) + 2 * healthy_and(1));
    assert_eq!(csv.lines().count(), 1 + rows);
    let all = desk.read("all/small.csv");
    let all: std::collections::HashSet<&str> = all.lines().collect();
    assert!(csv.lines().all(|row| all.contains(row)), "an engine's rows depend on no other engine");
    let meta: Value = serde_json::from_str(&desk.read("small.study/small.meta.json")).unwrap();
    assert_eq!(meta["engines"], serde_json::json!(["dmodc", "random", "dmodk"]));
    let slow = serde_json::json!({ "engine": "random", "throws": 2, "nodes": 12 });
    assert_eq!((&meta["slow"][0], meta["rows"].as_u64()), (&slow, Some(rows as u64)));
    for shard in ["2/3", "1/3", "3/3"] {
        desk.ok(&["study", "run", "plan.toml", "-o", "shards", "--shard", shard]);
    }
    desk.ok(&["study", "merge", "plan.toml", "-o", "shards"]);
    for file in ["small.csv", "small.meta.json"] {
        assert_eq!(desk.read(&format!("shards/{file}")), desk.read(&format!("small.study/{file}")));
    }
    // Slow engines alone leave cells out that none takes part in.
    let alone = with_slow_engines().replace("engines = [\"dmodc\"]", "engines = []");
    desk.write("plan.toml", &alone);
    let said = desk.ok(&["study", "run", "plan.toml", "-o", "alone"]);
    let cells = healthy_and(2) + healthy_and(1);
    assert!(said.contains(&format!("small: {cells} cells measured")), "{said}");
}

#[test]
fn a_killed_run_goes_on_and_ends_in_the_same_bytes() {
    let desk = Desk::new();
    let plan = with_slow_engines()
        .replace("throws = 3", "throws = 150")
        .replace("throws = 2", "throws = 70")
        .replace("name = \"from a file\"\nfile = \"f.topo\"", "pgft = \"3; 4,4,4; 1,4,4; 1,1,1\"");
    desk.write("plan.toml", &plan);
    desk.ok(&["study", "run", "plan.toml", "-o", "whole"]);
    for signal in ["KILL", "INT"] {
        end_and_go_on(&desk, signal);
    }
}

/// Ends a run by a signal once a few cells are finished; then the same command goes on.
fn end_and_go_on(desk: &Desk, signal: &str) {
    let folder = format!("ended-{signal}");
    let run = ["study", "run", "plan.toml", "-o", &folder];
    let mut victim = Command::new(DMODC)
        .args(run)
        .args(["--threads", "1"])
        .current_dir(desk.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = || desk.run(&["study", "status", "plan.toml", "-o", &folder]).stdout;
    let journal = desk.path(&format!("{folder}/shard-0001-of-0001.journal"));
    let finished = || fs::read_to_string(&journal).unwrap_or_default().matches("# cell ").count();
    while finished() < 3 && victim.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(1));
    }
    let running = text(&status());
    let pid = victim.id().to_string();
    assert!(
        Command::new("sh")
            .args(["-c", "kill -s \"$0\" \"$1\"", signal, &pid])
            .status()
            .unwrap()
            .success()
    );
    let victim = victim.wait_with_output().unwrap();
    assert!(!desk.path(&format!("{folder}/small.csv")).exists(), "it ended too early to be a test");
    assert!(running.contains("shard 1/1 is running: "), "{running}");
    let number = ["KILL", "INT", "TERM"].iter().position(|of| *of == signal).unwrap();
    assert_eq!(victim.status.signal(), Some([9, 2, 15][number]), "as shells expect");
    let said = text(&victim.stderr);
    let word = " are done and kept; run the same command to go on\n";
    assert_eq!(said.contains(word), signal != "KILL", "{said}");
    assert!(!desk.path(&format!("{folder}/shard-0001-of-0001.csv")).exists());
    // The disk may have half of what was written last.
    let mut file = fs::OpenOptions::new().append(true).open(&journal).unwrap();
    file.write_all(b"# cell 7 15 00000000000000000000000000000000\nsmall,\"3; 2,").unwrap();
    drop(file);
    let status = text(&status());
    assert!(status.contains("shard 1/1 is interrupted: ") && !status.contains("hole"), "{status}");
    let again = format!("; run 'dmodc {}' to go on\n", run.join(" "));
    assert!(status.contains(&again), "{status}");
    let said = desk.ok(&run);
    assert!(said.contains("by an earlier run"), "{said}");
    for file in ["small.csv", "small.meta.json"] {
        assert_eq!(desk.read(&format!("{folder}/{file}")), desk.read(&format!("whole/{file}")));
    }
    assert!(!journal.exists());
}

#[test]
fn what_is_of_another_plan_is_refused() {
    let desk = desk();
    desk.ok(&["study", "run", "plan.toml", "-o", "out", "--shard", "1/2"]);
    desk.write("other.toml", &PLAN.replace("seed = 3", "seed = 4"));
    for command in ["run", "merge", "status", "plot"] {
        let error = desk.error(&["study", command, "other.toml", "-o", "out"]);
        assert!(error.contains("shard-0001-of-0002.meta.json: this is of another plan"), "{error}");
    }
    // Another fabric in the same file is another plan.
    desk.ok(&["study", "run", "plan.toml", "-o", "out", "--shard", "2/2"]);
    desk.ok(&["generate", "pgft", "2; 4,4; 1,4; 1,1", "-o", "f.topo"]);
    assert!(desk.error(&["study", "merge", "plan.toml", "-o", "out"]).contains("another plan"));
    desk.ok(&["generate", "pgft", "2; 4,4; 1,2; 1,2", "-o", "f.topo"]);
    // A table that was changed by hand is no result.
    let path = "out/shard-0002-of-0002.csv";
    desk.write(path, &desk.read(path).replace(",true,", ",false,"));
    let error = desk.error(&["study", "merge", "plan.toml", "-o", "out"]);
    assert!(error.contains("is not what its .meta.json describes"), "{error}");
}

#[test]
fn errors_of_a_plan_name_the_line() {
    let desk = desk();
    for (from, to, expected) in [
        ("seed = 3", "sed = 3", "plan.toml:3:1: unknown field `sed`"),
        ("throws = 3", "throws = 0", "plan.toml:4:10: throws are from 1 to 99999"),
        (
            "\"dmodk\"",
            "\"dmodx\"",
            "plan.toml:5:21: it is dmodc, stable, dmodk, random, or opensm:",
        ),
        ("\"dmodk\"", "\"dmodc\"", "plan.toml:5:21: dmodc comes twice"),
        ("\"sp:4\"", "\"sp:0\"", "plan.toml:6:34: 'sp:0' is no pattern of a study"),
        (
            "\"sp:4\"",
            "\"all-to-one:n1\"",
            "plan.toml:6:34: 'all-to-one:n1' is no pattern of a study",
        ),
        ("1,2,2; 1,2,1", "1,2; 1,2,1", "plan.toml:8:8: pgft: "),
        ("file = \"f.topo\"", "preset = \"x\"", "plan.toml:11:10: no preset is called 'x'"),
        ("file = \"f.topo\"", "", "plan.toml:9:1: a fabric has one of pgft, preset and file"),
        ("\"5%\"", "\"5\"", ""),
        ("\"5%\"", "\"500%\"", "plan.toml:13:17: '500%' is neither a count nor a percentage"),
        ("\"5%\"", "-1", "plan.toml:13:17: "),
        ("name = \"small\"", "name = \"a/b\"", "plan.toml:2:8: 'a/b' cannot name files"),
        (
            "\"small\"",
            "\"shard-0001-of-0002\"",
            "plan.toml:2:8: 'shard-0001-of-0002' is called like",
        ),
        ("\"rp:5\"", "\"rp:99999999999\"", "plan.toml:6:20: 'rp:99999999999' is no pattern"),
        ("engines = [\"dmodc\", \"dmodk\", \"random\"]", "engines = []", "there is no engine"),
        (
            "4]",
            "400]",
            "fabric '3; 2,2,3; 1,2,2; 1,2,1': 400 inter-switch cables cannot be removed",
        ),
        ("f.topo", "g.topo", "g.topo: No such file"),
        ("[[degradation]]", "[[degradation", "plan.toml:12:"),
        ("[[deg", "[[slow]]\nthrows = 2\n[[deg", "plan.toml:12:1: missing field `engines`"),
        ("[[deg", "[[slow]]\nengines = []\n[[deg", "plan.toml:12:1: these slow engines are none"),
        (
            "[[deg",
            "[[slow]]\nengines = [\"opensm:ftree\"]\n[[deg",
            "plan.toml:12:1: slow engines have throws, nodes or both",
        ),
        (
            "[[deg",
            "[[slow]]\nengines = [\"opensm:ftree\"]\nthrows = 0\n[[deg",
            "plan.toml:14:10: throws are from 1 to 99999",
        ),
        (
            "[[deg",
            "[[slow]]\nengines = [\"opensm:ftree\"]\nnodes = 0\n[[deg",
            "plan.toml:14:9: no fabric has 0 nodes",
        ),
        (
            "[[deg",
            "[[slow]]\nengines = [\"dmodc\"]\nnodes = 9\n[[deg",
            "plan.toml:13:12: dmodc comes twice",
        ),
        (
            "engines = [\"dmodc\", \"dmodk\", \"random\"]\n",
            "engines = []\nslow = [{ engines = [\"dmodc\"], nodes = 9 }]\n",
            "plan.toml: every fabric has more nodes than the engines are for",
        ),
    ] {
        desk.write("plan.toml", &PLAN.replacen(from, to, 1));
        if expected.is_empty() {
            desk.code(1, &["study", "status", "plan.toml"]);
            continue;
        }
        let error = desk.error(&["study", "status", "plan.toml"]);
        assert!(error.contains(expected), "{to}: {error}");
    }
    assert!(desk.error(&["study", "run", "none.toml"]).contains("none.toml: No such file"));
    assert!(
        desk.error(&["study", "run", "plan.toml", "--shard", "4/3"]).contains("no shard such as")
    );
}

#[test]
fn figures_are_drawn_from_the_merged_table() {
    let desk = desk();
    let error = desk.error(&["study", "plot", "plan.toml"]);
    assert!(error.contains("there is no merged table yet"), "{error}");
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
    // Engines that have fewer throws say so.
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
    assert!(error.contains("there is no merged table yet"), "{error}");
    desk.write("plan.toml", &with_slow_engines());
    let said = desk.ok(&["study", "run", "plan.toml"]);
    assert!(said.contains("\nin short: small.study/small-summary.md\n"), "{said}");
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
    assert!(text.contains("### Is random the lowest, on equal throws?"), "{text}");
    let error = desk.error(&["study", "summary", "plan.toml", "--engine", "opensm:ftree"]);
    assert!(error.contains("no engine of the study is called 'opensm:ftree': dmodc, "), "{error}");

    // The means of the table, again by hand: both engines over the two throws that random has.
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

/// Fabrics are called as somebody likes, and their files are as they are.
#[test]
fn odd_names_are_drawn_and_dirt_is_told() {
    let desk = desk();
    desk.write("f.topo", &desk.read("f.topo").replace('\n', "\r\n"));
    let odd = "name = \"a,\\\"b\\\"\\n<i>\\u001b\"";
    desk.write("plan.toml", &PLAN.replace("name = \"from a file\"", odd));
    let output = desk.run(&["study", "run", "plan.toml"]);
    let err = text(&output.stderr);
    assert!(output.status.success(), "{err}");
    assert!(err.contains("f.topo: lines that end in CR LF"), "{err}");
    assert!(desk.read("small.study/small.csv").contains("\"a,\"\"b\"\" <i> \""));
    desk.ok(&["study", "plot", "plan.toml"]);
    let svg = desk.read("small.study/small-risk.svg");
    assert!(svg.contains("&lt;i&gt;") && !svg.contains('\u{1b}'), "{svg}");
}

#[test]
fn mpi_ranks_are_shards() {
    let desk = desk();
    let mut mpi = Command::new("mpirun");
    mpi.args(["--allow-run-as-root", "--oversubscribe", "-n", "2", DMODC]);
    mpi.args(["study", "run", "plan.toml", "-o", "mpi"]).current_dir(desk.folder.path());
    let output = match mpi.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            skip("not installed: mpirun; on Debian: apt-get install openmpi-bin");
            return;
        }
        output => output.unwrap(),
    };
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    for shard in ["1/2", "2/2"] {
        assert!(out.contains(&format!("shard {shard}: (told by OMPI_COMM_WORLD_RANK)")), "{out}");
    }
    desk.ok(&["study", "merge", "plan.toml", "-o", "mpi"]);
    desk.ok(&["study", "run", "plan.toml"]);
    assert_eq!(desk.read("mpi/small.csv"), desk.read("small.study/small.csv"));
}
