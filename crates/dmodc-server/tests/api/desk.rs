//! Servers for tests, and what their answers are compared with.

use std::net::SocketAddr;
use std::sync::OnceLock;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use dmodc::{Pgft, RoutingOptions};
use dmodc_server::history::HistoryLimits;
use dmodc_server::{ServeOptions, Token, serve};
use dmodc_view::call::change_request;
use dmodc_view::{PageEngine, Setup, Workbench};
use serde_json::{Value, json};

use crate::http::Client;
use crate::validator;

/// 64 nodes, 16 leaves, three levels.
pub(crate) const SMALL: &str = "3; 4,4,4; 1,2,2; 1,2,1";

pub(crate) fn setup(shape: &str) -> Setup {
    let fabric = shape.parse::<Pgft>().unwrap().fabric(Default::default());
    Setup::inferred("a fabric".into(), fabric, &RoutingOptions::default())
}

pub(crate) fn options(shape: &str) -> ServeOptions {
    ServeOptions {
        setup: setup(shape),
        engine: PageEngine::Dmodc,
        address: "127.0.0.1:0".parse().unwrap(),
        token: None,
        history: None,
        limits: HistoryLimits::default(),
        follow: None,
    }
}

/// Starts a server, which ends with the test.
pub(crate) fn start(options: ServeOptions) -> Client {
    let (sender, address) = mpsc::channel::<SocketAddr>();
    std::thread::spawn(move || {
        serve(options, |bound| {
            sender.send(bound).unwrap();
            Ok(())
        })
        .unwrap();
    });
    Client::new(address.recv_timeout(Duration::from_secs(60)).unwrap())
}

pub(crate) fn server() -> Client {
    start(options(SMALL))
}

pub(crate) fn server_with_token(token: &str) -> Client {
    start(ServeOptions { token: Some(Token::new(token).unwrap()), ..options(SMALL) })
}

/// The same workbench without a server.
pub(crate) fn twin() -> Workbench {
    Workbench::new(setup(SMALL), PageEngine::Dmodc, || 0.0).unwrap()
}

/// Makes a change at a twin, and returns its state as a server has it.
pub(crate) fn twin_change(twin: &mut Workbench, name: &str, body: &Value) -> Value {
    twin.change(change_request(name, body.clone()).unwrap()).unwrap();
    twin_state(twin)
}

pub(crate) fn twin_state(twin: &Workbench) -> Value {
    let mut state = twin.state();
    state["follow"] = Value::Null;
    state
}

/// Returns a value as it is after a way over text, which may change the last bit of a number.
pub(crate) fn over_text(value: &Value) -> Value {
    serde_json::from_str(&value.to_string()).unwrap()
}

/// Removes what depends on the clock: times, and whether a state is judged already.
pub(crate) fn without_time(mut value: Value) -> Value {
    fn clear(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for name in ["time_ms", "milliseconds"] {
                    fields.remove(name);
                }
                if fields.contains_key("sequence") {
                    fields.remove("judgement");
                }
                fields.values_mut().for_each(clear);
            }
            Value::Array(list) => list.iter_mut().for_each(clear),
            _ => {}
        }
    }
    clear(&mut value);
    value
}

/// Checks that an answer of the API is what `openapi.json` says.
pub(crate) fn check_described(method: &str, path: &str, status: u16, answer: &Value) {
    static OPENAPI: OnceLock<Value> = OnceLock::new();
    let openapi =
        OPENAPI.get_or_init(|| serde_json::from_str(include_str!("../../openapi.json")).unwrap());
    let path = path.replace('~', "~0").replace('/', "~1");
    let response = format!("/paths/{path}/{method}/responses/{status}");
    let described = openapi.pointer(&response).unwrap_or_else(|| panic!("no {response}"));
    let place = match described["$ref"].as_str() {
        Some(place) => place.trim_start_matches('#').to_owned(),
        None => response,
    };
    let place = format!("{place}/content/application~1json/schema");
    let errors = validator::check_at(openapi, &place, answer);
    assert!(errors.is_empty(), "{method} {path}: {errors:#?}");
}

/// Waits until something is true.
pub(crate) fn wait_until(what: &str, is_true: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the value of a number for Prometheus.
pub(crate) fn metric(client: &Client, name: &str) -> Option<f64> {
    let text = client.get("/metrics").text().to_owned();
    let line = text.lines().find(|line| line.split(' ').next() == Some(name))?;
    Some(line.rsplit(' ').next().unwrap().parse().unwrap())
}

/// Returns the body of a change that fails or repairs one part.
pub(crate) fn fail(part: &str) -> Value {
    json!({ "fail": [part] })
}

pub(crate) fn repair(part: &str) -> Value {
    json!({ "repair": [part] })
}
