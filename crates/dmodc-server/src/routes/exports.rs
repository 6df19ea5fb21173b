//! Files to take away.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::compute::{Computed, Pairs, compute, parameters};
use crate::lanes::Lane;
use crate::refusal::Refusal;
use crate::report;
use crate::shared::Shared;

/// The most that is handed to a connection at once.
const PIECE: usize = 64 << 10;

const TEXT: &str = "text/plain; charset=utf-8";

/// Makes a file and sends it. The place in the lane is taken until the client has all of it, so that slow clients do not fill
/// the memory with large files.
async fn file(
    shared: &Shared,
    pairs: Pairs,
    (name, media_type): (&'static str, &'static str),
    make: impl FnOnce(&Shared) -> Result<Vec<u8>, Refusal> + Send + 'static,
) -> Result<Response, Refusal> {
    parameters(pairs)?.finish()?;
    let Computed { answer, place } = compute(shared, Lane::Heavy, make).await?;
    let bytes = Bytes::from(answer);
    let headers = [
        (header::CONTENT_TYPE, media_type.to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\"")),
        (header::CONTENT_LENGTH, bytes.len().to_string()),
    ];
    let pieces = (0..bytes.len()).step_by(PIECE).map(move |from| {
        let _until_sent = &place;
        Ok::<Bytes, Refusal>(bytes.slice(from..bytes.len().min(from + PIECE)))
    });
    Ok((headers, Body::from_stream(tokio_stream::iter(pieces))).into_response())
}

pub(super) async fn fabric(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<Response, Refusal> {
    file(&shared, pairs, ("fabric.topo", TEXT), |shared| Ok(shared.bench().fabric_text())).await
}

pub(super) async fn scenario(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<Response, Refusal> {
    file(&shared, pairs, ("scenario.json", "application/json"), |shared| {
        let scenario = shared.bench().scenario();
        Ok(serde_json::to_vec_pretty(&scenario).unwrap_or_default())
    })
    .await
}

/// Returns all events, a line of JSON for each, the oldest first.
pub(super) async fn events(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<Response, Refusal> {
    file(&shared, pairs, ("events.jsonl", "application/jsonl"), |shared| {
        let mut lines = Vec::new();
        shared.history().for_each(|event| {
            lines.extend_from_slice(event);
            lines.push(b'\n');
            true
        })?;
        Ok(lines)
    })
    .await
}

/// The report has a style and a script inside, and needs nothing from anywhere. If a browser opens it from here, it is not one
/// of our own pages.
const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; \
     sandbox allow-scripts";

pub(super) async fn report(
    State(shared): State<Shared>,
    pairs: Pairs,
) -> Result<Response, Refusal> {
    let page = file(&shared, pairs, ("report.html", "text/html; charset=utf-8"), |shared| {
        let bench = shared.bench();
        Ok(shared.compute(|| report::html(&bench)).into_bytes())
    });
    let mut response = page.await?;
    let policy = header::HeaderValue::from_static(REPORT_POLICY);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    Ok(response)
}
