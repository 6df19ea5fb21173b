//! Changes, compared with a workbench without a server; events and scenarios.

use serde_json::{Value, json};

use crate::desk::{
    check_described, fail, repair, server, twin, twin_change, wait_until, without_time,
};
use crate::http::Client;

fn change(client: &Client, name: &str, body: &Value) -> Value {
    let path = format!("/api/v1/{name}");
    let answer = client.post(&path, body).good();
    check_described("post", &path, 200, &answer);
    answer
}

#[test]
fn changes_are_those_of_the_workbench() {
    let (client, mut twin) = (server(), twin());
    let guid = twin.fabric().switch(dmodc::SwitchIndex::new(3)).guid.to_string();
    let steps = [
        ("change", fail("L2-1")),
        ("change", json!({ "fail": ["L1-0/5", guid], "repair": [] })),
        // What has failed already cannot fail again: nothing happens.
        ("change", fail("L2-1")),
        ("change", json!({ "repair": ["L2-1"], "fail": ["L2-1"] })),
        ("undo", json!({})),
        ("undo", json!({})),
        ("redo", json!({})),
        ("engine", json!({ "engine": "stable" })),
        ("random", json!({ "cables": "10%", "switches": "1", "seed": 5 })),
        ("random", json!({ "cables": "3", "seed": u64::MAX, "any_switch": true })),
        ("engine", json!({ "engine": "paper" })),
        ("undo", json!({})),
        ("reset", json!({})),
        ("engine", json!({ "engine": "dmodk" })),
        (
            "scenario",
            json!({ "schema": "dmodc/scenario/1", "engine": "dmodc", "failed": ["L1-3/5"] }),
        ),
        ("change", repair("L1-3/6")),
    ];
    for (step, (name, body)) in steps.iter().enumerate() {
        let expected = twin_change(&mut twin, name, body);
        let state = change(&client, name, body);
        assert_eq!(without_time(state), without_time(expected), "step {step}: {name} {body}");
    }
}

#[test]
fn what_cannot_be_done_changes_nothing() {
    let client = server();
    let before = change(&client, "change", &fail("L2-1"));
    for (name, body, status) in [
        ("redo", json!({}), 409),
        ("engine", json!({ "engine": "dmodk" }), 409),
        ("engine", json!({ "engine": "ftree" }), 400),
        ("change", fail("nothing"), 404),
        ("change", json!({ "fail": ["L1-0", "nothing"] }), 404),
        ("random", json!({ "cables": "101%" }), 400),
        ("random", json!({ "cables": "100000" }), 400),
        ("scenario", json!({ "schema": "dmodc/scenario/2", "engine": "dmodc", "failed": [] }), 400),
        ("scenario", json!({ "schema": "dmodc/scenario/1", "engine": "x", "failed": [] }), 400),
        (
            "scenario",
            json!({ "schema": "dmodc/scenario/1", "engine": "dmodc", "failed": ["x"] }),
            404,
        ),
    ] {
        client.post(&format!("/api/v1/{name}"), &body).refusal(status);
        let now = client.get("/api/v1/state").good();
        assert_eq!(without_time(now), without_time(before.clone()), "{name} {body}");
    }
}

#[test]
fn events_are_listed_newest_first() {
    let client = server();
    for part in ["L2-1", "L2-2", "L2-3"] {
        change(&client, "change", &fail(part));
    }
    let list = |query: &str| {
        let answer = client.get(&format!("/api/v1/events{query}")).good();
        check_described("get", "/api/v1/events", 200, &answer);
        let events = answer["events"].as_array().unwrap();
        let sequences: Vec<u64> = events.iter().map(|e| e["sequence"].as_u64().unwrap()).collect();
        (sequences, answer["more"].as_bool().unwrap())
    };
    assert_eq!(list(""), (vec![4, 3, 2, 1], false));
    assert_eq!(list("?limit=2"), (vec![4, 3], true));
    assert_eq!(list("?limit=2&before=3"), (vec![2, 1], false));
    assert_eq!(list("?before=0"), (vec![], false));
    let newest = client.get("/api/v1/events?limit=1").good();
    assert_eq!(newest["events"][0]["text"], "switch L2-3 failed");
    // The judgement comes later, and is kept with the event.
    wait_until("the last event is judged", || {
        let newest = client.get("/api/v1/events?limit=1").good();
        newest["events"][0]["judgement"]["revision"] == 4
    });
}

#[test]
fn scenarios_are_saved_and_loaded() {
    let client = server();
    change(&client, "change", &fail("L2-1"));
    change(&client, "engine", &json!({ "engine": "stable" }));
    let address = "/api/v1/scenarios/two%20words%2F%C3%A9";
    let saved = client.put(address, &json!({})).good();
    assert_eq!(saved, json!({ "name": "two words/é", "failed_count": 1 }));
    check_described("put", "/api/v1/scenarios/{name}", 200, &saved);
    let list = client.get("/api/v1/scenarios").good();
    check_described("get", "/api/v1/scenarios", 200, &list);
    assert_eq!(list["scenarios"][0]["name"], "two words/é");
    assert_eq!(list["scenarios"][0]["engine"], "stable");
    let exported = client.get("/api/v1/export/scenario").good();

    change(&client, "reset", &json!({}));
    change(&client, "engine", &json!({ "engine": "dmodc" }));
    let loaded = client.post(&format!("{address}/load"), &json!({})).good();
    check_described("post", "/api/v1/scenarios/{name}/load", 200, &loaded);
    assert_eq!(loaded["engine"], "stable");
    assert_eq!(loaded["failed"]["switches"].as_array().unwrap().len(), 1);
    // The file that was taken away says the same.
    change(&client, "reset", &json!({}));
    let again = change(&client, "scenario", &exported);
    assert_eq!(again["failed"], loaded["failed"]);

    let deleted = client.delete(address).good();
    check_described("delete", "/api/v1/scenarios/{name}", 200, &deleted);
    client.delete(address).refusal(404);
    client.post(&format!("{address}/load"), &json!({})).refusal(404);
    for name in ["%20", "a%00b", "%0A", &"x".repeat(101)] {
        client.put(&format!("/api/v1/scenarios/{name}"), &json!({})).refusal(400);
    }
}

/// Every client waits for its own change, and all changes are in one order.
#[test]
fn changes_of_many_clients_are_all_made() {
    let client = server();
    let threads: Vec<_> = (0..6)
        .map(|thread| {
            let client = client.clone();
            std::thread::spawn(move || {
                let part = format!("L1-{thread}/5");
                let revisions = (0..10).map(|step| {
                    let body = if step % 2 == 0 { fail(&part) } else { repair(&part) };
                    change(&client, "change", &body)["revision"].as_u64().unwrap()
                });
                revisions.collect::<Vec<u64>>()
            })
        })
        .collect();
    let mut revisions: Vec<u64> = threads.into_iter().flat_map(|t| t.join().unwrap()).collect();
    revisions.sort_unstable();
    assert_eq!(revisions, (2..62).collect::<Vec<u64>>());
    let events = client.get("/api/v1/events").good();
    assert_eq!(events["events"].as_array().unwrap().len(), 61);
    assert_eq!(client.get("/api/v1/state").good()["failed"]["cables"], json!([]));
}
