//! `dmodc study`: the same bytes however the work is cut, interrupted or spread.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use desk::study::{CELLS, PLAN, desk, table, with_slow_engines};
use desk::{DMODC, Desk, gpu_is_required, skip, text};
use serde_json::Value;

#[test]
fn a_run_has_a_row_for_every_measurement_with_all_its_seeds() {
    let desk = desk();
    let said = desk.ok(&["study", "run", "plan.toml"]);
    assert!(said.contains(&format!("small: {CELLS} cells measured")), "{said}");
    let csv = desk.read("small.study/small.csv");
    let rows = table(&csv);
    assert_eq!(rows.len(), CELLS * 3 * 5);
    let refused = rows.iter().filter(|row| !row["refused"].is_empty()).count();
    assert!(
        said.contains(&format!("\nnote: engine dmodk could not route in {refused} rows, ")),
        "{said}"
    );
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
    // The faults of a trial can be drawn again by hand.
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
        desk.ok(&["study", "run", "plan.toml"]).contains(&format!("{CELLS} were there already"))
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
        status.contains("missing: shard 2/3; measure it with 'dmodc study run plan.toml -o shards --shard 2/3'\n"),
        "{status}"
    );
    let error = desk.error(&["study", "merge", "plan.toml", "-o", "shards"]);
    assert!(error.contains("11 of 32 cells not measured yet"), "{error}");
    // The last shard is chosen by the environment.
    let mut last = Command::new(DMODC);
    last.args(["study", "run", "plan.toml", "-o", "shards"]).current_dir(desk.folder.path());
    last.env("SLURM_ARRAY_TASK_ID", "1").env("SLURM_ARRAY_TASK_COUNT", "3");
    let said = text(&last.output().unwrap().stdout);
    assert!(said.contains("shard 2/3: (shard from SLURM_ARRAY_TASK_ID)"), "{said}");
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
    // Five patterns. Dmodc: all cells; random: the first fabric; dmodk: one trial.
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
        .replace("draws = 3", "draws = 150")
        .replace("draws = 2", "draws = 70")
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
    let word = " done and kept; run the same command again to continue\n";
    assert_eq!(said.contains(word), signal != "KILL", "{said}");
    assert!(!desk.path(&format!("{folder}/shard-0001-of-0001.csv")).exists());
    // The disk may have half of what was written last.
    let mut file = fs::OpenOptions::new().append(true).open(&journal).unwrap();
    file.write_all(b"# cell 7 15 00000000000000000000000000000000\nsmall,\"3; 2,").unwrap();
    drop(file);
    let status = text(&status());
    assert!(
        status.contains("shard 1/1 was interrupted: ") && !status.contains("missing"),
        "{status}"
    );
    let again = format!("; continue with 'dmodc {}'\n", run.join(" "));
    assert!(status.contains(&again), "{status}");
    let said = desk.ok(&run);
    assert!(said.contains("were there already"), "{said}");
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
        assert!(
            error.contains("shard-0001-of-0002.meta.json: this file belongs to another plan"),
            "{error}"
        );
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
    assert!(error.contains("the table does not fit its .meta.json"), "{error}");
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
        assert!(
            out.contains(&format!("shard {shard}: (shard from OMPI_COMM_WORLD_RANK)")),
            "{out}"
        );
    }
    desk.ok(&["study", "merge", "plan.toml", "-o", "mpi"]);
    desk.ok(&["study", "run", "plan.toml"]);
    assert_eq!(desk.read("mpi/small.csv"), desk.read("small.study/small.csv"));
}

/// On a GPU the rows are those of the processor. Without one, or without the feature, `gpu` is an error that writes nothing, and `auto`
/// says so and measures on the processor.
#[test]
fn rows_do_not_depend_on_the_device() {
    let desk = desk();
    desk.ok(&["study", "run", "plan.toml", "-o", "cpu"]);
    let auto = desk.run(&["study", "run", "plan.toml", "-o", "auto", "--device", "auto"]);
    let said = text(&auto.stderr);
    assert_eq!(auto.status.code(), Some(0), "{said}");
    assert_eq!(desk.read("auto/small.csv"), desk.read("cpu/small.csv"));
    let args = ["study", "run", "plan.toml", "-o", "gpu", "--device", "gpu"];
    match said.contains("the processor does the work, not a GPU: ") {
        true => {
            assert!(!gpu_is_required(), "{said}");
            let why = said.trim().rsplit_once("not a GPU: ").unwrap().1;
            assert_eq!(desk.error(&args).trim(), format!("dmodc: {why}"));
            assert!(!desk.path("gpu").exists(), "nothing is written");
        }
        false => {
            desk.ok(&args);
            assert_eq!(desk.read("gpu/small.csv"), desk.read("cpu/small.csv"));
        }
    }
}

/// Whoever starts a long study should know at once that OpenSM is missing.
#[test]
fn a_missing_plugin_is_reported_before_the_first_cell() {
    let desk = desk();
    let plan = PLAN.replace("\"random\"]", "\"opensm:updn\"]");
    desk.write("plan.toml", &plan.replace("draws = 3", "draws = 1"));
    let output = desk.run(&["study", "run", "plan.toml", "--plugin", "absent/libdmodc.so"]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{err}");
    let start = "dmodc: OpenSM's engines cannot route on this machine, so their rows will have no figures: ";
    assert!(err.starts_with(start), "{err}");
    assert!(err.contains("later, remove small.study and run the study again"), "{err}");
    assert!(out.contains("note: engine opensm:updn could not route in "), "{out}");

    desk.write("plan.toml", &PLAN.replace("draws = 3", "draws = 1"));
    let output = desk.run(&["study", "run", "plan.toml", "-o", "other", "--plugin", "absent"]);
    assert_eq!(text(&output.stderr), "");
}
