//! The summary of a study: means over trials by fabric, degradation and engine, and comparisons of engines on the same
//! trials.
//!
//! Slow engines have fewer trials than others, and an engine may refuse some; means over different trials are means of
//! different accidents. So every pair of engines is compared on the trials that both have, and on no others. An engine
//! that loses pairs has less traffic to carry: trials in which one of the two loses pairs do not count either, and the
//! summary reports their number.

mod text;

use std::collections::BTreeMap;

use super::measures::{Better, Measure, values};
use super::rows::{StudyRow, quoted};

/// The value of a measure in a trial, and its lower bound.
#[derive(Clone, Copy, Debug, Default)]
struct MeasuredValue {
    value: Option<f64>,
    least: Option<f64>,
}

/// The trials of one engine.
#[derive(Clone, Debug, Default)]
struct EngineTrials {
    /// For each trial in which it gave tables, the values of all measures.
    measured: BTreeMap<u32, Vec<MeasuredValue>>,
    /// The number of lost pairs, for each trial in which it loses some.
    lost: BTreeMap<u32, u64>,
    /// The number of trials that it refused.
    refused: usize,
    /// Why it refused the first of them.
    why_refused: String,
}

/// One degradation of one fabric.
#[derive(Clone, Debug)]
struct Scenario {
    fabric: String,
    nodes: String,
    switches: String,
    cables_asked: String,
    switches_asked: String,
    /// The trials of each engine.
    engines: Vec<EngineTrials>,
}

/// The mean of a measure over some trials.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mean {
    value: f64,
    least: Option<f64>,
    trials: usize,
}

/// How engines are compared.
#[derive(Clone, Copy, Debug)]
struct ComparedBy {
    measure: usize,
    /// Whether trials count in which pairs are lost.
    with_loss: bool,
    better: Better,
}

/// The position of an engine in one measure, among those with which it can be compared.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Standing {
    /// No other engine is better.
    Best,
    /// Others are better; `peer` is the farthest ahead.
    Behind { peer: usize, mine: Mean, its: Mean },
    /// In every trial that it shares with another engine, one of the two loses pairs.
    Incomparable,
}

/// The summary of a merged table.
#[derive(Clone, Debug)]
pub struct StudySummary {
    study: String,
    measures: Vec<Measure>,
    engines: Vec<String>,
    scenarios: Vec<Scenario>,
}

/// A line of a table: the names of columns, and their values.
pub type Record = Vec<(String, Field)>;

/// A value of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum Field {
    /// A word.
    Text(String),
    /// A number, unless there is none.
    Number(Option<f64>),
}

impl StudySummary {
    /// Summarises the rows of a merged table.
    pub fn new(rows: &[StudyRow]) -> Self {
        let has_rates = rows.first().is_some_and(StudyRow::has_rates);
        let measures = Measure::all(&values(rows, "pattern"), has_rates);
        let engines: Vec<String> = values(rows, "engine").into_iter().map(Into::into).collect();
        let mut scenarios: Vec<Scenario> = Vec::new();
        for row in rows {
            // Rows of one scenario are next to each other.
            if !scenarios.last().is_some_and(|scenario| scenario.is_of(row)) {
                scenarios.push(Scenario::new(row, engines.len()));
            }
            let engine = engines.iter().position(|engine| engine == row.get("engine"));
            if let (Some(scenario), Some(engine)) = (scenarios.last_mut(), engine) {
                scenario.engines[engine].take(row, &measures);
            }
        }
        let study = rows.first().map_or(String::new(), |row| row.get("study").into());
        StudySummary { study, measures, engines, scenarios }
    }

    /// Returns how engines are compared by a measure: only where they lose nothing, unless it counts lost pairs itself.
    fn compared(&self, measure: usize) -> ComparedBy {
        let by = &self.measures[measure];
        ComparedBy { measure, with_loss: by.counts_pairs(), better: by.better }
    }

    /// Returns the engines, in the order of the table.
    pub fn engines(&self) -> &[String] {
        &self.engines
    }

