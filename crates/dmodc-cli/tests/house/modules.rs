//! The modules of a crate import each other without cycles. Read from the `use` lines and paths of production code.
//!
//! In every folder of modules, the modules next to each other form a graph: A has an arrow to B if A, or anything inside A,
//! names anything inside B. Names that a module re-exports from its children (`pub use child::Name`) count as the
//! child's. What a module defines in its own file may be used by its children, as is usual in Rust.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::sources;

type ModulePath = Vec<String>;

/// The modules of one crate.
pub(super) struct Modules {
    /// For each module: the paths that its production code names, from the root of the crate.
    named: BTreeMap<ModulePath, BTreeSet<ModulePath>>,
    /// For each module: the names that it re-exports, and the paths that they stand for.
    exported: BTreeMap<ModulePath, BTreeMap<String, ModulePath>>,
}

impl Modules {
    /// Reads all modules below the folder `src`.
    pub(super) fn read(src: &Path) -> Self {
        let mut files = vec![];
        sources(src, &mut files);
        let mut modules = Modules { named: BTreeMap::new(), exported: BTreeMap::new() };
        for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "rs")) {
            let relative = file.strip_prefix(src).unwrap().with_extension("");
            let mut path: ModulePath =
                relative.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            if path.last().is_some_and(|name| name == "tests") {
                continue;
            }
            if path.last().is_some_and(|name| name == "mod") {
                path.pop();
            }
            if path == ["lib"] || path == ["main"] {
                path.clear();
            }
            modules.add(path, &production_code(&fs::read_to_string(file).unwrap()));
        }
        modules
    }

    fn add(&mut self, module: ModulePath, code: &str) {
        let (mut named, mut exported) = (BTreeSet::new(), BTreeMap::new());
        let mut rest = String::new();
        // A statement ends with a semicolon, so a `use` is what follows the last word `use` before one.
        for statement in code.split_inclusive(';') {
            let is_use = |at: &usize| {
                let before = statement[..*at].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
            };
            let found = statement.match_indices("use ").map(|(at, _)| at).filter(is_use).last();
            let tree = found.map(|at| statement[at + 4..].trim_end_matches(';').trim());
            match tree.filter(|tree| tree.starts_with(char::is_alphabetic) && !tree.contains('=')) {
                Some(tree) => {
                    rest.push_str(&statement[..found.unwrap_or(0)]);
                    let mut leaves = vec![];
                    expand(&[], tree, &mut leaves);
                    for (path, name) in leaves {
                        let path = absolute(&module, &path, true);
                        exported.insert(name, path.clone());
                        named.insert(path);
                    }
                }
                None => rest.push_str(statement),
            }
        }
        for start in ["crate::", "super::"] {
            for (at, _) in rest.match_indices(start) {
                let end = rest[at..].find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
                let path = &rest[at..end.map_or(rest.len(), |end| at + end)];
                let path: ModulePath = path.split("::").map(str::to_owned).collect();
                named.insert(absolute(&module, &path, false));
            }
        }
        self.named.insert(module.clone(), named);
        self.exported.insert(module, exported);
    }

    /// Returns the module that a path leads into, through re-exports.
    fn resolve(&self, path: &[String]) -> ModulePath {
        let mut path = path.to_vec();
        for _ in 0..10 {
            let known = (0..=path.len()).rev().find(|&at| self.named.contains_key(&path[..at]));
            let known = known.expect("the root is a module");
            let Some(next) = path.get(known) else { return path };
            let module = path[..known].to_vec();
            match self.exported[&module].get(next) {
                Some(real) if *real != path[..=known] => {
                    path = real.iter().chain(&path[known + 1..]).cloned().collect();
                }
                _ => return module,
            }
        }
        path
    }

    /// Returns, for every folder of modules, its modules in an order in which each imports only earlier ones.
    ///
    /// # Errors
    /// The modules of a folder that import each other in a cycle, with an import between each two.
    pub(super) fn order(&self) -> Result<BTreeMap<ModulePath, Vec<String>>, String> {
        let mut folders: BTreeMap<ModulePath, BTreeMap<String, BTreeMap<String, String>>> =
            BTreeMap::new();
        for module in self.named.keys().filter(|module| !module.is_empty()) {
            let (name, folder) = module.split_last().unwrap();
            folders.entry(folder.to_vec()).or_default().entry(name.clone()).or_default();
        }
        for (module, named) in &self.named {
            for path in named {
                let target = self.resolve(path);
                let shared = module.iter().zip(&target).take_while(|(a, b)| a == b).count();
                let (Some(from), Some(to)) = (module.get(shared), target.get(shared)) else {
                    continue;
                };
                let arrows = folders.get_mut(&module[..shared]).unwrap().get_mut(from).unwrap();
                let witness = format!("{} names {}", module.join("::"), path.join("::"));
                arrows.entry(to.clone()).or_insert(witness);
            }
        }
        let (mut order, mut cycles) = (BTreeMap::new(), vec![]);
        for (folder, arrows) in folders {
            match sort(arrows) {
                Ok(modules) => drop(order.insert(folder, modules)),
                Err(cycle) => cycles.push(cycle),
            }
        }
        if cycles.is_empty() { Ok(order) } else { Err(cycles.join("\n")) }
    }
}

