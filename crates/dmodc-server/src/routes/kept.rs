//! What is in the history: events and scenarios.

use axum::Json;
use axum::extract::{Path, State};
use dmodc_view::call::read;
use dmodc_view::{Problem, Scenario};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Refusal;
use super::changes::make;
use super::questions::{Body, Pairs, body, compute, parameters};
use crate::history::SavedScenario;
use crate::shared::{Shared, now_ms};

/// The longest name of a scenario.
const LONGEST_NAME: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoBody {}

pub(super) async fn events(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<Json<Value>, Refusal> {
    let mut parameters = parameters(pairs)?;
    let before = parameters.number("before")?.unwrap_or(u64::MAX);
    let limit = parameters.limit("limit", 100, 1000)?;
    parameters.finish()?;
    let answer = move |shared: &Shared| Ok(shared.history().events(before, limit)?);
    let (events, more) = compute(&shared, answer).await?;
    Ok(Json(json!({ "events": events, "more": more })))
}

pub(super) async fn scenarios(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<Json<Value>, Refusal> {
    parameters(pairs)?.finish()?;
    let all = compute(&shared, |shared| Ok(shared.history().scenarios()?)).await?;
    let row = |(name, saved): &(String, SavedScenario)| {
        json!({
            "name": name,
            "time_ms": saved.time_ms,
            "engine": saved.scenario.engine,
            "failed_count": saved.scenario.failed.len(),
        })
    };
    Ok(Json(json!({ "scenarios": all.iter().map(row).collect::<Vec<_>>() })))
}

pub(super) async fn save(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    request: Body,
) -> Result<Json<Value>, Refusal> {
    read::<NoBody>(body(request)?)?;
    if name.trim().is_empty()
        || name.chars().count() > LONGEST_NAME
        || name.contains(char::is_control)
    {
        let reason = format!(
            "the name of a scenario has 1 to {LONGEST_NAME} characters, and no control characters"
        );
        return Err(Problem::Invalid(reason).into());
    }
    let answer = move |shared: &Shared| {
        let scenario = Scenario::of(&shared.bench());
        let saved = SavedScenario { time_ms: now_ms() as u64, scenario };
        shared.history().save(&name, &saved)?;
        Ok(json!({ "name": name, "failed_count": saved.scenario.failed.len() }))
    };
    compute(&shared, answer).await.map(Json)
}

pub(super) async fn remove(
    State(shared): State<Shared>,
    Path(name): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let wanted = name.clone();
    let was_there = compute(&shared, move |shared| Ok(shared.history().delete(&wanted)?)).await?;
    match was_there {
        true => Ok(Json(json!({ "name": name, "deleted": true }))),
        false => Err(no_scenario(&name)),
    }
}

pub(super) async fn load(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    request: Body,
) -> Result<Json<Value>, Refusal> {
    read::<NoBody>(body(request)?)?;
    let wanted = name.clone();
    let found = compute(&shared, move |shared| Ok(shared.history().scenario(&wanted)?)).await?;
    let saved = found.ok_or_else(|| no_scenario(&name))?;
    make(&shared, "scenario", json!(saved.scenario)).await
}

fn no_scenario(name: &str) -> Refusal {
    Problem::NotFound(format!("there is no scenario '{name}'")).into()
}
