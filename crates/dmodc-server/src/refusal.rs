//! Answers to requests that cannot be answered: a status and a sentence.

use std::fmt;

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use dmodc_view::Problem;
use serde_json::json;

use crate::history::HistoryError;

/// Why a change was not made, or not kept.
#[derive(Debug)]
pub(crate) enum ChangeError {
    Problem(Problem),
    /// The change was made, but it is not in the history.
    NotKept(HistoryError),
}

impl From<Problem> for ChangeError {
    fn from(problem: Problem) -> Self {
        ChangeError::Problem(problem)
    }
}

/// Why a request has no other answer.
#[derive(Debug)]
pub(crate) struct Refusal {
    status: StatusCode,
    reason: String,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, reason: impl Into<String>) -> Self {
        Refusal { status, reason: reason.into() }
    }

    /// Too much is being computed already.
    pub(crate) fn busy() -> Self {
        Refusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many questions are being answered; ask again in a moment",
        )
    }

    /// The body of a request cannot be read.
    pub(crate) fn of_body(status: StatusCode) -> Self {
        let reason = match status {
            StatusCode::PAYLOAD_TOO_LARGE => "the body is too large",
            StatusCode::REQUEST_TIMEOUT => "the body did not come in time",
            _ => "the body cannot be read",
        };
        Refusal::new(status, reason)
    }

    #[cfg(test)]
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let is_soon =
            matches!(self.status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS);
        let answer = (self.status, Json(json!({ "error": self.reason })));
        match is_soon {
            true => ([(header::RETRY_AFTER, "1")], answer).into_response(),
            false => answer.into_response(),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Refusal {}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        let status = match problem {
            Problem::Invalid(_) => StatusCode::BAD_REQUEST,
            Problem::NotFound(_) => StatusCode::NOT_FOUND,
            Problem::Conflict(_) | Problem::Cancelled => StatusCode::CONFLICT,
        };
        Refusal::new(status, problem.to_string())
    }
}

impl From<ChangeError> for Refusal {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Problem(problem) => problem.into(),
            ChangeError::NotKept(error) => Refusal::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                format!("the change was made, but it is not in the history: {error}"),
            ),
        }
    }
}

impl From<HistoryError> for Refusal {
    fn from(error: HistoryError) -> Self {
        let status = match error {
            HistoryError::TooMany | HistoryError::TooLarge(_) => StatusCode::CONFLICT,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Refusal::new(status, format!("the history: {error}"))
    }
}
