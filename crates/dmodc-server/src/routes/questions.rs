//! Questions that change nothing.

use std::time::Duration;

use axum::Json;
use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use dmodc_view::cabling::CablingRequest;
use dmodc_view::call::read;
use dmodc_view::compare::{CompareRequest, compare as compare_sides};
use dmodc_view::job_order::JobRequest;
use dmodc_view::{Parameters, Problem, Question};
use serde_json::Value;

use super::Refusal;
use crate::shared::Shared;

/// The parameters of an address.
pub(super) type Pairs = Result<Query<Vec<(String, String)>>, QueryRejection>;

/// The body of a request.
pub(super) type Body = Result<Json<Value>, JsonRejection>;

/// How long somebody waits for a judgement.
const PATIENCE: Duration = Duration::from_secs(120);

/// Computes an answer on a thread of its own; a bounded number at a time.
pub(super) async fn compute<R: Send + 'static>(
    shared: &Shared,
    work: impl FnOnce(&Shared) -> Result<R, Refusal> + Send + 'static,
) -> Result<R, Refusal> {
    let permit = shared.questions().try_acquire_owned().map_err(|_| Refusal::busy())?;
    let shared = shared.clone();
    let answer = tokio::task::spawn_blocking(move || {
        let answer = work(&shared);
        drop(permit);
        answer
    });
    answer.await.unwrap_or_else(|_| {
        Err(Refusal::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "this answer failed by a defect of dmodc; please report what you asked",
        ))
    })
}

/// Returns the parameters of an address.
pub(super) fn parameters(pairs: Pairs) -> Result<Parameters, Refusal> {
    let Query(pairs) = pairs.map_err(|error| Problem::Invalid(error.to_string()))?;
    Ok(Parameters::of_pairs(pairs)?)
}

/// Returns the body of a request.
pub(super) fn body(body: Body) -> Result<Value, Refusal> {
    match body {
        Ok(Json(value)) => Ok(value),
        Err(error) => Err(Refusal::new(error.status(), error.body_text())),
    }
}

pub(super) async fn question(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    pairs: Pairs,
) -> Result<Json<Value>, Refusal> {
    let Some(question) = Question::ALL.into_iter().find(|question| question.name() == name) else {
        return Err(Problem::NotFound(format!("there is no question '{name}'")).into());
    };
    let parameters = parameters(pairs)?;
    let answer = move |shared: &Shared| {
        let bench = shared.bench();
        Ok(shared.compute(|| bench.answer(question, parameters))?)
    };
    compute(&shared, answer).await.map(Json)
}

pub(super) async fn state(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<Json<Value>, Refusal> {
    parameters(pairs)?.finish()?;
    compute(&shared, |shared| Ok(shared.state())).await.map(Json)
}

/// Waits until the present state is judged. If the state changes meanwhile, the newest is waited for.
pub(super) async fn judgement(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<Json<Value>, Refusal> {
    parameters(pairs)?.finish()?;
    let mut newest = shared.watch_judgement();
    let revision = compute(&shared, |shared| Ok(shared.bench().revision())).await?;
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
    request: Body,
) -> Result<Json<Value>, Refusal> {
    let request: JobRequest = read(body(request)?)?;
    let answer = move |shared: &Shared| {
        let bench = shared.bench();
        Ok(shared.compute(|| bench.order(&request))?)
    };
    compute(&shared, answer).await.map(Json)
}

pub(super) async fn compare(
    State(shared): State<Shared>,
    request: Body,
) -> Result<Json<Value>, Refusal> {
    let request: CompareRequest = read(body(request)?)?;
    let answer = move |shared: &Shared| {
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
        // Both sides are routed apart from the workbench, which may change meanwhile.
        Ok(shared.compute(|| compare_sides(&setup, left, right))?)
    };
    compute(&shared, answer).await.map(Json)
}

pub(super) async fn compare_cabling(
    State(shared): State<Shared>,
    request: Body,
) -> Result<Json<Value>, Refusal> {
    let request: CablingRequest = read(body(request)?)?;
    let answer = move |shared: &Shared| {
        let bench = shared.bench();
        Ok(shared.compute(|| bench.compare_cabling(&request))?)
    };
    compute(&shared, answer).await.map(Json)
}
