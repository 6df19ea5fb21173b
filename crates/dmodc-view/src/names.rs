//! The names of parts: for scripts, and for people.

use dmodc::fabric::{CableEnds, Part};
use dmodc::{Fabric, PortNumber, SwitchIndex};

/// Returns the name of a part for scripts: `GUID` for a switch, `GUID/PORT` for a cable.
pub fn part_id(fabric: &Fabric, part: Part) -> String {
    match part {
        Part::Switch(s) => fabric.switch(s).guid.to_string(),
        Part::Cable(c) => {
            let (s, port) = match fabric.cable(c) {
                CableEnds::Switches(cable) => cable.a,
                CableEnds::Node(n) => (fabric.node(n).switch, fabric.node(n).switch_port),
            };
            format!("{}/{port}", fabric.switch(s).guid)
        }
    }
}

/// Returns the name of a part for people: the name of a switch, or both ends of a cable.
pub fn part_text(fabric: &Fabric, part: Part) -> String {
    match part {
        Part::Switch(s) => switch_name(fabric, s),
        Part::Cable(c) => match fabric.cable(c) {
            CableEnds::Switches(cable) => {
                let end = |(s, port): (SwitchIndex, PortNumber)| {
                    format!("{}/{port}", switch_name(fabric, s))
                };
                format!("{} – {}", end(cable.a), end(cable.b))
            }
            CableEnds::Node(n) => {
                let node = fabric.node(n);
                let name = &fabric.adapter_of(n).name;
                format!("{}/{} – {name}", switch_name(fabric, node.switch), node.switch_port)
            }
        },
    }
}

/// Returns the name of a switch; its GUID if it has none.
pub(crate) fn switch_name(fabric: &Fabric, s: SwitchIndex) -> String {
    let switch = fabric.switch(s);
    if switch.name.is_empty() { switch.guid.to_string() } else { switch.name.to_string() }
}
