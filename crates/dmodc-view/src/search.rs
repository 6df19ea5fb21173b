//! Finding switches and nodes by a part of their name, by GUID and by LID.

use dmodc::fabric::Found;
use dmodc::{Fabric, NodeIndex, SwitchIndex, natural_cmp};
use serde_json::{Value, json};

use crate::names::switch_name;
use crate::problem::Problem;
use crate::workbench::Workbench;

impl Workbench {
    /// Returns the switches and nodes that a text may mean: a part of a name (large and small letters are the same), of a
    /// GUID, or a whole LID. Switches come first; those whose name begins with the text come before others.
    pub fn search(&self, text: &str, limit: usize) -> Value {
        let fabric = self.fabric();
        let wanted = text.trim().to_lowercase();
        let guid = wanted.trim_start_matches("0x").to_owned();
        let is_guid = guid.len() >= 3 && guid.bytes().all(|byte| byte.is_ascii_hexdigit());
        let lid: Option<u32> = wanted.parse().ok();
        let quality = |name: &str, own_guid: u64, own_lid: u32| {
            let name = name.to_lowercase();
            match name.find(&wanted) {
                _ if wanted.is_empty() => None,
                _ if lid == Some(own_lid) => Some(0),
                Some(0) if name.len() == wanted.len() => Some(0),
                Some(0) => Some(1),
                Some(_) => Some(2),
                None if is_guid && format!("{own_guid:016x}").contains(&guid) => Some(3),
                None => None,
            }
        };
        let mut found: Vec<(u8, Found)> = Vec::new();
        for s in fabric.switch_indices() {
            let switch = fabric.switch(s);
            let quality = quality(&switch.name, switch.guid.0, switch.lid.0);
            found.extend(quality.map(|quality| (quality, Found::Switch(s))));
        }
        for n in fabric.node_indices() {
            let (node, adapter) = (fabric.node(n), fabric.adapter_of(n));
            let quality = quality(&adapter.name, node.guid.0, node.lid.0);
            found.extend(quality.map(|quality| (quality, Found::Node(n))));
        }
        let total = found.len();
        found.sort_by(|a, b| {
            let kind = |found: &Found| matches!(found, Found::Node(_));
            let by_quality = a.0.cmp(&b.0).then(kind(&a.1).cmp(&kind(&b.1)));
            by_quality.then_with(|| natural_cmp(found_name(fabric, a.1), found_name(fabric, b.1)))
        });
        found.truncate(limit);
        let rows: Vec<Value> = found.iter().map(|(_, found)| self.found(*found)).collect();
        json!({ "found": rows, "total": total })
    }

    fn found(&self, found: Found) -> Value {
        let fabric = self.fabric();
        let rank = |s: SwitchIndex| self.router().preprocessing().ranking.rank(s);
        match found {
            Found::Node(n) => {
                let node = fabric.node(n);
                json!({
                    "kind": "node",
                    "name": fabric.adapter_of(n).name,
                    "guid": node.guid.to_string(),
                    "lid": node.lid.0,
                    "index": node.switch.at(),
                    "rank": rank(node.switch),
                })
            }
            Found::Switch(s) => json!({
                "kind": "switch",
                "name": switch_name(fabric, s),
                "guid": fabric.switch(s).guid.to_string(),
                "lid": fabric.switch(s).lid.0,
                "index": s.at(),
                "rank": rank(s),
            }),
            Found::Cable(_) => Value::Null,
        }
    }
}

fn found_name(fabric: &Fabric, found: Found) -> &str {
    match found {
        Found::Switch(s) => &fabric.switch(s).name,
        Found::Node(n) => &fabric.adapter_of(n).name,
        Found::Cable(_) => "",
    }
}

/// An end of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RouteEnd {
    Node(NodeIndex),
    Switch(SwitchIndex),
}

/// Returns the node or switch that a text means: a name, a GUID, or a LID.
pub(crate) fn route_end(fabric: &Fabric, text: &str) -> Result<RouteEnd, Problem> {
    match fabric.find(text) {
        Ok(Found::Node(n)) => Ok(RouteEnd::Node(n)),
        Ok(Found::Switch(s)) => Ok(RouteEnd::Switch(s)),
        Ok(Found::Cable(_)) => {
            Err(Problem::Invalid(format!("'{text}' is a cable; expected a node or a switch")))
        }
        Err(error) => {
            let Ok(lid) = text.trim().parse::<u32>() else {
                return Err(Problem::NotFound(error.to_string()));
            };
            let node = fabric.node_indices().find(|&n| {
                let node = fabric.node(n);
                (node.lid.0..node.lid.0 + (1 << node.lmc)).contains(&lid)
            });
            let switch = || fabric.switch_indices().find(|&s| fabric.switch(s).lid.0 == lid);
            let found = node.map(RouteEnd::Node).or_else(|| switch().map(RouteEnd::Switch));
            found.ok_or_else(|| Problem::NotFound(error.to_string()))
        }
    }
}
