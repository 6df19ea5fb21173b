//! Numbers for Prometheus, and the dashboard that shows them.

use std::collections::{BTreeMap, BTreeSet};

use regex_lite::Regex;
use serde_json::Value;

use crate::desk::{fail, metric, server};

/// What is known about a number.
#[derive(Default)]
struct Family {
    kind: String,
    has_help: bool,
    /// Names, labels and values in order.
    samples: Vec<(String, String, f64)>,
}

/// Reads the text format of Prometheus, and checks its rules.
fn families(text: &str) -> BTreeMap<String, Family> {
    let name = Regex::new("^[a-zA-Z_:][a-zA-Z0-9_:]*$").unwrap();
    let sample = Regex::new(r#"^([^ {]+)(\{([a-z_]+="[^"\\]*")(,[a-z_]+="[^"\\]*")*\})? ([^ ]+)$"#);
    let sample = sample.unwrap();
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut current = String::new();
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (own, help) = rest.split_once(' ').unwrap();
            assert!(name.is_match(own) && help.ends_with('.'), "{line}");
            assert!(!families.contains_key(own), "{own} has two parts");
            families.entry(own.into()).or_default().has_help = true;
            current = own.into();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (own, kind) = rest.split_once(' ').unwrap();
            assert!(own == current && families[own].samples.is_empty(), "{line}");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            families.get_mut(own).unwrap().kind = kind.into();
        } else {
            let found = sample.captures(line).unwrap_or_else(|| panic!("{line}"));
            let (own, value) = (found[1].to_owned(), found[5].parse::<f64>().unwrap());
            assert!(own.starts_with(&current), "{line} is not below its TYPE");
            let labels = found.get(2).map_or("", |labels| labels.as_str()).to_owned();
            families.get_mut(&current).unwrap().samples.push((own, labels, value));
        }
    }
    families
}

fn check(families: &BTreeMap<String, Family>) {
    for (name, family) in families {
        assert!(family.has_help && !family.kind.is_empty() && !family.samples.is_empty(), "{name}");
        assert_eq!(family.kind == "counter", name.ends_with("_total"), "{name}");
        let mut seen = BTreeSet::new();
        for (own, labels, value) in &family.samples {
            assert!(seen.insert((own, labels)), "{own}{labels} is there twice");
            assert!(value.is_finite() && *value >= 0.0, "{own} {value}");
            assert!(family.kind == "histogram" || own == name, "{own}");
        }
        if family.kind == "histogram" {
            let bucket = format!("{name}_bucket");
            let buckets: Vec<(f64, f64)> = family
                .samples
                .iter()
                .filter(|(own, _, _)| *own == bucket)
                .map(|(_, labels, value)| {
                    let end = labels.trim_matches(['{', '}']).trim_start_matches("le=");
                    let end = end.trim_matches('"').replace("+Inf", "inf");
                    (end.parse().unwrap(), *value)
                })
                .collect();
            let grows = |pair: &[(f64, f64)]| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1;
            assert!(buckets.windows(2).all(grows), "{name}: {buckets:?}");
            let value = |end: &str| {
                let wanted = format!("{name}_{end}");
                family.samples.iter().find(|(own, _, _)| *own == wanted).unwrap().2
            };
            assert_eq!(*buckets.last().unwrap(), (f64::INFINITY, value("count")), "{name}");
            assert!(value("sum") >= 0.0);
        }
    }
}

#[test]
fn numbers_follow_the_rules_of_prometheus() {
    let client = server();
    let answer = client.get("/metrics");
    let media = answer.header("content-type");
    assert_eq!(media, Some("text/plain; version=0.0.4; charset=utf-8"));
    check(&families(answer.text()));
    for part in ["L2-1", "L1-0/5", "L2-3"] {
        client.post("/api/v1/change", &fail(part)).good();
    }
    client.get("/api/v1/judgement").good();
    client.get("/nothing").refusal(404);
    let text = client.get("/metrics").text().to_owned();
    let families = families(&text);
    check(&families);
    for (name, value) in [
        ("dmodc_serve_revision", 4.0),
        ("dmodc_serve_nodes", 64.0),
        ("dmodc_serve_failed_switches", 2.0),
        ("dmodc_serve_failed_cables", 1.0),
        ("dmodc_serve_valid", 1.0),
        ("dmodc_serve_reroute_seconds_count", 4.0),
        ("dmodc_serve_history_events", 4.0),
        ("dmodc_serve_history_errors_total", 0.0),
        ("dmodc_serve_lost_pairs", 0.0),
        ("dmodc_serve_answers_total{class=\"4xx\"}", 1.0),
        ("dmodc_serve_answers_total{class=\"5xx\"}", 0.0),
    ] {
        assert_eq!(metric(&client, name), Some(value), "{name}");
    }
    let judgement = client.get("/api/v1/judgement").good();
    assert_eq!(metric(&client, "dmodc_serve_a2a_flows"), judgement["a2a"]["max"].as_f64());
    let events = client.get("/api/v1/events").good();
    let moved: f64 =
        events["events"].as_array().unwrap().iter().map(|e| e["entries"].as_f64().unwrap()).sum();
    assert_eq!(metric(&client, "dmodc_serve_moved_entries_total"), Some(moved));
}

/// Returns all texts of a JSON document with this key.
fn values<'a>(value: &'a Value, key: &str, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            for (own, inner) in fields {
                match inner {
                    Value::String(text) if own == key => found.push(text),
                    _ => values(inner, key, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|inner| values(inner, key, found)),
        _ => {}
    }
}

#[test]
fn the_dashboard_shows_numbers_that_exist() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/grafana-dashboard.json");
    let dashboard: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let client = server();
    client.get("/api/v1/judgement").good();
    let families = families(client.get("/metrics").text());
    let own = Regex::new("dmodc_serve_[a-z0-9_]+").unwrap();
    let mut expressions = vec![];
    values(&dashboard, "expr", &mut expressions);
    let mut used = BTreeSet::new();
    for expression in &expressions {
        assert!(own.is_match(expression), "{expression}");
        for name in own.find_iter(expression).map(|found| found.as_str()) {
            let family =
                ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end));
            let name = family.filter(|name| families.contains_key(*name)).unwrap_or(name);
            assert!(families.contains_key(name), "there is no number {name}");
            used.insert(name.to_owned());
        }
    }
    let all: BTreeSet<String> = families.into_keys().collect();
    assert_eq!(all.difference(&used).collect::<Vec<_>>(), Vec::<&String>::new(), "not shown");
    // It can be imported anywhere: no panel names a source of data.
    let mut sources = vec![];
    values(&dashboard["panels"], "uid", &mut sources);
    assert!(
        !sources.is_empty() && sources.iter().all(|uid| *uid == "${datasource}"),
        "{sources:?}"
    );
    assert_eq!(dashboard["templating"]["list"][0]["name"], "datasource");
    assert!(dashboard["id"].is_null());
}
