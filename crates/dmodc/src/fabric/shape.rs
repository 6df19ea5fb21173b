//! Any shape that fabrics are generated from.

use std::fmt;

use super::numbers::NumbersError;
use super::{Directors, Fabric, GuidOrder, Pgft, Pods};

/// A shape that fabrics are generated from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A PGFT.
    Pgft(Pgft),
    /// Leaves that are cabled to directors.
    Directors(Directors),
    /// Pods with a mesh inside, below cores.
    Pods(Pods),
}

impl Shape {
    /// Returns the name of its kind, which is also that of its notation.
    pub fn kind(&self) -> &'static str {
        match self {
            Shape::Pgft(_) => "pgft",
            Shape::Directors(_) => "directors",
            Shape::Pods(_) => "pods",
        }
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        match self {
            Shape::Pgft(pgft) => pgft.count(0),
            Shape::Directors(directors) => directors.node_count(),
            Shape::Pods(pods) => pods.node_count(),
        }
    }

    /// Returns the number of switches.
    pub fn switch_count(&self) -> usize {
        match self {
            Shape::Pgft(pgft) => pgft.switch_count(),
            Shape::Directors(directors) => directors.switch_count(),
            Shape::Pods(pods) => pods.switch_count(),
        }
    }

    /// Returns its PGFT, if it is one.
    pub fn pgft(&self) -> Option<&Pgft> {
        match self {
            Shape::Pgft(pgft) => Some(pgft),
            _ => None,
        }
    }

    /// Returns the fabric.
    ///
    /// # Errors
    /// If there is no such fabric.
    pub fn fabric(&self, guids: GuidOrder) -> Result<Fabric, NumbersError> {
        match self {
            Shape::Pgft(pgft) => Ok(pgft.fabric(guids)),
            Shape::Directors(directors) => directors.fabric(guids),
            Shape::Pods(pods) => pods.fabric(guids),
        }
    }
}

impl fmt::Display for Shape {
    /// Writes the notation without the name of the kind.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Pgft(pgft) => pgft.fmt(f),
            Shape::Directors(directors) => directors.fmt(f),
            Shape::Pods(pods) => pods.fmt(f),
        }
    }
}
