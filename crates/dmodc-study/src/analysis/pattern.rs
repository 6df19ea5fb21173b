//! The patterns of traffic, and their names.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use dmodc::judge::risk::Grid;

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
    /// `halving`: the same from the greatest k to the least, with messages that become shorter.
    Halving,
    /// `tree`: a binary tree, every edge in both directions.
    Tree,
    /// `a2a:phases`, or `a2a:phases:M`: all-to-all by pairwise exchange, with one message or M of each position on the way.
    Phases(NonZeroU32),
    /// `neighbours:XxYxZ`: every position of a grid to its neighbours.
    Neighbours(Grid),
    /// `incast:K`: random groups in which K positions send to one.
    Incast(NonZeroU32),
    /// `storage:REGEX`: the other nodes to those whose name matches, then back.
    Storage(NodeRegex),
    /// `one-to-all:NODE`.
    OneToAll(String),
    /// `all-to-one:NODE`.
    AllToOne(String),
    /// `file:PATH`: the pairs of a file.
    File(String),
}

/// The number of permutations or bisections if none is given.
const MANY: usize = 1000;

/// A regular expression for the names of nodes. Two are equal if they are spelled alike.
#[derive(Clone, Debug)]
pub struct NodeRegex(regex_lite::Regex);

impl NodeRegex {
    /// Reads a regular expression.
    ///
    /// # Errors
    /// If it is none.
    pub fn new(text: &str) -> Result<Self, regex_lite::Error> {
        regex_lite::Regex::new(text).map(NodeRegex)
    }

    /// Returns whether it matches some part of a name.
    pub fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

impl PartialEq for NodeRegex {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for NodeRegex {}

/// The error that there is no pattern of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a pattern: expected {LIST}, one-to-all:NODE, all-to-one:NODE or file:PATH, with N from 1 to {most}",
    LIST = Pattern::OF_ALL_NODES,
    most = Pattern::MOST
)]
pub struct UnknownPattern(String);

/// The error that a word is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPattern {
    /// There is no such pattern.
    #[error(transparent)]
    Unknown(#[from] UnknownPattern),
    /// The names of nodes are no regular expression.
    #[error(
        "'{text}': {problem}; expected a regular expression without a comma, because commas separate patterns"
    )]
    Regex {
        /// The word.
        text: String,
        /// What is wrong.
        problem: String,
    },
}

impl FromStr for Pattern {
    type Err = NoPattern;

    fn from_str(text: &str) -> Result<Self, NoPattern> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let count =
            |rest: &str| rest.parse().ok().filter(|count| (1..=Pattern::MOST).contains(count));
        let whole = |rest: &str| rest.parse::<NonZeroU32>().ok();
        let pattern = match (name, rest) {
            ("a2a", None) => Some(Pattern::AllToAll),
            ("a2a", Some("phases")) => Some(Pattern::Phases(NonZeroU32::MIN)),
            ("a2a", Some(rest)) => {
                rest.strip_prefix("phases:").and_then(whole).map(Pattern::Phases)
            }
            ("halving", None) => Some(Pattern::Halving),
            ("tree", None) => Some(Pattern::Tree),
            ("neighbours", Some(rest)) => grid(rest).map(Pattern::Neighbours),
            ("incast", Some(rest)) => whole(rest).map(Pattern::Incast),
            ("storage", Some(rest)) if !rest.is_empty() => match NodeRegex::new(rest) {
                Ok(regex) => Some(Pattern::Storage(regex)),
                Err(error) => {
                    return Err(NoPattern::Regex { text: text.into(), problem: error.to_string() });
                }
            },
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
        pattern.ok_or_else(|| UnknownPattern(text.into()).into())
    }
}

