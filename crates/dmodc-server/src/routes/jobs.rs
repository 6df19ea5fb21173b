//! Long work.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use dmodc_view::Problem;
use dmodc_view::what_if::WhatIfRequest;
use serde::Deserialize;
use serde_json::{Value, json};

use super::body::JsonBody;
use super::compute::{JsonAnswer, answer};
use crate::lanes::Lane;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::what_if::start_what_if;

/// A job that somebody asks for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JobBody {
    kind: String,
    #[serde(default)]
    parts: Option<String>,
    #[serde(default)]
    limit: Option<usize>,
}

/// The greatest number of rows.
const MOST_ROWS: usize = 10_000;

pub(super) async fn start(
    State(shared): State<Shared>,
    body: JsonBody,
) -> Result<(StatusCode, Json<Value>), Refusal> {
    let JobBody { kind, parts, limit } = body.read()?;
    if kind != "whatif" {
        return Err(
            Problem::Invalid(format!("there is no kind of job '{kind}'; expected whatif")).into()
        );
    }
    let limit = limit.unwrap_or(100);
    if !(1..=MOST_ROWS).contains(&limit) {
        let reason = format!("'limit' must be a number from 1 to {MOST_ROWS}, not {limit}");
        return Err(Problem::Invalid(reason).into());
    }
    let request = WhatIfRequest::new(parts.as_deref().unwrap_or("all"), limit)?;
    match start_what_if(&shared, request) {
        Some(job) => Ok((StatusCode::ACCEPTED, Json(json!({ "job": job })))),
        None => Err(Refusal::new(
            StatusCode::TOO_MANY_REQUESTS,
            "two jobs are running already; wait for one of them, or cancel it",
        )),
    }
}

/// Returns the number of a job.
fn number(text: &str) -> Result<u64, Refusal> {
    text.parse().map_err(|_| no_job(text))
}

fn no_job(number: &str) -> Refusal {
    Problem::NotFound(format!("there is no job '{number}'")).into()
}

pub(super) async fn get(
    State(shared): State<Shared>,
    Path(job): Path<String>,
) -> Result<JsonAnswer, Refusal> {
    let wanted = number(&job)?;
    answer(&shared, Lane::Light, move |shared| {
        shared.jobs().get(wanted, true).ok_or_else(|| no_job(&job))
    })
    .await
}

pub(super) async fn cancel(
    State(shared): State<Shared>,
    Path(job): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let number = number(&job)?;
    let was_running = shared.jobs().cancel(number).ok_or_else(|| no_job(&job))?;
    Ok(Json(json!({ "job": number, "cancelled": was_running })))
}
