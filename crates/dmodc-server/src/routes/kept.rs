//! What is in the history: events and scenarios.

use axum::extract::{Path, State};
use dmodc_view::{ChangeRequest, Problem};
use serde_json::json;

use super::body::JsonBody;
use super::compute::{JsonAnswer, Pairs, answer, parameters};
use crate::history::SavedScenario;
use crate::lanes::Lane;
use crate::refusal::Refusal;
use crate::shared::{Shared, now_ms};

/// The longest name of a scenario.
const LONGEST_NAME: usize = 100;

pub(super) async fn events(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<JsonAnswer, Refusal> {
    let mut parameters = parameters(pairs)?;
    let before = parameters.number("before")?.unwrap_or(u64::MAX);
    let limit = parameters.limit("limit", 100, 1000)?;
    parameters.finish()?;
    answer(&shared, Lane::Light, move |shared| {
        let (events, more) = shared.history().events(before, limit)?;
        Ok(json!({ "events": events, "more": more }))
    })
    .await
}

pub(super) async fn scenarios(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<JsonAnswer, Refusal> {
    parameters(pairs)?.finish()?;
    let row = |(name, saved): &(String, SavedScenario)| {
        json!({
            "name": name,
            "time_ms": saved.time_ms,
            "engine": saved.scenario.engine,
            "failed_count": saved.scenario.failed.len(),
        })
    };
    answer(&shared, Lane::Light, move |shared| {
        let all = shared.history().scenarios()?;
        Ok(json!({ "scenarios": all.iter().map(row).collect::<Vec<_>>() }))
    })
    .await
}

pub(super) async fn save(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    body: JsonBody,
) -> Result<JsonAnswer, Refusal> {
    body.read_nothing()?;
    if name.trim().is_empty()
        || name.chars().count() > LONGEST_NAME
        || name.contains(char::is_control)
    {
        let reason = format!(
            "the name of a scenario has 1 to {LONGEST_NAME} characters, and no control characters"
        );
        return Err(Problem::Invalid(reason).into());
    }
    answer(&shared, Lane::Change, move |shared| {
        let scenario = shared.bench().scenario();
        let saved = SavedScenario { time_ms: now_ms() as u64, scenario };
        shared.history().save(&name, &saved)?;
        Ok(json!({ "name": name, "failed_count": saved.scenario.failed.len() }))
    })
    .await
}

pub(super) async fn remove(
    State(shared): State<Shared>,
    Path(name): Path<String>,
) -> Result<JsonAnswer, Refusal> {
    answer(&shared, Lane::Change, move |shared| match shared.history().delete(&name)? {
        true => Ok(json!({ "name": name, "deleted": true })),
        false => Err(no_scenario(&name)),
    })
    .await
}

pub(super) async fn load(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    body: JsonBody,
) -> Result<JsonAnswer, Refusal> {
    body.read_nothing()?;
    answer(&shared, Lane::Change, move |shared| {
        let saved = shared.history().scenario(&name)?.ok_or_else(|| no_scenario(&name))?;
        Ok(shared.change(ChangeRequest::Scenario(saved.scenario))?)
    })
    .await
}

fn no_scenario(name: &str) -> Refusal {
    Problem::NotFound(format!("there is no scenario '{name}'")).into()
}
