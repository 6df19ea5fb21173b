//! What people say about leaves, made into a rule for one fabric.

use std::fmt;

use super::{LeafRule, Leaves};
use crate::fabric::{Degradation, Fabric, Live};
use crate::id::{Guid, SwitchIndex};

/// Whether a description is meant.
pub type Meant = Box<dyn Fn(&str) -> bool>;

/// What overrules the detection. Of the first three, the first that is given counts.
#[derive(Default)]
pub struct LeafChoice {
    /// Ranks are counted down from these switches.
    pub roots: Option<Vec<Guid>>,
    /// Leaves have at least so many nodes.
    pub at_least: Option<usize>,
    /// Leaves have a description like this.
    pub named: Option<Meant>,
    /// Hosts with a description like this make no leaf; switches with one are none.
    pub excluded: Option<Meant>,
}

/// Nothing of the fabric is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NothingMeant {
    /// No switch has one of the GUIDs.
    Roots,
    /// No switch has such a description.
    Named,
}

impl fmt::Display for NothingMeant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NothingMeant::Roots => "none of the roots is a switch of the fabric",
            NothingMeant::Named => "the name of leaves matches the description of no switch",
        })
    }
}

impl std::error::Error for NothingMeant {}

impl LeafChoice {
    /// The rule for this fabric. Hosts to be excluded are set aside in it.
    ///
    /// # Errors
    /// If no switch is meant.
    pub fn rule(&self, fabric: &mut Fabric) -> Result<LeafRule, NothingMeant> {
        if let Some(excluded) = &self.excluded {
            fabric.set_aside(|adapter| excluded(&adapter.name));
        }
        let rule = if let Some(listed) = &self.roots {
            let is_root = |s: &SwitchIndex| listed.contains(&fabric.switch(*s).guid);
            let roots: Vec<SwitchIndex> = fabric.switch_indices().filter(is_root).collect();
            if roots.is_empty() {
                return Err(NothingMeant::Roots);
            }
            LeafRule::Roots(roots)
        } else if let Some(least) = self.at_least {
            LeafRule::AtLeast(least)
        } else if let Some(named) = &self.named {
            let flags: Vec<bool> = fabric.switches().iter().map(|s| named(&s.name)).collect();
            if !flags.contains(&true) {
                return Err(NothingMeant::Named);
            }
            LeafRule::These(flags)
        } else {
            LeafRule::Detect
        };
        let none =
            |s: SwitchIndex| self.excluded.as_ref().is_some_and(|e| e(&fabric.switch(s).name));
        if !fabric.switch_indices().any(none) || matches!(rule, LeafRule::Roots(_)) {
            return Ok(rule);
        }
        let healthy = Degradation::none(fabric);
        let found = Leaves::new(Live::new(fabric, &healthy), &rule).all;
        let is_leaf = |s: SwitchIndex| found.binary_search(&s).is_ok() && !none(s);
        Ok(LeafRule::These(fabric.switch_indices().map(is_leaf).collect()))
    }
}
