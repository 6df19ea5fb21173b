//! Rare events: how loaded the worst port is in one of N draws of a degradation, with confidence intervals.
//!
//! A study with very many draws of one degradation says what an operator has to expect once in a thousand accidents, not only on
//! average. The curve of an engine has, for N = 2, 10, 100 …, the load that one of N draws reaches or exceeds.

use super::question::Question;
use super::sweep::{AskedLevel, is_at};
use super::{FabricTable, StudyRow};
use crate::figure::{Across, Chart, ChartPoint, Curve, Unit, engine_style, thousands};
use crate::study::chance::{MANY, Share, exceeded_by};
use crate::study::measures::shown;

/// Once in which numbers of draws.
const ONCE_IN: [u32; 13] = [2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000];

impl FabricTable<'_> {
    /// Returns the degradations that have very many draws.
    pub(super) fn levels_with_many_draws(&self) -> Vec<AskedLevel> {
        let mut counted: Vec<(AskedLevel, usize)> = vec![];
        let is_first = |row: &&&StudyRow| {
            let first = self.rows[0];
            row.get("pattern") == first.get("pattern") && row.get("engine") == first.get("engine")
        };
        for row in self.rows.iter().filter(is_first) {
            match counted.iter_mut().find(|(level, _)| is_at(row, level)) {
                Some((_, count)) => *count += 1,
                None => counted.push((AskedLevel::of(row), 1)),
            }
        }
        counted.into_iter().filter(|(_, count)| *count >= MANY).map(|(level, _)| level).collect()
    }

    /// Returns the figure of a degradation with very many draws.
    pub(super) fn rare_chart(
        &self,
        level: &AskedLevel,
        question: &Question,
        command: &str,
    ) -> Chart {
        let mut caption = vec![self.size_words()];
        let mut curves = vec![];
        for (at, engine) in self.engines.iter().enumerate() {
            let is_meant = |row: &&&StudyRow| {
                row.get("engine") == *engine && is_at(row, level) && question.measure.is_in(row)
            };
            let rows: Vec<&StudyRow> = self.rows.iter().filter(is_meant).copied().collect();
            let lost = rows.iter().filter(|row| row.lost() > 0).count();
            let mut values: Vec<f64> =
                rows.iter().filter_map(|row| question.measure.comparable(row)).collect();
            values.sort_by(|a, b| b.total_cmp(a));
            let points: Vec<ChartPoint> =
                ONCE_IN.iter().filter_map(|&n| point(n, &values)).collect();
            if points.is_empty() {
                continue;
            }
            let lost = Share { count: lost, of: rows.len() };
            caption.push(format!("{engine} loses a pair in {lost}."));
            let style = engine_style(&self.engines, at);
            curves.push(Curve { name: (*engine).into(), style, points });
        }
        caption
            .push("Bars: confidence intervals of 95 %. Draws with lost pairs have no load.".into());
        Chart {
            title: question.rare_title(&failed_words(level)),
            caption,
            source: vec![format!("Drawn by: {command}")],
            across: Across::Amounts,
            across_label: "once in this number of draws".into(),
            up_label: question.axis.clone(),
            unit: Unit::Count,
            curves,
            limit: None,
        }
    }

    /// Returns a sentence about the size of the fabric.
    pub(super) fn size_words(&self) -> String {
        let number = |column| thousands(self.rows.first().map_or("", |row| row.get(column)));
        let (nodes, switches) = (number("nodes"), number("switches"));
        format!("Fabric “{}”: {nodes} nodes, {switches} switches.", self.name)
    }
}

/// Returns the part of a file's name for a degradation: `1pct-cables`.
pub(super) fn level_file(level: &AskedLevel) -> String {
    let each =
        amounts(level).map(|(amount, what)| format!("{}-{what}", amount.replace('%', "pct")));
    each.collect::<Vec<String>>().join("-")
}

/// Returns a degradation in words: `1 % of the cables fail`.
fn failed_words(level: &AskedLevel) -> String {
    let each: Vec<String> =
        amounts(level).map(|(amount, what)| format!("{} of the {what}", shown(amount))).collect();
    match each.is_empty() {
        true => "nothing fails".into(),
        false => format!("{} fail", each.join(" and ")),
    }
}

/// Returns what fails, and how much of it.
fn amounts(level: &AskedLevel) -> impl Iterator<Item = (&str, &'static str)> {
    let both = [(level.cables.as_str(), "cables"), (level.switches.as_str(), "switches")];
    both.into_iter().filter(|(amount, _)| !matches!(*amount, "0" | "0%"))
}

/// Returns the load that one of N draws reaches or exceeds.
fn point(n: u32, descending: &[f64]) -> Option<ChartPoint> {
    let found = exceeded_by(1.0 / f64::from(n), descending)?;
    Some(ChartPoint { across: n.into(), up: found.value, range: Some((found.least, found.most)) })
}
