//! Engines by name: ours, and OpenSM's own.

use std::fmt;
use std::str::FromStr;

use dmodc_lab::ENGINES;

/// An engine, by its name on command lines and in plans.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EngineName {
    /// The paper's algorithm, for any fabric.
    Dmodc,
    /// Dmodc that keeps the routes of a reference.
    Stable,
    /// The closed form for healthy PGFTs.
    Dmodk,
    /// Ports drawn at random among the alternative ones.
    Random,
    /// One of OpenSM's own engines.
    Opensm(String),
}

impl FromStr for EngineName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let theirs = text.strip_prefix("opensm:").filter(|name| ENGINES.contains(name));
        match (text, theirs) {
            ("dmodc", _) => Ok(EngineName::Dmodc),
            ("stable", _) => Ok(EngineName::Stable),
            ("dmodk", _) => Ok(EngineName::Dmodk),
            ("random", _) => Ok(EngineName::Random),
            (_, Some(name)) => Ok(EngineName::Opensm(name.into())),
            _ => Err(format!(
                "it is dmodc, stable, dmodk, random, or opensm: and one of {}",
                ENGINES.join(", ")
            )),
        }
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineName::Dmodc => f.write_str("dmodc"),
            EngineName::Stable => f.write_str("stable"),
            EngineName::Dmodk => f.write_str("dmodk"),
            EngineName::Random => f.write_str("random"),
            EngineName::Opensm(name) => write!(f, "opensm:{name}"),
        }
    }
}
