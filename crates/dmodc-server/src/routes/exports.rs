//! Files to take away.

use axum::extract::State;
use axum::http::{HeaderName, header};
use axum::response::IntoResponse;
use dmodc_view::Scenario;

use super::Refusal;
use super::questions::{Pairs, compute, parameters};
use crate::report;
use crate::shared::Shared;

/// A file: its headers and its bytes.
type File = ([(HeaderName, &'static str); 2], Vec<u8>);

fn file(media: &'static str, disposition: &'static str, bytes: Vec<u8>) -> File {
    ([(header::CONTENT_TYPE, media), (header::CONTENT_DISPOSITION, disposition)], bytes)
}

const TEXT: &str = "text/plain; charset=utf-8";

pub(super) async fn tables(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<impl IntoResponse, Refusal> {
    parameters(pairs)?.finish()?;
    let text = move |shared: &Shared| {
        let bench = shared.bench();
        Ok(shared.compute(|| bench.tables_text())?)
    };
    Ok(file(TEXT, "attachment; filename=\"tables.lft\"", compute(&shared, text).await?))
}

pub(super) async fn fabric(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<impl IntoResponse, Refusal> {
    parameters(pairs)?.finish()?;
    let text = compute(&shared, |shared| Ok(shared.bench().fabric_text())).await?;
    Ok(file(TEXT, "attachment; filename=\"fabric.topo\"", text))
}

pub(super) async fn scenario(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<impl IntoResponse, Refusal> {
    parameters(pairs)?.finish()?;
    let scenario = compute(&shared, |shared| Ok(Scenario::of(&shared.bench()))).await?;
    let text = serde_json::to_vec_pretty(&scenario).unwrap_or_default();
    Ok(file("application/json", "attachment; filename=\"scenario.json\"", text))
}

/// Returns all events, a line of JSON for each, the oldest first.
pub(super) async fn events(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<impl IntoResponse, Refusal> {
    parameters(pairs)?.finish()?;
    let lines = move |shared: &Shared| {
        let mut lines = Vec::new();
        shared.history().for_each(|event| {
            lines.extend_from_slice(event);
            lines.push(b'\n');
            true
        })?;
        Ok(lines)
    };
    let lines = compute(&shared, lines).await?;
    Ok(file("application/jsonl", "attachment; filename=\"events.jsonl\"", lines))
}

/// The report has a style and a script inside, and needs nothing from anywhere.
const REPORT_POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

pub(super) async fn report(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<impl IntoResponse, Refusal> {
    parameters(pairs)?.finish()?;
    let page = move |shared: &Shared| {
        let bench = shared.bench();
        Ok(shared.compute(|| report::html(&bench)))
    };
    let page = compute(&shared, page).await?;
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"report.html\""),
        (header::CONTENT_SECURITY_POLICY, REPORT_POLICY),
    ];
    Ok((headers, page))
}
