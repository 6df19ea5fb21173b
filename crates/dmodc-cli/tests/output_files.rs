//! Files that are written: whole or not at all, with their links and permissions.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::fs;
use std::process::Command;

use desk::{DMODC, Desk, FIGURE_1, text};

/// A disk that fills up while writing: the old file stays, and no temporary file is left.
#[test]
fn a_failed_write_leaves_the_old_file() {
    let desk = Desk::new();
    desk.write("f.topo", "precious\n");
    // Ignoring SIGXFSZ turns the file size limit into a write error, as a full disk gives.
    let script = "trap '' XFSZ; ulimit -f 8; \"$0\" generate preset director-648 -o f.topo";
    let output = Command::new("bash")
        .args(["-c", script, DMODC])
        .current_dir(desk.folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let error = text(&output.stderr);
    assert!(
        error.starts_with("dmodc: f.topo: File too large") && error.lines().count() == 1,
        "{error}"
    );
    assert_eq!(desk.read("f.topo"), "precious\n");
    assert_eq!(desk.files(), ["f.topo"]);
}

#[test]
fn a_reader_that_goes_away_is_no_failure_but_a_full_one_is() {
    let desk = Desk::new();
    let shell = |script: &str| {
        let output = Command::new("bash")
            .args(["-c", script, DMODC])
            .current_dir(desk.folder.path())
            .output()
            .unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let head = "set -o pipefail; \"$0\" generate preset director-648 | head -n 1";
    assert_eq!(shell(head), (Some(0), "#\n".into(), String::new()));
    let (code, _, error) = shell("\"$0\" generate preset avakas > /dev/full");
    assert_eq!(code, Some(2));
    assert!(error.starts_with("dmodc: standard output: No space left"), "{error}");
    // Everything also goes through pipes.
    let pipe = format!(
        "set -o pipefail; \"$0\" generate pgft '{FIGURE_1}' | \"$0\" degrade - --cables 3 > g.topo \
         && \"$0\" route - < g.topo | \"$0\" check g.topo -"
    );
    let (code, report, _) = shell(&pipe);
    assert_eq!(code, Some(0), "{report}");
    assert!(report.ends_with("verdict: sound, and every pair is delivered\n"));
}

#[test]
fn links_and_permissions_are_respected() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let desk = Desk::new();
    desk.write("real", "old");
    fs::set_permissions(desk.path("real"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real", desk.path("link")).unwrap();
    desk.ok(&["generate", "pgft", FIGURE_1, "-o", "link"]);
    assert!(fs::symlink_metadata(desk.path("link")).unwrap().is_symlink());
    assert!(desk.read("real").contains("PGFT(3; 2,2,3"));
    assert_eq!(fs::metadata(desk.path("real")).unwrap().permissions().mode() & 0o777, 0o640);
}

/// A file for each switch: together they are the one file.
#[test]
fn route_splits_by_switch() {
    let desk = Desk::new();
    desk.figure_1();
    let orders = ["--destination-order", "lid", "--switch-order", "guid"];
    let split =
        |folder: &'static str| [&["route", "f.topo", "--split", folder], &orders[..]].concat();
    fs::create_dir(desk.path("empty")).unwrap();
    for folder in ["new", "empty"] {
        assert!(desk.ok(&split(folder)).contains("valid: all 30 leaf pairs"));
        let mut parts: Vec<_> = fs::read_dir(desk.path(folder))
            .unwrap()
            .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
            .collect();
        assert_eq!(parts.len(), 16);
        let whole = desk.read("f.lft");
        // The files come in no order; the one file has the same tables.
        parts.sort_by_key(|part| whole.find(part.lines().next().unwrap()));
        assert_eq!(parts.concat(), whole);
    }
    let json = desk.json(0, &[&split("other")[..], &["--json"]].concat());
    let whole = desk.json(0, &["route", "f.topo", "--json"]);
    for key in ["switches", "destinations", "entries", "leaf_pairs", "empty_entries"] {
        assert_eq!(json[key], whole[key], "{key}");
    }
    let before = desk.files();
    assert!(desk.error(&split("new")).contains("new: the folder is not empty"));
    assert!(desk.error(&split("f.topo")).contains("f.topo: Not a directory"));
    assert!(desk.error(&split("a/b")).contains("a: No such file"));
    let dmodk = [&split("k")[..], &["--engine", "dmodk"]].concat();
    assert!(desk.error(&dmodk).contains("only with --engine dmodc or stable"));
    assert_eq!(desk.files(), before, "nothing is left");
}

/// A result never replaces what was read for it, nor another result.
#[test]
fn results_and_inputs_are_different_files() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", FIGURE_1, "-o", "f.topo"]);
    desk.ok(&["route", "f.topo", "-o", "f.lft", "--save-orders", "f.orders"]);
    std::os::unix::fs::symlink("f.topo", desk.path("link")).unwrap();
    let files = ["f.topo", "f.lft", "f.orders"];
    let before = files.map(|name| desk.read(name));
    let replaced: [&[&str]; 12] = [
        &["route", "f.topo", "-o", "f.topo"],
        &["route", "f.topo", "-o", "link"],
        &["route", "f.topo", "-o", "./f.topo"],
        &["route", "f.topo", "-o", "new.lft", "--save-orders", "f.topo"],
        &["route", "f.topo", "--orders", "f.orders", "-o", "f.orders"],
        &["route", "f.topo", "--engine", "stable", "--reference", "link", "-o", "f.topo"],
        &["analyze", "f.topo", "f.lft", "--html", "f.lft"],
        &["convert", "f.topo", "--format", "dot", "-o", "f.topo"],
        &["plan", "f.topo", "f.lft", "f.lft", "-o", "f.lft"],
        &["whatif", "f.topo", "--csv", "f.topo"],
        &["whatif", "f.topo", "--orders", "f.orders", "--csv", "f.orders"],
        &["repair", "f.topo", "--reference", "link", "--svg", "f.topo"],
    ];
    for arguments in replaced {
        let error = desk.error(arguments);
        assert!(error.contains("this file is read, and the result would replace it"), "{error}");
    }
    let together: [&[&str]; 2] = [
        &["route", "f.topo", "-o", "new", "--save-orders", "./new"],
        &["analyze", "f.topo", "f.lft", "--csv", "new", "--svg", "new"],
    ];
    for arguments in together {
        let error = desk.error(arguments);
        assert!(error.contains("two results cannot be written to one file"), "{error}");
    }
    assert_eq!(files.map(|name| desk.read(name)), before);
    assert!(!desk.path("new").exists());
    // Devices can be written twice, and some files may be changed in place.
    desk.ok(&["analyze", "f.topo", "f.lft", "--csv", "/dev/null", "--svg", "/dev/null"]);
    desk.ok(&[
        "route",
        "f.topo",
        "--orders",
        "f.orders",
        "--save-orders",
        "f.orders",
        "-o",
        "f.lft",
    ]);
    let in_place = ["--orders", "f.orders", "--save-orders", "./f.orders", "-o", "new.lft"];
    desk.ok(&[&["route", "f.topo"][..], &in_place].concat());
    desk.ok(&["degrade", "f.topo", "--cables", "1", "-o", "f.topo"]);
}
