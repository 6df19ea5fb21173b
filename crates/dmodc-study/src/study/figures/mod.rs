//! Figures as in the paper: risk against degradation, what an update moves, and how many throws stay valid.
//!
//! A *sweep* is a list of degradations that is one axis: growing numbers of dead cables with as many dead
//! switches, or the other way round. Every sweep has three figures, each with a row of panels for every
//! fabric.

mod draw;
mod sweep;

use super::rows::Row;
use crate::figure::thousands;
use draw::{Curve, Figure, Kind, Panel};
use sweep::Sweep;

/// A drawing.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// Its file's name, without an ending.
    pub name: String,
    /// The drawing as SVG.
    pub svg: String,
}

/// All figures of a merged table.
///
/// # Errors
/// If there is nothing to draw, or the drawing library fails.
pub fn draw(rows: &[Row]) -> Result<Vec<Drawing>, String> {
    let first = rows.first().ok_or("the table has no rows: there is nothing to draw")?;
    let study = first.get("study");
    let mut drawings = Vec::new();
    for sweep in Sweep::all(rows)? {
        let table = Table { rows, sweep: &sweep };
        let kinds =
            [("risk", table.risk()), ("update", table.update()), ("validity", table.valid())];
        for (kind, figure) in kinds {
            let name = format!("{study}-{kind}{}", sweep.suffix);
            drawings.push(Drawing { name, svg: figure.svg()? });
        }
    }
    Ok(drawings)
}

/// So many panels are side by side at the most.
const PANELS_IN_A_ROW: usize = 3;

/// Rows, along one sweep.
struct Table<'a> {
    rows: &'a [Row],
    sweep: &'a Sweep,
}

/// The different values of a column, in the order of the table.
fn values<'a>(rows: &'a [Row], column: &str) -> Vec<&'a str> {
    let mut values: Vec<&str> = Vec::new();
    for row in rows {
        let value = row.get(column);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

impl Table<'_> {
    /// What a column holds for a fabric, an engine and a pattern: all throws of each degradation.
    fn throws(
        &self,
        [fabric, engine, pattern]: [&str; 3],
        value: impl Fn(&Row) -> Option<f64>,
    ) -> Vec<Vec<f64>> {
        let is_meant = |row: &&Row| {
            row.get("fabric") == fabric
                && row.get("engine") == engine
                && row.get("pattern") == pattern
        };
        let mut throws = vec![vec![]; self.sweep.levels.len()];
        for row in self.rows.iter().filter(is_meant) {
            if let (Some(level), Some(value)) = (self.sweep.level(row), value(row)) {
                throws[level].push(value);
            }
        }
        throws
    }

    fn curves(
        &self,
        fabric: &str,
        pattern: &str,
        value: impl Fn(&Row) -> Option<f64>,
    ) -> Vec<Curve> {
        let engines = values(self.rows, "engine");
        let curve = |engine: &&str| Curve {
            name: (*engine).into(),
            throws: self.throws([fabric, engine, pattern], &value),
        };
        engines.iter().map(curve).collect()
    }

    fn risk(&self) -> Figure {
        let patterns = values(self.rows, "pattern");
        self.figure("Congestion risk under degradation", |fabric| {
            let panel = |pattern: &&str| {
                let (title, column, bound) = meaning(pattern);
                let engine = values(self.rows, "engine");
                let bounds =
                    |engine: &&str| self.throws([fabric, engine, pattern], |row| row.number(bound));
                // Every engine is held against the same pairs; the first that routed them tells.
                let bounds = engine.iter().map(bounds).max_by_key(|b| b.concat().len());
                Panel {
                    title,
                    axis: "flows on the worst port".into(),
                    kind: Kind::Spread,
                    curves: self.curves(fabric, pattern, |row| row.number(column)),
                    bound: bounds,
                }
            };
            patterns.iter().map(panel).collect()
        })
    }

    fn update(&self) -> Figure {
        let pattern = values(self.rows, "pattern")[0];
        self.figure("What a re-route moves, of the healthy tables", |fabric| {
            let panel = |title: &str, part: &'static str, whole: &'static str| Panel {
                title: title.into(),
                axis: format!("percent of {}", part.split('_').next().unwrap_or(part)),
                kind: Kind::Spread,
                curves: self.curves(fabric, pattern, |row| {
                    Some(100.0 * row.number(part)? / row.number(whole)?.max(1.0))
                }),
                bound: None,
            };
            vec![
                panel("entries of forwarding tables", "entries_moved", "entries_total"),
                panel("blocks of 64 entries, as they are sent", "blocks_moved", "blocks_total"),
                panel("pairs of nodes with another path", "pairs_moved", "pairs_total"),
            ]
        })
    }

    fn valid(&self) -> Figure {
        let pattern = values(self.rows, "pattern")[0];
        let is_valid = |row: &Row| Some(f64::from(u8::from(row.get("valid") == "true")));
        let panel = |fabric: &&str| {
            let mut curves = self.curves(fabric, pattern, is_valid);
            for throws in curves.iter_mut().flat_map(|curve| &mut curve.throws) {
                let share = throws.iter().sum::<f64>() / throws.len().max(1) as f64;
                *throws = vec![100.0 * share];
            }
            Panel {
                title: self.heading(fabric),
                axis: "percent of throws".into(),
                kind: Kind::Bars,
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
        let title = "Validity: throws in which every pair of nodes has a route".into();
        Figure { title, axis: self.sweep.axis.clone(), labels: self.sweep.labels.clone(), rows }
    }

    /// A figure with a row for every fabric.
    fn figure(&self, title: &str, panels: impl Fn(&str) -> Vec<Panel>) -> Figure {
        let row = |fabric: &&str| (self.heading(fabric), panels(fabric));
        let throws = match values(self.rows, "throw").len() {
            1 => "one throw".into(),
            throws => format!("{throws} throws, their median and quartiles"),
        };
        Figure {
            title: format!("{title} ({throws})"),
            axis: self.sweep.axis.clone(),
            labels: self.sweep.labels.clone(),
            rows: values(self.rows, "fabric").iter().map(row).collect(),
        }
    }

    /// A fabric, and how large it is.
    fn heading(&self, fabric: &str) -> String {
        let row = self.rows.iter().find(|row| row.get("fabric") == fabric);
        let number = |column| thousands(row.map_or("", |row| row.get(column)));
        format!("{fabric}: {} nodes, {} switches", number("nodes"), number("switches"))
    }
}

/// What of a pattern is drawn: its title, the column, and the bound's.
fn meaning(pattern: &str) -> (String, &'static str, &'static str) {
    match pattern.split_once(':') {
        Some(("rp", n)) => {
            (format!("random permutations, median of {n}"), "median", "bound_median")
        }
        Some(("bisection", n)) => {
            (format!("random bisections, median of {n}"), "median", "bound_median")
        }
        Some((_, n)) => (format!("shift permutations, mean of {n}"), "mean", "bound_mean"),
        None if pattern == "sp" => ("shift permutations, mean of all".into(), "mean", "bound_mean"),
        None => ("all-to-all".into(), "max", "bound"),
    }
}
