//! Escaping, numbers and tables, shared by all parts of the page.

use std::fmt::Write as _;

use dmodc_formats::printable;

use super::DeviceName;
use crate::figure::thousands;

/// Text as HTML, inside elements and attributes alike.
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

/// A number for reading: whole if it is, else with two decimals.
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

/// A count for reading.
pub(super) fn count(value: u64) -> String {
    thousands(&value.to_string())
}

/// A cell of a table.
pub(super) enum TableCell {
    Text(String),
    Number(String),
    /// Devices by name, with what tells them apart in small print.
    Names(Vec<DeviceName>),
}

/// A device: its name, and what tells it apart in small print.
pub(super) fn device(name: &DeviceName) -> String {
    let (name, detail) = (escape(&name.name), escape(&name.detail));
    let small = if detail.is_empty() { "".into() } else { format!(" <small>{detail}</small>") };
    // A name is never broken; a line may end between it and the small print.
    format!("<span class=\"name\">{name}</span>{small}")
}

/// A table that may be wider than a narrow page, in a box that scrolls.
pub(super) fn scrolling(table: &str) -> String {
    format!("<div class=\"scroll\">\n{table}</div>\n")
}

/// A table; heads say of each column whether it holds numbers.
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
