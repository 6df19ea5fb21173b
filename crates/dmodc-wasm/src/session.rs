//! One fabric in one page, and everything that is asked about it.

use std::ops::ControlFlow;

use dmodc::RoutingOptions;
use dmodc_view::call::{CHANGES, change_request, read};
use dmodc_view::what_if::{WhatIfRequest, what_if};
use dmodc_view::{
    ChangeRequest, Clock, LeafWords, PageEngine, Parameters, Problem, Question, Scenario, Setup,
    Workbench, compare,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::history::History;

/// What a session needs from outside.
#[derive(Clone, Copy, Debug)]
pub struct Surroundings {
    /// Returns milliseconds since 1970.
    pub now: Clock,
    /// Hears how much of a long piece of work is done, and how much there is.
    pub progress: fn(u32, u32),
}

/// One fabric in one page, and everything that is asked about it.
pub struct Session {
    surroundings: Surroundings,
    open: Option<OpenFabric>,
}

/// The fabric that is open.
struct OpenFabric {
    bench: Workbench,
    history: History,
}

/// The body of the first call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenBody {
    /// What people call the fabric.
    title: String,
    /// The text of its file.
    fabric: String,
    #[serde(default)]
    engine: PageEngine,
    /// Parts that have failed at first.
    #[serde(default)]
    failed: Vec<String>,
    /// Which switches are leaves.
    #[serde(default)]
    leaves: LeafWords,
}

impl Session {
    /// Returns a session without a fabric.
    pub fn new(surroundings: Surroundings) -> Self {
        Session { surroundings, open: None }
    }

    /// Answers a call by its name:
    /// - `open` reads a fabric and routes it. It answers with the state.
    /// - The names of all [questions](Question), and `events`.
    /// - The names of all [changes](CHANGES). They answer with the new state.
    /// - `whatif`, `order`, `compare` and `compare-cabling`.
    /// - `export/tables`, `export/fabric` and `export/events`, which answer with a text, and `export/scenario`.
    ///
    /// # Errors
    /// If there is no such call, or its body is wrong, or the fabric does not allow it now. Then nothing is changed.
    pub fn call(&mut self, name: &str, body: Value) -> Result<Value, Problem> {
        if name == "open" {
            let open = OpenFabric::new(read(body)?, self.surroundings)?;
            return Ok(self.open.insert(open).state());
        }
        let Some(open) = &mut self.open else {
            return Err(Problem::Conflict("no fabric is open yet".into()));
        };
        if let Some(question) = Question::ALL.into_iter().find(|question| question.name() == name) {
            return open.question(question, Parameters::new(body)?);
        }
        if CHANGES.contains(&name) {
            return open.change(change_request(name, body)?);
        }
        match name {
            "events" => open.history.page(Parameters::new(body)?),
            "whatif" => open.what_if(Parameters::new(body)?, self.surroundings.progress),
            "order" => open.bench.order(&read(body)?),
            "compare" => open.compare(&read(body)?),
            "compare-cabling" => open.bench.compare_cabling(&read(body)?),
            _ => match name.strip_prefix("export/") {
                Some(file) => open.export(file, Parameters::new(body)?),
                None => Err(Problem::NotFound(format!("this page has no answer to '{name}'"))),
            },
        }
    }
}

impl OpenFabric {
    fn new(body: OpenBody, surroundings: Surroundings) -> Result<Self, Problem> {
        let reading = dmodc_formats::read(body.fabric.as_bytes())
            .map_err(|error| Problem::Invalid(format!("fabric:{error}")))?;
        let leaves = body.leaves.rule(&reading.fabric)?;
        let options = RoutingOptions { leaves, ..RoutingOptions::default() };
        let setup = Setup::inferred(body.title, reading.fabric, &options);
        let bench = Workbench::new(setup, body.engine, surroundings.now)?;
        let mut open = OpenFabric { bench, history: History::default() };
        open.keep_event();
        if !body.failed.is_empty() {
            open.change(ChangeRequest::Parts { fail: body.failed, repair: vec![] })?;
        }
        Ok(open)
    }

    fn keep_event(&mut self) {
        if let Some(event) = self.bench.last_event() {
            self.history.keep(event);
        }
    }

    /// Returns the state. Nothing is followed in a page.
    fn state(&self) -> Value {
        let mut state = self.bench.state();
        state["follow"] = Value::Null;
        state
    }

    fn question(&mut self, question: Question, parameters: Parameters) -> Result<Value, Problem> {
        match question {
            Question::State => {
                parameters.finish()?;
                Ok(self.state())
            }
            Question::Judgement => {
                let judgement = self.bench.answer(question, parameters)?;
                self.bench.note_judgement(&judgement);
                self.keep_event();
                Ok(judgement)
            }
            _ => self.bench.answer(question, parameters),
        }
    }

    fn change(&mut self, request: ChangeRequest) -> Result<Value, Problem> {
        // A scenario may fail after its engine was taken, which is an event, too.
        let made = self.bench.change(request).map(|_| ());
        self.keep_event();
        made.map(|()| self.state())
    }

    fn what_if(
        &self,
        mut parameters: Parameters,
        progress: fn(u32, u32),
    ) -> Result<Value, Problem> {
        // The page sends the body of a job, which names its kind.
        parameters.text("kind")?;
        let parts = parameters.text("parts")?.unwrap_or_else(|| "all".into());
        let limit = parameters.limit("limit", 100, 100_000)?;
        parameters.finish()?;
        let request = WhatIfRequest::new(&parts, limit)?;
        let mut on_progress = |done: usize, total: usize| {
            progress(done as u32, total as u32);
            ControlFlow::Continue(())
        };
        let mut answer = what_if(self.bench.router(), request, &mut on_progress)?;
        answer["revision"] = json!(self.bench.revision());
        Ok(answer)
    }

    fn compare(&self, request: &compare::CompareRequest) -> Result<Value, Problem> {
        let side = |side| self.bench.side(side, |sequence| self.history.moment(sequence));
        compare::compare(self.bench.setup(), side(&request.left)?, side(&request.right)?)
    }

    fn export(&self, file: &str, parameters: Parameters) -> Result<Value, Problem> {
        parameters.finish()?;
        let text = |bytes: Vec<u8>| Value::String(String::from_utf8_lossy(&bytes).into_owned());
        match file {
            "tables" => Ok(text(self.bench.tables_text()?)),
            "fabric" => Ok(text(self.bench.fabric_text())),
            "events" => Ok(Value::String(self.history.lines())),
            "scenario" => Ok(json!(Scenario::of(&self.bench))),
            _ => Err(Problem::NotFound(format!("this page cannot write the file '{file}'"))),
        }
    }
}
