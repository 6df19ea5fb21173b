//! The history is bounded by age and by size, and is the same after it was closed and opened.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use dmodc_server::history::{History, HistoryError, HistoryLimits, HistorySize, SavedScenario};
use dmodc_view::{Event, Origin, PartCounts, Scenario};
use serde_json::json;

const DAY: u64 = 24 * 3600 * 1000;

/// An event whose text has this many bytes.
fn event(sequence: u64, time_ms: u64, bytes: usize) -> Event {
    Event {
        sequence,
        time_ms,
        revision: sequence,
        origin: Origin::User,
        engine: "dmodc".into(),
        text: "x".repeat(bytes),
        failed: vec![],
        repaired: vec![],
        failed_count: 0,
        repaired_count: 0,
        all_failed: PartCounts::default(),
        state: Some(vec![]),
        milliseconds: 1.0,
        entries: 0,
        entries_total: 0,
        blocks: 0,
        switches: 0,
        valid: true,
        judgement: None,
    }
}

fn sequences(history: &History) -> Vec<u64> {
    let (events, more) = history.events(u64::MAX, 1_000_000).unwrap();
    assert!(!more);
    events.iter().rev().map(|event| event.sequence).collect()
}

/// Checks that the size is what is really there.
fn check_size(history: &History) -> HistorySize {
    let mut found = HistorySize::default();
    let each = |text: &[u8]| {
        found.events += 1;
        found.bytes += text.len() as u64;
        true
    };
    history.for_each(each).unwrap();
    assert_eq!(history.size().unwrap(), found);
    found
}

#[test]
fn old_events_are_removed() {
    let limits = HistoryLimits { age_ms: 10 * DAY, bytes: 1 << 30 };
    let history = History::in_memory(limits).unwrap();
    for day in 0..30 {
        history.append(&event(day + 1, (day + 100) * DAY, 10)).unwrap();
    }
    // The last is of day 129, so that the oldest that stays is of day 119.
    assert_eq!(sequences(&history), (20..=30).collect::<Vec<u64>>());
    check_size(&history);
    // A year later only the new one is left.
    history.append(&event(31, 500 * DAY, 10)).unwrap();
    assert_eq!(sequences(&history), [31]);
    assert_eq!(history.last_sequence().unwrap(), 31);
}

#[test]
fn the_oldest_events_make_room() {
    let limits = HistoryLimits { age_ms: 1000 * DAY, bytes: 20_000 };
    let history = History::in_memory(limits).unwrap();
    for sequence in 1..=200 {
        history.append(&event(sequence, sequence, 1000)).unwrap();
        let size = check_size(&history);
        assert!(size.bytes <= 20_000 && size.events > 0, "{size:?}");
    }
    let kept = sequences(&history);
    assert!((10..20).contains(&kept.len()), "{kept:?}");
    assert_eq!(*kept.last().unwrap(), 200);
    assert!(kept.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{kept:?}");
    // One event that is too large for the whole history is still kept: it is the newest.
    history.append(&event(201, 201, 100_000)).unwrap();
    assert_eq!(sequences(&history), [201]);
    check_size(&history);
}

#[test]
fn judgements_count_and_are_kept() {
    let limits = HistoryLimits { age_ms: 1000 * DAY, bytes: 10_000 };
    let history = History::in_memory(limits).unwrap();
    for sequence in 1..=5 {
        history.append(&event(sequence, sequence, 1000)).unwrap();
    }
    let judgement = json!({ "lost": "y".repeat(5000) });
    history.note_judgement(5, &judgement).unwrap();
    assert_eq!(history.event(5).unwrap().unwrap().judgement, Some(judgement.clone()));
    assert!(check_size(&history).bytes <= 10_000);
    assert!(!sequences(&history).contains(&1));
    // An event that is gone does not come back.
    history.note_judgement(1, &judgement).unwrap();
    assert!(history.event(1).unwrap().is_none());
    assert_eq!(history.last_sequence().unwrap(), 5);
}

/// The file does not grow for ever, however much is written.
#[test]
fn the_file_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.redb");
    let limits = HistoryLimits { age_ms: 1000 * DAY, bytes: 100_000 };
    let history = History::open(&path, limits).unwrap();
    for sequence in 1..=300 {
        history.append(&event(sequence, sequence, 10_000)).unwrap();
    }
    let length = std::fs::metadata(&path).unwrap().len();
    assert!(length < 8 << 20, "{length} bytes");
}

