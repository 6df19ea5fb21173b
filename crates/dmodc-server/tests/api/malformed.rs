//! What no proper client sends. The answer is a refusal with a reason wherever HTTP allows one, and the server lives on.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::desk::{server, wait_until};
use crate::http::{Answer, Client};

fn is_alive(client: &Client) {
    client.get("/healthz").good();
    client.get("/api/v1/state").good();
}

#[test]
fn wrong_bodies_are_refused() {
    let client = server();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_field = format!("{{\"fail\": {deep}}}");
    let bodies: [&[u8]; 16] = [
        b"",
        b"{",
        b"null",
        b"[]",
        b"[[], []]",
        b"7",
        b"\"fail\"",
        b"{\"fail\": \"L2-1\"}",
        b"{\"fail\": [1]}",
        b"{\"fail\": null}",
        b"{\"fail\": [], \"other\": 1}",
        b"{\"fail\": [], \"fail\": []} x",
        b"{\"fail\": [\"\xff\xfe\"]}",
        b"\0",
        deep.as_bytes(),
        deep_field.as_bytes(),
    ];
    for address in
        ["change", "random", "engine", "scenario", "order", "compare", "compare-cabling", "jobs"]
    {
        for body in bodies {
            let answer = client.json_request("POST", &format!("/api/v1/{address}"), body);
            let shown = String::from_utf8_lossy(&body[..body.len().min(40)]);
            assert_eq!(answer.status, 400, "{address} {shown}: {}", answer.text());
            answer.refusal(400);
        }
    }
    for address in ["undo", "redo", "reset", "scenarios/x/load"] {
        for body in [&b"null"[..], b"[]", b"{\"x\": 1}", b"", b"{"] {
            client.json_request("POST", &format!("/api/v1/{address}"), body).refusal(400);
        }
    }
    client.put("/api/v1/scenarios/x", &json!({ "x": 1 })).refusal(400);
    for sides in [
        json!({ "left": [], "right": {} }),
        json!({ "left": {}, "right": [null, null, null] }),
        json!({ "left": {} }),
    ] {
        client.post("/api/v1/compare", &sides).refusal(400);
    }
    is_alive(&client);
}

#[test]
fn wrong_parameters_are_refused() {
    let client = server();
    for path in [
        "state?x=1",
        "state?",
        "scene?x",
        "judgement?limit=1",
        "search",
        "search?q=",
        "search?q=a&limit=0",
        "search?q=a&limit=1001",
        "search?q=a&limit=x",
        "search?q=a&q=b",
        "search?q=a&limit=1&limit=1",
        "part",
        "path?from=node-0",
        "destinations?cable=L1-0",
        "destinations?cable=L1-0/1",
        "loads?pattern=other",
        "loads?pattern=shift:",
        "loads?pattern=shift:-1",
        "loads?pattern=perm:99999999999999999999999",
        "loads?measure=other",
        "loads?measure=rate",
        "events?before=-1",
        "events?before=18446744073709551616",
        "events?limit=1e3",
        "export/tables?x=1",
        "export/events?before=1",
        "scenarios?x=1",
        "stream?x=1",
    ] {
        let answer = client.get(&format!("/api/v1/{path}"));
        match path {
            "state?" => drop(answer.good()),
            _ => drop(answer.refusal(400)),
        }
    }
    client.get("/metrics?x=1").refusal(400);
    is_alive(&client);
}

#[test]
fn wrong_methods_are_refused() {
    let client = server();
    for (method, path) in [
        ("POST", "/api/v1/state"),
        ("POST", "/api/v1/scene"),
        ("GET", "/api/v1/undo"),
        ("DELETE", "/api/v1/state"),
        ("PATCH", "/api/v1/scenarios/x"),
        ("PUT", "/api/v1/change"),
        ("TRACE", "/"),
        ("OPTIONS", "/api/v1/state"),
        ("POST", "/"),
        ("POST", "/metrics"),
        ("BREW", "/api/v1/state"),
        ("GET", "/api/v1/scenarios/x/load"),
    ] {
        let answer = client.send(method, path, None);
        let allowed = answer.header("allow").unwrap_or("").to_owned();
        answer.refusal(405);
        assert!(!allowed.is_empty() && !allowed.contains(method), "{method} {path}: {allowed}");
    }
    is_alive(&client);
}

#[test]
fn strange_addresses_are_refused() {
    let client = server();
    for path in [
        "/%ff",
        "/%FF%FE.js",
        "/api/v1/scenarios/%ff",
        "/api/v1/%c3%28",
        "/api/v1/jobs/%80",
        "/%00",
        "/%",
        "/%zz",
        "/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/../../../../etc/passwd",
        "/..%2f..%2fCargo.toml",
        "//etc/passwd",
        "/api/v1/part?name=%ff%fe",
        "/api/v1/part?name=%00",
        "/api/v1/part?name=%",
        "/api/v1/part?name=%zz&%%%",
        "/api/v1/path?from=%0d%0aSet-Cookie:x&to=a",
        "/api/v1/search?q=%F0%9F%98%80&limit=%00",
        "/api/v1/events?before=%31%ff",
        "http://evil.example/api/v1/nothing",
        "*",
    ] {
        let answer = client.get(path);
        assert!((400..500).contains(&answer.status), "{path}: {}", answer.status);
        answer.refusal(answer.status);
    }
    // Texts that are odd, but texts.
    client.get("/api/v1/search?q=%ff%00").good();
    is_alive(&client);
}

