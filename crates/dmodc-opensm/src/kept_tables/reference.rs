//! A reference next to the present fabric: joined into one, and compared.

use std::sync::Arc;

use dmodc::fabric::{Changes, Counts, Part};
use dmodc::{Fabric, Joined, LeafRule, Live};

use crate::config::Config;
use crate::presence::{count_absent, is_alive};

/// A reference that is joined with the present fabric, ready to be routed.
pub(crate) struct JoinedReference {
    /// The reference as it was learned or read.
    pub(crate) source: Arc<Fabric>,
    /// The same, with the hosts set aside that the configuration excludes.
    pub(super) reference: Fabric,
    pub(super) reference_leaves: LeafRule,
    pub(crate) joined: Joined,
    pub(super) joined_leaves: LeafRule,
}

impl JoinedReference {
    /// Joins a reference with a fabric whose excluded hosts are set aside already.
    ///
    /// # Errors
    /// If the reference is of another fabric, or the configured rule for leaves matches nothing in it.
    pub(crate) fn new(
        config: &Config,
        source: Arc<Fabric>,
        fabric: &Fabric,
    ) -> Result<Self, String> {
        let (reference, reference_leaves) = config.leaf_rule(Fabric::clone(&source))?;
        let mut joined = Joined::new(&reference, fabric).map_err(|error| error.to_string())?;
        let joined_leaves;
        (joined.fabric, joined_leaves) = config.leaf_rule(joined.fabric)?;
        Ok(JoinedReference { source, reference, reference_leaves, joined, joined_leaves })
    }
}

/// How the present fabric differs from its reference.
pub(super) struct ReferenceComparison {
    pub(super) changes: Changes,
    /// Missing parts that the joined fabric has no room for: what is in their ports now took their place.
    missing_without_place: Counts,
    /// Parts that the reference lacked when it was joined. If one of them dies, reference and present fabric must be joined again.
    news: Vec<Part>,
}

impl ReferenceComparison {
    /// Compares what the join found with the parts that are absent from the joined fabric.
    pub(super) fn new(changes: Changes, news: Vec<Part>, absent: Counts) -> Self {
        let missing_without_place = Counts {
            switches: changes.missing.switches - absent.switches,
            nodes: changes.missing.nodes - absent.nodes,
            cables: changes.missing.cables - absent.cables,
        };
        ReferenceComparison { changes, missing_without_place, news }
    }

    /// Counts the missing parts again. Returns whether the joined fabric can still be used.
    pub(super) fn update(&mut self, live: Live<'_>) -> bool {
        if !self.news.iter().all(|part| is_alive(live, *part)) {
            return false;
        }
        let Counts { switches, nodes, cables } = count_absent(live);
        self.changes.missing = Counts {
            switches: self.missing_without_place.switches + switches,
            nodes: self.missing_without_place.nodes + nodes,
            cables: self.missing_without_place.cables + cables,
        };
        true
    }
}
