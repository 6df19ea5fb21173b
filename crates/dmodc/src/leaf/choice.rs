//! What people say about leaves, turned into a rule for one fabric.
//!
//! The order: excluded hosts are set aside first; then of roots, a least number of nodes and a name, the first that is
//! given makes the rule, or else leaves are detected; then excluded switches are taken out of it.

use std::fmt;

use super::{LeafRule, Leaves, hosts};
use crate::fabric::{Degradation, Fabric, Live};
use crate::id::{Guid, SwitchIndex};

/// Returns whether a description matches.
pub type NamePattern = Box<dyn Fn(&str) -> bool + Send>;

/// The choices of an operator. Of the first three, the first that is given counts.
#[derive(Default)]
pub struct LeafChoice {
    /// Ranks are counted down from these switches.
    pub roots: Option<Vec<Guid>>,
    /// Leaves have at least this number of nodes.
    pub at_least: Option<usize>,
    /// Leaves have a description like this.
    pub named: Option<NamePattern>,
    /// Hosts with a description like this make no leaf; switches with one are none.
    pub excluded: Option<NamePattern>,
}

/// Why a choice leaves no leaf in a fabric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoLeafMeant {
    /// No switch has one of the GUIDs.
    Roots,
    /// No switch has such a description.
    Named,
    /// No switch has as many nodes as leaves are to have. This is the greatest number of nodes on one switch.
    TooFewNodes(usize),
    /// All leaves are excluded.
    AllExcluded,
}

impl fmt::Display for NoLeafMeant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoLeafMeant::Roots => f.write_str("none of the roots is a switch of the fabric"),
            NoLeafMeant::Named => {
                f.write_str("the expression for the names of leaves matches no switch")
            }
            NoLeafMeant::TooFewNodes(most) => {
                write!(
                    f,
                    "no switch has the least number of nodes of a leaf; the largest number is {most}"
                )
            }
            NoLeafMeant::AllExcluded => f.write_str("all leaves are excluded"),
        }
    }
}

impl std::error::Error for NoLeafMeant {}

impl LeafChoice {
    /// Returns the same fabric with the excluded hosts set aside.
    #[must_use]
    pub fn set_aside(&self, fabric: Fabric) -> Fabric {
        match &self.excluded {
            Some(is_excluded) => fabric.with_hosts_aside(|adapter| is_excluded(&adapter.name)),
            None => fabric,
        }
    }

    /// Returns the rule for a fabric whose excluded hosts were [set aside](LeafChoice::set_aside).
    ///
    /// # Errors
    /// If no switch is meant.
    pub fn rule(&self, fabric: &Fabric) -> Result<LeafRule, NoLeafMeant> {
        let rule = if let Some(listed) = &self.roots {
            let is_root = |s: &SwitchIndex| listed.contains(&fabric.switch(*s).guid);
            let roots: Vec<SwitchIndex> = fabric.switch_indices().filter(is_root).collect();
            if roots.is_empty() {
                return Err(NoLeafMeant::Roots);
            }
            LeafRule::Roots(roots)
        } else if let Some(least) = self.at_least {
            let healthy = Degradation::none(fabric);
            let live = Live::new(fabric, &healthy);
            let most = live.switches().map(|s| hosts(live, s)).max().unwrap_or(0);
            if most < least {
                return Err(NoLeafMeant::TooFewNodes(most));
            }
            LeafRule::AtLeast(least)
        } else if let Some(named) = &self.named {
            let flags: Vec<bool> = fabric.switches().iter().map(|s| named(&s.name)).collect();
            if !flags.contains(&true) {
                return Err(NoLeafMeant::Named);
            }
            LeafRule::These(flags)
        } else {
            LeafRule::Detect
        };
        match &self.excluded {
            Some(excluded) if !matches!(rule, LeafRule::Roots(_)) => except(rule, fabric, excluded),
            _ => Ok(rule),
        }
    }
}

/// Returns the rule without the switches that are excluded.
fn except(
    rule: LeafRule,
    fabric: &Fabric,
    excluded: &NamePattern,
) -> Result<LeafRule, NoLeafMeant> {
    let none: Vec<bool> = fabric.switches().iter().map(|s| excluded(&s.name)).collect();
    let healthy = Degradation::none(fabric);
    let live = Live::new(fabric, &healthy);
    let rule = match rule {
        LeafRule::Detect if none.contains(&true) => LeafRule::Except(none),
        LeafRule::Detect => LeafRule::Detect,
        rule => {
            let mut flags = none.clone();
            flags.fill(false);
            for s in Leaves::new(live, &rule).all {
                flags[s.at()] = !none[s.at()];
            }
            LeafRule::These(flags)
        }
    };
    match Leaves::new(live, &rule).all.is_empty() {
        true => Err(NoLeafMeant::AllExcluded),
        false => Ok(rule),
    }
}
