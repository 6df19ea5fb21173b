//! The sections of the page.

use std::fmt::Write as _;

use super::html::{TableCell, count, escape, number, scrolling, table};
use super::{
    DeviceName, HostRow, HtmlReport, LostPairRow, PatternSection, Unroutable, heat, histogram,
};

/// Returns the list of what was analysed.
pub(super) fn facts(facts: &[(String, String)]) -> String {
    let mut html = String::from("<dl class=\"facts\">\n");
    for (name, value) in facts {
        let _ = writeln!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
    }
    html + "</dl>\n"
}

/// Returns the pairs without a route, and all patterns at a glance, each with a link to its section.
pub(super) fn contents(report: &HtmlReport) -> String {
    let mut html = alarm(&report.unroutable);
    let mut table = String::from(
        "<table>\n<thead><tr><th>Pattern</th><th class=\"n\">Maximum</th><th class=\"n\">Bound of the \
         maximum</th><th class=\"n\">Maximum / its bound</th><th class=\"n\">Mean</th><th>over</th>\
         <th class=\"n\">Bound of the mean</th></tr></thead>\n<tbody>\n",
    );
    for (at, pattern) in report.patterns.iter().enumerate() {
        let _ = writeln!(
            table,
            "<tr><td><a href=\"#p{at}\">{}</a></td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td><td>{}</td><td class=\"n\">{}</td></tr>",
            escape(&pattern.name),
            number(pattern.max),
            known(pattern.max_bound.map(number)),
            known(ratio(pattern)),
            number(pattern.mean),
            escape(&pattern.mean_over),
            known(pattern.mean_bound.map(number)),
        );
    }
    table += "</tbody>\n</table>\n";
    html += &scrolling(&table);
    html += "<p class=\"note\">No routing of this fabric goes below a bound.</p>\n";
    let hosts = if report.hosts.is_empty() { "" } else { " · <a href=\"#hosts\">Hosts</a>" };
    let _ = writeln!(html, "<p><a href=\"#unroutable\">Pairs without a route</a>{hosts}</p>");
    html
}

/// Returns the number of pairs without a route. It stands first: such pairs load nothing, so all loads look lower than
/// they are.
fn alarm(lost: &Unroutable) -> String {
    match lost.pairs {
        0 => format!("<p>All {} node pairs have a route.</p>\n", count(lost.of)),
        pairs => format!(
            "<p class=\"alarm\"><strong>{} of {} node pairs have no route</strong> ({}). Their flows are not counted, so \
             the numbers below are too low. <a href=\"#unroutable\">Which pairs</a></p>\n",
            count(pairs),
            count(lost.of),
            share(lost),
        ),
    }
}

fn share(lost: &Unroutable) -> String {
    match 100.0 * lost.pairs as f64 / lost.of.max(1) as f64 {
        share if share < 0.01 => "less than 0.01 %".into(),
        share => format!("{share:.2} %"),
    }
}

fn known(value: Option<String>) -> String {
    value.unwrap_or_else(|| "–".into())
}

fn ratio(pattern: &PatternSection) -> Option<String> {
    let bound = pattern.max_bound.filter(|&bound| bound > 0.0)?;
    Some(format!("{:.2}", pattern.max / bound))
}

/// Returns the most important numbers, each with its own bound.
fn headline(pattern: &PatternSection) -> String {
    let least = |bound: Option<f64>| {
        bound.map(|bound| format!("at least {} by any routing", number(bound)))
    };
    let mean_over = format!("mean over {}", escape(&pattern.mean_over));
    let tiles = [
        ("maximum", number(pattern.max), least(pattern.max_bound)),
        (&mean_over, number(pattern.mean), least(pattern.mean_bound)),
        ("maximum / its bound", known(ratio(pattern)), None),
    ];
    let mut html = String::from("<dl class=\"headline\">\n");
    for (name, value, least) in tiles {
        let _ = write!(html, "<div><dt>{name}</dt><dd>{value}</dd>");
        if let Some(least) = least {
            let _ = write!(html, "<dd class=\"least\">{least}</dd>");
        }
        html += "</div>\n";
    }
    html + "</dl>\n"
}