/// Returns modules in an order without backward arrows.
fn sort(mut arrows: BTreeMap<String, BTreeMap<String, String>>) -> Result<Vec<String>, String> {
    let mut order: Vec<String> = vec![];
    while !arrows.is_empty() {
        let is_free = |to: &BTreeMap<String, String>| to.keys().all(|to| order.contains(to));
        let next = arrows.iter().find(|(_, to)| is_free(to)).map(|(name, _)| name.clone());
        let Some(next) = next else {
            // Modules that nobody else imports are not part of the knot.
            loop {
                let named: BTreeSet<String> =
                    arrows.values().flat_map(|to| to.keys().cloned()).collect();
                let before = arrows.len();
                arrows.retain(|name, _| named.contains(name));
                if arrows.len() == before {
                    break;
                }
            }
            let rest: Vec<&str> = arrows
                .values()
                .flat_map(|to| to.iter().filter(|(to, _)| arrows.contains_key(*to)))
                .map(|(_, witness)| witness.as_str())
                .collect();
            return Err(format!("modules import each other in a cycle:\n{}", rest.join("\n")));
        };
        arrows.remove(&next);
        order.push(next);
    }
    Ok(order)
}

/// Returns the code of a file without comments, strings and everything from its tests on.
fn production_code(text: &str) -> String {
    let tests = text.find("#[cfg(test)]").unwrap_or(text.len());
    let code = without_strings(&text[..tests]);
    let lines = code.lines().map(|line| line.split("//").next().unwrap_or(""));
    lines.collect::<Vec<&str>>().join("\n")
}

/// Empties the strings of a line, so that their words are not taken for code. A string over several lines is emptied, too.
fn without_strings(text: &str) -> String {
    let mut code = String::new();
    let (mut is_string, mut is_comment, mut is_escaped) = (false, false, false);
    let text = text.replace("'\"'", "' '").replace("'\\\"'", "' '");
    for (at, c) in text.char_indices() {
        is_comment = c != '\n' && (is_comment || !is_string && text[at..].starts_with("//"));
        let is_quote = c == '"' && !is_escaped && !is_comment;
        if is_quote || !is_string || c == '\n' {
            code.push(c);
        }
        is_string ^= is_quote;
        is_escaped = c == '\\' && !is_escaped;
    }
    code
}

/// Lists the leaves of a `use` tree: their paths, and the names that they get.
fn expand(prefix: &[String], tree: &str, leaves: &mut Vec<(ModulePath, String)>) {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
        let mut path: ModulePath =
            prefix.iter().cloned().chain(path.split("::").map(|p| p.trim().to_owned())).collect();
        if path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let last = path.last().cloned().unwrap_or_default();
        let name = if name.is_empty() { last } else { name.trim().to_owned() };
        leaves.push((path, name));
        return;
    };
    let head = tree[..open].trim_end_matches("::").split("::").map(|p| p.trim().to_owned());
    let prefix: ModulePath =
        prefix.iter().cloned().chain(head.filter(|part| !part.is_empty())).collect();
    let inner = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
    let (mut depth, mut start) = (0, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&prefix, &inner[start..at], leaves);
                start = at + 1;
            }
            _ => {}
        }
    }
    if !inner[start..].trim().is_empty() {
        expand(&prefix, &inner[start..], leaves);
    }
}

/// Returns a path from the root of the crate. A relative path begins in the module itself.
fn absolute(module: &[String], path: &[String], is_use: bool) -> ModulePath {
    let mut base: Vec<String> = if is_use { module.to_vec() } else { vec![] };
    let mut rest = path;
    if rest.first().is_some_and(|first| first == "crate") {
        (base, rest) = (vec![], &rest[1..]);
    } else if rest.first().is_some_and(|first| first == "super" || first == "self") {
        base = module.to_vec();
        while let Some((first, later)) = rest.split_first() {
            match first.as_str() {
                "super" => drop(base.pop()),
                "self" => {}
                _ => break,
            }
            rest = later;
        }
    }
    base.into_iter().chain(rest.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(files: &[(&str, &str)]) -> Modules {
        let mut modules = Modules { named: BTreeMap::new(), exported: BTreeMap::new() };
        for (path, code) in files {
            let path = path.split("::").filter(|p| !p.is_empty()).map(str::to_owned).collect();
            modules.add(path, &production_code(code));
        }
        modules
    }

    #[test]
    fn cycles_are_found_also_through_exports_and_paths() {
        let fine =
            [("", "pub use a::A;"), ("a", ""), ("b", "use crate::A;"), ("c", "crate::b::f()")];
        assert_eq!(modules(&fine).order().unwrap()[&vec![]], ["a", "b", "c"]);
        let cycle = [
            ("", "pub use b::{x, deep::{B as C}};"),
            ("a", "use crate::C;"),
            ("b", "super::a::f();"),
            ("b::deep", ""),
        ];
        assert!(modules(&cycle).order().unwrap_err().contains("a names C"));
        let inner =
            [("", ""), ("a", ""), ("a::x", "use super::y::Y;"), ("a::y", "use crate::a::x;")];
        assert!(modules(&inner).order().is_err());
        let in_tests =
            [("", ""), ("a", "use crate::b;"), ("b", "#[cfg(test)] mod tests { use crate::a; }")];
        assert!(modules(&in_tests).order().is_ok());
        let comment = [("", ""), ("a", "use crate::b;"), ("b", "// use crate::a;")];
        assert!(modules(&comment).order().is_ok());
    }
}
