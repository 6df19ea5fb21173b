//! Words for people.

use std::time::Duration;

use crate::figure::thousands;
use dmodc::fabric::{CableEnds, Part};
use dmodc::words;
use dmodc::{Doubt, End, Fabric, NotFatTree, NotPgft, PortNumber, SwitchIndex};
use dmodc_formats::{Dirt, DirtKind, DirtPlaces, ReadError, printable};

/// Returns a number with separators: 11,664.
pub fn number(n: impl TryInto<u64>) -> String {
    n.try_into().map_or_else(|_| "?".into(), |n: u64| thousands(&n.to_string()))
}

/// Returns a number and its noun: 1 switch, 2 switches.
pub fn counted(n: impl TryInto<u64>, noun: &str) -> String {
    let n = n.try_into().unwrap_or(u64::MAX);
    format!("{} {}", number(n), words::noun(n, noun))
}

/// Returns the switches that may or may not be leaves, one line for each reason, with the options that decide it. Returns
/// no lines if nothing is uncertain.
pub fn doubts(fabric: &Fabric, doubts: &[Doubt]) -> Vec<String> {
    let mut sorted = doubts.to_vec();
    sorted.sort_by_key(|doubt| (doubt.why, doubt.is_leaf));
    let mut lines: Vec<String> = sorted
        .chunk_by(|a, b| (a.why, a.is_leaf) == (b.why, b.is_leaf))
        .map(|alike| {
            let taken = match (alike[0].is_leaf, alike.len()) {
                (true, 1) => "counts as a leaf, but may not be one",
                (true, _) => "count as leaves, but may not be leaves",
                (false, 1) => "does not count as a leaf, but may be one",
                (false, _) => "do not count as leaves, but may be leaves",
            };
            let mut names: Vec<String> =
                alike.iter().take(3).map(|doubt| switch(fabric, doubt.switch)).collect();
            if alike.len() > names.len() {
                names.push("…".into());
            }
            let (count, names) = (counted(alike.len(), "switch"), names.join(", "));
            let each = if alike.len() == 1 { "it" } else { "each" };
            format!("uncertain: {count} {taken}: {names} ({each} {})", alike[0].why)
        })
        .collect();
    if !lines.is_empty() {
        lines.push(
            "hint: if these leaves are wrong, say which switches are leaves with --leaf-name, --leaf-min-nodes, \
             --exclude or --roots"
                .into(),
        );
    }
    lines
}

/// Returns why a fabric is no fat tree.
pub fn not_fat_tree(why: &NotFatTree) -> String {
    match *why {
        NotFatTree::BetweenLeaves(some, all) => format!(
            "{} of {} join two leaves, as in a torus or a mesh",
            number(some),
            counted(all, "inter-switch cable"),
        ),
        NotFatTree::Unreachable(some, all) => format!(
            "{} of {} have no up*down* route, although cables connect all leaves",
            number(some),
            counted(all, "leaf pair"),
        ),
    }
}

/// Returns a duration with three digits: 21.3 ms.
pub fn time(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    let (value, unit) = match seconds {
        s if s >= 1.0 => (s, "s"),
        s if s >= 1e-3 => (s * 1e3, "ms"),
        s => (s * 1e6, "µs"),
    };
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    format!("{value:.decimals$} {unit}")
}

/// Returns a span of time in suitable units.
pub fn span(seconds: u64) -> String {
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7199 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Returns a size in memory with three digits: 12.3 MiB.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut value, mut unit) = (n as f64, 0);
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        (value, unit) = (value / 1024.0, unit + 1);
    }
    let decimals = usize::from(unit > 0 && value < 100.0);
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// Returns a part of a whole in percent.
pub fn percent(part: usize, whole: usize) -> String {
    match whole {
        0 => "0 %".into(),
        _ => format!("{:.2} %", 100.0 * part as f64 / whole as f64),
    }
}

/// Returns the line of an error with a caret below its position; `None` if there is nothing to show.
pub fn excerpt(text: &[u8], error: &ReadError) -> Option<String> {
    const WIDTH: usize = 96;
    let line = text.split(|&c| c == b'\n').nth(error.line as usize - 1)?;
    let at = (error.column as usize - 1).min(line.len());
    // A long line is shown around the place.
    let start = at.saturating_sub(WIDTH / 2);
    let end = line.len().min(start + WIDTH);
    let shown = printable(&String::from_utf8_lossy(&line[start..end]));
    if shown.trim().is_empty() {
        return None;
    }
    let before = String::from_utf8_lossy(&line[start..at]).chars().count();
    let number = error.line.to_string();
    let margin = " ".repeat(number.len());
    Some(format!("{number} | {shown}\n{margin} | {}^", " ".repeat(before)))
}

