//! Addresses and their answers. The file `openapi.json` describes all of them; a test compares both.

mod body;
mod changes;
mod compute;
mod exports;
mod guard;
mod jobs;
mod kept;
mod page;
mod questions;
mod stream;
mod system;
mod tables;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{MethodRouter, delete, get, post, put};
use dmodc_view::Question;

pub(crate) use crate::refusal::Refusal;
use crate::shared::Shared;

/// The greatest length of a body.
const BODY: usize = 1 << 20;

/// The greatest length of a body with the names of hosts.
const HOSTS_BODY: usize = 4 << 20;

/// The greatest length of a body with a scenario.
const SCENARIO_BODY: usize = 16 << 20;

/// The greatest length of a body with a fabric.
const FABRIC_BODY: usize = 64 << 20;

/// An address: a method, a path, and who answers.
struct Address {
    method: &'static str,
    path: String,
    answer: MethodRouter<Shared>,
}

/// Makes the list of addresses: each line is a method, a path and the function that answers.
macro_rules! addresses {
    ($($method:ident $path:literal $answer:expr),* $(,)?) => {
        vec![$(Address {
            method: stringify!($method),
            path: $path.into(),
            answer: $method($answer),
        }),*]
    };
}

/// Returns all addresses.
fn addresses() -> Vec<Address> {
    let mut addresses = addresses![
        get "/api/v1/state" questions::state,
        get "/api/v1/judgement" questions::judgement,
        post "/api/v1/scenario" changes::scenario,
        post "/api/v1/order" questions::order,
        post "/api/v1/compare" questions::compare,
        post "/api/v1/compare-cabling" questions::compare_cabling,
        post "/api/v1/jobs" jobs::start,
        get "/api/v1/jobs/{job}" jobs::get,
        delete "/api/v1/jobs/{job}" jobs::cancel,
        get "/api/v1/events" kept::events,
        get "/api/v1/scenarios" kept::scenarios,
        put "/api/v1/scenarios/{name}" kept::save,
        delete "/api/v1/scenarios/{name}" kept::remove,
        post "/api/v1/scenarios/{name}/load" kept::load,
        get "/api/v1/export/tables" tables::tables,
        get "/api/v1/export/report" exports::report,
        get "/api/v1/export/fabric" exports::fabric,
        get "/api/v1/export/scenario" exports::scenario,
        get "/api/v1/export/events" exports::events,
        get "/api/v1/stream" stream::stream,
        get "/healthz" system::health,
        get "/metrics" system::metrics,
        get "/openapi.json" system::openapi,
        get "/" page::index,
        get "/{file}" page::file,
    ];
    // The state and the judgement are kept, and need not be computed.
    let computed = |question: &Question| !matches!(question, Question::State | Question::Judgement);
    addresses.extend(Question::ALL.into_iter().filter(computed).map(|question| Address {
        method: "get",
        path: format!("/api/v1/{}", question.name()),
        answer: get(move |state, pairs| questions::question(question, state, pairs)),
    }));
    // The bodies of the other changes are small.
    let small = ["change", "random", "undo", "redo", "reset", "engine"];
    addresses.extend(small.map(|name| Address {
        method: "post",
        path: format!("/api/v1/{name}"),
        answer: post(move |state, body| changes::change(name, state, body)),
    }));
    addresses
}

/// Returns the greatest length of a body at an address.
fn body_limit(path: &str) -> usize {
    match path {
        "/api/v1/order" => HOSTS_BODY,
        "/api/v1/scenario" => SCENARIO_BODY,
        "/api/v1/compare-cabling" => FABRIC_BODY,
        _ => BODY,
    }
}

/// Returns what answers all addresses.
pub(crate) fn router(shared: Shared) -> Router {
    let add = |router: Router<Shared>, address: Address| {
        let has_body = matches!(address.method, "post" | "put");
        let limit = if has_body { body_limit(&address.path) } else { 0 };
        router.route(&address.path, address.answer.layer(DefaultBodyLimit::max(limit)))
    };
    addresses()
        .into_iter()
        .fold(Router::new(), add)
        .fallback(system::not_found)
        .method_not_allowed_fallback(system::wrong_method)
        .layer(middleware::from_fn_with_state(shared.clone(), guard::guard))
        .with_state(shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    use dmodc_view::call::CHANGES;
    use serde_json::Value;

    fn description() -> Value {
        serde_json::from_str(system::OPENAPI).expect("openapi.json is JSON")
    }

    #[test]
    fn the_description_has_every_address_and_no_other() {
        let own: BTreeSet<(String, String)> = addresses()
            .into_iter()
            .map(|address| (address.method.to_owned(), address.path))
            .collect();
        let description = description();
        let mut described = BTreeSet::new();
        for (path, methods) in description["paths"].as_object().expect("it has paths") {
            let methods = methods.as_object().expect("a path has methods");
            described.extend(methods.keys().map(|method| (method.clone(), path.clone())));
        }
        assert_eq!(described, own);
    }

    #[test]
    fn every_change_and_question_has_an_address() {
        let own: BTreeSet<String> = addresses().into_iter().map(|address| address.path).collect();
        let names = Question::ALL.map(Question::name).into_iter().chain(CHANGES);
        for name in names {
            assert!(own.contains(&format!("/api/v1/{name}")), "{name}");
        }
    }

    #[test]
    fn the_description_has_the_limits_of_bodies() {
        let description = description();
        for address in addresses() {
            let described = &description["paths"][&address.path][address.method];
            let has_body = !described["requestBody"].is_null();
            assert_eq!(has_body, ["post", "put"].contains(&address.method), "{}", address.path);
            if has_body {
                let text = described["responses"]["413"]["description"].as_str().unwrap_or("");
                let limit = format!("{} MiB", body_limit(&address.path) >> 20);
                assert!(text.contains(&limit), "{}: {text}", address.path);
            }
        }
    }
}