#[test]
fn everything_is_there_after_opening_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history.redb");
    let scenario = |engine: &str| Scenario {
        schema: "dmodc/scenario/1".into(),
        fabric: "a fabric".into(),
        engine: engine.into(),
        failed: vec!["0x1".into()],
    };
    let open = || History::open(&path, HistoryLimits::default());
    {
        let history = open().unwrap();
        for sequence in 1..=3 {
            history.append(&event(sequence, DAY, 10)).unwrap();
        }
        for (name, engine) in [("a", "dmodc"), ("b", "paper"), ("b", "stable")] {
            let saved = SavedScenario { time_ms: 1, scenario: scenario(engine) };
            history.save(name, &saved).unwrap();
        }
        assert!(matches!(open(), Err(HistoryError::InUse)));
    }
    let history = open().unwrap();
    assert_eq!(history.last_sequence().unwrap(), 3);
    assert_eq!(history.event(2).unwrap(), Some(event(2, DAY, 10)));
    let names: Vec<String> =
        history.scenarios().unwrap().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(history.scenario("b").unwrap().unwrap().scenario, scenario("stable"));
    assert!(history.delete("a").unwrap() && !history.delete("a").unwrap());
}

#[test]
fn scenarios_are_bounded() {
    let limits = HistoryLimits { age_ms: DAY, bytes: 50_000 };
    let history = History::in_memory(limits).unwrap();
    let of = |parts: usize| SavedScenario {
        time_ms: 1,
        scenario: Scenario {
            schema: "dmodc/scenario/1".into(),
            fabric: String::new(),
            engine: "dmodc".into(),
            failed: vec!["0x0123456789abcdef/17".into(); parts],
        },
    };
    history.save("large", &of(1500)).unwrap();
    let error = history.save("other", &of(1500)).unwrap_err();
    assert!(matches!(error, HistoryError::TooLarge(50_000)), "{error}");
    assert!(history.scenario("other").unwrap().is_none());
    // The same name is replaced, and takes no more room.
    history.save("large", &of(1600)).unwrap();
    history.save("large", &of(1)).unwrap();
    for number in 1..1000 {
        let result = history.save(&format!("{number}"), &of(0));
        if let Err(error) = result {
            assert!(matches!(error, HistoryError::TooLarge(_)), "{error}");
            return;
        }
    }
    panic!("a thousand scenarios have more than 50,000 bytes");
}

#[test]
fn no_more_than_a_thousand_scenarios() {
    let history = History::in_memory(HistoryLimits::default()).unwrap();
    let saved: SavedScenario = serde_json::from_value(json!({
        "time_ms": 1,
        "scenario": { "schema": "dmodc/scenario/1", "fabric": "", "engine": "dmodc", "failed": [] },
    }))
    .unwrap();
    for number in 0..1000 {
        history.save(&number.to_string(), &saved).unwrap();
    }
    assert!(matches!(history.save("more", &saved), Err(HistoryError::TooMany)));
    history.save("7", &saved).unwrap();
}

#[test]
fn what_is_no_history_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other");
    std::fs::write(&path, "this is some other file, which must not be overwritten").unwrap();
    assert!(History::open(&path, HistoryLimits::default()).is_err());
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("this is some other file"));
    assert!(History::open(Path::new("/nowhere/history"), HistoryLimits::default()).is_err());
}
