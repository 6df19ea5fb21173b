//! What a signal leaves behind: nothing.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use desk::{DMODC, Desk};

fn parts(desk: &Desk) -> Vec<String> {
    let mut files = desk.files();
    files.retain(|name| name.ends_with(".part"));
    files
}

/// Runs a command, sends a signal as soon as it writes, and returns whether it died by it.
fn dies_while_writing(desk: &Desk, args: &[&str], signal: (&str, i32)) -> bool {
    let mut victim = Command::new(DMODC)
        .args(args)
        .current_dir(desk.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while parts(desk).is_empty() && victim.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(1));
    }
    let pid = victim.id().to_string();
    // It may have ended meanwhile.
    let _ = Command::new("sh")
        .args(["-c", "kill -s \"$0\" \"$1\"", signal.0, &pid])
        .stderr(Stdio::null())
        .status();
    victim.wait().unwrap().signal() == Some(signal.1)
}

/// SIGINT, SIGTERM and SIGHUP remove temporary files and folders, and the program dies by the signal.
#[test]
fn signals_leave_no_temporary_files() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "3; 12,12,12; 1,12,12; 1,1,1", "-o", "f.topo"]);
    desk.ok(&["route", "f.topo", "-o", "f.lft"]);
    let whole = desk.read("f.lft");
    for signal in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        for args in [["route", "f.topo", "-o", "f.lft"], ["route", "f.topo", "--split", "rows"]] {
            // Whoever is faster than the signal is asked again. If it dies after its work is done, the whole output is there.
            let died_in_between = (0..50).any(|_| {
                let _ = std::fs::remove_dir_all(desk.path("rows"));
                desk.write("f.lft", "what was there before\n");
                let died = dies_while_writing(&desk, &args, signal);
                let (files, tables) = (desk.files(), desk.read("f.lft"));
                let is_new = tables == whole || files.iter().any(|name| name == "rows");
                if !is_new {
                    assert_eq!(files, ["f.lft", "f.topo"], "{args:?}, SIG{}", signal.0);
                    let is_old = tables == "what was there before\n";
                    assert!(is_old, "{args:?}, SIG{}: f.lft is half-written", signal.0);
                }
                assert_eq!(parts(&desk), [""; 0], "{args:?}, SIG{}", signal.0);
                died && !is_new
            });
            assert!(died_in_between, "{args:?} never died by SIG{} while writing", signal.0);
        }
    }
}

/// A signal that is ignored from the start, as under `nohup`, stays so.
#[test]
fn ignored_signals_stay_ignored() {
    let desk = Desk::new();
    desk.ok(&["generate", "pgft", "3; 12,12,12; 1,12,12; 1,1,1", "-o", "f.topo"]);
    let script = "trap '' HUP; exec \"$0\" route f.topo -o f.lft";
    let mut run = Command::new("sh")
        .args(["-c", script, DMODC])
        .current_dir(desk.folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while parts(&desk).is_empty() && run.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(1));
    }
    let pid = run.id().to_string();
    let _ = Command::new("sh")
        .args(["-c", "kill -s \"$0\" \"$1\"", "HUP", &pid])
        .stderr(Stdio::null())
        .status();
    assert_eq!(run.wait().unwrap().code(), Some(0));
    assert_eq!(desk.files(), ["f.lft", "f.topo"]);
}

/// Returns the number of the only child of a process, as soon as it waits for signals.
fn child_that_waits_for_signals(parent: &mut Child) -> String {
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    while parent.try_wait().unwrap().is_none() {
        let child = fs::read_to_string(&children).unwrap_or_default().trim().to_owned();
        let threads = fs::read_dir(format!("/proc/{child}/task")).into_iter().flatten().flatten();
        let mut names = threads.filter_map(|it| fs::read_to_string(it.path().join("comm")).ok());
        if names.any(|name| name.trim() == "signals") {
            return child;
        }
        sleep(Duration::from_millis(1));
    }
    panic!("the program ended too early");
}

/// The first process of a container does not die by its own signals, so the program ends with the number that shells expect.
#[test]
fn the_first_process_of_a_container_ends_in_order() {
    let container = ["--user", "--map-root-user", "--pid", "--fork"];
    let possible =
        Command::new("unshare").args(container).arg("true").stderr(Stdio::null()).status();
    if !possible.is_ok_and(|status| status.success()) {
        desk::skip("unshare does not work here");
        return;
    }
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        // It waits for its input.
        let mut run = Command::new("unshare")
            .args(container)
            .args([DMODC, "info", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // `wait` closes an input that it finds, and an empty input ends the program, too.
        let input = run.stdin.take();
        let first = child_that_waits_for_signals(&mut run);
        let kill = ["-c", "kill -s \"$0\" \"$1\"", signal, &first];
        assert!(Command::new("sh").args(kill).status().unwrap().success());
        assert_eq!(run.wait().unwrap().code(), Some(code), "SIG{signal}");
        drop(input);
    }
}
