//! Figures as in the paper: risk against degradation, what an update moves, and how many throws stay valid.
//!
//! A *sweep* is a list of degradations that is one axis: growing numbers of dead cables with as many dead
//! switches, or the other way round. Every sweep has three figures, each with a row of panels for every
//! fabric.

mod draw;
mod sweep;

use super::rows::Row;
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
                axis: "percent".into(),
                kind: Kind::Spread,
                curves: self.curves(fabric, pattern, |row| {
                    Some(100.0 * row.number(part)? / row.number(whole)?.max(1.0))
                }),
                bound: None,
            };
            vec![
                panel("entries", "entries_moved", "entries_total"),
                panel("blocks of 64 entries, as they are sent", "blocks_moved", "blocks_total"),
            ]
        })
    }

    fn valid(&self) -> Figure {
        let pattern = values(self.rows, "pattern")[0];
        self.figure("Throws in which every pair of nodes has a route", |fabric| {
            let is_valid = |row: &Row| Some(f64::from(u8::from(row.get("valid") == "true")));
            let mut curves = self.curves(fabric, pattern, is_valid);
            for throws in curves.iter_mut().flat_map(|curve| &mut curve.throws) {
                let share = throws.iter().sum::<f64>() / throws.len().max(1) as f64;
                *throws = vec![100.0 * share];
            }
            vec![Panel {
                title: "an engine that refuses has no valid tables".into(),
                axis: "percent".into(),
                kind: Kind::Bars,
                curves,
                bound: None,
            }]
        })
    }

    /// A figure with a row for every fabric.
    fn figure(&self, title: &str, panels: impl Fn(&str) -> Vec<Panel>) -> Figure {
        let fabrics = values(self.rows, "fabric");
        let throws = values(self.rows, "throw").len();
        let row = |fabric: &&str| {
            let row = self.rows.iter().find(|row| row.get("fabric") == *fabric);
            let number =
                |column: &str| crate::figure::thousands(row.map_or("", |row| row.get(column)));
            let (nodes, switches) = (number("nodes"), number("switches"));
            (format!("{fabric}: {nodes} nodes, {switches} switches"), panels(fabric))
        };
        let throws = match throws {
            1 => "one throw".into(),
            _ => format!("{throws} throws, their median and quartiles"),
        };
        Figure {
            title: format!("{title} ({throws})"),
            axis: self.sweep.axis.clone(),
            labels: self.sweep.labels.clone(),
            rows: fabrics.iter().map(row).collect(),
        }
    }
}

/// What of a pattern is drawn: its title, the column, and the bound's.
fn meaning(pattern: &str) -> (String, &'static str, &'static str) {
    match pattern.split_once(':') {
        Some(("rp", n)) => {
            (format!("random permutations, median of {n}"), "median", "bound_median")
        }
        Some((_, n)) => (format!("shift permutations, mean of {n}"), "mean", "bound_mean"),
        None if pattern == "sp" => ("shift permutations, mean of all".into(), "mean", "bound_mean"),
        None => ("all-to-all".into(), "max", "bound"),
    }
}
