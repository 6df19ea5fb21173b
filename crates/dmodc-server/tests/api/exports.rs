//! Files to take away.

use std::io::{Read, Write};

use dmodc_formats::lft;
use serde_json::{Value, json};

use crate::desk::{check_described, fail, options, server, start, twin, twin_change, wait_until};

#[test]
fn tables_are_those_of_the_router() {
    let (client, mut twin) = (server(), twin());
    for part in [None, Some("L2-1"), Some("L1-0/5")] {
        if let Some(part) = part {
            client.post("/api/v1/change", &fail(part)).good();
            twin_change(&mut twin, "change", &fail(part));
        }
        let answer = client.get("/api/v1/export/tables");
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
        let disposition = answer.header("content-disposition");
        assert_eq!(disposition, Some("attachment; filename=\"tables.lft\""));
        let mut expected = vec![];
        let comments = ["a fabric routed by dmodc".to_owned()];
        let router = twin.router();
        lft::write(router.live(), router.tables(), &comments, &mut expected).unwrap();
        assert!(answer.body == expected, "{part:?}");
    }
}

#[test]
fn the_fabric_is_that_without_faults() {
    let (client, mut twin) = (server(), twin());
    client.post("/api/v1/change", &fail("L2-1")).good();
    twin_change(&mut twin, "change", &fail("L2-1"));
    let answer = client.get("/api/v1/export/fabric");
    let read = dmodc_formats::read(&answer.body).unwrap().fabric;
    let present = twin.fabric().without(twin.router().degradation());
    assert_eq!(read.switches().len(), present.switches().len());
    assert_eq!(read.cable_count(), present.cable_count());
}

#[test]
fn events_are_lines_of_json() {
    let client = server();
    for part in ["L2-1", "L2-2"] {
        client.post("/api/v1/change", &fail(part)).good();
    }
    let answer = client.get("/api/v1/export/events");
    assert_eq!(answer.header("content-type"), Some("application/jsonl"));
    let text = answer.text();
    assert!(text.ends_with('\n'));
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sequences: Vec<u64> = events.iter().map(|e| e["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, [1, 2, 3]);
    let list = json!({ "events": events, "more": false });
    check_described("get", "/api/v1/events", 200, &list);
}

#[test]
fn the_report_is_one_page_and_no_page_of_ours() {
    let client = server();
    let answer = client.get("/api/v1/export/report");
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(answer.text().contains("a fabric, routed by dmodc"));
    assert!(!answer.text().contains("src=\"http"));
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("sandbox") && policy.contains("default-src 'none'"), "{policy}");
    let scenario = client.get("/api/v1/export/scenario").good();
    check_described("get", "/api/v1/export/scenario", 200, &scenario);
}

/// Large files are made one or two at a time, also if their readers are slow. Everything else goes on.
#[test]
fn slow_readers_do_not_fill_the_memory() {
    // 1,728 nodes: the tables have 25 MB, which no socket holds.
    let client = start(options("3; 12,12,12; 1,12,12; 1,1,1"));
    let slow: Vec<_> = (0..2)
        .map(|_| {
            let mut stream = client.connect();
            let head = client.head("GET", "/api/v1/export/tables") + "\r\n";
            stream.write_all(head.as_bytes()).unwrap();
            // It gets the head, and no more.
            let mut status = [0; 12];
            stream.read_exact(&mut status).unwrap();
            assert_eq!(&status, b"HTTP/1.1 200");
            stream
        })
        .collect();
    let refused = client.get("/api/v1/export/tables");
    assert_eq!(refused.header("retry-after"), Some("1"));
    refused.refusal(503);
    client.post("/api/v1/change", &fail("L2-1")).good();
    client.get("/api/v1/state").good();
    client.get("/api/v1/scene").good();
    drop(slow);
    wait_until("the next gets the file", || client.get("/api/v1/export/tables").status == 200);
}
