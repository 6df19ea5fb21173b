//! One fabric in one page, and everything that is asked about it.

use std::ops::ControlFlow;

use dmodc::RoutingOptions;
use dmodc_view::call::{CHANGES, change_request, read};
use dmodc_view::what_if::{WhatIfRequest, what_if};
use dmodc_view::{
    ChangeRequest, Clock, LeafWords, PageEngine, Parameters, Problem, Question, Setup, Workbench,
    compare,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::history::History;

/// The greatest number of table entries that are written as text: about 250 MB.
const MOST_ENTRIES: usize = 4 << 20;

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

    /// Refuses tables whose text would not fit into the memory of a module, 4 GB, with the copies that are made of it.
    fn check_table_size(&self) -> Result<(), Problem> {
        match self.bench.router().tables().entry_count() {
            0..=MOST_ENTRIES => Ok(()),
            _ => Err(Problem::Conflict(
                "the text of these tables does not fit into the memory of a page; use 'dmodc route' or 'dmodc serve'"
                    .into(),
            )),
        }
    }

    fn export(&self, file: &str, parameters: Parameters) -> Result<Value, Problem> {
        parameters.finish()?;
        let text = |bytes: Vec<u8>| Value::String(String::from_utf8_lossy(&bytes).into_owned());
        match file {
            "tables" => {
                self.check_table_size()?;
                Ok(text(self.bench.tables_text()?))
            }
            "fabric" => Ok(text(self.bench.fabric_text())),
            "events" => Ok(Value::String(self.history.lines())),
            "scenario" => Ok(json!(self.bench.scenario())),
            _ => Err(Problem::NotFound(format!("this page cannot write the file '{file}'"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc::GuidOrder;

    const SURROUNDINGS: Surroundings = Surroundings { now: || 1000.0, progress: |_, _| () };

    fn text_of(preset: &str) -> String {
        let shape = dmodc::Preset::named(preset).unwrap().shape();
        let fabric = shape.fabric(GuidOrder::Topological).unwrap();
        let mut text = Vec::new();
        dmodc_formats::json::write(&fabric, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn open(more: &Value) -> Session {
        let mut session = Session::new(SURROUNDINGS);
        let mut body = json!({"title": "figure 1", "fabric": text_of("paper-figure-1")});
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        session.call("open", body).unwrap();
        session
    }

    #[test]
    fn every_name_has_an_answer() {
        let mut session = open(&json!({}));
        let part = json!({"name": "L1-0"});
        let calls = [
            ("scene", json!({})),
            ("state", json!({})),
            ("judgement", json!({})),
            ("loads", json!({"pattern": "sp"})),
            ("part", part),
            ("search", json!({"q": "node"})),
            ("path", json!({"from": "node-0", "to": "node-7"})),
            ("destinations", json!({"cable": "L1-0/5"})),
            ("change", json!({"fail": ["L2-0"]})),
            ("undo", json!({})),
            ("redo", Value::Null),
            ("random", json!({"cables": "1"})),
            ("engine", json!({"engine": "paper"})),
            ("reset", json!({})),
            ("events", json!({"limit": 2})),
            ("whatif", json!({"kind": "whatif", "parts": "cables", "limit": 3})),
            ("order", json!({"hosts": "all"})),
            ("compare", json!({"left": {"sequence": 1}, "right": {"engine": "dmodk"}})),
            ("compare-cabling", json!({"intended": "inferred"})),
            ("export/tables", json!({})),
            ("export/fabric", json!({})),
            ("export/events", json!({})),
            ("export/scenario", json!({})),
        ];
        for (name, body) in &calls {
            session.call(name, body.clone()).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        let named = |name: &str| calls.iter().any(|(one, _)| *one == name);
        assert!(Question::ALL.iter().all(|question| named(question.name())));
        assert!(CHANGES.iter().all(|change| *change == "scenario" || named(change)));
        for wrong in ["", "scenes", "export/report", "export/"] {
            let error = session.call(wrong, json!({})).unwrap_err();
            assert!(matches!(error, Problem::NotFound(_)), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_page_can_begin_with_faults_and_another_engine() {
        let mut session = open(&json!({"engine": "stable", "failed": ["L2-0", "L1-3/5"]}));
        let state = session.call("state", Value::Null).unwrap();
        assert_eq!(state["engine"], "stable");
        assert_eq!(state["follow"], Value::Null);
        assert_eq!(state["event"]["all_failed"], json!({"switches": 1, "cables": 1}));
        let events = session.call("events", json!({})).unwrap();
        let origins = events["events"].as_array().unwrap().iter().map(|event| &event["origin"]);
        assert_eq!(origins.collect::<Vec<_>>(), ["user", "start"]);
    }

    #[test]
    fn leaves_can_be_named() {
        let mut session = open(&json!({"leaves": {"at_least": 2}}));
        let scene = session.call("scene", Value::Null).unwrap();
        assert_eq!(scene["levels"], 3);
        let mut session = Session::new(SURROUNDINGS);
        let body =
            json!({"title": "", "fabric": text_of("paper-figure-1"), "leaves": {"roots": ["0x1"]}});
        let error = session.call("open", body).unwrap_err();
        assert_eq!(error.to_string(), "there is no switch '0x1'");
    }

    #[test]
    fn a_fabric_that_cannot_be_read_leaves_the_old_one() {
        let mut session = open(&json!({}));
        let error = session.call("open", json!({"title": "", "fabric": "nonsense"})).unwrap_err();
        assert!(error.to_string().starts_with("fabric:"), "{error}");
        assert_eq!(session.call("scene", Value::Null).unwrap()["title"], "figure 1");
    }

    #[test]
    fn changes_become_events_and_moments_can_be_compared() {
        let mut session = open(&json!({}));
        session.call("change", json!({"fail": ["L2-0"]})).unwrap();
        let judgement = session.call("judgement", json!({})).unwrap();
        session.call("change", json!({"repair": ["L2-0"]})).unwrap();
        // Nothing changes, so there is no event.
        session.call("change", json!({"repair": ["L2-0"]})).unwrap();
        let events = session.call("events", json!({})).unwrap();
        assert_eq!(events["events"].as_array().unwrap().len(), 3);
        assert_eq!(events["events"][1]["judgement"], judgement);
        let moments = json!({"left": {"sequence": 1}, "right": {"sequence": 2}});
        let found = session.call("compare", moments).unwrap();
        assert!(found["entries"].as_u64().unwrap() > 0);
        assert_eq!(found["right"]["failed"]["switches"].as_array().unwrap().len(), 1);
        let moments = json!({"left": {"sequence": 1}, "right": {"sequence": 9}});
        assert!(session.call("compare", moments).unwrap_err().to_string().contains("no event 9"));
    }

    #[test]
    fn a_change_that_is_refused_changes_nothing() {
        let mut session = open(&json!({}));
        let before = session.call("state", Value::Null).unwrap();
        for body in [json!({"fail": ["L2-0", "L9-9"]}), json!({"fails": []}), json!(7)] {
            session.call("change", body).unwrap_err();
        }
        assert_eq!(session.call("state", Value::Null).unwrap(), before);
    }
}
