//! The fair rates of an analysis, as text, JSON and tiles of the HTML page.

use std::fmt::Write as _;

use crate::analysis::{Pattern, PatternFlows, TooManyFlows, rates};
use anyhow::Result;
use dmodc::fabric::Rate;
use dmodc::judge::rates::{FairRates, PatternRates, StepSummary};
use serde_json::{Value, json};

use super::super::text::{counted, number};

/// The rates of all patterns, and the speeds of the cables that they come from.
pub struct AnalysisRates {
    patterns: Vec<NamedRates>,
    /// The cable whose speed is 1; `None` if the fabric names no speeds.
    unit: Option<Rate>,
    /// The number of links, and of those whose speed is not known.
    links: usize,
    unknown: usize,
    /// Whether all links have the same speed.
    are_equal: bool,
}

/// The rates of a pattern.
struct NamedRates {
    pattern: Pattern,
    rates: Result<PatternRates, TooManyFlows>,
}

impl AnalysisRates {
    /// Computes the rates of all patterns.
    ///
    /// # Errors
    /// If one of the patterns that were asked for has too many flows. If nobody asked for certain patterns, it has no rates.
    pub fn new(
        fair: &FairRates<'_>,
        flows: &[PatternFlows],
        seed: u64,
        are_asked_for: bool,
    ) -> Result<Self> {
        // A pattern with too many flows is refused before others take time.
        for flows in flows.iter().filter(|_| are_asked_for) {
            flows.check_rates(fair.traffic().nodes().len())?;
        }
        let of = |flows: &PatternFlows| NamedRates {
            pattern: flows.pattern.clone(),
            rates: rates(fair, flows, seed),
        };
        let speeds = fair.speeds();
        Ok(AnalysisRates {
            patterns: flows.iter().map(of).collect(),
            unit: speeds.unit(),
            links: speeds.capacities().len(),
            unknown: speeds.unknown(),
            are_equal: speeds.are_equal(),
        })
    }

    fn gigabits(&self) -> Option<f64> {
        self.unit.and_then(Rate::gigabits)
    }

    /// Returns what a rate of 1 is, in words.
    pub fn speeds_text(&self) -> String {
        let Some((unit, speed)) = self.unit.zip(self.gigabits()) else {
            return "rates: the fabric names no speeds, so every cable has speed 1\n".into();
        };
        let mut text = format!(
            "rates: 1 is the speed of a node's cable, {unit} ({} Gb/s of data)",
            short(speed)
        );
        text += match self.are_equal {
            true => "; all cables have this speed",
            false => "; cables of other speeds count as such",
        };
        if self.unknown > 0 {
            let _ = write!(
                text,
                "; {} of {} have no known speed and count as 1",
                number(self.unknown),
                counted(self.links, "directed link"),
            );
        }
        text + "\n"
    }

    /// Returns the rates of a pattern in words.
    pub fn text(&self, at: usize) -> String {
        let NamedRates { pattern, rates } = &self.patterns[at];
        let rates = match rates {
            Ok(rates) if rates.flows() + rates.undelivered() == 0 => {
                return "  fair rates: there are no flows\n".into();
            }
            Ok(rates) if rates.flows() == 0 => return "  fair rates: no flow arrives\n".into(),
            Ok(rates) => rates,
            Err(TooManyFlows { flows, .. }) => {
                return format!(
                    "  fair rates: none, because {} at the same time are more than {}\n",
                    counted(*flows, "flow"),
                    number(FairRates::MOST_FLOWS),
                );
            }
        };
        let steps = rates.steps.len();
        let (over, time) = match (steps, rates.is_collective) {
            (1, _) => (String::new(), String::new()),
            (_, true) => {
                let steps = counted(steps, "step");
                (format!(", on average over {steps}"), format!(", added up over {steps}"))
            }
            (_, false) => {
                let over = format!(", on average over {} patterns", number(steps));
                (over.clone(), over)
            }
        };
        let mut text = format!(
            "  fair rates: mean {}, 1st percentile {}{over}; least {}\n",
            short(rates.mean()),
            short(rates.p1()),
            short(rates.min()),
        );
        let _ = writeln!(
            text,
            "  equal messages: the last arrives after {}, the mean is {}{time}",
            short(rates.completion()),
            short(rates.mean_completion()),
        );
        if matches!(pattern, Pattern::Bisections(_)) {
            let speed = self
                .gigabits()
                .map(|unit| format!(" ({} Gb/s for each node)", short(unit * rates.mean())));
            let _ = writeln!(
                text,
                "  effective bisection bandwidth: {} of a node's cable{}",
                short(rates.mean()),
                speed.unwrap_or_default(),
            );
        }
        text
    }

    /// Returns the rates of a pattern as JSON.
    pub fn json(&self, at: usize) -> Value {
        let NamedRates { pattern, rates: Ok(rates) } = &self.patterns[at] else {
            return Value::Null;
        };
        let known = |value: f64| (rates.flows() > 0).then_some(value);
        let mut value = json!({
            "flows": rates.flows(),
            "undelivered": rates.undelivered(),
            "mean": known(rates.mean()),
            "p1": known(rates.p1()),
            "min": known(rates.min()),
            "completion": known(rates.completion()),
            "mean_completion": known(rates.mean_completion()),
        });
        if matches!(pattern, Pattern::Bisections(_)) {
            value["effective_bisection_bandwidth"] = json!(known(rates.mean()));
        }
        if rates.is_collective {
            let step = |step: &StepSummary| {
                let known = |value: f64| (step.flows > 0).then_some(value);
                json!({
                    "flows": step.flows,
                    "undelivered": step.undelivered,
                    "mean": known(step.mean),
                    "p1": known(step.p1),
                    "min": known(step.min),
                    "completion": known(step.completion),
                    "mean_completion": known(step.mean_completion),
                })
            };
            value["by_step"] = rates.steps.iter().map(step).collect();
        }
        value
    }

    /// Returns the speeds of links as JSON.
    pub fn speeds_json(&self) -> Value {
        json!({
            "unit": self.unit.map(|unit| unit.to_string()),
            "unit_gbps": self.gigabits(),
            "equal": self.are_equal,
            "links": self.links,
            "unknown": self.unknown,
        })
    }

    /// Returns the rates of a pattern as names and values.
    pub fn tiles(&self, at: usize) -> Vec<(String, String)> {
        let rates = match &self.patterns[at].rates {
            Ok(rates) if rates.flows() > 0 => rates,
            _ => return Vec::new(),
        };
        let tile = |name: &str, value: f64| (name.to_string(), short(value));
        vec![
            tile("mean rate", rates.mean()),
            tile("1st percentile of the rates", rates.p1()),
            tile("least rate", rates.min()),
            tile("equal messages: the last arrives after", rates.completion()),
            tile("equal messages: mean time", rates.mean_completion()),
        ]
    }
}

/// Returns a number with at most four decimals, for people.
pub(super) fn short(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}
