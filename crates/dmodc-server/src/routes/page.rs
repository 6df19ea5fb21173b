//! The files of the page.

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use dmodc_view::{Problem, page};

use super::Refusal;

pub(super) async fn index() -> Result<Response, Refusal> {
    answer("index.html")
}

pub(super) async fn file(Path(name): Path<String>) -> Result<Response, Refusal> {
    answer(&name)
}

fn answer(name: &str) -> Result<Response, Refusal> {
    let file = page::FILES.iter().find(|file| file.name == name);
    let file = file.ok_or_else(|| Problem::NotFound(format!("there is nothing at '/{name}'")))?;
    // The files are part of the program: after an upgrade the browser must not use old ones.
    let headers = [(header::CONTENT_TYPE, file.media_type), (header::CACHE_CONTROL, "no-cache")];
    Ok((headers, file.bytes).into_response())
}
