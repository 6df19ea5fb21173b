//! The summary of a study: means over throws by fabric, degradation and engine, and engines beside each other
//! on equal throws.
//!
//! Slow engines have fewer throws than others, and an engine may refuse some; means over different throws are
//! means of different accidents. So every pair of engines is compared on the throws that both have, and on
//! no others.

mod text;

use std::collections::BTreeMap;

use super::measures::{Measure, values};
use super::rows::{Row, quoted};

/// What a throw gives, measure by measure: the value, and what it cannot go below.
type Numbers = Vec<(Option<f64>, Option<f64>)>;

/// The throws of one engine that it gave tables for.
#[derive(Clone, Debug, Default)]
struct Throws {
    measured: BTreeMap<u32, Numbers>,
    /// How many it refused.
    refused: usize,
}

/// One degradation of one fabric.
#[derive(Clone, Debug)]
struct Place {
    fabric: String,
    nodes: String,
    switches: String,
    cables_asked: String,
    switches_asked: String,
    /// By engine.
    engines: Vec<Throws>,
}

/// Means of a measure over some throws.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mean {
    value: f64,
    least: Option<f64>,
    throws: usize,
}

/// Everything that is told of a merged table in short.
#[derive(Clone, Debug)]
pub struct Summary {
    study: String,
    measures: Vec<Measure>,
    engines: Vec<String>,
    places: Vec<Place>,
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

impl Summary {
    /// Summarises the rows of a merged table.
    pub fn new(rows: &[Row]) -> Self {
        let measures = Measure::all(&values(rows, "pattern"));
        let engines: Vec<String> = values(rows, "engine").into_iter().map(Into::into).collect();
        let mut places: Vec<Place> = Vec::new();
        for row in rows {
            // Rows stand by place.
            if !places.last().is_some_and(|place| place.is_of(row)) {
                places.push(Place::new(row, engines.len()));
            }
            let engine = engines.iter().position(|engine| engine == row.get("engine"));
            if let (Some(place), Some(engine)) = (places.last_mut(), engine) {
                place.engines[engine].take(row, &measures);
            }
        }
        let study = rows.first().map_or(String::new(), |row| row.get("study").into());
        Summary { study, measures, engines, places }
    }

    /// The engines, in the order of the table.
    pub fn engines(&self) -> &[String] {
        &self.engines
    }

    /// A line for each fabric, degradation and engine: means over the throws that this engine has.
    pub fn means(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for place in &self.places {
            for (at, throws) in place.engines.iter().enumerate() {
                if throws.is_absent() {
                    continue;
                }
                let mut record = place.record();
                record.push(("engine".into(), Field::Text(self.engines[at].clone())));
                for (name, count) in
                    [("throws", throws.measured.len()), ("refused", throws.refused)]
                {
                    record.push((name.into(), Field::Number(Some(count as f64))));
                }
                for (m, measure) in self.measures.iter().enumerate() {
                    let mean = throws.mean(m, None);
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
                        let Some((mine, its)) = place.pair(m, at, other) else { continue };
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
                            ("throws".into(), number(mine.throws as f64)),
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

impl Place {
    fn new(row: &Row, engines: usize) -> Self {
        let text = |column| row.get(column).to_string();
        Place {
            fabric: text("fabric"),
            nodes: text("nodes"),
            switches: text("switches"),
            cables_asked: text("cables_asked"),
            switches_asked: text("switches_asked"),
            engines: vec![Throws::default(); engines],
        }
    }

    fn is_of(&self, row: &Row) -> bool {
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

    /// The means of two engines over the throws that both have; none of an engine with itself.
    fn pair(&self, measure: usize, engine: usize, peer: usize) -> Option<(Mean, Mean)> {
        let (mine, its) = (&self.engines[engine], &self.engines[peer]);
        let both = mine.mean(measure, Some(its)).zip(its.mean(measure, Some(mine)));
        both.filter(|_| engine != peer)
    }

    /// The peers that are below an engine on equal throws, the farthest below first; `None` where there is
    /// nothing to compare.
    fn below(&self, measure: usize, engine: usize) -> Option<Vec<(usize, Mean, Mean)>> {
        self.engines[engine].mean(measure, None)?;
        let peers = (0..self.engines.len()).filter_map(|peer| {
            self.pair(measure, engine, peer).map(|(mine, its)| (peer, mine, its))
        });
        let mut below: Vec<_> = peers.filter(|(_, mine, its)| its.value < mine.value).collect();
        below.sort_by(|a, b| (a.2.value / a.1.value).total_cmp(&(b.2.value / b.1.value)));
        Some(below)
    }
}

impl Throws {
    /// Whether the engine takes no part here.
    fn is_absent(&self) -> bool {
        self.measured.is_empty() && self.refused == 0
    }

    /// Takes what a row tells. A throw has a row for each pattern.
    fn take(&mut self, row: &Row, measures: &[Measure]) {
        let Ok(throw) = row.get("throw").parse() else { return };
        if !row.get("refused").is_empty() {
            let is_first = measures.first().is_some_and(|measure| measure.is_in(row));
            self.refused += usize::from(is_first);
            return;
        }
        let nothing = || vec![(None, None); measures.len()];
        let numbers = self.measured.entry(throw).or_insert_with(nothing);
        for (measure, number) in measures.iter().zip(numbers) {
            if measure.is_in(row) {
                *number = (measure.value(row), measure.least(row));
            }
        }
    }

    /// The mean over all throws, or those that a peer has, too.
    fn mean(&self, measure: usize, peer: Option<&Throws>) -> Option<Mean> {
        let is_common = |throw: &u32| {
            let of = |peer: &Throws| peer.measured.get(throw).and_then(|n| n[measure].0).is_some();
            peer.is_none_or(of)
        };
        let (mut value, mut least, mut throws) = (0.0, Some(0.0), 0);
        for (_, numbers) in self.measured.iter().filter(|(throw, _)| is_common(throw)) {
            let (Some(number), its_least) = numbers[measure] else { continue };
            value += number;
            least = least.zip(its_least).map(|(sum, least)| sum + least);
            throws += 1;
        }
        let mean = |sum: f64| sum / throws as f64;
        (throws > 0).then(|| Mean { value: mean(value), least: least.map(mean), throws })
    }
}
