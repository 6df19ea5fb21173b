//! The numbers by which engines are compared. Less is better, except for rates, and some have a lower bound.

use super::rows::StudyRow;

/// A number of a trial, read from the row of one pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Measure {
    /// Its name in tables, such as `sp_mean`.
    pub(super) key: String,
    /// Its name for people, such as `sp mean`.
    pub(super) name: String,
    /// The pattern in whose rows it is.
    pattern: String,
    column: &'static str,
    /// The column of the total, if it is a percentage.
    of: Option<&'static str>,
    /// The column of its lower bound, if there is one.
    least: Option<&'static str>,
    /// Which values are better.
    pub(super) better: Better,
}

/// Which of two values of a measure is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Better {
    Less,
    More,
}

impl Better {
    /// Returns whether one value is better than another.
    pub(super) fn is(self, value: f64, than: f64) -> bool {
        match self {
            Better::Less => value < than,
            Better::More => value > than,
        }
    }
}

impl Measure {
    /// Returns all measures of a study with these patterns: risks, then rates if it has any, then updates, then pairs
    /// without a route.
    pub(super) fn all(patterns: &[&str], has_rates: bool) -> Vec<Measure> {
        let first = patterns.first().copied().unwrap_or_default();
        let mut all: Vec<Measure> = patterns.iter().flat_map(|p| Measure::risks(p)).collect();
        if has_rates {
            all.extend(patterns.iter().flat_map(|p| Measure::rates(p)));
        }
        all.extend(Measure::updates(first));
        all.push(Measure {
            key: "unroutable_pairs".into(),
            name: "pairs without a route".into(),
            pattern: first.into(),
            column: "unroutable_pairs",
            of: None,
            least: None,
            better: Better::Less,
        });
        all
    }

    /// Returns the risks of a pattern. Figures show the first.
    pub(super) fn risks(pattern: &str) -> Vec<Measure> {
        let columns: &[_] = match pattern.split(':').next() {
            Some("rp" | "bisection") => &[("median", "bound_median")],
            Some("sp") => &[("mean", "bound_mean"), ("max", "bound")],
            _ => &[("max", "bound")],
        };
        let measure = |&(column, bound)| Measure {
            key: format!("{}_{column}", pattern.replace([':', '-'], "_")),
            name: format!("{pattern} {column}"),
            pattern: pattern.into(),
            column,
            of: None,
            least: Some(bound),
            better: Better::Less,
        };
        columns.iter().map(measure).collect()
    }

    /// Returns the measures of a pattern by its fair rates: the mean rate, of which more is better, and the mean time of
    /// equal messages.
    pub(super) fn rates(pattern: &str) -> Vec<Measure> {
        let columns = [
            ("mean_rate", "mean rate", Better::More),
            ("mean_completion", "mean completion", Better::Less),
        ];
        let measure = |(column, name, better)| Measure {
            key: format!("{}_{column}", pattern.replace([':', '-'], "_")),
            name: format!("{pattern} {name}"),
            pattern: pattern.into(),
            column,
            of: None,
            least: None,
            better,
        };
        columns.map(measure).into()
    }

    /// Returns the measures of updates: moved entries, blocks and pairs, in percent. Their values are the same in the rows
    /// of all patterns.
    pub(super) fn updates(pattern: &str) -> Vec<Measure> {
        let columns = [
            ("entries", "entries_moved", "entries_total", Some("entries_forced")),
            ("blocks", "blocks_moved", "blocks_total", Some("blocks_forced")),
            ("pairs", "pairs_moved", "pairs_total", None),
        ];
        let measure = |(what, column, of, least)| Measure {
            key: format!("{column}_percent"),
            name: format!("{what} moved"),
            pattern: pattern.into(),
            column,
            of: Some(of),
            least,
            better: Better::Less,
        };
        columns.map(measure).into()
    }

    /// Returns whether it is a percentage.
    pub(super) fn is_percent(&self) -> bool {
        self.of.is_some()
    }

    /// Returns whether a row is of its pattern.
    pub(super) fn is_in(&self, row: &StudyRow) -> bool {
        row.get("pattern") == self.pattern
    }

    /// Returns its value in a row of its pattern.
    pub(super) fn value(&self, row: &StudyRow) -> Option<f64> {
        self.number(row, self.column)
    }

    /// Returns its value if engines can be compared by it. An engine that loses pairs has less traffic to carry and less
    /// to move, so it is compared only by the number of lost pairs.
    pub(super) fn comparable(&self, row: &StudyRow) -> Option<f64> {
        self.value(row).filter(|_| self.counts_pairs() || row.lost() == 0)
    }

    /// Returns whether it counts pairs without a route.
    pub(super) fn counts_pairs(&self) -> bool {
        self.column == "unroutable_pairs"
    }

    /// Returns its lower bound in a row.
    pub(super) fn least(&self, row: &StudyRow) -> Option<f64> {
        self.number(row, self.least?)
    }

    /// Returns whether it has a lower bound.
    pub(super) fn has_least(&self) -> bool {
        self.least.is_some()
    }

    fn number(&self, row: &StudyRow, column: &str) -> Option<f64> {
        let value = row.number(column)?;
        match self.of {
            Some(of) => Some(100.0 * value / row.number(of)?.max(1.0)),
            None => Some(value),
        }
    }
}

/// Returns the different values of a column, in the order of the table.
pub(super) fn values<'a>(rows: &'a [StudyRow], column: &str) -> Vec<&'a str> {
    let mut values: Vec<&str> = Vec::new();
    for row in rows {
        let value = row.get(column);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// Returns an amount in the notation for people: 0.5 %.
pub(super) fn shown(asked: &str) -> String {
    asked.replace('%', " %")
}
