//! Changes. Each answers with the state after it.

use axum::extract::State;
use dmodc_view::ChangeRequest;
use dmodc_view::call::change_request;

use super::body::JsonBody;
use super::compute::{JsonAnswer, answer};
use crate::lanes::Lane;
use crate::refusal::Refusal;
use crate::shared::Shared;

pub(super) async fn change(
    name: &'static str,
    State(shared): State<Shared>,
    body: JsonBody,
) -> Result<JsonAnswer, Refusal> {
    let request = change_request(name, body.read()?)?;
    answer(&shared, Lane::Change, |shared| Ok(shared.change(request)?)).await
}

/// Takes a scenario in the body, which may be large.
pub(super) async fn scenario(
    State(shared): State<Shared>,
    body: JsonBody,
) -> Result<JsonAnswer, Refusal> {
    answer(&shared, Lane::Change, move |shared| {
        Ok(shared.change(ChangeRequest::Scenario(body.read()?))?)
    })
    .await
}
