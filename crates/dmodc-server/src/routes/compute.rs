//! Answers are computed on threads of their own, a bounded number at a time.

use axum::body::Body;
use axum::extract::Query;
use axum::extract::rejection::QueryRejection;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use dmodc_view::{Parameters, Problem};
use serde::Serialize;

use crate::lanes::{Lane, Place};
use crate::refusal::Refusal;
use crate::shared::Shared;

/// The parameters of an address.
pub(super) type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// Returns the parameters of an address.
pub(super) fn parameters(pairs: Pairs) -> Result<Parameters, Refusal> {
    let Query(pairs) = pairs.map_err(|error| Problem::Invalid(error.to_string()))?;
    Ok(Parameters::of_pairs(pairs)?)
}

/// What was computed, with the place in its lane.
pub(super) struct Computed<R> {
    pub(super) answer: R,
    /// Others must wait until this is dropped.
    pub(super) place: Place,
}

/// Computes an answer on a thread of its own.
pub(super) async fn compute<R: Send + 'static>(
    shared: &Shared,
    lane: Lane,
    work: impl FnOnce(&Shared) -> Result<R, Refusal> + Send + 'static,
) -> Result<Computed<R>, Refusal> {
    let place = shared.lanes().enter(lane).ok_or_else(Refusal::busy)?;
    let shared = shared.clone();
    // If nobody waits for the answer any more, the place is still taken until it is computed.
    let answer = tokio::task::spawn_blocking(move || {
        let answer = work(&shared)?;
        Ok(Computed { answer, place })
    });
    answer.await.unwrap_or_else(|_| {
        Err(Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "this answer failed by a defect of dmodc; please report what you asked",
        ))
    })
}

/// An answer in JSON, as text.
pub(super) struct JsonAnswer(Vec<u8>);

impl IntoResponse for JsonAnswer {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, "application/json")], Body::from(self.0)).into_response()
    }
}

/// Computes an answer and its text.
pub(super) async fn answer<R: Serialize>(
    shared: &Shared,
    lane: Lane,
    work: impl FnOnce(&Shared) -> Result<R, Refusal> + Send + 'static,
) -> Result<JsonAnswer, Refusal> {
    let text = move |shared: &Shared| {
        let answer = work(shared)?;
        serde_json::to_vec(&answer).map(JsonAnswer).map_err(|error| {
            Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the answer: {error}"))
        })
    };
    Ok(compute(shared, lane, text).await?.answer)
}
