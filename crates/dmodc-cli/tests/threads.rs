//! Every command with 64 threads of 256 KiB stacks: no stack may grow with the number of cores.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::process::{Command, Output};

use desk::{DMODC, Desk, gpu_is_required, skip, text};

/// 648 leaves: eleven tiles of nodes and many of switches, so that tiles wait for their rows.
const FABRIC: &str = "3; 4,18,36; 1,18,18; 1,1,1";

const PLAN: &str = r#"
name = "many"
seed = 3
draws = 40
engines = ["dmodc", "stable", "random"]
patterns = ["a2a", "rp:5", "sp:4", "bisection:2"]
[[fabric]]
pgft = "3; 4,4,32; 1,4,4; 1,1,1"
[[degradation]]
cables = ["1%", "10%"]
switches = [0, 1]
"#;

fn run(desk: &Desk, threads: &str, args: &[&str]) -> Output {
    Command::new(DMODC)
        .args(args)
        .args(["--threads", threads])
        .env("RUST_MIN_STACK", (256 << 10).to_string())
        .current_dir(desk.folder.path())
        .output()
        .unwrap()
}

/// Runs a command with 64 threads and returns what it prints. The exit code may be 1: heavy damage cuts nodes off.
#[track_caller]
fn many(desk: &Desk, args: &[&str]) -> String {
    let output = run(desk, "64", args);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(matches!(output.status.code(), Some(0 | 1)), "{args:?}: {}\n{err}", output.status);
    out
}

#[test]
fn routing_and_judging_work_with_64_threads_of_256_kib() {
    let desk = Desk::new();
    let ok = |args: &[&str]| many(&desk, args);
    ok(&["generate", "pgft", FABRIC, "-o", "whole.topo"]);
    ok(&[
        "degrade",
        "whole.topo",
        "--cables",
        "3%",
        "--switches",
        "3",
        "--seed",
        "7",
        "-o",
        "now.topo",
    ]);
    for topology in ["whole.topo", "now.topo"] {
        ok(&["info", topology]);
        ok(&["convert", topology, "--format", "json", "-o", "fabric.json"]);
    }
    ok(&["route", "whole.topo", "-o", "old.lft", "--save-orders", "orders"]);
    let stable = ["route", "now.topo", "--engine", "stable", "--reference", "whole.topo"];
    ok(&[&stable[..], &["-o", "stable.lft"]].concat());
    ok(&[&stable[..], &["--split", "stable.split"]].concat());
    ok(&["route", "now.topo", "-o", "new.lft", "--orders", "orders", "--connect-roots"]);
    ok(&["route", "now.topo", "-o", "random.lft", "--engine", "random"]);
    ok(&["route", "whole.topo", "-o", "dmodk.lft", "--engine", "dmodk"]);
    for tables in ["stable.lft", "new.lft", "random.lft"] {
        ok(&["check", "now.topo", tables]);
    }
    ok(&["check", "now.topo", "old.lft", "new.lft", "--union"]);
    ok(&["analyze", "now.topo", "stable.lft", "--patterns", "a2a,rp:70,sp:70,bisection:70"]);
    let patterns = "rp:70,tree,halving,a2a:phases:500,neighbours:4x4x4,incast:7,storage:node-11";
    ok(&["analyze", "now.topo", "stable.lft", "--rates", "--patterns", patterns]);
    desk.write("jobs", "a a2a:phases:4 node-[0-40]\nb rp:7 node-[30-99]\n");
    ok(&["analyze", "now.topo", "stable.lft", "--rates", "--jobs", "jobs"]);
    ok(&["diff", "now.topo", "old.lft", "stable.lft"]);
    ok(&["plan", "now.topo", "old.lft", "stable.lft", "-o", "plan"]);
    let faults = ["whatif", "now.topo", "--parts", "switches", "--double", "200"];
    let [alone, together] = ["1", "64"].map(|threads| {
        let csv = format!("{threads}.csv");
        let out = run(&desk, threads, &[&faults[..], &["--csv", &csv]].concat());
        assert!(out.status.success(), "{}", text(&out.stderr));
        std::fs::read(desk.path(&csv)).unwrap()
    });
    assert_eq!(alone, together);
    ok(&["trace", "now.topo", "stable.lft", "node-0", "node-77"]);
    ok(&[&stable[..], &["-o", "stable.npy"]].concat());
    ok(&["check", "now.topo", "stable.npy"]);
    advice(&desk);
    // Whatever the number of threads, the bytes are the same.
    let alone = run(&desk, "1", &[&stable[..], &["-o", "alone.lft"]].concat());
    assert!(matches!(alone.status.code(), Some(0 | 1)));
    assert!(desk.read("alone.lft") == desk.read("stable.lft"), "1 thread and 64 agree");
}

