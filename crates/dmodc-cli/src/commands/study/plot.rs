//! `dmodc study plot`: the figures of a merged table.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use dmodc_study::study::figures::{self, FigureChoice, FigureFile};
use serde_json::json;

use super::table::{merged, open_in, rows_of};
use crate::args::{StudyPlotArgs, command_line};
use crate::{Answer, output};

pub(super) fn plot(args: &StudyPlotArgs) -> Result<Answer> {
    let is_svg = |path: &&Path| path.extension().is_some_and(|extension| extension == "svg");
    let file = args.output.as_deref().filter(is_svg);
    let given = args.output.as_deref().filter(|path| !is_svg(path));
    let (study, folder) = open_in(&args.plan, given)?;
    let (rows, name) = match &args.table {
        Some(table) => rows_of(table)?,
        None => merged(&study, &folder)?,
    };
    let choice = FigureChoice {
        fabric: args.fabric.clone(),
        pattern: args.pattern.clone(),
        failed: args.failed.clone(),
        engines: args.engines.clone(),
        command: command_line(),
    };
    let drawn = figures::draw(&rows, &choice).map_err(|error| anyhow!("{name}: {error}"))?;
    let (written, png) = match file {
        Some(file) => (vec![write_one(&drawn, file)?], None),
        None => {
            std::fs::create_dir_all(folder.path())
                .with_context(|| folder.path().display().to_string())?;
            let (written, png) = write_all(&drawn, |name| folder.figure(name))?;
            (written, Some(png))
        }
    };
    if png == Some(false) {
        eprintln!(
            "dmodc: wrote no PNG files, because rsvg-convert is not installed (on Debian: apt-get install librsvg2-bin)"
        );
    }
    if args.json {
        let png = png.unwrap_or(false);
        let report = json!({"schema": "dmodc/study-plot/1", "figures": written, "png": png});
        output::print(&format!("{report:#}\n"))?;
    } else {
        output::print(&(written.join("\n") + "\n"))?;
    }
    Ok(Answer::Yes)
}

/// Writes the only figure into a file, and returns the name of the file.
fn write_one(drawn: &[FigureFile], file: &Path) -> Result<String> {
    let name = file.display().to_string();
    let [figure] = drawn else {
        let names: Vec<&str> = drawn.iter().map(|figure| figure.name.as_str()).collect();
        bail!(
            "{name} has room for one figure, and {} are meant ({}): choose with --fabric, --pattern and --failed",
            names.len(),
            names.join(", ")
        );
    };
    output::to(Some(file), |out| Ok(out.write_all(figure.svg.as_bytes())?))?;
    Ok(name)
}

/// Writes all figures, as SVG and as PNG. Returns the names of the files, and whether PNG could be made.
fn write_all(
    drawn: &[FigureFile],
    path_of: impl Fn(&str) -> PathBuf,
) -> Result<(Vec<String>, bool)> {
    let mut written = Vec::new();
    let mut converter = true;
    for figure in drawn {
        let path = path_of(&format!("{}.svg", figure.name));
        output::to(Some(&path), |out| Ok(out.write_all(figure.svg.as_bytes())?))?;
        let png = path.with_extension("png");
        written.push(path.display().to_string());
        converter = converter && to_png(&path, &png)?;
        if converter {
            written.push(png.display().to_string());
        }
    }
    Ok((written, converter))
}

/// Converts an SVG to PNG with twice as many pixels. Returns whether the program for that is installed.
fn to_png(svg: &Path, png: &Path) -> Result<bool> {
    let mut command = Command::new("rsvg-convert");
    command.args(["--zoom", "2"]).arg(svg).stdin(Stdio::null());
    let drawn = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        drawn => drawn.context("cannot run rsvg-convert")?,
    };
    if !drawn.status.success() {
        let errors = String::from_utf8_lossy(&drawn.stderr);
        let last = errors.lines().map(str::trim).rfind(|line| !line.is_empty());
        bail!("{}: rsvg-convert failed: {}", svg.display(), last.unwrap_or("it printed nothing"));
    }
    output::to(Some(png), |out| Ok(out.write_all(&drawn.stdout)?))?;
    Ok(true)
}
