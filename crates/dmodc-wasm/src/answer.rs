//! Requests and answers as text.

use dmodc_view::Problem;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::session::Session;

/// A call of the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    name: String,
    #[serde(default)]
    body: Value,
}

/// Returns the answer to a request, both as UTF-8 JSON. A request that is wrong is answered with an error.
pub fn answer_text(session: &mut Session, request: &[u8]) -> Vec<u8> {
    let answer = serde_json::from_slice::<Request>(request)
        .map_err(|error| Problem::Invalid(format!("the request is wrong: {error}")))
        .and_then(|request| session.call(&request.name, request.body));
    match answer {
        Ok(answer) => json!({ "ok": answer }).to_string().into_bytes(),
        Err(problem) => failure_text(&problem.to_string()),
    }
}

/// Returns an answer that is an error.
pub fn failure_text(sentence: &str) -> Vec<u8> {
    json!({ "error": sentence }).to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Surroundings;

    fn error_of(request: &str) -> String {
        let mut session = Session::new(Surroundings { now: || 0.0, progress: |_, _| () });
        let answer: Value =
            serde_json::from_slice(&answer_text(&mut session, request.as_bytes())).unwrap();
        answer["error"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_wrong_request_is_answered_with_a_sentence() {
        assert!(error_of("{").starts_with("the request is wrong: EOF"));
        assert!(error_of("{\"body\": {}}").contains("missing field `name`"));
        assert!(error_of("{\"name\": \"scene\", \"more\": 1}").contains("unknown field `more`"));
        assert_eq!(error_of("{\"name\": \"scene\"}"), "no fabric is open yet");
        assert_eq!(
            error_of("{\"name\": \"open\"}"),
            "invalid type: null, expected struct OpenBody"
        );
    }

    #[test]
    fn a_failure_is_json_whatever_its_text_is() {
        let answer: Value = serde_json::from_slice(&failure_text("a \"quote\"\n")).unwrap();
        assert_eq!(answer, json!({"error": "a \"quote\"\n"}));
    }
}
