//! Following a live fabric.

use std::time::Duration;

use dmodc::Degradation;
use dmodc_formats::ibnetdiscover;
use dmodc_server::ServeOptions;
use dmodc_server::follow::{Follow, FollowSource};
use serde_json::{Value, json};

use crate::desk::{SMALL, check_described, fail, metric, options, start, twin, wait_until};
use crate::http::Client;

fn follow(source: FollowSource) -> ServeOptions {
    let reader = |text: &[u8]| {
        let reading = dmodc_formats::read(text).map_err(|error| error.to_string())?;
        Ok(reading.fabric)
    };
    let every = Duration::from_millis(50);
    ServeOptions {
        follow: Some(Follow { source, every, reader: Box::new(reader) }),
        ..options(SMALL)
    }
}

fn text_without(parts: &[&str]) -> Vec<u8> {
    let twin = twin();
    let names: Vec<String> = parts.iter().map(ToString::to_string).collect();
    let faults: Degradation = twin.setup().faults(&names).unwrap();
    let mut text = vec![];
    ibnetdiscover::write(&twin.fabric().without(&faults), &[], &mut text).unwrap();
    text
}

fn state(client: &Client) -> Value {
    let state = client.get("/api/v1/state").good();
    check_described("get", "/api/v1/state", 200, &state);
    state
}

#[test]
fn a_file_is_followed_and_nothing_can_be_broken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fabric.topo");
    std::fs::write(&path, text_without(&[])).unwrap();
    let client = start(follow(FollowSource::File(path.clone())));
    wait_until("it is read", || state(&client)["follow"]["seen_ms"].is_u64());
    for (name, body) in
        [("change", fail("L2-1")), ("random", json!({})), ("reset", json!({})), ("undo", json!({}))]
    {
        let reason = client.post(&format!("/api/v1/{name}"), &body).refusal(409);
        assert!(reason.contains("live fabric"), "{reason}");
    }
    let write = |text: &[u8]| {
        let new = folder.path().join("new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, &path).unwrap();
    };
    write(&text_without(&["L2-1", "L1-0/5"]));
    wait_until("the faults are seen", || state(&client)["failed"]["switches"] != json!([]));
    assert_eq!(state(&client)["event"]["origin"], "follow");
    write(b"no fabric at all");
    wait_until("the error is seen", || state(&client)["follow"]["error"].is_string());
    assert!(metric(&client, "dmodc_serve_follow_errors_total") > Some(0.0));
    // The last good reading stays.
    assert_ne!(state(&client)["failed"]["switches"], json!([]));
    write(&text_without(&[]));
    wait_until("all is repaired", || state(&client)["failed"]["switches"] == json!([]));
    wait_until("the error is gone", || state(&client)["follow"]["error"].is_null());
    assert!(metric(&client, "dmodc_serve_follow_seen_timestamp_seconds") > Some(1.6e9));
}

/// Commands that complain at length, or leave somebody behind who keeps their output open.
#[test]
fn odd_commands_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fabric.topo");
    std::fs::write(&path, text_without(&["L2-1"])).unwrap();
    let path = path.display();
    for command in [
        format!("cat {path}; head -c 300000 /dev/zero | tr '\\0' 'x' >&2"),
        format!("sleep 3 & cat {path}"),
    ] {
        let client = start(follow(FollowSource::Command(command)));
        wait_until("it is read", || state(&client)["failed"]["switches"] != json!([]));
        assert_eq!(state(&client)["follow"]["error"], Value::Null);
    }
}

/// The plugin for OpenSM: parts of its events fail and come back, and its status is shown.
#[test]
fn the_files_of_the_plugin_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (events, status) = (folder.path().join("events"), folder.path().join("status"));
    let twin = twin();
    let guid = |name: &str| {
        let s = twin.fabric().find_switch(name).unwrap();
        twin.fabric().switch(s).guid.to_string()
    };
    let none = || json!({ "count": 0, "list": [] });
    let empty = || json!({ "switches": none(), "nodes": none(), "cables": none() });
    let line = |run: u64, died: Value, came_back: Value| {
        let changes =
            json!({ "died": died, "came_back": came_back, "joined": empty(), "replaced": none() });
        format!(
            "{}\n",
            json!({ "schema": "dmodc/opensm-event/1", "run": run, "kind": "run", "changes": changes })
        )
    };
    let mut dead = empty();
    dead["switches"] = json!({ "count": 1, "list": [{ "guid": guid("L2-1"), "name": "L2-1" }] });
    let end = |name: &str, port: u8| json!({ "guid": guid(name), "name": name, "port": port });
    dead["cables"] = json!({ "count": 1, "list": [[end("L1-0", 5), end("L2-0", 1)]] });
    let first = line(1, empty(), empty());
    // A line may be half written when it is read.
    let second = line(2, dead.clone(), empty());
    let (half, rest) = second.split_at(40);
    std::fs::write(&events, first.clone() + half).unwrap();
    let verdict = |delivered: u64| {
        let verdict =
            json!({ "valid": true, "pairs": 132, "delivered": delivered, "lost": 0, "cut_off": 0 });
        json!({ "schema": "dmodc/opensm/1", "ok": true, "runs": 2, "verdict": verdict, "warnings": ["take care"] })
    };
    std::fs::write(&status, verdict(132).to_string()).unwrap();
    let source = FollowSource::Plugin { events: events.clone(), status: Some(status.clone()) };
    let client = start(follow(source));
    wait_until("it is read", || state(&client)["follow"]["seen_ms"].is_u64());
    assert_eq!(state(&client)["failed"]["switches"], json!([]));
    let words = "run 2; valid, 132 of 132 pairs delivered; take care";
    wait_until("the status is shown", || state(&client)["follow"]["plugin"] == words);

    let append = |text: &str| {
        use std::io::Write as _;
        let mut file = std::fs::OpenOptions::new().append(true).open(&events).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    };
    append(rest);
    wait_until("the faults are seen", || state(&client)["failed"]["switches"] != json!([]));
    let now = state(&client);
    assert_eq!(now["failed"]["cables"].as_array().unwrap().len(), 1);
    assert_eq!(now["event"]["origin"], "follow");
    append(&line(3, empty(), dead));
    wait_until("all is back", || state(&client)["failed"]["switches"] == json!([]));
    assert_eq!(state(&client)["failed"]["cables"], json!([]));

    // Parts that are not listed by name are said, and so is a status that cannot be read.
    let mut many = empty();
    many["cables"] = json!({ "count": 500, "list": [] });
    append(&line(4, many, empty()));
    wait_until("what is unknown is said", || {
        state(&client)["follow"]["error"]
            .as_str()
            .is_some_and(|error| error.contains("500 changed parts"))
    });
    std::fs::write(&status, "{").unwrap();
    wait_until("a broken status is said", || {
        state(&client)["follow"]["plugin"].as_str().is_some_and(|words| words.contains("no JSON"))
    });
}