    /// Returns a line for each fabric, degradation and engine: means over the trials of this engine.
    pub fn means(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for scenario in &self.scenarios {
            for (at, trials) in scenario.engines.iter().enumerate() {
                if trials.is_absent() {
                    continue;
                }
                let mut record = scenario.record();
                record.push(("engine".into(), Field::Text(self.engines[at].clone())));
                for (name, count) in [
                    ("throws", trials.measured.len()),
                    ("refused", trials.refused),
                    ("throws_with_lost_pairs", trials.lost.len()),
                ] {
                    record.push((name.into(), Field::Number(Some(count as f64))));
                }
                for (m, measure) in self.measures.iter().enumerate() {
                    let mean = trials.mean(m);
                    let value = mean.map(|mean| mean.value);
                    record.push((measure.key.clone(), Field::Number(value)));
                    if measure.has_least() {
                        let least = Field::Number(mean.and_then(|mean| mean.least));
                        record.push((format!("{}_least", measure.key), least));
                    }
                }
                records.push(record);
            }
        }
        records
    }

    /// Returns a line for each fabric, degradation, measure and ordered pair of engines: the means of both over the
    /// trials that both have.
    pub fn versus(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for scenario in &self.scenarios {
            for (m, measure) in self.measures.iter().enumerate() {
                for (at, engine) in self.engines.iter().enumerate() {
                    for (other, peer) in self.engines.iter().enumerate() {
                        let compared = self.compared(m);
                        let Some((mine, its)) = scenario.pair(compared, at, other) else {
                            continue;
                        };
                        let text = |text: &str| Field::Text(text.into());
                        let number = |number| Field::Number(Some(number));
                        let verdict = match mine.value.total_cmp(&its.value) {
                            std::cmp::Ordering::Less => "lower",
                            std::cmp::Ordering::Equal => "equal",
                            std::cmp::Ordering::Greater => "higher",
                        };
                        let mut record = scenario.record();
                        record.extend([
                            ("measure".into(), text(&measure.key)),
                            ("engine".into(), text(engine)),
                            ("peer".into(), text(peer)),
                            ("throws".into(), number(mine.trials as f64)),
                            ("engine_mean".into(), number(mine.value)),
                            ("peer_mean".into(), number(its.value)),
                            ("least".into(), Field::Number(mine.least)),
                            ("engine_is".into(), text(verdict)),
                        ]);
                        records.push(record);
                    }
                }
            }
        }
        records
    }
}

/// Returns lines as CSV, with a header.
pub(super) fn csv(records: &[Record]) -> String {
    let line = |fields: Vec<String>| fields.join(",") + "\n";
    let Some(first) = records.first() else { return String::new() };
    let mut text = line(first.iter().map(|(name, _)| quoted(name)).collect());
    for record in records {
        let field = |(_, field): &(String, Field)| match field {
            Field::Text(text) => quoted(text),
            Field::Number(number) => number.map_or(String::new(), rounded),
        };
        text += &line(record.iter().map(field).collect());
    }
    text
}

