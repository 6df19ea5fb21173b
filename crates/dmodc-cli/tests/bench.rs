//! `dmodc bench`: what it measures is right, and its files are there.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::{Desk, gpu_is_required};

#[test]
fn rows_are_measured_and_checked() {
    let desk = Desk::new();
    let args = ["bench", "--preset", "paper-figure-1,avakas", "--rounds", "3", "--changes", "20"];
    let bench = desk.json(0, &[&args[..], &["--json"]].concat());
    assert_eq!(bench["schema"], "dmodc/bench/1");
    assert!(bench["machine"]["rustc"].as_str().unwrap().starts_with("rustc"));
    assert!(bench["command"].as_str().unwrap().starts_with("dmodc bench --preset"));
    let rows = bench["rows"].as_array().unwrap();
    let about: Vec<_> = rows
        .iter()
        .map(|row| (row["preset"].as_str().unwrap(), row["cables_dead"].as_f64().unwrap()))
        .collect();
    let percent = [0.0, 1.0, 10.0];
    let presets = ["paper-figure-1", "avakas"];
    let expected: Vec<_> =
        presets.iter().flat_map(|&preset| percent.map(|percent| (preset, percent))).collect();
    assert_eq!(about, expected);
    for row in rows {
        assert_eq!(row["digest_ok"], true, "{row}");
        assert_eq!(row["digest"], row["reference_digest"]);
        assert_eq!(row["apply_changes_exact"], true, "{row}");
        for key in ["reroute_ms", "memset_ms", "ratio", "first_ms", "cost_ms", "divider_ms"] {
            assert!(row[key].is_number(), "{key}: {row}");
        }
        assert_eq!(row["reroute_ms_all"].as_array().unwrap().len(), 3);
    }
    // The same faults, other kernels and no tables at all: the same digest.
    let digest = |more: &[&str]| {
        let one = ["bench", "--json", "--preset", "avakas", "--dead", "10/0", "--rounds", "1"];
        desk.json(0, &[&one[..], more].concat())["rows"][0]["digest"].clone()
    };
    assert_eq!(digest(&["--stream"]), digest(&["--kernel", "portable"]));
    assert_ne!(digest(&["--seed", "2"]), digest(&["--seed", "3"]));
    assert_ne!(digest(&["--switch-lids"]), digest(&[]));
}

/// Without a GPU, or without the feature, --device gpu is an error that says what is missing, and auto measures on the processor and
/// says so. With both, the tables of the GPU are those of the processor.
#[test]
fn tables_are_computed_where_the_user_wants() {
    let desk = Desk::new();
    let bench = |device: &'static str| {
        let args =
            ["bench", "--preset", "paper-figure-1", "--rounds", "1", "--json", "--dead", "10/0"];
        [&args[..], &["--device", device]].concat()
    };
    let cpu = desk.json(0, &bench("cpu"))["rows"][0].take();
    let auto = desk.run(&bench("auto"));
    let said = String::from_utf8(auto.stderr).unwrap();
    assert_eq!(auto.status.code(), Some(0), "{said}");
    let auto: serde_json::Value = serde_json::from_slice(&auto.stdout).unwrap();
    let auto = &auto["rows"][0];
    assert_eq!(auto["digest"], cpu["digest"]);
    assert_eq!(auto["digest_ok"], true);
    if auto["device"].is_string() {
        let gpu = desk.json(0, &bench("gpu"))["rows"][0].take();
        assert_eq!((&gpu["engine"], &gpu["digest"]), (&"dmodc-gpu".into(), &cpu["digest"]));
        for (engine, name) in [("dmodc", "dmodc-stream-gpu"), ("stable", "stable-stream-gpu")] {
            let args = [&bench("gpu")[..], &["--stream", "--engine", engine]].concat();
            let row = desk.json(0, &args)["rows"][0].take();
            assert_eq!((&row["engine"], &row["digest_ok"]), (&name.into(), &true.into()));
        }
        let refused = desk.error(&[&bench("gpu")[..], &["--engine", "paper"]].concat());
        let why =
            "the engine paper is not measured on a GPU; only the engines dmodc and stable are";
        assert!(refused.contains(why), "{refused}");
    } else {
        assert!(!gpu_is_required(), "{said}");
        let line = "dmodc: the processor does the work, not a GPU: ";
        let why = said.trim().strip_prefix(line).unwrap_or_else(|| panic!("{said}"));
        assert_eq!(desk.error(&bench("gpu")).trim(), format!("dmodc: {why}"));
    }
    assert!(desk.error(&bench("tpu")).contains("expected cpu, gpu or auto"));
}

