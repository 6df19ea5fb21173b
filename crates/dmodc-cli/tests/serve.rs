//! `dmodc serve` as a process: its output, its history after `kill -9`, its errors.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

#[path = "../../dmodc-server/tests/api/http.rs"]
#[allow(dead_code, reason = "only a part of it is used here")]
mod http;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use http::{Client, read_head};
use serde_json::{Value, json};

const DMODC: &str = env!("CARGO_BIN_EXE_dmodc");
const PRESET: [&str; 4] = ["--preset", "paper-figure-1", "--port", "0"];

fn serve(arguments: &[&str]) -> Command {
    let mut command = Command::new(DMODC);
    command.arg("serve").args(PRESET).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_remove("DMODC_TOKEN");
    command
}

/// A server that runs.
struct Served {
    child: Child,
    client: Client,
    /// What it printed after its address.
    output: BufReader<std::process::ChildStdout>,
}

impl Served {
    fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").and_then(|text| text.parse().ok());
        let Some(address) = address else {
            let output = child.wait_with_output().unwrap();
            panic!("{line}: {}", String::from_utf8_lossy(&output.stderr));
        };
        Served { child, client: Client::new(address), output }
    }

    /// Kills it with signal 9, and returns what it printed.
    fn kill(mut self) -> String {
        self.child.kill().unwrap();
        let mut text = String::new();
        self.output.read_to_string(&mut text).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Numbers that look random (xorshift).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Sends changes over one connection until the server is gone. Returns the events that it acknowledged.
fn change_until_killed(client: &Client) -> Vec<Value> {
    let mut acknowledged = vec![];
    let mut reader = BufReader::new(client.connect());
    for step in 0_u64.. {
        let (name, body) = match step % 3 {
            2 => ("undo", json!({})),
            _ => ("random", json!({ "cables": "2", "seed": step })),
        };
        match send(&mut reader, client, name, &body.to_string()) {
            Some((200, state)) => acknowledged.push(state["event"].clone()),
            Some((status, answer)) => panic!("{status}: {answer}"),
            None => break,
        }
    }
    acknowledged
}

fn send(
    reader: &mut BufReader<TcpStream>,
    client: &Client,
    name: &str,
    body: &str,
) -> Option<(u16, Value)> {
    let head = format!(
        "POST /api/v1/{name} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        client.address,
        body.len()
    );
    reader.get_mut().write_all((head + body).as_bytes()).ok()?;
    let (status, headers) = read_head(reader)?;
    let length = headers.iter().find(|(name, _)| name == "content-length")?.1.parse().ok()?;
    let mut answer = vec![0; length];
    reader.read_exact(&mut answer).ok()?;
    // An answer that is cut off is no acknowledgement.
    Some((status, serde_json::from_slice(&answer).unwrap()))
}

/// Returns what never changes about an event: the judgement comes later.
fn lasting(event: &Value) -> Value {
    let mut event = event.clone();
    event.as_object_mut().unwrap().remove("judgement");
    event
}

#[test]
fn acknowledged_events_survive_being_killed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.redb");
    let start = || Served::start(serve(&["--history", file.to_str().unwrap()]));
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut acknowledged: BTreeMap<u64, Value> = BTreeMap::new();
    let mut in_flight = 0;
    for round in 0..10 {
        let server = start();
        check_history(&server.client, &acknowledged, in_flight + round + 1);
        let client = server.client.clone();
        let sender = std::thread::spawn(move || change_until_killed(&client));
        std::thread::sleep(Duration::from_millis(5 + numbers.below(250)));
        server.kill();
        for event in sender.join().unwrap() {
            let sequence = event["sequence"].as_u64().unwrap();
            let event = lasting(&event);
            // A change that changes nothing answers with the last event.
            let before = acknowledged.insert(sequence, event.clone());
            assert!(before.is_none_or(|before| before == event), "round {round}: {sequence} twice");
        }
        in_flight += 1;
    }
    assert!(acknowledged.len() > 20, "only {} changes were made", acknowledged.len());
    check_history(&start().client, &acknowledged, in_flight + 11);
}

