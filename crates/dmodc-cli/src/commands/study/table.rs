//! Opens a study, and reads its tables.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use dmodc_study::study::{Study, StudyError, StudyFolder, StudyRow, read_rows, status};

use crate::args::StudyArgs;
use crate::text;

/// Returns the study, and the folder of its results.
pub(super) fn open(args: &StudyArgs) -> Result<(Study, StudyFolder)> {
    let study = Study::open(&args.plan).map_err(explain)?;
    let folder = StudyFolder::new(args.output.as_deref(), &args.plan, &study);
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
    let text = fs::read_to_string(table).with_context(|| name.clone())?;
    Ok((read_rows(&text, &name)?, name))
}
