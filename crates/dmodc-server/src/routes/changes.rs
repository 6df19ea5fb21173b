//! Changes. Each answers with the state after it.

use axum::Json;
use axum::extract::{Path, State};
use dmodc_view::Problem;
use dmodc_view::call::{CHANGES, change_request};
use serde_json::Value;

use super::Refusal;
use super::questions::{Body, body, compute};
use crate::shared::Shared;

pub(super) async fn change(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    request: Body,
) -> Result<Json<Value>, Refusal> {
    if !CHANGES.contains(&&*name) {
        return Err(Problem::NotFound(format!("there is no change '{name}'")).into());
    }
    make(&shared, &name, body(request)?).await
}

pub(super) async fn scenario(
    State(shared): State<Shared>,
    request: Body,
) -> Result<Json<Value>, Refusal> {
    make(&shared, "scenario", body(request)?).await
}

/// Makes a change.
pub(super) async fn make(shared: &Shared, name: &str, body: Value) -> Result<Json<Value>, Refusal> {
    let request = change_request(name, body)?;
    compute(shared, |shared| Ok(shared.change(request)?)).await.map(Json)
}
