//! Server-sent events.

use std::io::{BufReader, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::desk::{check_described, fail, metric, repair, server, wait_until, without_time};
use crate::http::{Client, read_chunk, read_head};

/// A client that listens.
struct Listener {
    reader: BufReader<TcpStream>,
    text: String,
}

/// An event of the stream.
struct Heard {
    name: String,
    data: Value,
}

impl Listener {
    fn new(client: &Client) -> Self {
        let mut stream = client.connect();
        let head = client.head("GET", "/api/v1/stream") + "\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let (status, headers) = read_head(&mut reader).unwrap();
        assert_eq!(status, 200);
        assert!(headers.contains(&("content-type".into(), "text/event-stream".into())));
        Listener { reader, text: String::new() }
    }

    fn next(&mut self) -> Heard {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let mut lines = block.lines();
                    lines
                        .find_map(|line| line.strip_prefix(name))
                        .map(|text| text.trim().to_owned())
                };
                let heard = field("event:").zip(field("data:"));
                self.text = rest.to_owned();
                if let Some((name, data)) = heard {
                    return Heard { name, data: serde_json::from_str(&data).unwrap() };
                }
                continue;
            }
            let chunk = read_chunk(&mut self.reader).expect("the stream goes on");
            self.text += &String::from_utf8(chunk).unwrap();
        }
    }

    /// Returns the data of the next event of a name.
    fn next_called(&mut self, name: &str) -> Value {
        loop {
            let heard = self.next();
            if heard.name == name {
                return heard.data;
            }
        }
    }
}

#[test]
fn the_state_comes_first_and_then_what_happens() {
    let client = server();
    client.get("/api/v1/judgement").good();
    let mut listener = Listener::new(&client);
    let first = listener.next();
    assert_eq!(first.name, "state");
    assert_eq!(first.data["revision"], 1);
    let answer = client.post("/api/v1/change", &fail("L2-1")).good();
    // The news that the first state is judged may come a little later than the judgement itself.
    let mut second = listener.next();
    if second.name == "judged" {
        assert_eq!(second.data["revision"], 1);
        second = listener.next();
    }
    assert_eq!(second.name, "state");
    assert_eq!(without_time(second.data.clone()), without_time(answer));
    check_described("get", "/api/v1/state", 200, &second.data);
    let judged = listener.next();
    assert_eq!(judged.name, "judged");
    assert_eq!(judged.data["revision"], 2);
    check_described("get", "/api/v1/judgement", 200, &judged.data);
    assert_eq!(judged.data, client.get("/api/v1/judgement").good());
    let number = client.post("/api/v1/jobs", &json!({ "kind": "whatif" })).good()["job"].clone();
    loop {
        let job = listener.next_called("job");
        check_described("get", "/api/v1/jobs/{job}", 200, &job);
        assert_eq!((&job["job"], &job["result"]), (&number, &Value::Null));
        if job["state"] == "done" {
            break;
        }
    }
}

#[test]
fn a_client_that_never_reads_stalls_nobody() {
    let client = server();
    let silent: Vec<Listener> = (0..4).map(|_| Listener::new(&client)).collect();
    let mut slow = Listener::new(&client);
    for step in 0..200 {
        let body = if step % 2 == 0 { fail("L2-1") } else { repair("L2-1") };
        client.post("/api/v1/change", &body).good();
    }
    assert_eq!(metric(&client, "dmodc_serve_listeners"), Some(5.0));
    // Who was too slow loses events, but not the last state.
    loop {
        if slow.next_called("state")["revision"] == 201 {
            break;
        }
    }
    drop(silent);
}

#[test]
fn a_client_that_vanishes_is_forgotten() {
    let client = server();
    let listeners: Vec<Listener> = (0..8).map(|_| Listener::new(&client)).collect();
    assert_eq!(metric(&client, "dmodc_serve_listeners"), Some(8.0));
    drop(listeners);
    wait_until("nobody listens", || metric(&client, "dmodc_serve_listeners") == Some(0.0));
}

#[test]
fn listeners_are_bounded() {
    let client = server();
    let listeners: Vec<Listener> = (0..128).map(|_| Listener::new(&client)).collect();
    client.get("/api/v1/stream").refusal(503);
    // There is room for everything else.
    client.post("/api/v1/change", &fail("L2-1")).good();
    drop(listeners);
    wait_until("nobody listens", || metric(&client, "dmodc_serve_listeners") == Some(0.0));
    client.get("/api/v1/stream?other=1").refusal(400);
    assert_eq!(Listener::new(&client).next().name, "state");
}
