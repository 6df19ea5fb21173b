//! Long work: progress, cancellation, limits.

use std::ops::ControlFlow;

use dmodc_view::what_if::{WhatIfRequest, what_if};
use serde_json::{Value, json};

use crate::desk::{check_described, options, over_text, server, start, twin, wait_until};
use crate::http::Client;

fn begin(client: &Client, body: &Value) -> u64 {
    let answer = client.post("/api/v1/jobs", body);
    assert_eq!(answer.status, 202, "{}", answer.text());
    check_described("post", "/api/v1/jobs", 202, &answer.json());
    answer.json()["job"].as_u64().unwrap()
}

fn job(client: &Client, number: u64) -> Value {
    let job = client.get(&format!("/api/v1/jobs/{number}")).good();
    check_described("get", "/api/v1/jobs/{job}", 200, &job);
    job
}

fn wait_for(client: &Client, number: u64, state: &str) -> Value {
    wait_until(state, || job(client, number)["state"] == state);
    job(client, number)
}

#[test]
fn faults_are_tried_as_the_workbench_does() {
    let client = server();
    for (parts, limit) in [("all", 100), ("cables", 1), ("switches", 10_000)] {
        let number = begin(&client, &json!({ "kind": "whatif", "parts": parts, "limit": limit }));
        let done = wait_for(&client, number, "done");
        let request = WhatIfRequest::new(parts, limit).unwrap();
        let twin = twin();
        let expected = what_if(twin.router(), request, &mut |_, _| ControlFlow::Continue(()));
        let mut expected = expected.unwrap();
        expected["revision"] = json!(1);
        assert_eq!(done["result"], over_text(&expected), "{parts}");
        assert_eq!(done["done"], done["total"]);
        // What is done cannot be cancelled.
        let cancelled = client.delete(&format!("/api/v1/jobs/{number}")).good();
        check_described("delete", "/api/v1/jobs/{job}", 200, &cancelled);
        assert_eq!(cancelled["cancelled"], false);
        assert_eq!(job(&client, number)["state"], "done");
    }
}

#[test]
fn jobs_are_bounded_and_can_be_cancelled() {
    // 2,744 nodes: trying all faults takes seconds.
    let client = start(options("3; 14,14,14; 1,14,14; 1,1,1"));
    let jobs = [(); 2].map(|()| begin(&client, &json!({ "kind": "whatif" })));
    let refused = client.post("/api/v1/jobs", &json!({ "kind": "whatif" }));
    assert!(refused.refusal(429).contains("two jobs"));
    // The fabric can change meanwhile.
    client.post("/api/v1/change", &json!({ "fail": ["L2-1"] })).good();
    assert_eq!(job(&client, jobs[0])["state"], "running");
    wait_until("there is progress", || {
        let job = job(&client, jobs[0]);
        let (done, total) = (job["done"].as_u64(), job["total"].as_u64());
        job["state"] != "running" || done > Some(0) && total > done
    });
    let cancel = |number: u64| client.delete(&format!("/api/v1/jobs/{number}")).good();
    let cancelled = jobs.map(cancel);
    for (number, answer) in jobs.into_iter().zip(cancelled) {
        assert_eq!(answer, json!({ "job": number, "cancelled": true }));
        let ended = wait_for(&client, number, "cancelled");
        assert_eq!(ended["result"], Value::Null);
    }
    wait_until("no job runs", || {
        crate::desk::metric(&client, "dmodc_serve_running_jobs") == Some(0.0)
    });
    client.delete("/api/v1/jobs/3").refusal(404);
}

#[test]
fn finished_jobs_are_forgotten_in_time() {
    let client = server();
    let numbers: Vec<u64> = (0..20)
        .map(|_| {
            let number = begin(&client, &json!({ "kind": "whatif", "parts": "switches" }));
            wait_for(&client, number, "done");
            number
        })
        .collect();
    client.get(&format!("/api/v1/jobs/{}", numbers[0])).refusal(404);
    job(&client, numbers[19]);
}

#[test]
fn wrong_jobs_are_refused() {
    let client = server();
    for body in [
        json!({}),
        json!({ "kind": "other" }),
        json!({ "kind": "whatif", "parts": "nodes" }),
        json!({ "kind": "whatif", "limit": 0 }),
        json!({ "kind": "whatif", "limit": 10_001 }),
        json!({ "kind": "whatif", "extra": 1 }),
    ] {
        client.post("/api/v1/jobs", &body).refusal(400);
    }
}
