//! A page as the test sees it: its fenced blocks, and the commands in those that are called `console`.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) struct Page {
    pub(crate) file: PathBuf,
    /// The path from the repository's root.
    pub(crate) name: String,
    pub(crate) lines: Vec<String>,
    pub(crate) blocks: Vec<Block>,
}

pub(crate) struct Block {
    /// The number of the line that opens the block, from 1.
    pub(crate) line: usize,
    pub(crate) language: String,
    pub(crate) label: Option<Label>,
    pub(crate) commands: Vec<Command>,
}

/// A command and the output that the page shows for it.
pub(crate) struct Command {
    /// The number of its first line, from 1.
    pub(crate) line: usize,
    pub(crate) text: String,
    /// The index, in the page's lines, of the first line of output.
    pub(crate) output_at: usize,
    pub(crate) output: Vec<String>,
    /// The spaces before each line of the block, which is part of a list item.
    pub(crate) indent: usize,
}

/// Why a block is not run like the others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    NeedsLab,
    /// Real InfiniBand, root, a Slurm cluster, or more time than a test may take.
    NotHere,
    Unknown,
}

impl Label {
    pub(crate) const NAMES: &str = "needs-fabric, needs-lab, needs-slurm, needs-root or takes-long";

    fn of(word: &str) -> Self {
        match word {
            "needs-lab" => Label::NeedsLab,
            "needs-fabric" | "needs-slurm" | "needs-root" | "takes-long" => Label::NotHere,
            _ => Label::Unknown,
        }
    }
}

impl Page {
    pub(crate) fn read(root: &Path, file: &Path) -> Self {
        let lines: Vec<String> =
            fs::read_to_string(file).unwrap().lines().map(str::to_owned).collect();
        let name = file.strip_prefix(root).unwrap().display().to_string();
        let mut blocks = Vec::new();
        let mut at = 0;
        while at < lines.len() {
            let Some(info) = lines[at].trim_start().strip_prefix("```") else {
                at += 1;
                continue;
            };
            let indent = lines[at].len() - lines[at].trim_start().len();
            let end = (at + 1..lines.len())
                .find(|&end| lines[end].trim() == "```")
                .unwrap_or_else(|| panic!("{name}:{}: the block has no end", at + 1));
            let (language, label) = match info.split_once(',') {
                Some((language, word)) => (language, Some(Label::of(word.trim()))),
                None => (info, None),
            };
            let commands = match language {
                "console" => commands(&lines, at + 1..end, indent),
                _ => Vec::new(),
            };
            blocks.push(Block { line: at + 1, language: language.to_owned(), label, commands });
            at = end + 1;
        }
        Page { file: file.to_owned(), name, lines, blocks }
    }
}

/// Returns the commands of a block: lines that start with `$ `, continued by lines that start with `> `, and the output after each.
fn commands(lines: &[String], block: std::ops::Range<usize>, indent: usize) -> Vec<Command> {
    let mut commands: Vec<Command> = Vec::new();
    for at in block {
        let line = lines[at].get(indent..).unwrap_or("");
        if let Some(text) = line.strip_prefix("$ ") {
            commands.push(Command {
                line: at + 1,
                text: text.to_owned(),
                output_at: at + 1,
                output: Vec::new(),
                indent,
            });
        } else if let Some(command) = commands.last_mut() {
            match line.strip_prefix('>') {
                Some(more) if command.output.is_empty() => {
                    command.text.push('\n');
                    command.text.push_str(more.strip_prefix(' ').unwrap_or(more));
                    command.output_at = at + 1;
                }
                _ => command.output.push(line.to_owned()),
            }
        }
    }
    commands
}
