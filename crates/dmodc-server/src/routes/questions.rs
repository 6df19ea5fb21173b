//! Questions that change nothing.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use dmodc_view::cabling::CablingRequest;
use dmodc_view::call::read;
use dmodc_view::compare::{CompareRequest, compare as compare_sides};
use dmodc_view::job_order::JobRequest;
use dmodc_view::{Problem, Question};
use serde_json::Value;

use super::body::JsonBody;
use super::compute::{JsonAnswer, Pairs, answer, compute, parameters};
use crate::lanes::Lane;
use crate::refusal::Refusal;
use crate::shared::Shared;

/// How long somebody waits for a judgement.
const PATIENCE: Duration = Duration::from_secs(120);

/// Answers one of the questions that are computed from the tables.
pub(super) async fn question(
    question: Question,
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<JsonAnswer, Refusal> {
    let parameters = parameters(pairs)?;
    answer(&shared, Lane::Question, move |shared| {
        let bench = shared.bench();
        // The layout is made once, and who makes it must not be a thread of the pool: such a thread takes other work while
        // it waits, and that work may wait for the same layout.
        bench.setup().layout();
        Ok(shared.compute(|| bench.answer(question, parameters))?)
    })
    .await
}

pub(super) async fn state(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<JsonAnswer, Refusal> {
    parameters(pairs)?.finish()?;
    answer(&shared, Lane::Light, |shared| Ok(shared.state())).await
}

/// Waits until the present state is judged. If the state changes meanwhile, the newest is waited for.
pub(super) async fn judgement(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<Json<Value>, Refusal> {
    parameters(pairs)?.finish()?;
    let mut newest = shared.watch_judgement();
    let revision = compute(&shared, Lane::Light, |shared| Ok(shared.bench().revision()));
    let revision = revision.await?.answer;
    let is_new = |judgement: &Value| judgement["revision"].as_u64() >= Some(revision);
    let found = tokio::time::timeout(PATIENCE, newest.wait_for(is_new)).await;
    match found {
        Ok(Ok(judgement)) => Ok(Json(judgement.clone())),
        _ => Err(Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the state is still being judged; ask again",
        )),
    }
}

pub(super) async fn order(
    State(shared): State<Shared>,
    body: JsonBody,
) -> Result<JsonAnswer, Refusal> {
    answer(&shared, Lane::Heavy, move |shared| {
        let request: JobRequest = body.read()?;
        let bench = shared.bench();
        Ok(shared.compute(|| bench.order(&request))?)
    })
    .await
}

pub(super) async fn compare(
    State(shared): State<Shared>,
    body: JsonBody,
) -> Result<JsonAnswer, Refusal> {
    let sides: Value = body.read()?;
    for side in ["left", "right"] {
        // A list of its values would also be taken for an object.
        if sides[side].is_array() {
            return Err(Problem::Invalid(format!("'{side}' must be an object")).into());
        }
    }
    let request: CompareRequest = read(sides)?;
    answer(&shared, Lane::Heavy, move |shared| {
        let moment = |sequence: u64| {
            let event = shared.history().event(sequence).ok().flatten();
            let event =
                event.ok_or_else(|| Problem::NotFound(format!("there is no event {sequence}")))?;
            let failed = event.state.ok_or_else(|| {
                Problem::Conflict(format!("event {sequence} has too many faults to be kept"))
            })?;
            Ok((event.engine, failed))
        };
        let (setup, left, right) = {
            let bench = shared.bench();
            let left = bench.side(&request.left, moment)?;
            (bench.setup().clone(), left, bench.side(&request.right, moment)?)
        };
        // What is made once must not be made by a thread of the pool; see `question`.
        setup.layout();
        setup.engine(left.engine())?;
        setup.engine(right.engine())?;
        // Both sides are routed apart from the workbench, which may change meanwhile.
        Ok(shared.compute_apart(|| compare_sides(&setup, left, right))?)
    })
    .await
}

pub(super) async fn compare_cabling(
    State(shared): State<Shared>,
    body: JsonBody,
) -> Result<JsonAnswer, Refusal> {
    answer(&shared, Lane::Heavy, move |shared| {
        let request: CablingRequest = body.read()?;
        let bench = shared.bench();
        Ok(shared.compute(|| bench.compare_cabling(&request))?)
    })
    .await
}
