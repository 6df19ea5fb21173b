//! Opens a study, and reads its tables.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use dmodc_study::study::{Study, StudyError, StudyFolder, StudyRow, read_rows, status};

use crate::args::StudyArgs;
use crate::text;

/// Returns the study, and the folder of its results.
pub(super) fn open(args: &StudyArgs) -> Result<(Study, StudyFolder)> {
    open_in(&args.plan, args.output.as_deref())
}

/// Returns the study of a plan, and the folder of its results: the given one, or NAME.study next to the plan.
pub(super) fn open_in(plan: &Path, folder: Option<&Path>) -> Result<(Study, StudyFolder)> {
    let study = Study::open(plan).map_err(explain)?;
    for (name, file) in &study.skipped {
        let file = file.display();
        eprintln!("dmodc: fabric '{name}' is skipped, because its file is absent: {file}");
    }
    let folder = StudyFolder::new(folder, plan, &study);
    Ok((study, folder))
}

/// Returns the error; a mistake in the plan is shown with its line.
fn explain(error: StudyError) -> anyhow::Error {
    let excerpt = match &error {
        StudyError::Plan { text, error, .. } => text::excerpt(text.as_bytes(), error),
        _ => None,
    };
    match excerpt {
        Some(excerpt) => anyhow!("{error}\n{excerpt}"),
        None => error.into(),
    }
}

/// Returns the rows of the merged table, and its name.
pub(super) fn merged(study: &Study, folder: &StudyFolder) -> Result<(Vec<StudyRow>, String)> {
    let found = status(study, folder)?;
    let Some(table) = found.merged else {
        bail!(
            "{}: the study is not finished; 'dmodc study status' shows what is missing, 'dmodc study run' measures it, and \
             'dmodc study merge' joins shards",
            folder.path().display()
        );
    };
    rows_of(&table)
}

/// Returns the rows of a table, and its name.
pub(super) fn rows_of(table: &Path) -> Result<(Vec<StudyRow>, String)> {
    let name = table.display().to_string();
    let text = match table.extension().is_some_and(|extension| extension == "gz") {
        true => unpacked(table)?,
        false => fs::read_to_string(table).with_context(|| name.clone())?,
    };
    Ok((read_rows(&text, &name)?, name))
}

/// Returns the text of a file that gzip compressed.
fn unpacked(path: &Path) -> Result<String> {
    let name = path.display();
    // A missing file is reported as such.
    let file = fs::File::open(path).with_context(|| name.to_string())?;
    let output = Command::new("gzip").arg("-dc").stdin(file).output();
    let output = output.context("gzip, which reads tables that end in .gz")?;
    if !output.status.success() {
        bail!("{name}: gzip cannot unpack it");
    }
    String::from_utf8(output.stdout).with_context(|| name.to_string())
}
