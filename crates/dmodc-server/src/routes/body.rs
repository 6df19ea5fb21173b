//! Bodies of requests. They are JSON, and say so: a form of a foreign page cannot.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use dmodc_view::Problem;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::refusal::Refusal;
use crate::shared::Shared;

/// The whole body must be there within this time. A client that sends it byte by byte would keep its connection for ever.
const BODY_TIME: Duration = Duration::from_secs(60);

/// The bytes of a body, which were not looked at yet. Large ones are read as JSON where answers are computed.
pub(super) struct JsonBody(Bytes);

impl FromRequest<Shared> for JsonBody {
    type Rejection = Refusal;

    async fn from_request(request: Request, shared: &Shared) -> Result<Self, Refusal> {
        if !is_json(request.headers()) {
            return Err(Refusal::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "a body must be JSON: send the header 'Content-Type: application/json'",
            ));
        }
        let length = request.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        if length.is_some_and(|length| length > super::body_limit(request.uri().path()) as u64) {
            return Err(Refusal::of_body(StatusCode::PAYLOAD_TOO_LARGE));
        }
        match tokio::time::timeout(BODY_TIME, Bytes::from_request(request, shared)).await {
            Ok(Ok(bytes)) => Ok(JsonBody(bytes)),
            Ok(Err(rejection)) => Err(Refusal::of_body(rejection.into_response().status())),
            Err(_) => Err(Refusal::of_body(StatusCode::REQUEST_TIMEOUT)),
        }
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    value.is_some_and(|value| {
        let media = value.split(';').next().unwrap_or("").trim();
        media.eq_ignore_ascii_case("application/json")
    })
}

impl JsonBody {
    /// Reads the body, which is an object.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        // A list of its values would also be taken for an object.
        if self.0.trim_ascii_start().first().is_some_and(|&byte| byte != b'{') {
            return Err(Problem::Invalid("body: expected an object, which begins with '{'".into()));
        }
        serde_json::from_slice(&self.0).map_err(|error| Problem::Invalid(format!("body: {error}")))
    }

    /// Checks that the body is an object without fields.
    pub(super) fn read_nothing(&self) -> Result<(), Problem> {
        self.read::<NoFields>().map(|NoFields {}| ())
    }
}

/// An object without fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoFields {}
