//! Figures as in the paper: risk against degradation, what an update moves, and how many trials stay valid.
//!
//! A *sweep* is a list of degradations along one axis: growing numbers of dead cables with a fixed number of dead switches,
//! or the other way round; or both, side by side. Every sweep has three figures, each with a row of panels for every
//! fabric.

mod axis;
mod draw;
mod sweep;

use super::measures::{Measure, values};
use super::rows::StudyRow;
use crate::figure::thousands;
use axis::Axis;
use draw::{EngineCurve, Figure, PanelKind, StudyPanel};
use sweep::FigureSweep;

/// A figure and the name of its file.
#[derive(Clone, Debug)]
pub struct FigureFile {
    /// The name of the file, without an ending.
    pub name: String,
    /// The figure as SVG.
    pub svg: String,
}

/// Returns all figures of a merged table.
///
/// # Errors
/// If there is nothing to draw, or the drawing library fails.
pub fn draw(rows: &[StudyRow]) -> Result<Vec<FigureFile>, String> {
    let first = rows.first().ok_or("the table has no rows: there is nothing to draw")?;
    let study = first.get("study");
    let mut drawings = Vec::new();
    for sweep in FigureSweep::all(rows)? {
        let table = SweepTable { rows, sweep: &sweep };
        let kinds =
            [("risk", table.risk()), ("update", table.update()), ("validity", table.valid())];
        for (kind, figure) in kinds {
            let name = format!("{study}-{kind}{}", sweep.suffix);
            drawings.push(FigureFile { name, svg: figure.svg()? });
        }
    }
    Ok(drawings)
}

/// The greatest number of panels side by side.
const PANELS_IN_A_ROW: usize = 3;

/// The rows of a table, along one sweep.
struct SweepTable<'a> {
    rows: &'a [StudyRow],
    sweep: &'a FigureSweep,
}

