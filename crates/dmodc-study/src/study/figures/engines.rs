//! Which engines a figure shows.

use crate::study::rows::StudyRow;

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
