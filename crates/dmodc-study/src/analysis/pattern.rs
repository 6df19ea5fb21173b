//! The patterns of traffic, and their names.

use std::fmt;
use std::str::FromStr;

/// A pattern of traffic. Nodes and files are named in the user's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// `a2a`: every node to every other node.
    AllToAll,
    /// `rp:N`: N random permutations.
    Permutations(usize),
    /// `sp`: all shifts, or `sp:N`: a sample of N shifts.
    Shifts(Option<usize>),
    /// `bisection:N`: N random bisections.
    Bisections(usize),
    /// `ring`: every position to the next one, and the last to the first.
    Ring,
    /// `recursive-doubling`: position i to position i xor k, for k = 1, 2, 4 ….
    RecursiveDoubling,
    /// `one-to-all:NODE`.
    OneToAll(String),
    /// `all-to-one:NODE`.
    AllToOne(String),
    /// `file:PATH`: the pairs of a file.
    File(String),
}

/// The number of permutations or bisections if none is given.
const MANY: usize = 1000;

/// The error that a word is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a pattern: expected a2a, rp:N, sp, sp:N, bisection:N, ring, recursive-doubling, one-to-all:NODE, all-to-one:NODE or file:PATH, with N from 1 to {most}",
    most = Pattern::MOST
)]
pub struct NoPattern(String);

impl FromStr for Pattern {
    type Err = NoPattern;

    fn from_str(text: &str) -> Result<Self, NoPattern> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let count =
            |rest: &str| rest.parse().ok().filter(|count| (1..=Pattern::MOST).contains(count));
        let pattern = match (name, rest) {
            ("a2a", None) => Some(Pattern::AllToAll),
            ("rp", None) => Some(Pattern::Permutations(MANY)),
            ("rp", Some(rest)) => count(rest).map(Pattern::Permutations),
            ("sp", None | Some("all")) => Some(Pattern::Shifts(None)),
            ("sp", Some(rest)) => count(rest).map(|count| Pattern::Shifts(Some(count))),
            ("bisection", None) => Some(Pattern::Bisections(MANY)),
            ("bisection", Some(rest)) => count(rest).map(Pattern::Bisections),
            ("ring", None) => Some(Pattern::Ring),
            ("recursive-doubling", None) => Some(Pattern::RecursiveDoubling),
            (_, None | Some("")) => None,
            ("one-to-all", Some(node)) => Some(Pattern::OneToAll(node.into())),
            ("all-to-one", Some(node)) => Some(Pattern::AllToOne(node.into())),
            ("file", Some(path)) => Some(Pattern::File(path.into())),
            _ => None,
        };
        pattern.ok_or_else(|| NoPattern(text.into()))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::AllToAll => f.write_str("a2a"),
            Pattern::Permutations(count) => write!(f, "rp:{count}"),
            Pattern::Shifts(None) => f.write_str("sp"),
            Pattern::Shifts(Some(count)) => write!(f, "sp:{count}"),
            Pattern::Bisections(count) => write!(f, "bisection:{count}"),
            Pattern::Ring => f.write_str("ring"),
            Pattern::RecursiveDoubling => f.write_str("recursive-doubling"),
            Pattern::OneToAll(node) => write!(f, "one-to-all:{node}"),
            Pattern::AllToOne(node) => write!(f, "all-to-one:{node}"),
            Pattern::File(path) => write!(f, "file:{path}"),
        }
    }
}

impl Pattern {
    /// The greatest number of permutations, shifts or bisections: each leaves a number, and all must fit into memory.
    pub const MOST: usize = 10_000_000;

    /// Returns the key of its results.
    pub fn key(&self) -> &'static str {
        match self {
            Pattern::AllToAll => "a2a",
            Pattern::Permutations(_) => "rp",
            Pattern::Shifts(_) => "sp",
            Pattern::Bisections(_) => "bisection",
            Pattern::Ring => "ring",
            Pattern::RecursiveDoubling => "recursive_doubling",
            Pattern::OneToAll(_) => "one_to_all",
            Pattern::AllToOne(_) => "all_to_one",
            Pattern::File(_) => "file",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_have_names() {
        let names = [
            "a2a",
            "rp:7",
            "sp",
            "sp:9",
            "bisection:3",
            "ring",
            "recursive-doubling",
            "one-to-all:n1",
            "all-to-one:0x1",
            "file:a:b",
        ];
        for name in names {
            assert_eq!(name.parse::<Pattern>().unwrap().to_string(), name);
        }
        assert_eq!("rp".parse(), Ok(Pattern::Permutations(1000)));
        assert_eq!("sp:all".parse(), Ok(Pattern::Shifts(None)));
        for name in
            ["", "a2a:1", "rp:0", "rp:x", "rp:10000001", "sp:-1", "one-to-all", "file:", "ring:2"]
        {
            assert!(name.parse::<Pattern>().is_err(), "{name}");
        }
    }
}
