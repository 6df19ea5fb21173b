//! Rows: one for each measurement, with all its seeds, as CSV that every tool reads.

use super::error::StudyError;

/// The columns, in order.
///
/// | column | |
/// |---|---|
/// | `study`, `fabric` | their names in the plan |
/// | `nodes`, `switches` | of the healthy fabric, without aggregation nodes |
/// | `engine`, `engine_seed` | the algorithm, and its seed if it draws |
/// | `cables_asked`, `switches_asked` | how much shall die, in the words of the plan |
/// | `throw`, `throw_seed` | the number of the trial and its seed: `dmodc degrade --seed` draws the same faults |
/// | `cables_dead`, `switches_dead` | how many die |
/// | `pattern`, `pattern_seed` | the traffic, and its seed if it is drawn |
/// | `max` | the greatest number of flows on any port; of a series, its greatest maximum |
/// | `mean` | for `a2a` and `ring` over all ports between switches, otherwise over the series' maxima |
/// | `median`, `min` | of the series' maxima |
/// | `bound`, `bound_mean`, `bound_median` | lower bounds of `max`, `mean` and `median` for any routing |
/// | `unroutable_pairs` | ordered pairs of live nodes that these tables do not connect |
/// | `lost` | those of them that live cables connect; an engine that loses pairs is compared with no other |
/// | `valid` | whether every pair of leaves with nodes has an up\*down\* route |
/// | `entries_moved`, `blocks_moved` | entries, and blocks of 64 LIDs, that differ from the engine's healthy tables, on live switches |
/// | `entries_forced`, `blocks_forced` | those of the healthy tables that could not stay, whatever the new ones: see [`forced`](dmodc::judge::forced) |
/// | `pairs_moved` | ordered pairs of live nodes whose path has changed |
/// | `entries_total`, `blocks_total`, `pairs_total` | the totals of these |
/// | `refused` | why the engine gave no tables; then nothing is measured |
pub const COLUMNS: [&str; 33] = [
    "study",
    "fabric",
    "nodes",
    "switches",
    "engine",
    "engine_seed",
    "cables_asked",
    "switches_asked",
    "throw",
    "throw_seed",
    "cables_dead",
    "switches_dead",
    "pattern",
    "pattern_seed",
    "max",
    "mean",
    "median",
    "min",
    "bound",
    "bound_mean",
    "bound_median",
    "unroutable_pairs",
    "lost",
    "valid",
    "entries_moved",
    "blocks_moved",
    "entries_forced",
    "blocks_forced",
    "entries_total",
    "blocks_total",
    "pairs_moved",
    "pairs_total",
    "refused",
];

/// The columns that follow in studies whose plan asks for rates, in units of one node's cable and of one message at full
/// speed.
///
/// | column | |
/// |---|---|
/// | `mean_rate` | the mean over all steps of the mean rate |
/// | `p1_rate` | the mean over all steps of the first percentile |
/// | `min_rate` | the least rate |
/// | `completion` | when the last of equal messages has arrived |
/// | `mean_completion` | the mean time at which equal messages have arrived |
pub const RATE_COLUMNS: [&str; 5] =
    ["mean_rate", "p1_rate", "min_rate", "completion", "mean_completion"];

/// The values of one row, by column; an empty string if there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyRow {
    /// Those of [`COLUMNS`], and those of [`RATE_COLUMNS`] if the study has rates.
    values: Vec<String>,
}

impl Default for StudyRow {
    fn default() -> Self {
        StudyRow { values: vec![String::new(); COLUMNS.len()] }
    }
}

impl StudyRow {
    /// Returns an empty row of a study with rates.
    pub fn with_rates() -> Self {
        StudyRow { values: vec![String::new(); COLUMNS.len() + RATE_COLUMNS.len()] }
    }

    /// Returns whether the row is of a study with rates.
    pub fn has_rates(&self) -> bool {
        self.values.len() > COLUMNS.len()
    }

    fn at(column: &str) -> usize {
        let mut all = COLUMNS.iter().chain(&RATE_COLUMNS);
        all.position(|name| *name == column).expect("a column of the table")
    }

    /// Sets a value.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn set(&mut self, column: &str, value: impl ToString) {
        // A row is a line.
        self.values[StudyRow::at(column)] = value.to_string().replace(['\n', '\r'], " ");
    }

    /// Sets a value that may be missing.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn set_some(&mut self, column: &str, value: Option<impl ToString>) {
        if let Some(value) = value {
            self.set(column, value);
        }
    }

    /// Returns a value.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn get(&self, column: &str) -> &str {
        self.values.get(StudyRow::at(column)).map_or("", String::as_str)
    }

    /// Returns a value as a number, if it is one.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.get(column).parse().ok()
    }

    /// Returns how many pairs the engine loses although live cables connect them.
    pub fn lost(&self) -> u64 {
        self.get("lost").parse().unwrap_or(0)
    }

    /// Returns the row as a line, without its end.
    pub fn line(&self) -> String {
        let fields: Vec<String> = self.values.iter().map(|field| quoted(field)).collect();
        fields.join(",")
    }

    /// Reads a line of a table with or without rates.
    pub(super) fn parse(line: &str, has_rates: bool) -> Option<Self> {
        let rates = if has_rates { RATE_COLUMNS.len() } else { 0 };
        StudyRow::of_fields(fields(line)?, COLUMNS.len() + rates)
    }

    fn of_fields(values: Vec<String>, count: usize) -> Option<Self> {
        (values.len() == count).then_some(StudyRow { values })
    }

    /// Reads a line of a table without the column `lost`, as the first versions wrote it. There, every pair without a route
    /// counts as lost.
    fn parse_without_lost(line: &str) -> Option<Self> {
        let mut fields = fields(line)?;
        let (lost, unroutable) = (StudyRow::at("lost"), StudyRow::at("unroutable_pairs"));
        if fields.len() + 1 != COLUMNS.len() {
            return None;
        }
        fields.insert(lost, fields[unroutable].clone());
        StudyRow::of_fields(fields, COLUMNS.len())
    }
}

