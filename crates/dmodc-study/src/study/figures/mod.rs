//! Figures of a study: for each fabric and each question one chart with a curve for each engine.
//!
//! The questions are how loaded the worst port is with a traffic pattern, how fast its flows are if the study has rates,
//! and how many entries of the forwarding tables change, while cables or switches fail. A *sweep* is a list of degradations along
//! one axis: growing numbers of failed cables with a fixed number of failed switches, or the other way round. A degradation with
//! very many draws has figures of rare events, too.

mod engines;
mod question;
mod rare;
mod sweep;

use std::collections::HashSet;

use super::measures::values;
use super::rows::StudyRow;
use crate::figure::{Across, Chart, ChartPoint, Curve, Unit, engine_style};
use engines::drawn;
use question::Question;
use sweep::{AskedLevel, FigureSweep, is_at};

/// Which figures are drawn, and with which engines; everything if nothing is chosen.
#[derive(Clone, Debug, Default)]
pub struct FigureChoice {
    /// The name of a fabric of the plan.
    pub fabric: Option<String>,
    /// A pattern, such as `rp` or `rp:1000`, its rates, such as `rp-rate`, or `moved`.
    pub pattern: Option<String>,
    /// What fails: `cables`, `switches`, or the name of another sweep.
    pub failed: Option<String>,
    /// The engines, in the order of their curves.
    pub engines: Vec<String>,
    /// The command that makes the figures again; it is written into them.
    pub command: String,
}

/// A figure and the name of its file.
#[derive(Clone, Debug)]
pub struct FigureFile {
    /// The name of the file, without an ending.
    pub name: String,
    /// The figure as SVG.
    pub svg: String,
}

/// Returns the chosen figures of a merged table.
///
/// # Errors
/// If a chosen thing is not in the table, or nothing is there to draw.
pub fn draw(rows: &[StudyRow], choice: &FigureChoice) -> Result<Vec<FigureFile>, String> {
    let first = rows.first().ok_or("the table has no rows: there is nothing to draw")?;
    let study = first.get("study");
    let fabrics = values(rows, "fabric");
    let sweeps = FigureSweep::all(rows)?;
    let patterns = values(rows, "pattern");
    let questions = Question::all(&patterns, first.has_rates());
    let files = file_names(&fabrics);
    let is_chosen =
        |choice: &Option<String>, name: &str| choice.as_deref().is_none_or(|chosen| chosen == name);
    known("fabric", &choice.fabric, &fabrics)?;
    known("sweep", &choice.failed, &sweeps.iter().map(|s| s.name.as_str()).collect::<Vec<_>>())?;
    if let Some(pattern) = &choice.pattern
        && !questions.iter().any(|q| q.is_called(pattern) || q.is_called_rare(pattern))
    {
        let names: Vec<&str> = questions.iter().map(Question::name).collect();
        return Err(not_there("pattern", pattern, &names));
    }
    let mut figures = Vec::new();
    for (fabric, file) in fabrics.iter().zip(&files) {
        let of_fabric: Vec<&StudyRow> =
            rows.iter().filter(|row| row.get("fabric") == *fabric).collect();
        let engines = drawn(&values(rows, "engine"), &choice.engines, &of_fabric)?;
        let table = FabricTable { rows: of_fabric, name: fabric, engines };
        if !is_chosen(&choice.fabric, fabric) {
            continue;
        }
        if choice.failed.is_none() {
            figures.extend(table.rare_figures(&questions, choice, &format!("{study}-{file}"))?);
        }
        for (at, sweep) in sweeps.iter().enumerate() {
            if !is_chosen(&choice.failed, &sweep.name) {
                continue;
            }
            let along = if at == 0 { String::new() } else { format!("-{}", sweep.name) };
            for question in &questions {
                if !question.is_chosen(choice.pattern.as_deref()) {
                    continue;
                }
                let name = format!("{study}-{file}{along}-{}", question.file);
                let chart = table.chart(sweep, question, &choice.command);
                // An engine may take part on other fabrics only, or refuse all faults.
                if chart.curves.is_empty() {
                    continue;
                }
                let svg = chart.svg().map_err(|error| format!("{name}: {error}"))?;
                figures.push(FigureFile { name, svg });
            }
        }
    }
    match figures.is_empty() {
        true => Err("there is nothing to draw".into()),
        false => Ok(figures),
    }
}

