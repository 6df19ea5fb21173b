//! Shapes of fabrics that are written as names with numbers, such as `leaves=16,nodes=8`, and what can be wrong with them.

use std::fmt;
use std::str::FromStr;

use super::Pgft;
use crate::id::PortNumber;

/// Why there is no fabric with such numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumbersError {
    /// Some number is 0.
    Zero,
    /// The cables of a leaf cannot be divided evenly among the directors.
    UnevenDirectors,
    /// A core has more cables to a pod than there are upper switches in it.
    TooManyCables,
    /// A switch would need more ports than there can be; the number is how many.
    Ports(u64),
    /// There would be too many devices or cables.
    TooLarge,
    /// The text cannot be read; why not.
    Text(String),
}

impl fmt::Display for NumbersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NumbersError::Zero => f.write_str("every number must be at least 1"),
            NumbersError::UnevenDirectors => {
                f.write_str("the cables of a leaf must be a multiple of the number of directors")
            }
            NumbersError::TooManyCables => f.write_str(
                "a core cannot have more cables to a pod than the pod has upper switches",
            ),
            NumbersError::Ports(ports) => {
                write!(
                    f,
                    "a switch would need {ports} ports; at most {} are possible",
                    PortNumber::MAX.0
                )
            }
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

    /// Checks numbers of ports of switches.
    pub(super) fn check_ports(ports: impl IntoIterator<Item = u64>) -> Result<(), Self> {
        let most = ports.into_iter().max().unwrap_or(0);
        match most > u64::from(PortNumber::MAX.0) {
            true => Err(NumbersError::Ports(most)),
            false => Ok(()),
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
