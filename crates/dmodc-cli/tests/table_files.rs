//! Tables in files: a NumPy array answers what the dump answers, and half a pair of files answers nothing.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use desk::{DMODC, Desk, skip, text};
use serde_json::Value;

/// The paper's fabric and its tables in both forms, and both again without one spine.
fn both_forms() -> Desk {
    let desk = Desk::new();
    desk.figure_1();
    desk.ok(&["route", "f.topo", "-o", "f.npy"]);
    desk.ok(&["route", "f.topo", "-o", "f.lft"]);
    desk.ok(&["degrade", "f.topo", "--switches", "1", "--seed", "3", "-o", "g.topo"]);
    for tables in ["g.lft", "g.npy"] {
        desk.ok(&["route", "g.topo", "-o", tables]);
    }
    desk
}

/// Without the times, which differ.
fn timeless(mut answer: Value) -> Value {
    let members = answer.as_object_mut().unwrap();
    members.retain(|key, _| !key.ends_with("_ms"));
    answer
}

#[test]
fn every_command_answers_alike_for_an_array_and_a_dump() {
    let desk = both_forms();
    let commands: [(i32, &[&str]); 10] = [
        (0, &["check", "f.topo", "f.*"]),
        (1, &["check", "g.topo", "f.*"]),
        (0, &["check", "g.topo", "g.*"]),
        (0, &["check", "g.topo", "--union", "g.*", "g.*"]),
        (0, &["analyze", "f.topo", "f.*", "--patterns", "a2a,rp:5,sp"]),
        (1, &["diff", "g.topo", "f.*", "g.*"]),
        (0, &["diff", "g.topo", "g.*", "g.lft"]),
        (0, &["plan", "g.topo", "f.*", "g.*"]),
        (0, &["trace", "f.topo", "f.*", "1", "12"]),
        (0, &["trace", "g.topo", "g.*", "1", "12"]),
    ];
    for (code, command) in commands {
        let of = |form: &str| {
            let args: Vec<String> = command.iter().map(|arg| arg.replace('*', form)).collect();
            let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
            args.push("--json");
            timeless(desk.json(code, &args))
        };
        assert_eq!(of("npy"), of("lft"), "{command:?}");
    }
}

#[test]
fn a_dump_reads_alike_from_a_file_and_through_a_pipe() {
    let desk = both_forms();
    let mut child = Command::new(DMODC)
        .args(["check", "f.topo", "-", "--json"])
        .current_dir(desk.folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(desk.read("f.lft").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let piped: Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    let file = desk.json(0, &["check", "f.topo", "f.lft", "--json"]);
    assert_eq!(timeless(piped), timeless(file));
}

#[test]
fn half_of_a_pair_is_refused() {
    let desk = both_forms();
    let refused = |expected: &str| {
        let said = desk.error(&["check", "f.topo", "f.npy"]);
        assert!(said.contains(expected), "{said}");
    };
    let (array, labels) = (desk.path("f.npy"), desk.path("f.npy.json"));
    let whole = (fs::read(&array).unwrap(), fs::read(&labels).unwrap());

    fs::remove_file(&labels).unwrap();
    refused("f.npy.json, which names the rows and columns of f.npy: No such file");
    fs::write(&labels, &whole.1).unwrap();

    fs::remove_file(&array).unwrap();
    refused("there are only the labels f.npy.json");
    // An old array and new labels: what is there if writing ends between the two.
    desk.ok(&["route", "f.topo", "-o", "f.npy", "--engine", "random"]);
    fs::write(&labels, &whole.1).unwrap();
    refused("f.npy: the array does not fit its labels");
    fs::write(&array, &whole.0).unwrap();
    desk.ok(&["check", "f.topo", "f.npy"]);

    fs::write(&array, &whole.0[..300]).unwrap();
    refused("f.npy: the file is incomplete: it has 300 bytes, but 16 × 28 entries need 576");
    fs::write(&array, "Unicast lids").unwrap();
    refused("f.npy: not a NumPy array");
    fs::write(&array, &whole.0).unwrap();
    fs::write(&labels, &whole.1[..200]).unwrap();
    refused("f.npy.json:6:");
}

#[test]
fn arrays_where_they_do_not_belong_are_refused() {
    let desk = both_forms();
    desk.ok(&["generate", "pgft", "3; 2,2,4; 1,2,2; 1,2,1", "-o", "other.topo"]);
    for command in [
        &["check", "other.topo", "f.npy"][..],
        &["diff", "other.topo", "f.npy", "f.npy"],
        &["plan", "other.topo", "f.npy", "f.npy"],
        &["analyze", "other.topo", "f.npy"],
        &["trace", "other.topo", "f.npy", "1", "2"],
    ] {
        let said = desk.error(command);
        assert!(said.contains("f.npy: these tables belong to another fabric (digest"), "{said}");
    }
    let said = desk.error(&["check", "f.npy", "f.lft"]);
    assert!(said.contains("f.npy: this file has forwarding tables"), "{said}");
    let said = desk.error(&["check", "f.topo", "f.npy.json"]);
    assert!(said.contains("f.npy.json: these are only the labels of an array"), "{said}");
    let stdin = fs::File::open(desk.path("f.npy")).unwrap();
    let output = Command::new(DMODC)
        .args(["check", "f.topo", "-"])
        .current_dir(desk.folder.path())
        .stdin(stdin)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr)
            .contains("standard input: an array of tables cannot be read from standard input")
    );
}

/// `numpy.load` reads the array as it is.
#[test]
fn numpy_reads_the_array() {
    let desk = both_forms();
    let python = |script: &str| {
        let mut command = Command::new("python3");
        let output = command.args(["-c", script]).current_dir(desk.folder.path()).output();
        output.ok().filter(|output| output.status.success()).map(|output| text(&output.stdout))
    };
    if python("import numpy").is_none() {
        skip("there is no python3 with numpy; on Debian: apt-get install python3-numpy");
        return;
    }
    let script = "\
import json, numpy
tables = numpy.load('f.npy')
labels = json.load(open('f.npy.json'))
print(tables.dtype, tables.shape, len(labels['switches']), len(labels['lids']))
for guid, row in zip(labels['switches'], tables):
    for lid, port in zip(labels['lids'], row):
        if port != 255: print(guid, '0x%04x' % lid, '%03d' % port)
";
    let printed = python(script).expect("the script runs");
    let (shape, entries) = printed.split_once('\n').unwrap();
    assert_eq!(shape, "uint8 (16, 28) 16 28");
    let mut expected = String::new();
    let dump = desk.read("f.lft");
    let mut guid = "";
    for line in dump.lines() {
        match line.split_once(" guid ") {
            Some((_, rest)) => guid = rest.split(' ').next().unwrap(),
            None if line.starts_with("0x") => expected += &format!("{guid} {}\n", &line[..10]),
            None => {}
        }
    }
    assert_eq!(entries, expected);
}
