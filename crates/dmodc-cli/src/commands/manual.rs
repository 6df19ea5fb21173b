//! `dmodc man` and `dmodc completions`.

use std::fs;
use std::io::Write as _;

use anyhow::{Context, Result, anyhow};
use clap::{Command, CommandFactory};

use crate::args::{Cli, ManArgs};
use crate::{Answer, output};

pub(super) fn completions(shell: clap_complete::Shell) -> Result<Answer> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "dmodc", &mut script);
    output::to(None, |out| Ok(out.write_all(&script)?))?;
    Ok(Answer::Yes)
}

pub(super) fn man(args: &ManArgs) -> Result<Answer> {
    let mut root = Cli::command();
    root.build();
    if let Some(folder) = &args.dir {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        for command in pages(&root) {
            let path = folder.join(format!("{}.1", command.get_name()));
            output::to(Some(&path), |out| Ok(clap_mangen::Man::new(command).render(out)?))?;
        }
        return Ok(Answer::Yes);
    }
    let wanted = match &args.command {
        Some(name) => format!("dmodc-{name}"),
        None => "dmodc".into(),
    };
    let page =
        pages(&root).into_iter().find(|command| command.get_name() == wanted).ok_or_else(|| {
            anyhow!("there is no command '{}'", args.command.as_deref().unwrap_or(""))
        })?;
    output::to(None, |out| Ok(clap_mangen::Man::new(page).render(out)?))?;
    Ok(Answer::Yes)
}

/// Returns the pages: dmodc, dmodc-COMMAND for each command, and so on for subcommands.
fn pages(root: &Command) -> Vec<Command> {
    let mut pages = vec![root.clone()];
    for command in root.get_subcommands().filter(|c| c.get_name() != "help") {
        let name = format!("{}-{}", root.get_name(), command.get_name());
        pages.extend(self::pages(&command.clone().name(name)));
    }
    pages
}