/// Reads the lengths of a grid, such as `8x8x4`; missing ones are 1.
fn grid(text: &str) -> Option<Grid> {
    let lengths: Vec<NonZeroU32> =
        text.split('x').map(str::parse).collect::<Result<_, _>>().ok()?;
    let mut grid = Grid { lengths: [NonZeroU32::MIN; 3] };
    grid.lengths.get_mut(..lengths.len())?.copy_from_slice(&lengths);
    (grid.members() <= u64::from(u32::MAX)).then_some(grid)
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
            Pattern::Halving => f.write_str("halving"),
            Pattern::Tree => f.write_str("tree"),
            Pattern::Phases(NonZeroU32::MIN) => f.write_str("a2a:phases"),
            Pattern::Phases(in_flight) => write!(f, "a2a:phases:{in_flight}"),
            Pattern::Neighbours(Grid { lengths: [x, y, z] }) => write!(f, "neighbours:{x}x{y}x{z}"),
            Pattern::Incast(senders) => write!(f, "incast:{senders}"),
            Pattern::Storage(regex) => write!(f, "storage:{}", regex.0.as_str()),
            Pattern::OneToAll(node) => write!(f, "one-to-all:{node}"),
            Pattern::AllToOne(node) => write!(f, "all-to-one:{node}"),
            Pattern::File(path) => write!(f, "file:{path}"),
        }
    }
}

impl Pattern {
    /// The greatest number of permutations, shifts or bisections: each leaves a number, and all must fit into memory.
    pub const MOST: usize = 10_000_000;

    /// The patterns that every fabric has, in the words of messages.
    pub const OF_ALL_NODES: &str = "a2a, a2a:phases, a2a:phases:M, rp:N, sp, sp:N, bisection:N, ring, tree, \
         recursive-doubling, halving, neighbours:XxYxZ, incast:K, storage:REGEX";

    /// The number of draws of an incast.
    pub const INCASTS: usize = 100;

    /// Returns whether it consists of several patterns, of which each has a risk.
    pub fn is_series(&self) -> bool {
        matches!(
            self,
            Pattern::Permutations(_)
                | Pattern::Shifts(_)
                | Pattern::Bisections(_)
                | Pattern::RecursiveDoubling
                | Pattern::Halving
                | Pattern::Phases(_)
                | Pattern::Incast(_)
                | Pattern::Storage(_)
        )
    }

    /// Returns whether its members are drawn at random.
    pub fn is_random(&self) -> bool {
        matches!(self, Pattern::Permutations(_) | Pattern::Bisections(_) | Pattern::Incast(_))
    }

    /// Returns whether it is an operation of the members of a job, so that each rail has its own.
    pub fn is_collective(&self) -> bool {
        matches!(
            self,
            Pattern::Ring
                | Pattern::Tree
                | Pattern::RecursiveDoubling
                | Pattern::Halving
                | Pattern::Phases(_)
                | Pattern::Neighbours(_)
                | Pattern::Incast(_)
        )
    }

    /// Returns the key of its results.
    pub fn key(&self) -> &'static str {
        match self {
            Pattern::AllToAll => "a2a",
            Pattern::Permutations(_) => "rp",
            Pattern::Shifts(_) => "sp",
            Pattern::Bisections(_) => "bisection",
            Pattern::Ring => "ring",
            Pattern::RecursiveDoubling => "recursive_doubling",
            Pattern::Halving => "halving",
            Pattern::Tree => "tree",
            Pattern::Phases(_) => "a2a_phases",
            Pattern::Neighbours(_) => "neighbours",
            Pattern::Incast(_) => "incast",
            Pattern::Storage(_) => "storage",
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
            "halving",
            "tree",
            "a2a:phases",
            "a2a:phases:4",
            "neighbours:8x4x2",
            "incast:7",
            "storage:^oss-[0-9]+",
            "one-to-all:n1",
            "all-to-one:0x1",
            "file:a:b",
        ];
        for name in names {
            assert_eq!(name.parse::<Pattern>().unwrap().to_string(), name);
        }
        assert_eq!("rp".parse(), Ok(Pattern::Permutations(1000)));
        assert_eq!("sp:all".parse(), Ok(Pattern::Shifts(None)));
        assert_eq!("neighbours:8".parse(), "neighbours:8x1x1".parse::<Pattern>());
        let wrong = "a2a:1 a2a:phases:0 rp:0 rp:x rp:10000001 sp:-1 one-to-all file: ring:2 tree:2 neighbours:0x1x1 \
                     neighbours:2x2x2x2 neighbours:70000x70000 neighbours: incast incast:0 storage: storage:(";
        for name in wrong.split(' ').chain([""]) {
            assert!(name.parse::<Pattern>().is_err(), "{name}");
        }
    }
}
