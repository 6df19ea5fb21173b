//! Shapes of fabrics that are written as names with numbers, such as `leaves=16,nodes=8`, and what can be wrong with them.

use std::fmt;
use std::str::FromStr;

use super::Pgft;
use crate::id::PortNumber;

/// Why there is no fabric with such numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumbersError {
    /// The number of this name is 0.
    Zero(&'static str),
    /// The cables of a leaf cannot be divided evenly among the directors.
    UnevenDirectors {
        /// The cables of a leaf.
        cables: u32,
        /// The directors.
        directors: u32,
    },
    /// A core has more cables to a pod than there are upper switches in it.
    TooManyCables,
    /// A switch would need more ports than there can be.
    Ports {
        /// Which switch.
        switch: &'static str,
        /// How many ports it would need.
        ports: u64,
    },
    /// There would be too many devices or cables.
    TooLarge,
    /// The text cannot be read; why not.
    Text(String),
}

impl fmt::Display for NumbersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NumbersError::Zero(name) => write!(f, "{name}: the number must be at least 1"),
            NumbersError::UnevenDirectors { cables, directors } => write!(
                f,
                "a leaf has {cables} cables, which cannot be divided evenly among {directors} directors"
            ),
            NumbersError::TooManyCables => f.write_str(
                "a core cannot have more cables to a pod than the pod has upper switches",
            ),
            NumbersError::Ports { switch, ports } => write!(
                f,
                "a {switch} would need {ports} ports; at most {} are possible",
                PortNumber::MAX.0
            ),
            NumbersError::TooLarge => f.write_str("there are too many devices or cables"),
            NumbersError::Text(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for NumbersError {}

impl NumbersError {
    /// Checks numbers of nodes, switches and cables.
    pub(super) fn check_counts(counts: [u64; 3]) -> Result<(), Self> {
        match counts.into_iter().any(|count| count > Pgft::MOST) {
            true => Err(NumbersError::TooLarge),
            false => Ok(()),
        }
    }

    /// Checks that no number is 0. Each is given with its name.
    pub(super) fn check_zeros<const N: usize>(
        numbers: [(&'static str, u32); N],
    ) -> Result<(), Self> {
        match numbers.into_iter().find(|(_, number)| *number == 0) {
            Some((name, _)) => Err(NumbersError::Zero(name)),
            None => Ok(()),
        }
    }

    /// Checks numbers of ports of switches. Each is given with the kind of its switch.
    pub(super) fn check_ports<const N: usize>(ports: [(&'static str, u64); N]) -> Result<(), Self> {
        match ports.into_iter().max_by_key(|(_, ports)| *ports) {
            Some((switch, ports)) if ports > u64::from(PortNumber::MAX.0) => {
                Err(NumbersError::Ports { switch, ports })
            }
            _ => Ok(()),
        }
    }
}

/// A name with its value, in a text such as `leaves=16,nodes=8`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'a> {
    pub(crate) name: &'a str,
    value: &'a str,
}

impl<'a> Written<'a> {
    /// Returns the names with their values. They are separated by commas. A name can be there only once.
    pub(crate) fn all(text: &'a str) -> Vec<Result<Written<'a>, NumbersError>> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let mut names: Vec<&str> = vec![];
        let mut all = vec![];
        for part in parts {
            let Some((name, value)) = part.split_once('=') else {
                let why = format!("'{part}' has no value; write {part}=NUMBER");
                all.push(Err(NumbersError::Text(why)));
                continue;
            };
            let (name, value) = (name.trim(), value.trim());
            match names.contains(&name) {
                true => all.push(Err(NumbersError::Text(format!("'{name}' is there twice")))),
                false => all.push(Ok(Written { name, value })),
            }
            names.push(name);
        }
        all
    }

    /// Returns the value.
    pub(crate) fn value<T: FromStr<Err: fmt::Display>>(self) -> Result<T, NumbersError> {
        let Written { name, value } = self;
        value.parse().map_err(|why| NumbersError::Text(format!("{name}={value}: {why}")))
    }

    /// Returns the error of a name that is not among the known ones.
    pub(crate) fn unknown(self, known: &str) -> NumbersError {
        NumbersError::Text(format!("'{}' is not known; there are {known}", self.name))
    }
}
