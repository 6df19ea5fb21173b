//! Bad arguments and files: one clear line, and exit code 2.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::fs;

use desk::{Desk, text};

#[test]
fn bad_arguments_get_one_clear_line_and_exit_2() {
    let desk = Desk::new();
    desk.figure_1();
    let pgft = |tuple: &str| desk.error(&["generate", "pgft", tuple, "-o", "out"]);
    assert!(
        pgft("3; 2,2; 1,2; 1,2").contains("a PGFT of 3 levels needs exactly that many numbers")
    );
    assert!(pgft("2; 0,2; 1,2; 1,2").contains("at least 1"));
    assert!(pgft("2; 2,2; 2,2; 1,2").contains("w1 and p1 must be 1"));
    assert!(pgft("2; 2,2; 1,2; 3,2").contains("w1 and p1 must be 1"));
    assert!(pgft("2; 200,9; 1,60; 1,1").contains("260 ports, but a switch has at most 254"));
    assert!(pgft("4; 250,250,250,250; 1,1,1,1; 1,1,1,1").contains("more than 16777216"));
    assert!(pgft("2; 99999999999,2; 1,2; 1,2").contains("is not a PGFT tuple"));
    assert!(pgft("nonsense").contains("is not a PGFT tuple"));
    let unknown = desk.error(&["generate", "preset", "summit"]);
    assert!(
        unknown.contains("there is no preset 'summit'; the presets are paper-figure-1, "),
        "{unknown}"
    );
    assert!(desk.error(&["degrade", "f.topo", "--cables", "37"]).contains("there are only 36"));
    assert!(
        desk.error(&["degrade", "f.topo", "--cables", "101%"])
            .contains("expected a count such as 5")
    );
    let unknown = desk.error(&["degrade", "f.topo", "--remove", "0x5"]);
    assert!(unknown.contains("no switch has the name or GUID '0x5'"), "{unknown}");
    assert!(
        desk.error(&["route", "f.topo", "--destination-order", "x"]).contains("topological, lid")
    );
    for order in ["types:", "file:", "lid:x", "typed:x"] {
        let error = desk.error(&["route", "f.topo", "--destination-order", order]);
        assert!(error.contains("types:FILE, type-regex:REGEX,… or file:PATH, not"), "{error}");
    }
    assert!(desk.error(&["route", "f.topo", "--switch-order", "x"]).contains("plane, guid or"));
    assert!(desk.error(&["frobnicate"]).contains("unrecognized subcommand"));
    assert!(desk.error(&["rout", "f.topo"]).contains("'route'"), "a tip is kept");
    for (args, words) in [
        (&[][..], ["Start here:", "route", "\n  dmodc demo\n"]),
        (&["study"], ["Commands:", "run", "status"]),
        (&["opensm"], ["Commands:", "lab", "Usage: dmodc opensm"]),
        (&["generate"], ["Commands:", "pgft", "preset"]),
    ] {
        let output = desk.run(args);
        let help = desk::text(&output.stderr);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}: {help}");
        assert!(words.iter().all(|words| help.contains(words)), "{args:?}: {help}");
    }
    assert!(desk.error(&["route"]).contains("required arguments were not provided: <FABRIC>"));
    let all = ["degrade", "f.topo", "--switches", "100%", "--any-switch"];
    assert!(desk.error(&all).contains("no switch would be left"));
    for args in
        [&["--json", "-o", "-"][..], &["--save-orders", "-"], &["--json", "--alternatives", "-"]]
    {
        let error = desk.error(&[&["route", "f.topo"], args].concat());
        assert!(error.contains("two results cannot both go to standard output"), "{error}");
    }
    assert!(desk.error(&["--threads", "0", "demo"]).contains("--threads"));
    assert_eq!(desk.files(), ["f.lft", "f.topo"]);
}

