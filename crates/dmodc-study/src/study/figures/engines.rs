//! Which engines a figure shows, and how.

use crate::figure::STYLES;
use crate::study::rows::StudyRow;

/// Engines whose style is the same in all figures: the position is the style.
const KNOWN: [&str; 7] = [
    "stable",
    "dmodc",
    "random",
    "opensm:ftree",
    "opensm:sssp",
    "opensm:updn",
    "opensm:minhop",
];

/// Returns the engines of a figure in order: the chosen ones, or all that take part on the fabric.
///
/// # Errors
/// If a chosen engine is not in the study.
pub(super) fn drawn<'a>(
    all: &[&'a str],
    chosen: &[String],
    rows: &[&'a StudyRow],
) -> Result<Vec<&'a str>, String> {
    let takes_part = |engine: &&str| rows.iter().any(|row| row.get("engine") == *engine);
    if chosen.is_empty() {
        return Ok(all.iter().copied().filter(takes_part).collect());
    }
    let mut engines = Vec::new();
    for name in chosen {
        let engine = all.iter().copied().find(|engine| engine == name);
        let engine = engine.ok_or_else(|| super::not_there("engine", name, all))?;
        if takes_part(&engine) && !engines.contains(&engine) {
            engines.push(engine);
        }
    }
    Ok(engines)
}

/// Returns the style of an engine among the others of a figure: its own, or one that no other has.
pub(super) fn style(engines: &[&str], at: usize) -> usize {
    let known = |engine: &str| KNOWN.iter().position(|name| *name == engine);
    known(engines[at]).unwrap_or_else(|| {
        let taken: Vec<usize> = engines.iter().filter_map(|engine| known(engine)).collect();
        let free: Vec<usize> = (0..STYLES).rev().filter(|style| !taken.contains(style)).collect();
        let before = engines[..at].iter().filter(|engine| known(engine).is_none()).count();
        free.get(before % free.len().max(1)).copied().unwrap_or(before % STYLES)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_keep_their_styles() {
        let engines = ["dmodk", "dmodc", "own", "stable"];
        let styles: Vec<usize> = (0..engines.len()).map(|at| style(&engines, at)).collect();
        assert_eq!(styles, [7, 1, 6, 0]);
    }
}
