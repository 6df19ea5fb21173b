//! The parameters of a question, by name.

use serde_json::{Map, Value};

use crate::problem::Problem;

/// The parameters of a question. They come from the query of an address, where every value is text, or from JSON, where
/// numbers are numbers; both are understood. Taking a parameter removes it, so that [`finish`](Parameters::finish) finds
/// those that the question does not have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters(Map<String, Value>);

impl Parameters {
    /// Takes the fields of a JSON object; `null` has none.
    ///
    /// # Errors
    /// If the value is something else.
    pub fn new(value: Value) -> Result<Self, Problem> {
        match value {
            Value::Object(fields) => Ok(Parameters(fields)),
            Value::Null => Ok(Parameters::default()),
            other => {
                Err(Problem::Invalid(format!("expected an object with parameters, not {other}")))
            }
        }
    }

    /// Takes pairs of names and values. A name must not occur twice.
    ///
    /// # Errors
    /// If it does.
    pub fn of_pairs(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self, Problem> {
        let mut fields = Map::new();
        for (name, value) in pairs {
            if fields.insert(name.clone(), Value::String(value)).is_some() {
                return Err(Problem::Invalid(format!("the parameter '{name}' is there twice")));
            }
        }
        Ok(Parameters(fields))
    }

    /// Returns a text, if it is there.
    ///
    /// # Errors
    /// If it is no text.
    pub fn text(&mut self, name: &str) -> Result<Option<String>, Problem> {
        match self.0.remove(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => {
                Err(Problem::Invalid(format!("the parameter '{name}' must be a text, not {other}")))
            }
        }
    }

    /// Returns a text that must be there.
    ///
    /// # Errors
    /// If it is missing, empty or no text.
    pub fn required(&mut self, name: &str) -> Result<String, Problem> {
        match self.text(name)? {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(Problem::Invalid(format!("the parameter '{name}' is missing"))),
        }
    }

    /// Returns a number from 1 to `most`, or `usual` if it is missing.
    ///
    /// # Errors
    /// If it is no such number.
    pub fn limit(&mut self, name: &str, usual: usize, most: usize) -> Result<usize, Problem> {
        let Some(text) = self.text(name)? else { return Ok(usual) };
        match text.parse() {
            Ok(number) if (1..=most).contains(&number) => Ok(number),
            _ => Err(Problem::Invalid(format!(
                "the parameter '{name}' must be a number from 1 to {most}, not '{text}'"
            ))),
        }
    }

    /// Returns a number that is not negative, if it is there.
    ///
    /// # Errors
    /// If it is no such number.
    pub fn number(&mut self, name: &str) -> Result<Option<u64>, Problem> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(Problem::Invalid(format!(
                "the parameter '{name}' must be a whole number, not '{text}'"
            ))),
        }
    }

    /// Checks that no parameter is left.
    ///
    /// # Errors
    /// If one is: it names one of them.
    pub fn finish(self) -> Result<(), Problem> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(Problem::Invalid(format!("there is no parameter '{name}' here"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn text_and_json_are_the_same() {
        let texts = [("q".to_owned(), "7".to_owned()), ("limit".to_owned(), "3".to_owned())];
        let of_address = Parameters::of_pairs(texts).expect("no name twice");
        let of_json = Parameters::new(json!({"q": "7", "limit": 3})).expect("an object");
        for mut parameters in [of_address, of_json] {
            assert_eq!(parameters.required("q"), Ok("7".into()));
            assert_eq!(parameters.limit("limit", 20, 100), Ok(3));
            assert_eq!(parameters.number("other"), Ok(None));
            assert_eq!(parameters.finish(), Ok(()));
        }
    }

    #[test]
    fn wrong_parameters_are_named() {
        let mut parameters =
            Parameters::new(json!({"limit": -1, "extra": true})).expect("an object");
        let error = parameters.limit("limit", 20, 100).unwrap_err();
        assert!(error.to_string().contains("'limit' must be a number from 1 to 100"), "{error}");
        assert!(parameters.required("q").unwrap_err().to_string().contains("'q' is missing"));
        assert!(parameters.finish().unwrap_err().to_string().contains("'extra'"));
        assert!(Parameters::new(json!([1])).is_err());
        let twice = [("a".to_owned(), String::new()), ("a".to_owned(), String::new())];
        assert!(Parameters::of_pairs(twice).is_err());
    }
}