/// Returns a mean with at most six decimals.
fn rounded(number: f64) -> String {
    let text = format!("{number:.6}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

impl Scenario {
    fn new(row: &StudyRow, engines: usize) -> Self {
        let text = |column| row.get(column).to_string();
        Scenario {
            fabric: text("fabric"),
            nodes: text("nodes"),
            switches: text("switches"),
            cables_asked: text("cables_asked"),
            switches_asked: text("switches_asked"),
            engines: vec![EngineTrials::default(); engines],
        }
    }

    fn is_of(&self, row: &StudyRow) -> bool {
        self.fabric == row.get("fabric")
            && self.cables_asked == row.get("cables_asked")
            && self.switches_asked == row.get("switches_asked")
    }

    /// Returns the first columns of every line.
    fn record(&self) -> Record {
        let text = |name: &str, text: &String| (name.into(), Field::Text(text.clone()));
        vec![
            text("fabric", &self.fabric),
            ("nodes".into(), Field::Number(self.nodes.parse().ok())),
            text("cables_asked", &self.cables_asked),
            text("switches_asked", &self.switches_asked),
        ]
    }

    /// Returns the means of two engines over the trials on which they can be compared; `None` if there is no such trial,
    /// or for an engine and itself.
    fn pair(&self, compared: ComparedBy, engine: usize, peer: usize) -> Option<(Mean, Mean)> {
        let (mine, its) = (&self.engines[engine], &self.engines[peer]);
        let both = mine.mean_compared(compared, its).zip(its.mean_compared(compared, mine));
        both.filter(|_| engine != peer)
    }

    /// Returns the position of an engine among those with which it can be compared; `None` if it has no values.
    fn standing(&self, compared: ComparedBy, engine: usize) -> Option<Standing> {
        self.engines[engine].mean(compared.measure)?;
        let all = (0..self.engines.len()).filter(|&peer| peer != engine);
        let has_peers = all.clone().any(|peer| self.engines[peer].mean(compared.measure).is_some());
        let pairs: Vec<(usize, Mean, Mean)> = all
            .filter_map(|peer| {
                self.pair(compared, engine, peer).map(|(mine, its)| (peer, mine, its))
            })
            .collect();
        if pairs.is_empty() && has_peers {
            return Some(Standing::Incomparable);
        }
        let ahead =
            pairs.into_iter().filter(|(_, mine, its)| compared.better.is(its.value, mine.value));
        let lead = |(_, mine, its): &(usize, Mean, Mean)| match compared.better {
            Better::Less => its.value / mine.value,
            Better::More => mine.value / its.value,
        };
        let farthest = ahead.min_by(|a, b| lead(a).total_cmp(&lead(b)));
        Some(farthest.map_or(Standing::Best, |(peer, mine, its)| Standing::Behind {
            peer,
            mine,
            its,
        }))
    }
}

impl EngineTrials {
    /// Returns whether the engine takes no part in this scenario.
    fn is_absent(&self) -> bool {
        self.measured.is_empty() && self.refused == 0
    }

    /// Adds a row. A trial has a row for each pattern.
    fn take(&mut self, row: &StudyRow, measures: &[Measure]) {
        let Ok(trial) = row.get("throw").parse() else { return };
        if !row.get("refused").is_empty() {
            let is_first = measures.first().is_some_and(|measure| measure.is_in(row));
            self.refused += usize::from(is_first);
            if self.why_refused.is_empty() {
                self.why_refused = row.get("refused").into();
            }
            return;
        }
        if row.lost() > 0 {
            self.lost.insert(trial, row.lost());
        }
        let empty = || vec![MeasuredValue::default(); measures.len()];
        let numbers = self.measured.entry(trial).or_insert_with(empty);
        for (measure, number) in measures.iter().zip(numbers) {
            if measure.is_in(row) {
                *number = MeasuredValue { value: measure.value(row), least: measure.least(row) };
            }
        }
    }

    /// Returns the mean over all trials.
    fn mean(&self, measure: usize) -> Option<Mean> {
        self.mean_over(measure, |_| true)
    }

    /// Returns the mean over the trials on which this engine can be compared with a peer.
    fn mean_compared(&self, compared: ComparedBy, peer: &EngineTrials) -> Option<Mean> {
        self.mean_over(compared.measure, |trial| {
            let its = peer.measured.get(trial).and_then(|numbers| numbers[compared.measure].value);
            let lost = self.lost.contains_key(trial) || peer.lost.contains_key(trial);
            its.is_some() && (compared.with_loss || !lost)
        })
    }

    fn mean_over(&self, measure: usize, is_meant: impl Fn(&u32) -> bool) -> Option<Mean> {
        let (mut value, mut least, mut trials) = (0.0, Some(0.0), 0);
        for (_, numbers) in self.measured.iter().filter(|(trial, _)| is_meant(trial)) {
            let MeasuredValue { value: Some(number), least: bound } = numbers[measure] else {
                continue;
            };
            value += number;
            least = least.zip(bound).map(|(sum, least)| sum + least);
            trials += 1;
        }
        let mean = |sum: f64| sum / trials as f64;
        (trials > 0).then(|| Mean { value: mean(value), least: least.map(mean), trials })
    }
}
