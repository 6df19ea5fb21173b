//! The events of a session. A server keeps them in a file; a page keeps the last ones in memory.

use std::collections::VecDeque;

use dmodc_view::{Event, Parameters, Problem};
use serde_json::{Value, json};

/// The greatest number of events that are kept.
const KEPT: usize = 1000;

/// The last events, oldest first.
#[derive(Default)]
pub(crate) struct History {
    events: VecDeque<Event>,
}

impl History {
    /// Keeps an event. If one of the same number is there, it is replaced.
    pub(crate) fn keep(&mut self, event: &Event) {
        match self.events.back_mut().filter(|last| last.sequence == event.sequence) {
            Some(last) => *last = event.clone(),
            None => {
                if self.events.len() == KEPT {
                    self.events.pop_front();
                }
                self.events.push_back(event.clone());
            }
        }
    }

    /// Returns events, newest first: those before a number, or the last ones.
    pub(crate) fn page(&self, mut parameters: Parameters) -> Result<Value, Problem> {
        let before = parameters.number("before")?.unwrap_or(u64::MAX);
        let limit = parameters.limit("limit", 100, KEPT)?;
        parameters.finish()?;
        let earlier = || self.events.iter().rev().filter(|event| event.sequence < before);
        let events: Vec<&Event> = earlier().take(limit).collect();
        Ok(json!({ "events": events, "more": earlier().nth(limit).is_some() }))
    }

    /// Returns the engine and the failed parts after an event.
    pub(crate) fn moment(&self, sequence: u64) -> Result<(String, Vec<String>), Problem> {
        let event = self.events.iter().find(|event| event.sequence == sequence);
        let event = event.ok_or_else(|| {
            Problem::NotFound(format!("there is no event {sequence}, or not any more"))
        })?;
        let state = event.state.clone().ok_or_else(|| {
            Problem::Conflict(format!(
                "after event {sequence} too many parts had failed to be kept"
            ))
        })?;
        Ok((event.engine.clone(), state))
    }

    /// Returns all events, one in each line.
    pub(crate) fn lines(&self) -> String {
        let line = |event: &Event| json!(event).to_string() + "\n";
        self.events.iter().map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dmodc_view::{Origin, PartCounts};

    fn event(sequence: u64) -> Event {
        Event {
            sequence,
            time_ms: 0,
            revision: sequence,
            origin: Origin::User,
            engine: "dmodc".into(),
            text: String::new(),
            failed: vec![],
            repaired: vec![],
            failed_count: 0,
            repaired_count: 0,
            all_failed: PartCounts::default(),
            state: (sequence != 7).then(|| vec!["0x1".into()]),
            milliseconds: 0.0,
            entries: 0,
            entries_total: 0,
            blocks: 0,
            switches: 0,
            valid: true,
            judgement: None,
        }
    }

    fn numbers(history: &History, parameters: Value) -> (Vec<u64>, bool) {
        let page = history.page(Parameters::new(parameters).unwrap()).unwrap();
        let events = page["events"].as_array().unwrap();
        let numbers = events.iter().map(|event| event["sequence"].as_u64().unwrap()).collect();
        (numbers, page["more"].as_bool().unwrap())
    }

    #[test]
    fn pages_are_newest_first_and_say_whether_there_are_more() {
        let mut history = History::default();
        assert_eq!(numbers(&history, json!({})), (vec![], false));
        for sequence in 1..=5 {
            history.keep(&event(sequence));
        }
        assert_eq!(numbers(&history, json!({})), (vec![5, 4, 3, 2, 1], false));
        assert_eq!(numbers(&history, json!({"limit": 2})), (vec![5, 4], true));
        assert_eq!(numbers(&history, json!({"before": 4, "limit": 3})), (vec![3, 2, 1], false));
        assert_eq!(numbers(&history, json!({"before": 1})), (vec![], false));
    }

    #[test]
    fn old_events_are_dropped_and_a_repeated_one_is_replaced() {
        let mut history = History::default();
        for sequence in 1..=KEPT as u64 + 3 {
            history.keep(&event(sequence));
            history.keep(&Event { judgement: Some(json!(sequence)), ..event(sequence) });
        }
        assert_eq!(history.lines().lines().count(), KEPT);
        let first: Value = serde_json::from_str(history.lines().lines().next().unwrap()).unwrap();
        assert_eq!(first["sequence"], 4);
        assert!(history.lines().lines().all(|line| !line.contains("\"judgement\":null")));
    }

    #[test]
    fn a_moment_is_found_by_its_number() {
        let mut history = History::default();
        history.keep(&event(6));
        history.keep(&event(7));
        assert_eq!(history.moment(6), Ok(("dmodc".into(), vec!["0x1".into()])));
        assert!(history.moment(5).unwrap_err().to_string().contains("no event 5"));
        assert!(history.moment(7).unwrap_err().to_string().contains("too many parts"));
    }
}
