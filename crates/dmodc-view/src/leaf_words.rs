//! A rule for leaves in words, so that it can be in a file: switches are named by GUID.

use dmodc::{Fabric, LeafRule, SwitchIndex};
use serde::{Deserialize, Serialize};

use crate::problem::Problem;

/// A rule for leaves. Without any field, leaves are detected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeafWords {
    /// Leaves have at least this number of nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_least: Option<usize>,
    /// Ranks are counted down from these switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    roots: Option<Vec<String>>,
    /// These switches are leaves, and no others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    leaves: Option<Vec<String>>,
    /// These switches are not leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    except: Option<Vec<String>>,
}

impl LeafWords {
    /// Returns the words for a rule of a fabric.
    pub fn new(fabric: &Fabric, rule: &LeafRule) -> Self {
        let guid = |s: SwitchIndex| fabric.switch(s).guid.to_string();
        let flagged = |flags: &[bool]| {
            Some(fabric.switch_indices().filter(|s| flags[s.at()]).map(guid).collect())
        };
        let listed = |roots: &[SwitchIndex]| Some(roots.iter().copied().map(guid).collect());
        let none = LeafWords::default();
        match rule {
            LeafRule::Detect => none,
            LeafRule::AtLeast(least) => LeafWords { at_least: Some(*least), ..none },
            LeafRule::These(flags) => LeafWords { leaves: flagged(flags), ..none },
            LeafRule::Except(flags) => LeafWords { except: flagged(flags), ..none },
            LeafRule::Roots(roots) => LeafWords { roots: listed(roots), ..none },
            LeafRule::RootsAndLeaves(roots, flags) => {
                LeafWords { roots: listed(roots), leaves: flagged(flags), ..none }
            }
        }
    }

    /// Returns the rule for a fabric.
    ///
    /// # Errors
    /// If a switch is not there, or words are together that exclude each other.
    pub fn rule(&self, fabric: &Fabric) -> Result<LeafRule, Problem> {
        let switch = |text: &String| {
            let found =
                fabric.switch_indices().find(|s| fabric.switch(*s).guid.to_string() == *text);
            found.ok_or_else(|| Problem::NotFound(format!("there is no switch '{text}'")))
        };
        let listed = |list: &[String]| list.iter().map(switch).collect::<Result<Vec<_>, _>>();
        let flags = |list: &[String]| {
            let mut flags = vec![false; fabric.switches().len()];
            listed(list)?.into_iter().for_each(|s| flags[s.at()] = true);
            Ok::<_, Problem>(flags)
        };
        match (self.at_least, &self.roots, &self.leaves, &self.except) {
            (None, None, None, None) => Ok(LeafRule::Detect),
            (Some(least), None, None, None) => Ok(LeafRule::AtLeast(least)),
            (None, Some(roots), None, None) => Ok(LeafRule::Roots(listed(roots)?)),
            (None, None, Some(leaves), None) => Ok(LeafRule::These(flags(leaves)?)),
            (None, Some(roots), Some(leaves), None) => {
                Ok(LeafRule::RootsAndLeaves(listed(roots)?, flags(leaves)?))
            }
            (None, None, None, Some(except)) => Ok(LeafRule::Except(flags(except)?)),
            _ => Err(Problem::Invalid(
                "the rule for leaves has words that exclude each other".into(),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use dmodc::GuidOrder;
    use serde_json::json;

    use super::*;

    #[test]
    fn every_rule_comes_back() {
        let preset = dmodc::Preset::named("paper-figure-1").unwrap();
        let fabric = preset.shape().fabric(GuidOrder::Topological).unwrap();
        let flags: Vec<bool> = (0..fabric.switches().len()).map(|s| s % 3 == 0).collect();
        let roots = vec![SwitchIndex::new(12), SwitchIndex::new(14)];
        let rules = [
            LeafRule::Detect,
            LeafRule::AtLeast(2),
            LeafRule::These(flags.clone()),
            LeafRule::Except(flags.clone()),
            LeafRule::Roots(roots.clone()),
            LeafRule::RootsAndLeaves(roots, flags),
        ];
        for rule in rules {
            let text = json!(LeafWords::new(&fabric, &rule));
            let words: LeafWords = serde_json::from_value(text.clone()).unwrap();
            assert_eq!(words.rule(&fabric).unwrap(), rule, "{text}");
        }
        assert_eq!(json!(LeafWords::new(&fabric, &LeafRule::Detect)), json!({}));
    }

    #[test]
    fn wrong_words_are_named() {
        let preset = dmodc::Preset::named("paper-figure-1").unwrap();
        let fabric = preset.shape().fabric(GuidOrder::Topological).unwrap();
        let problem = |value| {
            let words: LeafWords = serde_json::from_value(value).unwrap();
            words.rule(&fabric).unwrap_err().to_string()
        };
        assert_eq!(problem(json!({"roots": ["0x7"]})), "there is no switch '0x7'");
        assert!(problem(json!({"at_least": 2, "leaves": []})).contains("exclude each other"));
    }
}