/// Drains and repairs give the same answers with 64 threads as with one.
fn advice(desk: &Desk) {
    desk.write("parts", "L1-0/5\nL1-0/6\nL2-3\n");
    many(desk, &["degrade", "whole.topo", "--cables", "20", "--switches", "1", "-o", "few.topo"]);
    let csv = |name: &'static str| ["--steps", "2", "--csv", name];
    let repair = ["repair", "few.topo", "--reference", "whole.topo", "--shifts", "20"];
    many(desk, &[&repair[..], &csv("64.csv")].concat());
    assert!(run(desk, "1", &[&repair[..], &csv("1.csv")].concat()).status.success());
    assert!(desk.read("64.csv") == desk.read("1.csv"), "1 thread and 64 agree");
    let drain = ["drain", "few.topo", "--parts", "parts", "--shifts", "20"];
    let lines = |text: String| text.lines().filter(|l| !l.contains("judged")).collect::<String>();
    let with_64 = lines(many(desk, &drain));
    assert!(with_64 == lines(text(&run(desk, "1", &drain).stdout)), "1 thread and 64 agree");
}

#[test]
fn studies_and_benchmarks_work_with_64_threads_of_256_kib() {
    let desk = Desk::new();
    desk.write("many.toml", PLAN);
    let table = "many.study/many.csv";
    many(&desk, &["study", "run", "many.toml"]);
    let with_64 = desk.read(table);
    std::fs::remove_dir_all(desk.path("many.study")).unwrap();
    assert!(run(&desk, "1", &["study", "run", "many.toml"]).status.success());
    // Rows have no times, so they are the same for any number of threads.
    assert!(desk.read(table) == with_64, "1 thread and 64 agree");
    let bench = ["bench", "--pgft", FABRIC, "--no-check", "--rounds", "1", "--changes", "20"];
    many(&desk, &[&bench[..], &["--engine", "stable,dmodc", "--dead", "0/0,3/1"]].concat());
    many(&desk, &["bench", "analyze", "--pgft", FABRIC, "--rounds", "1", "--no-naive"]);
    many(&desk, &["demo"]);
}

/// A GPU routes and judges, and 64 threads prepare its states and complete its answers. The kernels are compiled by the same process,
/// so that the compiler has no more stack than everything else.
#[test]
fn a_gpu_works_with_64_threads_of_256_kib() {
    let desk = Desk::new();
    let bench =
        ["bench", "--pgft", FABRIC, "--engine", "dmodc,stable", "--dead", "3/1", "--rounds"];
    let bench = [&bench[..], &["1", "--json", "--device", "auto"]].concat();
    let args = [&bench[..], &["--threads", "64"]].concat();
    let found = desk.json(0, &args);
    if !found["rows"][0]["device"].is_string() {
        assert!(!gpu_is_required(), "'dmodc bench --device auto' finds no GPU");
        return skip("'dmodc bench --device auto' finds no GPU");
    }
    let on_gpu = |threads: &str, args: &[&str]| {
        let cache = desk.path(&format!("kernels-{}-{threads}", args[0]));
        let output = Command::new(DMODC)
            .args(args)
            .args(["--device", "gpu", "--threads", threads])
            .env("RUST_MIN_STACK", (256 << 10).to_string())
            .env("DMODC_GPU_CACHE", cache)
            .current_dir(desk.folder.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}\n{}", output.status, text(&output.stderr));
    };
    on_gpu("64", &bench[..bench.len() - 2]);
    on_gpu("64", &[&bench[..bench.len() - 2], &["--stream"]].concat());

    desk.write("many.toml", PLAN);
    on_gpu("64", &["study", "run", "many.toml", "-o", "gpu"]);
    assert!(run(&desk, "1", &["study", "run", "many.toml", "-o", "cpu"]).status.success());
    assert!(desk.read("gpu/many.csv") == desk.read("cpu/many.csv"), "the devices agree");

    desk.ok(&["generate", "pgft", "3; 4,4,32; 1,4,4; 1,1,1", "-o", "whole.topo"]);
    let faults = ["whatif", "whole.topo", "--double", "200", "--csv"];
    on_gpu("64", &[&faults[..], &["gpu.csv"]].concat());
    assert!(run(&desk, "1", &[&faults[..], &["cpu.csv"]].concat()).status.success());
    assert!(desk.read("gpu.csv") == desk.read("cpu.csv"), "the devices agree");
}
