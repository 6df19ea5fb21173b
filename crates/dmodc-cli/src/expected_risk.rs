//! What to expect of a fabric and its tables, for people and for scripts: leaves that differ, and the risk of all-to-all.

use dmodc::judge::risk::Traffic;
use dmodc::{ForwardingTables, LeafEvenness, Live, Orders, Ranking};
use serde_json::{Value, json};

use crate::text::{counted, number, switch};

/// With more entries than this, the flows of all-to-all are not counted after routing, which should stay quick.
const COUNTED: usize = 1 << 26;

/// The risk of all-to-all, and its bound.
#[derive(Clone, Copy)]
pub(crate) struct AllToAllRisk {
    max: u64,
    bound: u64,
}

impl AllToAllRisk {
    /// Returns whether tables of this size are counted.
    pub(crate) fn is_counted(switches: usize, columns: usize) -> bool {
        switches * columns <= COUNTED
    }

    /// Counts the flows of all-to-all over tables. Returns `None` if they are too large, or nothing crosses a cable.
    pub(crate) fn new(
        live: Live<'_>,
        ranking: &Ranking,
        orders: &Orders,
        tables: &ForwardingTables,
    ) -> Option<Self> {
        if !AllToAllRisk::is_counted(tables.switch_count(), tables.columns().len()) {
            return None;
        }
        let loads = Traffic::new(live, ranking, orders, tables).all_to_all();
        (loads.bound > 0).then(|| AllToAllRisk { max: loads.max(), bound: loads.bound })
    }

    /// Returns the risk in units of the bound.
    fn ratio(self) -> f64 {
        self.max as f64 / self.bound as f64
    }

    /// Returns whether the worst port carries far more than it has to, so that relief is worth a try.
    pub(crate) fn is_high(self) -> bool {
        self.ratio() > 1.5
    }

    /// Returns a line for people. `of` names the tables, if they are not those that were asked for.
    pub(crate) fn text(self, of: &str) -> String {
        let quality = match self.max == self.bound {
            true => "no tables have less".into(),
            false => format!("{:.2} × the bound of {}", self.ratio(), number(self.bound)),
        };
        format!("all-to-all{of}: the worst port carries {} flows, {quality}\n", number(self.max))
    }

    pub(crate) fn json(self) -> Value {
        json!({ "max": self.max, "bound": self.bound, "ratio": self.ratio() })
    }
}

/// Returns a line about leaves that differ in their numbers of nodes or cables; an empty string if all are alike.
pub(crate) fn uneven_text(live: Live<'_>, ranking: &Ranking) -> String {
    let Some(leaves) = LeafEvenness::new(live, ranking).filter(|leaves| !leaves.is_even()) else {
        return String::new();
    };
    let range = |(least, most): (usize, usize), what: &str| match least == most {
        true => counted(most, what),
        false => format!("{} to {}", number(least), counted(most, what)),
    };
    let all = range(leaves.nodes, "node");
    let mut text =
        format!("uneven leaves: {all} on {} to other switches", range(leaves.cables, "cable"));
    // Where all leaves are tapered, the numbers of the levels show it.
    if leaves.crowded > 0 && leaves.crowded < leaves.leaves {
        let worst = leaves.worst;
        text += &format!(
            "; {} of {} leaves {} more nodes than cables, so nodes share a cable there (the most at {}: {} on {})",
            number(leaves.crowded),
            number(leaves.leaves),
            if leaves.crowded == 1 { "has" } else { "have" },
            switch(live.fabric, worst.switch),
            counted(worst.nodes, "node"),
            counted(worst.cables, "cable"),
        );
    }
    text + "\n"
}

/// Returns the same for scripts; `null` if no leaf has nodes.
pub(crate) fn uneven_json(live: Live<'_>, ranking: &Ranking) -> Value {
    let Some(leaves) = LeafEvenness::new(live, ranking) else { return Value::Null };
    json!({
        "even": leaves.is_even(),
        "leaves": leaves.leaves,
        "least_nodes": leaves.nodes.0,
        "most_nodes": leaves.nodes.1,
        "least_cables": leaves.cables.0,
        "most_cables": leaves.cables.1,
        "more_nodes_than_cables": leaves.crowded,
    })
}
