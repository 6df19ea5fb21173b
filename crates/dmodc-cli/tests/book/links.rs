//! Links of Markdown pages: to files, and to headings in them.

use std::fs;
use std::path::Path;

use regex_lite::Regex;

pub(crate) struct Target {
    pub(crate) line: usize,
    pub(crate) text: String,
}

/// Returns what a page links to, outside of code.
pub(crate) fn targets(page: &str) -> Vec<Target> {
    let link =
        Regex::new(r#"\]\(([^)\s]+)\)|(?:src|href)="([^"]+)"|\{\{#include ([^}:\s]+)"#).unwrap();
    let code = Regex::new(r"`[^`]*`").unwrap();
    let mut in_code = false;
    let mut targets = Vec::new();
    for (at, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code && !line.contains("{{#include") {
            continue;
        }
        let line = code.replace_all(line, "");
        for found in link.captures_iter(&line) {
            let text = found.iter().skip(1).flatten().next().unwrap().as_str().to_owned();
            targets.push(Target { line: at + 1, text });
        }
    }
    targets
}

/// Returns the links of a file that lead nowhere. Addresses on the web are left alone: tests use no network.
pub(crate) fn broken(root: &Path, file: &Path) -> Vec<String> {
    let page = fs::read_to_string(file).unwrap();
    let name = file.strip_prefix(root).unwrap().display();
    let book = root.join("docs/src");
    let mut broken = Vec::new();
    for Target { line, text } in targets(&page) {
        if text.contains("://") || text.starts_with("mailto:") {
            continue;
        }
        let (path, anchor) = text.split_once('#').unwrap_or((&text, ""));
        let target =
            if path.is_empty() { file.to_owned() } else { file.parent().unwrap().join(path) };
        let Ok(target) = target.canonicalize() else {
            broken.push(format!("{name}:{line}: '{text}' does not exist"));
            continue;
        };
        let is_included = page.lines().nth(line - 1).is_some_and(|l| l.contains("{{#include"));
        if file.starts_with(&book) && !target.starts_with(&book) && !is_included {
            broken.push(format!(
                "{name}:{line}: '{text}' is not part of the book, so it is missing there"
            ));
        }
        if !anchor.is_empty()
            && !anchors(&fs::read_to_string(&target).unwrap()).contains(&anchor.to_owned())
        {
            broken.push(format!("{name}:{line}: '{text}': no such heading"));
        }
    }
    broken
}

/// Returns the anchors of a page's headings, as mdBook makes them.
fn anchors(page: &str) -> Vec<String> {
    let mut in_code = false;
    let mut anchors = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let heading = line.trim_start_matches('#');
        if in_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let anchor: String = heading
            .trim()
            .chars()
            .filter_map(|c| match c {
                c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c.to_ascii_lowercase()),
                c if c.is_whitespace() => Some('-'),
                _ => None,
            })
            .collect();
        anchors.push(anchor);
    }
    anchors
}

#[test]
fn links_and_anchors_are_found() {
    let page =
        "[a](b.md#c-d) ![p](x.svg)\n```text\n[no](no.md)\n```\n`[no](no.md)`\n<img src=\"y.png\">";
    let found: Vec<String> = targets(page).into_iter().map(|target| target.text).collect();
    assert_eq!(found, ["b.md#c-d", "x.svg", "y.png"]);
    assert_eq!(anchors("# Up, then *down*\n## C d\nno # heading"), ["up-then-down", "c-d"]);
}