/// Returns the fair rates of a pattern; nothing if there are none.
fn rates(rates: &[(String, String)]) -> String {
    if rates.is_empty() {
        return String::new();
    }
    let mut html = String::from("<h3>Fair rates</h3>\n<dl class=\"headline\">\n");
    for (name, value) in rates {
        let _ = writeln!(html, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
    }
    html + "</dl>\n"
}

/// Returns the section of a pattern: numbers, distribution, worst ports, all ports.
pub(super) fn pattern(at: usize, pattern: &PatternSection) -> String {
    let mut html = format!("<section id=\"p{at}\">\n<h2>{}</h2>\n", escape(&pattern.name));
    if !pattern.about.is_empty() {
        let _ = writeln!(html, "<p>{}</p>", escape(&pattern.about));
    }
    html += &headline(pattern);
    html += &rates(&pattern.rates);
    html += "<div class=\"side\">\n";
    html += &histogram::svg(pattern);
    if !pattern.percentiles.is_empty() {
        let row = |(name, value): &(String, f64)| {
            vec![TableCell::Text(name.clone()), TableCell::Number(number(*value))]
        };
        let heads = [("Percentile", false), ("Load", true)];
        html += &table(&heads, pattern.percentiles.iter().map(row));
    }
    html += "</div>\n";
    if !pattern.worst.is_empty() {
        html += "<h3>Worst ports</h3>\n";
        html += &scrolling(&worst(pattern));
    }
    if let Some(map) = &pattern.heat {
        html += &heat::section(at, map);
    }
    html + "</section>\n"
}

fn worst(pattern: &PatternSection) -> String {
    let heads = [
        ("Switch", false),
        ("Port", true),
        ("To", false),
        ("Load", true),
        ("Sources", true),
        ("Destinations", true),
    ];
    let known = |value: Option<u64>| TableCell::Number(value.map_or_else(|| "–".into(), count));
    let rows = pattern.worst.iter().map(|port| {
        vec![
            TableCell::Names(vec![port.switch.clone()]),
            TableCell::Number(port.port.to_string()),
            TableCell::Names(vec![port.peer.clone()]),
            TableCell::Number(number(port.load)),
            known(port.sources),
            known(port.destinations),
        ]
    });
    table(&heads, rows)
}

/// Returns the section of pairs without a route, even if there are none.
pub(super) fn unroutable(unroutable: &Unroutable) -> String {
    let Unroutable { pairs, of, examples } = unroutable;
    let mut html = String::from("<section id=\"unroutable\">\n<h2>Pairs without a route</h2>\n");
    let _ = match pairs {
        0 => writeln!(html, "<p>None: all {} node pairs have a route.</p>", count(*of)),
        _ => {
            let (pairs, of, share) = (count(*pairs), count(*of), share(unroutable));
            writeln!(
                html,
                "<p><strong>{pairs}</strong> of {of} node pairs have no route ({share}).</p>"
            )
        }
    };
    if !examples.is_empty() {
        let heads = [("From", false), ("To", false), ("Why", false)];
        let row = |LostPairRow { from, to, reason }: &LostPairRow| {
            let device = |name: &DeviceName| TableCell::Names(vec![name.clone()]);
            vec![device(from), device(to), TableCell::Text(reason.clone())]
        };
        html += &scrolling(&table(&heads, examples.iter().map(row)));
        let more = pairs.saturating_sub(examples.len() as u64);
        if more > 0 {
            let _ = writeln!(html, "<p>and {} more</p>", count(more));
        }
    }
    html + "</section>\n"
}

/// Returns the section with a row for each host. Thousands of rows are scrolled in a box and found by name; on paper
/// only the first ones are shown.
pub(super) fn hosts(hosts: &[HostRow], patterns: &[PatternSection]) -> String {
    if hosts.is_empty() {
        return String::new();
    }
    // A pattern whose flows are not followed one by one has no loads of hosts.
    let shown: Vec<usize> = (0..patterns.len())
        .filter(|&at| hosts.iter().any(|host| host.loads.get(at).is_some_and(Option::is_some)))
        .collect();
    let worst: Vec<String> =
        shown.iter().map(|&at| format!("Mean of worst loads: {}", patterns[at].name)).collect();
    let mut heads = vec![("Host", false), ("Nodes", true), ("Switch", false)];
    heads.extend(worst.iter().map(|head| (head.as_str(), true)));
    let rows = hosts.iter().map(|host| {
        let load = |at: &usize| match host.loads.get(*at) {
            Some(Some(load)) => TableCell::Number(number(*load)),
            _ => TableCell::Number("–".into()),
        };
        let mut row = vec![
            TableCell::Names(vec![host.name.clone()]),
            TableCell::Number(count(host.nodes)),
            TableCell::Names(host.switches.clone()),
        ];
        row.extend(shown.iter().map(load));
        row
    });
    format!(
        "<section id=\"hosts\">\n<h2>Hosts</h2>\n<p>For each host: the most flows through one port on \
         its routes, on average over the patterns of a series. The list has the {} hosts with the greatest values.</p>\n<p class=\"find\"><label>Find <input type=\"search\" id=\"find\"></label></p>\n\
         <div class=\"box\">\n{}</div>\n\
         <p class=\"paper\">A print shows at most the first 100 hosts.</p>\n</section>\n",
        count(hosts.len() as u64),
        table(&heads, rows),
    )
}
