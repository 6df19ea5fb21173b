//! A running `dmodc serve`, and a small client for it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::desk::{DMODC, Desk};

/// A server. It ends with this value.
pub(crate) struct Served {
    process: Child,
    pub(crate) address: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Served {
    /// Starts a server at a free port. Unless the arguments name a history, it is kept in memory.
    pub(crate) fn start(desk: &Desk, args: &[&str]) -> Self {
        Served::start_at(desk, args, 0)
    }

    pub(crate) fn start_at(desk: &Desk, args: &[&str], port: u16) -> Self {
        let mut command = Command::new(DMODC);
        command.arg("serve").args(args).args(["--port", &port.to_string()]);
        if !args.contains(&"--history") {
            command.args(["--history", "none"]);
        }
        command.current_dir(desk.folder.path()).stdout(Stdio::piped()).env_remove("DMODC_TOKEN");
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().to_owned();
        assert!(address.starts_with("http://127.0.0.1:"), "the first line is the address: {line}");
        Served { process, address }
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.rsplit_once(':').unwrap().1.parse().unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        self.ask("GET", path, None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Value {
        self.ask("POST", path, Some(body))
    }

    #[track_caller]
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let body = body.map_or(String::new(), Value::to_string);
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{method} {path}: {answer}");
        serde_json::from_str(body).unwrap_or_else(|_| json!(body))
    }
}
