//! The page as a whole.

use std::fmt::Write as _;

use super::html::escape;
use super::{HtmlReport, heat, sections};

const STYLE: &str = include_str!("style.css");

const SCRIPT: &str = include_str!("script.js");

/// The page may load nothing, and send nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// Returns a page: its head, its title, and its body.
pub(super) fn document(title: &str, body: &str, data: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
         {body}</main>\n{data}<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// Returns the report as one HTML page.
pub fn html(report: &HtmlReport) -> String {
    let mut body = sections::facts(&report.facts);
    body += &sections::contents(report);
    for (at, pattern) in report.patterns.iter().enumerate() {
        body += &sections::pattern(at, pattern);
    }
    body += &sections::unroutable(&report.unroutable);
    body += &sections::hosts(&report.hosts, &report.patterns);
    let _ = writeln!(body, "<footer>{}</footer>", escape(&report.made_by));
    document(&report.title, &body, &heat::data(&report.patterns))
}
