//! Every question, compared with the answer of a workbench without a server.

use dmodc_view::cabling::CablingRequest;
use dmodc_view::compare::{SideRequest, compare};
use dmodc_view::job_order::{HostSelection, JobRequest};
use dmodc_view::{PageEngine, Parameters, Question, Workbench};
use serde_json::{Value, json};

use crate::desk::{check_described, fail, over_text, server, twin, twin_change, without_time};
use crate::http::{Client, encoded};

/// A server and its twin, both with faults.
fn broken() -> (Client, Workbench) {
    let (client, mut twin) = (server(), twin());
    for part in ["L2-1", "L1-0/5"] {
        let state = twin_change(&mut twin, "change", &fail(part));
        let answer = client.post("/api/v1/change", &fail(part)).good();
        assert_eq!(without_time(answer), without_time(state), "{part}");
    }
    (client, twin)
}

/// Asks both, and returns the answer.
fn ask(
    client: &Client,
    twin: &Workbench,
    question: Question,
    parameters: &[(&str, &str)],
) -> Value {
    let query: Vec<String> =
        parameters.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    let path = format!("/api/v1/{}", question.name());
    let answer = client.get(&format!("{path}?{}", query.join("&"))).good();
    let pairs = parameters.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let expected = twin.answer(question, Parameters::of_pairs(pairs).unwrap()).unwrap();
    assert_eq!(answer, over_text(&expected), "{path}?{}", query.join("&"));
    check_described("get", &path, 200, &answer);
    answer
}

#[test]
fn questions_have_the_answers_of_the_workbench() {
    let (client, twin) = broken();
    let scene = ask(&client, &twin, Question::Scene, &[]);
    assert_eq!(scene["nodes"], 64);
    let judgement = ask(&client, &twin, Question::Judgement, &[]);
    assert_eq!(judgement["revision"], 3);
    for pattern in ["a2a", "sp", "rp", "shift:3", "perm:7"] {
        let loads = ask(&client, &twin, Question::Loads, &[("pattern", pattern)]);
        assert!(loads["max"].as_f64() >= loads["bound"].as_f64(), "{pattern}");
    }
    ask(&client, &twin, Question::Loads, &[("pattern", "shift:3"), ("measure", "rate")]);
    for name in ["L1-0", "L2-1", "L1-0/5", "L1-1/5", "node-3", "L1-0/1"] {
        ask(&client, &twin, Question::Part, &[("name", name)]);
    }
    let found = ask(&client, &twin, Question::Search, &[("q", "node-1"), ("limit", "3")]);
    assert_eq!(found["found"].as_array().unwrap().len(), 3);
    assert_eq!(found["total"], 11);
    let nothing = ask(&client, &twin, Question::Search, &[("q", "no such thing")]);
    assert_eq!(nothing, json!({ "found": [], "total": 0 }));
    for (from, to) in
        [("node-0", "node-63"), ("node-5", "L3-0"), ("L1-2", "node-1"), ("node-1", "node-1")]
    {
        let path = ask(&client, &twin, Question::Path, &[("from", from), ("to", to)]);
        assert_eq!(path["there"]["delivered"], true, "{from} {to}");
    }
    let users = ask(&client, &twin, Question::Destinations, &[("cable", "L1-1/5"), ("limit", "2")]);
    assert!(users["ends"][0]["total"].as_u64() > Some(2));
}

#[test]
fn the_state_is_that_of_the_workbench() {
    let (client, twin) = broken();
    let state = client.get("/api/v1/state").good();
    assert_eq!(without_time(state.clone()), without_time(crate::desk::twin_state(&twin)));
    check_described("get", "/api/v1/state", 200, &state);
    assert_eq!(state["failed"]["switches"].as_array().unwrap().len(), 1);
    assert_eq!(state["failed"]["cables"].as_array().unwrap().len(), 1);
}

/// With nothing left alive there are no ports, no pairs, and nothing to divide by.
#[test]
fn a_dead_fabric_has_answers_too() {
    let (client, mut twin) = (server(), twin());
    let all = json!({ "switches": "100%", "any_switch": true });
    twin_change(&mut twin, "random", &all);
    let state = client.post("/api/v1/random", &all).good();
    check_described("post", "/api/v1/random", 200, &state);
    for question in [Question::Scene, Question::Judgement, Question::Loads] {
        ask(&client, &twin, question, &[]);
    }
    ask(&client, &twin, Question::Part, &[("name", "L1-0")]);
    ask(&client, &twin, Question::Path, &[("from", "node-0"), ("to", "node-9")]);
    for export in ["tables", "fabric", "report", "scenario", "events"] {
        assert_eq!(client.get(&format!("/api/v1/export/{export}")).status, 200, "{export}");
    }
    let order = client.post("/api/v1/order", &json!({ "hosts": "all" }));
    assert!(order.status < 500, "{}", order.text());
}