/// Returns the fields of a line.
fn fields(line: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = Some(line);
    while let Some(text) = rest {
        let (field, after) = match text.strip_prefix('"') {
            Some(text) => closed(text)?,
            None => match text.split_once(',') {
                Some((field, after)) => (field.to_string(), Some(after)),
                None => (text.to_string(), None),
            },
        };
        fields.push(field);
        rest = after;
    }
    Some(fields)
}

/// Returns a field in the notation of CSV.
pub(super) fn quoted(field: &str) -> String {
    match field.contains([',', '"']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.into(),
    }
}

/// Reads a field whose opening quote was already read. Returns it and the text after its comma.
fn closed(text: &str) -> Option<(String, Option<&str>)> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let (part, after) = rest.split_once('"')?;
        field += part;
        match after.chars().next() {
            None => return Some((field, None)),
            Some(',') => return Some((field, Some(&after[1..]))),
            Some('"') => {
                field.push('"');
                rest = &after[1..];
            }
            Some(_) => return None,
        }
    }
}

/// Returns the first line of a table with or without rates.
pub(super) fn header(has_rates: bool) -> String {
    let rates: &[&str] = if has_rates { &RATE_COLUMNS } else { &[] };
    [&COLUMNS, rates].concat().join(",")
}

/// Reads the rows of a table that `study run` or `study merge` wrote. The name is used in errors.
///
/// # Errors
/// If the text is no such table.
pub fn read_rows(text: &str, name: &str) -> Result<Vec<StudyRow>, StudyError> {
    let wrong = |line: usize, what: &str| StudyError::Mismatch(format!("{name}:{line}: {what}"));
    let mut lines = text.lines();
    let parse: fn(&str) -> Option<StudyRow> = match lines.next() {
        Some(line) if line == header(false) => |line| StudyRow::parse(line, false),
        Some(line) if line == header(true) => |line| StudyRow::parse(line, true),
        Some(line) if line == header(false).replace(",lost,", ",") => StudyRow::parse_without_lost,
        _ => return Err(wrong(1, "this is not a table of 'dmodc study' in this version")),
    };
    let row =
        |(at, line)| parse(line).ok_or_else(|| wrong(at + 2, "this line is not a row of a study"));
    lines.enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back_whatever_is_in_them() {
        let mut row = StudyRow::default();
        row.set("study", "quick");
        row.set("fabric", "PGFT(2; 4,4), \"tapered\"");
        row.set("max", 17);
        row.set_some("median", Some(1.5));
        row.set_some("min", None::<u32>);
        row.set("refused", "no,\nnever");
        let text = format!("{}\n{}\n", header(false), row.line());
        assert_eq!(text.lines().count(), 2, "a row is a line");
        let back = read_rows(&text, "t.csv").expect("it is a table");
        assert_eq!(back[0].get("fabric"), row.get("fabric"));
        assert_eq!(back[0].get("refused"), "no, never");
        assert_eq!((back[0].number("max"), back[0].number("min")), (Some(17.0), None));
        assert_eq!(back, [row]);
    }

    #[test]
    fn rates_are_columns_of_their_own() {
        let mut row = StudyRow::with_rates();
        row.set("refused", "no");
        row.set("mean_rate", 0.5);
        let text = format!("{}\n{}\n", header(true), row.line());
        let back = read_rows(&text, "t.csv").expect("it is a table");
        assert_eq!((back[0].number("mean_rate"), back[0].has_rates()), (Some(0.5), true));
        assert_eq!(back, [row]);
        assert_eq!(
            (StudyRow::default().get("mean_rate"), StudyRow::default().has_rates()),
            ("", false)
        );
        let short = format!("{}\n{}\n", header(true), StudyRow::default().line());
        assert!(read_rows(&short, "t.csv").is_err());
    }

    #[test]
    fn tables_without_lost_pairs_are_read() {
        let mut row = StudyRow::default();
        row.set("unroutable_pairs", 3);
        row.set("lost", 3);
        row.set("valid", "true");
        let header = header(false).replace(",lost,", ",");
        let text = format!("{header}\n{}\n", row.line().replace(",3,3,", ",3,"));
        assert_eq!(read_rows(&text, "t.csv").expect("it is a table"), [row]);
    }

    #[test]
    fn other_tables_are_refused_by_line() {
        let error = |text: &str| read_rows(text, "t.csv").expect_err("it is no table").to_string();
        assert_eq!(
            error("a,b\n1,2\n"),
            "t.csv:1: this is not a table of 'dmodc study' in this version"
        );
        let short = format!("{}\nquick,full\n", header(false));
        assert_eq!(error(&short), "t.csv:2: this line is not a row of a study");
        let open = format!("{}\n\"quick,full\n", header(false));
        assert_eq!(error(&open), "t.csv:2: this line is not a row of a study");
    }
}