impl SweepTable<'_> {
    /// Returns the values of an engine on a fabric with a pattern: those of all trials, for each position of the sweep.
    fn trials(
        &self,
        fabric: &str,
        engine: &str,
        pattern: &str,
        value: impl Fn(&StudyRow) -> Option<f64>,
    ) -> Vec<Vec<f64>> {
        let matches = |row: &&StudyRow| {
            row.get("fabric") == fabric
                && row.get("engine") == engine
                && row.get("pattern") == pattern
        };
        let mut trials = vec![vec![]; self.sweep.len()];
        for row in self.rows.iter().filter(matches) {
            if let Some(value) = value(row) {
                for place in self.sweep.positions(row) {
                    trials[place].push(value);
                }
            }
        }
        trials
    }

    fn curves(
        &self,
        fabric: &str,
        pattern: &str,
        value: impl Fn(&StudyRow) -> Option<f64>,
    ) -> Vec<EngineCurve> {
        let engines = values(self.rows, "engine");
        let curve = |engine: &&str| EngineCurve {
            name: self.engine_label(engine),
            trials: self.trials(fabric, engine, pattern, &value),
        };
        engines.iter().map(curve).collect()
    }

    /// Returns the name of an engine, with the number of its trials if others have more.
    fn engine_label(&self, engine: &str) -> String {
        let last = |matches: &dyn Fn(&&StudyRow) -> bool| {
            let trials = self.rows.iter().filter(matches).filter_map(|row| row.number("throw"));
            trials.fold(0.0, f64::max)
        };
        let (its, all) = (last(&|row| row.get("engine") == engine), last(&|_| true));
        match its < all {
            true if its == 1.0 => format!("{engine} (1 throw)"),
            true => format!("{engine} ({its} throws)"),
            false => engine.into(),
        }
    }

    /// Returns the panel of a measure: a curve for each engine, and the lower bound.
    fn panel(
        &self,
        fabric: &str,
        pattern: &str,
        measure: &Measure,
        words: [&str; 2],
    ) -> StudyPanel {
        let least = |engine: &&str| {
            self.trials(fabric, engine, pattern, |row| {
                measure.least(row).filter(|_| row.lost() == 0)
            })
        };
        // All engines have the same faults, so the bound of the first engine with the most trials is shown.
        let engines = values(self.rows, "engine");
        let least = engines.iter().rev().map(least).max_by_key(|b| b.concat().len());
        StudyPanel {
            title: words[0].into(),
            axis: words[1].into(),
            kind: PanelKind::Spread,
            curves: self.curves(fabric, pattern, |row| measure.comparable(row)),
            bound: least.filter(|_| measure.has_least()),
        }
    }

    fn risk(&self) -> Figure {
        let patterns = values(self.rows, "pattern");
        let title = "Congestion risk under degradation";
        self.figure(title, "lower bound for any routing".into(), |fabric| {
            let panel = |pattern: &&str| {
                let words = [&title_of(pattern)[..], "flows on the worst port"];
                self.panel(fabric, pattern, &Measure::risks(pattern)[0], words)
            };
            patterns.iter().map(panel).collect()
        })
    }

    fn update(&self) -> Figure {
        let pattern = values(self.rows, "pattern")[0];
        let words = [
            ["entries of forwarding tables", "percent of entries"],
            ["blocks of 64 entries, as they are sent", "percent of blocks"],
            ["pairs of nodes with another path", "percent of pairs"],
        ];
        let title = "What a re-route moves, of the healthy tables";
        let first = values(self.rows, "engine")[0];
        let bound = format!("could not stay of {first}'s tables, whatever the new ones");
        self.figure(title, bound, |fabric| {
            let measures = Measure::updates(pattern);
            let panels = measures.iter().zip(words);
            panels.map(|(measure, words)| self.panel(fabric, pattern, measure, words)).collect()
        })
    }

    fn valid(&self) -> Figure {
        let pattern = values(self.rows, "pattern")[0];
        // An engine that refuses a trial delivers no pair.
        let is_complete =
            |row: &StudyRow| Some(f64::from(u8::from(row.get("unroutable_pairs") == "0")));
        let panel = |fabric: &&str| {
            let mut curves = self.curves(fabric, pattern, is_complete);
            for trials in curves.iter_mut().flat_map(|curve| &mut curve.trials) {
                let share = trials.iter().sum::<f64>() / trials.len() as f64;
                *trials = trials.first().map(|_| 100.0 * share).into_iter().collect();
            }
            StudyPanel {
                title: self.heading(fabric),
                axis: "percent of throws".into(),
                kind: PanelKind::Bars,
                curves,
                bound: None,
            }
        };
        let mut panels =
            values(self.rows, "fabric").iter().map(panel).collect::<Vec<_>>().into_iter();
        let mut rows = Vec::new();
        while panels.len() > 0 {
            rows.push((String::new(), panels.by_ref().take(PANELS_IN_A_ROW).collect()));
        }
        let title = "Throws in which every pair of nodes is delivered".into();
        Figure { title, axis: Axis::new(self.sweep), bound: String::new(), rows }
    }

    /// Returns a figure with a row for every fabric.
    fn figure(
        &self,
        title: &str,
        bound: String,
        panels: impl Fn(&str) -> Vec<StudyPanel>,
    ) -> Figure {
        let row = |fabric: &&str| (self.heading(fabric), panels(fabric));
        let trials = match values(self.rows, "throw").len() {
            1 => "one throw".into(),
            trials => format!("{trials} throws, their median and quartiles"),
        };
        Figure {
            title: format!("{title} ({trials})"),
            axis: Axis::new(self.sweep),
            bound,
            rows: values(self.rows, "fabric").iter().map(row).collect(),
        }
    }

    /// Returns the heading of a fabric: its name and size.
    fn heading(&self, fabric: &str) -> String {
        let row = self.rows.iter().find(|row| row.get("fabric") == fabric);
        let number = |column| thousands(row.map_or("", |row| row.get(column)));
        format!("{fabric}: {} nodes, {} switches", number("nodes"), number("switches"))
    }
}

/// Returns the title of a pattern's panel.
fn title_of(pattern: &str) -> String {
    match pattern.split_once(':') {
        Some(("rp", n)) => format!("random permutations, median of {n}"),
        Some(("bisection", n)) => format!("random bisections, median of {n}"),
        Some((_, n)) => format!("shift permutations, mean of {n}"),
        None if pattern == "sp" => "shift permutations, mean of all".into(),
        None => "all-to-all".into(),
    }
}
