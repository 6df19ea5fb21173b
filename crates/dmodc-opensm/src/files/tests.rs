//! Pipes and devices in the place of regular files, and the files that dead processes leave behind.

use std::process::Command;
use std::time::{Duration, SystemTime};

use super::*;

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

fn simply<'a>(expected: ExpectedFile) -> FileReplacement<'a> {
    FileReplacement { expected, sync: &File::sync_all, announce: &|_| {} }
}

#[test]
fn only_regular_files_of_a_bounded_size_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fifo(&at("pipe"));
    let why = |path: &Path| read(path, 100).expect_err("it is refused");
    assert!(why(&at("pipe")).to_string().contains("a pipe"));
    assert!(why(Path::new("/dev/zero")).to_string().contains("a device"));
    assert!(why(folder.path()).to_string().contains("a folder"));
    assert_eq!(why(&at("missing")).kind(), io::ErrorKind::NotFound);
    let sparse = File::create(at("sparse")).expect("it can be made");
    sparse.set_len(3 << 30).expect("a hole takes no room");
    assert_eq!(why(&at("sparse")).kind(), io::ErrorKind::FileTooLarge);
    fs::write(at("text"), "text").expect("it can be written");
    std::os::unix::fs::symlink(at("text"), at("link")).expect("a link");
    assert_eq!(read(&at("link"), 4).expect("a link is followed").0, b"text");
    assert_eq!(read(&at("link"), 3).expect_err("one more").kind(), io::ErrorKind::FileTooLarge);
}

#[test]
fn special_files_are_never_replaced_and_links_are_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fifo(&at("pipe"));
    let put = |path: &Path| replace(path, b"new", &simply(ExpectedFile::Anything));
    assert!(put(&at("pipe")).expect_err("refused").to_string().contains("a pipe"));
    assert!(put(Path::new("/dev/null")).expect_err("refused").to_string().contains("a device"));
    std::os::unix::fs::symlink("/dev/null", at("null")).expect("a link");
    assert!(put(&at("null")).expect_err("refused").to_string().contains("a device"));
    fs::write(at("text"), "old").expect("it can be written");
    std::os::unix::fs::symlink(at("text"), at("link")).expect("a link");
    put(&at("link")).expect("its target is replaced");
    assert!(fs::symlink_metadata(at("link")).expect("it is there").is_symlink());
    assert_eq!(fs::read(at("text")).expect("it is there"), b"new");
    put(&at("deep/er/file")).expect("folders are made");
    assert!(open_end(&at("pipe")).is_err() && open_end(Path::new("/dev/null")).is_err());
}

#[test]
fn a_file_that_somebody_else_changed_is_not_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    let first = replace(&path, b"1", &simply(ExpectedFile::Exactly(None))).expect("none is there");
    assert_eq!(FileStamp::at(&path).expect("it is there"), Some(first));
    let second = replace(&path, b"2", &simply(ExpectedFile::Exactly(Some(first)))).expect("ours");
    assert_ne!(first, second);
    let error =
        replace(&path, b"3", &simply(ExpectedFile::Exactly(Some(first)))).expect_err("other");
    assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
    assert_eq!(fs::read(&path).expect("it is there"), b"2");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing else is left");
}

#[test]
fn unfinished_files_of_dead_processes_are_removed_and_no_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let old = SystemTime::now() - Duration::from_secs(25 * 3600);
    let put = |name: &str, is_old: bool| {
        let file = File::create(folder.path().join(name)).expect("it can be made");
        if is_old {
            file.set_modified(old).expect("it is ours");
        }
    };
    let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
    let host: String =
        host.trim().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '.').collect();
    // This process with another beginning is another process.
    let this = std::process::id();
    let dead = format!(".dmodc-{host}-{this}-1-0.tmp");
    let far_old = ".dmodc-far-away.example-1-1-1.tmp";
    let kept = [
        ".dmodc-far-away.example-1-1-0.tmp",
        ".dmodc-aB3xY9",
        ".dmodc-notes.tmp",
        "dmodc.orders",
        ".dmodc-long-name",
    ];
    put(&dead, false);
    put(far_old, true);
    put(".dmodc-Zz09aa", true);
    for name in kept {
        put(name, name.contains("notes") || name.contains("orders") || name.contains("long"));
    }
    assert_eq!(remove_stale(folder.path()), 3);
    let mut left: Vec<String> = fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    left.sort();
    let mut kept = kept.map(String::from);
    kept.sort();
    assert_eq!(left, kept);
}

#[test]
fn a_late_result_answers_a_later_question() {
    let mut patient = DeadlineWorker::new();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let slow = move || {
        let _ = wait.recv();
        1
    };
    let short = Duration::from_millis(20);
    assert!(patient.ask(short, |_| true, slow).is_err_and(|why| why.contains("did not answer")));
    assert!(patient.ask(short, |_| true, || 2).is_err(), "one hangs, and no second is begun");
    go.send(()).expect("it waits");
    assert_eq!(patient.ask(Duration::from_secs(60), |_| true, || 3), Ok(1));
    assert_eq!(patient.ask(Duration::from_secs(60), |_| true, || 4), Ok(4));
    let bug = patient.ask(Duration::from_secs(60), |_| true, || panic!("a bug"));
    assert!(bug.is_err_and(|why| why.contains("internal error")));
}
