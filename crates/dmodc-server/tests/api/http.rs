//! A small client for HTTP, which also sends what no proper client would.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long an answer is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| &**value)
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{}: {error}: {}", self.status, self.text()))
    }

    /// Returns the JSON of an answer that is no refusal.
    pub(crate) fn good(&self) -> Value {
        assert!((200..300).contains(&self.status), "{}: {}", self.status, self.text());
        self.json()
    }

    /// Returns the reason of a refusal.
    pub(crate) fn refusal(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.header("content-type"), Some("application/json"));
        let body = self.json();
        assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
        body["error"].as_str().unwrap().to_owned()
    }
}

/// A server as a client sees it.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    /// Headers that all requests have, besides those that they must have.
    pub(crate) headers: Vec<(String, String)>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Client { address, headers: vec![] }
    }

    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.push((name.into(), value.into()));
        client
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Returns the head of a request.
    pub(crate) fn head(&self, method: &str, path: &str) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            head += &format!("Host: {}\r\n", self.address);
        }
        for (name, value) in &self.headers {
            head += &format!("{name}: {value}\r\n");
        }
        head
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&[u8]>) -> Answer {
        let mut request = self.head(method, path).into_bytes();
        let body = body.unwrap_or(&[]);
        if !body.is_empty() || matches!(method, "POST" | "PUT") {
            request.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
        }
        request.extend_from_slice(b"\r\n");
        request.extend_from_slice(body);
        self.raw(&request).unwrap_or_else(|| panic!("{method} {path}: no answer"))
    }

    /// Sends bytes, and returns the answer if there is one.
    pub(crate) fn raw(&self, request: &[u8]) -> Option<Answer> {
        let mut stream = self.connect();
        // A server that refuses a long request need not read all of it.
        let _ = stream.write_all(request);
        read_answer(stream)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None)
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.json_request("POST", path, body.to_string().as_bytes())
    }

    pub(crate) fn put(&self, path: &str, body: &Value) -> Answer {
        self.json_request("PUT", path, body.to_string().as_bytes())
    }

    pub(crate) fn json_request(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        self.with("Content-Type", "application/json").send(method, path, Some(body))
    }
}

/// Returns an answer; `None` if the connection ends without one.
pub(crate) fn read_answer(stream: TcpStream) -> Option<Answer> {
    let mut reader = BufReader::new(stream);
    let (status, headers) = read_head(&mut reader)?;
    let mut answer = Answer { status, headers, body: vec![] };
    let length = answer.header("content-length").map(|length| length.parse::<usize>().unwrap());
    if answer.header("transfer-encoding") == Some("chunked") {
        while let Some(chunk) = read_chunk(&mut reader) {
            answer.body.extend_from_slice(&chunk);
        }
    } else {
        // The connection may be reset after the answer.
        let _ = reader.read_to_end(&mut answer.body);
        // An answer to HEAD has the length of the body, and no body.
        let is_whole = |length| answer.body.len() == length || answer.body.is_empty();
        assert!(length.is_none_or(is_whole), "{answer:?}");
    }
    Some(answer)
}

/// Returns the status and the headers of an answer.
pub(crate) fn read_head(reader: &mut impl BufRead) -> Option<(u16, Vec<(String, String)>)> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let status = line.split(' ').nth(1).unwrap().trim().parse().unwrap();
    let mut headers = vec![];
    loop {
        line.clear();
        reader.read_line(&mut line).unwrap();
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_lowercase(), value.trim().to_owned())),
            None => return Some((status, headers)),
        }
    }
}

/// Returns the next piece of a body in pieces; `None` after the last.
pub(crate) fn read_chunk(reader: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let length = usize::from_str_radix(line.trim_end(), 16).unwrap();
    let mut chunk = vec![0; length + 2];
    reader.read_exact(&mut chunk).ok()?;
    chunk.truncate(length);
    (length > 0).then_some(chunk)
}

/// Returns a text as a part of an address.
pub(crate) fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}
