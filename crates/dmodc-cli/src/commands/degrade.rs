//! `dmodc degrade`: a fabric with something missing.

use anyhow::{Result, ensure};
use dmodc::fabric::{CableEnds, Part};
use dmodc::{Draw, Fabric};
use serde_json::{Value, json};

use super::convert::deliver;
use crate::args::{DegradeArgs, FabricFormat};
use crate::text::{self, counted};
use crate::{Answer, input};

pub(super) fn run(args: &DegradeArgs) -> Result<Answer> {
    let fabric = input::fabric(&args.fabric)?;
    let draw = Draw {
        cables: args.cables,
        switches: args.switches,
        any_cable: args.any_cable,
        any_switch: args.any_switch,
        seed: args.seed,
    };
    let mut degradation = draw.degradation(&fabric)?;
    for target in &args.remove {
        degradation.remove(&fabric, target)?;
    }
    let removed: Vec<Part> = degradation.removed().collect();
    let rest = fabric.without(&degradation);
    ensure!(!rest.switches().is_empty(), "no switch would be left; remove fewer switches");
    let mut comments = vec![format!(
        "Degraded by {} and {} (seed {}):",
        counted(degradation.dead_cables().count(), "cable"),
        counted(degradation.dead_switches().count(), "switch"),
        args.seed,
    )];
    comments.extend(removed.iter().map(|&r| format!("removed {}", text::removed(&fabric, r))));
    let cut_off = fabric.nodes().len() - rest.nodes().len();
    if cut_off > 0 {
        comments.push(format!("{} left without a cable", counted(cut_off, "node")));
    }
    deliver(&rest, FabricFormat::Ibnetdiscover, &comments, &args.output, |summary| {
        summary["schema"] = json!("dmodc/degrade/1");
        summary["seed"] = json!(args.seed);
        summary["removed"] = removed.iter().map(|&r| describe(&fabric, r)).collect();
        summary["nodes_cut_off"] = json!(cut_off);
    })?;
    Ok(Answer::Yes)
}

/// A removed thing for machines: GUIDs and ports of both ends.
fn describe(fabric: &Fabric, removed: Part) -> Value {
    let end = |(s, p): (dmodc::SwitchIndex, dmodc::PortNumber)| json!({"guid": fabric.switch(s).guid.to_string(), "port": p.0, "name": fabric.switch(s).name});
    match removed {
        Part::Switch(s) => {
            let switch = fabric.switch(s);
            json!({"kind": "switch", "guid": switch.guid.to_string(), "name": switch.name})
        }
        Part::Cable(c) => match fabric.cable(c) {
            CableEnds::Switches(cable) => {
                json!({"kind": "cable", "a": end(cable.a), "b": end(cable.b)})
            }
            CableEnds::Node(n) => {
                let node = fabric.node(n);
                let name = &fabric.adapter_of(n).name;
                json!({
                    "kind": "node cable",
                    "a": end((node.switch, node.switch_port)),
                    "b": {"guid": node.guid.to_string(), "port": node.adapter_port.0, "name": name},
                })
            }
        },
    }
}
