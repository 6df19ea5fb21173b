//! Slow disks, full disks and bugs, and the files that wait meanwhile.

use std::sync::mpsc::{Sender, channel};

use serde_json::json;

use std::fs::{self, File};
use std::io;
use std::sync::Mutex;
use std::thread;

use super::*;

const LONG: Duration = Duration::from_secs(120);

struct LogLines(Arc<Mutex<Vec<String>>>);

impl LogLines {
    fn new() -> (Self, Log) {
        let lines = Arc::new(Mutex::new(vec![]));
        let also = lines.clone();
        let log: Log = Arc::new(move |_, line: &str| {
            also.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_string());
        });
        (LogLines(lines), log)
    }

    fn with(&self, words: &str) -> usize {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().filter(|line| line.contains(words)).count()
    }
}

fn text(text: &'static str) -> FileTask {
    FileTask::Replace { text: Arc::new(move |_| Ok(text.into())), expected: ExpectedFile::Anything }
}

/// Returns a disk that hangs until the sender sends or is dropped.
fn gate() -> (Sender<()>, SyncFile) {
    let (open, closed) = channel::<()>();
    let closed = Mutex::new(closed);
    let disk: SyncFile = Arc::new(move |file: &File| {
        let _ = closed.lock().unwrap_or_else(PoisonError::into_inner).recv();
        file.sync_all()
    });
    (open, disk)
}

#[test]
fn a_hanging_disk_holds_up_nobody_and_only_the_newest_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    let (lines, log) = LogLines::new();
    let (open, disk) = gate();
    let mut writer = FileWriter::new("test", log, disk);
    writer.file(&a, text("first"));
    for _ in 0..100 {
        writer.file(&a, text("middle"));
        writer.file(&b, text("b"));
    }
    writer.file(&a, text("last"));
    let facts = writer.facts();
    assert!(facts.pending <= 3, "{facts:?}");
    assert!(!writer.flush(Duration::from_millis(10)), "it hangs");
    assert!(!a.exists() && writer.has(&a));
    drop(open);
    assert!(writer.flush(LONG));
    assert_eq!(fs::read(&a).expect("it is written"), b"last");
    assert_eq!(fs::read(&b).expect("it is written"), b"b");
    let facts = writer.facts();
    assert!(
        facts.pending == 0 && facts.last_write.is_some() && facts.errors.is_empty(),
        "{facts:?}"
    );
    assert_eq!(writer.stamps(&a).written, FileStamp::at(&a).expect("it is there"));
    assert_eq!(lines.with(""), 0);
}

#[test]
fn a_full_disk_is_reported_once_and_tried_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file");
    let (lines, log) = LogLines::new();
    let is_full = Arc::new(Mutex::new(true));
    let full = is_full.clone();
    let disk: SyncFile =
        Arc::new(move |file: &File| match *full.lock().unwrap_or_else(PoisonError::into_inner) {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => file.sync_all(),
        });
    let mut writer = FileWriter::new("test", log, disk);
    let request = folder.path().join("request");
    fs::write(&request, "").expect("it can be written");
    writer.file(&path, text("text"));
    writer.file(&request, FileTask::RemoveAfter(path.clone()));
    for _ in 0..3 {
        assert!(writer.flush(LONG));
        assert!(!path.exists() && request.exists());
        assert_eq!(writer.facts().errors.len(), 1);
        writer.retry();
    }
    assert_eq!((lines.with("was not written: "), lines.with("")), (1, 1));
    *is_full.lock().expect("it is not poisoned") = false;
    writer.retry();
    assert!(writer.flush(LONG));
    // The request may have been looked at before the file was written.
    writer.retry();
    assert!(writer.flush(LONG));
    assert!(path.exists() && !request.exists());
    assert_eq!((lines.with("can be written again"), writer.facts().errors.len()), (1, 0));
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "nothing else is left");
}

#[test]
fn a_bug_in_one_text_keeps_no_other_from_being_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let (lines, log) = LogLines::new();
    let mut writer = FileWriter::new("test", log, Arc::new(File::sync_all));
    let bad: MakeText = Arc::new(|_| panic!("no such text"));
    writer.file(
        &folder.path().join("bad"),
        FileTask::Replace { text: bad, expected: ExpectedFile::Anything },
    );
    writer.file(&folder.path().join("good"), text("good"));
    assert!(writer.flush(LONG));
    assert!(folder.path().join("good").exists());
    assert_eq!(lines.with("internal error, please report it: no such text"), 1);
}

#[test]
fn texts_are_refreshed_when_the_other_writer_is_done() {
    let folder = tempfile::tempdir().expect("a folder");
    let status = folder.path().join("status");
    let (_, log) = LogLines::new();
    let mut reports = FileWriter::new("reports", log.clone(), Arc::new(File::sync_all));
    let (open, disk) = gate();
    let mut state = FileWriter::new("state", log, disk).refreshes(&reports);
    state.file(&folder.path().join("state"), text("state"));
    let watch = state.watch();
    let pending: MakeText = Arc::new(move |_| Ok(watch.facts().pending.to_string().into_bytes()));
    reports.report(&status, pending);
    assert!(reports.flush(LONG));
    assert_eq!(fs::read(&status).expect("it is written"), b"1");
    drop(open);
    assert!(state.flush(LONG) && reports.flush(LONG));
    assert_eq!(fs::read(&status).expect("it is written"), b"0");
}

#[test]
fn events_that_wait_are_bounded() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, log) = LogLines::new();
    let (open, disk) = gate();
    let mut writer = FileWriter::new("test", log, disk);
    writer.file(&folder.path().join("file"), text("it hangs"));
    while writer.facts().busy.is_none() {
        thread::yield_now();
    }
    let fabric =
        "2; 1,1; 1,1; 1,1".parse::<dmodc::Pgft>().expect("a PGFT").fabric(Default::default());
    let fabric = Arc::new(fabric);
    let path = folder.path().join("events");
    for run in 0..MOST_EVENTS as u64 + 5 {
        let (facts, fabric) = (json!({}), Some(fabric.clone()));
        writer
            .event(&path, PluginEvent { kind: "run", time: 0.0, run, facts, fabric, known: None });
    }
    assert_eq!(writer.facts().dropped_events, 5);
    assert_eq!(Arc::strong_count(&fabric), 1 + MOST_FABRICS);
    drop(open);
    assert!(writer.flush(LONG));
    let lines = fs::read_to_string(&path).expect("they are written");
    assert_eq!(lines.lines().count(), MOST_EVENTS);
}
