//! The summary of a study: means over throws by fabric, degradation and engine, and engines beside each other
//! on equal throws.
//!
//! Slow engines have fewer throws than others, and an engine may refuse some; means over different throws are
//! means of different accidents. So every pair of engines is compared on the throws that both have, and on
//! no others. An engine that loses pairs has less traffic to carry: throws in which one of the two loses pairs do not
//! count either, and the summary says how many these are.

mod text;

use std::collections::BTreeMap;

use super::measures::{Measure, values};
use super::rows::{StudyRow, quoted};

/// What a throw gives, measure by measure: the value, and what it cannot go below.
type Numbers = Vec<(Option<f64>, Option<f64>)>;

/// The throws of one engine that it gave tables for.
#[derive(Clone, Debug, Default)]
struct EngineTrials {
    measured: BTreeMap<u32, Numbers>,
    /// How many pairs it loses in those throws in which it loses some.
    lost: BTreeMap<u32, u64>,
    /// How many it refused.
    refused: usize,
}

/// One degradation of one fabric.
#[derive(Clone, Debug)]
struct Scenario {
    fabric: String,
    nodes: String,
    switches: String,
    cables_asked: String,
    switches_asked: String,
    /// By engine.
    engines: Vec<EngineTrials>,
}

/// Means of a measure over some throws.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mean {
    value: f64,
    least: Option<f64>,
    trials: usize,
}

/// What engines are compared by.
#[derive(Clone, Copy, Debug)]
struct ComparedBy {
    measure: usize,
    /// Whether throws count in which pairs are lost.
    with_loss: bool,
}

/// How an engine stands in one measure, beside those that it can be compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Standing {
    Lowest,
    /// Others are below it; the one that is farthest below.
    Above {
        peer: usize,
        mine: Mean,
        its: Mean,
    },
    /// In every throw that it shares with another, one of the two loses pairs.
    Incomparable,
}

/// Everything that is told of a merged table in short.
#[derive(Clone, Debug)]
pub struct StudySummary {
    study: String,
    measures: Vec<Measure>,
    engines: Vec<String>,
    places: Vec<Scenario>,
}

/// A line of a table: columns and what stands in them.
pub type Record = Vec<(String, Field)>;