/// Rows are measured in processes of their own. Why they are not measured on a GPU is printed, and once for all of them.
#[test]
fn several_rows_say_why_there_is_no_gpu() {
    let desk = Desk::new();
    let args = ["bench", "--preset", "paper-figure-1", "--rounds", "1", "--json", "--stream"];
    let more = ["--dead", "0/0,1/0,10/0", "--engine", "dmodc,stable", "--device", "auto"];
    let auto = desk.run(&[&args[..], &more].concat());
    let said = String::from_utf8(auto.stderr).unwrap();
    assert_eq!(auto.status.code(), Some(0), "{said}");
    let auto: serde_json::Value = serde_json::from_slice(&auto.stdout).unwrap();
    let rows = auto["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| row["digest_ok"] == true), "{auto}");
    let line = "dmodc: the processor does the work, not a GPU: ";
    let lines = said.lines().filter(|said| said.starts_with(line)).count();
    assert!(!gpu_is_required() || rows[0]["device"].is_string(), "{said}");
    assert_eq!(lines, usize::from(!rows[0]["device"].is_string()), "{said}");
}

/// The naive twin of stable is slow: of large tables a sample is compared, and the report says how much.
#[test]
fn stable_is_checked_by_a_sample_that_is_named() {
    let desk = Desk::new();
    let bench = |tuple: &str| {
        let args = ["bench", "--pgft", tuple, "--engine", "stable", "--dead", "2/1"];
        desk.json(0, &[&args[..], &["--rounds", "1", "--json"]].concat())["rows"][0].take()
    };
    let small = bench("2; 6,6; 1,6; 1,1");
    assert_eq!((&small["digest"], &small["digest_ok"]), (&small["reference_digest"], &true.into()));
    assert_eq!(small["checked_entries"], small["entries"]);
    let large = bench("3; 12,12,12; 1,12,12; 1,1,1");
    assert_eq!(large["digest_ok"], true, "{large}");
    let (checked, all) =
        (large["checked_entries"].as_u64().unwrap(), large["entries"].as_u64().unwrap());
    assert!(0 < checked && checked < all, "{checked} of {all}");
    let text = desk.ok(&[
        "bench",
        "--pgft",
        "3; 12,12,12; 1,12,12; 1,1,1",
        "--engine",
        "stable",
        "--dead",
        "0/0",
        "--rounds",
        "1",
    ]);
    assert!(text.contains("% of the entries were compared with the simple program"), "{text}");
}

/// Presets and notations of all shapes are measured, by every command; the limit of an update is reported on request.
#[test]
fn any_shape_is_measured() {
    let desk = Desk::new();
    let small = "leaves=4,nodes=2,directors=1,lines=4,spines=2,cables=2";
    let shapes =
        ["--preset", "one-director-648", "--directors", small, "--pods", "pods=2", "--dead", "2/0"];
    let against = ["--against", "2; 6,8; 1,4; 1,1"];
    let args = [&["bench"], &shapes[..], &["--rounds", "1", "--rewrite"], &against].concat();
    let bench = desk.json(0, &[&args[..], &["--json"]].concat());
    let rows = bench["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for (row, kind) in rows.iter().zip(["directors", "directors", "pods"]) {
        assert!(row["pgft"].is_null() && row[kind].is_string(), "{row}");
        assert_eq!(row["digest_ok"], true, "{row}");
        let of = |key: &str| row[key].as_u64().unwrap();
        assert!(0 < of("switch_lines") && of("switch_lines") <= of("switch_entries"), "{row}");
        assert!(row["rewrite_switch_ms"].is_number() && row["rewrite_cable_ms"].is_number());
        assert_eq!((&row["against"], &row["against_nodes"]), (&against[1].into(), &48.into()));
        let times = |key: &str| row[key].as_f64().unwrap();
        assert!(times("against_ms") > 0.0 && times("over_against") > 0.0, "{row}");
    }
    assert!(rows[1]["preset"].as_str().unwrap().starts_with("leaves=4,nodes=2,"));
    let text = desk.ok(&args);
    assert!(text.contains("one-director-648 dmodc 2.0/0.0: one switch changes "), "{text}");
    assert!(text.contains("rewriting these alone takes "), "{text}");
    let compared = "measured in turns with the PGFT 2; 6,8; 1,4; 1,1 (48 nodes, 12 switches), a re-route takes ";
    assert!(text.contains(compared), "{text}");
    for command in ["analyze", "whatif"] {
        let rows =
            desk.json(0, &["bench", command, "--directors", small, "--dead", "0/0", "--json"]);
        assert_eq!(rows["rows"][0]["nodes"], 8);
    }
    assert!(desk.error(&["bench", "--pods", "pods=2,cats=1"]).contains("cats"));
    for option in [&["--rewrite"][..], &against] {
        let error = desk.error(&[&["bench", "--stream"], option].concat());
        assert!(error.contains(option[0]), "{error}");
    }
    for option in [&["--rewrite"][..], &["--changes", "5"]] {
        for device in ["gpu", "auto"] {
            let error = desk.error(&[&["bench", "--device", device], option].concat());
            let expected = format!("{} is measured on the processor alone", option[0]);
            assert!(error.contains(&expected), "{error}");
        }
    }
    for more in [["--device", "gpu"], ["--device", "auto"], ["--engine", "dmodk"]] {
        let error = desk.error(&[&["bench", "--dead", "0/0"], &against[..], &more].concat());
        assert!(error.contains("--against"), "{error}");
    }
}

#[test]
fn records_and_figures_are_files() {
    let desk = Desk::new();
    let table = desk.ok(&[
        "bench",
        "--pgft",
        "2; 4,4; 1,2; 1,1",
        "--preset",
        "avakas",
        "--dead",
        "0/0",
        "--engine",
        "dmodc,dmodk",
        "--rounds",
        "2",
        "--record",
        "a/record",
        "--plot",
        "plot.svg",
    ]);
    assert_eq!(table.matches("right").count(), 4, "{table}");
    let csv = desk.read("a/record/rows.csv");
    assert_eq!(csv.lines().count(), 5);
    assert!(csv.starts_with("preset,pgft,engine,nodes,switches,"), "{csv}");
    let times = desk.read("a/record/times.csv");
    assert_eq!(times.lines().count(), 1 + 4 * 2);
    assert!(times.contains("\"2; 4,4; 1,2; 1,1\",dmodk,"));
    let figure = desk.read("a/record/runtime.svg");
    for words in
        ["<title>dmodk, 16: ", "memset", "Drawn by: dmodc bench --pgft", "Lower is better."]
    {
        assert!(figure.contains(words), "{words}: {figure}");
    }
    assert_eq!(figure, desk.read("plot.svg"));
    // The record has everything that the figure needs.
    assert_eq!(desk.ok(&["bench", "plot", "a/record", "-o", "again.svg"]), "again.svg\n");
    let again = desk.read("again.svg");
    assert!(again.contains(
        "Drawn by: dmodc bench plot a/record -o again.svg\nMeasured by: dmodc bench --pgft"
    ));
    let body = |svg: &str| svg.split_once("</metadata>").unwrap().1.to_string();
    assert_eq!(body(&figure), body(&again));
    desk.ok(&["bench", "plot", "a/record"]);
    assert_ne!(figure, desk.read("a/record/runtime.svg"));
    assert!(desk.error(&["bench", "plot", "a"]).contains("a/record.json"));
    desk.write("a/record.json", "{\"schema\": \"other\"}");
    assert!(desk.error(&["bench", "plot", "a"]).contains("not a record of the times of routing"));
    // One fabric: failures are along the axis.
    let one =
        ["bench", "--preset", "avakas", "--dead", "0/0,10/1", "--rounds", "2", "--plot", "one.svg"];
    desk.ok(&one);
    let one = desk.read("one.svg");
    assert!(one.contains("<title>dmodc, 10 % of cables, 1 % of switches: "), "{one}");
    assert!(desk.read("a/record/record.json").contains("dmodc/bench/1"));
}

#[test]
fn what_cannot_be_measured_is_said() {
    let desk = Desk::new();
    let error = |args: &[&str]| desk.error(&[&["bench"], args].concat());
    assert!(error(&["--preset", "nope"]).contains("there is no preset 'nope'"));
    assert!(error(&["--dead", "10"]).contains(
        "expected two percentages from 0 to 100, of cables and of switches, such as 10/1; not '10'"
    ));
    assert!(error(&["--dead", "101/0"]).contains("such as 10/1; not '101/0'"));
    assert!(error(&["--rounds", "0"]).contains("0"));
    assert!(error(&["--pgft", "3; 2"]).contains("3; 2"));
    let dmodk = ["--engine", "dmodk", "--dead", "1/0"];
    assert!(error(&dmodk).contains("the engine dmodk routes only fabrics without faults"));
    assert!(error(&["--stream", "--engine", "dmodk"]).contains("--stream"));
    assert!(error(&["--stream", "--changes", "5"]).contains("--changes"));
    let enormous = ["--pgft", "3; 100,100,200; 1,100,100; 1,1,1", "--dead", "0/0"];
    assert!(error(&enormous).contains("--stream"));
    assert_eq!(desk.files(), [""; 0]);
}
