//! The path between two nodes and back, with the alternatives at every hop.

use std::collections::HashMap;

use dmodc::judge::{Fate, trace};
use dmodc::{End, PortNumber, SwitchIndex, alternative_ports};
use serde_json::{Value, json};

use crate::names::switch_name;
use crate::problem::Problem;
use crate::search::{RouteEnd, route_end};
use crate::workbench::Workbench;

impl Workbench {
    /// Returns the path from one node or switch to another, and the path back.
    ///
    /// # Errors
    /// If one of them is unknown.
    pub fn path(&self, from: &str, to: &str) -> Result<Value, Problem> {
        let fabric = self.fabric();
        let (from, to) = (route_end(fabric, from)?, route_end(fabric, to)?);
        Ok(json!({ "there": self.route(from, to)?, "back": self.route(to, from)? }))
    }

    fn route(&self, from: RouteEnd, to: RouteEnd) -> Result<Value, Problem> {
        let (fabric, router) = (self.fabric(), self.router());
        let (live, tables) = (router.live(), router.tables());
        let switch_of = |end: RouteEnd| match end {
            RouteEnd::Node(n) => fabric.node(n).switch,
            RouteEnd::Switch(s) => s,
        };
        let wanted = match to {
            RouteEnd::Node(n) => End::Node(n),
            RouteEnd::Switch(s) => End::Switch(s),
        };
        let columns = tables.columns().destinations();
        let column = columns.iter().position(|d| d.end == wanted && d.k == 0);
        let column = column
            .ok_or_else(|| Problem::NotFound("the tables have no such destination".into()))?;
        if let RouteEnd::Node(n) = from
            && !live.node(n)
        {
            return Ok(json!({ "delivered": false, "fate": "lost", "hops": [] }));
        }
        let (hops, fate) = trace(live, tables, switch_of(from), column);
        let target = switch_of(to);
        let mut alternatives: HashMap<usize, Vec<u8>> = HashMap::new();
        if live.switch(target) {
            let on_way: Vec<SwitchIndex> = hops.iter().map(|hop| hop.switch).collect();
            alternative_ports(live, router.preprocessing(), &[target], |s, _, ports| {
                if on_way.contains(&s) {
                    alternatives.insert(s.at(), ports.iter().map(|port| port.0).collect());
                }
            })
            .map_err(|error| Problem::Conflict(error.to_string()))?;
        }
        let cable = |s: SwitchIndex, out: Option<PortNumber>| {
            let cable = fabric.port(s, out?)?.cable()?.at();
            (cable < fabric.inter_switch_cables().len()).then_some(cable)
        };
        let hops: Vec<Value> = hops
            .iter()
            .map(|hop| {
                json!({
                    "switch": switch_name(fabric, hop.switch),
                    "index": hop.switch.at(),
                    "guid": fabric.switch(hop.switch).guid.to_string(),
                    "in_port": hop.into.map(|port| port.0),
                    "out_port": hop.out.map(|port| port.0),
                    "cable": cable(hop.switch, hop.out),
                    "alternatives": alternatives.get(&hop.switch.at()).cloned().unwrap_or_default(),
                })
            })
            .collect();
        let fate = match fate {
            Fate::Delivered => "delivered",
            Fate::Lost => "lost",
            Fate::Loops => "loops",
        };
        Ok(json!({ "delivered": fate == "delivered", "fate": fate, "hops": hops }))
    }
}