/// Refuses a name that is not there.
fn known(what: &str, chosen: &Option<String>, names: &[&str]) -> Result<(), String> {
    match chosen {
        Some(name) if !names.contains(&name.as_str()) => Err(not_there(what, name, names)),
        _ => Ok(()),
    }
}

fn not_there(what: &str, name: &str, names: &[&str]) -> String {
    format!("no {what} of the study is called '{name}': {}", names.join(", "))
}

/// Returns the part of a file's name for each fabric: letters and digits of its name, with a number if two are equal.
fn file_names(fabrics: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for fabric in fabrics {
        let words: Vec<String> = fabric
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        let plain = if words.is_empty() { "fabric".into() } else { words.join("-") };
        let mut name = plain.clone();
        let mut number = 2;
        while names.contains(&name) {
            name = format!("{plain}-{number}");
            number += 1;
        }
        names.push(name);
    }
    names
}

/// The rows of one fabric, and the engines that are drawn.
struct FabricTable<'a> {
    rows: Vec<&'a StudyRow>,
    name: &'a str,
    engines: Vec<&'a str>,
}

/// A step of a sweep: the draws that all engines have, each with its rows of one pattern.
struct Step<'a> {
    rows: Vec<&'a StudyRow>,
    draws: usize,
}

impl FabricTable<'_> {
    /// Returns the figures of rare events, for each degradation with very many draws.
    fn rare_figures(
        &self,
        questions: &[Question],
        choice: &FigureChoice,
        file: &str,
    ) -> Result<Vec<FigureFile>, String> {
        let mut figures = vec![];
        for level in self.levels_with_many_draws() {
            for question in questions.iter().filter(|q| q.is_rare_chosen(choice.pattern.as_deref()))
            {
                let chart = self.rare_chart(&level, question, &choice.command);
                if chart.curves.is_empty() {
                    continue;
                }
                let name = format!("{file}-{}-{}", rare::level_file(&level), question.rare_name());
                let svg = chart.svg().map_err(|error| format!("{name}: {error}"))?;
                figures.push(FigureFile { name, svg });
            }
        }
        Ok(figures)
    }

    /// Returns the rows of a degradation in the draws that all engines have. An engine that is slow has fewer draws than
    /// others, and means are comparable only if they are over the same faults.
    fn step(&self, level: &AskedLevel, question: &Question) -> Step<'_> {
        let of_level: Vec<&StudyRow> = self
            .rows
            .iter()
            .copied()
            .filter(|row| is_at(row, level) && question.measure.is_in(row))
            .collect();
        let draws_of = |engine: &&str| -> HashSet<&str> {
            let rows = of_level.iter().filter(|row| row.get("engine") == *engine);
            rows.map(|row| row.get("throw")).collect()
        };
        let each: Vec<HashSet<&str>> = self.engines.iter().map(draws_of).collect();
        let is_common = |draw: &str| each.iter().all(|draws| draws.contains(draw));
        let mut draws: HashSet<&str> = each.first().cloned().unwrap_or_default();
        draws.retain(|draw| is_common(draw));
        let count = draws.len();
        let rows = of_level.into_iter().filter(|row| draws.contains(row.get("throw"))).collect();
        Step { rows, draws: count }
    }

    fn chart(&self, sweep: &FigureSweep, question: &Question, command: &str) -> Chart {
        // Nothing moves while nothing fails.
        let levels: Vec<(&AskedLevel, &String)> = sweep
            .steps()
            .filter(|(level, _)| !question.is_of_updates() || !level.is_healthy())
            .collect();
        let steps: Vec<Step<'_>> =
            levels.iter().map(|(level, _)| self.step(level, question)).collect();
        let mut left_out = Vec::new();
        let mut curves = Vec::new();
        for (at, engine) in self.engines.iter().enumerate() {
            let values = |step: &Step<'_>| -> Vec<f64> {
                let rows = step.rows.iter().filter(|row| row.get("engine") == *engine);
                rows.filter_map(|row| question.measure.comparable(row)).collect()
            };
            let each: Vec<Vec<f64>> = steps.iter().map(values).collect();
            let all: usize = steps.iter().map(|step| step.draws).sum();
            let missing = all - each.iter().map(Vec::len).sum::<usize>();
            if missing > 0 {
                left_out.push(format!("{engine} {missing} of {all}"));
            }
            let points = each.iter().enumerate().filter_map(|(step, values)| point(step, values));
            let style = engine_style(&self.engines, at);
            let points: Vec<ChartPoint> = points.collect();
            if !points.is_empty() {
                curves.push(Curve { name: (*engine).into(), style, points });
            }
        }
        Chart {
            title: question.title(sweep),
            caption: self.caption(&steps, question, &left_out),
            source: vec![format!("Drawn by: {command}")],
            across: Across::Steps(levels.iter().map(|(_, label)| (*label).clone()).collect()),
            across_label: sweep.axis.clone(),
            up_label: question.axis.clone(),
            unit: if question.is_of_updates() { Unit::Percent } else { Unit::Count },
            curves,
            limit: self.limit(&steps, question),
        }
    }

    /// Returns the lower bound: that of the first engine, over the draws in which it loses no pair.
    fn limit(&self, steps: &[Step<'_>], question: &Question) -> Option<Curve> {
        let first = self.engines.first()?;
        let least = |(at, step): (usize, &Step<'_>)| {
            let rows =
                step.rows.iter().filter(|row| row.get("engine") == *first && row.lost() == 0);
            let values: Vec<f64> = rows.filter_map(|row| question.measure.least(row)).collect();
            point(at, &values).map(|point| ChartPoint { range: None, ..point })
        };
        let points: Vec<ChartPoint> = steps.iter().enumerate().filter_map(least).collect();
        (!points.is_empty()).then(|| Curve { name: "lower bound".into(), style: 0, points })
    }

    fn caption(&self, steps: &[Step<'_>], question: &Question, left_out: &[String]) -> Vec<String> {
        let draws = match steps.iter().map(|step| step.draws).max() {
            None | Some(0 | 1) => "One random draw of faults, the same for all engines.".into(),
            Some(draws) => format!(
                "Mean of {draws} random draws of faults, the same for all engines; thin bars: lowest to highest."
            ),
        };
        let first = self.engines.first().copied().unwrap_or_default();
        let mut sentences = vec![self.size_words(), draws];
        sentences.extend(question.limit_words(first));
        if !left_out.is_empty() {
            sentences.push(format!(
                "Left out are cases in which an engine gave no tables or lost pairs: {}.",
                left_out.join(", ")
            ));
        }
        sentences.extend(self.refusals());
        sentences.push(question.better_words().into());
        sentences
    }

    /// Returns a sentence for each engine that gave no tables at all for this fabric, with the reason.
    fn refusals(&self) -> Vec<String> {
        let refusal = |engine: &&str| {
            let mut rows = self.rows.iter().filter(|row| row.get("engine") == *engine);
            let why = self.rows.iter().find(|row| row.get("engine") == *engine)?.get("refused");
            let all_refused = rows.all(|row| !row.get("refused").is_empty());
            all_refused
                .then(|| format!("{engine} refuses this fabric: {}.", why.trim_end_matches('.')))
        };
        self.engines.iter().filter_map(refusal).collect()
    }
}

/// Returns the mean of some values and their range, at a step.
fn point(step: usize, values: &[f64]) -> Option<ChartPoint> {
    let least = values.iter().copied().reduce(f64::min)?;
    let most = values.iter().copied().reduce(f64::max)?;
    let up = values.iter().sum::<f64>() / values.len() as f64;
    let range = (values.len() > 1).then_some((least, most));
    Some(ChartPoint { across: step as f64, up, range })
}

#[cfg(test)]
mod tests;
