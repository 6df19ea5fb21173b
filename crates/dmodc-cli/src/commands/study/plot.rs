//! `dmodc study plot`: the figures of a merged table.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use dmodc_study::study::figures;
use serde_json::json;

use super::table::{merged, open};
use crate::args::StudyArgs;
use crate::{Answer, output};

pub(super) fn plot(args: &StudyArgs) -> Result<Answer> {
    let (study, folder) = open(args)?;
    let (rows, name) = merged(&study, &folder)?;
    let mut written = Vec::new();
    let mut converter = true;
    for drawing in figures::draw(&rows).map_err(|error| anyhow!("{name}: {error}"))? {
        let path = folder.figure(&format!("{}.svg", drawing.name));
        output::to(Some(&path), |out| Ok(out.write_all(drawing.svg.as_bytes())?))?;
        let png = path.with_extension("png");
        written.push(path.display().to_string());
        converter = converter && to_png(&path, &png)?;
        if converter {
            written.push(png.display().to_string());
        }
    }
    if !converter {
        eprintln!(
            "dmodc: wrote no PNG files, because rsvg-convert is not installed (on Debian: apt-get install librsvg2-bin)"
        );
    }
    if args.json {
        let report = json!({"schema": "dmodc/study-plot/1", "figures": written, "png": converter});
        output::print(&format!("{report:#}\n"))?;
    } else {
        output::print(&(written.join("\n") + "\n"))?;
    }
    Ok(Answer::Yes)
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
