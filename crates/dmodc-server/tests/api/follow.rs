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
