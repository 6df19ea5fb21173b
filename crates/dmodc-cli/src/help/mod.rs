//! The parts of help texts and manual pages that are not about single options: notes, exit codes, files and examples.
//!
//! Each command has one [`HelpPage`]. `dmodc COMMAND --help` and `dmodc man COMMAND` are both made from it, so that they
//! cannot contradict each other. What a command is for, and what its options mean, is in the comments of [`crate::args`].

mod advise;
mod compare;
mod fabrics;
mod maintenance;
mod measure;
mod opensm;
mod order;
mod page;
mod serve;
mod tables;
mod top;

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

use crate::args::Cli;

/// What is said about a command besides its options.
pub(crate) struct HelpPage {
    /// The words of the command after `dmodc`: "study run"; empty for `dmodc` itself.
    pub(crate) command: &'static str,
    /// Explanations that belong to no single option.
    pub(crate) notes: &'static [Note],
    /// Exit codes and their meaning.
    pub(crate) exit: &'static [(u8, &'static str)],
    /// Files that the command reads or writes.
    pub(crate) files: &'static [(&'static str, &'static str)],
    pub(crate) examples: &'static [Example],
    /// Other commands that a reader may want: "route", "study run".
    pub(crate) see_also: &'static [&'static str],
}

/// A titled explanation.
pub(crate) struct Note {
    pub(crate) title: &'static str,
    pub(crate) text: NoteText,
}

/// The body of a note.
pub(crate) enum NoteText {
    /// Sentences, which may be wrapped anywhere. An empty line starts a new paragraph.
    Prose(&'static str),
    /// Words and their meaning.
    List(&'static [(&'static str, &'static str)]),
    /// Lines that are shown as they are.
    Lines(&'static str),
}

/// A command line with a sentence about what it does.
pub(crate) struct Example {
    pub(crate) about: &'static str,
    pub(crate) line: &'static str,
}

/// The exit codes of commands that cannot answer "no".
const DONE_OR_ERROR: &[(u8, &str)] =
    &[(0, "The command succeeded."), (2, "An input file or an option is wrong; nothing was done.")];

/// The file of a fabric, as most commands read it.
const FABRIC_FILE: (&str, &str) = (
    "FABRIC",
    "The description of a fabric: the output of ibnetdiscover, an ibsim netlist, a subnet list (.lst), \
     ibdiagnet2.db_csv, or JSON of dmodc.",
);

/// The file of tables, as most commands read it.
const TABLES_FILE: (&str, &str) = (
    "TABLES",
    "Forwarding tables: a dump of OpenSM (opensm-lfts.dump), dump_lfts.sh, ibroute or 'dmodc route', or a NumPy \
     array (FILE.npy) with its labels in FILE.npy.json.",
);

/// Returns all pages.
pub(crate) fn pages() -> impl Iterator<Item = &'static HelpPage> {
    let all = [
        top::PAGES,
        fabrics::PAGES,
        tables::PAGES,
        advise::PAGES,
        compare::PAGES,
        maintenance::PAGES,
        order::PAGES,
        serve::PAGES,
        page::PAGES,
        measure::PAGES,
        opensm::PAGES,
    ];
    all.into_iter().flatten()
}

/// Returns the page of a command.
pub(crate) fn page(command: &str) -> Option<&'static HelpPage> {
    pages().find(|page| page.command == command)
}

/// Returns the command line with all its help texts.
pub(crate) fn command() -> Command {
    let root = with_pages(Cli::command(), "");
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}\nOptions:\n{{options}}{{after-help}}",
        top::groups(&root)
    );
    root.help_template(template)
}

/// Adds the page of a command and those of its subcommands.
fn with_pages(command: Command, path: &str) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    let mut command = sentences(command);
    if let Some(page) = page(path) {
        command = command.after_help(page.short()).after_long_help(page.long());
    }
    for name in names {
        let path = [path, &name].join(" ").trim().to_owned();
        command = command.mut_subcommand(&name, |sub| with_pages(sub, &path));
    }
    command
}

/// Ends descriptions with a full stop, which clap removes from those of one paragraph.
fn sentences(command: Command) -> Command {
    let ended = |text: String| match text.ends_with('.') || text.ends_with(".)") {
        true => text,
        false => text + ".",
    };
    let about = command.get_about().map(|about| ended(about.to_string()));
    let command = match about {
        Some(about) => command.about(about),
        None => command,
    };
    command.mut_args(move |arg| match arg.get_help().map(|help| ended(help.to_string())) {
        Some(help) => arg.help(help),
        None => arg,
    })
}

