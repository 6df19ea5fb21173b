//! Escaping, numbers and tables, shared by all parts of the page.

use std::fmt::Write as _;

use dmodc_formats::printable;

use super::DeviceName;
use crate::figure::thousands;

/// Returns text with all special characters escaped, for elements and attributes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns a number for people: without decimals if it is whole, otherwise with two.
pub(super) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    let text = match value.fract() == 0.0 {
        true => format!("{:.0}", value.abs()),
        false => format!("{:.2}", value.abs()),
    };
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{}{fraction}", thousands(whole))
}

/// Returns a count for people.
pub(super) fn count(value: u64) -> String {
    thousands(&value.to_string())
}

/// A cell of a table.
pub(super) enum TableCell {
    Text(String),
    Number(String),
    /// Devices by name, with their details in small print.
    Names(Vec<DeviceName>),
}

/// Returns a device: its name, and its detail in small print.
pub(super) fn device(name: &DeviceName) -> String {
    let (name, detail) = (escape(&name.name), escape(&name.detail));
    let small = if detail.is_empty() { "".into() } else { format!(" <small>{detail}</small>") };
    // A name is never broken; a line may end between it and the small print.
    format!("<span class=\"name\">{name}</span>{small}")
}

/// Returns a table in a box that scrolls, because it may be wider than a narrow page.
pub(super) fn scrolling(table: &str) -> String {
    format!("<div class=\"scroll\">\n{table}</div>\n")
}

/// Returns a table. Each head says whether its column holds numbers.
pub(super) fn table(heads: &[(&str, bool)], rows: impl Iterator<Item = Vec<TableCell>>) -> String {
    let mut html = String::from("<table>\n<thead><tr>");
    for (head, numbers) in heads {
        let class = if *numbers { " class=\"n\"" } else { "" };
        let _ = write!(html, "<th{class}>{}</th>", escape(head));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in rows {
        html += "<tr>";
        for cell in row {
            let _ = match cell {
                TableCell::Text(text) => write!(html, "<td>{}</td>", escape(&text)),
                TableCell::Number(text) => write!(html, "<td class=\"n\">{}</td>", escape(&text)),
                TableCell::Names(names) => {
                    let names: Vec<String> = names.iter().map(device).collect();
                    write!(html, "<td>{}</td>", names.join("<br>"))
                }
            };
        }
        html += "</tr>\n";
    }
    html + "</tbody>\n</table>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_for_reading() {
        assert_eq!(number(11_664.0), "11,664");
        assert_eq!(number(1234.5), "1,234.50");
        assert_eq!(number(-0.25), "−0.25");
        assert_eq!(number(f64::NAN), "–");
        assert_eq!(count(1_000_000), "1,000,000");
    }

    #[test]
    fn text_cannot_leave_its_element() {
        assert_eq!(escape("<b a='\"'>&\u{1b}[0m\n"), "&lt;b a=&#39;&quot;&#39;&gt;&amp; [0m ");
    }
}
