//! LIDs that one table has more than once, for several destinations.
//!
//! A table has one entry for each LID, so all but one of these lines are damaged: their LID is not the one that they had.
//! If they were believed, each would give its destination one more LID, which no other table has, and every pair to that
//! destination would count as lost. The lines are reported as dirt; this module decides which destination keeps the LID:
//!
//! ```text
//! 0x0004 001 # … portguid 0x…41      the fabric's LID of this node is 4: it keeps the LID
//! 0x0004 002 # … portguid 0x…51      this line, and others of LID 4, are left out
//! ```

use std::collections::{BTreeMap, BTreeSet};

use dmodc::{End, Fabric, Lid, NO_ROUTE};

use super::{Lft, ends};

/// Leaves out the entries of all destinations with a repeated LID but one: the destination that has the LID in the fabric,
/// or else the first that the file names.
pub(super) fn settle(lft: &mut Lft, repeated: &BTreeSet<Lid>, fabric: &Fabric) {
    if repeated.is_empty() {
        return;
    }
    let named: BTreeSet<(End, Lid)> = lft.keys.iter().copied().collect();
    let mut owners: BTreeMap<Lid, End> = BTreeMap::new();
    for (end, own) in ends(fabric) {
        let is_named = |lid: &Lid| repeated.contains(lid) && named.contains(&(end, *lid));
        owners.extend(own.into_iter().filter(is_named).map(|lid| (lid, end)));
    }
    for &(end, lid) in lft.keys.iter().filter(|(_, lid)| repeated.contains(lid)) {
        owners.entry(lid).or_insert(end);
    }
    let keeps = |(end, lid): &(End, Lid)| owners.get(lid).is_none_or(|owner| owner == end);
    let kept: Vec<bool> = lft.keys.iter().map(keeps).collect();
    let of_kept = |key: &usize| kept[*key];
    lft.keys = (0..kept.len()).filter(of_kept).map(|key| lft.keys[key]).collect();
    for row in lft.rows.iter_mut().filter(|row| !row.is_empty()) {
        row.resize(kept.len(), NO_ROUTE);
        *row = (0..kept.len()).filter(of_kept).map(|key| row[key]).collect();
    }
}
