//! Addresses and their answers. The file `openapi.json` describes all of them; a test compares both.

mod changes;
mod exports;
mod jobs;
mod kept;
mod page;
mod questions;
mod refusal;
mod stream;
mod system;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware;
use axum::routing::{delete, get, post, put};

use crate::access;
use crate::shared::Shared;
pub(crate) use refusal::Refusal;

/// The greatest length of a body.
const BODY: usize = 1 << 20;

/// The greatest length of a body with a fabric or a scenario in it.
const LARGE_BODY: usize = 64 << 20;

/// The addresses of the API.
const API: &str = "/api/v1";

/// Returns all addresses.
pub(crate) fn router(shared: Shared) -> Router {
    let large = DefaultBodyLimit::max(LARGE_BODY);
    let api = Router::new()
        .route("/judgement", get(questions::judgement))
        .route("/state", get(questions::state))
        .route("/{question}", get(questions::question).post(changes::change))
        .route("/scenario", post(changes::scenario).layer(large))
        .route("/order", post(questions::order).layer(large))
        .route("/compare", post(questions::compare))
        .route("/compare-cabling", post(questions::compare_cabling).layer(large))
        .route("/jobs", post(jobs::start))
        .route("/jobs/{job}", get(jobs::get).delete(jobs::cancel))
        .route("/events", get(kept::events))
        .route("/scenarios", get(kept::scenarios))
        .route("/scenarios/{name}", put(kept::save).merge(delete(kept::remove)))
        .route("/scenarios/{name}/load", post(kept::load))
        .route("/export/tables", get(exports::tables))
        .route("/export/report", get(exports::report))
        .route("/export/fabric", get(exports::fabric))
        .route("/export/scenario", get(exports::scenario))
        .route("/export/events", get(exports::events))
        .route("/stream", get(stream::stream));
    Router::new()
        .nest(API, api)
        .route("/healthz", get(system::health))
        .route("/metrics", get(system::metrics))
        .route("/openapi.json", get(system::openapi))
        .route("/", get(page::index))
        .route("/{file}", get(page::file))
        .fallback(system::not_found)
        .method_not_allowed_fallback(system::wrong_method)
        .layer(DefaultBodyLimit::max(BODY))
        .layer(middleware::from_fn_with_state(shared.clone(), access::guard))
        .with_state(shared)
}
