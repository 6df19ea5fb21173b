//! Which colour and mark an engine has.

use super::svg::STYLES;

/// Engines whose style is the same in all figures: the position is the style.
const KNOWN: [&str; 7] =
    ["stable", "dmodc", "random", "opensm:ftree", "opensm:sssp", "opensm:updn", "opensm:minhop"];

/// Styles from here on are for figures with many engines.
const USUAL: usize = 8;

/// Returns the style of an engine among the others of a figure: its own, or one that no other has.
pub fn engine_style(engines: &[&str], at: usize) -> usize {
    let known = |engine: &str| KNOWN.iter().position(|name| *name == engine);
    known(engines[at]).unwrap_or_else(|| {
        let taken: Vec<usize> = engines.iter().filter_map(|engine| known(engine)).collect();
        let is_free = |style: &usize| !taken.contains(style);
        let free: Vec<usize> = (0..USUAL).rev().chain(USUAL..STYLES).filter(is_free).collect();
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
        let styles: Vec<usize> = (0..engines.len()).map(|at| engine_style(&engines, at)).collect();
        assert_eq!(styles, [7, 1, 6, 0]);
    }

    #[test]
    fn many_engines_have_different_styles() {
        let engines = ["stable", "stable+relief", "dmodc", "paper", "random", "opensm:ftree"];
        let engines = [&engines[..], &["opensm:updn", "opensm:sssp", "opensm:dfsssp"]].concat();
        let styles: std::collections::BTreeSet<usize> =
            (0..engines.len()).map(|at| engine_style(&engines, at)).collect();
        assert_eq!(styles.len(), engines.len());
    }
}
