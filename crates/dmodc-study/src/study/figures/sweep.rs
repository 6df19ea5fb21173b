//! Which degradations make an axis.

use super::values;
use crate::study::rows::Row;

/// Degradations along one axis.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sweep {
    /// What the axis is.
    pub(super) axis: String,
    /// What tells its figures' names from those of other sweeps.
    pub(super) suffix: String,
    /// Dead cables and dead switches, as asked for.
    pub(super) levels: Vec<(String, String)>,
    /// What stands below each.
    pub(super) labels: Vec<String>,
}

const CABLES: &str = "dead cables between switches";
const SWITCHES: &str = "dead switches";

impl Sweep {
    /// The sweeps of a table: over cables for each number of switches, and over switches where no more
    /// cables are dead than ever; if neither grows alone, over all degradations as they come.
    pub(super) fn all(rows: &[Row]) -> Result<Vec<Sweep>, String> {
        let mut levels: Vec<(String, String)> = Vec::new();
        for row in rows {
            let level = (row.get("cables_asked").into(), row.get("switches_asked").into());
            if !levels.contains(&level) {
                levels.push(level);
            }
        }
        let mut sweeps = Vec::new();
        for switches in values(rows, "switches_asked") {
            let along: Vec<_> = levels.iter().filter(|level| level.1 == switches).collect();
            let beside = (switches != "0").then_some((switches, SWITCHES, "switches"));
            sweeps.extend(Sweep::new(&along, true, beside));
        }
        let cables = &levels.first().ok_or("there are no degradations to draw")?.0;
        let along: Vec<_> = levels.iter().filter(|level| level.0 == *cables).collect();
        let beside = (cables != "0").then_some((cables.as_str(), CABLES, "cables"));
        sweeps.extend(Sweep::new(&along, false, beside));
        if sweeps.is_empty() {
            let labels = levels.iter().map(|(c, s)| format!("{}/{}", shown(c), shown(s))).collect();
            let axis = "dead cables between switches / dead switches".into();
            sweeps.push(Sweep { axis, suffix: String::new(), levels, labels });
        }
        if let [only] = &mut sweeps[..] {
            only.suffix.clear();
        }
        Ok(sweeps)
    }

    fn new(
        levels: &[&(String, String)],
        over_cables: bool,
        beside: Option<(&str, &str, &str)>,
    ) -> Option<Sweep> {
        if levels.len() < 2 {
            return None;
        }
        let (axis, suffix) = if over_cables { (CABLES, "cables") } else { (SWITCHES, "switches") };
        let label =
            |level: &&(String, String)| shown(if over_cables { &level.0 } else { &level.1 });
        let (axis, suffix) = match beside {
            None => (axis.to_string(), format!("-{suffix}")),
            Some((asked, what, word)) => (
                format!("{axis} (and {} {what})", shown(asked)),
                format!("-{suffix}-{}-{word}", asked.replace('%', "pct")),
            ),
        };
        let labels = levels.iter().map(label).collect();
        Some(Sweep { axis, suffix, labels, levels: levels.iter().copied().cloned().collect() })
    }

    /// The place of a row on the axis.
    pub(super) fn level(&self, row: &Row) -> Option<usize> {
        let (cables, switches) = (row.get("cables_asked"), row.get("switches_asked"));
        self.levels.iter().position(|level| level.0 == cables && level.1 == switches)
    }
}

/// An amount as people write it: 0.5 %.
fn shown(asked: &str) -> String {
    asked.replace('%', " %")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweeps(levels: &[(&str, &str)]) -> Vec<(String, String, Vec<String>)> {
        let row = |level: &(&str, &str)| {
            let mut row = Row::default();
            row.set("cables_asked", level.0);
            row.set("switches_asked", level.1);
            row
        };
        let rows: Vec<Row> = levels.iter().map(row).collect();
        let sweeps = Sweep::all(&rows).expect("there are levels");
        sweeps.into_iter().map(|sweep| (sweep.axis, sweep.suffix, sweep.labels)).collect()
    }

    #[test]
    fn axes_follow_from_what_grows() {
        let cables = sweeps(&[("0", "0"), ("1%", "0"), ("40", "0")]);
        let labels = vec!["0".to_string(), "1 %".into(), "40".into()];
        assert_eq!(cables, [(CABLES.to_string(), String::new(), labels)]);
        let both = sweeps(&[("0", "0"), ("1%", "0"), ("0", "2"), ("0", "5%")]);
        let suffixes: Vec<&str> = both.iter().map(|sweep| sweep.1.as_str()).collect();
        assert_eq!(suffixes, ["-cables", "-switches"]);
        let cross = sweeps(&[("0", "0"), ("1%", "0"), ("0", "5%"), ("1%", "5%")]);
        let suffixes: Vec<&str> = cross.iter().map(|sweep| sweep.1.as_str()).collect();
        assert_eq!(suffixes, ["-cables", "-cables-5pct-switches", "-switches"]);
        assert_eq!(cross[1].0, "dead cables between switches (and 5 % dead switches)");
        let together = sweeps(&[("1%", "1"), ("2%", "2")]);
        assert_eq!(together[0].2, ["1 %/1", "2 %/2"]);
    }
}
