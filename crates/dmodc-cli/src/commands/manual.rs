//! `dmodc man` and `dmodc completions`.

use std::fs;
use std::io::{self, Write};

use anyhow::{Context, Result, anyhow};
use clap::{Command, CommandFactory as _};
use clap_mangen::Man;

use crate::args::{Cli, ManArgs};
use crate::help::{self, HelpPage, NoteText};
use crate::{Answer, output};

pub(super) fn completions(shell: clap_complete::Shell) -> Result<Answer> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "dmodc", &mut script);
    output::to(None, |out| Ok(out.write_all(&script)?))?;
    Ok(Answer::Yes)
}

pub(super) fn man(args: &ManArgs) -> Result<Answer> {
    let mut root = help::command();
    root.build();
    let pages = manual_pages(&root);
    if let Some(folder) = &args.dir {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        for page in &pages {
            let path = folder.join(format!("{}.1", page.get_name()));
            output::to(Some(&path), |out| Ok(render(page, out)?))?;
        }
        return Ok(Answer::Yes);
    }
    let wanted = match &args.command {
        Some(name) => format!("dmodc-{}", name.replace(' ', "-")),
        None => "dmodc".into(),
    };
    let page = pages.iter().find(|page| page.get_name() == wanted).ok_or_else(|| {
        let names: Vec<&str> =
            pages.iter().filter_map(|page| page.get_name().strip_prefix("dmodc-")).collect();
        anyhow!(
            "there is no command '{}'; the manual has pages of {}",
            args.command.as_deref().unwrap_or_default(),
            names.join(", ")
        )
    })?;
    output::to(None, |out| Ok(render(page, out)?))?;
    Ok(Answer::Yes)
}

/// Returns the pages: dmodc, dmodc-COMMAND for each command, and so on for subcommands.
fn manual_pages(root: &Command) -> Vec<Command> {
    let mut pages = vec![root.clone()];
    for command in root.get_subcommands().filter(|c| c.get_name() != "help") {
        let name = format!("{}-{}", root.get_name(), command.get_name());
        pages.extend(manual_pages(&command.clone().name(name)));
    }
    pages
}

/// Writes a manual page: the sections of clap, then those of the [`HelpPage`].
fn render(page: &Command, out: &mut dyn Write) -> io::Result<()> {
    let man = Man::new(page.clone());
    man.render_title(out)?;
    man.render_name_section(out)?;
    man.render_synopsis_section(out)?;
    man.render_description_section(out)?;
    man.render_options_section(out)?;
    if page.get_subcommands().next().is_some() {
        man.render_subcommands_section(out)?;
    }
    let path = page.get_name().strip_prefix("dmodc").unwrap_or_default().trim_start_matches('-');
    let path = path.replace('-', " ");
    match help::page(&path) {
        Some(texts) => out.write_all(sections(texts).as_bytes()),
        None => Ok(()),
    }
}

/// Returns the sections of a page that are not about its options.
fn sections(page: &HelpPage) -> String {
    let mut text = String::new();
    for note in page.notes {
        text += &format!(".SH {}\n", quoted(&note.title.to_uppercase()));
        text += &match note.text {
            NoteText::Prose(prose) => {
                prose.split("\n\n").map(|paragraph| format!(".PP\n{}\n", roff(paragraph))).collect()
            }
            NoteText::Lines(lines) => literal(lines),
            NoteText::List(list) => tagged(list.iter().copied()),
        };
    }
    text += ".SH \"EXIT STATUS\"\n";
    let codes: Vec<String> = page.exit.iter().map(|(code, _)| code.to_string()).collect();
    text += &tagged(codes.iter().map(String::as_str).zip(page.exit.iter().map(|(_, what)| *what)));
    text += ".SH FILES\n";
    text += &match page.files {
        [] => ".PP\nThis command reads and writes no files.\n".into(),
        files => tagged(files.iter().copied()),
    };
    text += ".SH EXAMPLES\n";
    for example in page.examples {
        text += &format!(".PP\n{}\n.RS 4\n{}.RE\n", roff(example.about), literal(example.line));
    }
    text += ".SH \"SEE ALSO\"\n.PP\n";
    text + &see_also(page) + "\n"
}

/// Returns the names of related pages.
fn see_also(page: &HelpPage) -> String {
    let of_opensm = page.command.starts_with("opensm") || page.command.is_empty();
    let others: &[&str] = if of_opensm { &["opensm(8)"] } else { &[] };
    let parents = match page.command.rsplit_once(' ') {
        Some((parent, _)) => format!("dmodc-{}(1)", parent.replace(' ', "-")),
        None if page.command.is_empty() => String::new(),
        None => "dmodc(1)".into(),
    };
    let related = page.see_also.iter().map(|other| format!("dmodc-{}(1)", other.replace(' ', "-")));
    let mut names: Vec<String> = vec![];
    for name in [parents].into_iter().chain(related).chain(others.iter().map(|o| (*o).to_owned())) {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    let bold = |name: &String| match name.split_once('(') {
        Some((name, section)) => format!("\\fB{}\\fR({section}", roff(name)),
        None => roff(name),
    };
    names.iter().map(bold).collect::<Vec<_>>().join(", ")
}

/// Returns a list of words with their meaning.
fn tagged<'a>(list: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    list.map(|(word, meaning)| format!(".TP\n\\fB{}\\fR\n{}\n", roff(word), roff(meaning)))
        .collect()
}

/// Returns lines that are shown as they are.
fn literal(lines: &str) -> String {
    let lines: String = lines.lines().map(|line| roff(line) + "\n").collect();
    format!(".PP\n.nf\n{lines}.fi\n")
}

fn quoted(title: &str) -> String {
    format!("\"{}\"", roff(title).replace('"', "\\(dq"))
}

/// Returns a text in which nothing is a command of roff.
fn roff(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    match escaped.starts_with('.') {
        true => format!("\\&{escaped}"),
        false => escaped,
    }
}
