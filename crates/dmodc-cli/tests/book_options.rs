//! The reference of the book is complete: every option of every command is on the page of that command, and the tables of
//! options there name no option that the program does not have.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// Options that all commands have. `commands.md` describes them.
const EVERYWHERE: [&str; 3] = ["--help", "--threads", "--version"];

/// Returns the help of a command, which is a list of words.
fn help(command: &[String]) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_dmodc")).arg("help").args(command).output().unwrap();
    assert!(output.status.success(), "dmodc help {}", command.join(" "));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the names of the commands below one, without `help`. They are listed between the usage and the options, perhaps
/// under several headings.
fn commands_below(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| !line.starts_with("Usage:"));
    let lines = lines.skip(1).take_while(|line| *line != "Options:" && *line != "Arguments:");
    // Two blanks begin the line of a command; more of them continue the description of the one before.
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.filter(|name| !name.is_empty() && *name != "help").collect()
}

/// Returns the long options that a help text describes. They are listed from the heading `Options:` on, perhaps under several
/// headings.
fn options(help: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in help.lines().skip_while(|line| *line != "Options:") {
        // Two blanks begin the line of a short option, and six the line of an option that has none. The same name elsewhere,
        // such as at the start of a line of a description, has another indent.
        let long = match line.strip_prefix("      --") {
            Some(long) => Some(long),
            None => line.strip_prefix("  -").and_then(|rest| rest.get(1..)?.strip_prefix(", --")),
        };
        found.extend(long.map(|long| format!("--{}", name_at_start(long))));
    }
    found
}

/// Returns the letters and hyphens at the start of a text.
fn name_at_start(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_lowercase() && c != '-' && !c.is_ascii_digit());
    &text[..end.unwrap_or(text.len())]
}

/// Returns the options of all commands, by the words of the command.
fn all_commands() -> BTreeMap<Vec<String>, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![vec![]];
    while let Some(command) = waiting.pop() {
        let text = help(&command);
        for name in commands_below(&text) {
            let mut below = command.clone();
            below.push(name.to_owned());
            waiting.push(below);
        }
        found.insert(command, options(&text));
    }
    found
}

/// Returns the page that describes a command, below `docs/src/reference`.
fn page_of(command: &[String]) -> String {
    match command.first().map(String::as_str) {
        None => "commands.md".into(),
        Some("completions" | "man") => "commands/completions-man.md".into(),
        Some(name) => format!("commands/{name}.md"),
    }
}

fn read(page: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference");
    fs::read_to_string(folder.join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// Returns all options that a text names right after a backquote.
fn quoted(text: &str) -> BTreeSet<String> {
    let places = text.match_indices("`--").map(|(at, _)| &text[at + 3..]);
    places.map(|rest| format!("--{}", name_at_start(rest))).collect()
}

#[test]
fn every_option_is_on_the_page_of_its_command() {
    let commands = all_commands();
    assert!(commands.len() > 20, "commands below commands are found, too: {}", commands.len());
    let mut missing = Vec::new();
    for (command, options) in &commands {
        let page = page_of(command);
        let named = quoted(&read(&page));
        for option in options {
            let is_everywhere = !command.is_empty() && EVERYWHERE.contains(&option.as_str());
            if !is_everywhere && !named.contains(option) {
                missing.push(format!("{page}: `{option}` of dmodc {}", command.join(" ")));
            }
        }
    }
    assert!(missing.is_empty(), "not described:\n{}", missing.join("\n"));
}

#[test]
fn no_page_describes_an_option_that_is_not_there() {
    let mut by_page: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (command, options) in all_commands() {
        by_page.entry(page_of(&command)).or_default().extend(options);
    }
    let mut unknown = Vec::new();
    for (page, options) in by_page {
        let text = read(&page);
        // The first column of a table of options.
        let rows = text.lines().filter_map(|line| line.strip_prefix("| `-")?.split('|').next());
        for row in rows {
            let named = quoted(&format!("`-{row}"));
            let strange = named.into_iter().filter(|option| !options.contains(option));
            unknown.extend(strange.map(|option| format!("{page}: `{option}`")));
        }
    }
    assert!(unknown.is_empty(), "no such option:\n{}", unknown.join("\n"));
}
