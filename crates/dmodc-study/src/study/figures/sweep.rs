//! Finds the degradations that make an axis.

use crate::study::measures::{shown, values};
use crate::study::rows::StudyRow;

/// A degradation in the words of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AskedLevel {
    pub(super) cables: String,
    pub(super) switches: String,
}

impl AskedLevel {
    pub(super) fn of(row: &StudyRow) -> Self {
        AskedLevel {
            cables: row.get("cables_asked").into(),
            switches: row.get("switches_asked").into(),
        }
    }

    /// Returns whether nothing fails.
    pub(super) fn is_healthy(&self) -> bool {
        [&self.cables, &self.switches].iter().all(|asked| matches!(asked.as_str(), "0" | "0%"))
    }
}

/// Degradations along one axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FigureSweep {
    /// Its name in options and in the names of files, such as `cables` or `cables-5pct-switches`.
    pub(super) name: String,
    /// What happens: `cables fail`.
    pub(super) event: String,
    /// The label of the axis.
    pub(super) axis: String,
    levels: Vec<AskedLevel>,
    /// The label of each degradation.
    labels: Vec<String>,
}

/// What grows along a sweep.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Growing {
    Cables,
    Switches,
}

impl Growing {
    /// Returns its name in options and files, and its words on an axis.
    fn words(self) -> [&'static str; 2] {
        match self {
            Growing::Cables => ["cables", "failed cables between switches"],
            Growing::Switches => ["switches", "failed switches (none of them a leaf)"],
        }
    }

    /// Returns the other amount.
    fn fixed(self) -> Growing {
        match self {
            Growing::Cables => Growing::Switches,
            Growing::Switches => Growing::Cables,
        }
    }

    fn amount(self, level: &AskedLevel) -> &str {
        match self {
            Growing::Cables => &level.cables,
            Growing::Switches => &level.switches,
        }
    }
}

impl FigureSweep {
    /// Returns the sweeps of a table: over cables for each number of failed switches, and over switches for the first number
    /// of failed cables; if neither grows alone, over all degradations in their order.
    pub(super) fn all(rows: &[StudyRow]) -> Result<Vec<FigureSweep>, String> {
        let mut levels: Vec<AskedLevel> = Vec::new();
        for level in rows.iter().map(AskedLevel::of) {
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
        let first = levels.first().ok_or("there are no degradations to draw")?.clone();
        let mut sweeps: Vec<FigureSweep> = values(rows, "switches_asked")
            .into_iter()
            .filter_map(|switches| FigureSweep::along(Growing::Cables, &levels, switches))
            .collect();
        sweeps.extend(FigureSweep::along(Growing::Switches, &levels, &first.cables));
        if sweeps.is_empty() {
            let label =
                |level: &AskedLevel| format!("{}/{}", shown(&level.cables), shown(&level.switches));
            sweeps.push(FigureSweep {
                name: "both".into(),
                event: "cables and switches fail".into(),
                axis: "failed cables between switches / failed switches".into(),
                labels: levels.iter().map(label).collect(),
                levels,
            });
        }
        Ok(sweeps)
    }

    /// Returns the sweep with a fixed amount of the other thing, if it has at least two degradations.
    fn along(growing: Growing, all: &[AskedLevel], fixed: &str) -> Option<FigureSweep> {
        let other = growing.fixed();
        let levels: Vec<AskedLevel> =
            all.iter().filter(|level| other.amount(level) == fixed).cloned().collect();
        if levels.len() < 2 {
            return None;
        }
        let label = |level: &AskedLevel| match growing.amount(level) {
            "0" | "0%" => "none".into(),
            amount => shown(amount),
        };
        let [word, axis] = growing.words();
        let [other, _] = other.words();
        let (name, event, axis) = match fixed {
            "0" | "0%" => (word.into(), format!("{word} fail"), axis.into()),
            _ => {
                let with = match fixed.contains('%') {
                    true => format!("{} of the {other}", shown(fixed)),
                    false => format!("{fixed} of the {other}"),
                };
                (
                    format!("{word}-{}-{other}", fixed.replace('%', "pct")),
                    format!("{word} fail, and {with}"),
                    format!("{axis}, in addition to {with}"),
                )
            }
        };
        Some(FigureSweep { name, event, axis, labels: levels.iter().map(label).collect(), levels })
    }

    /// Returns the degradations and their labels.
    pub(super) fn steps(&self) -> impl Iterator<Item = (&AskedLevel, &String)> {
        self.levels.iter().zip(&self.labels)
    }
}

/// Returns whether a row is of a degradation.
pub(super) fn is_at(row: &StudyRow, level: &AskedLevel) -> bool {
    row.get("cables_asked") == level.cables && row.get("switches_asked") == level.switches
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
        let has = |row: &StudyRow| {
            sweeps.iter().any(|sweep| sweep.levels.iter().any(|level| is_at(row, level)))
        };
        assert!(rows.iter().all(has), "every row has a place");
        sweeps
    }

    fn names(sweeps: &[FigureSweep]) -> Vec<&str> {
        sweeps.iter().map(|sweep| sweep.name.as_str()).collect()
    }

    #[test]
    fn axes_follow_from_what_grows() {
        let cables = sweeps(&[("0", "0"), ("1%", "0"), ("40", "0")]);
        assert_eq!(names(&cables), ["cables"]);
        assert_eq!(cables[0].labels, ["none", "1 %", "40"]);
        let both = sweeps(&[("0", "0"), ("1%", "0"), ("0", "2"), ("0", "5%")]);
        assert_eq!(names(&both), ["cables", "switches"]);
        assert_eq!(both[1].labels, ["none", "2", "5 %"]);
        let cross = sweeps(&[("0", "0"), ("1%", "0"), ("0", "5%"), ("1%", "5%")]);
        assert_eq!(names(&cross), ["cables", "cables-5pct-switches", "switches"]);
        assert_eq!(cross[1].event, "cables fail, and 5 % of the switches");
        let together = sweeps(&[("1%", "1"), ("2%", "2")]);
        assert_eq!(together[0].labels, ["1 %/1", "2 %/2"]);
        assert_eq!(names(&together), ["both"]);
    }
}
