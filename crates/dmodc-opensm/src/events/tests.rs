//! Lines of the event file.

use dmodc::{Degradation, Pgft, SwitchIndex};

use super::*;

fn fabric() -> Fabric {
    "2; 2,3; 1,2; 1,1".parse::<Pgft>().expect("a PGFT").fabric(Default::default())
}

fn event(run: u64, fabric: Option<&Fabric>) -> PluginEvent {
    let fabric = fabric.map(|fabric| Arc::new(fabric.clone()));
    PluginEvent { kind: "run", time: 1.5, run, facts: json!({ "errors": [] }), fabric, known: None }
}

fn written(journal: &mut EventJournal, event: &PluginEvent) -> Value {
    let line = journal.line(event);
    assert_eq!(line.iter().filter(|byte| **byte == b'\n').count(), 1, "one line");
    serde_json::from_slice(&line).expect("it is JSON")
}

fn counts(changes: &Value) -> [u64; 3] {
    ["switches", "nodes", "cables"].map(|kind| changes[kind]["count"].as_u64().expect("a number"))
}

/// A leaf dies and returns; then another switch takes its place.
#[test]
fn parts_that_died_come_back_or_are_replaced() {
    let whole = fabric();
    let mut mask = Degradation::none(&whole);
    mask.set_switch(SwitchIndex::new(0), true);
    let part = whole.without(&mask);
    let mut journal = EventJournal::default();
    let first = written(&mut journal, &event(1, Some(&whole)));
    assert_eq!((&first["schema"], &first["run"]), (&SCHEMA.into(), &1.into()));
    assert_eq!(counts(&first["changes"]["joined"]), [0, 0, 0], "in the first line, nothing is new");
    let died = written(&mut journal, &event(2, Some(&part)))["changes"].clone();
    assert_eq!(counts(&died["died"]), [1, 2, 2]);
    assert_eq!(counts(&died["came_back"]), [0, 0, 0]);
    let (guid, name) = (whole.switches()[0].guid.to_string(), &*whole.switches()[0].name);
    assert_eq!(died["died"]["switches"]["list"], json!([{ "guid": guid, "name": name }]));
    let cable = &died["died"]["cables"]["list"][0];
    assert!(cable[0]["port"].is_u64() && cable[1]["guid"].is_string(), "{cable}");
    // A line that waited for too long has no fabric; the next one has its changes.
    assert_eq!(written(&mut journal, &event(3, None))["changes"], Value::Null);
    let back = written(&mut journal, &event(4, Some(&whole)))["changes"].clone();
    assert_eq!((counts(&back["died"]), counts(&back["came_back"])), ([0; 3], [1, 2, 2]));
    assert_eq!(counts(&back["joined"]), [0, 0, 0]);

    written(&mut journal, &event(5, Some(&part)));
    let adapters: Vec<Guid> = whole.adapters().iter().map(|adapter| adapter.guid).collect();
    let nodes: Vec<Guid> = whole.nodes().iter().map(|node| node.guid).collect();
    let mut switches: Vec<Guid> = whole.switches().iter().map(|switch| switch.guid).collect();
    switches[0] = Guid(0xabc);
    let other = whole.with_guids(&switches, &adapters, &nodes);
    let replaced = written(&mut journal, &event(6, Some(&other)))["changes"].clone();
    assert_eq!(counts(&replaced["joined"]), [1, 0, 2]);
    assert_eq!(counts(&replaced["came_back"]), [0, 2, 0]);
    let new = Guid(0xabc).to_string();
    assert_eq!(replaced["replaced"], json!({ "count": 1, "list": [{ "old": guid, "new": new }] }));
}

/// Parts that are known from files came back; others have joined.
#[test]
fn parts_that_are_known_from_files_are_not_new() {
    let whole = fabric();
    let mut mask = Degradation::none(&whole);
    mask.set_switch(SwitchIndex::new(0), true);
    let part = whole.without(&mask);
    let all = whole.switches().iter().map(|s| s.guid).chain(whole.nodes().iter().map(|n| n.guid));
    let all: Arc<[Guid]> = all.collect();
    let mut journal = EventJournal::default();
    let some = PluginEvent { known: Some(all[1..].into()), ..event(1, Some(&whole)) };
    assert_eq!(counts(&written(&mut journal, &some)["changes"]["joined"]), [1, 0, 0]);
    let mut journal = EventJournal::default();
    let start = PluginEvent { known: Some(all), ..event(1, Some(&part)) };
    assert_eq!(counts(&written(&mut journal, &start)["changes"]["joined"]), [0, 0, 0]);
    let then = written(&mut journal, &event(2, Some(&whole)))["changes"].clone();
    assert_eq!(counts(&then["came_back"])[..2], [1, 2]);
    assert_eq!(counts(&then["joined"])[..2], [0, 0]);
}

#[test]
fn a_full_file_makes_room_for_a_new_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deep/events");
    let mut journal = EventJournal { largest: 2000, ..EventJournal::default() };
    for run in 1..=30 {
        journal.write(&path, &event(run, None)).expect("there is room");
    }
    let lines = |name: &str| -> Vec<u64> {
        let text = fs::read_to_string(folder.path().join(name)).expect("it is there");
        assert!(text.len() <= 2000);
        let run = |line: &str| {
            let value: Value = serde_json::from_str(line).expect("it is JSON");
            value["run"].as_u64().expect("a number")
        };
        text.lines().map(run).collect()
    };
    let (before, now) = (lines("deep/events.1"), lines("deep/events"));
    assert_eq!(now.last(), Some(&30));
    assert_eq!(before.last().map(|run| run + 1), now.first().copied(), "none is missing");
    assert_eq!(fs::read_dir(folder.path().join("deep")).expect("a folder").count(), 2);
}