impl HelpPage {
    /// Returns the end of the short help (`-h`).
    fn short(&self) -> String {
        let mut text = String::new();
        if !self.exit.is_empty() {
            text += "Exit codes:\n";
            for (code, meaning) in self.exit {
                let meaning = wrapped(meaning, WIDTH - 5).join(&hanging(5));
                let _ = writeln!(text, "  {code}  {meaning}");
            }
            text.push('\n');
        }
        text += "Examples:\n";
        for (at, example) in self.examples.iter().enumerate() {
            let gap = if at > 0 { "\n" } else { "" };
            let _ = writeln!(text, "{gap}  # {}\n  {}", example.about, example.line);
        }
        text.trim_end().to_owned()
    }

    /// Returns the end of the long help (`--help`).
    fn long(&self) -> String {
        let notes = self.notes.iter().map(|note| format!("{}:\n{}\n", note.title, note.text()));
        notes.collect::<String>() + &self.short()
    }
}

impl Note {
    fn text(&self) -> String {
        match self.text {
            NoteText::Prose(text) => {
                text.split("\n\n").map(|paragraph| format!("  {paragraph}\n")).collect()
            }
            NoteText::Lines(text) => {
                text.lines().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect()
            }
            NoteText::List(list) => {
                let width = list.iter().map(|(word, _)| word.chars().count()).max().unwrap_or(0);
                list.iter()
                    .map(|(word, meaning)| {
                        let meaning = wrapped(meaning, WIDTH - width - 4).join(&hanging(width + 4));
                        format!("  {word:<width$}  {meaning}\n")
                    })
                    .collect()
            }
        }
    }
}

/// The width of help texts, in columns.
const WIDTH: usize = 98;

/// Returns the end of a line, and the indentation of the next.
fn hanging(indent: usize) -> String {
    format!("\n{}", " ".repeat(indent))
}

/// Returns a sentence in lines of at most this width.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is always a line");
        match last.is_empty() {
            true => last.push_str(word),
            false if last.chars().count() + 1 + word.chars().count() <= width => {
                last.push(' ');
                last.push_str(word);
            }
            false => lines.push(word.into()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a command line, as a shell splits them. Only double quotes are known.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![];
        for (at, part) in line.split('"').enumerate() {
            match at % 2 {
                1 => words.push(part.to_owned()),
                _ => words.extend(part.split_whitespace().map(str::to_owned)),
            }
        }
        words
    }

    /// Collects the paths of all commands.
    fn paths(command: &Command, path: &str, all: &mut Vec<String>) {
        all.push(path.to_owned());
        for sub in command.get_subcommands() {
            paths(sub, [path, sub.get_name()].join(" ").trim(), all);
        }
    }

    #[test]
    fn every_command_has_a_page_and_every_page_a_command() {
        let mut commands = vec![];
        paths(&Cli::command(), "", &mut commands);
        let mut documented: Vec<&str> = pages().map(|page| page.command).collect();
        commands.sort_unstable();
        documented.sort_unstable();
        assert_eq!(commands, documented);
        for other in pages().flat_map(|page| page.see_also) {
            assert!(page(other).is_some(), "there is no page '{other}'");
        }
    }

    #[test]
    fn every_example_can_be_parsed() {
        for page in pages() {
            assert!(page.examples.len() >= 2, "'{}' needs two examples", page.command);
            for Example { about, line } in page.examples {
                assert!(about.ends_with('.'), "{about}");
                assert!(line.chars().count() <= 96, "{line}");
                let calls: Vec<&str> = line
                    .split(['|', '>', '&'])
                    .filter_map(|part| part.find("dmodc ").map(|at| part[at..].trim()))
                    .collect();
                assert!(!calls.is_empty(), "{line} calls dmodc");
                for call in calls {
                    let parsed = command().try_get_matches_from(words(call));
                    if let Err(error) = parsed {
                        assert!(!error.use_stderr(), "{call}: {error}");
                    }
                }
            }
        }
    }

    #[test]
    fn clap_accepts_the_texts() {
        command().debug_assert();
    }
}
