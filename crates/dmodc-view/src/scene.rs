//! The drawing: everything about the fabric that does not change with its faults.

use dmodc::{Degradation, Live, recognise};
use serde_json::{Value, json};

use crate::engines::PageEngine;
use crate::names::switch_name;
use crate::workbench::Workbench;

impl Workbench {
    /// Returns the drawing: switches with their places, groups and cables. The page asks for it once for each fabric.
    pub fn scene(&self) -> Value {
        let fabric = self.fabric();
        let layout = self.setup().layout();
        let rank = |s: usize| layout.ranks[s].map_or(-1, i64::from);
        let mut cables = Vec::with_capacity(4 * fabric.inter_switch_cables().len());
        for cable in fabric.inter_switch_cables() {
            let [low, high] = self.setup().drawn_ends(cable);
            cables.extend([low.0.at(), low.1.0.into(), high.0.at(), high.1.0.into()]);
        }
        let switches = || fabric.switch_indices();
        let groups: Vec<Value> = layout
            .groups
            .iter()
            .map(|group| {
                json!({
                    "rank": group.rank.map_or(-1, i64::from),
                    "x0": group.left,
                    "x1": group.right,
                    "count": group.count,
                    "label": group.label,
                })
            })
            .collect();
        json!({
            "schema": "dmodc/scene/1",
            "scene": self.scene_number(),
            "title": self.setup().title(),
            "nodes": fabric.nodes().len(),
            "levels": layout.levels,
            "shape": self.shape(),
            "engines": PageEngine::ALL,
            "switches": {
                "name": switches().map(|s| switch_name(fabric, s)).collect::<Vec<_>>(),
                "guid": switches().map(|s| fabric.switch(s).guid.to_string()).collect::<Vec<_>>(),
                "rank": switches().map(|s| rank(s.at())).collect::<Vec<_>>(),
                "group": layout.group,
                "x": layout.x,
                "nodes": switches().map(|s| fabric.nodes_of(s).len()).collect::<Vec<_>>(),
            },
            "groups": groups,
            "cables": cables,
        })
    }

    /// Returns the shape of the fabric in the notation of the paper, if it is a PGFT.
    fn shape(&self) -> Option<String> {
        let whole = Degradation::none(self.fabric());
        let live = Live::new(self.fabric(), &whole);
        let ready = self.setup().routing().shape(live);
        let labels = recognise(live, &ready.ranking, &ready.groups, &ready.orders).ok()?;
        Some(format!("PGFT({})", labels.pgft))
    }
}
