//! The questions that figures answer.

use super::sweep::FigureSweep;
use crate::figure::thousands;
use crate::study::measures::{Better, Measure};

/// What a question asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Asked {
    /// The load of the worst port with a pattern, such as `rp:1000`.
    Load(String),
    /// The mean rate of the flows of a pattern.
    Rate(String),
    /// What an update changes.
    Moved,
}

/// A question: the load of the worst port or the mean rate with a pattern, or what an update changes.
pub(super) struct Question {
    asked: Asked,
    /// The last part of the name of the file.
    pub(super) file: String,
    pub(super) measure: Measure,
    /// The label of the vertical axis.
    pub(super) axis: String,
}

/// The name of the question about updates.
const MOVED: &str = "moved";

/// The end of the names of questions about rates.
const RATE: &str = "-rate";

impl Question {
    /// Returns the questions of a study with these patterns, and with or without rates.
    pub(super) fn all(patterns: &[&str], has_rates: bool) -> Vec<Question> {
        let kind = |pattern: &str| pattern.split(':').next().unwrap_or_default().to_string();
        // A regular expression may have any sign.
        let whole = |pattern: &str| -> String {
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            pattern.chars().map(plain).collect()
        };
        let file = |pattern: &str| {
            // Two patterns of one kind need the whole name.
            let is_single =
                patterns.iter().filter(|other| kind(other) == kind(pattern)).count() == 1;
            if is_single { kind(pattern) } else { whole(pattern) }
        };
        let risk = |pattern: &&str| Question {
            asked: Asked::Load((*pattern).into()),
            file: file(pattern),
            measure: Measure::risks(pattern).swap_remove(0),
            axis: axis(pattern),
        };
        let rate = |pattern: &&str| Question {
            asked: Asked::Rate((*pattern).into()),
            file: file(pattern) + RATE,
            measure: Measure::rates(pattern).swap_remove(0),
            axis: "mean rate of the flows, in units of a node's cable".into(),
        };
        let mut questions: Vec<Question> = patterns.iter().map(risk).collect();
        questions.extend(patterns.iter().filter(|_| has_rates).map(rate));
        let measure =
            Measure::updates(patterns.first().copied().unwrap_or_default()).swap_remove(0);
        let axis = "entries that change, of all entries in the forwarding tables".into();
        questions.push(Question { asked: Asked::Moved, file: MOVED.into(), measure, axis });
        questions
    }

    /// Returns whether it is about what an update changes.
    pub(super) fn is_of_updates(&self) -> bool {
        self.asked == Asked::Moved
    }

    /// Returns its name: the pattern, the end of its file's name for rates, or `moved`.
    pub(super) fn name(&self) -> &str {
        match &self.asked {
            Asked::Load(pattern) => pattern,
            Asked::Rate(_) => &self.file,
            Asked::Moved => MOVED,
        }
    }

    /// Returns whether it has this name. The kind of its pattern is enough if no other has the same kind.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name() == name || self.file == name
    }

    /// Returns whether its figure over sweeps is drawn, given the name that was chosen.
    pub(super) fn is_chosen(&self, name: Option<&str>) -> bool {
        name.is_none_or(|name| self.is_called(name))
    }

    /// Returns whether its figure of rare events is drawn, given the name that was chosen. Only loads have one.
    pub(super) fn is_rare_chosen(&self, name: Option<&str>) -> bool {
        matches!(self.asked, Asked::Load(_)) && name.is_none_or(|name| self.is_called_rare(name))
    }

    /// Returns whether the figure of rare events has this name.
    pub(super) fn is_called_rare(&self, name: &str) -> bool {
        matches!(self.asked, Asked::Load(_)) && self.rare_name() == name
    }

    /// Returns the name of its figure of rare events, such as `a2a-rare`.
    pub(super) fn rare_name(&self) -> String {
        format!("{}-rare", self.file)
    }

    /// Returns the title of its figure of rare events.
    pub(super) fn rare_title(&self, failed: &str) -> String {
        let traffic = match &self.asked {
            Asked::Load(pattern) | Asked::Rate(pattern) => traffic(pattern),
            Asked::Moved => "Updates",
        };
        format!("{traffic}: how loaded is the worst port in one of N accidents in which {failed}?")
    }

    /// Returns the title of its figure.
    pub(super) fn title(&self, sweep: &FigureSweep) -> String {
        let event = &sweep.event;
        match &self.asked {
            Asked::Moved => format!("How many table entries change when {event}?"),
            Asked::Load(pattern) => {
                format!("{}: how loaded is the worst port when {event}?", traffic(pattern))
            }
            Asked::Rate(pattern) => {
                format!("{}: how fast are the flows when {event}?", traffic(pattern))
            }
        }
    }

    /// Returns what the lower bound means, if there is one. That of updates is of the tables of one engine.
    pub(super) fn limit_words(&self, engine: &str) -> Option<String> {
        match self.asked {
            Asked::Moved => Some(format!(
                "Dashed: entries of {engine}'s tables that must change, whatever the new tables are."
            )),
            Asked::Load(_) => Some("Dashed: a lower bound for any routing.".into()),
            Asked::Rate(_) => None,
        }
    }

    /// Returns which values are better, in words.
    pub(super) fn better_words(&self) -> &'static str {
        match self.measure.better {
            Better::Less => "Lower is better.",
            Better::More => "Higher is better.",
        }
    }
}

/// Returns the traffic of a pattern in words.
fn traffic(pattern: &str) -> &'static str {
    match pattern.split(':').next().unwrap_or_default() {
        "a2a" => "All-to-all",
        "rp" => "Permutations",
        "bisection" => "Bisections",
        "ring" => "Ring",
        "recursive-doubling" => "Recursive doubling",
        "halving" => "Recursive halving",
        "tree" => "Binary tree",
        "neighbours" => "Neighbours in a grid",
        "incast" => "Incast",
        "storage" => "Storage",
        _ => "Shifts",
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
        ("a2a", Some(_)) => format!("{load}, worst phase of all-to-all"),
        ("neighbours", Some(n)) => format!("{load}, neighbours in a grid of {n}"),
        ("incast", Some(n)) => format!("{load}, median of draws in which {n} send to one"),
        ("storage", Some(_)) => format!("{load}, to storage or back"),
        (_, Some(n)) => format!("{load}, mean of {n} shifts"),
        ("ring", None) => format!("{load}, every node sends to the next"),
        ("tree", None) => format!("{load}, edges of a binary tree"),
        ("halving", None) => format!("{load}, worst step of recursive halving"),
        ("recursive-doubling", None) => format!("{load}, worst step of recursive doubling"),
        ("sp", None) => format!("{load}, mean of all shifts"),
        (_, None) => format!("{load}, every node sends to every other"),
    }
}
