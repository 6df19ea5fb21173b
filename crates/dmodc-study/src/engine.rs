//! The list of engines by name: ours, OpenSM's, and those that a user of this library brings.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use dmodc::relief::Relieved;
use dmodc::{Dmodc, Dmodk, Engine, Live, Paper, RandomPorts, Routing, Stable};
use dmodc_lab::ENGINES;

/// What stands behind the name of an engine whose worst ports are relieved.
const RELIEF: &str = "+relief";

/// An engine, by its name on command lines and in plans.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EngineName {
    /// The paper's algorithm, for any fabric, with measured dividers where the paper's do not spread.
    Dmodc,
    /// The same with the paper's dividers everywhere.
    Paper,
    /// Dmodc that keeps the routes of a reference.
    Stable,
    /// The closed form for healthy PGFTs.
    Dmodk,
    /// Ports drawn at random among the alternative ones.
    Random,
    /// One of the engines above, followed by [relief](dmodc::relief) of the worst ports.
    Relieved(Box<EngineName>),
    /// One of OpenSM's own engines.
    Opensm(String),
    /// An engine of your own. It has no name on the command line; put it into a [plan](crate::study::StudyPlan).
    Own(OwnEngine),
}

/// An engine that this crate does not know. Two are equal if their names are.
#[derive(Clone, Debug)]
pub struct OwnEngine(pub Arc<dyn Engine>);

impl PartialEq for OwnEngine {
    fn eq(&self, other: &Self) -> bool {
        self.0.name() == other.0.name()
    }
}

impl Eq for OwnEngine {}

impl Hash for OwnEngine {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name().hash(state);
    }
}

/// What an engine is made from.
#[derive(Clone, Copy, Debug)]
pub struct EngineInputs<'a> {
    /// Orders and columns.
    pub routing: &'a Routing,
    /// The whole fabric, the reference of [`Stable`].
    pub reference: Live<'a>,
    /// The first state that is known: the whole fabric, without what was missing from the first day. The worst ports of
    /// [`Stable`] are relieved in this state, once.
    pub first: Live<'a>,
    /// The seed of an engine that draws.
    pub seed: u64,
}

impl EngineName {
    /// Returns the engine; `None` for one of OpenSM's, which run inside OpenSM only.
    pub fn engine(&self, inputs: EngineInputs<'_>) -> Option<Arc<dyn Engine>> {
        Some(match self {
            EngineName::Dmodc => Arc::new(Dmodc),
            EngineName::Paper => Arc::new(Paper),
            EngineName::Stable => {
                let plain = Stable::new(inputs.routing, inputs.reference);
                // If that state cannot be routed, the engine will say so.
                let relieved = plain.clone().relieved(inputs.routing, inputs.first);
                Arc::new(relieved.map_or(plain, |(stable, _)| stable))
            }
            EngineName::Relieved(first) => Arc::new(Relieved::new(first.engine(inputs)?)),
            EngineName::Dmodk => Arc::new(Dmodk),
            EngineName::Random => Arc::new(RandomPorts { seed: inputs.seed }),
            EngineName::Own(OwnEngine(engine)) => engine.clone(),
            EngineName::Opensm(_) => return None,
        })
    }
}

impl EngineName {
    /// Returns the engine that routes: this one, or the one whose worst ports are relieved.
    pub fn router(&self) -> &EngineName {
        match self {
            EngineName::Relieved(first) => first.router(),
            _ => self,
        }
    }
}

impl FromStr for EngineName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(first) = text.strip_suffix(RELIEF) {
            return match first.parse()? {
                EngineName::Opensm(_) => Err(format!(
                    "'{text}' is not possible: relief needs routes that keep to closer sets, which those of OpenSM need not do"
                )),
                EngineName::Relieved(_) => Err(format!("'{text}' asks for relief twice")),
                first => Ok(EngineName::Relieved(Box::new(first))),
            };
        }
        let theirs = text.strip_prefix("opensm:").filter(|name| ENGINES.contains(name));
        match (text, theirs) {
            ("dmodc", _) => Ok(EngineName::Dmodc),
            ("paper", _) => Ok(EngineName::Paper),
            ("stable", _) => Ok(EngineName::Stable),
            ("dmodk", _) => Ok(EngineName::Dmodk),
            ("random", _) => Ok(EngineName::Random),
            (_, Some(name)) => Ok(EngineName::Opensm(name.into())),
            _ => Err(format!(
                "there is no engine '{text}'; expected dmodc, paper, stable, dmodk, random, each also with {RELIEF} after it, or opensm:NAME with one of the names {}",
                ENGINES.join(", ")
            )),
        }
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineName::Dmodc => f.write_str("dmodc"),
            EngineName::Paper => f.write_str("paper"),
            EngineName::Stable => f.write_str("stable"),
            EngineName::Dmodk => f.write_str("dmodk"),
            EngineName::Random => f.write_str("random"),
            EngineName::Relieved(first) => write!(f, "{first}{RELIEF}"),
            EngineName::Opensm(name) => write!(f, "opensm:{name}"),
            EngineName::Own(OwnEngine(engine)) => f.write_str(engine.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_they_are_written() {
        for name in ["dmodc", "stable", "stable+relief", "random+relief", "opensm:updn"] {
            assert_eq!(
                name.parse::<EngineName>().map(|engine| engine.to_string()),
                Ok(name.into())
            );
        }
        for (name, reason) in [
            ("opensm:updn+relief", "closer sets"),
            ("stable+relief+relief", "twice"),
            ("fastest+relief", "no engine 'fastest'"),
            ("+relief", "no engine ''"),
        ] {
            let error = name.parse::<EngineName>().expect_err("it is refused");
            assert!(error.contains(reason), "{error}");
        }
    }
}