#[test]
fn comparisons_are_those_of_the_workbench() {
    let (client, twin) = broken();
    let sides = [
        json!({ "left": { "now": true }, "right": { "engine": "stable" } }),
        json!({ "left": { "sequence": 1 }, "right": {} }),
        json!({ "left": { "sequence": 2, "engine": "paper" }, "right": { "engine": "random" } }),
    ];
    for body in sides {
        let answer = client.post("/api/v1/compare", &body).good();
        check_described("post", "/api/v1/compare", 200, &answer);
        let side = |name: &str| {
            let request: SideRequest = serde_json::from_value(body[name].clone()).unwrap();
            // The events so far: the start, a switch, a cable.
            let moment = |sequence| {
                let failed = ["L2-1", "L1-0/5"].map(str::to_owned);
                Ok(("dmodc".into(), failed[..sequence as usize - 1].to_vec()))
            };
            twin.side(&request, moment).unwrap()
        };
        let expected = compare(twin.setup(), side("left"), side("right")).unwrap();
        assert_eq!(answer, over_text(&expected), "{body}");
    }
    let answer =
        client.post("/api/v1/compare", &json!({ "left": { "sequence": 99 }, "right": {} }));
    assert!(answer.refusal(404).contains("no event 99"));
    let whole = json!({ "left": { "engine": PageEngine::Dmodk }, "right": {} });
    assert!(client.post("/api/v1/compare", &whole).refusal(409).contains("PGFT"));
}

#[test]
fn cables_are_compared_with_the_intended_ones() {
    let (client, twin) = broken();
    let whole = String::from_utf8(crate::desk::twin().fabric_text()).unwrap();
    for intended in ["inferred", &*whole] {
        let answer =
            client.post("/api/v1/compare-cabling", &json!({ "intended": intended })).good();
        check_described("post", "/api/v1/compare-cabling", 200, &answer);
        let request = CablingRequest { intended: intended.into() };
        assert_eq!(answer, over_text(&twin.compare_cabling(&request).unwrap()));
        assert_eq!(answer["equal"], intended == "inferred");
    }
    let wrong = client.post("/api/v1/compare-cabling", &json!({ "intended": "no fabric" }));
    assert!(wrong.refusal(400).contains("intended"));
}

#[test]
fn jobs_are_ordered_as_the_workbench_does() {
    let (client, twin) = broken();
    let names = ["node-9", "node-1", "node-33", "node-2"].map(str::to_owned).to_vec();
    for choose in [None, Some(3)] {
        let body = json!({ "hosts": names, "choose": choose });
        let answer = client.post("/api/v1/order", &body).good();
        check_described("post", "/api/v1/order", 200, &answer);
        let request = JobRequest { hosts: HostSelection::Names(names.clone()), choose };
        assert_eq!(answer, over_text(&twin.order(&request).unwrap()));
        assert_eq!(answer["hosts"].as_array().unwrap().len(), choose.unwrap_or(4));
    }
    let answer = client.post("/api/v1/order", &json!({ "hosts": "all", "choose": 8 })).good();
    assert_eq!(answer["hosts"].as_array().unwrap().len(), 8);
    for (body, status) in [
        (json!({ "hosts": ["nobody"] }), 404),
        (json!({ "hosts": [] }), 400),
        (json!({ "hosts": "some" }), 400),
        (json!({ "hosts": ["node-1", "node-1"] }), 400),
        (json!({ "hosts": "all", "choose": 65 }), 400),
    ] {
        client.post("/api/v1/order", &body).refusal(status);
    }
}

#[test]
fn what_is_not_there_is_not_found() {
    let client = server();
    for path in [
        "/api/v1/part?name=nothing",
        "/api/v1/path?from=node-0&to=nothing",
        "/api/v1/destinations?cable=nothing",
        "/api/v1/nothing",
        "/api/v1/",
        "/api/v1",
        "/api/v2/state",
        "/nothing.js",
        "/a/b/c",
        "/api/v1/jobs/1",
        "/api/v1/jobs/-1",
        "/api/v1/jobs/99999999999999999999999",
    ] {
        client.get(path).refusal(404);
    }
}

#[test]
fn the_page_and_its_files_are_there() {
    let client = server();
    for (path, media) in [
        ("/", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/main.js", "text/javascript; charset=utf-8"),
        ("/style.css", "text/css; charset=utf-8"),
        ("/openapi.json", "application/json"),
        ("/healthz", "application/json"),
    ] {
        let answer = client.get(path);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(media)), "{path}");
        let head = client.send("HEAD", path, None);
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
    }
    let openapi = client.get("/openapi.json").json();
    assert_eq!(openapi["openapi"], "3.1.0");
    check_described("get", "/healthz", 200, &client.get("/healthz").json());
}