/// What stands in a column.
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
        let measures = Measure::all(&values(rows, "pattern"));
        let engines: Vec<String> = values(rows, "engine").into_iter().map(Into::into).collect();
        let mut places: Vec<Scenario> = Vec::new();
        for row in rows {
            // Rows stand by place.
            if !places.last().is_some_and(|place| place.is_of(row)) {
                places.push(Scenario::new(row, engines.len()));
            }
            let engine = engines.iter().position(|engine| engine == row.get("engine"));
            if let (Some(place), Some(engine)) = (places.last_mut(), engine) {
                place.engines[engine].take(row, &measures);
            }
        }
        let study = rows.first().map_or(String::new(), |row| row.get("study").into());
        StudySummary { study, measures, engines, places }
    }

    /// Engines are compared by this measure only where they lose nothing, unless it counts lost pairs itself.
    fn compared(&self, measure: usize) -> ComparedBy {
        ComparedBy { measure, with_loss: self.measures[measure].counts_pairs() }
    }

    /// The engines, in the order of the table.
    pub fn engines(&self) -> &[String] {
        &self.engines
    }

    /// A line for each fabric, degradation and engine: means over the throws that this engine has.
    pub fn means(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for place in &self.places {
            for (at, trials) in place.engines.iter().enumerate() {
                if trials.is_absent() {
                    continue;
                }
                let mut record = place.record();
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

    /// A line for each fabric, degradation, measure and ordered pair of engines: the means of both over the
    /// throws that both have.
    pub fn versus(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for place in &self.places {
            for (m, measure) in self.measures.iter().enumerate() {
                for (at, engine) in self.engines.iter().enumerate() {
                    for (other, peer) in self.engines.iter().enumerate() {
                        let compared = self.compared(m);
                        let Some((mine, its)) = place.pair(compared, at, other) else { continue };
                        let text = |text: &str| Field::Text(text.into());
                        let number = |number| Field::Number(Some(number));
                        let verdict = match mine.value.total_cmp(&its.value) {
                            std::cmp::Ordering::Less => "lower",
                            std::cmp::Ordering::Equal => "equal",
                            std::cmp::Ordering::Greater => "higher",
                        };
                        let mut record = place.record();
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

/// Lines as CSV, with their columns first.
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

/// A mean, as exactly as anybody wants it.
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

    /// What every line of a table begins with.
    fn record(&self) -> Record {
        let text = |name: &str, text: &String| (name.into(), Field::Text(text.clone()));
        vec![
            text("fabric", &self.fabric),
            ("nodes".into(), Field::Number(self.nodes.parse().ok())),
            text("cables_asked", &self.cables_asked),
            text("switches_asked", &self.switches_asked),
        ]
    }

    /// The means of two engines over the throws on which they can be compared; none of an engine with itself.
    fn pair(&self, compared: ComparedBy, engine: usize, peer: usize) -> Option<(Mean, Mean)> {
        let (mine, its) = (&self.engines[engine], &self.engines[peer]);
        let both = mine.mean_beside(compared, its).zip(its.mean_beside(compared, mine));
        both.filter(|_| engine != peer)
    }

    /// The place of an engine among those that it can be compared with; `None` where it has no figures.
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
        let below = pairs.into_iter().filter(|(_, mine, its)| its.value < mine.value);
        let ratio = |(_, mine, its): &(usize, Mean, Mean)| its.value / mine.value;
        let farthest = below.min_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        Some(farthest.map_or(Standing::Lowest, |(peer, mine, its)| Standing::Above {
            peer,
            mine,
            its,
        }))
    }
}

impl EngineTrials {
    /// Whether the engine takes no part here.
    fn is_absent(&self) -> bool {
        self.measured.is_empty() && self.refused == 0
    }

    /// Takes what a row tells. A throw has a row for each pattern.
    fn take(&mut self, row: &StudyRow, measures: &[Measure]) {
        let Ok(trial) = row.get("throw").parse() else { return };
        if !row.get("refused").is_empty() {
            let is_first = measures.first().is_some_and(|measure| measure.is_in(row));
            self.refused += usize::from(is_first);
            return;
        }
        if row.lost() > 0 {
            self.lost.insert(trial, row.lost());
        }
        let nothing = || vec![(None, None); measures.len()];
        let numbers = self.measured.entry(trial).or_insert_with(nothing);
        for (measure, number) in measures.iter().zip(numbers) {
            if measure.is_in(row) {
                *number = (measure.value(row), measure.least(row));
            }
        }
    }

    /// The mean over all throws.
    fn mean(&self, measure: usize) -> Option<Mean> {
        self.mean_over(measure, |_| true)
    }

    /// The mean over the throws on which a peer can be compared with this engine.
    fn mean_beside(&self, compared: ComparedBy, peer: &EngineTrials) -> Option<Mean> {
        self.mean_over(compared.measure, |trial| {
            let its = peer.measured.get(trial).and_then(|numbers| numbers[compared.measure].0);
            let lost = self.lost.contains_key(trial) || peer.lost.contains_key(trial);
            its.is_some() && (compared.with_loss || !lost)
        })
    }

    fn mean_over(&self, measure: usize, is_meant: impl Fn(&u32) -> bool) -> Option<Mean> {
        let (mut value, mut least, mut trials) = (0.0, Some(0.0), 0);
        for (_, numbers) in self.measured.iter().filter(|(trial, _)| is_meant(trial)) {
            let (Some(number), its_least) = numbers[measure] else { continue };
            value += number;
            least = least.zip(its_least).map(|(sum, least)| sum + least);
            trials += 1;
        }
        let mean = |sum: f64| sum / trials as f64;
        (trials > 0).then(|| Mean { value: mean(value), least: least.map(mean), trials })
    }
}