/// Checks that the history has every acknowledged event, and at most `others` more: one for each start, and one for each
/// change that was being made when the server was killed.
fn check_history(client: &Client, acknowledged: &BTreeMap<u64, Value>, others: usize) {
    let lines = client.get("/api/v1/export/events");
    let events: Vec<Value> =
        lines.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sequences: Vec<u64> = events.iter().map(|e| e["sequence"].as_u64().unwrap()).collect();
    assert_eq!(sequences, (1..=events.len() as u64).collect::<Vec<u64>>(), "no gap, no reuse");
    for (&sequence, event) in acknowledged {
        let kept = events.get(sequence as usize - 1);
        assert_eq!(kept.map(lasting).as_ref(), Some(event), "{sequence}");
    }
    assert!(events.len() <= acknowledged.len() + others, "{} events", events.len());
    let starts = events.iter().filter(|event| event["origin"] == "start").count();
    assert!(starts <= others, "{starts}");
}

fn fails(command: &mut Command) -> String {
    let Output { status, stderr, stdout } = command.output().unwrap();
    let text = String::from_utf8(stderr).unwrap();
    assert_eq!(status.code(), Some(2), "{text}");
    assert!(stdout.is_empty(), "it says an address and ends");
    text
}

#[test]
fn a_history_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let other = path("other");
    std::fs::write(&other, "some other file").unwrap();
    for place in [&path("no/such/folder/history"), &path(""), &other] {
        let error = fails(&mut serve(&["--history", place]));
        assert!(error.contains(&**place) && error.contains("history"), "{error}");
    }
    assert_eq!(std::fs::read_to_string(&other).unwrap(), "some other file");
    // Two servers cannot use one file.
    let file = path("used");
    let first = Served::start(serve(&["--history", &file]));
    let error = fails(&mut serve(&["--history", &file]));
    assert!(error.contains("another program uses it"), "{error}");
    first.kill();
}

/// A limit for the size of files is what a full disk is: a write fails.
#[test]
fn a_full_disk_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.redb");
    let mut limited = Command::new("sh");
    let script = "trap '' XFSZ; ulimit -f 8; exec \"$@\"";
    limited.args(["-c", script, "sh", DMODC, "serve"]).args(PRESET);
    limited.arg("--history").arg(&file).stdin(Stdio::null());
    let error = fails(&mut limited);
    assert!(error.contains(file.to_str().unwrap()), "{error}");
}

#[test]
fn the_token_is_never_shown() {
    let token = "a-secret.that+nobody/sees=";
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, format!("{token}\nmore\n")).unwrap();
    let by_file = serve(&["--history", "none", "--token-file", file.to_str().unwrap()]);
    let mut by_environment = serve(&["--history", "none", "--listen", "0.0.0.0"]);
    by_environment.env("DMODC_TOKEN", token);
    for command in [by_file, by_environment] {
        let mut server = Served::start(command);
        server.client.address.set_ip([127, 0, 0, 1].into());
        let client = &server.client;
        assert_eq!(client.get("/api/v1/state").status, 401);
        assert_eq!(client.get(&format!("/?token={token}x")).status, 401);
        assert_eq!(client.get(&format!("/?token={token}")).status, 303);
        let bearer = client.with("Authorization", &format!("Bearer {token}"));
        for path in [
            "/",
            "/api/v1/state",
            "/api/v1/events",
            "/metrics",
            "/api/v1/export/report",
            "/openapi.json",
        ] {
            let answer = bearer.get(path);
            assert_eq!(answer.status, 200, "{path}");
            assert!(!answer.text().contains(token), "{path}");
        }
        let output = server.kill();
        assert!(!output.contains(token), "{output}");
    }
    for (text, words) in [("short", "at least 16"), ("with some spaces in it", "letters, figures")]
    {
        let error = fails(serve(&["--history", "none"]).env("DMODC_TOKEN", text));
        assert!(error.contains(words) && !error.contains(text), "{error}");
    }
    let error = fails(&mut serve(&["--history", "none", "--listen", "0.0.0.0"]));
    assert!(error.contains("token"), "{error}");
}

#[test]
fn a_port_in_use_is_an_error() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let mut command = Command::new(DMODC);
    command.args(["serve", "--preset", "paper-figure-1", "--history", "none", "--port", &port]);
    assert!(fails(&mut command).contains("cannot listen"));
}