#[test]
fn bad_files_get_one_clear_line_and_exit_2() {
    let desk = Desk::new();
    desk.figure_1();
    fs::create_dir(desk.path("folder")).unwrap();
    desk.write("empty", "");
    desk.write("broken", &desk.read("f.topo").replacen("[1]", "[one]", 1));
    desk.write("blank", " \n\t\r\n");
    desk.write("comments", "# nothing\n# here\n");
    desk.write("package.json", "{\n  \"name\": \"something else\"\n}\n");
    fs::write(desk.path("f.gz"), b"\x1f\x8b\x08\0\0\0\0\0").unwrap();
    fs::write(desk.path("binary"), b"\x7fELF\x02\x01\0\0\0").unwrap();
    fs::write(desk.path("utf16"), b"\xff\xfe#\0\n\0").unwrap();
    desk.write("one-sided", &desk.read("f.topo").replacen("[3]\t\"S-", "[7]\t\"S-", 1));
    for (args, message) in [
        (&["info", "nowhere"][..], "dmodc: nowhere: No such file or directory"),
        (&["info", "folder"], "dmodc: folder: Is a directory"),
        (&["info", "empty"], "dmodc: empty:1:1: the input is empty; expected ibnetdiscover text"),
        (
            &["route", "blank"],
            "dmodc: blank:1:1: the input is empty: it has only blank lines; expected ib",
        ),
        (
            &["info", "comments"],
            "dmodc: comments:1:1: the input is empty: it has only comments; expected",
        ),
        (
            &["info", "package.json"],
            "dmodc: package.json:1:1: the input looks like JSON, but has no",
        ),
        (&["info", "f.gz"], "dmodc: f.gz:1:1: the input is compressed by gzip; unpack it first"),
        (&["check", "f.topo", "f.gz"], "dmodc: f.gz:1:1: the input is compressed by gzip; unpack"),
        (&["info", "binary"], "dmodc: binary:1:1: the input is binary, not text; expected"),
        (
            &["check", "f.topo", "binary"],
            "dmodc: binary:1:1: the input is binary, not text; expected",
        ),
        (&["info", "utf16"], "dmodc: utf16:1:1: the input is UTF-16 text; convert it first"),
        (
            &["check", "f.topo", "comments"],
            "dmodc: comments:1:1: the input is empty: it has only comm",
        ),
        (
            &["info", "broken", "--strict"],
            "dmodc: broken:11:2: expected a port number from 1 to 254, found 'one]",
        ),
        (&["route", "one-sided", "--strict"], "dmodc: one-sided:"),
        (
            &["info", "f.lft"],
            "dmodc: f.lft: this file has forwarding tables; give the description of a fabric",
        ),
        (
            &["check", "f.topo", "f.topo"],
            "dmodc: f.topo: this file describes a fabric; expected forwarding tables",
        ),
        (&["check", "f.topo", "empty"], "dmodc: empty:1:1: the input is empty; expected"),
        (&["route", "f.topo", "--orders", "f.lft"], "dmodc: f.lft:1:1: expected a GUID"),
        (&["route", "f.topo", "-o", "folder"], "dmodc: folder: is a directory"),
        (
            &["route", "f.topo", "-o", "no/where"],
            "dmodc: no/where: No such file or directory (os error 2)\n",
        ),
        (
            &["convert", "f.topo", "--format", "dot", "-o", "/dev/full"],
            "dmodc: /dev/full: No space left",
        ),
    ] {
        let found = desk.error(args);
        assert!(found.starts_with(message), "{args:?}: {found}");
    }
    let big = ["generate", "preset", "quantum2-max", "--format", "ibsim", "-o", "big.net"];
    assert!(desk.error(&big).contains("ibsim cannot simulate this fabric"));
    let files =
        ["binary", "blank", "broken", "comments", "empty", "f.gz", "f.lft", "f.topo", "folder"];
    let more = ["one-sided", "package.json", "utf16"];
    assert_eq!(desk.files(), [&files[..], &more].concat(), "nothing was left behind");
}

#[test]
fn the_sound_part_of_a_damaged_file_is_used_and_the_rest_is_reported() {
    let desk = Desk::new();
    desk.figure_1();
    desk.write("broken", &desk.read("f.topo").replacen("[3]\t\"S-", "[three]\t\"S-", 1));
    let output = desk.run(&["route", "broken", "-o", "b.lft"]);
    assert_eq!(output.status.code(), Some(0));
    let warnings = text(&output.stderr);
    assert!(warnings.contains("broken: damaged lines, skipped: 1; line "), "{warnings}");
    assert!(warnings.contains("cables listed at one end only, left out: 1; line "), "{warnings}");
    assert_eq!(desk.json(0, &["check", "broken", "b.lft", "--json"])["delivered"], 132);
    let info = desk.json(0, &["info", "broken", "--json"]);
    assert_eq!(info["dirt"]["damaged_lines"]["count"], 1);
    assert_eq!(info["inter_switch_cables"], 35);
    let refused = desk.error(&["info", "broken", "--strict"]);
    assert!(refused.lines().count() == 3 && refused.ends_with("|  ^\n"), "{refused}");
}

#[test]
fn strange_files_are_refused_at_once() {
    let desk = Desk::new();
    desk.write("script", "#!/bin/sh\necho hello\n");
    let noise: Vec<u8> = {
        let mut random = dmodc::Random::new(1, 1);
        (0..1 << 20).map(|_| random.below(256) as u8).collect()
    };
    fs::write(desk.path("noise"), noise).unwrap();
    fs::File::create(desk.path("sparse")).unwrap().set_len(1 << 30).unwrap();
    for (name, what) in [
        ("script", "this file does not describe a fabric: expected"),
        ("noise", "the input is binary, not text; expected"),
        ("sparse", "the input is binary, not text; expected"),
    ] {
        assert!(desk.error(&["info", name]).contains(&format!(":1:1: {what}")), "{name}");
    }
}

/// What can be wrong before any other program is started.
#[test]
fn opensm_is_asked_for_with_clear_words() {
    let desk = Desk::new();
    desk.figure_1();
    let error = desk.error(&["route", "f.topo", "--engine", "opensm:best"]);
    assert!(error.contains("minhop, updn, dnup, ftree"), "{error}");
    let error = desk.error(&["route", "f.topo", "--engine", "opensm:ftree", "--connect-roots"]);
    assert!(error.contains("--connect-roots"), "{error}");
    let lab = |args: &[&str]| desk.error(&[&["opensm", "lab"], args].concat());
    assert!(lab(&[]).contains("FABRIC"));
    assert!(lab(&["f.topo", "--preset", "avakas"]).contains("--preset"));
    assert!(lab(&["--preset", "nope"]).contains("there is no preset 'nope'"));
    assert!(lab(&["f.topo", "--engine", "best"]).contains("best"));
    assert!(lab(&["f.topo", "--faults", "nowhere"]).contains("nowhere: No such file"));
    desk.write("script", "kill cables 3\nkill everything\n");
    let error = lab(&["f.topo", "--faults", "script"]);
    assert!(error.contains("script:2:6: expected cable CABLE, cables COUNT"), "{error}");
    assert!(lab(&["f.lft"]).contains("this file has forwarding tables"));
    let error = desk.error(&["bench", "--engine", "opensm:ftree"]);
    assert!(error.contains("--with-opensm"), "{error}");
}