/// Returns the problems of a file in a few lines: how often, what, and where first.
pub fn dirt(dirt: &Dirt) -> Vec<String> {
    let line = |(kind, found): (DirtKind, &DirtPlaces)| {
        let first = &found.places[0];
        let others: Vec<String> = found.places[1..].iter().map(|p| p.line.to_string()).collect();
        let others = match others.is_empty() {
            true => String::new(),
            false if found.places.len() < found.count => {
                format!("; also lines {} …", others.join(", "))
            }
            false if others.len() == 1 => format!("; also line {}", others[0]),
            false => format!("; also lines {}", others.join(", ")),
        };
        let count = number(found.count);
        format!("{}: {count}; line {}: {}{others}", kind.words(), first.line, first.message)
    };
    dirt.iter().map(line).collect()
}

/// Returns a switch by name and GUID.
pub fn switch(fabric: &Fabric, s: SwitchIndex) -> String {
    end(fabric, End::Switch(s))
}

/// Returns a destination by name and GUID. Names come from files, so control characters are removed.
pub fn end(fabric: &Fabric, end: End) -> String {
    format!("'{}' ({})", printable(end.name(fabric)), end.guid(fabric))
}

/// Returns why a fabric is no PGFT, and names the switch that proves it.
pub fn not_pgft(fabric: &Fabric, reason: &NotPgft) -> String {
    let name = |s: &SwitchIndex| switch(fabric, *s);
    match reason {
        NotPgft::Unconnected(s) => format!("{} is connected to no leaf", name(s)),
        NotPgft::EqualRanks(a, b) => {
            format!("{} and {} have the same rank, but a cable joins them", name(a), name(b))
        }
        NotPgft::Arity(s, up, found, usual) => {
            let side = if *up { "above" } else { "below" };
            let found = counted(*found, "switch");
            format!("{} has {found} {side} it; other switches of its rank have {usual}", name(s))
        }
        NotPgft::Parallel(a, b, count, usual) => {
            let (a, b, found) = (name(a), name(b), counted(*count, "cable"));
            let join = if *count == 1 { "joins" } else { "join" };
            format!("{found} {join} {a} and {b}; other pairs of these ranks have {usual}")
        }
        NotPgft::Components(level, what, found, expected) => {
            format!(
                "level {level} has {found} {what}; a PGFT with these switches would have {expected}"
            )
        }
        NotPgft::SamePlace(a, b) => {
            format!(
                "{} and {} are in the same plane of the same subtree; a PGFT has one switch there",
                name(a),
                name(b)
            )
        }
        NotPgft::Shape(error) => error.to_string(),
        NotPgft::Empty => reason.to_string(),
    }
}

/// Returns a dead part in the notation of `--remove`.
pub fn removed(fabric: &Fabric, removed: Part) -> String {
    let port = |(s, p): (SwitchIndex, PortNumber)| {
        format!("{}/{p} '{}'", fabric.switch(s).guid, fabric.switch(s).name)
    };
    match removed {
        Part::Switch(s) => {
            format!("switch {} '{}'", fabric.switch(s).guid, fabric.switch(s).name)
        }
        Part::Cable(c) => match fabric.cable(c) {
            CableEnds::Switches(cable) => format!("cable {} - {}", port(cable.a), port(cable.b)),
            CableEnds::Node(n) => {
                let node = fabric.node(n);
                let near = port((node.switch, node.switch_port));
                format!("node cable {near} - {} '{}'", node.guid, fabric.adapter_of(n).name)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_for_reading() {
        assert_eq!(number(0u64), "0");
        assert_eq!(number(999u64), "999");
        assert_eq!(number(11_664usize), "11,664");
        assert_eq!(number(1_234_567u64), "1,234,567");
        assert_eq!(counted(1, "switch"), "1 switch");
        assert_eq!(counted(2, "leaf switch"), "2 leaf switches");
        assert_eq!(counted(3, "entry"), "3 entries");
        assert_eq!(counted(1000, "cable"), "1,000 cables");
        assert_eq!(time(Duration::from_micros(21_345)), "21.3 ms");
        assert_eq!(time(Duration::from_millis(1234)), "1.23 s");
        assert_eq!(time(Duration::from_nanos(1500)), "1.50 µs");
        assert_eq!(percent(1, 0), "0 %");
        assert_eq!(percent(1, 8), "12.50 %");
    }
}
