//! Help texts and manual pages can be understood: short sentences, plain words, and examples.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod desk;

use desk::Desk;

/// Words of an earlier idiom that readers could not understand, and words that say too little.
const UNCLEAR: [&str; 16] = [
    "told",
    "tells",
    "beside",
    "so many",
    "throw",
    "throws",
    "an expert's note",
    "as people have them",
    "brings home",
    "whatever",
    "anew it",
    "those of then",
    "likewise",
    "thereby",
    "upon",
    "is none",
];

/// The most words that a sentence may have.
const LONGEST: usize = 40;

/// The most words that the first line of a help text may have.
const FIRST_LINE: usize = 20;

/// Returns the names of the subcommands that a help text lists.
fn subcommands(help: &str) -> Vec<String> {
    let is_list = |line: &str| {
        let groups = [
            "Commands:",
            "Start here:",
            "Describe, create and change fabrics:",
            "Compute and examine forwarding tables:",
            "Place jobs:",
            "Work with OpenSM:",
            "Experiment and measure:",
            "Set up this program:",
        ];
        groups.contains(&line)
    };
    let (mut names, mut in_list) = (vec![], false);
    for line in help.lines() {
        if !line.starts_with(' ') {
            in_list = is_list(line);
        } else if in_list && line.starts_with("  ") && !line.starts_with("   ") {
            names.extend(line.split_whitespace().next().map(str::to_owned));
        }
    }
    names.retain(|name| name != "help");
    names
}

/// Returns the long help of a command and of all its subcommands, with their names.
fn helps(desk: &Desk, command: &[&str]) -> Vec<(String, String)> {
    let mut words = command.to_vec();
    words.push("--help");
    let help = desk.ok(&words);
    let mut all = vec![(format!("dmodc {}", command.join(" ")).trim().to_owned(), help.clone())];
    for name in subcommands(&help) {
        let mut path = command.to_vec();
        path.push(&name);
        all.extend(helps(desk, &path));
    }
    all
}

/// Returns the sentences of a text. Examples, usage lines and lists are not sentences, but end one.
fn sentences(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    for line in text.lines() {
        let line = line.trim();
        let begins = line.is_empty()
            || line.starts_with(['-', '#', '<', '[', '.'])
            || line.ends_with(':')
            || line.contains("  ")
            || line.starts_with("dmodc ")
            || line.starts_with("Usage:");
        if begins {
            all.push(String::new());
        }
        for word in line.split_whitespace() {
            let last = all.last_mut().unwrap();
            last.push_str(word);
            last.push(' ');
            if word.ends_with(['.', '?', '!']) || word.ends_with(".)") {
                all.push(String::new());
            }
        }
        if line.ends_with(':') {
            all.push(String::new());
        }
    }
    all.retain(|sentence| !sentence.trim().is_empty());
    all
}

/// Returns what is hard to understand in a text.
fn complaints(name: &str, text: &str) -> Vec<String> {
    let mut found = vec![];
    let plain: String = text
        .to_lowercase()
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '\'' { c } else { ' ' })
        .collect();
    let plain = format!(" {} ", plain.split_whitespace().collect::<Vec<_>>().join(" "));
    for word in UNCLEAR {
        if plain.contains(&format!(" {word} ")) {
            found.push(format!("{name}: the word '{word}'"));
        }
    }
    for sentence in sentences(text) {
        let words = sentence.split_whitespace().count();
        if words > LONGEST {
            found.push(format!("{name}: a sentence of {words} words: {sentence}"));
        }
    }
    found
}

#[test]
fn help_texts_are_plain_and_have_examples() {
    let desk = Desk::new();
    let all = helps(&desk, &[]);
    assert!(all.len() > 20, "only {} commands were found", all.len());
    let mut found = vec![];
    for (name, help) in &all {
        found.extend(complaints(name, help));
        let first = help.lines().next().unwrap();
        if !first.ends_with('.') || first.split_whitespace().count() > FIRST_LINE {
            found.push(format!("{name}: the first line: {first}"));
        }
        let examples = help.split_once("\nExamples:\n").map_or("", |(_, examples)| examples);
        let calls = examples.lines().filter(|line| {
            line.starts_with("  ") && !line.trim().starts_with('#') && line.contains("dmodc ")
        });
        if calls.count() < 2 {
            found.push(format!("{name}: fewer than two examples"));
        }
        if !help.contains("\nExit codes:\n") {
            found.push(format!("{name}: no exit codes"));
        }
        if let Some(long) = help.lines().find(|line| line.chars().count() > 100) {
            found.push(format!("{name}: a line is too long: {long}"));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn short_help_has_the_same_examples() {
    let desk = Desk::new();
    let short = desk.ok(&["route", "-h"]);
    let long = desk.ok(&["route", "--help"]);
    let examples = |help: &str| help.split_once("\nExamples:\n").unwrap().1.to_owned();
    assert_eq!(examples(&short), examples(&long));
    assert!(short.len() < long.len());
}

#[test]
fn manual_pages_are_plain_and_complete() {
    let desk = Desk::new();
    desk.ok(&["man", "--dir", "man"]);
    let names: Vec<String> = helps(&desk, &[]).into_iter().map(|(name, _)| name).collect();
    let mut found = vec![];
    for name in &names {
        let page = desk.read(&format!("man/{}.1", name.replace(' ', "-")));
        for section in ["EXAMPLES", "\"EXIT STATUS\"", "FILES", "\"SEE ALSO\""] {
            if !page.lines().any(|line| line == format!(".SH {section}")) {
                found.push(format!("{name}(1): no section {section}"));
            }
        }
        // Commands and escapes of roff are not read.
        let text: String = page
            .replace("\\fB", "")
            .replace("\\fI", "")
            .replace("\\fR", "")
            .replace("\\-", "-")
            .replace("\\(aq", "'")
            .lines()
            .map(|line| if line.starts_with('.') { "\n" } else { line }.to_owned() + "\n")
            .collect();
        found.extend(complaints(&format!("{name}(1)"), &text));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
