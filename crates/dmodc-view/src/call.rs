//! All questions and changes by name, for back ends that hand over JSON.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::engines::PageEngine;
use crate::parameters::Parameters;
use crate::problem::Problem;
use crate::scenario::Scenario;
use crate::workbench::{ChangeRequest, RandomFaults, Workbench};

/// A question that changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// The drawing.
    Scene,
    /// The present state.
    State,
    /// Which pairs arrive, and the risk.
    Judgement,
    /// The loads of cables.
    Loads,
    /// Everything about a part.
    Part,
    /// Switches and nodes by a part of their name.
    Search,
    /// The path between two nodes and back.
    Path,
    /// The destinations that use a cable.
    Destinations,
}

impl Question {
    /// All of them.
    pub const ALL: [Question; 8] = [
        Question::Scene,
        Question::State,
        Question::Judgement,
        Question::Loads,
        Question::Part,
        Question::Search,
        Question::Path,
        Question::Destinations,
    ];

    /// Returns its name, which is also the last part of its address.
    pub fn name(self) -> &'static str {
        match self {
            Question::Scene => "scene",
            Question::State => "state",
            Question::Judgement => "judgement",
            Question::Loads => "loads",
            Question::Part => "part",
            Question::Search => "search",
            Question::Path => "path",
            Question::Destinations => "destinations",
        }
    }
}

impl Workbench {
    /// Answers a question.
    ///
    /// # Errors
    /// If a parameter is wrong, or names something that is not there.
    pub fn answer(&self, question: Question, mut parameters: Parameters) -> Result<Value, Problem> {
        let p = &mut parameters;
        match question {
            Question::Scene | Question::State | Question::Judgement => {
                parameters.finish()?;
                Ok(match question {
                    Question::Scene => self.scene(),
                    Question::State => self.state(),
                    _ => self.judgement(),
                })
            }
            Question::Loads => {
                let pattern = p.text("pattern")?.unwrap_or_else(|| "a2a".into());
                let measure = p.text("measure")?.unwrap_or_else(|| "flows".into());
                parameters.finish()?;
                self.loads(&pattern, &measure)
            }
            Question::Part => {
                let name = p.required("name")?;
                parameters.finish()?;
                self.part(&name)
            }
            Question::Search => {
                let text = p.required("q")?;
                let limit = p.limit("limit", 20, 1000)?;
                parameters.finish()?;
                Ok(self.search(&text, limit))
            }
            Question::Path => {
                let (from, to) = (p.required("from")?, p.required("to")?);
                parameters.finish()?;
                self.path(&from, &to)
            }
            Question::Destinations => {
                let cable = p.required("cable")?;
                let limit = p.limit("limit", 50, 100_000)?;
                parameters.finish()?;
                self.destinations(&cable, limit)
            }
        }
    }
}

/// The names of changes, which are also the last parts of their addresses.
pub const CHANGES: [&str; 7] = ["change", "random", "undo", "redo", "reset", "engine", "scenario"];

/// Parts that fail or are repaired.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartsBody {
    #[serde(default)]
    fail: Vec<String>,
    #[serde(default)]
    repair: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EngineBody {
    engine: PageEngine,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoBody {}

/// Returns the change of a name and a body.
///
/// # Errors
/// If there is no such change, or the body is wrong.
pub fn change_request(name: &str, body: Value) -> Result<ChangeRequest, Problem> {
    Ok(match name {
        "change" => {
            let PartsBody { fail, repair } = read(body)?;
            ChangeRequest::Parts { fail, repair }
        }
        "random" => ChangeRequest::Random(read::<RandomFaults>(body)?),
        "engine" => ChangeRequest::Engine(read::<EngineBody>(body)?.engine),
        "scenario" => ChangeRequest::Scenario(read::<Scenario>(body)?),
        "undo" | "redo" | "reset" => {
            let body = if body.is_null() { json!({}) } else { body };
            read::<NoBody>(body)?;
            match name {
                "undo" => ChangeRequest::Undo,
                "redo" => ChangeRequest::Redo,
                _ => ChangeRequest::Reset,
            }
        }
        _ => return Err(Problem::NotFound(format!("there is no change '{name}'"))),
    })
}

/// Reads the body of a request.
///
/// # Errors
/// If it is not of this type.
pub fn read<T: DeserializeOwned>(body: Value) -> Result<T, Problem> {
    serde_json::from_value(body).map_err(|error| Problem::Invalid(error.to_string()))
}
