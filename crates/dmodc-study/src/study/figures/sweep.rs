//! Finds the degradations that make an axis.

use crate::study::measures::{shown, values};
use crate::study::rows::StudyRow;

/// A degradation in the words of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AskedLevel {
    cables: String,
    switches: String,
}

/// Degradations side by side: one amount that grows, or two that grow one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct FigureSweep {
    /// The ending of the names of its figures, which differs between sweeps.
    pub(super) suffix: String,
    pub(super) parts: Vec<SweepPart>,
}

/// The amount that stays the same along a sweep.
#[derive(Clone, Copy)]
struct FixedAmount<'a> {
    asked: &'a str,
    /// In the label of the axis.
    what: &'a str,
    /// In the names of files.
    word: &'a str,
}

/// Degradations along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SweepPart {
    /// The label of the axis.
    pub(super) axis: String,
    levels: Vec<AskedLevel>,
    /// The label of each degradation.
    pub(super) labels: Vec<String>,
}

const CABLES: &str = "dead cables between switches";
const SWITCHES: &str = "dead switches";

/// The greatest number of degradations in one panel.
const MOST: usize = 10;

impl FigureSweep {
    /// Returns the sweeps of a table: over cables for each number of dead switches, and over switches for the first number
    /// of dead cables; if neither grows alone, over all degradations in their order. A sweep over cables alone and one
    /// over switches alone share a figure if they fit.
    pub(super) fn all(rows: &[StudyRow]) -> Result<Vec<FigureSweep>, String> {
        let mut levels: Vec<AskedLevel> = Vec::new();
        for row in rows {
            let level = AskedLevel {
                cables: row.get("cables_asked").into(),
                switches: row.get("switches_asked").into(),
            };
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
        let mut sweeps = Vec::new();
        for switches in values(rows, "switches_asked") {
            let along: Vec<_> = levels.iter().filter(|level| level.switches == switches).collect();
            let fixed = FixedAmount { asked: switches, what: SWITCHES, word: "switches" };
            let fixed = (switches != "0").then_some(fixed);
            sweeps.extend(FigureSweep::new(&along, true, fixed));
        }
        let cables = &levels.first().ok_or("there are no degradations to draw")?.cables;
        let along: Vec<_> = levels.iter().filter(|level| level.cables == *cables).collect();
        let fixed = FixedAmount { asked: cables, what: CABLES, word: "cables" };
        let fixed = (cables != "0").then_some(fixed);
        if let Some(switches) = FigureSweep::new(&along, false, fixed) {
            let alone = sweeps.iter_mut().find(|sweep| sweep.suffix == "-cables");
            match alone.filter(|alone| fixed.is_none() && alone.len() + switches.len() <= MOST) {
                Some(both) => {
                    both.parts.extend(switches.parts);
                    both.suffix.clear();
                }
                None => sweeps.push(switches),
            }
        }
        if sweeps.is_empty() {
            let labels = levels
                .iter()
                .map(|level| format!("{}/{}", shown(&level.cables), shown(&level.switches)));
            let labels = labels.collect();
            let axis = "dead cables between switches / dead switches".into();
            sweeps.push(FigureSweep {
                suffix: String::new(),
                parts: vec![SweepPart { axis, levels, labels }],
            });
        }
        if let [only] = &mut sweeps[..] {
            only.suffix.clear();
        }
        Ok(sweeps)
    }

    fn new(
        levels: &[&AskedLevel],
        over_cables: bool,
        fixed: Option<FixedAmount<'_>>,
    ) -> Option<FigureSweep> {
        if levels.len() < 2 {
            return None;
        }
        let (axis, suffix) = if over_cables { (CABLES, "cables") } else { (SWITCHES, "switches") };
        let label =
            |level: &&AskedLevel| shown(if over_cables { &level.cables } else { &level.switches });
        let (axis, suffix) = match fixed {
            None => (axis.to_string(), format!("-{suffix}")),
            Some(FixedAmount { asked, what, word }) => (
                format!("{axis} (and {} {what})", shown(asked)),
                format!("-{suffix}-{}-{word}", asked.replace('%', "pct")),
            ),
        };
        let labels = levels.iter().map(label).collect();
        let levels = levels.iter().copied().cloned().collect();
        Some(FigureSweep { suffix, parts: vec![SweepPart { axis, levels, labels }] })
    }

    /// Returns the number of positions.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.levels.len()).sum()
    }

    /// Returns the positions of a row. The healthy fabric has one on every axis.
    pub(super) fn positions(&self, row: &StudyRow) -> impl Iterator<Item = usize> {
        let asked = (row.get("cables_asked"), row.get("switches_asked"));
        let levels = self.parts.iter().flat_map(|part| &part.levels).enumerate();
        let is_asked = move |level: &AskedLevel| (&*level.cables, &*level.switches) == asked;
        levels.filter(move |(_, level)| is_asked(level)).map(|(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweeps(levels: &[(&str, &str)]) -> Vec<FigureSweep> {
        let row = |level: &(&str, &str)| {
            let mut row = StudyRow::default();
            row.set("cables_asked", level.0);
            row.set("switches_asked", level.1);
            row
        };
        let rows: Vec<StudyRow> = levels.iter().map(row).collect();
        let sweeps = FigureSweep::all(&rows).expect("there are levels");
        let count =
            |row: &StudyRow| sweeps.iter().map(|sweep| sweep.positions(row).count()).sum::<usize>();
        assert!(rows.iter().all(|row| count(row) > 0), "every row has a place");
        sweeps
    }

    fn suffixes(sweeps: &[FigureSweep]) -> Vec<&str> {
        sweeps.iter().map(|sweep| sweep.suffix.as_str()).collect()
    }

    #[test]
    fn axes_follow_from_what_grows() {
        let cables = sweeps(&[("0", "0"), ("1%", "0"), ("40", "0")]);
        assert_eq!((suffixes(&cables), cables[0].parts.len()), (vec![""], 1));
        assert_eq!(cables[0].parts[0].axis, CABLES);
        assert_eq!(cables[0].parts[0].labels, ["0", "1 %", "40"]);
        let both = sweeps(&[("0", "0"), ("1%", "0"), ("0", "2"), ("0", "5%")]);
        assert_eq!((suffixes(&both), both[0].len()), (vec![""], 5));
        assert_eq!(both[0].parts[1].labels, ["0", "2", "5 %"]);
        let cross = sweeps(&[("0", "0"), ("1%", "0"), ("0", "5%"), ("1%", "5%")]);
        assert_eq!(suffixes(&cross), ["", "-cables-5pct-switches"]);
        assert_eq!(cross[1].parts[0].axis, "dead cables between switches (and 5 % dead switches)");
        let together = sweeps(&[("1%", "1"), ("2%", "2")]);
        assert_eq!(together[0].parts[0].labels, ["1 %/1", "2 %/2"]);
    }

    #[test]
    fn long_axes_have_figures_of_their_own() {
        let amounts: Vec<String> = (0..6).map(|amount| amount.to_string()).collect();
        let cables = amounts.iter().map(|amount| (amount.as_str(), "0"));
        let switches = amounts.iter().map(|amount| ("0", amount.as_str()));
        let levels: Vec<_> = cables.chain(switches).collect();
        assert_eq!(suffixes(&sweeps(&levels)), ["-cables", "-switches"]);
    }
}