/// Whether an answer is a refusal; without an answer the connection was closed.
fn is_refused(answer: Option<&Answer>) -> bool {
    answer.is_none_or(|answer| (400..500).contains(&answer.status))
}

#[test]
fn what_is_no_http_is_refused() {
    let client = server();
    let long = "x".repeat(200_000);
    let many: String = (0..300).map(|at| format!("X-{at}: y\r\n")).collect();
    let host = format!("Host: {}", client.address);
    for request in [
        "\r\n\r\n\r\n".to_owned(),
        "hello\r\n\r\n".to_owned(),
        "GET\r\n\r\n".to_owned(),
        "GET / HTTP/9.9\r\n\r\n".to_owned(),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0".repeat(20),
        format!("GET /a\0b HTTP/1.1\r\n{host}\r\n\r\n"),
        format!("GET /{long} HTTP/1.1\r\n{host}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{host}\r\nX: {long}\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{host}\r\n{many}\r\n"),
        format!("GET / HTTP/1.1\r\n{host}\r\nX\0Y: 1\r\n\r\n"),
        format!("GET / HTTP/1.1\r\n{host}\r\nno header\r\n\r\n"),
        format!("POST /api/v1/undo HTTP/1.1\r\n{host}\r\nContent-Length: -1\r\n\r\n"),
        format!(
            "POST /api/v1/undo HTTP/1.1\r\n{host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{{}}"
        ),
        format!(
            "POST /api/v1/undo HTTP/1.1\r\n{host}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
        ),
        "GET / HTTP/1.0\r\n\r\n".to_owned(),
    ] {
        let answer = client.raw(request.as_bytes());
        let shown: String = request.chars().take(60).collect();
        assert!(is_refused(answer.as_ref()), "{shown:?}: {answer:?}");
    }
    // A part of the path that is no text.
    let head = [b"GET /\xff\xfe HTTP/1.1\r\n".as_slice(), host.as_bytes(), b"\r\n\r\n"].concat();
    assert!(is_refused(client.raw(&head).as_ref()));
    is_alive(&client);
}

#[test]
fn large_bodies_are_refused() {
    let client = server();
    let of = |length: usize| format!("{{\"x\": \"{}\"}}", "x".repeat(length)).into_bytes();
    for (address, limit) in [("change", 1 << 20), ("order", 4 << 20), ("scenario", 16 << 20)] {
        let path = format!("/api/v1/{address}");
        client.json_request("POST", &path, &of(limit - 100)).refusal(400);
        let answer = client.with("Content-Type", "application/json");
        // The length alone is enough: nothing of the body is waited for.
        let head = format!("{}Content-Length: {}\r\n\r\n", answer.head("POST", &path), limit + 1);
        answer.raw(head.as_bytes()).unwrap().refusal(413);
        // A body in pieces does not say its length.
        let head = answer.head("POST", &path) + "Transfer-Encoding: chunked\r\n\r\n";
        let body = of(limit + 10);
        let mut request = head.into_bytes();
        request.extend_from_slice(format!("{:x}\r\n", body.len()).as_bytes());
        request.extend_from_slice(&body);
        request.extend_from_slice(b"\r\n0\r\n\r\n");
        // The server stops reading, and the rest of the body may reset the connection before the answer is read.
        let answer = client.raw(&request);
        assert!(answer.is_none_or(|answer| answer.status == 413), "{address}");
    }
    is_alive(&client);
}

/// Names are searched for without a lock, so that a list of them stalls nobody.
#[test]
fn long_lists_of_names_are_taken() {
    let client = server();
    let names: Vec<&str> = std::iter::repeat_n(["L2-1", "L1-0/5"], 30_000).flatten().collect();
    let state = client.post("/api/v1/change", &json!({ "fail": names })).good();
    assert_eq!(state["event"]["failed_count"], 2);
    let mut unknown = names;
    unknown.push("nothing");
    client.post("/api/v1/change", &json!({ "repair": unknown })).refusal(404);
}

#[test]
fn half_requests_and_many_connections_are_survived() {
    let client = server();
    let start = Instant::now();
    let mut half = client.connect();
    half.write_all(b"GET /api/v1/state HTTP/1.1\r\nHost: loc").unwrap();
    let mut body = client.connect();
    let head = client.with("Content-Type", "application/json").head("POST", "/api/v1/undo");
    body.write_all(format!("{head}Content-Length: 100\r\n\r\n{{").as_bytes()).unwrap();
    let silent = client.connect();
    is_alive(&client);
    // More connections than there may be: those over the limit are closed, and the server lives on.
    let many: Vec<_> = (0..300).map(|_| client.connect()).collect();
    let is_closed = |mut stream: &std::net::TcpStream| {
        stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        match stream.read(&mut [0]) {
            Ok(count) => count == 0,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    };
    let closed = many.iter().filter(|stream| is_closed(stream));
    assert!(closed.count() >= 300 - 256);
    drop(many);
    wait_until("there is room again", || {
        client
            .raw(format!("{}\r\n", client.head("GET", "/healthz")).as_bytes())
            .is_some_and(|answer| answer.status == 200)
    });
    // A head that does not come is given up.
    let mut rest = vec![];
    half.read_to_end(&mut rest).unwrap();
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    drop((body, silent));
    is_alive(&client);
}
