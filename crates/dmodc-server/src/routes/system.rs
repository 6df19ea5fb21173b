//! What machines ask: health, numbers, the description of the API.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, Uri, header};
use axum::response::IntoResponse;
use serde_json::{Value, json};

use super::compute::{Pairs, compute, parameters};
use crate::lanes::Lane;
use crate::refusal::Refusal;
use crate::shared::Shared;

/// The description of the API.
pub(super) const OPENAPI: &str = include_str!("../../openapi.json");

pub(super) async fn health() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

pub(super) async fn metrics(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<impl IntoResponse, Refusal> {
    parameters(pairs)?.finish()?;
    let text = |shared: &Shared| Ok(shared.metrics().text(&shared.numbers()));
    let text = compute(&shared, Lane::Light, text).await?.answer;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text))
}

pub(super) async fn openapi() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI)
}

pub(super) async fn not_found(uri: Uri) -> Refusal {
    Refusal::new(StatusCode::NOT_FOUND, format!("there is nothing at '{}'", uri.path()))
}

pub(super) async fn wrong_method(uri: Uri) -> Refusal {
    Refusal::new(
        StatusCode::METHOD_NOT_ALLOWED,
        format!("'{}' has no such method; /openapi.json lists those it has", uri.path()),
    )
}
