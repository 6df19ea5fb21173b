//! The heat map: switches by level, a line each; ports, a column each.
//!
//! A large fabric has a hundred thousand ports, too many for elements of a page. The loads are put into
//! the page as JSON, and its script paints them, level by level.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::html::escape;
use super::{HeatMap, PatternSection};

/// Returns the section in which the script paints the map of a pattern.
pub(super) fn section(at: usize, map: &HeatMap) -> String {
    let mut html = format!(
        "<h3>Every port</h3>\n<p>A line for each switch, a column for each port. \
         <span class=\"legend\" id=\"legend{at}\"></span></p>\n\
         <noscript><p>The map is drawn by a script, which is switched off.</p></noscript>\n"
    );
    for (level, heat) in map.levels.iter().enumerate() {
        let name = escape(&heat.name);
        let _ = writeln!(
            html,
            "<figure class=\"heat\"><figcaption>{name}</figcaption>\
             <canvas id=\"heat{at}-{level}\" role=\"img\" aria-label=\"Loads of ports, {name}\"></canvas></figure>"
        );
    }
    html
}

/// Returns the loads of all maps in the form that the script reads: for each pattern null or its levels, each a list of
/// switches and a list of their loads.
pub(super) fn data(patterns: &[PatternSection]) -> String {
    let level = |level: &super::HeatLevel| {
        let names: Vec<String> = level
            .switches
            .iter()
            .map(|row| format!("{} ({})", row.switch.name, row.switch.detail))
            .collect();
        let loads: Vec<&[Option<u64>]> =
            level.switches.iter().map(|row| row.loads.as_slice()).collect();
        json!({"switches": names, "loads": loads})
    };
    let map = |map: &HeatMap| map.levels.iter().map(level).collect::<Value>();
    let maps: Value = patterns.iter().map(|p| p.heat.as_ref().map(map)).collect();
    // Escaped, no text inside can end the script element.
    let text = maps.to_string().replace('<', "\\u003c");
    format!("<script type=\"application/json\" id=\"maps\">{text}</script>\n")
}
