//! The page as a whole.

use std::fmt::Write as _;

use super::html::escape;
use super::{HtmlReport, heat, sections};

const STYLE: &str = include_str!("style.css");

const SCRIPT: &str = include_str!("script.js");

/// The page may load nothing, and send nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// Returns the report as one HTML page.
pub fn html(report: &HtmlReport) -> String {
    let title = escape(&report.title);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
    );
    page += &sections::facts(&report.facts);
    page += &sections::contents(report);
    for (at, pattern) in report.patterns.iter().enumerate() {
        page += &sections::pattern(at, pattern);
    }
    page += &sections::unroutable(&report.unroutable);
    page += &sections::hosts(&report.hosts, &report.patterns);
    let _ = writeln!(page, "<footer>{}</footer>\n</main>", escape(&report.made_by));
    page += &heat::data(&report.patterns);
    let _ = writeln!(page, "<script>\n{SCRIPT}</script>\n</body>\n</html>");
    page
}
