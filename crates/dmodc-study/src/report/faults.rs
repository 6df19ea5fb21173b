//! The page of a survey of faults: what was tried, how harmful faults are, and the groups, worst first.

use std::fmt::Write as _;

use super::html::{TableCell, escape, scrolling, table};
use super::page::document;
use super::{PatternSection, histogram, sections};

/// The contents of the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultPage {
    /// The title of the page.
    pub title: String,
    /// What was tried: names and values.
    pub facts: Vec<(String, String)>,
    /// The distribution of the risk of all-to-all over the faults; its `max`, `mean` and bounds are those of now.
    pub distribution: PatternSection,
    /// The names of the series that follow all-to-all in the table.
    pub series: Vec<String>,
    /// The groups of faults, the most harmful first.
    pub rows: Vec<FaultRow>,
    /// How many groups are not shown.
    pub more: usize,
    /// The last line: the program, its version, the command.
    pub made_by: String,
}

/// A group of faults that are alike.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FaultRow {
    /// What fails, such as "cable between ranks 1 and 2".
    pub kind: String,
    /// One of them.
    pub example: String,
    /// How many there are.
    pub alike: String,
    /// The pairs that arrive now and do not arrive after it.
    pub undelivered: String,
    /// The risk of all-to-all, and compared with now and with the bound.
    pub all_to_all: [String; 3],
    /// The means of the series.
    pub series: Vec<String>,
    /// Entries and node pairs that move.
    pub moved: [String; 2],
}

/// Returns the survey as one HTML page.
pub fn faults_html(page: &FaultPage) -> String {
    let mut body = sections::facts(&page.facts);
    let _ = write!(body, "<section>\n<h2>{}</h2>\n", escape(&page.distribution.name));
    let _ = writeln!(body, "<p>{}</p>", escape(&page.distribution.about));
    body += &histogram::svg(&page.distribution);
    body += "</section>\n<section>\n<h2>Faults, the most harmful first</h2>\n";
    let mut heads = vec![
        ("fails", false),
        ("for example", false),
        ("alike", true),
        ("pairs interrupted", true),
        ("all-to-all", true),
        ("× now", true),
        ("× bound", true),
    ];
    heads.extend(page.series.iter().map(|name| (name.as_str(), true)));
    heads.extend([("entries moved", true), ("pairs moved", true)]);
    let rows = page.rows.iter().map(|row| {
        let mut cells = vec![
            TableCell::Text(row.kind.clone()),
            TableCell::Text(row.example.clone()),
            TableCell::Number(row.alike.clone()),
            TableCell::Number(row.undelivered.clone()),
        ];
        let numbers = row.all_to_all.iter().chain(&row.series).chain(&row.moved);
        cells.extend(numbers.map(|number| TableCell::Number(number.clone())));
        cells
    });
    body += &scrolling(&table(&heads, rows));
    if page.more > 0 {
        let _ = writeln!(body, "<p>{} less harmful groups are not shown.</p>", page.more);
    }
    let _ = writeln!(body, "</section>\n<footer>{}</footer>", escape(&page.made_by));
    document(&page.title, &body, "")
}
