//! What happens to every request and every answer.

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::shared::Shared;

/// What the browser may do with our answers: nothing but what the page needs.
const SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' \
     data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Refuses requests that break the rules, and adds headers that keep browsers careful.
pub(crate) async fn guard(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let access = shared.access();
    let mut response = match access.first_visit(&method, &uri) {
        Some(response) => response,
        None => match access.refusal(&method, &uri, request.headers()) {
            Some(refusal) => refusal.into_response(),
            None => next.run(request).await,
        },
    };
    shared.metrics().count_answer(response.status());
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, SECURITY_POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    let headers = response.headers_mut();
    for (name, value) in fixed {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
