//! The engines that the page offers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// An engine that the page offers. Those of OpenSM run only inside OpenSM, so they are not here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PageEngine {
    /// The paper's algorithm, for any fabric.
    #[default]
    Dmodc,
    /// Dmodc that keeps the routes of a reference.
    Stable,
    /// Dmodc with the paper's dividers everywhere.
    Paper,
    /// Ports drawn at random among the alternative ones.
    Random,
    /// The closed form, which routes only whole PGFTs.
    Dmodk,
}

impl PageEngine {
    /// All of them, in the order in which they are offered.
    pub const ALL: [PageEngine; 5] = [
        PageEngine::Dmodc,
        PageEngine::Stable,
        PageEngine::Paper,
        PageEngine::Random,
        PageEngine::Dmodk,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            PageEngine::Dmodc => "dmodc",
            PageEngine::Stable => "stable",
            PageEngine::Paper => "paper",
            PageEngine::Random => "random",
            PageEngine::Dmodk => "dmodk",
        }
    }
}

impl fmt::Display for PageEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PageEngine {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let found = PageEngine::ALL.into_iter().find(|engine| engine.name() == text);
        found.ok_or_else(|| {
            let names = PageEngine::ALL.map(PageEngine::name).join(", ");
            Problem::Invalid(format!("there is no engine '{text}'; expected one of {names}"))
        })
    }
}
