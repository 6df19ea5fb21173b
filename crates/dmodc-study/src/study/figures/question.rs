//! The questions that figures answer.

use super::sweep::FigureSweep;
use crate::figure::thousands;
use crate::study::measures::Measure;

/// A question: the load of the worst port with a pattern, or what an update changes.
pub(super) struct Question {
    /// The pattern, such as `rp:1000`; `None` for updates.
    pattern: Option<String>,
    /// The last part of the name of the file.
    pub(super) file: String,
    pub(super) measure: Measure,
    /// The label of the vertical axis.
    pub(super) axis: String,
}

/// The name of the question about updates.
const MOVED: &str = "moved";

impl Question {
    /// Returns the questions of a study with these patterns.
    pub(super) fn all(patterns: &[&str]) -> Vec<Question> {
        let kind = |pattern: &str| pattern.split(':').next().unwrap_or_default().to_string();
        let risk = |pattern: &&str| {
            // Two patterns of one kind need the whole name.
            let is_single =
                patterns.iter().filter(|other| kind(other) == kind(pattern)).count() == 1;
            let file = if is_single { kind(pattern) } else { pattern.replace(':', "-") };
            let measure = Measure::risks(pattern).swap_remove(0);
            Question { pattern: Some((*pattern).into()), file, measure, axis: axis(pattern) }
        };
        let mut questions: Vec<Question> = patterns.iter().map(risk).collect();
        let measure =
            Measure::updates(patterns.first().copied().unwrap_or_default()).swap_remove(0);
        let axis = "entries that change, of all entries in the forwarding tables".into();
        questions.push(Question { pattern: None, file: MOVED.into(), measure, axis });
        questions
    }

    /// Returns whether it is about what an update changes.
    pub(super) fn is_of_updates(&self) -> bool {
        self.pattern.is_none()
    }

    /// Returns its name: the pattern, or `moved`.
    pub(super) fn name(&self) -> &str {
        self.pattern.as_deref().unwrap_or(MOVED)
    }

    /// Returns whether it has this name. The kind of its pattern is enough if no other has the same kind.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name() == name || self.file == name
    }

    /// Returns the title of its figure.
    pub(super) fn title(&self, sweep: &FigureSweep) -> String {
        let event = &sweep.event;
        match self.pattern.as_deref().map(|pattern| pattern.split(':').next().unwrap_or_default()) {
            None => format!("How many table entries change when {event}?"),
            Some(kind) => {
                let traffic = match kind {
                    "a2a" => "All-to-all",
                    "rp" => "Permutations",
                    "bisection" => "Bisections",
                    "ring" => "Ring",
                    "recursive-doubling" => "Recursive doubling",
                    _ => "Shifts",
                };
                format!("{traffic}: how loaded is the worst port when {event}?")
            }
        }
    }

    /// Returns what the lower bound means. That of updates is of the tables of one engine.
    pub(super) fn limit_words(&self, engine: &str) -> String {
        match self.is_of_updates() {
            true => format!(
                "Dashed: entries of {engine}'s tables that must change, whatever the new tables are."
            ),
            false => "Dashed: a lower bound for any routing.".into(),
        }
    }
}

/// Returns the label of the vertical axis of a pattern.
fn axis(pattern: &str) -> String {
    let load = "flows over the worst port between switches";
    let pattern =
        pattern.split_once(':').map_or((pattern, None), |(kind, n)| (kind, Some(thousands(n))));
    match pattern {
        ("rp", Some(n)) => format!("{load}, median of {n} random permutations"),
        ("bisection", Some(n)) => format!("{load}, median of {n} random bisections"),
        (_, Some(n)) => format!("{load}, mean of {n} shifts"),
        ("ring", None) => format!("{load}, every node sends to the next"),
        ("recursive-doubling", None) => format!("{load}, worst step of recursive doubling"),
        ("sp", None) => format!("{load}, mean of all shifts"),
        (_, None) => format!("{load}, every node sends to every other"),
    }
}
