//! The sections of the page.

use std::fmt::Write as _;

use super::html::{Cell, count, escape, number, table};
use super::{Host, Pattern, Report, Unroutable, heat, histogram};

/// What was analysed, as a list.
pub(super) fn facts(facts: &[(String, String)]) -> String {
    let mut html = String::from("<dl class=\"facts\">\n");
    for (name, value) in facts {
        let _ = writeln!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
    }
    html + "</dl>\n"
}

/// All patterns at a glance, each with a link to its section.
pub(super) fn contents(report: &Report) -> String {
    let mut html = String::from(
        "<table>\n<thead><tr><th>Pattern</th><th class=\"n\">Maximum</th><th class=\"n\">Mean</th>\
         <th class=\"n\">Bound</th><th class=\"n\">Maximum / bound</th></tr></thead>\n<tbody>\n",
    );
    for (at, pattern) in report.patterns.iter().enumerate() {
        let _ = write!(html, "<tr><td><a href=\"#p{at}\">{}</a></td>", escape(&pattern.name));
        for value in headline(pattern).map(|(_, value)| value) {
            let _ = write!(html, "<td class=\"n\">{value}</td>");
        }
        html += "</tr>\n";
    }
    html += "</tbody>\n</table>\n";
    let lost = &report.unroutable;
    let _ = writeln!(
        html,
        "<p><a href=\"#unroutable\">{} of {} node pairs without a route</a>{}</p>",
        count(lost.pairs),
        count(lost.of),
        if report.hosts.is_empty() { "" } else { " · <a href=\"#hosts\">Hosts</a>" },
    );
    html
}

/// The numbers to look at first.
fn headline(pattern: &Pattern) -> [(&'static str, String); 4] {
    let unknown = || "–".to_string();
    let ratio = pattern.bound.filter(|&bound| bound > 0.0).map(|bound| pattern.max / bound);
    [
        ("maximum", number(pattern.max)),
        ("mean", number(pattern.mean)),
        ("lower bound", pattern.bound.map_or_else(unknown, number)),
        ("maximum / bound", ratio.map_or_else(unknown, |ratio| format!("{ratio:.2}"))),
    ]
}

/// One pattern: numbers, distribution, worst ports, all ports.
pub(super) fn pattern(at: usize, pattern: &Pattern) -> String {
    let mut html = format!("<section id=\"p{at}\">\n<h2>{}</h2>\n", escape(&pattern.name));
    if !pattern.about.is_empty() {
        let _ = writeln!(html, "<p>{}</p>", escape(&pattern.about));
    }
    html += "<dl class=\"headline\">\n";
    for (name, value) in headline(pattern) {
        let _ = writeln!(html, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }
    html += "</dl>\n<div class=\"side\">\n";
    html += &histogram::svg(pattern);
    if !pattern.percentiles.is_empty() {
        let row = |(name, value): &(String, f64)| {
            vec![Cell::Text(name.clone()), Cell::Number(number(*value))]
        };
        let heads = [("Percentile", false), ("Load", true)];
        html += &table(&heads, pattern.percentiles.iter().map(row));
    }
    html += "</div>\n";
    if !pattern.worst.is_empty() {
        html += "<h3>Worst ports</h3>\n";
        html += &worst(pattern);
    }
    if let Some(map) = &pattern.heat {
        html += &heat::section(at, map);
    }
    html + "</section>\n"
}

fn worst(pattern: &Pattern) -> String {
    let heads = [
        ("Switch", false),
        ("Port", true),
        ("To", false),
        ("Load", true),
        ("Sources", true),
        ("Destinations", true),
    ];
    let known = |value: Option<u64>| Cell::Number(value.map_or_else(|| "–".into(), count));
    let rows = pattern.worst.iter().map(|port| {
        vec![
            Cell::Text(port.switch.clone()),
            Cell::Number(port.port.to_string()),
            Cell::Text(port.peer.clone()),
            Cell::Number(number(port.load)),
            known(port.sources),
            known(port.destinations),
        ]
    });
    table(&heads, rows)
}

/// Pairs without a route; that there are none is said, too.
pub(super) fn unroutable(unroutable: &Unroutable) -> String {
    let Unroutable { pairs, of, examples } = unroutable;
    let mut html = String::from("<section id=\"unroutable\">\n<h2>Pairs without a route</h2>\n");
    let _ = match pairs {
        0 => writeln!(html, "<p>None: all {} node pairs have a route.</p>", count(*of)),
        _ => {
            let share = match 100.0 * *pairs as f64 / (*of).max(1) as f64 {
                share if share < 0.01 => "less than 0.01 %".into(),
                share => format!("{share:.2} %"),
            };
            let (pairs, of) = (count(*pairs), count(*of));
            writeln!(
                html,
                "<p><strong>{pairs}</strong> of {of} node pairs have no route ({share}).</p>"
            )
        }
    };
    if !examples.is_empty() {
        let heads = [("From", false), ("To", false), ("Why", false)];
        let row = |(from, to, why): &(String, String, String)| {
            [from, to, why].map(|text| Cell::Text(text.clone())).into()
        };
        html += &table(&heads, examples.iter().map(row));
        let more = pairs.saturating_sub(examples.len() as u64);
        if more > 0 {
            let _ = writeln!(html, "<p>and {} more</p>", count(more));
        }
    }
    html + "</section>\n"
}

/// A row for each host. Thousands are scrolled in a box and found by name; paper gets the first ones.
pub(super) fn hosts(hosts: &[Host], patterns: &[Pattern]) -> String {
    if hosts.is_empty() {
        return String::new();
    }
    let worst: Vec<String> =
        patterns.iter().map(|p| format!("{}: mean of worst loads", p.name)).collect();
    let mut heads = vec![("Host", false), ("Nodes", true), ("Switch", false)];
    heads.extend(worst.iter().map(|head| (head.as_str(), true)));
    let rows = hosts.iter().map(|host| {
        let load = |at: usize| match host.loads.get(at) {
            Some(Some(load)) => Cell::Number(number(*load)),
            _ => Cell::Number("–".into()),
        };
        let mut row = vec![
            Cell::Text(host.name.clone()),
            Cell::Number(count(host.nodes)),
            Cell::Text(host.switch.clone()),
        ];
        row.extend((0..patterns.len()).map(load));
        row
    });
    format!(
        "<section id=\"hosts\">\n<h2>Hosts</h2>\n<p>The greatest load that packets from a host meet, \
         on average over the patterns of a series, of the {} that fare worst.</p>\n<p class=\"find\"><label>Find <input type=\"search\" id=\"find\"></label></p>\n\
         <div class=\"box\">\n{}</div>\n\
         <p class=\"paper\">On paper at most the first 100 hosts are shown.</p>\n</section>\n",
        count(hosts.len() as u64),
        table(&heads, rows),
    )
}
